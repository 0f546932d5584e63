"""A slider-crank whose wrist pin has a fit

The wrist pin is a 20 H8/f7 (ISO 286): between 20 and 74 micrometres of play on the diameter.  The program looks the
fit up, takes the largest play, and says what it does to the forces at 300 rpm, beside the same machine without play.
"""

import jointplay as jp

ideal = jp.loads("""
name: slider-crank with a fit
ground: {points: {O: [0, 0]}}
bodies:
  crank: {bar: 100 mm, mass: 0.5 kg}
  rod: {bar: 300 mm, mass: 0.8 kg}
  slider: {mass: 1 kg, inertia: 1e-3 kg*m^2, points: {pin: [0, 0]}}
joints:
  J1: {kind: revolute, between: [ground.O, crank.start]}
  J2: {kind: revolute, between: [crank.end, rod.start]}
  J3: {kind: revolute, between: [rod.end, slider.pin]}
  J4: {kind: prismatic, between: [ground.O, slider.pin], axis: [1, 0]}
drives:
  motor: {kind: angle, of: crank, motion: {kind: constant_speed, speed: 300 rpm}}
""")
contact = jp.Rigid(restitution=0.3, friction=0.1)
loose = ideal.loosen("J3", fit="20 H8/f7", at="max", contact=contact)
print(f"radial clearance {1e6 * loose.value('J3.clearance'):.1f} um")

run, twin = (jp.simulate(mechanism, until=0.6, settled="1 turn", every=5e-4) for mechanism in (loose, ideal))
for joint in run.joint.values:
    before, after = (float(r.peak_force_settled.sel(joint=joint)) for r in (twin, run))
    print(f"{joint}: {after:6.0f} N at most with the fit, {before:6.0f} N without play")
run.jp.report("page.html", twin=twin)
