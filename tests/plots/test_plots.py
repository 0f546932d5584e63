"""Figures: what they show, with which labels, and that they are written whole."""

import base64
import math
import re
import warnings
from pathlib import Path

import numpy as np
import pytest
import xarray
from matplotlib.figure import Figure

from jointplay import plots, studies
from jointplay.errors import InputError
from jointplay.model import library
from jointplay.plots import style
from jointplay.plots.contacts import segments
from jointplay.plots.places import Places
from jointplay.simulation import MoreauJean, simulate
from tests.browser import runs

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
        "angle (deg)": {"crank", "rod", "twin"},
        "angular rate (rad/s)": {"crank", "rod", "twin"},
        "position (m)": {"slider, x"},
        "speed (m/s)": {"slider, x"},
        "joint force (N)": {"J1", "J2"},
    }
    assert {axes.get_xlabel() for axes in figure.axes} == {"time (s)"}
    assert figure.get_suptitle() == "slider-crank"


def test_whole_turns_are_drawn_between_minus_180_and_180_degrees():
    angles = lines(plots.motion(result()).axes[0])
    assert np.nanmax(np.abs(angles["crank"])) <= 180 + 1e-9
    assert np.isnan(angles["crank"]).sum() == 3
    assert angles["rod"] == pytest.approx(np.degrees(result().angle.sel(body="rod").values))


def test_an_angle_is_moved_by_whole_turns_only():
    run = result()
    run["angle"] = run.angle + 4 * math.pi
    wanted = np.degrees(result().angle.sel(body="rod").values)
    assert lines(plots.motion(run, ["rod"]).axes[0])["rod"] == pytest.approx(wanted)


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


def test_peaks_below_the_samples_do_not_cut_the_forces():
    run = result()
    run["peak_force"] = xarray.zeros_like(run.peak_force)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        axes = plots.motion(run).axes[-1]
    assert axes.get_ylim() == pytest.approx((0, 1.08 * 25))


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
    assert height == 3 and [shown[0], shown[height]] == ["bar0", "bar1"]


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


@pytest.mark.parametrize("figure", [plots.energy, plots.shaking, plots.contact_modes, plots.impacts])
def test_what_has_no_samples_is_refused(figure):
    with pytest.raises(InputError, match="this result holds no samples"):
        figure(runs.rocker().isel(time=[]))


def test_of_many_bodies_and_joints_the_foremost_are_shown_and_the_figure_says_so():
    few, names = result(), [f"b{i}" for i in range(30)]
    loud = 1.0 + np.array([7 * i % 30 for i in range(30)])
    run = few.isel(body=[1] * 30, joint=[0] * 30).assign_coords(body=names, joint=[f"J{i}" for i in range(30)])
    for name in ("angle", "angle_rate", "force_x", "force_y", "peak_force"):
        run[name] = run[name] * loud
    last = sorted(range(30), key=loud.__getitem__)[18:]
    figure = plots.motion(run)
    assert list(lines(figure.axes[0])) == [f"b{i}" for i in sorted(last)]
    assert [name for ax in figure.axes[2:] for name in lines(ax)] == [f"J{i}" for i in sorted(last)]
    assert "12 of 30 bodies that move fastest; name others with bodies=[...]" in figure.caption
    assert "12 of 30 joints" in figure.caption and figure.get_supxlabel() in figure.caption
    asked = plots.velocity(run, names[:20])
    assert len(asked.axes) == 20 and "Shown" not in asked.caption
    assert len(plots.joint_force(run).axes) == len(plots.velocity(run).axes) == 12


def test_radians_and_metres_are_not_compared_where_few_of_many_are_shown():
    turning, sliding = {f"b{i}": 100.0 + i for i in range(20)}, {f"s{i}": i / 1e3 for i in range(20)}
    kept, _ = style.foremost([*turning, *sliding], [turning, sliding], "that move fastest", "bodies")
    assert kept == [f"b{i}" for i in range(14, 20)] + [f"s{i}" for i in range(14, 20)]
    assert style.foremost(list("abc"), [], "", "bodies") == (["a", "b", "c"], "")


