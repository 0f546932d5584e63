"""Jansen's leg with a loose knee

Theo Jansen's walking leg: one crank, seven bodies, ten pins, his lengths in millimetres.  The knee has 0.5 mm of
play.  The two plates are bodies with three points; where the pins stand at first follows from circles that meet.
"""

from cmath import phase

import jointplay as jp


def meet(p, r, q, s):
    """Where the circle of radius r about p meets that of s about q, on the left from p to q."""
    d = abs(q - p)
    along = (r * r - s * s + d * d) / (2 * d)
    return p + (q - p) / d * complex(along, (r * r - along * along) ** 0.5)


B, P = complex(-38.0, -7.8), complex(15.0)  # the fixed pivot and the crank pin; the crank turns about 0
up = meet(B, 41.5, P, 50.0)
low = meet(P, 61.9, B, 39.3)
left = meet(B, 40.1, up, 55.8)
knee = meet(low, 36.7, left, 39.4)
foot = meet(low, 49.0, knee, 65.7)

ends = {"crank": (0, P), "rod1": (P, up), "rod2": (P, low), "shin": (B, low), "thigh": (left, knee)}
plates = {"hip": {"b": B, "top": up, "left": left}, "leg": {"low": low, "knee": knee, "foot": foot}}
bodies = {name: jp.bar(abs(q - p) * 1e-3, mass=0.05) for name, (p, q) in ends.items()}
start = {name: phase(q - p) for name, (p, q) in ends.items()}
for name, corners in plates.items():
    middle = sum(corners.values()) / 3
    points = {corner: (1e-3 * (z - middle).real, 1e-3 * (z - middle).imag) for corner, z in corners.items()}
    bodies[name], start[name] = jp.Body(mass=0.1, inertia=3e-5, points=points), 0.0

pins = """\
J1 ground.O crank.start
A1 crank.end rod1.start
A2 crank.end rod2.start
B1 ground.B hip.b
B2 ground.B shin.start
up rod1.end hip.top
low1 rod2.end shin.end
low2 shin.end leg.low
left hip.left thigh.start
knee thigh.end leg.knee""".splitlines()
ideal = jp.Mechanism(
    name="Jansen's leg",
    ground={"points": {"O": (0, 0), "B": (1e-3 * B.real, 1e-3 * B.imag)}},
    bodies=bodies,
    joints={pin: {"kind": "revolute", "between": between} for pin, *between in map(str.split, pins)},
    drives={"motor": {"kind": "angle", "of": "crank", "motion": {"kind": "constant_speed", "speed": "-240 rpm"}}},
    start=start,
)
loose = ideal.loosen("knee", "0.5 mm", journal_radius="3 mm", contact=jp.Rigid(friction=0.1))
run, twin = (jp.simulate(mechanism, until=0.75, every=2e-3) for mechanism in (loose, ideal))
print(f"{int(run.impacts[0])} impacts in the knee, free for {float(run.share_free[0]):.1%} of the time")
off = float(abs(jp.results.apart(run, twin, "y")).sel(body="leg").max())
print(f"the leg is off by up to {1e3 * off:.2f} mm in height")
run.jp.report("page.html", twin=twin)
