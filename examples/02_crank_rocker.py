"""The crank-rocker of Akhadkar et al. 2016 under feedback linearisation, with 3 mm of play in two joints and with ideal
joints: `make demo` runs this.  It ends with a page in which the mechanism moves and its loose joints are magnified.

To change it: a number by its address, loose.with_({"control.law.k1": 500, "coupler.mass": "500 g"}); another
controller, jp.control.pd_tracking("crank", wanted, k1=2000, k2=200); or another mechanism of jp.library.
"""

from math import degrees, pi
from pathlib import Path

import jointplay as jp

wanted = jp.sine(6.0, frequency=0.75 * pi)  # rad: about two turns to either side
control = jp.control.feedback_linearisation("crank", wanted, k1=2000, k2=200, settled=1.0)
loose = jp.library.crank_rocker_2016(clearance2=3e-3, clearance3=3e-3, friction=0.1).replace(
    name="crank-rocker, 3 mm of play, feedback linearisation", control=control
)
ideal = jp.library.crank_rocker_2016().replace(name="crank-rocker, feedback linearisation", control=control)

stepper = jp.MoreauJean(step=1e-5)  # 1,000,000 steps each
run, twin = (jp.simulate(mechanism, until=10.0, stepper=stepper) for mechanism in (loose, ideal))

build = Path("build")
build.mkdir(exist_ok=True)
jp.results.save(run, build / "crank_rocker.nc")
jp.results.save(twin, build / "crank_rocker_ideal.nc")
jp.plots.save(jp.plots.tracking_error(run, twin=twin), build / "crank_rocker.png")
page = jp.report.write(run, build / "crank_rocker.html", twin=twin, command="make demo")


def largest(result, joint: str) -> float:
    return float(result.peak_force_settled.sel(joint=joint))


print(f"{loose.name}: {run.outcome_text} in {run.steps:,} steps; from 1 s on")
print(f"{'':34} {'3 mm play':>12} {'ideal':>12}")
rows = {
    "largest tracking error (deg)": lambda r: degrees(r.error_max[0]),
    "rms tracking error (deg)": lambda r: degrees(r.error_rms[0]),
    "largest torque (N m)": lambda r: float(r.control_max[0]),
    "rms torque (N m)": lambda r: float(r.control_rms[0]),
    "largest force in J2 (N)": lambda r: largest(r, "J2"),
    "largest force in J3 (N)": lambda r: largest(r, "J3"),
    "energy lost by impacts (J)": lambda r: float(r.impact_loss_settled),
    "energy lost by friction (J)": lambda r: float(r.friction_loss_settled),
}
for name, number in rows.items():
    print(f"{name:34} {number(run):12.4g} {number(twin):12.4g}")
for joint in run.contact.values:
    one = run.sel(contact=joint)
    print(f"{joint} flies free for {float(one.share_free_settled):.1%} of the time; ", end="")
    print(f"{int(one.impacts_settled)} impacts, the hardest of {float(one.peak_impulse_settled):.2f} N s")
for entry in jp.results.audit(run):
    print(f"audit, {entry['name']}: {entry['value']:.2g} {entry['unit'] if entry['unit'] != '1' else ''}")
print("written: build/crank_rocker.nc, build/crank_rocker_ideal.nc, build/crank_rocker.png")
print(f"the page that moves: open {page.resolve().as_uri()} in a browser")
