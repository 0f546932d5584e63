"""A quick-return mechanism with one loose joint

A crank shaper, like Whitworth's quick return: the crank pin runs in the slot of a rocker, the rocker drives a ram
through a rod, slowly to work and fast to return.  How much later does the ram pass its mark if the pin of the rod has
0.3 mm of play, and how sure is that?
"""

import math

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
drives: {motor: {kind: angle, of: crank, motion: {kind: constant_speed, speed: -120 rpm}}}
start: {rocker: 70 deg, rod: 0}
""")
loose = ideal.loosen("J4", "0.3 mm", journal_radius="10 mm", contact=jp.Rigid(restitution=0.2, friction=0.1))


def arrivals(result, mark="100 mm"):
    """The times (s) at which the ram passes the mark to the right, from the second turn on."""
    found, back = [], jp.results.when(result, "x", "ram", below=mark, begin=0.5)
    while not math.isnan(time := jp.results.when(result, "x", "ram", above=mark, begin=back)):
        found.append(time)
        back = jp.results.when(result, "x", "ram", below=mark, begin=time)
    return found


def later(mechanism, stepper=None):
    """The run, and by how much (ms) the ram is later than without play, turn by turn."""
    run = jp.simulate(mechanism, until=3.0, stepper=stepper, every=2e-3)
    return run, 1e3 * (np.array(arrivals(run)) - np.array(arrivals(twin)))


twin = jp.simulate(ideal, until=3.0, every=2e-3)
run, late = later(loose)
_, sharper = later(loose, jp.MoreauJean(rtol=5e-8))
print(f"the ram is {late.mean():.4f} ms later; over {len(late)} turns {late.min():.4f} to {late.max():.4f} ms")
print(f"a tenfold sharper tolerance moves that by up to {abs(sharper - late).max():.1g} ms; the audit: {run.judgement}")
for address, value in (("J4.restitution", 0.6), ("J4.friction", 0.0), ("J4.clearance", "0.15 mm")):
    _, other = later(loose.with_({address: value}))
    print(f"with {address} = {value}: {other.min():.3f} to {other.max():.3f} ms")
rubbing = {"law": "modified_coulomb", "friction": 0.1, "static_friction": 0.1}
soft = jp.Compliant(normal={"law": "hunt_crossley", "stiffness": 1e8, "restitution": 0.2}, friction=rubbing)
_, other = later(loose.loosen("J4", "0.3 mm", contact=soft))
print(f"with compliant contact: {other.min():.3f} to {other.max():.3f} ms")
run.jp.report("page.html", twin=twin)
