"""The page in a real browser: it moves, follows its controls, and draws what the run says."""

import time
from pathlib import Path

import numpy as np
import pytest

from jointplay import report
from jointplay.model import Body, Gear, Mechanism, Revolute, Torque, library
from jointplay.plots.places import Places
from jointplay.simulation import MoreauJean, simulate

from . import runs
from .conftest import until


@pytest.fixture(scope="module")
def rocker_file(tmp_path_factory) -> Path:
    command = "jointplay report rocker.nc"
    return report.write(runs.rocker(), tmp_path_factory.mktemp("page") / "rocker.html", runs.rocker_twin(), command)


@pytest.fixture(scope="module")
def bore_file(tmp_path_factory) -> Path:
    return report.write(runs.bore(), tmp_path_factory.mktemp("page") / "bore.html")


@pytest.fixture
def rocker(opened, rocker_file):
    return opened(rocker_file)


def settled(page) -> dict:
    """What was drawn, once the frame that was asked for is there."""
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    return page.evaluate("jointplay.drawn()")


def seek(page, t: float) -> dict:
    page.evaluate("t => jointplay.seek(t)", t)
    return settled(page)


def now(page) -> float:
    return page.evaluate("jointplay.state.time")


@pytest.mark.parametrize("t", [0.0, 0.4, 1.9])
def test_drawn_positions_equal_the_data(rocker, t):
    run, places = runs.rocker(), Places(runs.rocker())
    i = int(np.argmin(np.abs(run.time.values - t)))
    drawn = seek(rocker, float(run.time[i]))
    for body in run.body.values:
        at = [float(run[axis].sel(body=body)[i]) for axis in "xy"]
        assert drawn["bodies"][body] == pytest.approx(at, abs=2e-6)
    for joint, model in places.mechanism.joints.items():
        point = places.point(model.between[1])[i]
        assert drawn["points"][joint] == pytest.approx([point.real, point.imag], abs=3e-6)
    for name, joint in drawn["joints"].items():
        play = places.play(name)
        place = (play.offset * play.turn)[i] * joint["factor"] * joint["scale"]
        at = np.subtract(joint["at"], joint["centre"])
        assert at == pytest.approx([place.real, -place.imag], abs=1e-3)


def test_it_opens_before_the_hardest_impact_and_plays(opened, rocker_file):
    page = opened(rocker_file, hash="")
    assert page.evaluate("jointplay.state.playing")
    run = runs.rocker()
    hardest = float(run.impact_time[int(np.argmax(run.impact_normal.values))])
    assert page.evaluate("jointplay.hardest()") == pytest.approx(hardest, abs=1e-6)
    page.keyboard.press("h")
    assert settled(page)["time"] == pytest.approx(hardest, abs=1e-6) and not page.evaluate("jointplay.state.playing")


@pytest.mark.parametrize(("hash", "t"), [("#t=40%", 0.8), ("#t=40%25", 0.8), ("#t=0.75", 0.75), ("#t=9", 2.0)])
def test_a_time_in_the_address_stands_still(opened, rocker_file, hash, t):
    page = opened(rocker_file, hash=hash)
    assert settled(page)["time"] == pytest.approx(t, abs=1e-6) and not page.evaluate("jointplay.state.playing")


def test_headline_numbers_say_that_rigid_impacts_have_no_force(opened, rocker_file):
    page = opened(rocker_file)
    assert "an impulse (N s) and no force" in page.locator("#headlines .hint").inner_text()


