"""A slider-crank from a file: its motion beside the closed form, and the torque that its motor must give."""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import jointplay as jp

mechanism = jp.load(Path(__file__).with_name("slider_crank.yaml")).with_({"motor.speed": "300 rpm"})
print(jp.check(mechanism).text())

speed, first = mechanism.value("motor.speed"), mechanism.value("motor.start")
times = np.linspace(0, 2 * np.pi / speed, 361)
turn = jp.inverse_dynamics(jp.System(mechanism), times)  # jp.kinematics gives the motion alone

r, l, angle = mechanism.value("crank.length"), mechanism.value("rod.length"), first + speed * times
place = r * np.cos(angle) + np.sqrt(l**2 - (r * np.sin(angle)) ** 2)
off = np.abs(turn.x.sel(body="slider").values - place).max()
torque = turn.effort.sel(drive="motor").values
print(f"\nstroke {1e3 * np.ptp(place):.1f} mm; the slider is within {off:.1g} m of the closed form")
print(f"motor: {torque.min():.2f} to {torque.max():.2f} N m, over a turn {np.trapezoid(torque, angle):.1g} J of work")
for joint in turn.joint.values:
    force = np.hypot(turn.force_x.sel(joint=joint), turn.force_y.sel(joint=joint))
    print(f"{joint}: up to {float(force.max()):.1f} N")

figure = Figure(figsize=(5, 3), layout="constrained")
axes = figure.subplots()
axes.plot(np.degrees(angle - first), torque)
axes.set(xlabel="crank turned by (deg)", ylabel="motor torque (N m)", title="Slider-crank at 300 rpm")
Path("build").mkdir(exist_ok=True)
figure.savefig("build/slider_crank_torque.png", dpi=150)
