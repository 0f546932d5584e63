"""A quick-return mechanism with one loose joint

A shaper: the crank pin runs in the slot of a rocker, the rocker drives a ram through a rod, slowly to work and fast to
return.  How much later does the ram arrive at its mark if the pin of the rod has 0.3 mm of play, and how sure is that?
The run is computed again with a tenfold sharper tolerance, and the answer given with as many digits as both agree on.
"""

import numpy as np

import jointplay as jp

ideal = jp.loads("""
name: quick return
ground: {points: {pivot: [0, 0], crank: [0, 200 mm], guide: [0, 420 mm]}}
bodies:
  crank: {bar: 80 mm, mass: 0.5 kg}
  rocker: {bar: 400 mm, mass: 2 kg}
  rod: {bar: 150 mm, mass: 0.5 kg}
  ram: {mass: 6 kg, inertia: 0.02 kg*m^2}
joints:
  main: {kind: revolute, between: [ground.crank, crank.start]}
  swing: {kind: revolute, between: [ground.pivot, rocker.start]}
  slot: {kind: slot, between: [rocker.start, crank.end], axis: [1, 0]}
  J4: {kind: revolute, between: [rocker.end, rod.start]}
  J5: {kind: revolute, between: [rod.end, ram.centre]}
  guide: {kind: prismatic, between: [ground.guide, ram.centre], axis: [1, 0]}
drives: {motor: {kind: angle, of: crank, motion: {kind: constant_speed, speed: 120 rpm}}}
start: {rocker: 70 deg, rod: 0}
""")
loose = ideal.loosen("J4", "0.3 mm", journal_radius="10 mm", contact=jp.Rigid(restitution=0.2, friction=0.1))


def arrival(result, mark=0.1):
    """The time (s) at which the ram passes the mark (m) to the right, in the last turn."""
    x, t = result.x.sel(body="ram").values, result.time.values
    [*_, i] = np.flatnonzero((x[:-1] < mark) & (x[1:] >= mark))
    return t[i] + (mark - x[i]) / (x[i + 1] - x[i]) * (t[i + 1] - t[i])


twin = jp.simulate(ideal, until=1.5, every=5e-4)
run, finer = (
    jp.simulate(loose, until=1.5, stepper=jp.MoreauJean(rtol=rtol), every=5e-4, reclose=True) for rtol in (1e-6, 1e-7)
)
late, again = (1e3 * (arrival(result) - arrival(twin)) for result in (run, finer))
print(f"the ram passes its mark {late:.3f} ms later than without play (sharper: {again:.3f} ms)")
print(f"so: {again:.3f} ms, give or take {abs(late - again):.1g} ms; the audit of the run is {run.attrs['judgement']}")
run.jp.report("page.html", twin=twin)
