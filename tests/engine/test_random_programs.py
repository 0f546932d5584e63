"""Programs made at random give the same bits in every mode."""

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jointplay.run import Run
from tests.helpers import differences, lane_run, outcome, run_to_end, scalar_outcomes
from tests.programs import parameter_sets, program

STEPS = 20
COMMON = dict(deadline=None, derandomize=True, suppress_health_check=list(HealthCheck), database=None)
NUMBERS = st.lists(st.integers(0, 999), min_size=60, max_size=200)


def check_lanes(made, lanes: tuple[int, ...], seed: int, fma: bool) -> None:
    sets = parameter_sets(max(lanes), seed)
    alone = scalar_outcomes(made, sets, STEPS, eager=False, fma=fma)
    for count in lanes:
        run = lane_run(made, sets[:count], STEPS, eager=False, fma=fma)
        for lane in range(count):
            assert differences(outcome(run, lane), alone[lane]) == []


@settings(max_examples=30, **COMMON)
@given(NUMBERS, st.sampled_from([2, 4, 8]), st.integers(0, 99), st.booleans())
def test_a_lane_is_the_scalar_run(numbers, lanes, seed, fma):
    check_lanes(program(numbers), (lanes,), seed, fma)


@settings(max_examples=4, **COMMON)
@given(NUMBERS, st.integers(0, 99))
def test_every_number_of_lanes(numbers, seed):
    made = program(numbers)
    for fma in (False, True):
        check_lanes(made, (2, 4, 8), seed, fma)


def close(a: Run, b: Run) -> bool:
    """Equal to 1e-12 in states, memories, sums, peaks and rows, each on its own scale but at least 1."""
    pairs = [(a[n], b[n]) for n in a.places if a[n].dtype == np.float64]
    for stream in a.program.streams:
        pairs += zip(a.rows(stream).values(), b.rows(stream).values(), strict=True)
    return all(np.allclose(x, y, rtol=1e-12, atol=1e-12, equal_nan=True) for x, y in pairs)


@settings(max_examples=30, **COMMON)
@given(NUMBERS, st.integers(0, 99))
def test_eager_is_the_build_without_fused_products_and_close_to_the_usual_one(numbers, seed):
    made = program(numbers)
    [chosen] = parameter_sets(1, seed)
    eager = run_to_end(made, chosen, steps=STEPS, eager=True)
    plain = run_to_end(made, chosen, steps=STEPS, eager=False, fma=False)
    assert differences(outcome(eager), outcome(plain)) == []
    fused = run_to_end(made, chosen, steps=STEPS, eager=False)
    decisions = "decisions" in eager.places
    if not decisions or eager["decisions"] == fused["decisions"]:
        assert close(eager, fused)
