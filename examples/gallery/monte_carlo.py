"""Monte Carlo: which fit do I tighten first?

64 slider-cranks are drawn from the tolerance zones of the fits in both pins and run at 300 rpm.  Which share of them is
more than 40 micrometres off, and which fit is to blame?  The page shows the distribution; its limit can be moved.
"""

import jointplay as jp
from jointplay import report, studies

slider = jp.library.slider_crank(0.1, 0.3, speed=31.4)
table = jp.sweep(
    slider,
    over={"J2.fit": "20 H7/g6", "J3.fit": "20 H8/f7"},
    samples=64,
    until=0.4,
    settled=0.2,
    metrics=["shift[slider]", "peak_force[J3]"],
    stepper=jp.MoreauJean(5e-5),
)
print(studies.share(table, "shift[slider]", limit=40e-6))
print(studies.ranking(table, "shift[slider]", limit=40e-6))
report.write_study(table, "page.html", limits={"shift[slider]": 40e-6})
jp.plots.save(jp.plots.ranking(table, "shift[slider]", limit=40e-6), "figure.png")
