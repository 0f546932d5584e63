"""The frame of the literature studies, and the studies where they are quick."""

import doctest
import json
import math
from pathlib import Path

import numpy as np
import pytest

from jointplay import papers
from jointplay.model import library
from jointplay.papers import STUDIES, Record, Study, rows, table, text, verdicts
from jointplay.papers.rows import Found, Row
from jointplay.papers.verdicts import VERDICTS, judge
from jointplay.statics import assemble
from jointplay.system import System

KEYS = ["study", "item", "case", "quantity", "unit", "paper", "reference", "computed", "verdict", "note"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"computed": 1.004, "paper": 1.0, "within": 0.005}, "reproduces"),
        ({"computed": 1.006, "paper": 1.0, "within": 0.005}, "differs"),
        ({"computed": 2.0, "reference": 2.0}, "agrees"),
        ({"computed": 2.1, "reference": 2.0}, "differs"),
        ({"computed": 2.0, "paper": 3.0, "reference": 2.0}, "contradicts"),
        ({"computed": 2.0, "paper": 3.0, "reference": 2.1, "close": 0.2}, "contradicts"),
        ({"computed": 2.5, "paper": 3.0, "reference": 2.0}, "differs"),
        ({"computed": 3.0, "paper": 3.0, "reference": 2.0}, "reproduces"),
        ({"computed": [1.0, 2.0], "paper": [1.0, 2.25]}, "differs"),
        ({"computed": [1.0], "paper": [1.0, 2.25]}, "differs"),
        ({"computed": "3 x 6", "paper": "3 x 6"}, "reproduces"),
        ({"computed": [1.0, math.nan], "paper": [1.0, 1.0], "within": 9.0}, "differs"),
        ({"computed": 1.0, "paper": 1.0, "computable": False}, "not-computable"),
        ({"computed": None, "paper": 1.0, "computable": False}, "not-computable"),
        ({"computed": 1.0, "paper": 1.0, "converged": False}, "not-converged"),
        ({"computed": 1.0, "paper": 1.0, "ended": False}, "differs"),
        ({"computed": None, "paper": "friction", "ended": False}, "differs"),
        ({"computed": 1.0, "paper": 1.0, "fitted": True}, "agrees"),
        ({"computed": 1.0, "paper": 2.0, "fitted": True}, "differs"),
        ({"computed": 7.0, "paper": "grows", "holds": True}, "reproduces"),
        ({"computed": 7.0, "paper": "grows", "holds": False}, "differs"),
        ({"computed": 7.0, "paper": "grows", "holds": False, "reference": "does not hold"}, "contradicts"),
        ({"computed": 7.0, "paper": "grows", "holds": False, "reference": "holds"}, "differs"),
        ({"computed": 7.0, "holds": True, "reference": "holds"}, "agrees"),
        ({"computed": None, "paper": "a misprint"}, "remark"),
    ],
)
def test_verdicts(given, said):
    assert judge(**given) == said and said in VERDICTS


def test_a_number_beside_which_nothing_stands_is_refused():
    with pytest.raises(ValueError, match="nothing stands"):
        judge(1.0)


@pytest.mark.parametrize(
    "odd",
    [
        {"verdict": "differs by 0.5"},
        {"verdict": "remark"},
        {"verdict": "reproduces", "paper": None},
        {"verdict": "contradicts"},
        {"verdict": "agrees", "paper": None},
        {"verdict": "not-converged"},
        {"verdict": "not-computable"},
    ],
)
def test_a_verdict_that_its_values_do_not_bear_is_refused(odd):
    given = {"study": "s", "item": "table 1", "case": {}, "quantity": "length", "unit": "m", "paper": 1.0}
    with pytest.raises(ValueError, match="table 1, length"):
        Record(**{**given, "reference": None, "computed": 1.5, **odd})


def test_the_examples_in_the_text_are_true():
    for module in (papers, verdicts, rows):
        assert doctest.testmod(module).failed == 0


def test_a_record_is_plain_data_with_these_keys():
    one = Record("s", "table 1", {"w": 2.0}, "length", "m", 1.0, None, 1.5, "differs", "why")
    assert list(one.as_dict()) == KEYS and not one.good
    assert json.loads(json.dumps(one.as_dict()))["case"] == {"w": 2.0}
    said = table([one, one])
    assert said.count("table 1") == 1 and said.count("length [m], w 2") == 2
    assert "reference" not in said and "differs by 0.5: why" in text(one)
    assert papers.summary([one, one]) == "2 differ"


