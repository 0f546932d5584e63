"""Compliant contact beside a code of its own: a journal in a loose bearing, with friction, written out for scipy."""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from jointplay.model import loads
from jointplay.results import audited, errors
from jointplay.simulation import RungeKutta, simulate

MASS, INERTIA, OTHER, SPIN = (
    1.0,
    2e-4,
    3.0,
    1e-3,
)  # kg and kg m^2: of the disc, and of the ring that carries the bearing
RADIUS, CLEARANCE = 20e-3, 1e-3
STIFFNESS, RESTITUTION = 2e8, 0.7
COULOMB = {"static_friction": 0.3, "friction": 0.2, "v_s": 5e-3, "v_d": 0.05}
BRISTLES = {"static_friction": 0.3, "friction": 0.2, "stiffness": 2e4, "damping": 20.0, "viscous": 0.05, "v_s": 0.01}
MODEL = """
gravity: [0.3, -9.81]
ground: {points: {O: [0, 0]}}
bodies: {ring: {mass: %s, inertia: %s}, disc: {mass: %s, inertia: %s}}
joints:
  J: {kind: revolute, between: [ring.centre, disc.centre], clearance: 1 mm, journal_radius: 20 mm, bearing: %s,
      contact: {kind: compliant, normal: {law: lankarani_nikravesh, stiffness: 2e8, restitution: 0.7},
                friction: {law: %s}}}
forces:
  hold: {kind: spring, between: [ground.O, ring.centre], stiffness: 4000}
start: {ring: 0, ring.x: 0, ring.y: 0, disc: 0, disc.x: 0.0002, disc.y: 0.0001, disc.rate: 15, disc.x.rate: 0.05,
        disc.y.rate: 0, ring.rate: -1, ring.x.rate: 0, ring.y.rate: 0}
"""


def smooth(x, x0, h0, x1, h1):
    s = np.clip((x - x0) / (x1 - x0), 0, 1)
    return h0 + (h1 - h0) * s * s * (3 - 2 * s)


def rates(t, y, law, approach, ring_outside):
    """Ring (x, y, turn), disc (x, y, turn), their rates, a bristle; the contact acts if an approach speed is given."""
    q, v, z = y[:6], y[6:12], y[12]
    force = np.zeros(6)
    force[[1, 4]] = -9.81 * MASS_OF[[1, 4]]
    force[[0, 3]] = 0.3 * MASS_OF[[0, 3]]
    force[:2] -= 4000 * q[:2]
    slope = 0.0
    if approach is not None:
        apart = q[3:5] - q[:2]
        distance = np.hypot(*apart)
        n = apart / distance  # from the ring's centre to the disc's
        t_ = np.array([-n[1], n[0]])
        depth, rate = distance - CLEARANCE, (v[3:5] - v[:2]) @ n
        push = max(0.0, STIFFNESS * max(depth, 0) ** 1.5 * (1 + 0.75 * (1 - RESTITUTION**2) * rate / approach))
        # material points: the journal's surface lies at its radius, the bearing's at that and the clearance
        inner, outer = RADIUS, RADIUS + CLEARANCE
        if ring_outside:  # the ring carries the bearing, the disc the journal, and they touch where the disc lies
            slip = (v[3:5] - v[:2]) @ t_ + v[5] * inner - v[2] * outer
        else:  # the disc carries the bearing: the ring's journal touches it on the other side
            slip = (v[3:5] - v[:2]) @ t_ - v[5] * outer + v[2] * inner
        if law == "modified_coulomb":
            mu_s, mu_d, v_s, v_d = COULOMB.values()
            if abs(slip) < v_s:
                mu = smooth(slip, -v_s, -mu_s, v_s, mu_s)
            else:
                mu = np.sign(slip) * smooth(abs(slip), v_s, mu_s, v_d, mu_d)
            drag = -mu * push
        else:
            b = BRISTLES
            level = b["friction"] + (b["static_friction"] - b["friction"]) * np.exp(-((slip / b["v_s"]) ** 2))
            slope = slip - abs(slip) * b["stiffness"] * z / level
            drag = -push * (b["stiffness"] * z + b["damping"] * slope + b["viscous"] * slip)
        on_disc = -push * n + drag * t_
        # one place for both: the bearing's surface
        place = (q[:2] + outer * n) if ring_outside else (q[3:5] - outer * n)
        force[3:5] += on_disc
        force[:2] -= on_disc
        arm_disc, arm_ring = place - q[3:5], place - q[:2]
        force[5] += arm_disc[0] * on_disc[1] - arm_disc[1] * on_disc[0]
        force[2] -= arm_ring[0] * on_disc[1] - arm_ring[1] * on_disc[0]
    return np.concatenate([v, force / MASS_OF, [slope]])


