"""A slider that tilts in its guide

A guide is a joint with play too: the block has 0.2 mm of play to each side and four corners that may touch.  The rod
pushes it now to one side, now to the other, and it slams over twice a turn.
"""

import jointplay as jp

# the rod does not pull at the mass centre of the slider, so that it tilts
ideal = jp.library.slider_crank(speed=20.0).with_({"slider.centre.x": "20 mm"})
loose = ideal.loosen("J4", "0.2 mm", length="60 mm", radius="20 mm", contact=jp.Rigid(restitution=0.2, friction=0.1))
run, twin = (jp.simulate(mechanism, until=0.7, every=1e-3) for mechanism in (loose, ideal))

hardest = int(run.impact_normal.argmax("impact"))
print(f"{int(run.impacts.sum())} impacts of the corners {', '.join(map(str, run.contact.values))}")
print(f"the hardest at {float(run.impact_time[hardest]):.4f} s: {float(run.impact_normal[hardest]):.2f} N s")
print(f"largest tilt: {1e3 * float(abs(run.angle.sel(body='slider')).max()):.2f} mrad")
run.jp.report("page.html", twin=twin)
