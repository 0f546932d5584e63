"""Draw the figures of docs/papers: `python docs/papers/figures.py [NAME ...]` writes docs/images/paper_NAME.png."""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

IMAGES = Path(__file__).resolve().parent.parent / "images"
BLUE, RED, GREY, GREEN = "#1f5fa8", "#c0392b", "#8a8a8a", "#2e8b57"
plt.rcParams.update({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False, "legend.frameon": False})


def akhadkar2016() -> plt.Figure:
    """Table 6 beside ours, tracking errors over time, and e over the play."""
    from jointplay.papers.akhadkar2016 import TABLE_6, TWO, Case, deviations, motion, tracking

    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(10, 3), width_ratios=(1.2, 1.3, 1))
    laws = ["tau4", "tau5", "tau6"]
    printed = [float(TABLE_6["crank_rocker_2016"][law][0][2]) for law in laws]
    ours = [tracking(Case(law, TWO)).error for law in laws]
    at = np.arange(len(laws))
    left.bar(at - 0.2, printed, 0.38, color=GREY, label="printed")
    left.bar(at + 0.2, ours, 0.38, color=BLUE, label="ours")
    for x, a, b in zip(at, printed, ours, strict=True):
        left.annotate(f"{a / b:.1f} x", (x, max(a, b)), ha="center", va="bottom")
    left.set(yscale="log", xticks=at, xticklabels=laws, ylabel="max tracking error (deg)", title="3 mm in J2 and J3")
    left.set_ylim(0.1, 30)
    left.legend(loc="upper right")
    for law, colour in zip(("tau5", "tau6"), (BLUE, RED), strict=True):
        run = motion(Case(law, TWO), 2e-3)
        late = run.isel(time=run["time"].values >= 1)
        error = np.degrees(late["tracking_error"].isel(channel=0))
        middle.plot(late["time"], error, color=colour, lw=0.7, label=law)
    middle.set(
        xlabel="time (s)", ylabel="tracking error (deg)", title="nowhere near 1.3 deg (dotted)", ylim=(-1.5, 1.5)
    )
    for y in (-1.3, 1.3):
        middle.axhline(y, color=GREY, ls=":")
    middle.legend(loc="lower right", ncols=2)
    plays = (1.0, 3.0, 5.0)
    for law, colour, mark in (("tau4", GREEN, "o"), ("tau5", BLUE, "x")):
        right.plot([2 * c for c in plays], [max(deviations(Case(law, (c, c), 0.0))) for c in plays], mark, color=colour,
                   label=law)  # fmt: skip
    right.plot([0, 10], [0, 0.5], color=GREY, lw=1, label="0.05 %/mm")
    right.set(xlabel="c2 + c3 (mm)", ylabel="e of equation 16 (%)", title="e is kinematic (no friction)")
    right.legend()
    return figure


def grigore() -> plt.Figure:
    """The least normal force at O3 in every fiftieth of a turn, over two turns of the crank."""
    from jointplay.papers.grigore_motion import driven

    figure, axes = plt.subplots(figsize=(6.5, 3))
    for w, colour in ((1.0, BLUE), (2.0, GREEN), (2.2, RED), (3.0, "#7d3c98")):
        run = driven(w, 1e-10, 1e-12)
        row = [str(x) for x in run["row"].values].index("O3.distance")
        force, turns = -run["multiplier"].values[:, row], w * run["time"].values / (2 * np.pi)
        part = (50 * turns).astype(int)
        least = [force[part == k].min() for k in range(part.max())]
        axes.plot((np.arange(len(least)) + 0.5) / 50, least, color=colour, lw=1.2, label=f"{w:g} rad/s")
        if run.attrs["outcome"] == "contact lost":
            axes.plot(turns[-1], 0, "v", color=colour)
    axes.axhline(0, color=GREY, lw=0.8)
    axes.set(xlabel="turns of the crank", ylabel="least normal force at O3 (N)")
    axes.set_title("The contact can only push: above 2 rad/s it is lost (triangles)", fontsize=10)
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return figure


