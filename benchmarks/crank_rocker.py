"""The benchmark mechanism: a crank-rocker with play at J2 under a PD controller, as one step of the engine.

Moreau-Jean time stepping (theta rule at velocity level, then a projection) in the absolute angles of the
spanning tree ground-crank, ground-rocker-coupler.  Rotations are complex numbers; a point is a constant plus
arm times rotation, summed over bodies.  J2 joins the branches by a journal that may touch its bearing.
"""

from __future__ import annotations

import math
from typing import Any

from jointplay.engine import Factor, Pair, branch, dot, due, number, peak, sincos, sqrt, trace, where

BODIES = ("crank", "coupler", "rocker")
REFRESH = 1024  # steps after which the rotations are taken from the angles again
SETTLED = 1.0  # s: the tracking error counts from here on
PARAMETERS = {
    "time_step": 1e-5,
    "gravity": 9.81,
    "ground.length": 3.0,
    "crank.length": 1.0,
    "crank.mass": 1.0,
    "crank.inertia": 0.0833,
    "coupler.length": 4.0,
    "coupler.mass": 1.0,
    "coupler.inertia": 1.33,
    "rocker.length": 2.5,
    "rocker.mass": 1.0,
    "rocker.inertia": 0.521,
    "J2.clearance": 3e-3,
    "J2.journal_radius": 0.06,
    "J2.friction": 0.1,
    "J2.restitution": 0.0,
    "motor.stiffness": 2000.0,
    "motor.damping": 200.0,
    "motor.amplitude": 6.0,
    "motor.frequency": 0.75 * math.pi,
}


def start(crank: float = 1.571) -> dict[str, float]:
    """The state at rest with the journal in the middle of its bearing."""
    l1, l2, l3, l4 = (PARAMETERS[f"{b}.length"] for b in (*BODIES, "ground"))
    end = complex(l1 * math.cos(crank) - l4, l1 * math.sin(crank))  # of the crank, from the rocker's pivot
    along = 0.5 * (l3**2 - l2**2 + abs(end) ** 2) / abs(end) ** 2
    tip = end * complex(along, -math.sqrt(l3**2 / abs(end) ** 2 - along**2))
    link = tip - end
    angles = (crank, math.atan2(link.imag, link.real), math.atan2(tip.imag, tip.real))
    state = {}
    for body, angle in zip(BODIES, angles, strict=True):
        state |= {f"{body}.angle": angle, f"{body}.rate": 0.0}
        state |= {f"{body}.cos": math.cos(angle), f"{body}.sin": math.sin(angle)}
    return state


def rotated(z: Pair, angle: Any, small: bool = False) -> Pair:
    """z turned by the angle of one step, by polynomial; a correction is small enough for fewer terms."""
    a2 = angle * angle
    if small:
        sine, versine = angle, a2 * -0.5
    else:
        sine = angle * (1 - a2 * (1 / 6 - a2 * (1 / 120)))
        versine = a2 * (-0.5 + a2 * (1 / 24 - a2 * (1 / 720)))
    return z + z * Pair(versine, sine)


def impulse(W: Any, b: Any, friction: Any) -> tuple[Any, Any]:
    """Normal and tangential impulse of one contact: slip, else stick, else slip the other way."""
    (Wnn, Wnt), (_, Wtt) = W
    bn, bt = b
    slope = where(bt > 0, -friction, friction)
    pn = -bn / (Wnn + slope * Wnt)
    reverses = (bt + (Wnt + slope * Wtt) * pn) * slope > 0

    def stick() -> tuple[Any, Any]:
        inverse = 1 / (Wnn * Wtt - Wnt * Wnt)
        n, t = (bt * Wnt - bn * Wtt) * inverse, (bn * Wnt - bt * Wnn) * inverse
        back = bn / (slope * Wnt - Wnn)
        inside = abs(t) <= friction * n
        return where(inside, n, back), where(inside, t, -slope * back)

    pn, pt = branch(reverses, stick, lambda: (pn, slope * pn))
    return where(bn < 0, pn, 0.0), where(bn < 0, pt, 0.0)