def test_thirty_bodies_are_told_apart():
    looks = [style.look(i) for i in range(28)]
    assert len({str(look) for look in looks}) == 28


@pytest.mark.parametrize(("suffix", "start"), [("png", b"\x89PNG"), ("pdf", b"%PDF"), ("svg", b"<?xml")])
def test_files_are_written_whole(suffix: str, start: bytes, tmp_path: Path):
    plots.save(plots.motion(result()), tmp_path / f"motion.{suffix}")
    assert [p.name for p in tmp_path.iterdir()] == [f"motion.{suffix}"]
    assert (tmp_path / f"motion.{suffix}").read_bytes().startswith(start)


def test_a_figure_that_cannot_be_written_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def fail(self, path, **_):
        path.write(b"half")
        raise OSError("disk is full")

    monkeypatch.setattr(Figure, "savefig", fail)
    with pytest.raises(OSError, match="disk is full"):
        plots.save(plots.motion(result()), tmp_path / "motion.png")
    assert list(tmp_path.iterdir()) == []


# -- every figure from real runs

FIGURES = {
    "motion": lambda: plots.motion(runs.rocker(), twin=runs.rocker_twin()),
    "velocity": lambda: plots.velocity(runs.rocker(), twin=runs.rocker_twin()),
    "acceleration": lambda: plots.acceleration(runs.rocker(), twin=runs.rocker_twin()),
    "tracking_error": lambda: plots.tracking_error(runs.controlled(), twin=runs.controlled_twin()),
    "effort": lambda: plots.effort(runs.fast(), twin=runs.fast_twin()),
    "effort_controlled": lambda: plots.effort(runs.controlled(), twin=runs.controlled_twin()),
    "joint_force": lambda: plots.joint_force(runs.rocker(), ["J2", "J3"], twin=runs.rocker_twin()),
    "journal": lambda: plots.journal(runs.bouncing(), "J3"),
    "journal_prismatic": lambda: plots.journal(runs.bore()),
    "journal_permanent": lambda: plots.journal(runs.permanent()),
    "gap_and_slip": lambda: plots.gap_and_slip(runs.rocker()),
    "contact_modes": lambda: plots.contact_modes(runs.rocker()),
    "impacts": lambda: plots.impacts(runs.rocker()),
    "energy": lambda: plots.energy(runs.rocker(), twin=runs.rocker_twin()),
    "phase_plane": lambda: plots.phase_plane(runs.fast(), ["rod", "slider"], twin=runs.fast_twin()),
    "balance": lambda: plots.balance(runs.balanced()),
    "trade_off": lambda: plots.trade_off(runs.front()),
    "shaking": lambda: plots.shaking(runs.shaken(), twin=runs.shaken_twin()),
    "contour": lambda: plots.contour(runs.table()),
    "histogram": lambda: plots.histogram(runs.machines(), "value", limit=4e-5),
    "series": lambda: plots.series(runs.plays(), "value"),
    "sensitivity": lambda: plots.sensitivity(runs.machines(), "value"),
    "ranking": lambda: plots.ranking(runs.machines(), "value", limit=4e-5),
    "comparison": lambda: plots.comparison(runs.contacts(), ["O3.force", "rocker.angle_acceleration"]),
}


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_is_drawn_from_a_real_run(name: str, tmp_path: Path):
    figure = FIGURES[name]()
    figure.savefig(tmp_path / "figure.png", dpi=60)
    assert (tmp_path / "figure.png").stat().st_size > 3000
    for axes in figure.axes:
        shared = any(axes.get_shared_y_axes().joined(axes, other) for other in figure.axes if other is not axes)
        assert axes.get_ylabel() or axes.get_yticklabels() or shared, "a panel without a label"
    assert any(axes.get_xlabel() for axes in figure.axes)


