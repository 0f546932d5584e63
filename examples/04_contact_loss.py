"""Permanent contact and its loss: the chain of Grigore et al., Fig. 5, with 1 mm of play in the joint O3.

The play is a massless link of 1 mm.  It can only push: an equilibrium in which it pulls is rejected, and a run ends
where it would begin to pull, or goes on as if it could, marked.
"""

from math import tau

import jointplay as jp

print("crank held at 60 degrees:")
rests = jp.equilibria(jp.System(jp.library.grigore_figure_5()))
for rest in rests:
    push = -rest.multipliers[0]  # the first row is O3.distance
    print(f"  O3 pushes with {push:8.5f} N: {rest.text}")

print("\ncrank turning twice around from the first of these:")
names = ("coupler.x", "coupler.y", "coupler", "rocker.x", "rocker.y", "rocker")
start = dict(zip(names, rests[0].q, strict=True))
for speed in (1.0, 2.0, 2.2, 3.0):
    run = jp.simulate(jp.library.grigore_figure_5(speed), until=2 * tau / speed, start=start, strict=False)
    print(f"  {speed:g} rad/s: {run.outcome_text}; O3 pushed with up to {float(run.peak_normal[0]):.2f} N")

marked = jp.library.grigore_figure_5(3.0).loosen("O3", "1 mm", contact=jp.Following(on_loss="continue"))
run = jp.simulate(marked, until=2.0, start=start)
print(f"\n3 rad/s, on_loss: continue: {run.outcome_text}; O3 begins to pull at (s)", run.loss_time.values.round(5))

try:
    jp.simulate(jp.library.grigore_figure_5(3.0), until=2.0, start=start)
except jp.SimulationFailed as failed:  # without strict=False
    print(f"\n{failed.outcome.kind} at {failed.outcome.time:.4f} s; {failed.result.sizes['time']} samples are kept")