def step(s: Any, p: Any, audit: bool = False) -> dict[str, Any]:
    """One time step; `audit` also keeps the deepest penetration after the projection."""
    h, n = p.time_step, range(len(BODIES))
    q, v = ([s[f"{b}.{part}"] for b in BODIES] for part in ("angle", "rate"))
    kept = [s[f"{b}.{part}"] for b in BODIES for part in ("cos", "sin")]
    again = due(s.step, REFRESH)
    z = pairs(branch(again, lambda: [x for a in q for x in sincos(a)[::-1]], lambda: kept))

    # geometry: {body: arm}
    crank, coupler, rocker = n
    l1, l2, l3 = (p[f"{b}.length"] for b in BODIES)
    centres = [{crank: l1 * 0.5}, {rocker: l3, coupler: l2 * -0.5}, {rocker: l3 * 0.5}]
    play = {crank: -l1, coupler: -l2, rocker: l3}  # journal centre minus bearing centre, beside the ground

    # mass matrix, forces and the motion without contact
    mass, inertia = ([p[f"{b}.{part}"] for b in BODIES] for part in ("mass", "inertia"))
    M = [[inertia[i] if i == j else 0 for j in n] for i in n]
    t = h * number(s.step)
    sine, cosine = sincos(p["motor.frequency"] * t)
    error = p["motor.amplitude"] * sine - q[crank]
    rate_error = p["motor.amplitude"] * p["motor.frequency"] * cosine - v[crank]
    f = [p["motor.damping"] * rate_error + p["motor.stiffness"] * error, 0, 0]
    for i in n:
        for j in range(i + 1):
            shared = [m * c[i] * c[j] for m, c in zip(mass, centres, strict=True) if i in c and j in c]
            if i == j:
                M[i][i] = M[i][i] + sum(shared)
            elif shared:
                product = z[j].conjugate() * z[i] * sum(shared)
                M[i][j] = M[j][i] = product.x
                f[j] = f[j] + product.y * v[i] * v[i]
                f[i] = f[i] - product.y * v[j] * v[j]
        f[i] = f[i] - p.gravity * sum(m * c[i] for m, c in zip(mass, centres, strict=True) if i in c) * z[i].x
    factor = Factor(M)
    free = [v[i] + h * a for i, a in enumerate(factor.solve(f))]
    moved = [h * 0.5 * (v[i] + free[i]) for i in n]
    q, z = [q[i] + moved[i] for i in n], [rotated(z[i], moved[i]) for i in n]

    # the journal in its bearing
    clearance, radius = p["J2.clearance"], p["J2.journal_radius"]
    away = sum((z[i] * play[i] for i in n), Pair(p["ground.length"]))
    distance2 = away.dot(away)

    def contact() -> list[Any]:
        normal = away * (1 / sqrt(distance2))
        columns = [(z[i] * play[i]).turned() for i in n]
        G = [-normal.dot(c) for c in columns]
        T = [normal.turned().dot(c) for c in columns]
        T[coupler] = T[coupler] + radius
        T[crank] = T[crank] - (radius + clearance)
        X = [factor.solve(G), factor.solve(T)]
        W = [[dot(row, x) for x in X] for row in (G, T)]
        b = [dot(G, free) + p["J2.restitution"] * dot(G, v), dot(T, free)]
        pn, pt = impulse(W, b, p["J2.friction"])
        jump = [X[0][i] * pn + X[1][i] * pt for i in n]
        end = sum((columns[i] * (h * 0.5 * jump[i]) for i in n), away)
        inside = clearance - abs(end)
        push = branch(inside < 0, lambda: -inside / W[0][0], lambda: 0.0)
        change = [h * 0.5 * jump[i] + X[0][i] * push for i in n]
        turned = [rotated(z[i], change[i], small=True) for i in n]
        return [q[i] + change[i] for i in n] + [free[i] + jump[i] for i in n] + flat(turned)

    new = branch(distance2 >= clearance * clearance, contact, lambda: [*q, *free, *flat(z)])
    peak("tracking_error", where(t >= SETTLED, abs(error), 0.0))
    if audit:
        end = sum((r * play[i] for i, r in enumerate(pairs(new[6:]))), Pair(p["ground.length"]))
        peak("penetration", abs(end) - clearance)
    names = [f"{b}.{part}" for part in ("angle", "rate") for b in BODIES]
    return dict(zip([*names, *(f"{b}.{part}" for b in BODIES for part in ("cos", "sin"))], new, strict=True))


def pairs(numbers: list[Any]) -> list[Pair]:
    """Pairs from their coordinates."""
    return [Pair(x, y) for x, y in zip(numbers[::2], numbers[1::2], strict=True)]


def flat(zs: list[Pair]) -> list[Any]:
    """The coordinates of pairs."""
    return [x for z in zs for x in (z.x, z.y)]


def crank_rocker(audit: bool = False) -> Any:
    """The traced program."""
    return trace(lambda s, p: step(s, p, audit), start(), PARAMETERS)