def test_every_public_figure_is_in_the_list_and_in_the_documents():
    drawn = {name for name in plots.__all__ if name not in ("save", "analysis")}  # the room of those of analysis
    assert drawn == {re.sub("_(prismatic|permanent|controlled)$", "", name) for name in FIGURES}
    text = (Path(__file__).parents[2] / "docs" / "figures.md").read_text(encoding="utf-8")
    assert [name for name in drawn if f"plots.{name}(" not in text] == []


def test_a_histogram_tells_percentiles_and_the_share_beyond_a_limit():
    figure = plots.histogram(runs.machines(), "value", limit=4e-5)
    [axes] = figure.axes
    found = studies.share(runs.machines(), "value", 4e-5)
    assert f"{100 * found.share:.3g} % beyond 40 µm" in axes.get_title(loc="right") and "(µm)" in axes.get_xlabel()
    marks = [text.get_text().split("\n")[0] for text in axes.texts]
    assert marks == ["P5", "P50", "P95"]
    with pytest.raises(ValueError, match="no metric 'valeu'"):
        plots.histogram(runs.machines(), "valeu")
    with pytest.raises(ValueError, match="one or two axes"):
        plots.series(runs.machines(), "value")


def ys(axes, label: str) -> np.ndarray:
    return next(np.asarray(line.get_ydata()) for line in axes.lines if line.get_label() == label)


@pytest.mark.parametrize("figure", ["motion", "velocity", "acceleration", "phase_plane", "joint_force", "effort",
                                    "energy", "shaking"])  # fmt: skip
def test_a_twin_of_another_mechanism_is_refused(figure):
    """Forces of another machine were drawn as those with ideal joints."""
    with pytest.raises(
        ValueError, match="the run with ideal joints has the bodies crank, rod, slider, this result has"
    ):
        getattr(plots, figure)(runs.rocker(), twin=runs.slider())


def test_the_twin_is_drawn_with_its_own_times():
    figure = plots.velocity(runs.rocker(), ["crank"], twin=runs.rocker_twin().isel(time=slice(0, None, 4)))
    [ideal] = [line for line in figure.axes[0].lines if line.get_label() == "ideal joints"]
    assert np.array_equal(ideal.get_ydata(), runs.rocker_twin().angle_rate.sel(body="crank").values[::4])


def test_the_error_is_what_is_left_of_the_reference():
    run = runs.slider()
    figure = plots.tracking_error(run, {"crank.angle": lambda t: 10 * t, "slider.x": 0.25})
    upper, lower = figure.axes[1], figure.axes[3]
    assert upper.lines[0].get_ydata() == pytest.approx(np.full(run.sizes["time"], 30.0), abs=1e-7)
    assert lower.lines[0].get_ydata() == pytest.approx(1e3 * (run.x.sel(body="slider").values - 0.25))
    with pytest.raises(ValueError, match=r"no signal 'crank\.angel' in this result; there are "):
        plots.tracking_error(run, {"crank.angel": 0.0})
    with pytest.raises(ValueError, match=r"no signal 'nobody\.x' in the reference"):
        plots.tracking_error(run, run, ["nobody.x"])


def test_the_journal_stays_in_its_circle_where_the_run_says():
    run = runs.rocker()
    play = Places(run).play("J3")
    assert play.offset.real == pytest.approx(run.place_x.sel(journal="J3").values, abs=1e-9)
    assert play.offset.imag == pytest.approx(run.place_y.sel(journal="J3").values, abs=1e-9)
    assert play.gaps["J3"] == pytest.approx(run.gap.sel(contact="J3").values, abs=1e-9)
    axes = plots.journal(run, "J3").axes[0]
    drawn = ys(axes, "free")
    assert drawn[np.isfinite(drawn)] == pytest.approx(1e3 * play.offset.imag)
    assert "mm" in axes.get_xlabel() and "coupler" in axes.get_xlabel()


