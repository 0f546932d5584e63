"""CPU time against error: `python benchmarks/work_precision_figure.py docs/images/fig_work_precision.png`.

The number and what is in the times: work_precision.py.  What is measured goes to work_precision.json beside this file,
by methods: the setting, CPU seconds, the number found and the one it should be (deg); --drawn draws that file as it is.
Compliant contact is another model: Hertz's stiffness of steel, restitution 0.1, friction that is full from a slip of
10 mm/s on; its error is taken against its own limit.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence

import matplotlib.pyplot as plt
from hand_written import HERE
from rigid import siconos
from work_precision import PEER_STEPS, SHARE, Point, least, peer, tracked

import jointplay as jp
from jointplay.plots.style import COLOURS

DATA = HERE / "work_precision.json"
ROUNDS = 3
FINEST = 1e-10  # tolerance of the compliant limit
LOOKS = ("o-", "s-", "D-", "^-", "v--")
Rows = dict[str, list[dict[str, float]]]


def compliant() -> jp.Mechanism:
    """The same crank-rocker with compliant contact."""
    contact, _numbers = jp.Compliant.from_material(
        "207 GPa", 0.3, journal_radius="60 mm", clearance="3 mm", mass="1 kg", speed="0.1 m/s", restitution=0.1,
        friction={"law": "ambrosio", "friction": 0.1, "v0": 0.0, "v1": 1e-2},
    )  # fmt: skip
    return jp.library.crank_rocker_2016().loosen("J2", 3e-3, journal_radius=0.06, contact=contact)


def measured() -> Rows:
    """All methods; of equal runs the cheapest counts."""
    soft, command = compliant(), siconos()
    limit = tracked(jp.RungeKutta(FINEST, FINEST / 100), soft).found
    methods: dict[str, tuple[Sequence[float], Callable[[float], Point], int]] = {
        "SICONOS 4.4": (PEER_STEPS if command else (), lambda h: peer(command or [], h), 1),
        "published scheme (order=1)": ((1e-4, 3e-5, 1e-5, 3e-6, 1e-6), lambda h: tracked(jp.MoreauJean(h, order=1)), 1),
        "second order, equal steps": ((1e-3, 3e-4, 1e-4, 3e-5, 1e-5), lambda h: tracked(jp.MoreauJean(h)), ROUNDS),
        "second order, chosen steps, error stated": (
            (1e-4, 1e-5, 1e-6, 1e-7, 1e-8),
            lambda r: tracked(jp.MoreauJean(rtol=r)),
            ROUNDS,
        ),
        "compliant, Runge-Kutta (its own limit)": (
            (1e-3, 1e-4, 1e-6, 1e-8),
            lambda r: tracked(jp.RungeKutta(r, r / 100), soft, limit),
            ROUNDS,
        ),
    }
    rows: Rows = {}
    for name, (settings, run, rounds) in methods.items():
        rows[name] = []
        for i, setting in enumerate(settings):
            if i == 0 and rounds > 1:
                run(setting)  # compiles
            point = least(*(run(setting) for _ in range(rounds)))
            rows[name].append({"setting": setting, "cpu": point.cpu, "found": point.found, "known": point.known})
            print(f"{name:<40}{setting:>8g}{point.cpu:10.3f} s{point.found:11.6f} deg{point.error:10.1e}", flush=True)
    return rows


def draw(rows: Rows, path: str) -> None:
    """CPU seconds over the relative error, both logarithmic."""
    figure, axes = plt.subplots(figsize=(7.5, 4.6), layout="constrained")
    for look, colour, (name, points) in zip(LOOKS, COLOURS, rows.items(), strict=False):
        made = [Point(row["cpu"], row["found"], row["known"]) for row in points]
        errors, times = [one.error for one in made], [one.cpu for one in made]
        axes.loglog(errors, times, look, color=colour, label=name, markersize=5)
        if name.startswith("SICONOS") and made:
            more = errors[-1] / SHARE
            axes.loglog([errors[-1], SHARE], [times[-1], times[-1] * more], ":", color=colour)
    axes.axvline(SHARE, color="0.7", linewidth=1, zorder=0)
    axes.annotate("0.1 %", (SHARE, 1), xycoords=("data", "axes fraction"), xytext=(4, -12), textcoords="offset points")
    axes.set(xlabel="relative error of the largest tracking error", ylabel="CPU time of the run (s)")
    axes.invert_xaxis()
    axes.grid(alpha=0.25)
    axes.set_axisbelow(True)
    axes.legend(frameon=False, fontsize=8, loc="upper right")
    figure.savefig(path, dpi=120)


def main() -> None:
    """Measure, keep and draw."""
    drawn = [a for a in sys.argv[1:] if a != "--drawn"]
    if "--drawn" not in sys.argv:
        DATA.write_text(json.dumps(measured(), indent=2) + "\n", encoding="utf-8")
    draw(json.loads(DATA.read_text(encoding="utf-8")), drawn[0])


if __name__ == "__main__":
    main()
