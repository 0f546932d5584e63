"""Results that come back altered or were never results: refused in one line, or shown, but never a traceback."""

import random

import pytest

import jointplay as jp
from jointplay import plots, report, results
from jointplay.cli import main
from jointplay.errors import InputError
from jointplay.model.clearances import Rigid
from jointplay.recognition import flaws
from tests.alterations import alterations
from tests.browser import runs

STUDIES = (
    "analysis",
    "balance",
    "trade_off",
    "contour",
    "histogram",
    "series",
    "sensitivity",
    "ranking",
    "bifurcation",
    "basins",
)  # not of a run
FIGURES = [getattr(plots, name) for name in plots.__all__ if name not in ("save", "comparison", *STUDIES)]
CHOSEN = 16  # of some hundred alterations; validation/test_survival.py takes all


def bouncing():
    """A slider-crank whose slider strikes its pin, a few samples of it."""
    loose = jp.library.slider_crank(speed=50.0).loosen("J3", "0.5 mm", journal_radius="15 mm", contact=Rigid())
    return jp.simulate(loose, 0.05, jp.MoreauJean(2e-5), every=1e-3, reclose=True)


@pytest.fixture(scope="module")
def run():
    return bouncing()


def shown(run, changes, path, thorough: bool = False) -> list[str]:
    """What became of each changed result: shown, or the line in which it is refused; anything else is a defect."""
    found, defects = [], []
    for i, (name, change) in enumerate(changes):
        results.save(change(run), path)
        figures = FIGURES if thorough and i % 10 == 0 else [FIGURES[i % len(FIGURES)]]
        for show in (report.html, *figures) if thorough or i % 2 else figures:
            try:
                show(results.load(path))
                found.append("shown")
            except InputError as error:
                found.append(str(error))
            except Exception as error:
                defects.append(f"{name}, {show.__name__}: {error!r}")
    assert not defects and not any("\n" in text for text in found), "\n".join(defects)
    return found


def test_no_alteration_ends_in_a_traceback(run, tmp_path):
    found = shown(run, random.Random(1).sample(list(alterations(run)), CHOSEN), tmp_path / "run.nc")
    assert "shown" in found and len(set(found)) > CHOSEN / 2


@pytest.mark.parametrize("name", ["angle", "time", "peak_normal"])
def test_a_number_that_changed_on_the_disk_is_no_other_number(run, name, tmp_path):
    file = tmp_path / "damaged.nc"
    results.save(run, file)
    assert results.load(file).identical(run)
    written, held = file.read_bytes(), run[name].values.tobytes()
    place = written.index(held) + len(held) // 2
    file.write_bytes(written[:place] + bytes([written[place] ^ 1]) + written[place + 1 :])
    with pytest.raises(InputError, match="may be damaged"):
        results.load(file)


def test_every_alteration_of_what_is_recognised_is_found(run):
    for name in ("x", "force_x", "gap", "kinetic", "peak_force", "impact_time"):
        assert any(name in flaw for flaw in flaws(run.assign({name: run[name].astype(str)})))
        assert any(name in flaw for flaw in flaws(run.drop_vars(name).assign({name: 1.0})))
    for name in ("title", "model", "outcome", "notes", "redundant", "audit", "steps", "until"):
        assert any(name in flaw for flaw in flaws(run.assign_attrs({name: [1.0, 2.0]})))
    assert any("time does not increase" in flaw for flaw in flaws(run.isel(time=slice(None, None, -1))))


@pytest.mark.parametrize("make", [runs.slider, runs.cart, runs.permanent, bouncing])
def test_a_real_result_has_no_flaw(make, tmp_path):
    run = make()
    assert list(flaws(run)) == []
    results.save(run, tmp_path / "run.nc")
    assert list(flaws(results.load(tmp_path / "run.nc"))) == []


FOREIGN = {
    "no attributes": lambda run: run.drop_attrs(),
    "model of another": lambda run: run.assign_attrs(model=run.attrs["model"].replace("crank", "arm")),
    "half a model": lambda run: run.assign_attrs(model=run.attrs["model"][:200]),
    "audit": lambda run: run.assign_attrs(audit="[[1]]"),
    "labels": lambda run: run.assign_coords(joint=["a", "b", "c", "d"]),
    "infinite": lambda run: run.assign(x=run.x * float("inf")),
}


@pytest.mark.parametrize("kind", FOREIGN)
def test_the_command_refuses_in_one_line(kind, run, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    results.save(FOREIGN[kind](run), "run.nc")
    assert main(["report", "run.nc"]) == 2
    told = capsys.readouterr()
    assert told.out == "" and told.err.startswith("jointplay: ") and told.err.count("\n") == 1
    assert [p.name for p in tmp_path.iterdir()] == ["run.nc"]