def test_corner_gaps_are_those_of_the_run():
    run = runs.bore()
    play = Places(run).play("P")
    for contact in run.contact.values:
        assert play.gaps[contact] == pytest.approx(run.gap.sel(contact=contact).values, abs=1e-9)
    inside = np.abs(play.offset.imag) / play.clearance + np.abs(play.tilt) * play.length / 2 / play.clearance
    assert inside.max() < 1.001


def test_a_joint_without_play_is_refused_with_the_remedy():
    with pytest.raises(ValueError, match="joint 'J1' has no play; loosen it"):
        plots.journal(runs.rocker(), "J1")
    with pytest.raises(ValueError, match="no joint 'J9' in this result; there are J1, J2, J3, J4"):
        plots.journal(runs.rocker(), "J9")
    with pytest.raises(ValueError, match="no joint of this result has play"):
        plots.journal(runs.slider())
    with pytest.raises(ValueError, match="give the mechanism itself"):
        plots.journal(runs.rocker().assign_attrs(model="# has Python functions"))


@pytest.mark.parametrize("figure", [plots.gap_and_slip, plots.contact_modes, plots.impacts])
def test_contacts_are_asked_of_runs_that_have_them(figure):
    with pytest.raises(ValueError, match="only joints with play and rigid or compliant contact"):
        figure(runs.slider())


def test_effort_says_newton_or_newton_metre():
    assert plots.effort(runs.slider()).axes[0].get_ylabel() == "torque (N m)"
    assert plots.effort(runs.permanent()).axes[0].get_ylabel() == "force (N)"
    with pytest.raises(ValueError, match="has no effort: the mechanism has no drives"):
        plots.effort(runs.rocker())


def test_controllers_bring_their_own_reference():
    run = runs.controlled()
    figure = plots.tracking_error(run)
    assert [axes.get_ylabel() for axes in figure.axes] == ["crank (deg)", "error (deg)"]
    after = slice(1, None)
    assert ys(figure.axes[0], "crank")[after] == pytest.approx(
        np.degrees(run.angle.sel(body="crank").values[after]), abs=0.12
    )
    assert ys(figure.axes[0], "reference")[after] == pytest.approx(np.degrees(math.pi / 2 + 8 * run.time.values)[after])
    assert figure.axes[1].lines[0].get_ydata() == pytest.approx(np.degrees(run.tracking_error.values[:, 0]))
    ideal = ys(plots.tracking_error(run, twin=runs.controlled_twin()).axes[1], "ideal")
    assert np.std(ideal) < 0.1 * np.std(
        np.degrees(run.tracking_error.values)
    )  # play is what the controller does not know
    with pytest.raises(ValueError, match=r"no channel 'rod' in this result; there are crank"):
        plots.tracking_error(run, signals=["rod"])
    with pytest.raises(ValueError, match="has no tracking_error: only controlled runs record one; give a reference"):
        plots.tracking_error(runs.slider())


def test_channels_and_actuators_have_units_of_their_own():
    figure = plots.tracking_error(runs.cart())
    assert [axes.get_ylabel() for axes in figure.axes] == ["rail (mm)", "error (mm)", "rod (deg)", "error (deg)"]
    assert [axes.get_ylabel() for axes in plots.effort(runs.cart()).axes] == ["force (N)", "torque (N m)"]
    [torque] = plots.effort(runs.cart(), ["rod"]).axes
    assert ys(torque, "rod") == pytest.approx(runs.cart().control.sel(actuator="rod").values)
    with pytest.raises(ValueError, match="no drive 'pump' in this result; there are rail, rod"):
        plots.effort(runs.cart(), ["pump"])


