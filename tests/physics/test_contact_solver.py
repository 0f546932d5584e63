"""The closed form of two contacts beside the search over modes, and both beside Signorini's and Coulomb's laws."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from jointplay.engine import trace
from jointplay.physics.contact_solver import (
    BACKWARD,
    FINE,
    FORWARD,
    OPEN,
    STICKING,
    ContactProblem,
    likely,
    several,
    solve_contacts,
)
from jointplay.run import Run

PLACES = [f"{i}.{j}" for i in range(4) for j in range(i + 1)]


def text(s, p):
    """Both answers to one problem."""
    W = [[p[f"W{max(i, j)}.{min(i, j)}"] for j in range(4)] for i in range(4)]
    active, modes = [p.on0 > 0.5, p.on1 > 0.5], [p.mode0, p.mode1]
    mu = [p.mu0, p.mu1]
    problem = ContactProblem(W, [p[f"b{i}"] for i in range(4)], mu, mu, active, modes, [False] * 2)
    found = {}
    for name, answer in (("quick", solve_contacts(problem)), ("search", several(problem, likely(problem)))):
        found |= {f"{name}.p{i}": x for i, x in enumerate(answer.impulses)}
        found |= {f"{name}.mode{i}": x for i, x in enumerate(answer.modes)}
        found[f"{name}.violation"] = answer.violation
    return found


def answers():
    """A run of the text above."""
    ends = [*(f"p{i}" for i in range(4)), "mode0", "mode1", "violation"]
    state = {f"{name}.{end}": 0.0 for name in ("quick", "search") for end in ends}
    names = [f"W{place}" for place in PLACES] + [f"b{i}" for i in range(4)]
    return Run(trace(text, state, dict.fromkeys([*names, "mu0", "mu1", "on0", "on1", "mode0", "mode1"], 1.0)))


RUN = []


@settings(max_examples=400, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    size=st.integers(3, 8),
    mu=st.tuples(*[st.sampled_from([0.0, 0.1, 0.5, 1.5])] * 2),
    on=st.sampled_from([(1, 1), (1, 1), (1, 0), (0, 1)]),
    modes=st.tuples(*[st.sampled_from([0.0, 1.0, 2.0, 3.0])] * 2),
)
@example(seed=0, size=1, mu=(0.1, 0.1), on=(1, 1), modes=(1.0, 2.0))  # all rows depend on each other
def test_two_contacts_are_solved_as_by_the_search(seed, size, mu, on, modes):
    rng = np.random.default_rng(seed)
    J = rng.normal(size=(4, size)) * 10.0 ** rng.uniform(-1, 1, (4, 1))
    W, b = J @ J.T, rng.normal(size=4) - [rng.random() * 2, 0, rng.random() * 2, 0]
    RUN[:] = RUN or [answers()]
    [run] = RUN
    given_ = {f"W{place}": W[tuple(map(int, place.split(".")))] for place in PLACES} | {f"b{i}": b[i] for i in range(4)}
    given_ |= {f"{key}{i}": float(x[i]) for key, x in (("mu", mu), ("on", on), ("mode", modes)) for i in (0, 1)}
    run.start(0, given_)
    run.advance(1)
    quick, search = (np.array([run[f"{name}.p{i}"][0] for i in range(4)]) for name in ("quick", "search"))
    scale = max(np.abs(search).max(), 1e-12)
    if run["search.violation"][0] > FINE:  # no solution, or many contacts at one place: the search has the word
        assert run["quick.violation"][0] == run["search.violation"][0] or run["quick.violation"][0] == 0
        return
    assert run["quick.violation"][0] <= FINE
    np.testing.assert_allclose(quick, search, rtol=0, atol=1e-9 * scale)
    assert [run[f"quick.mode{i}"][0] for i in (0, 1)] == [run[f"search.mode{i}"][0] for i in (0, 1)]
    u = b + W @ quick
    for i in (0, 1):
        n, t, mode = quick[2 * i], quick[2 * i + 1], run[f"quick.mode{i}"][0]
        assert n >= 0 and abs(t) <= mu[i] * n + 1e-9 * scale
        if mode == OPEN:
            assert n == 0 and (not on[i] or u[2 * i] >= -1e-9 * scale * W[2 * i, 2 * i])
        else:
            assert abs(u[2 * i]) <= 1e-6 * np.abs(b).max()
            assert mode == STICKING or t * u[2 * i + 1] <= 1e-9 * scale


def test_a_contact_that_cannot_approach_is_open():
    """Of a body that joints hold, the approach is the number 0 and no recorded one."""

    def held(s, p):
        problem = ContactProblem([[p.w, 0.0], [0.0, p.w]], [0.0, 0.0], [0.2], [0.2], [True], [p.mode], [False])
        answer = solve_contacts(problem)
        return {"n": answer.impulses[0] + 0 * s.n, "violation": answer.violation + 0 * s.n}

    run = Run(trace(held, {"n": 1.0, "violation": 1.0}, {"w": 1.0, "mode": float(STICKING)}))
    run.advance(1)
    assert run["n"] == 0 and run["violation"] == 0


@pytest.mark.parametrize("mode", [OPEN, FORWARD, BACKWARD, STICKING])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_contact_that_slips_only_as_it_opens_has_no_friction_while_it_is_shut(mode, count):
    """Of one freedom all friction in the cone would keep it shut; rounding must not choose.  In a rebound it slips."""
    lever, rate, n = np.array([0.7, -0.4]), -1e-5, 2 * count

    def held(s, p):
        W = [[1.0 if i == j else 0.0 for j in range(n)] for i in range(n)]
        for i in (0, 1):
            W[i][:2] = [p.w * lever[i] * x for x in lever]
        b = [lever[0] * p.rate * (1 + p.e), lever[1] * p.rate, *[p.w] * (n - 2)]
        active, modes = [p.w > 0] * count, [p.mode, *[0 * p.mode] * (count - 1)]
        answer = solve_contacts(ContactProblem(W, b, [0.2] * count, [0.2] * count, active, modes, [False] * count))
        return {"n": answer.impulses[0] + 0 * s.n, "t": answer.impulses[1] + 0 * s.n, "mode": answer.modes[0] + 0 * s.n}

    run = Run(trace(held, {"n": 1.0, "t": 1.0, "mode": 1.0}, {"w": 1.3, "rate": rate, "e": 0.0, "mode": mode}))
    run.advance(1)
    assert float(run["n"][0]) == pytest.approx(-rate / (1.3 * lever[0]), rel=1e-6)
    assert abs(run["t"][0]) < 1e-9 * run["n"][0] and run["mode"][0] == STICKING
    run.start(0, {"w": 1.3, "rate": rate, "e": 0.5, "mode": mode})
    run.advance(1)
    slip = lever[1] * (rate + 1.3 * (lever @ [run["n"][0], run["t"][0]]))
    assert run["t"][0] == pytest.approx(-0.2 * run["n"][0] * np.sign(slip), rel=1e-6)