def test_a_gear_with_play_shows_its_torque(opened, tmp_path):
    wheels = {name: Body(mass=1.0, inertia=0.01, points={"axle": (0, 0)}) for name in ("driver", "driven")}
    made = Mechanism(
        bodies=wheels,
        ground={"points": {"A": (0, 0), "B": (0.3, 0)}},
        joints={
            "A": Revolute(between=("ground.A", "driver.axle")),
            "B": Revolute(between=("ground.B", "driven.axle")),
            "mesh": Gear(between=("driver", "driven"), ratio=-2.0, play="1 deg"),
        },
        forces={"motor": Torque(on="driver", torque=1.0)},
    )
    run = simulate(made, 0.2, MoreauJean(1e-4))
    page = opened(report.write(run, tmp_path / "gear.html"), hash="#t=100%")
    shown = page.inner_text(".joint dl")
    assert (
        "torque" in shown
        and "force" not in shown
        and f"{float(run.moment.sel(joint='mesh')[-1]):.2f}" in shown.replace("−", "-")
    )
    assert "play 1.00°" in page.inner_text(".joint .size")
    titles = {panel["title"]: panel for panel in page.evaluate("jointplay.content.charts")}
    assert [curve["name"] for curve in titles["Joint torque"]["curves"]] == ["mesh"] and titles["Backlash gap"][
        "unit"
    ] == "deg"


def test_between_two_samples_the_picture_lies_between(rocker):
    run = runs.rocker()
    x = run.x.sel(body="rocker").values
    middle = 0.5 * float(run.time[300] + run.time[301])
    assert seek(rocker, middle)["bodies"]["rocker"][0] == pytest.approx(0.5 * (x[300] + x[301]), abs=5e-6)


def test_play_advances_and_pause_holds(rocker):
    rocker.click("#play")
    until(rocker, "jointplay.state.time > 0.03 && jointplay.drawn().time > 0.03")
    assert rocker.get_attribute("#play", "aria-label") == "Pause (space)"
    rocker.click("#play")
    held = settled(rocker)
    rocker.wait_for_timeout(150)
    assert settled(rocker)["time"] == held["time"] == now(rocker)
    assert rocker.get_attribute("#play", "aria-label") == "Play (space)"


def test_it_begins_again_after_the_end(rocker):
    rocker.select_option("#speed", "10")
    rocker.evaluate("jointplay.seek(jointplay.motion.last - 0.01)")
    rocker.click("#play")
    until(rocker, "jointplay.state.time < 1")
    rocker.click("#play")


def test_scrub_moves_cursors_and_mechanism_together(rocker):
    before = settled(rocker)
    rocker.locator("#scrub").fill("600")
    after, t = settled(rocker), float(runs.rocker().time[600])
    assert after["time"] == pytest.approx(t, abs=1e-6) == now(rocker)
    assert len(after["cursors"]) > 8 and after["cursors"] == pytest.approx([t] * len(after["cursors"]), abs=1e-6)
    assert after["points"]["J2"] != pytest.approx(before["points"]["J2"], abs=0.01)
    x = float(runs.rocker().x.sel(body="crank")[600])
    assert after["bodies"]["crank"][0] == pytest.approx(x, abs=2e-6)
    assert rocker.text_content("#clock") == f"{t:.3f} / 2.000 s"
    # the line stands where the curve's time is, in pixels of the page
    found = rocker.evaluate(
        "() => { const plot = document.querySelector('.plot'), box = plot.getBoundingClientRect(),"
        " line = plot.querySelector('.cursor').getBoundingClientRect();"
        " return (line.left + line.width / 2 - box.left) / box.width; }"
    )
    assert 0.3 < found < 0.75


def test_dragging_in_a_panel_moves_time(rocker):
    area = rocker.locator(".chart .plot").first
    area.scroll_into_view_if_needed()
    box = area.bounding_box()
    rocker.mouse.move(box["x"] + 0.3 * box["width"], box["y"] + 40)
    rocker.mouse.down()
    first = now(rocker)
    rocker.mouse.move(box["x"] + 0.8 * box["width"], box["y"] + 40, steps=4)
    rocker.mouse.up()
    assert 0.2 < first < 0.8 and 1.3 < now(rocker) < 1.9


def shown_stretch(page) -> list[float]:
    return settled(page)["view"]