def test_segments_cover_the_time():
    time, codes = np.arange(7.0), np.array([0, 0, 2, 2, 0, 3, 3])
    found = {code: list(zip(starts, lengths, strict=True)) for code, starts, lengths in segments(time, codes)}
    assert found == {0: [(0.0, 2.0), (4.0, 1.0)], 2: [(2.0, 2.0)], 3: [(5.0, 1.0)]}


def test_energy_balance_is_the_imbalance_of_the_audit():
    from jointplay.results import audited

    loose = library.crank_rocker_2016(3e-3, 3e-3, friction=0.05, restitution=0.7)
    run = simulate(loose, 0.1, MoreauJean(2e-5), every=2e-5, start=runs.START, reclose=True)  # every step is sampled
    assert imbalance(run) == pytest.approx(audited(run, "energy imbalance"), rel=1e-9)


def imbalance(run):
    """The largest one that is drawn (J)."""
    axes = plots.energy(run).axes[1]
    size = {"J": 1.0, "mJ": 1e-3, "µJ": 1e-6, "nJ": 1e-9}[axes.get_ylabel()[len("imbalance (") : -1]]
    return size * np.abs(axes.lines[0].get_ydata()).max()


def test_an_axis_has_three_numbers_at_least():
    run = runs.rocker()
    for figure in (plots.joint_force(run), plots.acceleration(run), plots.impacts(run), plots.shaking(run)):
        figure.draw_without_rendering()
        for ax in figure.axes:
            low, high = ax.get_ylim()
            assert sum(low <= tick <= high for tick in ax.get_yticks()) >= 3


def test_no_impacts_have_no_scale():
    run = runs.rocker().isel(impact=slice(0))
    figure = plots.impacts(run)
    assert figure.axes[0].get_title("right") == "no impacts" and not any(len(ax.get_yticks()) for ax in figure.axes)


def test_impacts_are_all_there():
    run = runs.rocker()
    figure = plots.impacts(run)
    drawn = sum(len(line.get_xdata()) for line in figure.axes[0].lines)
    assert drawn == run.sizes["impact"] > 10


def test_a_contour_needs_a_table():
    with pytest.raises(ValueError, match="at least 2 x 2 values"):
        plots.contour(runs.table().isel(friction=[0]))
    with pytest.raises(ValueError, match="holds no number"):
        plots.contour(runs.table() * np.nan)
    logarithmic = plots.contour(runs.table(), logarithmic=True)
    assert logarithmic.axes[0].get_xlabel() == "coefficient of friction"


def test_a_comparison_names_what_is_missing():
    with pytest.raises(ValueError, match=r"run 'rigid' has no signal 'O3\.farce'"):
        plots.comparison(runs.contacts(), ["O3.farce"])
    with pytest.raises(ValueError, match="at least one run and one signal"):
        plots.comparison({}, [])
    figure = plots.comparison(runs.contacts(), ["O3.force"])  # four curves would cover each other
    labels = [[text.get_text() for text in axes.get_legend().texts] for axes in figure.axes]
    assert labels == [["ideal", "rigid"], ["ideal", "compliant"], ["ideal", "permanent"]]
    assert len({axes.get_ylim() for axes in figure.axes}) == 1
    some = {name: runs.contacts()[name] for name in ("ideal", "rigid", "compliant")}
    [axes] = plots.comparison(some, ["O3.force"]).axes
    assert [text.get_text() for text in axes.get_legend().texts] == ["ideal", "rigid", "compliant"]


def test_panels_have_letters_where_there_are_several():
    def lettered(figure):
        return [text.get_text() for axes in figure.axes for text in axes.texts if text.get_text().startswith("(")]

    assert lettered(plots.motion(result())) == ["(a)", "(b)", "(c)", "(d)", "(e)"]
    assert lettered(plots.joint_force(runs.rocker(), ["J2", "J3"])) == ["(a)", "(b)"]  # none on the scale of impulses
    assert lettered(plots.journal(runs.rocker())) == lettered(plots.contour(runs.table())) == []