def test_a_row_that_has_not_converged_prints_the_digits_it_has():
    one = Row(
        "table 1", {}, "x", "m", lambda: Found(0.043712, "0.0437 and 0.0439", spread=2e-4), 0.5, study="s"
    ).record()
    assert (one.verdict, one.computed) == ("not-converged", 0.044)


def test_a_run_that_failed_never_reproduces():
    one = Row("table 1", {}, "x", "m", lambda: Found(None, "ended at 1 s", ended=False), 0.5, study="s").record()
    assert one.verdict == "differs" and one.note == "ended at 1 s"
    lost = Row("table 1", {}, "x", "m", lambda: Found(None, "ended at 1 s", ended=False), 0.5, study="s", missing="mu")
    assert lost.record().verdict == "not-computable"


def test_a_row_that_differs_says_why_or_that_nobody_knows():
    plain, told = (Row("table 1", {}, "x", "m", lambda: 2.0, 0.5, note=note, study="s") for note in ("", "other gains"))
    assert (plain.record().note, told.record().note) == ("we know no cause", "other gains")


@pytest.mark.parametrize("name", STUDIES)
def test_the_rows_of_a_study_are_known_before_anything_is_computed(name):
    """Every row says for itself what it is; no two say the same; cases are plain data in SI units."""
    found = STUDIES[name].rows()
    said = [json.dumps([row.item, row.case, row.quantity], allow_nan=False) for row in found]
    assert len(set(said)) == len(said) > 50
    for row in found:
        assert row.study == name and row.item[0].islower()
        assert not any("/" in key or "," in key for key in row.case), row.case
        if row.compute is None:
            assert row.missing or row.note


def test_the_format_that_was_fixed():
    """Table 6 of Akhadkar et al. 2016, as other programs read it."""
    found = [row for row in STUDIES["akhadkar2016"].rows() if row.item == "table 6"]
    case = {"mechanism": "crank-crank", "controller": "tau5", "clearances": [0.003, 0.003], "friction": 0.1}
    [one] = [row for row in found if row.case == case]
    assert (one.quantity, one.unit, one.paper) == ("max tracking error", "deg", 1.31)
    assert all(list(row.case) == list(case) for row in found)


def test_every_study_is_listed_and_loaded_only_when_asked():
    room = Path(papers.__file__).parent
    modules = {file.stem for file in room.glob("*.py")} - {"__init__", "verdicts", "rows", "working"}
    assert STUDIES.keys() == {name for name in modules if "_" not in name}  # a study may have more than one module
    with pytest.raises(ModuleNotFoundError):
        list(Study("nothing").records())
    Study("nothing")(), STUDIES["grigore"]()  # nothing is computed before a record is asked for


@pytest.fixture(scope="module")
def grigore():
    from jointplay.papers import grigore

    return grigore


@pytest.fixture(scope="module")
def motions():
    from jointplay.papers import grigore_motion

    return grigore_motion


def records(rows):
    """Rows, computed."""
    return [row.record() for row in rows]


def astray(found):
    """Records with a reference that do not agree with it."""
    return [r for r in found if r.reference is not None and r.computed is not None and not r.good]


def test_printed_matrices_are_wrong_where_the_reference_says(grigore):
    found = {(r.item, r.case["joint"]): r for r in records(grigore.matrices())}
    wrong = {key: r.note.split()[0] for key, r in found.items() if r.verdict == "contradicts"}
    assert wrong == {
        ("figure 5, undriven", "O3"): "3",
        ("figure 6", "O2"): "4",
        ("figure 6", "O4"): "4",
        ("figure 6", "O5"): "3",
        ("figure 6", "O6"): "6",
    }
    assert {r.verdict for r in found.values()} == {"contradicts", "reproduces"} and len(found) == 12


