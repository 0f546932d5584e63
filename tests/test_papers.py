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
    assert STUDIES.keys() == {file.stem for file in room.glob("*.py")} - {"__init__"}
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
