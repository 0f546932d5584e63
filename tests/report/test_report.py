"""The page as text: what it holds, how large it is, and that it asks for nothing; the browser is elsewhere."""

import base64
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import xarray

from jointplay import report, results
from jointplay.elements import Rigid
from jointplay.model import control, library
from jointplay.plots.places import Places
from jointplay.report import card, charts, film, scene
from jointplay.report.blob import Blob, frames, thin
from jointplay.simulation import MoreauJean, simulate
from tests.browser import runs


def parts(page: str) -> tuple[dict, np.ndarray]:
    """The content of a page, and its numbers."""
    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    numbers = re.search(r'<script type="text/plain" id="numbers">(.*?)</script>', page, re.DOTALL)
    assert data and numbers
    return json.loads(data[1]), np.frombuffer(base64.b64decode(numbers[1]), "<f4")


@pytest.fixture(scope="module")
def rocker() -> str:
    return report.html(runs.rocker(), runs.rocker_twin(), "jointplay report rocker.nc -o rocker.html")


def test_the_frames_are_the_samples(rocker):
    content, numbers = parts(rocker)
    run = runs.rocker()

    def take(place):
        return numbers[place[0] : place[0] + place[1]]

    assert take(content["time"]) == pytest.approx(run.time.values, abs=1e-6)
    for i, body in enumerate(content["bodies"]):
        for part in ("x", "y", "angle"):
            sampled = run[part].sel(body=body["name"]).values
            assert take(content["poses"][i][part]) == pytest.approx(sampled, rel=1e-6, abs=1e-6)
    for play in content["plays"]:
        place = [run[f"place_{axis}"].sel(journal=play["name"]).values for axis in "xy"]
        assert take(play["x"]) == pytest.approx(place[0], abs=2e-9)
        assert take(play["y"]) == pytest.approx(place[1], abs=2e-9)
        assert np.array_equal(take(play["modes"][0]), run["mode"].sel(contact=play["name"]).values)


def test_curves_have_units_twins_and_peaks(rocker):
    content, _ = parts(rocker)
    panels = {panel["title"]: panel for panel in content["charts"]}
    assert {"Angle", "Angular rate", "Joint force", "Gap", "Slip in contact", "Energy"} <= panels.keys()
    assert {panel["unit"] for panel in content["charts"]} >= {"deg", "rad/s", "N", "mm", "m/s", "J"}
    force = panels["Joint force"]
    assert [curve["name"] for curve in force["curves"] if curve["twin"]] == ["J1", "J2", "J3", "J4"]
    assert {mark["curve"] for mark in force["marks"]} == {"J1", "J2", "J3", "J4"}
    rows = {row["name"]: row for row in content["timeline"]}
    assert rows.keys() == {"J2", "J3"}
    assert rows["J3"]["touching"] == pytest.approx(1 - float(runs.rocker().share_free.sel(contact="J3")))
    covered = sum(length for _, _, length in rows["J3"]["bars"])
    assert covered == pytest.approx(2.0, abs=1e-3)
    assert sum(item["count"] for item in content["impacts"]) == runs.rocker().sizes["impact"]


def test_a_run_without_stated_errors_shows_its_headline_numbers_too():
    content = parts(report.html(runs.controlled()))[0]
    numbers, run = dict(content["numbers"]), runs.controlled()
    assert "errors" not in run.attrs or not json.loads(run.attrs["errors"])
    joint = str(run.joint.values[0])
    assert content["between"] and not parts(report.html(runs.compliant()))[0]["between"]  # rigid impacts have no force
    assert numbers[f"{joint}.peak_force"] == f"{float(run.peak_force[0]):.6g} N"
    assert any(name.endswith(".error_max") and text.endswith(" deg") for name, text in numbers.items())
    shares = [text for name, text in numbers.items() if name.endswith(".share_free")]
    assert shares and all(re.fullmatch(r"\d+\.\d %", text) for text in shares)


def test_efforts_and_tracking_errors_are_by_unit():
    titles = {(panel["title"], panel["unit"]) for panel in parts(report.html(runs.bore()))[0]["charts"]}
    assert ("Torque of the drives", "N m") in titles and not any("or" in unit for _, unit in titles)
    panels = {(panel["title"], panel["unit"]): panel for panel in parts(report.html(runs.cart()))[0]["charts"]}
    for title, unit, name in (
        ("Tracking error", "mm", "rail"),
        ("Tracking error", "deg", "rod"),
        ("Torque of the actuators", "N m", "rod"),
        ("Force of the actuators", "N", "rail"),
    ):
        assert [curve["name"] for curve in panels[title, unit]["curves"]] == [name]


