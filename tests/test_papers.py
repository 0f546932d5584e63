"""The frame of the literature studies, and the study of Grigore et al. where it is quick."""

import doctest
import json
import math
from pathlib import Path

import numpy as np
import pytest

from jointplay import papers
from jointplay.model import library
from jointplay.papers import STUDIES, Record, Study, table, verdict
from jointplay.statics import assemble
from jointplay.system import System

KEYS = {"study", "item", "case", "quantity", "unit", "paper", "reference", "computed", "verdict"}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"computed": 1.004, "paper": 1.0, "tolerance": 0.005}, "reproduces"),
        ({"computed": 1.006, "paper": 1.0, "tolerance": 0.005}, "differs by 0.006"),
        ({"computed": 2.0, "reference": 2.0}, "reproduces"),
        ({"computed": 2.0, "paper": 3.0, "reference": 2.0}, "differs by 1; agrees with the reference"),
        ({"computed": 2.5, "paper": 3.0, "reference": 2.0}, "differs by 0.5; differs by 0.5"),
        ({"computed": [1.0, 2.0], "paper": [1.0, 2.25]}, "differs by 0.25"),
        ({"computed": [1.0], "paper": [1.0, 2.25]}, "differs"),
        ({"computed": "3 x 6", "paper": "3 x 6"}, "reproduces"),
        ({"computed": "3 x 6", "paper": "5 x 6", "note": "why"}, "differs (why)"),
        ({"computed": 1.0}, "no value to compare with"),
        ({"computed": None, "missing": "the masses"}, "not computable because the paper does not give the masses"),
        ({"computed": [1.0, math.nan], "paper": [1.0, 1.0], "tolerance": 9.0}, "differs by nan"),
    ],
)
def test_verdicts(given, said):
    assert verdict(**given) == said


def test_the_examples_in_the_text_are_true():
    found = doctest.testmod(papers)
    assert found.attempted > 0 and found.failed == 0


def test_a_record_is_plain_data_with_these_keys():
    one = Record("s", "table 1", {"w": 2.0}, "length", "m", 1.0, None, 1.5, "differs by 0.5")
    assert one.as_dict().keys() == KEYS and not one.good
    assert json.loads(json.dumps(one.as_dict()))["case"] == {"w": 2.0}
    text = table([one, one])
    assert text.count("table 1") == 1 and text.count("length [m], w 2") == 2
    assert "reference" not in text and "differs by 0.5" in text


def test_every_study_is_listed_and_loaded_only_when_asked():
    room = Path(papers.__file__).parent
    assert STUDIES.keys() == {file.stem for file in room.glob("[!_]*.py")}
    with pytest.raises(ModuleNotFoundError):
        list(Study("nothing").records())
    Study("nothing")(), STUDIES["grigore"]()  # nothing is computed before a record is asked for


@pytest.fixture(scope="module")
def grigore():
    from jointplay.papers import grigore

    return grigore


def test_printed_matrices_are_wrong_where_the_reference_says(grigore):
    found = {(r.item, r.case["joint"]): r for r in grigore.matrices()}
    wrong = {key: int(r.verdict.split()[2]) for key, r in found.items() if r.verdict.startswith("differs")}
    assert wrong == {
        ("Fig. 5, undriven", "O3"): 3,
        ("Fig. 6", "O2"): 4,
        ("Fig. 6", "O4"): 4,
        ("Fig. 6", "O5"): 3,
        ("Fig. 6", "O6"): 6,
    }
    assert all(r.good for r in found.values()) and len(found) == 12


def test_the_count_of_wrong_entries_can_fail(grigore):
    """Swapped or reversed blocks are seen; the sign of a whole line is not an error."""
    blocks = grigore.Blocks(System(library.grigore_figure_6()))
    assert blocks.wrong("O3", ("0", "-B3(2)", "+B3(3)", "0", "0")) == 0
    assert blocks.wrong("O3", ("0", "+B3(2)", "-B3(3)", "0", "0")) == 0
    assert blocks.wrong("O3", ("0", "+B3(2)", "+B3(3)", "0", "0")) == 4
    assert blocks.wrong("O3", ("+B1(1)", "-B3(2)", "+B3(3)", "0", "0")) == 4
    assert blocks.named("O6") == "[0 0 0 -E6(4) +E6(5)]"


def test_sizes_and_formulas(grigore):
    found = [*grigore.sizes(), *grigore.formulas()]
    assert [r for r in found if not r.good and r.computed is not None and r.reference is not None] == []
    degrees = [r.computed for r in found if r.quantity == "degrees of freedom"]
    assert degrees == [3, 1, 4, 2, 3]
    assert sum(r.verdict.startswith("not computable") for r in found) == 1


def test_equilibria_have_the_digits_of_the_reference(grigore):
    found = list(grigore.statics())
    assert all(r.good for r in found if r.reference is not None)
    assert sum(r.reference is not None for r in found) == 5


def test_driven_runs_start_at_the_computed_equilibrium(grigore):
    mechanism = grigore.in_contact()
    system = System(mechanism)
    q = assemble(system)
    here = system.evaluate(q)
    lam = np.linalg.lstsq(here.B.T, -here.F, rcond=None)[0]
    assert here.F + here.B.T @ lam == pytest.approx(0.0, abs=1e-8)  # the printed digits leave 2e-6
    assert -lam[system.rows.index("O3.distance")] == pytest.approx(3.67698, abs=5e-6)


def test_contact_is_lost_when_the_reference_says(grigore):
    found = {(r.case["w"], r.quantity): r for r in grigore.motion(rtol=1e-10, atol=1e-12)}
    assert all(r.good for r in found.values()) and len(found) == 8
    assert "O3" in found[3.0, "contact lost at"].verdict