def test_the_count_of_wrong_entries_can_fail(grigore):
    """Swapped or reversed blocks are seen; the sign of a whole line is not an error."""
    blocks = grigore.Blocks(System(library.grigore_figure_6()))
    assert blocks.wrong("O3", ("0", "-B3(2)", "+B3(3)", "0", "0")) == 0
    assert blocks.wrong("O3", ("0", "+B3(2)", "-B3(3)", "0", "0")) == 0
    assert blocks.wrong("O3", ("0", "+B3(2)", "+B3(3)", "0", "0")) == 4
    assert blocks.wrong("O3", ("+B1(1)", "-B3(2)", "+B3(3)", "0", "0")) == 4
    assert blocks.named("O6") == "[0 0 0 -E6(4) +E6(5)]"


def test_sizes_and_formulas(grigore):
    found = records([*grigore.sizes(), *grigore.formulas(), *grigore.statements()])
    assert astray(found) == []
    degrees = [r.computed for r in found if r.quantity == "degrees of freedom"]
    assert degrees == [3, 1, 4, 2, 3]
    assert [r.item for r in found if r.verdict == "not-computable"] == ["section 3.4", "conclusions"]
    right = {r.item for r in found if r.verdict == "reproduces"}
    assert {"equation 9", "equation 10", "section 3.4", "introduction"} <= right


def test_equilibria_have_the_digits_of_the_reference(motions):
    found = records(row for row in motions.statics() if row.case.get("chain") != "figure 6")
    assert all(r.good for r in found) and sum(r.verdict == "agrees" for r in found) == 5


def test_driven_runs_start_at_the_computed_equilibrium(motions):
    mechanism = motions.in_contact()
    system = System(mechanism)
    q = assemble(system)
    here = system.evaluate(q)
    lam = np.linalg.lstsq(here.B.T, -here.F, rcond=None)[0]
    assert here.F + here.B.T @ lam == pytest.approx(0.0, abs=1e-8)  # the printed digits leave 2e-6
    assert -lam[system.rows.index("O3.distance")] == pytest.approx(3.67698, abs=5e-6)


def test_contact_is_lost_when_the_reference_says(motions):
    found = {(r.case["speed"], r.quantity): r for r in records(motions.motion(rtol=1e-10, atol=1e-12))}
    assert {r.verdict for r in found.values()} == {"agrees"} and len(found) == 8
    assert "O3" in found[3.0, "contact lost at"].note


@pytest.fixture(scope="module")
def bai2026():
    from jointplay.papers import bai2026

    return bai2026


def test_the_spacecraft_has_the_digits_of_the_reference(bai2026):
    found = records([*bai2026.reference_ideal(), *bai2026.reference_contacts(), *bai2026.reference_motion()])
    assert {r.verdict for r in found} == {"agrees"} and len(found) == 18


def test_friction_and_clearance_are_told_apart(bai2026):
    from jointplay.papers import bai2026_cases, bai2026_claims

    found = records(bai2026_cases.decomposition("A"))
    assert {r.verdict for r in found} == {"agrees"} and len(found) == 8
    assert bai2026_claims._by_friction("A")[0]


def test_a_set_that_was_fitted_does_not_reproduce(bai2026):
    """Set C was made to give the printed reactions; the others say what is missing."""
    from jointplay.papers import bai2026_cases

    ideal = {data: next(iter(bai2026_cases.cases(data))) for data in "AC"}
    fitted, assumed = ideal["C"].record(), ideal["A"].record()
    assert fitted.verdict == "agrees" and "fitted" in fitted.note and fitted.paper == [0.8417, 0.3092]
    assert assumed.verdict == "not-computable" and assumed.computed == pytest.approx([0.22987, 0.17542], rel=1e-4)


def test_cases_of_the_spacecraft_are_peaks_and_histories(bai2026):
    """On a grid of 5 ms the acceleration reads a hundredth of what happens in a contact."""
    top = bai2026.peaks("A", 1)
    assert math.degrees(top.errors["angle_acceleration"]["arm1"]) == pytest.approx(5850, rel=1e-3)
    history = bai2026.errors("A", 1)
    assert float(abs(history["angle_acceleration"].sel(body="arm1")).max()) < 100
    assert history["angle"].attrs["units"] == "deg"
    assert max(top.forces["J2"]) < float(bai2026.motion("A", 1)["peak_force"].sel(joint="J2"))
    assert top.forces["J3"] == pytest.approx(bai2026.reactions("A", "J3"), rel=1e-3)


