"""A quick-return mechanism with one loose joint

A crank shaper: the crank pin runs in the slot of a rocker, which drives a ram through a rod, slowly to work, fast to
return.  How much later does the ram pass its mark with 0.3 mm of play in the pin of the rod, and how sure is that?
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
drives: {motor: {kind: angle, of: crank, motion: {kind: constant_speed, speed: -120 rpm}}}
start: {rocker: 70 deg, rod: 0}
""")
loose = ideal.loosen("J4", "0.3 mm", journal_radius="10 mm", contact=jp.Rigid(restitution=0.2, friction=0.1))


def arrivals(result, mark="100 mm"):
    """When the ram passes the mark to the right, turn by turn after
    the first: times and their errors (s)."""
    found = []
    for turn in np.arange(0.5, 3.0, 0.5):
        back = jp.results.when(result, "x", "ram", below=mark, begin=turn)
        found.append(jp.results.when_with_error(result, "x", "ram", above=mark, begin=back))
    return np.array(found).T


def later(mechanism, stepper=None):
    """The run, by how much (ms) the ram is later than without play,
    turn by turn, and the largest error (ms) of that."""
    run = jp.simulate(mechanism, until=3.0, stepper=stepper)
    (times, errors), (ideal_times, ideal_errors) = arrivals(run), arrivals(twin)
    return run, 1e3 * (times - ideal_times), 1e3 * (errors + ideal_errors).max()


twin = jp.simulate(ideal, until=3.0)
run, late, error = later(loose)
_, sharper, _ = later(loose, jp.MoreauJean(rtol=5e-8))
print(f"the ram is {late.mean():.4f} ms later; {len(late)} turns: {late.min():.4f} to {late.max():.4f} ms")
print(f"error of the computation {error:.1g} ms; the audit: {run.judgement}")
print(f"a tenfold sharper tolerance moves it by up to {abs(sharper - late).max():.1g} ms")
for address, value in (("J4.restitution", 0.6), ("J4.friction", 0.0), ("J4.clearance", "0.15 mm")):
    _, other, _ = later(loose.with_({address: value}))
    print(f"with {address} = {value}: {other.min():.3f} to {other.max():.3f} ms")
pin = {"journal_radius": "10 mm", "clearance": "0.3 mm", "mass": "0.5 kg", "speed": "0.1 m/s", "restitution": 0.2}
pin["friction"] = {"law": "modified_coulomb", "friction": 0.1, "static_friction": 0.1}
for bush, material in (("steel", {}), ("polymer", {"other_young": "3 GPa", "other_poisson": 0.4})):
    contact, numbers = jp.Compliant.from_material("207 GPa", 0.3, **pin, **material)
    _, other, _ = later(loose.loosen("J4", "0.3 mm", contact=contact))
    print(f"steel on {bush}, {numbers['stiffness']:.2g} N/m^1.5: {other.min():.4f} to {other.max():.4f} ms")
passed = arrivals(twin)[0, 0]
speed = float(twin.x_rate.sel(body="ram").interp(time=passed))
turns = [jp.results.when(one, "x_rate", "ram", below=0.0, begin=passed) for one in (run, twin)]
print(f"by hand 0.3 mm / {speed:.2f} m/s = {0.3 / speed:.3f} ms; it turns {1e3 * (turns[0] - turns[1]):.3f} ms off")
run.jp.report("page.html", twin=twin)