def wu2017() -> plt.Figure:
    """Two periods of the deviation on top of each other, and the exponents."""
    from jointplay.papers.wu2017_play import CLEARANCES, EVERY, PERIOD, exponent, played

    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3), width_ratios=(1.5, 1))
    n = round(PERIOD / EVERY)
    for c, colour in ((0.75, RED), (0.5, BLUE), (0.1, GREEN)):
        d = played(c).deviation
        time = np.arange(0, n, 20) * EVERY
        left.plot(time, d[n : 2 * n : 20], color=colour, lw=1, label=f"{c:g} mm")
        left.plot(time, d[2 * n : 3 * n : 20], color="black", lw=0.6, ls=(0, (2, 6)))
    left.plot([], [], color="black", lw=0.6, ls=(0, (2, 6)), label="one period later")
    left.set(xlabel="time in the period of 36 s (s)", ylabel="deviation of G (mm)", title="The motion repeats")
    left.legend(ncols=2, loc="lower right", fontsize=8)
    found = [exponent(c) for c in CLEARANCES]
    right.errorbar(CLEARANCES, [x for x, _ in found], [e for _, e in found], fmt="o", color=BLUE, capsize=3)
    right.axhline(0, color=GREY)
    right.set(xlabel="clearance (mm)", ylabel="largest exponent (1/s)", title="Neighbours converge", ylim=(-20, 5))
    right.annotate("the paper: all above 0", (0.42, 1), color=GREY, ha="center")
    return figure


def coelho() -> plt.Figure:
    """Torques along both trajectories and the error under sliding mode."""
    from jointplay.papers.coelho import controlled, inverse

    figure, axes = plt.subplots(1, 3, figsize=(10, 3))
    for one, path, title in zip(axes, ("T1", "T2"), ("slow: balancing helps", "fast: it does not"), strict=False):
        for balanced, colour in ((False, RED), (True, BLUE)):
            times, u, _, _ = inverse(path, balanced)
            one.plot(times, u[:, 0], color=colour, lw=1, label="balanced" if balanced else "unbalanced")
        one.set(xlabel="time (s)", ylabel="torque u1 (N m)", title=f"trajectory {path[1]}, {title}")
        one.legend()
    for balanced, colour in ((False, RED), (True, BLUE)):
        run, error = controlled("T1", balanced)
        axes[2].plot(run["time"], error, color=colour, lw=1, label="balanced" if balanced else "unbalanced")
    axes[2].set(xlabel="time (s)", ylabel="norm of the error (rad)", title="sliding mode, trajectory 1")
    axes[2].legend()
    return figure


def bai2026() -> plt.Figure:
    """The angle error of arm 2 with clearance and friction, with one of them, set A."""
    from jointplay.papers.bai2026 import KEPT, STEPPER, errors, ideal
    from jointplay.papers.bai2026_cases import rough
    from jointplay.simulation import simulate

    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3), width_ratios=(1.4, 1))
    both, bare = errors("A", 3), errors("A", 3, False)
    run, near = simulate(rough("A"), 5.0, STEPPER, every=5.0 / KEPT), ideal("A").isel(time=slice(None, None, 100))
    alone = np.degrees(run["angle"].sel(body="arm2").values - near["angle"].sel(body="arm2").values)
    left.plot(both["time"], both["angle"].sel(body="arm2"), color=RED, lw=1.2, label="0.5 mm and friction (the paper)")
    left.plot(run["time"], alone, color=BLUE, lw=1.2, ls="--", label="friction, no clearance")
    left.plot(bare["time"], bare["angle"].sel(body="arm2"), color=GREEN, lw=1, label="clearance, no friction")
    left.set(xlabel="time (s)", ylabel="angle error of arm 2 (deg)", title="Most of it is friction (set A, case 3)")
    left.legend(fontsize=8)
    printed, ours = [0.3025, 0.5417], [float(abs(both["angle"].sel(body=a)).max()) for a in ("arm1", "arm2")]
    at = np.arange(2)
    right.bar(at - 0.2, printed, 0.38, color=GREY, label="printed")
    right.bar(at + 0.2, ours, 0.38, color=BLUE, label="ours, assumed set A")
    right.set(xticks=at, xticklabels=["arm 1", "arm 2"], ylabel="largest angle error (deg)", title="case 3")
    right.legend(fontsize=8)
    return figure


def main() -> None:
    """Draw those that are named, or all."""
    known = {f.__name__: f for f in (akhadkar2016, grigore, wu2017, coelho, bai2026)}
    for name in sys.argv[1:] or known:
        figure = known[name]()
        figure.tight_layout()
        target = IMAGES / f"paper_{name}.png"
        figure.savefig(target, dpi=110, pil_kwargs={"optimize": True})
        print(f"{target.name}: {target.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