def test_a_tracking_error_is_scaled_to_what_is_left_of_it():
    run = runs.controlled().assign_attrs(control_settled=0.5)
    run["tracking_error"] = run.tracking_error.copy(data=run.tracking_error + np.exp(-40 * run.time))
    [panel] = [panel for panel in parts(report.html(run))[0]["charts"] if panel["title"] == "Tracking error"]
    late = np.degrees(np.abs(run.tracking_error.values[run.time.values >= 0.5]).max())
    assert late < max(-panel["low"], panel["high"]) < 1.3 * late
    assert panel["note"] == "peaks reach 57.3 deg"


def test_audit_and_provenance_are_at_the_end(rocker):
    content, _ = parts(rocker)
    named = [name.partition(" (")[0] for name, _ in content["audit"]]
    assert named == [entry["name"] for entry in results.audit(runs.rocker())]
    assert content["model"] == runs.rocker().attrs["model"]
    facts = dict(content["facts"])
    assert facts["computed with"].startswith("jointplay ") and "MoreauJean" in facts["stepper"]
    assert content["command"] == "jointplay report rocker.nc -o rocker.html"


def test_nothing_is_asked_of_the_network(rocker):
    shell = re.sub(r'<script type="(application/json|text/plain)".*?</script>', "", rocker, flags=re.DOTALL)
    assert "default-src 'none'" in shell
    for word in ("http://", "https://", "src=", "@import", "url(", "fetch(", "XMLHttpRequest", "WebSocket", "storage"):
        assert word not in shell, word


def test_names_cannot_end_the_script():
    run = runs.slider().assign_attrs(title="</script><script>alert(1)</script> & <b>")
    page = report.html(run)
    assert "<script>alert(1)" not in page
    assert parts(page)[0]["title"] == run.attrs["title"]
    assert "<title>&lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt; &amp; &lt;b&gt;</title>" in page


def test_ten_seconds_at_default_sampling_are_small():
    loose = library.crank_rocker_2016(3e-3, 3e-3)
    run = simulate(loose, 10.0, MoreauJean(1e-4), start={"crank.rate": 10.0}, reclose=True)
    assert len(report.html(run).encode()) < 500_000


