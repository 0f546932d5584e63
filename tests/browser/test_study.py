"""The page of a study in a real browser: a cell or bar tells its run and the command that replays it."""

import math

import pytest

import jointplay as jp
from jointplay import report


def clearances(**settings):
    """A stand-in for a run, quick."""
    return {"error": sum(settings.values()) ** 2, "force": 1 / (1e-3 + settings["J2.clearance"])}


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("studies")
    axes = ("J2.clearance", "J3.clearance")
    grid = jp.sweep(clearances, {a: jp.grid(0, 5e-3, 4) for a in axes})
    drawn = jp.sweep(clearances, {a: jp.fit("20 H7/g6") for a in axes}, samples=200)
    line = jp.sweep(lambda speed: speed**2, {"speed": [1.0, 2.0, 4.0]})
    limits = {"error": 6e-10}
    return {
        "grid": report.write_study(grid, folder / "grid.html"),
        "samples": report.write_study(drawn, folder / "samples.html", limits),
        "line": report.write_study(line, folder / "line.html"),
    }


def test_a_cell_of_a_grid_tells_its_run(opened, pages):
    page = opened(pages["grid"])
    cells = page.locator("#figure .cell")
    assert cells.count() == 16
    cells.nth(6).click()
    told = page.locator("#run").inner_text()
    assert told.startswith("Run 6") and "0.00333333" in told and "0.00166667" in told
    assert "J2.clearance = 0.001667 m" not in page.locator("#caption").inner_text()  # a function's axes have no unit
    page.locator("#choices select").first.select_option("1")
    assert cells.count() == 16 and page.locator("#ranking").is_hidden()


def test_values_that_came_later_stand_in_their_order(opened, tmp_path):
    late = [0.0, 1.0, 2.0, 0.5]
    study = jp.sweep(lambda a, b: 10 * a + b, {"a": late, "b": late})
    page = opened(report.write_study(study, tmp_path / "grid.html"))
    cells = page.locator("#figure .cell")
    boxes = {cells.nth(i).get_attribute("aria-label"): cells.nth(i).bounding_box() for i in range(16)}
    for k, values in ((10.0, "y"), (1.0, "x")):  # a goes up, b to the right
        middles = []
        for value in sorted(late):
            a, b = (value, 1.0) if k == 10 else (1.0, value)
            box = boxes[f"run {4 * late.index(a) + late.index(b)}: {10 * a + b:g}"]
            middles.append((box[values], box["height" if values == "y" else "width"]))
        assert all(size > 5 for _, size in middles)
        begins = [at for at, _ in middles]
        assert begins == sorted(begins, reverse=values == "y")
    line = opened(report.write_study(study.isel(b=[0]), tmp_path / "line.html"))
    dots = [line.locator("#figure circle").nth(i).bounding_box()["x"] for i in range(4)]
    assert dots == sorted(dots)
    line.locator("#figure circle").nth(1).click()
    assert line.locator("#run").inner_text().startswith("Run 3")


def test_samples_show_a_histogram_a_share_and_a_ranking(opened, pages):
    page = opened(pages["samples"], scheme="dark")
    assert "with 95 % confidence" in page.locator("#caption").inner_text()
    assert page.locator("#run").inner_text().startswith("Run")
    assert page.locator("#ranked tr").count() == 3
    page.locator("#limit").fill("1")
    assert "0 of 200 runs exceed 1" in page.locator("#caption").inner_text()
    page.locator("#limit").fill("")
    assert "Give a limit" in page.locator("#caption").inner_text()
    assert 8 <= page.locator("#figure .cell").count() <= 15  # the root of 200 runs, and not a bar for each
    last, whole = page.locator("#figure .cell").last.bounding_box(), page.locator("#figure").bounding_box()
    assert last["x"] + last["width"] < whole["x"] + whole["width"]


def test_runs_that_never_reach_a_mark_are_beyond_the_limit(opened, tmp_path):
    name = "when(x[slider] above 0.4)"
    study = jp.sweep(lambda x: {name: x if x < 0.5 else math.nan}, {"x": jp.uniform(0, 1)}, samples=32)
    page = opened(report.write_study(study, tmp_path / "never.html", {name: 0.25}))
    caption = page.locator("#caption").inner_text()
    assert caption.startswith("24 of 32 runs exceed 0.25") and caption.endswith("; 16 of 32 runs never reach it")
    page.locator("#limit").fill("")
    assert page.locator("#caption").inner_text().startswith("16 of 32 runs never reach it. Give a limit")


def test_one_axis_is_a_line(opened, pages):
    page = opened(pages["line"], width=420)
    page.locator("#figure circle").nth(2).click()
    assert "16" in page.locator("#run").inner_text()
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_lengths_are_read_in_millimetres(tmp_path):
    clearance = jp.grid(0, 5e-3, 3)
    study = jp.sweep(lambda clearance: clearance / 100, {"clearance": clearance})
    study["value"].attrs["units"] = study["clearance"].attrs["units"] = "m"
    content = report.study.payload(study, "", {"value": 4e-5})
    [axis], metric = content["axes"], content["metrics"]["value"]
    assert (axis["unit"], axis["values"]) == ("mm", [0.0, 2.5, 5.0])
    assert (metric["unit"], metric["values"], metric["limit"]) == ("µm", [0.0, 25.0, 50.0], 40.0)


OVERLAPPING = """() => {
  const boxes = [...document.querySelectorAll('#figure text')].map((x) => [x.textContent, x.getBoundingClientRect()]);
  const apart = (p, q) => p.right <= q.left || q.right <= p.left || p.bottom <= q.top + 3 || q.bottom <= p.top + 3;
  return boxes.flatMap(([a, p], i) => boxes.slice(i + 1).filter(([, q]) => !apart(p, q)).map(([b]) => `${a} on ${b}`));
}"""


@pytest.mark.parametrize("width", [400, 800])
def test_no_label_stands_on_another_however_long_the_numbers_are(opened, tmp_path, width):
    names = {"rigid with friction and restitution": 1.0, "compliant, steel on bronze, hunt_crossley": 2.0, "none": 3.0}
    spread = jp.grid(1e-3, 10, 13, spacing="logarithmic")
    long = jp.grid(0, 12345.67, 31)
    studies = (
        jp.sweep(lambda contact: -9.123456 + contact * 1e-5, {"contact": names}),
        jp.sweep(lambda contact, x: 123456 + contact * x, {"contact": names, "x": long}),
        jp.sweep(lambda a, b: a * b, {"a": spread, "b": spread}),
        jp.sweep(lambda a: 123456 + 1e-3 * a, {"a": jp.uniform(0, 1)}, samples=64),
    )
    for i, study in enumerate(studies):
        page = opened(report.write_study(study, tmp_path / f"{i}.html"), width=width)
        assert page.evaluate(OVERLAPPING) == []
        assert page.locator("#figure text").count() > 5


def test_marks_of_a_scale_are_written_whole(opened, tmp_path):
    study = jp.sweep(lambda a, b: 123450 + a * b, {"a": jp.grid(0, 1, 2), "b": jp.grid(0, 1250, 2)})
    page = opened(report.write_study(study, tmp_path / "page.html"))
    assert {"123500", "123750", "124250"} <= set(page.locator("#figure text").all_text_contents())
