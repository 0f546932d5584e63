"""Bounds of counterweights hold in every design."""

import math

import numpy as np
import pytest

import jointplay as jp
from jointplay import balancing

ROTOR = jp.Mechanism(
    name="rotor",
    gravity=(0, 0),
    ground={"points": {"O": (0, 0)}},
    bodies={"r": jp.Body(mass=2.0, inertia=0.01, centre=(0.03, 0.03), points={"o": (0, 0), "e": (0.2, 0)})},
    joints={"J": {"kind": "revolute", "between": ("ground.O", "r.o")}},
    drives={"d": {"kind": "angle", "of": "r", "motion": {"kind": "constant_speed", "speed": 10}}},
)
UNBALANCE = 2.0 * math.hypot(0.03, 0.03)  # kg m, a quarter turn from no axis
TIMES = np.linspace(0, 0.6283, 50)


def radius(design):
    return math.hypot(design["r.counterweight.x"], design["r.counterweight.y"])


@pytest.mark.parametrize("objective", ["force", "force-rms", "force-peak"])
@pytest.mark.parametrize(
    ("bounds", "low", "high", "heavy"),
    [
        ("radius<=50mm,mass<=1kg", 0, 0.05, 1.0),
        ("radius<=50mm,mass<=5kg", 0, 0.05, 5.0),
        ("radius>=100mm,radius<=120mm,mass<=5kg", 0.1, 0.12, 5.0),
        ("radius>=100mm", 0.1, math.inf, 200.0),
        ("radius>=3m,mass<=1kg", 3.0, math.inf, 1.0),
        ("radius<=80mm,mass=1.5kg", 0, 0.08, 1.5),
    ],
)
def test_a_radius_is_a_distance(bounds, low, high, heavy, objective):
    """Bounds of a radius were bounds of x and y, 41 % farther out in a corner, and a lower one was none."""
    found = balancing.balance(ROTOR, objective, f"r:{bounds}", times=TIMES)
    assert low - 1e-9 <= radius(found.design) <= high + 1e-9
    assert found.design["r.counterweight.mass"] <= heavy + 1e-9
    left = max(0.0, UNBALANCE - heavy * high) * 10**2
    assert found.after["shaking_force_peak"] == pytest.approx(left, rel=1e-6, abs=1e-6)
    assert found.feasible == (objective != "force" or left == 0)


def test_a_trade_off_keeps_the_radius():
    given = jp.library.four_bar(crank=0.0)
    bounds, moved = "crank:radius<=50mm,mass<=1kg", "crank=10 rad/s"
    front = balancing.trade_off(given, bounds, motion_of=moved, points=2, times=TIMES[:9])
    x, y = (front["design"].sel(address=f"crank.counterweight.{c}").values for c in "xy")
    assert (np.hypot(x, y) <= 0.05 + 1e-9).all()


@pytest.mark.parametrize(
    ("bounds", "address", "low", "high"),
    [
        ("r:mass=300kg", "r.counterweight.mass", 300.0, 300.0),  # more than 100 times all bodies
        ("r:mass>=300kg,radius<=1mm", "r.counterweight.mass", 300.0, math.inf),
        ("r:radius=0.01mm,mass<=9000kg", "r.counterweight.mass", 8000.0, 9000.0),
        ("r:x<=-9m", "r.counterweight.x", -math.inf, -9.0),
        ("r.centre.x>=7m", "r.centre.x", 7.0, math.inf),
        ("r.mass<=1mg", "r.mass", 1e-12, 1e-6),
    ],
)
def test_bounds_beyond_those_that_there_are_without_any(bounds, address, low, high):
    """Masses were cut to 100 times those of all bodies, and a place or stiffness beyond was an error of scipy."""
    found = balancing.balance(ROTOR, "force-rms", bounds, times=TIMES)
    assert low <= found.design[address] <= high


@pytest.mark.parametrize("bound", ["r.mass<=-1kg", "r.inertia<=-1", "r.mass=0kg"])
def test_masses_below_zero_are_refused(bound):
    with pytest.raises(jp.errors.InputError, match=r"adjust r\.(mass|inertia): .* > ?=? ?0, got"):
        balancing.balance(ROTOR, "force-rms", bound, times=TIMES)


def test_what_is_exact_at_a_bound_is_feasible():
    """A torsion spring that must go is at the bound 0 of its stiffness, which steps inside come near to only."""
    arm = jp.library.pendulum(length=0.5, mass=2.0, angles=[0.3])
    lift = {"kind": "spring", "between": ("ground.H", "bar1.end"), "stiffness": 1.0}
    coil = {"kind": "torsion", "between": ("ground", "bar1"), "stiffness": 2.0}
    points = {**arm.ground.points, "H": (0.0, 0.4)}
    arm = arm.replace(ground={"points": points}, forces={"lift": lift, "coil": coil})
    found = balancing.balance(arm, "static", "lift,coil")
    assert found.feasible and found.design["coil.stiffness"] == 0
    assert found.design["lift.stiffness"] == pytest.approx(2.0 * 9.81 * 0.25 / (0.4 * 0.5), rel=1e-9)