def dense(count: int) -> xarray.Dataset:
    """The rocker's run as if it had been sampled much more often, with a spike of one sample."""
    run = runs.rocker()
    many = run.isel(time=np.minimum(np.arange(count) * run.sizes["time"] // count, run.sizes["time"] - 1))
    many = many.assign_coords(time=np.linspace(0, 2, count))
    force = many.force_x.values.copy()
    force[count // 3, 1] = 1e7
    return many.assign(force_x=(("time", "joint"), force))


def test_a_long_record_is_thinned_and_keeps_its_peaks():
    page = report.html(dense(60_000), runs.rocker_twin())
    assert len(page.encode()) < 2_000_000
    content, numbers = parts(page)
    assert content["time"][1] <= 3000 and content["samples"] == 60_000
    [force] = [panel for panel in content["charts"] if panel["title"] == "Joint force"]
    [curve] = [curve for curve in force["curves"] if curve["name"] == "J2" and not curve["twin"]]
    start, count = curve["v"]
    assert numbers[start : start + count].max() == pytest.approx(1e7)
    assert force["high"] < 1e6 and force["note"] == "peaks reach 1e+07 N"


def test_values_between_the_points_of_a_thinned_curve_have_their_error():
    """The page shows them at the cursor with three digits; they were off by a hundredth of the range without a word."""
    run = simulate(library.slider_crank(speed=30.0), 4.0, every=4e-4, error=False)
    content, numbers = parts(report.html(run))
    [chart] = [chart for chart in content["charts"] if chart["title"] == "Joint force"]
    for curve in chart["curves"]:
        t, v = (numbers[first : first + count] for first, count in (curve["t"], curve["v"]))
        true = np.hypot(run.force_x, run.force_y).sel(joint=curve["name"]).values
        off = np.abs(np.interp(run.time.values, t, v) - true).max()
        assert curve["off"] == pytest.approx(off, rel=1e-2) and off > 5e-3 * true.max()
    few, _ = parts(report.html(run.isel(time=slice(0, 1001))))
    assert not any("off" in curve for chart in few["charts"] for curve in chart["curves"])


def test_peaks_between_samples_are_told():
    """Force and torque of a pin that is thrown round its bearing are over before the next sample."""
    run = runs.bore()
    sharp = run.assign(peak_force=10 * run.peak_force, peak_effort=run.peak_effort + 5000.0)
    panels = {panel["title"]: panel for panel in parts(report.html(sharp))[0]["charts"]}
    assert panels["Joint force"]["note"] == f"peaks reach {float(sharp.peak_force.max()):.3g} N"
    assert panels["Torque of the drives"]["note"] == f"peaks reach {float(sharp.peak_effort.max()):.3g} N m"


def test_thinning_keeps_ends_extremes_order_and_gaps():
    time = np.arange(10_000.0)
    values = np.sin(time / 50)
    values[7777], values[1234], values[5000:5100] = 9.0, -9.0, np.nan
    t, v = thin(time, values, 300)
    assert len(t) <= 320 and (np.diff(t) > 0).all() and t[0] == 0 and t[-1] == 9999
    assert np.nanmax(v) == 9.0 and np.nanmin(v) == -9.0 and np.isnan(v).any()
    assert t[np.nanargmax(v)] == 7777
    assert all(a is b for a, b in zip(thin(time, values, 10_000), (time, values), strict=True))


def test_frames_are_even_and_hold_both_ends():
    assert np.array_equal(frames(5, 10), np.arange(5))
    found = frames(1001, 100)
    assert found[0] == 0 and found[-1] == 1000 and len(found) == 100 and np.ptp(np.diff(found)) <= 1


def test_equal_arrays_are_kept_once():
    blob = Blob()
    assert blob.add([1.0, 2.0]) == blob.add(np.array([1.0, 2.0])) == (0, 2)
    assert blob.add([3.0]) == (2, 1) and blob.size == 3
    with np.errstate(over="raise"):
        assert blob.add([1e300]) == (3, 1) and np.isinf(blob.parts[-1]).all()


def test_limits_ignore_spikes_and_round_off():
    values = np.sin(np.linspace(0, 20, 2000))
    spiked = values.copy()
    spiked[100] = 1e4
    low, high, cut = charts.limits([spiked], False)
    assert high < 3 and cut == pytest.approx(1e4)
    assert charts.limits([values], False)[2] == 0
    low, high, cut = charts.limits([1 + 1e-14 * values], False)
    assert high - low > 0.1 and cut == 0
    assert charts.limits([np.full(3, np.nan)], False) == (-1.0, 1.0, 0.0)


@pytest.mark.parametrize("name", ["five_bar", "scotch_yoke", "pendulum", "grigore_figure_6", "spacecraft_2026"])
def test_other_mechanisms_have_a_scene(name):
    run = simulate(library.MECHANISMS[name](), 0.02, every=0.01, strict=False)
    content, _ = parts(report.html(run))
    assert [body["name"] for body in content["bodies"]] == [str(name) for name in run.body.values]
    assert [joint["name"] for joint in content["joints"]] == [str(name) for name in run.joint.values]
    left, bottom, right, top = content["box"]
    assert right > left or top > bottom


def test_the_box_holds_every_point():
    places = Places(runs.bore())
    left, bottom, right, top = scene.box(places)
    for reference in ("link3.end", "slider.D", "ground.C"):
        point = places.point(reference)
        assert left <= point.real.min() and point.real.max() <= right
        assert bottom <= point.imag.min() and point.imag.max() <= top


def test_permanent_contact_says_so():
    content, _ = parts(report.html(runs.permanent()))
    [row] = content["timeline"]
    assert {scene.MODES[code] for code, _, _ in row["bars"]} == {"permanent contact"}
    assert content["plays"][0]["permanent"]


def test_compliant_contact_only_says_touching():
    content, _ = parts(report.html(runs.compliant()))
    [row] = content["timeline"]
    assert {scene.MODES[code] for code, _, _ in row["bars"]} == {"free", "touching"}
    assert content["impacts"][0]["strength"] == "largest force (N)" and content["impacts"][0]["count"] > 5


def test_a_result_without_its_model_still_moves():
    run = runs.slider().assign_attrs(model="# slider-crank: has Python functions, which no file can hold\n")
    content, _ = parts(report.html(run))
    assert content["joints"] == [] and len(content["poses"]) == 3
    whole, _ = parts(report.html(run, mechanism=library.slider_crank(speed=10.0)))
    assert [joint["name"] for joint in whole["joints"]] == ["J1", "J2", "J3", "J4"]


def test_a_run_that_ended_early_says_so():
    run = runs.slider().assign_attrs(outcome="near singular", outcome_text="near a singular position at t = 1 s")
    assert parts(report.html(run))[0]["outcome"] == ["near singular", "near a singular position at t = 1 s"]


def test_one_sample_is_enough_and_none_is_refused():
    assert parts(report.html(runs.rocker().isel(time=[0])))[0]["time"][1] == 1
    with pytest.raises(ValueError, match="holds no samples"):
        report.html(runs.rocker().isel(time=[]))


def test_pages_are_written_from_files_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    results.save(runs.slider(), tmp_path / "run.nc")
    made = report.write(tmp_path / "run.nc", tmp_path / "page.html", twin=tmp_path / "run.nc", command="typed this")
    assert made == tmp_path / "page.html" and made.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["page.html", "run.nc"]
    with pytest.raises(ValueError, match="no such file"):
        report.write(tmp_path / "none.nc", tmp_path / "page.html")

    def fail(self, *_, **__):
        raise OSError("disk is full")

    before = made.read_bytes()
    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="disk is full"):
        report.write(runs.slider(), made)
    assert made.read_bytes() == before and len(list(tmp_path.iterdir())) == 2


def test_the_same_run_gives_the_same_page():
    assert report.html(runs.slider()) == report.html(runs.slider())


def test_a_notebook_gets_a_frame_and_no_server():
    shown = report.show(runs.slider(), height=500)
    text = shown._repr_html_()
    assert text.startswith("<iframe ") and 'sandbox="allow-scripts"' in text and "height:500px" in text
    assert text.count("<") == 2  # everything of the page is quoted
    assert "show it in a notebook" in repr(shown)


def test_results_have_an_accessor(tmp_path: Path):
    assert runs.slider().jp.show().page == report.html(runs.slider())
    assert runs.slider().jp.report(tmp_path / "page.html").is_file()


def test_the_accessor_needs_no_import_by_hand(tmp_path: Path):
    results.save(runs.slider(), tmp_path / "slider.nc")
    code = """if True:
        import sys
        import jointplay as jp
        run = jp.simulate(jp.library.slider_crank(speed=10.0), 0.05)
        assert "jointplay.report" not in sys.modules and "matplotlib" not in sys.modules
        print(run.jp.show(height=300)._repr_html_().startswith("<iframe"))
        loaded = jp.results.load("slider.nc")
        print(loaded.jp.show(twin="slider.nc").page.count("<main>"), loaded.jp.report("page.html"))
    """
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.stdout.split() == ["True", "1", "page.html"], done.stderr
    assert (tmp_path / "page.html").is_file()


def test_printing_without_a_browser_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("shutil.which", lambda name: None)
    monkeypatch.delenv("JOINTPLAY_CHROMIUM", raising=False)
    with pytest.raises(RuntimeError, match="no Chromium was found to print with; install one"):
        report.pdf(tmp_path / "page.html", tmp_path / "page.pdf")
    with pytest.raises(ValueError, match="no such file"):
        report.pdf(tmp_path / "page.html", tmp_path / "page.pdf", browser="some")


def test_a_film_of_the_mechanism(tmp_path: Path):
    made = report.movie(runs.slider(), tmp_path / "film.gif", seconds=0.4, rate=10, twin=runs.slider())
    assert made.read_bytes().startswith(b"GIF8") and [file.name for file in tmp_path.iterdir()] == ["film.gif"]
    with pytest.raises(ValueError, match=r"the suffix must be \.gif or \.mp4, got '\.avi'"):
        report.movie(runs.slider(), tmp_path / "film.avi")
    with pytest.raises(ValueError, match="holds no samples"):
        report.movie(runs.slider().isel(time=[]), tmp_path / "film.gif")


def test_a_film_shows_pins_where_the_run_has_them():
    run = runs.rocker()
    figure, frame = film.frames_of(run, runs.rocker_twin(), None)
    assert [axes.texts[0].get_text() for axes in figure.axes[1:3]] == ["J2", "J3"]
    for i in (0, 375):
        frame(i)
        play = Places(run).play("J3")
        at = film.PLAY * (play.offset * play.turn)[i] / play.clearance
        assert figure.axes[2].patches[3].center == pytest.approx((at.real, at.imag))  # type: ignore[attr-defined]
        crank = next(line for line in figure.axes[0].lines if line.get_color() == film.SERIES[0])
        assert crank.get_xdata()[-1] == pytest.approx(Places(run).point("crank.end")[i].real)


def test_a_film_has_the_colours_of_the_page():
    style = (Path(report.__file__).parent / "page.css").read_text()
    light = style.partition("[data-theme")[0]
    for i, colour in enumerate(film.SERIES):
        assert f"--c{i}: {colour};" in light
    for name in ("card", "ink", "soft", "line", "faint", "accent", "ghost", "metal"):
        assert f"--{name}: {getattr(film, name.upper())};" in light


def test_a_result_says_what_happened():
    run = runs.controlled()
    said = repr(run.jp)
    assert said.startswith("crank-rocker\n") and "tracking error crank" in said and " deg, rms " in said
    assert f"contact J2            {int(run.impacts[0])} impacts" in said and "judgement" in said
    shown = run.jp._repr_html_()
    assert "<svg" in shown and shown.count("<polyline") == 6 and "energy imbalance" in shown and "at most" in shown
    assert "<polyline" not in card.html(run.assign_attrs(model="# none"))
    odd = run.assign_attrs(title="<b>&", judgement="wrong", judgement_text="This run is <wrong>.")
    assert "<b>&amp" not in card.html(odd).replace("&lt;b&gt;", "") and "This run is &lt;wrong&gt;." in card.html(odd)


def test_other_datasets_look_as_before_in_a_notebook():
    assert results.in_notebook(runs.slider()).startswith("<div")
    other = xarray.Dataset({"a": ("x", [1.0])})
    assert results.in_notebook(other) == other._repr_html_() or "xr-wrap" in results.in_notebook(other)
    assert "xr-wrap" in results.in_notebook(runs.slider().drop_vars("angle"))  # a part of one


def test_an_mp4_is_a_film_too(tmp_path: Path):
    if shutil.which("ffmpeg") is None:
        pytest.skip("needs ffmpeg: apt-get install ffmpeg")
    made = report.movie(runs.rocker(), tmp_path / "film.MP4", seconds=0.5, rate=8, twin=runs.rocker_twin())
    data = made.read_bytes()
    assert data[4:8] == b"ftyp" and b"moov" in data and b"avc1" in data
    assert [file.name for file in tmp_path.iterdir()] == ["film.MP4"]


def test_without_ffmpeg_an_mp4_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("matplotlib.animation.writers.is_available", lambda name: False)
    with pytest.raises(RuntimeError, match=r"film\.mp4: \.mp4 films need ffmpeg, which is not installed; install it"):
        report.movie(runs.slider(), tmp_path / "film.mp4")


def test_a_twin_of_something_else_is_refused():
    with pytest.raises(
        ValueError, match="the run with ideal joints has the bodies crank, rod, slider, this result has crank, coupler"
    ):
        report.html(runs.rocker(), runs.slider())


def test_the_page_needs_no_matplotlib():
    code = "import sys, jointplay.report; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0


def test_a_run_with_a_python_controller_is_drawn_whole():
    """No file can hold the function, but the page needs the mechanism only."""
    loop = control.sampled(lambda t, *seen: [0.0], "crank", 0.0, period=1e-2)
    loose = library.slider_crank().loosen("J3", "1 mm", journal_radius="10 mm", contact=Rigid(friction=0.1))
    run = simulate(loose, 0.02, control=loop)
    content, _ = parts(report.html(run))
    assert len(content["joints"]) == len(loose.joints) and len(content["plays"]) == 1
    assert run.attrs["model"].startswith("#")


def test_friction_without_a_lever_is_noted():
    bare = library.slider_crank().loosen("J3", "1 mm", contact=Rigid(friction=0.1))
    assert "has no lever" in simulate(bare, 0.01).attrs["notes"]
    assert "has no lever" not in simulate(bare.loosen("J3", "1 mm", journal_radius=0.01), 0.01).attrs["notes"]


def test_the_panel_of_tracking_errors_shows_0():
    run = runs.controlled()
    run = run.assign(tracking_error=1.0 + abs(run.tracking_error))
    panels = parts(report.html(run))[0]["charts"]
    assert {panel["low"] for panel in panels if panel["title"] == "Tracking error"} == {0}


def test_the_ground_of_a_film_is_hatched_where_its_supports_stand():
    figure, frame = film.frames_of(runs.slider(), None, None)
    frame(0)
    figure.draw_without_rendering()
    stage = figure.axes[0]
    [hatch] = [text for text in stage.texts if text.get_text().startswith("╱")]
    [support] = [line for line in stage.lines if line.get_marker() == (3, 0, 0)]
    pin = stage.transData.transform(np.column_stack(support.get_data()))[0, 1]
    below = (pin - hatch.get_window_extent().y1) / figure.dpi * 72  # points
    assert 0.2 * support.get_markersize() < below < 0.3 * support.get_markersize()  # where its triangle ends
