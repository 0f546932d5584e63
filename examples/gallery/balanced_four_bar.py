"""A four-bar that is balanced, until a joint is loose

Counterweights on crank and rocker hold the mass centre of a four-bar still: with ideal joints it shakes its frame no
more.  With 0.1 mm of play in one pin it does again.
"""

import jointplay as jp
from jointplay import balancing

drive = {"kind": "angle", "of": "crank", "motion": {"kind": "constant_speed", "speed": 10.0}}
bars = jp.library.four_bar(
    (0.1, 0.35, 0.25, 0.4), (0.3, 0.8, 0.5), (1e-3, 1e-2, 2e-3), 0.0, centres=((0.05, 0), (0.12, 0.05), (0.12, 0.01))
).replace(name="balanced four-bar", drives={"motor": drive}, gravity=(0, 0))
found = balancing.balance(bars, "force", "crank:radius=80mm,rocker:radius=80mm")
for address, value in found.design.items():
    print(f"{address:28} {value:.4g}")
print(f"shaking force {found.before['shaking_force_peak']:.1f} N, balanced {found.after['shaking_force_peak']:.1g} N")

loose = found.mechanism.loosen("J2", "0.1 mm", journal_radius="5 mm")
run, twin = (jp.simulate(mechanism, until=1.2, every=2e-3) for mechanism in (loose, found.mechanism))
print(f"with 0.1 mm of play {float(balancing.shaking(run).force.max()):.1f} N")
run.jp.report("page.html", twin=twin)