def test_many_joints_have_a_panel_each_on_one_scale():
    axes = [ax for ax in plots.motion(runs.slider()).axes if ax.get_ylabel() == "joint force (N)"]
    assert [list(lines(ax)) for ax in axes] == [["J1"], ["J2"], ["J3"], ["J4"]]
    assert len({ax.get_ylim() for ax in axes}) == 1


def test_a_figure_has_a_caption_and_shows_itself_in_a_notebook(tmp_path: Path):
    figure = plots.journal(runs.rocker(), "J3")
    assert figure.caption.startswith("crank-rocker: path of the journal of J3 in its bearing")
    shown = figure._repr_mimebundle_()
    assert (
        base64.b64decode(shown["image/png"]).startswith(b"\x89PNG") and "<figcaption>crank-rocker" in shown["text/html"]
    )
    for name in ("a.png", "a.svg", "a.pdf"):
        plots.save(figure, tmp_path / name)
        assert b"path of the journal of J3" in (tmp_path / name).read_bytes()


def test_a_contour_has_a_cell_for_each_computation_and_none_between():
    table = runs.table().copy()
    table[1, 1] = np.nan
    [cells] = plots.contour(table).axes[0].collections
    assert cells.get_array().shape == table.shape and cells.get_array().mask.sum() == 1
    fine = xarray.DataArray(np.add.outer(np.arange(9.0), np.arange(9.0)), {"a": range(9), "b": range(9)}, ("a", "b"))
    assert len(plots.contour(fine).axes[0].collections) == 2  # and lines


def test_values_that_came_later_are_drawn_in_their_order():
    late = [0.0, 1.0, 2.0, 0.5]
    study = studies.sweep(lambda a, b: 10 * a + b, {"a": late, "b": late})
    [cells] = plots.contour(study["value"]).axes[0].collections
    assert cells.get_array().tolist() == np.add.outer(10 * np.sort(late), np.sort(late)).tolist()
    ends = cells.get_coordinates()
    assert (np.diff(ends[0, :, 0]) > 0).all() and (np.diff(ends[:, 0, 1]) > 0).all()
    for line, b in zip(plots.series(study, "value").axes[0].lines, sorted(late), strict=True):
        assert line.get_xdata().tolist() == sorted(late) and line.get_label() == f"b = {b:g}"
        assert line.get_ydata() == pytest.approx(10 * line.get_xdata() + b)


def test_all_runs_beyond_a_limit_are_100_percent():
    study = studies.sweep(lambda a: a, {"a": [1.0, 2.0, 3.0]})
    assert plots.histogram(study, "value", 0.5).axes[0].get_title("right").startswith("100 % beyond 0.5")


def test_a_run_without_another_behind_it_is_not_called_loose():
    run = simulate(library.slider_crank(speed=30.0), 0.1, error=False)
    assert plots.shaking(run).axes[0].get_legend() is None
    words = [text.get_text() for text in plots.shaking(run, run).axes[0].get_legend().texts]
    assert words == ["ideal joints", "with play"]


def test_compliant_contacts_have_forces_and_depths_for_impulses():
    run = runs.compliant()
    labels = [axes.get_ylabel().partition("\n")[0] for axes in plots.impacts(run).axes]
    assert labels == ["largest force", "approach speed", "depth"]
    words = [text.get_text() for text in plots.contact_modes(run).axes[0].get_legend().texts]
    assert words == ["free", "impact", "in contact"]
    assert imbalance(run) < 1e-6
    assert plots.journal(run).axes and plots.gap_and_slip(run).axes


def test_a_sampled_impact_does_not_contradict_the_peak():
    run = result()
    run["peak_force"] = 0.5 * run.peak_force
    assert "largest between impacts 7.75 N" in plots.joint_force(run, ["J1"]).axes[0].get_title("right")
    assert plots.joint_force(result(), ["J1"]).axes[0].get_title("right").startswith("largest 15.5 N at 1.6 s")