MASS_OF = np.array([OTHER, OTHER, SPIN, MASS, MASS, INERTIA])


def followed(law, ring_outside, until, times):
    """The states at the times, and begin, approach and end of the contacts."""

    def gap(t, y, *_):
        return CLEARANCE - np.hypot(*(y[3:5] - y[:2]))

    gap.terminal = True
    y, t, approach, hits, seen = np.array([0, 0, 0, 2e-4, 1e-4, 0, 0, 0, -1, 0.05, 0, 15, 0.0]), 0.0, None, [], []
    while t < until:
        gap.direction = -1 if approach is None else 1
        run = solve_ivp(
            rates, (t, until), y, "DOP853", args=(law, approach, ring_outside), events=gap, dense_output=True,
            rtol=1e-10, atol=1e-12, first_step=1e-7, max_step=2e-3,
        )  # fmt: skip
        inside = times[(times >= t) & (times < run.t[-1])]
        seen += [*run.sol(inside).T] if len(inside) else []
        t, y = run.t[-1], run.y[:, -1].copy()
        if run.status == 1:
            n = (y[3:5] - y[:2]) / np.hypot(*(y[3:5] - y[:2]))
            if approach is None:
                approach = (y[9:11] - y[6:8]) @ n
                hits.append([t, approach, None])
            else:
                hits[-1][2], approach, y[12] = t, None, 0.0
    return np.array(seen), hits


@pytest.mark.parametrize("law", ["modified_coulomb", "lugre"])
@pytest.mark.parametrize("bearing", ["first", "second"])
def test_a_spinning_journal_in_a_ring_on_a_spring(law, bearing):
    numbers = ", ".join(f"{k}: {x}" for k, x in (COULOMB if law == "modified_coulomb" else BRISTLES).items())
    mechanism = loads(MODEL % (OTHER, SPIN, MASS, INERTIA, bearing, f"{law}, {numbers}"))
    until, every = 0.08, 2e-3
    run = simulate(mechanism, until, RungeKutta(1e-10, 1e-13, max_step=1e-3), every=every)
    times = run["time"].values[:-1]
    seen, hits = followed(law, bearing == "first", until, times)
    ended = [hit for hit in hits if hit[2] is not None]
    assert len(ended) >= 3
    first = min(len(ended), run.sizes["impact"], 6)
    assert run["impact_time"].values[:first] == pytest.approx([h[0] for h in ended[:first]], abs=2e-8)
    assert run["impact_approach"].values[:first] == pytest.approx([h[1] for h in ended[:first]], rel=1e-5)
    ours = np.column_stack(
        [run[name].sel(body=body).values for body in ("ring", "disc") for name in ("x", "y", "angle")]
    )[:-1]
    assert np.abs(ours - seen[:, :6]).max(axis=0) == pytest.approx(0, abs=2e-7)
    spins = run["angle_rate"].values[:-1]
    assert np.abs(spins - seen[:, [8, 11]]).max() < 1e-4
    assert audited(run, "energy imbalance") < 1e-8
    assert float(run["contact_friction_work"][-1]) < 0 and float(run["contact_normal_work"][-1]) < 0


SOFT = """
gravity: [0, 0]
ground: {points: {O: [0, 0]}}
bodies: {ball: {mass: 1, inertia: 1, points: {c: [0, 0]}}}
joints: {wall: {kind: slot, between: [ground.O, ball.c], axis: [0, 1], clearance: 1 mm,
                contact: {kind: compliant, normal: {law: hertz, stiffness: 1e5}}}}
start: {ball.x: 0, ball.y: 0, ball.x.rate: 0.1, ball.y.rate: 0, ball: 0, ball.rate: 0}
"""


def test_a_ball_between_soft_walls():
    """In the first step of a contact the force rises with t^1.5, and the error of Dormand and Prince's pair is 11 times
    its estimate; at the default tolerance that step was as long as in companions, and the last place off by 9 errors.
    A contact lasts 2.94 depths at the speed; after whole half periods the ball is in the middle."""
    speed, clearance = 0.1, 1e-3
    depth = (5 * speed**2 / (4 * 1e5)) ** 0.4
    contact = depth / speed * 0.8 * math.sqrt(math.pi) * math.gamma(0.4) / math.gamma(0.9)
    run = simulate(loads(SOFT), 70 * (2 * clearance / speed + contact))
    found = {entry["name"]: entry for entry in errors(run)}["ball.x"]
    assert abs(found["value"]) < 3 * found["error"] and abs(found["value"]) < 1.5e-7 and int(run.impacts.sum()) == 70
