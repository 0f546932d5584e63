"""Draws the pictures of docs/balancing.md again: `python -m tests.balancing.pictures`."""

import math
from pathlib import Path

import jointplay as jp
from jointplay import balancing, plots

IMAGES = Path(__file__).resolve().parent.parent.parent / "docs" / "images"
ADJUST = "crank:radius=80mm,rocker:radius=80mm"


def four_bar(speed=10.0):
    """The four-bar of docs/balancing.md, its crank at a constant speed (rad/s)."""
    drive = {"kind": "angle", "of": "crank", "motion": {"kind": "constant_speed", "speed": speed}}
    centres = ((0.05, 0), (0.12, 0.05), (0.12, 0.01))
    bar = jp.library.four_bar((0.1, 0.35, 0.25, 0.4), (0.3, 0.8, 0.5), (1e-3, 1e-2, 2e-3), 0.0, centres=centres)
    return bar.replace(drives={"motor": drive}, gravity=(0, 0))


def made(samples=2048, **asked):
    """The force-balanced design, and the study of masses made to 1 %."""
    found = balancing.balance(four_bar(), "force", ADJUST)
    return found, balancing.tolerances(found, 0.01, samples, **asked)


if __name__ == "__main__":
    found, study = made()
    plots.save(plots.balance(found), IMAGES / "fig_balance.png")
    plots.save(plots.studies.histogram(study, "shaking_force_peak", limit=0.4), IMAGES / "fig_tolerances.png")
    pairs = balancing.tolerances(found, 0.01, jp.samples(512, method="saltelli"))  # for the total indices
    plots.save(plots.studies.sensitivity(pairs, "shaking_force_peak"), IMAGES / "fig_tolerances_ranking.png")
    front = balancing.trade_off(four_bar(), ADJUST, "moment")
    plots.save(plots.trade_off(front), IMAGES / "fig_front.png")
    left = study.shaking_force_peak
    print("P50, P95 (N):", float(left.quantile(0.5)), float(left.quantile(0.95)), "period", 2 * math.pi / 10, "s")
