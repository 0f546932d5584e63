"""Bifurcation: the same impact every time, or never again

A mass on a spring is shaken and strikes a stop.  With a stiff spring its impacts repeat; with a softer one the period
doubles, and then the motion is chaotic.  Each column of points is one run, seen once a period; the page shows a
chaotic one.
"""

import numpy as np

import jointplay as jp
from jointplay import analysis

shaker = jp.loads("""
name: shaken mass and stop
gravity: [0, 0]
ground: {points: {O: [0, 0], wall: [-1 m, 0]}}
bodies: {mass: {mass: 1 kg, inertia: 0.01 kg*m^2}}
joints: {guide: {kind: prismatic, between: [ground.O, mass.centre], axis: [1, 0], upper: 0, stop_restitution: 0.8}}
forces:
  spring: {kind: spring, between: [ground.wall, mass.centre], stiffness: 1 N/m, free_length: 1 m}
  shake: {kind: force, at: mass.centre, x: {kind: sine, amplitude: 1 N, frequency: 2.65 rad/s, phase: 90 deg}}
start: {mass.x: -0.5}
""")
stepper = jp.MoreauJean(5e-3)
found = analysis.diagram(
    shaker, "spring.stiffness", np.linspace(0.87, 1.12, 48), "x[mass]", keep=40, skip=80, stepper=stepper
)
jp.plots.save(jp.plots.analysis.bifurcation(found), "figure.png")
for stiffness, period in zip(found["spring.stiffness"].values[::6], found.period.values[0][::6], strict=True):
    print(f"{stiffness:.3f} N/m: " + (f"repeats after {period} periods" if period else "does not repeat"))
jp.simulate(shaker.with_({"spring.stiffness": 0.9}), until=60.0, stepper=stepper, every=0.05).jp.report("page.html")
