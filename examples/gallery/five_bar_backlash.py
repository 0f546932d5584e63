"""A five-bar robot with backlash in a gear

Two motors carry the tip of a five-bar along a line; one drives its arm through a gear with half a degree of backlash.
Encoders sit on the motors, as usual, so the controllers do not see what the backlash does to the tip.
"""

from math import degrees

import jointplay as jp

arms = jp.loads("""
name: five-bar robot with backlash
gravity: [0, 0]
ground: {points: {L: [-100 mm, 0], R: [100 mm, 0], M: [-200 mm, 0]}}
bodies:
  left: {bar: 150 mm, mass: 0.3 kg}
  right: {bar: 150 mm, mass: 0.3 kg}
  left_rod: {bar: 250 mm, mass: 0.4 kg}
  right_rod: {bar: 250 mm, mass: 0.4 kg, points: {tip: [250 mm, 0]}}
  pinion: {mass: 0.2 kg, inertia: 2e-5 kg*m^2}
joints:
  J1: {kind: revolute, between: [ground.L, left.start]}
  J5: {kind: revolute, between: [ground.R, right.start]}
  J2: {kind: revolute, between: [left.end, left_rod.start]}
  J4: {kind: revolute, between: [right.end, right_rod.start]}
  tip: {kind: revolute, between: [left_rod.end, right_rod.end]}
  shaft: {kind: revolute, between: [ground.M, pinion.centre]}
  gear: {kind: gear, between: [pinion, left], ratio: -0.25, offset: 120 deg}
start: {pinion: 0, right: 60 deg, left_rod: 50 deg, right_rod: 130 deg}
control:
  law: {law: pd_tracking, k1: 60, k2: 1.5}
  coordinates:
    pinion: {of: pinion, reference: {kind: sine, amplitude: 100 deg, frequency: 1 Hz}}
    right: {of: right, reference: {kind: sine, amplitude: 25 deg, frequency: 1 Hz, offset: 60 deg}}
  actuators: {motor1: {of: pinion}, motor2: {of: right}}
""")
loose = arms.loosen("gear", "0.25 deg", contact=jp.Rigid(restitution=0.2))
run, twin = (jp.simulate(mechanism, until=2.0, every=4e-3, reclose=True) for mechanism in (loose, arms))

arm = abs(run.angle.sel(body="left") - twin.angle.sel(body="left")).max()
motor = abs(run.angle.sel(body="pinion") - twin.angle.sel(body="pinion")).max()
print(
    f"the arm is off by up to {degrees(arm):.3f} deg; its encoder on the motor sees {degrees(motor) / 4:.3f} deg of it"
)
print(f"{int(run.impacts.sum())} impacts of the teeth, free for {float(run.share_free[0]):.0%} of the time")
run.jp.report("page.html", twin=twin)
