"""Figures: what they show, with which labels, and that they are written whole."""

import math
from pathlib import Path

import numpy as np
import pytest
import xarray
from matplotlib.figure import Figure

from jointplay import plots

N = 201


def result(**attrs) -> xarray.Dataset:
    """A crank that turns three times, a rod that swings, a twin of the rod, a slider, and two joints."""
    t = np.linspace(0.0, 3.0, N)
    crank, swing, still = 2 * math.pi * t, 0.2 * np.sin(2 * math.pi * t), np.zeros(N)
    angle = np.stack([crank, swing, swing, still], axis=1)
    x = np.stack([still, still, still, np.cos(crank)], axis=1)
    both = ("time", "body")
    force = np.stack([10 + 5 * np.sin(t), 20 + 5 * np.cos(t), 0 * t], axis=1)
    return xarray.Dataset(
        {
            **{"x": (both, x), "y": (both, 0 * x), "angle": (both, angle)},
            **{f"{n}_rate": (both, np.gradient(v, t, axis=0)) for n, v in (("x", x), ("y", 0 * x), ("angle", angle))},
            **{"force_x": (("time", "joint"), 0.6 * force), "force_y": (("time", "joint"), -0.8 * force)},
            **{"peak_force": ("joint", [15.5, 25.0, 0.0]), "peak_force_time": ("joint", [1.6, 0.0, 0.0])},
        },
        coords={"time": t, "body": ["crank", "rod", "twin", "slider"], "joint": ["J1", "J2", "gear"]},
        attrs={"outcome": "done", "title": "slider-crank", **attrs},
    )


def lines(axes) -> dict[str, np.ndarray]:
    return {line.get_label(): line.get_ydata() for line in axes.lines if not line.get_label().startswith("_")}


def test_every_panel_has_its_bodies_and_units():
    figure = plots.motion(result())
    shown = {axes.get_ylabel(): set(lines(axes)) for axes in figure.axes}
    assert shown == {
        "angle (rad)": {"crank", "rod", "twin"},
        "angular rate (rad/s)": {"crank", "rod", "twin"},
        "position (m)": {"slider, x"},
        "speed (m/s)": {"slider, x"},
        "joint force (N)": {"J1", "J2"},
    }
    assert {axes.get_xlabel() for axes in figure.axes} == {"time (s)"}
    assert figure.get_suptitle() == "slider-crank"


def test_whole_turns_are_drawn_between_minus_pi_and_pi():
    angles = lines(plots.motion(result()).axes[0])
    assert np.nanmax(np.abs(angles["crank"])) <= math.pi + 1e-12
    assert np.isnan(angles["crank"]).sum() == 3
    assert np.array_equal(angles["rod"], result().angle.sel(body="rod"))


def test_an_angle_is_moved_by_whole_turns_only():
    run = result()
    run["angle"] = run.angle + 4 * math.pi
    assert lines(plots.motion(run, ["rod"]).axes[0])["rod"] == pytest.approx(result().angle.sel(body="rod").values)


def test_forces_are_magnitudes_and_peaks_are_marked():
    axes = plots.motion(result()).axes[-1]
    assert lines(axes)["J1"] == pytest.approx(10 + 5 * np.sin(result().time.values))
    dots = [(float(x.get_xdata()[0]), float(x.get_ydata()[0])) for x in axes.lines if x.get_marker() == "o"]
    assert dots == [(1.6, 15.5), (0.0, 25.0)]
    assert axes.get_ylim()[0] == 0


def test_a_spike_between_samples_does_not_flatten_the_rest():
    run = result()
    run.peak_force[0] = 1e6
    axes = plots.motion(run).axes[-1]
    top = axes.get_ylim()[1]
    assert 25 < top < 30
    marks = {line.get_marker(): float(line.get_ydata()[0]) for line in axes.lines if line.get_marker() in "o^"}
    assert marks == {"^": top, "o": 25.0}


def test_round_off_has_no_scale_of_its_own():
    run = result()
    run["angle_rate"] = 1e-15 * run.angle_rate
    low, high = plots.motion(run, ["rod"]).axes[1].get_ylim()
    assert low == pytest.approx(-0.1) and high == pytest.approx(0.1)


def test_legends_read_from_left_to_right():
    run = result()
    many = xarray.concat([run.sel(body="crank").assign_coords(body=f"bar{i}") for i in range(12)], "body")
    run = run.drop_dims("body").merge(many[["x", "y", "angle", "x_rate", "y_rate", "angle_rate"]])
    legend = plots.motion(run).axes[0].get_legend()
    columns = legend._ncols
    shown = [text.get_text() for text in legend.get_texts()]
    height = -(-12 // columns)
    assert height == 2 and [shown[0], shown[height]] == ["bar0", "bar1"]


def test_a_line_upon_another_is_dashed():
    styles = {line.get_label(): line.get_linestyle() for line in plots.motion(result()).axes[0].lines}
    assert styles["crank"] == styles["rod"] == "-" and styles["twin"] == "--"


def test_a_body_that_slides_at_an_angle_shows_both_coordinates():
    run = result()
    run["y"] = 0.5 * run.x
    assert set(lines(plots.motion(run, ["slider"]).axes[0])) == {"slider, x", "slider, y"}


def test_bodies_are_chosen_by_name():
    assert set(lines(plots.motion(result(), ["rod"]).axes[0])) == {"rod"}
    with pytest.raises(ValueError, match="no body 'rodd' in this result; there are crank, rod, twin, slider"):
        plots.motion(result(), ["rodd"])


def test_a_run_that_ended_early_says_so():
    figure = plots.motion(result(outcome="near singular"))
    assert [text.get_text() for text in figure.texts if "ended" in text.get_text()] == ["ended early: near singular"]


@pytest.mark.parametrize("samples", [1, 2])
def test_few_samples_and_gaps_still_draw(samples: int, tmp_path: Path):
    run = result().isel(time=slice(samples)).copy(deep=True)
    run.force_x[0] = np.nan
    plots.save(plots.motion(run), tmp_path / "few.png")
    assert (tmp_path / "few.png").stat().st_size > 1000


def test_thirty_bodies_are_told_apart():
    looks = [plots._look(i) for i in range(28)]
    assert len({str(look) for look in looks}) == 28


@pytest.mark.parametrize(("suffix", "start"), [("png", b"\x89PNG"), ("pdf", b"%PDF"), ("svg", b"<?xml")])
def test_files_are_written_whole(suffix: str, start: bytes, tmp_path: Path):
    plots.save(plots.motion(result()), tmp_path / f"motion.{suffix}")
    assert [p.name for p in tmp_path.iterdir()] == [f"motion.{suffix}"]
    assert (tmp_path / f"motion.{suffix}").read_bytes().startswith(start)


def test_a_figure_that_cannot_be_written_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def fail(self, path, **_):
        Path(path).write_text("half")
        raise OSError("disk is full")

    monkeypatch.setattr(Figure, "savefig", fail)
    with pytest.raises(OSError, match="disk is full"):
        plots.save(plots.motion(result()), tmp_path / "motion.png")
    assert list(tmp_path.iterdir()) == []