def test_time_zooms_by_buttons_about_the_cursor(rocker):
    seek(rocker, 0.8)
    [lines] = rocker.evaluate("[document.querySelector('.chart canvas').toDataURL()]")
    assert rocker.is_disabled("#zoom-out") and rocker.is_disabled("#zoom-whole")
    rocker.click("#zoom-in")
    rocker.click("#zoom-in")
    drawn = settled(rocker)
    assert drawn["view"] == pytest.approx([0.6, 1.1], abs=1e-6)  # the cursor stays at 40 % of the width
    assert drawn["cursors"] == pytest.approx([0.8] * len(drawn["cursors"]), abs=1e-6)
    assert rocker.text_content("#zoom-shown") == "0.600 to 1.100 s"
    assert rocker.evaluate("document.querySelector('.chart canvas').toDataURL()") != lines
    rocker.click("#zoom-out")
    assert shown_stretch(rocker) == pytest.approx([0.4, 1.4], abs=1e-6)
    rocker.click("#zoom-whole")
    assert shown_stretch(rocker) == pytest.approx([0.0, 2.0], abs=1e-6)
    assert rocker.evaluate("document.querySelector('.chart canvas').toDataURL()") == lines
    for _ in range(12):
        rocker.keyboard.press("z")
    low, high = shown_stretch(rocker)
    assert rocker.is_disabled("#zoom-in") and high - low == pytest.approx(6 * 0.002, rel=1e-3)


def test_time_zooms_by_keys_and_follows_the_cursor(rocker):
    rocker.focus("#exaggeration")  # also where another control has the focus
    rocker.keyboard.press("z")
    rocker.keyboard.press("z")
    assert shown_stretch(rocker) == pytest.approx([0.0, 0.5], abs=1e-6)
    rocker.focus("#scrub")
    rocker.keyboard.press("End")  # the cursor takes the panels along
    assert shown_stretch(rocker) == pytest.approx([1.5, 2.0], abs=1e-6)
    seek(rocker, 0.9)
    assert shown_stretch(rocker) == pytest.approx([0.65, 1.15], abs=1e-6)
    rocker.keyboard.press("x")
    low, high = shown_stretch(rocker)
    assert high - low == pytest.approx(1.0, abs=1e-6) and low < 0.9 < high
    rocker.keyboard.press("0")
    assert shown_stretch(rocker) == pytest.approx([0.0, 2.0], abs=1e-6)


def test_a_zoomed_panel_is_as_high_as_what_it_shows(rocker):
    run, whole = runs.rocker(), settled(rocker)["limits"]
    rocker.evaluate("jointplay.look(0.6, 0.7)")
    found, there = settled(rocker)["limits"], run.sel(time=slice(0.6, 0.7))
    rates = [float(f(there.angle_rate)) for f in (np.min, np.max)]
    assert found["Angular rate"][0] < rates[0] and rates[1] < found["Angular rate"][1]
    force = float(np.hypot(there.force_x, there.force_y).max())
    assert found["Joint force"][0] == 0 and force < found["Joint force"][1] < 0.3 * whole["Joint force"][1]
    hidden = found["Angular rate"][1]
    rocker.locator(".chart .keys button", has_text="crank").nth(1).click()  # a curve that is off does not count
    assert settled(rocker)["limits"]["Angular rate"][1] < 0.8 * hidden
    rocker.keyboard.press("0")
    assert settled(rocker)["limits"] == whole


def test_a_stretch_of_time_is_chosen_by_dragging_with_shift(rocker):
    seek(rocker, 1.0)
    area = rocker.locator(".chart .plot").first
    area.scroll_into_view_if_needed()
    box = area.bounding_box()
    left, wide, y = box["x"] + 50, box["width"] - 60, box["y"] + 40  # beside the axis

    def drag(first: float, last: float) -> None:
        rocker.mouse.move(left + first * wide, y)
        rocker.mouse.down()
        rocker.mouse.move(left + last * wide, y, steps=3)
        assert rocker.locator(".chart .band").first.is_visible()
        rocker.mouse.up()

    rocker.keyboard.down("Shift")
    drag(0.75, 0.25)
    rocker.keyboard.up("Shift")
    assert shown_stretch(rocker) == pytest.approx([0.5, 1.5], abs=0.02) and now(rocker) == 1.0
    assert not rocker.locator(".chart .band").first.is_visible()
    rocker.mouse.click(left + 0.1 * wide, y)  # without Shift, time moves: in the stretch that is shown
    assert now(rocker) == pytest.approx(0.6, abs=0.02)
    rocker.keyboard.down("Control")
    rocker.mouse.wheel(0, -100)
    rocker.keyboard.up("Control")
    until(rocker, "jointplay.drawn().view[1] - jointplay.drawn().view[0] < 0.7")
    low, high = shown_stretch(rocker)
    assert low + 0.1 * (high - low) == pytest.approx(0.6, abs=0.02)  # what is under the pointer stays there
    area.dblclick()
    assert shown_stretch(rocker) == pytest.approx([0.0, 2.0], abs=1e-6)


