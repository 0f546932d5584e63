"""A toggle press with a loose knee

A crank straightens two links, and the ram comes down with a small stroke and a great force.  The knee joint has 0.1 mm
of play.  At the bottom the work piece pushes back: a stiff spring there gives the ram a load.
"""

import jointplay as jp

ideal = jp.loads("""
name: toggle press
ground: {points: {frame: [0, 0], crank: [-300 mm, -280 mm], guide: [0, -600 mm], anvil: [0, -700 mm]}}
bodies:
  crank: {bar: 60 mm, mass: 1 kg}
  rod: {bar: 280 mm, mass: 1.5 kg}
  upper: {bar: 280 mm, mass: 2 kg}
  lower: {bar: 280 mm, mass: 2 kg}
  ram: {mass: 8 kg, inertia: 0.02 kg*m^2}
joints:
  main: {kind: revolute, between: [ground.crank, crank.start]}
  pin: {kind: revolute, between: [crank.end, rod.start]}
  push: {kind: revolute, between: [rod.end, upper.end]}
  top: {kind: revolute, between: [ground.frame, upper.start]}
  knee: {kind: revolute, between: [upper.end, lower.start]}
  wrist: {kind: revolute, between: [lower.end, ram.centre]}
  guide: {kind: prismatic, between: [ground.guide, ram.centre], axis: [0, 1]}
drives: {motor: {kind: angle, of: crank, motion: {kind: constant_speed, speed: 60 rpm, start: 120 deg}}}
forces: {piece: {kind: spring, between: [ram.centre, ground.anvil], stiffness: 200 N/mm, free_length: 170 mm}}
start: {upper: -100 deg, lower: -80 deg, rod: 0 deg}
""")
loose = ideal.loosen("knee", "0.1 mm", journal_radius="20 mm", contact=jp.Rigid(friction=0.1))
run, twin = (jp.simulate(mechanism, until=2.0, every=4e-3, reclose=True) for mechanism in (loose, ideal))

for name, result in {"0.1 mm of play": run, "ideal joints": twin}.items():
    lowest, highest = float(result.y.sel(body="ram").min()), float(result.y.sel(body="ram").max())
    force, torque = float(result.peak_force.sel(joint="knee")), float(result.peak_effort.sel(drive="motor"))
    print(f"{name}: ram down to {1e3 * lowest:.2f} mm, stroke {1e3 * (highest - lowest):.1f} mm", end="; ")
    print(f"knee {force:.0f} N, motor {torque:.1f} N m")
run.jp.report("page.html", twin=twin)
