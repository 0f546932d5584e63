"""Axes: what may be swept, how distributions are drawn, and what is refused."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import jointplay as jp
from jointplay.model.fits import GRADES, SHAFTS, parse_fit
from jointplay.studies.asking import fitted
from jointplay.studies.axes import Fitted, read_axes
from jointplay.studies.plan import Plan, chunk_shape, contained, rectangles
from jointplay.studies.sampling import correlated, draw, inputs_of, matrix, saltelli, spread
from jointplay.studies.subject import Machine

LOOSE = jp.library.slider_crank(speed=10.0).replace(drives={}).loosen("J2", "1 mm").loosen("J3", "1 mm")


def axes(over, mechanism=LOOSE):
    machine = Machine(mechanism)
    return read_axes(over, machine.read, machine.check)


def drawn(law, count=4096, method="sobol", seed=0):
    return draw({("J2.clearance",): law}, jp.samples(count, method), seed)


def test_values_grids_and_units():
    found = axes({"J2.clearance": jp.grid(0, "5 mm", 11), "crank.mass": ["200 g", 1.0]})
    assert [d.name for d in found.dimensions] == ["J2.clearance", "crank.mass"]
    assert np.array_equal(found.dimensions[0].columns["J2.clearance"], np.linspace(0, 0.005, 11))
    assert found.dimensions[1].columns["crank.mass"].tolist() == [0.2, 1.0]
    logarithmic = axes({"J2.clearance": jp.grid(1e-5, 1e-3, 3, spacing="logarithmic")}).dimensions[0]
    assert np.allclose(logarithmic.columns["J2.clearance"], [1e-5, 1e-4, 1e-3])


def test_linked_axes_are_one_dimension():
    [d] = axes({("J2.clearance", "J3.clearance"): [(0, "1 mm"), (1e-3, 0)]}).dimensions
    assert d.columns["J2.clearance"].tolist() == [0, 1e-3] and d.columns["J3.clearance"].tolist() == [1e-3, 0]


@pytest.mark.parametrize(
    ("over", "said"),
    [
        ({}, "must be a mapping"),
        ({"J2.clearence": [1e-3]}, "did you mean 'J2.clearance'"),
        ({"J2.clearance": []}, "J2.clearance: the axis is empty"),
        ({"J2.clearance": [1e-3, -1e-3]}, "must be >= 0, got -0.001"),
        ({"J2.clearance": jp.grid(-1e-3, 1e-3, 3)}, "must be >= 0"),
        ({"J2.clearance": jp.uniform(-1e-3, 1e-3)}, "must be >= 0"),
        ({"J2.clearance": jp.uniform(1e-3, 1e-3)}, "low end below"),
        ({"J2.clearance": jp.normal(1e-3, 0)}, "sigma > 0"),
        ({"J2.clearance": jp.normal(1e-3, 1e-4, 2e-3, 1e-3)}, "cut from low to high"),
        ({"J2.clearance": "20 H7/x6"}, "interference fit"),
        ({("J2.clearance", "crank.mass"): jp.uniform("1 mm", "2 mm")}, "crank.mass: must be a mass in kg, got '1 mm'"),
        ({("crank.mass", "J2.clearance"): jp.normal("1 kg", "1 g")}, "J2.clearance: must be a length in m, got '1 kg'"),
        ({"crank.mass": jp.fit("20 H7/g6")}, "a fit says a clearance"),
        ({"J2.clearance": [1e-3, "1 mm"]}, "holds 0.001 twice"),
        ({"J2.clearance": [math.nan]}, "finite number"),
        ({"J2.clearance": [None]}, "must be numbers"),
        ({"J2.clearance": 1e-3}, "must be a list of values"),
        ({"J2.clearance": ["1 kg"]}, "must be a length"),
        ({"J2.contact": {}}, "the axis is empty"),
        ({("J2.clearance", "J3.clearance"): [(1e-3,)]}, "tuples of 2 values"),
        ({("J2.clearance", "J3.clearance"): []}, "empty"),
        ({"J2.clearance": [1e-3], "J2.fit": "20 H7/g6"}, "an axis twice"),
        ({"stepper.stepp": [1e-5]}, "did you mean 'step'"),
    ],
)
def test_what_cannot_be_is_refused_by_its_address(over, said):
    with pytest.raises(ValueError, match=said):
        axes(over)


def test_a_fit_says_the_radius_and_no_axis_says_another():
    fit = jp.fit("20 H7/g6")
    made = fitted(LOOSE, {"J2.fit": "20 H7/g6", ("J3.clearance",): fit})
    assert made.value("J2.journal_radius") == made.value("J3.journal_radius") == 0.01
    for over in ({"J2.fit": fit, "J2.journal_radius": [0.01]}, {"J2.clearance": fit, ("J2.journal_radius",): [0.02]}):
        with pytest.raises(ValueError, match="journal_radius: is already given by the fit; keep one"):
            fitted(LOOSE, over)


@pytest.mark.parametrize("bad", [0, -1, 1.5, True])
def test_counts_are_whole_numbers(bad):
    with pytest.raises(ValueError, match="whole number"):
        jp.grid(0, 1, bad)
    with pytest.raises(ValueError, match="whole number"):
        jp.samples(bad)


@settings(max_examples=30, deadline=None)
@given(st.floats(1, 120), st.sampled_from(GRADES[1:]), st.sampled_from(SHAFTS), st.sampled_from(GRADES))
def test_clearances_of_a_fit_stay_in_its_tolerances(diameter, hole, shaft, grade):
    text = f"{diameter:.2f} H{hole}/{shaft}{grade}"
    least, most = (parse_fit(text).clearance(at) for at in ("min", "max"))
    for shape in ("normal", "uniform"):
        values = drawn(Fitted(text, shape), 256).columns["J2.clearance"]
        assert values.min() >= least - 1e-12 and values.max() <= most + 1e-12
        assert abs(values.mean() - (least + most) / 2) < 0.01 * (most - least)


def test_hole_and_shaft_are_drawn_independently_with_a_sixth_of_their_zones():
    d = drawn(Fitted("20 H7/g6"), 2**14)
    hole, shaft = d.extras["J2.hole"], d.extras["J2.shaft"]
    cut = math.sqrt(
        1 - 6 * math.exp(-4.5) / math.sqrt(2 * math.pi) / math.erf(3 / math.sqrt(2))
    )  # of a normal at 3 sigma
    assert np.isclose(hole.std(), cut * 21e-6 / 6, rtol=2e-3) and np.isclose(shaft.std(), cut * 13e-6 / 6, rtol=2e-3)
    assert np.isclose(hole.mean(), 0.02 + 10.5e-6) and np.isclose(shaft.mean(), 0.02 - 13.5e-6)
    assert abs(np.corrcoef(hole, shaft)[0, 1]) < 0.01
    assert np.array_equal(d.columns["J2.clearance"], (hole - shaft) / 2)


def test_a_cut_normal_is_scipys():
    from scipy.stats import truncnorm

    values = drawn(jp.normal(1e-3, 2e-4, 0.9e-3, 1.5e-3), 2**13).columns["J2.clearance"]
    exact = truncnorm(-0.5, 2.5, 1e-3, 2e-4)
    assert np.isclose(values.mean(), exact.mean(), rtol=1e-4) and np.isclose(values.std(), exact.std(), rtol=1e-3)


@pytest.mark.parametrize("method", ["sobol", "random", "saltelli"])
def test_more_samples_begin_with_the_fewer(method):
    few, many = (drawn(Fitted("20 H7/g6"), n, method).columns["J2.clearance"] for n in (100, 300))
    assert np.array_equal(few, many[: len(few)])
    assert len(few) == (300 if method == "saltelli" else 100)


def test_every_slice_of_a_latin_hypercube_holds_one_sample():
    u = spread("latin", 50, 3, 1)
    assert all(sorted((50 * u[:, k]).astype(int)) == list(range(50)) for k in range(3))


def test_saltelli_rows_take_one_group_at_a_time_from_the_other_matrix():
    u = spread("sobol", 4, 6, 0)
    rows = saltelli(u, [2, 1]).reshape(4, 4, 3)
    a, b = u[:, :3], u[:, 3:]
    assert np.array_equal(rows[:, 0], a) and np.array_equal(rows[:, 3], b)
    assert np.array_equal(rows[:, 1], np.column_stack([b[:, :2], a[:, 2]]))
    assert np.array_equal(rows[:, 2], np.column_stack([a[:, :2], b[:, 2]]))


def test_correlation_is_that_of_normal_scores():
    laws = {("J2.clearance",): Fitted("20 H7/g6"), ("crank.mass",): jp.normal(1.0, 0.1)}
    assert inputs_of(laws) == ["J2.hole", "J2.shaft", "crank.mass"]
    d = draw(laws, jp.samples(2**13, correlation={("J2.hole", "crank.mass"): 0.8}), 0)
    assert abs(np.corrcoef(d.extras["J2.hole"], d.columns["crank.mass"])[0, 1] - 0.8) < 0.01
    assert abs(np.corrcoef(d.extras["J2.shaft"], d.columns["crank.mass"])[0, 1]) < 0.01
    u = spread("sobol", 300, 3, 0)
    rho = np.array([[1, 0.5, 0.2], [0.5, 1, 0.1], [0.2, 0.1, 1]])
    assert np.array_equal(correlated(u, rho)[:100], correlated(u[:100], rho))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({("a", "c"): 0.5}, "no input 'c'"),
        ([[1, 0.5]], "must be a matrix"),
        ([[1, 0.5], [0.4, 1]], "symmetric"),
        ([[1, 2], [2, 1]], "positive"),
    ],
)
def test_a_correlation_that_cannot_be_is_refused(given, said):
    with pytest.raises(ValueError, match=said):
        matrix(given, ["a", "b"])


def test_saltelli_samples_need_independent_inputs():
    with pytest.raises(ValueError, match="independent"):
        jp.samples(8, "saltelli", correlation=[[1, 0.1], [0.1, 1]])


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(1, 7), min_size=1, max_size=3), st.integers(1, 60))
def test_batches_cover_every_run_once(shape, size):
    chunk = chunk_shape(shape, size)
    seen = np.zeros(shape, int)
    for rectangle in rectangles(shape, chunk):
        seen[rectangle] += 1
        assert seen[rectangle].size <= size
    assert (seen == 1).all()


def test_a_plan_knows_where_a_smaller_one_lies_in_it():
    few, many = (Plan(axes({"J2.clearance": jp.grid(0, 4e-3, n), "crank.mass": [1.0, 2.0]}).dimensions) for n in (3, 5))
    assert [x.tolist() for x in contained(few, many)] == [[0, 2, 4], [0, 1]]
    assert contained(many, few) is None
    assert few.settings(3) == {"J2.clearance": 2e-3, "crank.mass": 2.0}


@pytest.mark.parametrize("low", [3.0, 8.5, 20.0])
def test_a_normal_distribution_cut_far_above_its_mean_is_the_mirror_of_one_below(low):
    """Beyond 8.3 sigma no share is left that is less than 1, and all samples were at the upper end."""
    above, below = (drawn(jp.normal(0, 1, *ends)).columns["J2.clearance"] for ends in ((low, 40.0), (-40.0, -low)))
    mean = math.exp(-low * low / 2) / math.sqrt(2 * math.pi) / (math.erfc(low / math.sqrt(2)) / 2)
    assert np.mean(above) == pytest.approx(mean, rel=1e-3) == -np.mean(below)