def test_histories_are_those_of_the_figures(bai2026, monkeypatch, tmp_path):
    from xarray import load_dataset

    from jointplay.cli import main

    name, curves = next(bai2026.histories("A"))
    assert name == "bai2026_A_case_1" and curves["error_angle"].attrs["units"] == "deg"
    assert float(abs(curves["error_angle"].sel(body="arm2")).max()) == pytest.approx(0.2603, abs=6e-5)
    assert list(curves["joint"].values) == ["J2"] and curves["base_x"].dims == ("time",)
    assert float(abs(curves["ideal_force_x"]).max()) == pytest.approx(bai2026.reactions("A", "J2")[0], rel=1e-3)
    monkeypatch.setattr(bai2026, "rows", lambda: bai2026.reference_ideal())
    monkeypatch.setattr(bai2026, "histories", lambda: [(name, curves)])
    assert main(["reproduce", "bai2026", "--histories", str(tmp_path)]) == 0
    assert load_dataset(tmp_path / f"{name}.nc", engine="h5netcdf").identical(curves)
    assert main(["reproduce", "bai2026", "--histories", str(tmp_path / "none")]) == 2
    with pytest.raises(ValueError, match="study 'grigore' has no histories"):
        list(STUDIES["grigore"].histories())


def test_the_library_knows_sets_and_cases():
    assert library.spacecraft_2026("C").value("arm3.mass") == 1.1046 == library.spacecraft_2026("C").value("arm1.mass")
    assert library.spacecraft_2026("B").forces["motor4"].torque(3.0) == 0.03453
    assert library.spacecraft_2026("D").forces["motor1"].torque(8.7225 / 2) == pytest.approx(0.05088, rel=1e-12)
    for c, stiffness in ((0.25e-3, 9.710232e10), (0.5e-3, 6.949401e10), (1e-3, 5.029607e10)):
        contact = library.spacecraft_2026_contact(c)
        assert contact.normal.values["stiffness"] == pytest.approx(stiffness, rel=1e-6)
    loose = library.spacecraft_2026("A", 3, friction=False)
    assert [n for n, j in loose.joints.items() if j.clearance] == ["J2", "J4"]
    assert loose.joints["J4"].contact.friction is None
    for wrong in ({"data": "E"}, {"case": 6}):
        with pytest.raises(ValueError, match="must be one of"):
            library.spacecraft_2026(**wrong)


@pytest.fixture(scope="module")
def wu2017():
    from jointplay.papers import wu2017

    return wu2017


def test_two_driving_links_without_play(wu2017):
    assert {r.verdict for r in records(wu2017.ideal())} == {"agrees"}
    assert doctest.testmod(wu2017).failed == 0


def test_drives_are_followed_before_anything_is_integrated(wu2017):
    assert wu2017.span(library.wu_2017(), 36.0).problem == ""
    assert "runs off the bar" in wu2017.span(library.wu_2017(base=0.4), 36.0).problem
    assert "closer than half its bore" in wu2017.span(library.wu_2017(base=0.07), 36.0).problem


def test_play_of_the_two_driving_links(wu2017):
    """Three seconds: the largest sum of normal forces is that of two corners on one side, and less than their peaks."""
    from jointplay.papers import wu2017_play

    found = wu2017_play.played(0.5, 0, 3.0)
    assert found.corner < found.total <= 2 * found.corner
    assert sum(found.states) == pytest.approx(1.0) and 0 < found.states[0] < found.states[3] < 1
    assert np.abs(found.deviation).max() < 1.2 * 450 * 0.5 / wu2017.span(library.wu_2017(), 3.0).least / 1e3


def test_the_ideal_bar_of_a_run_is_that_of_kinematics(wu2017):
    from jointplay.papers import wu2017_play
    from jointplay.simulation import simulate
    from jointplay.statics import kinematics

    mechanism = library.wu_2017(clearance=5e-4, contact=library.wu_2017_contact())
    run = simulate(mechanism, 0.5, wu2017_play.STEPPER, every=0.1)
    ideal = kinematics(library.wu_2017(), run["time"].values)
    apart = 450 * (run["angle"].sel(body="link3") - ideal["angle"].sel(body="link3")).values
    assert wu2017_play.play(run, mechanism).deviation == pytest.approx(apart, abs=1e-9)


