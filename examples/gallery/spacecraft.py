"""Two arms on a spacecraft, one elbow loose

Nothing holds the base: where the arms move, it gives way.  One elbow has 0.5 mm of play, steel on steel, with a
compliant contact law.  Nothing acts from outside, so momentum must stay what it was, and the audit says how well it
does.
"""

import jointplay as jp

loose, ideal = (jp.library.spacecraft_2026("A", case=case) for case in (1, 0))
run, twin = (jp.simulate(mechanism, until=1.5, every=5e-3) for mechanism in (loose, ideal))

turned = abs(run.angle.sel(body="base") - twin.angle.sel(body="base")).max()
print(f"{int(run.impacts[0])} contacts; the base turns by up to {float(turned):.2g} rad more or less")
print(f"largest force in the loose elbow: {float(run.peak_force.sel(joint='J2')):.0f} N")
print(f"angular momentum drifts by {jp.results.audited(run, 'angular momentum drift'):.1g} N m s")
run.jp.report("page.html", twin=twin)