def test_exaggeration_scales_the_eccentricity_and_nothing_else(rocker):
    large = seek(rocker, 0.75)
    pixels = rocker.evaluate("document.querySelector('#mechanism canvas').toDataURL()")
    rocker.locator("#exaggeration").fill("0.5")
    small = settled(rocker)
    rocker.locator("#exaggeration").fill("0")
    true = settled(rocker)
    for key in ("time", "points", "bodies", "cursors"):
        assert large[key] == small[key] == true[key]
    assert rocker.evaluate("document.querySelector('#mechanism canvas').toDataURL()") == pixels
    run, places = runs.rocker(), Places(runs.rocker())
    i = int(np.argmin(np.abs(run.time.values - 0.75)))
    for name in ("J2", "J3"):
        a, b, c = (state["joints"][name] for state in (large, small, true))
        assert a["outer"] == b["outer"] == c["outer"] and a["centre"] == b["centre"] == c["centre"]
        assert a["factor"] > b["factor"] > c["factor"] == 1
        vectors = [np.subtract(state["at"], state["centre"]) / state["factor"] for state in (a, b, c)]
        assert vectors[0] == pytest.approx(vectors[2], abs=1e-9) and vectors[1] == pytest.approx(vectors[2], abs=1e-9)
        eccentricity = abs(places.play(name).offset[i])
        assert np.hypot(*vectors[2]) == pytest.approx(eccentricity * c["scale"], abs=1e-4)
        # at true scale the journal has its own radius; a closed gap is closed at any exaggeration
        assert c["journal"] == pytest.approx(0.06 * c["scale"], rel=1e-9)
        for state in (a, b, c):
            reach = np.hypot(*np.subtract(state["at"], state["centre"])) + state["journal"]
            assert reach == pytest.approx(state["outer"], abs=1e-3)  # in contact at this time
    assert rocker.text_content("#exaggeration-shown") == "none: true scale"


def test_the_keyboard_works(rocker):
    t = runs.rocker().time.values
    press = rocker.keyboard.press
    press("ArrowRight")
    assert now(rocker) == pytest.approx(t[1], abs=1e-6)
    press("Shift+ArrowRight")
    assert now(rocker) == pytest.approx(t[11], abs=1e-6)
    press("ArrowLeft")
    assert now(rocker) == pytest.approx(t[10], abs=1e-6)
    press("End")
    assert now(rocker) == pytest.approx(2.0, abs=1e-6)
    press("Home")
    assert now(rocker) == 0
    speed = rocker.input_value("#speed")
    press("-")
    assert float(rocker.input_value("#speed")) < float(speed)
    press("+")
    assert rocker.input_value("#speed") == speed
    press("[")
    assert rocker.evaluate("jointplay.state.exaggeration") == pytest.approx(0.95)
    press("Space")
    until(rocker, "jointplay.state.time > 0.01")
    press("Space")
    assert not rocker.evaluate("jointplay.state.playing")
    rocker.focus("#exaggeration")  # a slider keeps its own arrows
    held = now(rocker)
    press("ArrowLeft")
    assert now(rocker) == held and rocker.evaluate("jointplay.state.exaggeration") == pytest.approx(0.94)
    rocker.focus("#play")  # and a button its own space
    press("Space")
    assert rocker.evaluate("jointplay.state.playing")
    press("Space")
    assert not rocker.evaluate("jointplay.state.playing")