def test_a_library_mechanism_may_be_driven_by_any_motion():
    from jointplay.model import sine

    mechanism = library.wu_2017(angles=(sine(0.1, 2.0, offset=1.9), sine(0.2, 3.0, offset=1.0)))
    assert mechanism.start["link1"] == 1.9 and mechanism.start["link2"] == 1.0
    assert len(library.WU_2017_SPEEDS) == 5
    assert library.wu_2017_contact().adams()["damping"] == 58.0


@pytest.fixture(scope="module")
def akhadkar2016():
    from jointplay.papers import akhadkar2016

    return akhadkar2016


def test_a_cell_of_a_table_is_judged_by_its_printed_digits(akhadkar2016):
    def cell(printed, reference):
        return akhadkar2016.cell("table 4", {}, "error", "deg", printed, lambda: Found(1.26), reference, 0.02).record()

    assert cell("1.3", 1.26).verdict == "reproduces" and cell("1.3", 1.26).paper == 1.3
    assert cell("1.30", 1.26).verdict == "contradicts"
    assert cell("1.30", 1.20).verdict == "differs"


def test_tables_of_akhadkar_have_all_cells():
    """One row for each cell, in the order of the table; what is missing is said."""
    found = {n: STUDIES["akhadkar2016"].choose(table=n) for n in (4, 5, 6)}
    assert {n: len(rows) for n, rows in found.items()} == {4: 25, 5: 40, 6: 8 * 5 + 12}
    all_ = STUDIES["akhadkar2016"].rows()
    lacking = [all_[i] for i in found[6] if all_[i].compute is None]
    assert len(lacking) == 12 and {r.case["mechanism"] for r in lacking} == {"rocker-rocker"}
    assert {row.record().verdict for row in lacking} == {"not-computable"}
    with pytest.raises(ValueError, match="--table 7: akhadkar2016 has no such table; choose 1, 3, 4, 5, 6"):
        list(STUDIES["akhadkar2016"].records(table=7))
    assert {int(all_[i].place[1]) for i in STUDIES["akhadkar2016"].choose(everything=True) if all_[i].long} == {
        *range(4, 24)
    }


def test_runs_that_lose_the_crank_are_not_computable(akhadkar2016, monkeypatch):
    """tau7: nothing in the paper tells it the crank's branch, and a run that ends early proves nothing."""
    from jointplay.papers import akhadkar2016_claims

    lost = akhadkar2016.Tracked(math.nan, 1.0, "the crank is lost at 1.2 s", False, 0.0)
    for module in (akhadkar2016, akhadkar2016_claims):
        monkeypatch.setattr(module, "tracking", lambda case: lost)
    found = [r for r in records(akhadkar2016_claims.non_collocated()) if "branch" not in r.case]  # not told
    assert [r.verdict for r in found] == ["differs", *["not-computable"] * 3]
    assert all(r.computed is None and "the crank is lost" in r.note for r in found)


def test_controllers_of_akhadkar(akhadkar2016):
    """A short run of each: the laws and their gains are those of the paper, the twin has no play."""
    case = akhadkar2016.Case("tau6", (3.0, 3.0), until=1.05, step=1e-4)
    assert case.twin().plays == (0.0, 0.0) and case.twin().step == case.step
    assert case.control().law.values["k"] == 200.0 and case.control().settled == 1.0
    found = akhadkar2016.tracking(case)
    assert found.ended and found.end == "reached 1.05 s" and 0 < found.error < 1
    e1, e3 = akhadkar2016.deviations(case)
    assert 0 < e1 < 1 and 0 < e3 < 1
    assert akhadkar2016.deviations(case.twin()) == (0.0, 0.0)


def test_histories_of_akhadkar_are_runs(akhadkar2016, monkeypatch):
    run = akhadkar2016.motion(akhadkar2016.Case("tau6", (3.0, 3.0), until=0.05, step=1e-4))
    assert "lyapunov" in run and "tracking_error" in run and run.sizes["contact"] == 2
    monkeypatch.setattr(akhadkar2016, "motion", lambda case: case)
    found = dict(STUDIES["akhadkar2016"].histories())
    assert list(found) == [f"{law}-{joints}" for law in ("tau4", "tau5", "tau6") for joints in ("J2", "J2-J3")]
    assert found["tau5-J2"].plays == (3.0, 0.0) and found["tau6-J2-J3"].law == "tau6"
