"""The least rms or peak is found whatever the units, sizes and speeds are."""

import numpy as np
import pytest

import jointplay as jp
from jointplay import balancing

TURN = np.linspace(0, 2 * np.pi, 61)[:-1]


def four_bar(mass=1.0, size=1.0, speed=10.0):
    drive = {"kind": "angle", "of": "crank", "motion": {"kind": "constant_speed", "speed": speed}}
    lengths = tuple(size * x for x in (0.1, 0.35, 0.25, 0.4))
    centres = tuple((size * x, size * y) for x, y in ((0.05, 0), (0.12, 0.05), (0.12, 0.01)))
    masses = tuple(mass * x for x in (0.3, 0.8, 0.5))
    inertias = tuple(mass * size**2 * x for x in (1e-3, 1e-2, 2e-3))
    made = jp.library.four_bar(lengths, masses, inertias, 0.0, centres=centres)
    return made.replace(drives={"motor": drive}, gravity=(0, 0))


def found(objective, adjust="crank,rocker", speed=10.0, **sizes):
    return balancing.balance(four_bar(speed=speed, **sizes), objective, adjust, times=TURN / speed)


@pytest.mark.parametrize("objective", ["moment-rms", "moment-peak", "force-peak", "bearing-rms"])
def test_a_design_does_not_know_the_unit_of_mass_or_length(objective):
    """With all masses times 0.3, the descents for the moment ran onto mass 0 and stayed there, with twice the least."""
    one = found(objective)
    for sizes in ({"mass": 0.3}, {"mass": 1e-3, "size": 0.1}, {"mass": 1e-8, "size": 3e-3, "speed": 0.1}):
        other = found(objective, **sizes)
        assert other.residual == pytest.approx(one.residual, rel=1e-6)
        kg, m = sizes.get("mass", 1.0), sizes.get("size", 1.0)
        for address, x in one.design.items():
            unit = kg if address.endswith(".mass") else m
            assert other.design[address] / unit == pytest.approx(x, rel=1e-3, abs=1e-4)


def rms(mechanism, speed=10.0):
    return float((balancing.shaking(mechanism, TURN / speed).moment ** 2).mean() ** 0.5)


@pytest.mark.parametrize("mass", [1.0, 0.3, 1e-3])
def test_it_is_at_least_as_good_as_a_counterweight_put_on_by_hand(mass):
    given = four_bar(mass)
    places = {"mass": 0.4984 * mass, "x": -0.0391, "y": 0.2469}
    by_hand = rms(given.with_({f"rocker.counterweight.{key}": x for key, x in places.items()}))
    assert by_hand < 0.49 * rms(given)
    assert rms(found("moment-rms", mass=mass).mechanism) <= by_hand * (1 + 1e-4)
    front = balancing.trade_off(given, "crank,rocker", points=2, times=TURN / 10)
    assert float(front.moment_rms[-1]) <= by_hand * (1 + 1e-4)
    assert float(front.force_rms[-1] / front.force_rms.unbalanced) < 0.5  # the crank's, which the moment leaves free


@pytest.mark.parametrize("objective", ["moment-rms", "torque-rms", "bearing-peak"])
@pytest.mark.parametrize("bounds", ["", ":radius<=300mm", ":x<=200mm"])
def test_a_simplex_search_finds_nothing_better(objective, bounds):
    """Nelder and Mead know no slopes, and so no places where there are none."""
    from scipy.optimize import minimize

    made = found(objective, f"rocker{bounds}", mass=0.2)
    quantity, _, how = objective.partition("-")
    worth = getattr(made.moved, how)
    space = balancing.adjust.Space(made.given, balancing.adjust.adjustables(made.given, f"rocker{bounds}"))
    was = worth(quantity, space.base)

    def of(x):
        return worth(quantity, space.parameters(np.clip(x * space.size, space.low, space.high))) / was

    random = np.random.default_rng(0)
    starts = [random.uniform(-1, 1, len(space.low)) for _ in range(8)]
    least = min(minimize(of, x, method="Nelder-Mead", options={"maxfev": 600}).fun for x in starts)
    assert made.residual <= least * (1 + (1e-4 if how == "rms" else 1e-2))