def test_a_figure_that_cannot_be_written_is_refused_in_one_line(tmp_path):
    figure = plots.joint_force(result(), ["J1"])
    with pytest.raises(InputError, match=r"as \.bmp; use \.png, \.pdf or \.svg"):
        plots.save(figure, tmp_path / "f.bmp")
    with pytest.raises(InputError, match="no such directory"):
        plots.save(figure, tmp_path / "none" / "f.png")


def grid() -> xarray.Dataset:
    """A study over two axes in SI units, with a long name."""
    said = {"units": "m", "long_name": "largest distance from the mechanism with ideal joints, table"}
    play, turn = np.linspace(0, 2e-4, 3), np.radians([10.0, 20.0])
    return xarray.Dataset(
        {"shift": (("play", "turn"), 3 * play[:, None] + 1e-5 * turn, said)},
        {"play": ("play", play, {"units": "m"}), "turn": ("turn", turn, {"units": "rad"})},
    )


def test_studies_are_drawn_in_the_units_that_people_read():
    ax, bar = plots.contour(grid()["shift"]).axes
    assert ax.get_xlabel() == "turn (deg)" and ax.get_ylabel() == "play (µm)"
    assert ax.get_xticks() == pytest.approx([10, 20]) and ax.get_yticks() == pytest.approx([0, 100, 200])
    assert bar.get_ylabel().endswith("(µm)") and bar.get_ylim()[1] == pytest.approx(600, rel=0.2)
    [lined] = plots.series(grid(), "shift", "play").axes
    assert [line.get_label() for line in lined.lines] == ["turn = 10 deg", "turn = 20 deg"]
    assert lined.lines[1].get_xdata() == pytest.approx([0, 100, 200]) and lined.get_xlabel() == "play (µm)"
    assert lined.lines[1].get_ydata() == pytest.approx(1e6 * grid()["shift"].values[:, 1])


def test_long_labels_of_studies_are_within_the_figure():
    figure = plots.contour(grid()["shift"])
    figure.draw_without_rendering()
    box = figure.axes[1].yaxis.label.get_window_extent()
    assert box.y0 >= 0 and box.y1 <= figure.bbox.height and box.x1 <= figure.bbox.width


def test_an_axis_of_errors_shows_how_far_they_are_from_none():
    run = result()
    run.angle.attrs["units"] = "rad"
    behind = {"rod.angle": lambda t: 0.5 - 0.1 * t + run.angle.sel(body="rod").values}
    right = plots.tracking_error(run, behind).axes[1]
    assert right.get_ylim()[0] < -28 and right.get_ylim()[1] >= 0
    assert right.get_title("right") == "largest |error| 28.6, rms 20.7 deg"


def test_no_line_joins_samples_in_contact_that_are_far_apart():
    """The lines across the circle looked like flights that never were."""
    run, often = runs.rocker().isel(time=slice(None, None, 25)), runs.bouncing()
    figure = plots.journal(run, "J3")
    lines = {line.get_label(): line for line in figure.axes[0].lines}
    x, y = lines["in contact"].get_xdata(), lines["in contact"].get_ydata()
    middle = np.hypot(x[1:] + x[:-1], y[1:] + y[:-1]) / 2
    assert np.nanmin(middle) > 0.98 * 3
    assert "sample closer" in figure.caption and "sample closer" not in plots.journal(often, "J3").caption


@pytest.mark.parametrize(("runs_", "bars"), [(16, 5), (100, 10), (2500, 40)])
def test_few_runs_have_few_bins(runs_, bars):
    values = np.random.default_rng(1).normal(size=runs_)
    study = xarray.Dataset({"value": ("run", values), "status": ("run", np.ones(runs_, int))})
    assert len(plots.histogram(study, "value").axes[0].patches) == bars