def astray(found):
    """Records with a reference that do not agree with it."""
    return [r for r in found if r.reference is not None and r.computed is not None and not r.good]


@pytest.fixture(scope="module")
def bai2026():
    from jointplay.papers import bai2026

    return bai2026


def test_the_spacecraft_has_the_digits_of_the_reference(bai2026):
    found = [*bai2026.reference_ideal(), *bai2026.reference_contacts(), *bai2026.reference_motion()]
    assert astray(found) == [] and len(found) == 18


def test_friction_and_clearance_are_told_apart(bai2026):
    found = list(bai2026.decomposition("A"))
    assert astray(found) == [] and sum(r.reference is not None for r in found) == 8
    assert bai2026._by_friction("A")[0]


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
    monkeypatch.setattr(bai2026, "records", lambda: bai2026.reference_ideal())
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
    assert astray(wu2017.ideal()) == []
    assert doctest.testmod(wu2017).failed == 0


def test_drives_are_followed_before_anything_is_integrated(wu2017):
    assert wu2017.span(library.wu_2017(), 36.0).problem == ""
    assert "runs off the bar" in wu2017.span(library.wu_2017(base=0.4), 36.0).problem
    assert "closer than half its bore" in wu2017.span(library.wu_2017(base=0.07), 36.0).problem


def test_play_of_the_two_driving_links(wu2017):
    """Three seconds: the largest sum of normal forces is that of two corners on one side, and less than their peaks."""
    found = wu2017.constant(0.5, 0, 3.0)
    assert found.corner < found.total <= 2 * found.corner
    assert 0 < found.free < 1 and 0 < found.flush < 1
    assert np.abs(found.deviation).max() < 1.2 * 450 * 0.5 / wu2017.span(library.wu_2017(), 3.0).least / 1e3


def test_the_ideal_bar_of_a_run_is_that_of_kinematics(wu2017):
    from jointplay.simulation import simulate
    from jointplay.statics import kinematics

    mechanism = library.wu_2017(clearance=5e-4, contact=library.wu_2017_contact())
    run = simulate(mechanism, 0.5, wu2017.STEPPER, every=0.1)
    ideal = kinematics(library.wu_2017(), run["time"].values)
    apart = 450 * (run["angle"].sel(body="link3") - ideal["angle"].sel(body="link3")).values
    assert wu2017.play(run, mechanism).deviation == pytest.approx(apart, abs=1e-9)


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
    cell = akhadkar2016.cell
    near = cell("Table 4", {}, "error", "deg", "1.3", 1.26, 1.26, 0.02, why="never told")
    far = cell("Table 4", {}, "error", "deg", "1.30", 1.26, 1.26, 0.02, why="misprint")
    astray = cell("Table 4", {}, "error", "deg", "1.30", 1.20, 1.26, 0.02)
    assert near.verdict == "reproduces" and near.paper == 1.3
    assert far.verdict == "differs by 0.04; agrees with the reference (misprint)" and far.good
    assert not astray.good
    assert doctest.testmod(akhadkar2016).failed == 0


def test_tables_of_akhadkar_have_all_cells(akhadkar2016, monkeypatch):
    """One record for each cell, computed once, in the order of the table; what is missing is said."""
    asked = []

    def pretend(function, cases, progress=None, workers=None):
        listed = list(cases)
        asked.append(listed)
        return [akhadkar2016.Found(1.0 + i, 500.0, "reached 10 s", 1.0) for i, _ in enumerate(listed)]

    monkeypatch.setattr(akhadkar2016, "each", pretend)
    found = {n: list(STUDIES["akhadkar2016"].records(table=n)) for n in (4, 5, 6)}
    assert all(len(set(cases)) == len(cases) for cases in asked)
    assert {n: len(records) for n, records in found.items()} == {4: 25, 5: 40, 6: 8 * 5 + 12}
    for records in found.values():
        cells = [(json.dumps(r.case), r.quantity) for r in records]
        assert len(set(cells)) == len(cells)
    lacking = [r for r in found[6] if r.computed is None]
    assert len(lacking) == 12 and {r.case["mechanism"] for r in lacking} == {"rocker-rocker"}
    with pytest.raises(ValueError, match="no table 7 of akhadkar2016; there are 4, 5, 6"):
        list(STUDIES["akhadkar2016"].records(table=7))


def test_controllers_of_akhadkar(akhadkar2016):
    """A short run of each: the laws and their gains are those of the paper, the twin has no play."""
    case = akhadkar2016.Case("tau6", (3.0, 3.0), until=1.05, step=1e-4)
    assert case.twin().plays == (0.0, 0.0) and case.twin().step == case.step
    assert case.control().law.values["k"] == 200.0 and case.control().settled == 1.0
    found = akhadkar2016.tracking(case)
    assert found.end == "reached 1.05 s" and 0 < found.error < 1
    e1, e3 = akhadkar2016.deviations(case)
    assert 0 < e1 < 1 and 0 < e3 < 1
    assert akhadkar2016.deviations(case.twin()) == (0.0, 0.0)


def test_histories_of_akhadkar_are_runs(akhadkar2016, monkeypatch):
    plain = akhadkar2016.Case
    monkeypatch.setattr(akhadkar2016, "Case", lambda law, plays: plain(law, plays, until=0.05, step=1e-4))
    found = dict(STUDIES["akhadkar2016"].histories())
    assert list(found) == [f"{law}-{joints}" for law in ("tau4", "tau5", "tau6") for joints in ("J2", "J2-J3")]
    assert "lyapunov" in found["tau5-J2"] and "tracking_error" in found["tau4-J2-J3"]
    assert found["tau6-J2-J3"].sizes["contact"] == 2
