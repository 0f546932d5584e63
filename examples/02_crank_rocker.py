"""The crank-rocker of Akhadkar et al. 2016 turned by a constant torque, with ideal joints and with play in two of them:
`make demo` runs this.  It ends with a page in which the mechanism moves and its loose joints are magnified.

To change it: a number by its address, mechanism.with_({"motor.torque": 8.0, "coupler.mass": "500 g"}); the torque to
a function of time, torque=jp.sine(6.0, frequency=2.0); or start from another mechanism of jp.library.
"""

from math import tau
from pathlib import Path

import jointplay as jp

mechanism = jp.library.crank_rocker_2016().replace(
    name="crank-rocker, 6 N m on the crank",
    forces={"motor": jp.model.Motor(between=("ground", "crank"), torque=6.0)},
)
run = jp.simulate(mechanism, until=3.0)
play = {"clearance": "3 mm", "journal_radius": "60 mm", "contact": jp.Rigid(friction=0.1, restitution=0.7)}
loose = jp.simulate(mechanism.loosen("J2", **play).loosen("J3", **play), until=3.0)  # steps of 10 microseconds

build = Path("build")
build.mkdir(exist_ok=True)
jp.results.save(run, build / "crank_rocker.nc")
jp.plots.save(jp.plots.motion(run), build / "crank_rocker.png")
jp.results.save(loose, build / "crank_rocker_loose.nc")
page = jp.report.write(loose, build / "crank_rocker.html", twin=run, command="make demo")

crank = run.sel(body="crank")
turns, fastest = float(crank.angle[-1] - crank.angle[0]) / tau, float(crank.angle_rate.max())
print(f"{mechanism.name}: {run.outcome_text} in {run.steps} steps")
print(f"the crank turned {turns:.2f} times and reached {fastest:.2f} rad/s")
print(f"the motor did {float(run.work[-1]):.2f} J of work")
for joint, force, time in zip(run.joint.values, run.peak_force.values, run.peak_force_time.values, strict=True):
    print(f"largest force in {joint}: {force:.1f} N at {time:.3f} s")
for name, value in jp.results.audit(run).items():
    print(f"audit, {name}: {value:.2g}")
for joint, free in zip(loose.contact.values, loose.share_free.values, strict=True):
    hardest = float(loose.impact_normal[loose.impact_contact == joint].max())
    print(f"with 3 mm of play {joint} flies free for {free:.1%} of the time; its hardest impact has {hardest:.2f} N s")
print("written: build/crank_rocker.nc, build/crank_rocker.png, build/crank_rocker_loose.nc")
print(f"the page that moves: open {page.resolve().as_uri()} in a browser")