def test_what_stands_still_is_said(rocker):
    seek(rocker, 0.748)
    rocker.keyboard.press("ArrowRight")
    until(rocker, "document.getElementById('said').textContent.includes('t = 0.750 s; J2 ')")
    assert rocker.get_attribute("#scrub", "aria-valuetext") == "0.750 seconds"


def test_everything_has_a_name_for_screen_readers(rocker):
    nameless = rocker.evaluate(
        """() => [...document.querySelectorAll('canvas, button, input, select')].filter(node =>
             !(node.getAttribute('aria-label') || node.textContent.trim() || (node.labels && node.labels.length)))
             .map(node => node.outerHTML)"""
    )
    assert nameless == []
    assert rocker.evaluate("document.querySelectorAll('h1').length") == 1
    label = rocker.get_attribute(".chart canvas", "aria-label")
    assert label.startswith("Angle in deg over time: crank from ")


def test_curves_and_twin_can_be_switched_off(rocker):
    seek(rocker, 1.0)
    stage = "document.querySelector('#mechanism canvas').toDataURL()"
    chart = "document.querySelector('.chart canvas').toDataURL()"
    with_twin, with_curve = rocker.evaluate(stage), rocker.evaluate(chart)
    rocker.uncheck("#ghost")
    settled(rocker)
    assert rocker.evaluate(stage) != with_twin
    rocker.locator(".chart .keys button").first.click()
    assert rocker.evaluate(chart) != with_curve
    assert rocker.locator(".chart .keys button").first.get_attribute("aria-pressed") == "false"


def test_the_view_may_turn_with_the_bearing(rocker):
    i = 375
    seek(rocker, float(runs.rocker().time[i]))
    rocker.check("#turning")
    joint = settled(rocker)["joints"]["J2"]
    place = Places(runs.rocker()).play("J2").offset[i] * joint["factor"] * joint["scale"]
    assert np.subtract(joint["at"], joint["centre"]) == pytest.approx([place.real, -place.imag], abs=1e-3)


@pytest.mark.parametrize("t", [0.0, 0.006, 1.5])
def test_touching_corners_are_lit(opened, bore_file, t):
    run, page = runs.bore(), opened(bore_file)
    i = int(np.argmin(np.abs(run.time.values - t)))
    joint = seek(page, float(run.time[i]))["joints"]["P"]
    assert joint["lit"] == [bool(mode > 0) for mode in run["mode"].values[i]]
    middle = joint["centre"][1]
    for k, (_, y) in enumerate(joint["corners"]):
        away = joint["outer"] - abs(y - middle)  # from the wall
        gap = float(run.gap.values[i, k]) * joint["scale"] * joint["factor"]
        assert away == pytest.approx(gap, abs=1e-3)


@pytest.mark.parametrize(("width", "height"), [(400, 860), (1000, 800), (1600, 1000)])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_phones_and_large_screens(opened, rocker_file, width, height, scheme):
    page = opened(rocker_file, width, height, scheme, "#t=0.75")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate("document.documentElement.dataset.theme") == scheme
    assert now(page) == 0.75
    controls = page.locator("#controls").bounding_box()
    assert controls["y"] + controls["height"] <= height and page.is_visible("#play")
    stage, joints = page.locator("#mechanism").bounding_box(), page.locator("#joints").bounding_box()
    assert (joints["x"] >= stage["x"] + stage["width"]) == (width >= 900)  # beside it, on a phone beneath
    assert stage["width"] <= width and joints["x"] + joints["width"] <= width
    ink = page.evaluate(
        """() => { const canvas = document.querySelector('#mechanism canvas'), pen = canvas.getContext('2d');
             const data = pen.getImageData(0, 0, canvas.width, canvas.height).data; let count = 0;
             for (let i = 3; i < data.length; i += 4) if (data[i] > 200) count++; return count / (data.length / 4); }"""
    )
    assert 0.005 < ink < 0.5
    cut = page.evaluate(
        """() => [...document.querySelectorAll('h1, h2, h3, p, button, output, .note, .mode, .size, dd, th, td')]
             .filter(node => node.offsetParent && !node.matches('.unseen'))
             .filter(node => node.clientWidth > 0 && node.scrollWidth > node.clientWidth + 1)
             .map(node => node.outerHTML.slice(0, 80))"""
    )
    assert cut == []  # no text is wider than its place


