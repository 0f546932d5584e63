"""References for rigid contact from the event-driven integration, and the time stepping beside them."""

import functools
import math

import numpy as np
import pytest

from jointplay.model import Rigid, library
from jointplay.papers.akhadkar2016 import ONE, Case, tracking
from jointplay.simulation import MoreauJean, simulate
from validation.event_driven import integrate

TORQUE = {"motor": {"kind": "torque", "on": "crank", "torque": 6.0}}
# clearance (m), friction, theta1(3 s) (rad): to six decimals by another event-driven code of the same mechanism, and
# by this one with rtol 1e-12, which moves the last digits of 1e-11 by 6e-9 at most
OPEN_LOOP = [
    (1e-3, 0.0, 21.331200, 21.33120032),
    (5e-3, 0.0, 21.268443, 21.26844265),
    (1e-3, 0.1, 20.433520, 20.43352055),
    (5e-3, 0.1, 20.365297, 20.36529686),
]
pytestmark = pytest.mark.timeout(1800)  # a minute or less each on a machine that does nothing else


def crank_rocker(clearance, friction):
    """The crank-rocker of Akhadkar et al. under 6 N m."""
    return library.crank_rocker_2016(clearance2=clearance, friction=friction).replace(forces=TORQUE)


@functools.cache
def reference(clearance, friction):
    """Three seconds by events."""
    return integrate(crank_rocker(clearance, friction), 3.0, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(("clearance", "friction", "known", "finer"), OPEN_LOOP)
def test_open_loop_by_events(clearance, friction, known, finer, record):
    run = reference(clearance, friction)
    ours = float(run.of("crank.angle")[-1])
    good = abs(ours - known) <= 1e-6 and abs(ours - finer) <= 2e-7 and abs(run.imbalance) < 1e-7
    case = f"open loop, c2 = {clearance * 1e3:g} mm, mu = {friction:g}, by events"
    verdict = "agrees" if good else "differs"
    record(item=case, quantity="theta1(3 s)", unit="rad", ours=ours, reference=known, verdict=verdict)
    record(item=case, quantity="imbalance below", unit="J", ours=run.imbalance, reference="1e-7", verdict=verdict)
    assert good and len(run.times("impact")) == 1


@pytest.mark.parametrize(("clearance", "friction"), [(1e-3, 0.0), (5e-3, 0.1)])
def test_time_stepping_tends_to_the_events(clearance, friction, record):
    right = float(reference(clearance, friction).of("crank.angle")[-1])
    mechanism = crank_rocker(clearance, friction)
    errors = [float(simulate(mechanism, 3.0, MoreauJean(h), every=1.0)["angle"][-1, 0]) - right for h in (4e-5, 1e-5)]
    order = math.log(abs(errors[0] / errors[1])) / math.log(4)
    case = f"open loop, c2 = {clearance * 1e3:g} mm, mu = {friction:g}, time stepping"
    good = order > 1.7
    verdict = "agrees" if good else "differs"
    record(item=case, quantity="order towards the events", unit="", ours=order, reference=2.0, verdict=verdict)
    assert good


def test_the_case_computed_by_siconos_by_events(record):
    """Its value is a limit of runs of first order, trusted to about 2e-5."""
    angles = {"crank": 1.570823772407980, "coupler": 0.353284202062446, "rocker": 1.264872058968431}
    mechanism = library.crank_rocker_2016().replace(forces=TORQUE, start=angles)
    loose = mechanism.loosen("J3", 1e-3, journal_radius=0.059, bearing="second", contact=Rigid(friction=0.1))
    ours = float(integrate(loose, 2.0, rtol=1e-10, atol=1e-12).of("crank.angle")[-1])
    good = abs(ours - 10.314671) <= 2e-5
    case, verdict = "SICONOS case: J3 open by 1 mm, 6 N m, mu = 0.1, by events", "agrees" if good else "differs"
    record(item=case, quantity="theta1(2 s)", unit="rad", ours=ours, reference=10.314671, verdict=verdict)
    assert good


def test_energy_is_kept_without_friction_and_with_full_restitution(record):
    mechanism = library.crank_rocker_2016(clearance2=3e-3, friction=0.0, restitution=1.0)
    run = integrate(mechanism.replace(start={"crank": 1.571, "crank.rate": 10.0}), 0.5, rtol=1e-10, reclose=True)
    change = run.energy[1] - run.energy[0]
    good = abs(change) < 1e-8 and len(run.times("impact")) > 50
    case, verdict = "3 mm, e = 1, mu = 0, crank at 10 rad/s, 0.5 s, by events", "agrees" if good else "differs"
    record(item=case, quantity="change of energy", unit="J", ours=change, reference="0", verdict=verdict)
    assert good and np.isfinite(run.q).all()


# -- a control loop
W, BARS, PLACES = 0.75 * math.pi, (1.0, 4.0, 2.5), 3.0  # rad/s; lengths of crank, coupler, rocker and ground (m)
TRACKING = 0.22072988  # deg: of the integration with rtol 1e-11, at 1.38302 s


def linearising(t, q, v):
    """The torque of tau5 with gains 2000, 200 in the crank angle alone, from the energies of the ideal mechanism."""
    l1, l2, l3 = BARS
    x, y = l1 * math.cos(q) - PLACES, l1 * math.sin(q)
    along = 0.5 * (1 + (l3 * l3 - l2 * l2) / (x * x + y * y))
    aside = math.sqrt(l3 * l3 / (x * x + y * y) - along * along)
    q3 = math.atan2(along * y - aside * x, along * x + aside * y)
    q2 = math.atan2(l3 * math.sin(q3) - y, l3 * math.cos(q3) - x)
    arms = np.array([[-l2 * math.sin(q2), l3 * math.sin(q3)], [l2 * math.cos(q2), -l3 * math.cos(q3)]])
    turns = np.array(
        [1.0, *np.linalg.solve(arms, [l1 * math.sin(q), -l1 * math.cos(q)])]
    )  # rates per rate of the crank
    centripetal = np.array([[l1 * math.cos(q), l2 * math.cos(q2), -l3 * math.cos(q3)],
                            [l1 * math.sin(q), l2 * math.sin(q2), -l3 * math.sin(q3)]]) @ turns**2  # fmt: skip
    bends = np.array([0.0, *np.linalg.solve(arms, centripetal)])
    M = np.diag([0.0833 + 1.25 * l1 * l1, 1.33 + 0.25 * l2 * l2, 0.521 + 0.25 * l3 * l3])
    M[0, 1] = M[1, 0] = 0.5 * l1 * l2 * math.cos(q - q2)
    swing = 0.5 * l1 * l2 * math.sin(q - q2) * np.array([turns[1] ** 2, -1.0, 0.0])
    weight = 9.81 * np.array([1.5 * l1 * math.cos(q), 0.5 * l2 * math.cos(q2), 0.5 * l3 * math.cos(q3)])
    wanted = -6 * W * W * math.sin(W * t) - 200 * (v - 6 * W * math.cos(W * t)) - 2000 * (q - 6 * math.sin(W * t))
    return float(turns @ (M @ (turns * wanted + bends * v * v) + swing * v * v + weight))


def test_feedback_linearisation_by_events(record):
    """The cell of Table 6 by which benchmarks/work_precision.py measures: its largest error is at 1.383 s."""
    mechanism = library.crank_rocker_2016(clearance2=3e-3, friction=0.1)

    def push(t, q, v):
        return np.array([0, 0, linearising(t, q[2], v[2]), *[0] * 6])

    times = np.arange(1.3828, 1.3832, 1e-6)
    run = integrate(mechanism, 1.384, times, push, rtol=1e-9, atol=1e-11)
    by_events = float(np.degrees(np.abs(run.of("crank.angle") - 6 * np.sin(W * times)).max()))
    stepped = tracking(Case("tau5", ONE, step=1e-5, order=2)).error
    item = "tau5, crank-rocker, 3 mm, mu = 0.1, by events"
    good = abs(by_events - TRACKING) < 1e-8, abs(stepped - by_events) < 2e-5 * by_events
    for text, ours, reference, fine in (
        (item, by_events, TRACKING, good[0]),
        (item[:-9] + "1e-5 s", stepped, by_events, good[1]),
    ):
        verdict = "agrees" if fine else "differs"
        record(item=text, quantity="tracking error", unit="deg", ours=ours, reference=reference, verdict=verdict)
    assert all(good)