def test_colours_can_be_chosen(rocker):
    found = []
    for _ in range(3):
        rocker.click("#theme")
        found.append((rocker.text_content("#theme"), rocker.evaluate("document.documentElement.dataset.theme")))
    assert found == [("Colours: dark", "dark"), ("Colours: light", "light"), ("Colours: auto", "light")]


def test_a_resized_window_is_drawn_anew(rocker):
    before = seek(rocker, 0.5)
    rocker.set_viewport_size({"width": 420, "height": 800})
    rocker.wait_for_timeout(100)
    after = settled(rocker)
    assert after["points"]["J3"] == pytest.approx(before["points"]["J3"], abs=1e-9)
    assert rocker.evaluate("document.querySelector('#mechanism canvas').clientWidth") < 420


def test_audit_and_provenance_are_shown(rocker):
    assert "position drift (m or rad)" in rocker.inner_text("#audit")
    shown = rocker.inner_text("#provenance")
    assert "jointplay report rocker.nc" in shown and "MoreauJean(step=2e-05" in shown
    rocker.click("summary")
    assert "clearance: 0.003" in rocker.inner_text("#model")


def test_ten_seconds_open_at_once(opened, tmp_path):
    loose = library.crank_rocker_2016(3e-3, 3e-3)
    run = simulate(loose, 10.0, MoreauJean(1e-5), start={"crank.rate": 10.0}, reclose=True)
    file = report.write(run, tmp_path / "long.html")
    assert file.stat().st_size < 2_000_000
    began = time.perf_counter()
    page = opened(file)
    assert time.perf_counter() - began < 2 or page.evaluate("performance.now()") < 2000


def test_runs_without_play_or_model_open_too(opened, tmp_path):
    page = opened(report.write(runs.slider(), tmp_path / "ideal.html"))
    assert not page.is_visible("#joints") and not page.is_visible("#contacts")
    assert settled(page)["bodies"].keys() == {"crank", "rod", "slider"}
    bare = runs.slider().assign_attrs(model="# none", outcome="near singular", outcome_text="near singular at 2 s")
    page = opened(report.write(bare, tmp_path / "bare.html"))
    assert page.inner_text("#outcome") == "Ended early: near singular at 2 s"
    still = opened(report.write(runs.rocker().isel(time=[5]), tmp_path / "still.html"))
    still.click("#play")
    assert not still.evaluate("jointplay.state.playing")


def test_names_are_text_and_nothing_else(opened, tmp_path):
    run = runs.slider().assign_attrs(title="</script><script>window.hurt = 1</script><img src=x onerror='hurt = 2'>")
    page = opened(report.write(run, tmp_path / "odd.html"))
    assert page.evaluate("window.hurt === undefined")
    assert page.text_content("#title") == run.attrs["title"]


def test_it_runs_inside_a_notebook(browser, tmp_path):
    file = tmp_path / "notebook.html"
    file.write_text(f"<!doctype html><body>{report.show(runs.slider())._repr_html_()}</body>", encoding="utf-8")
    page = browser.new_page()
    page.goto(file.as_uri(), wait_until="commit")
    # Locators give up after a while; an evaluation in a frame that is still loading waits without end.
    page.set_default_timeout(15_000)
    inside = page.frame_locator("iframe")
    inside.locator("#play[aria-label='Pause (space)']").wait_for()  # it plays by itself
    inside.locator("#play").dispatch_event("click")
    inside.locator("#play[aria-label='Play (space)']").wait_for()
    page.close()


def test_it_can_be_printed(browser, rocker_file, tmp_path):
    made = report.pdf(rocker_file, tmp_path / "page.pdf")
    data = made.read_bytes()
    assert data.startswith(b"%PDF") and data.count(b"/Type /Page\n") + data.count(b"/Type /Page ") >= 2
