"""Figures of docs/papers/akhadkar2016.md."""

from __future__ import annotations

from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
from shared import BLUE, COLOURS, GREEN, GREY, PURPLE, RED, bars, panels

from jointplay.papers import akhadkar2016_published as published
from jointplay.papers import akhadkar2016_told as told
from jointplay.papers.akhadkar2016 import (
    IDEAL,
    ONE,
    TABLE_4,
    TABLE_5,
    TABLE_6,
    TWO,
    WIDE,
    Case,
    deviations,
    motion,
    scheme,
    tracking,
)
from jointplay.papers.akhadkar2016_claims import limit, worst

LAWS = ["tau3", "tau4", "tau5", "tau6"]
PLAYS = (1.0, 3.0, 5.0)  # mm
ERROR = "max tracking error (deg)"


def control() -> plt.Figure:
    """Errors by law and loose joints, by play, and by frequency."""
    figure, (left, middle, right) = panels(3, (1.5, 1, 1))
    for_ = {"ideal": IDEAL, "J2": ONE, "J2 and J3": TWO}
    errors = {
        name: [tracking(Case(law, plays, step=1e-5 if any(plays) else None)).error for law in LAWS]
        for name, plays in for_.items()
    }
    bars(left, LAWS, errors, (GREY, BLUE, RED))
    left.set(yscale="log", ylabel=ERROR, title="3 mm", ylim=(1e-3, 2e4))
    left.legend(ncols=3, loc="upper center")
    middle.plot(PLAYS, [tracking(Case("tau5", (c, c))).error for c in PLAYS], "o-", color=RED)
    middle.set(xlabel="play of J2 and J3 (mm)", title="tau5", ylim=(0, None), xticks=PLAYS)
    frequencies = (0.75, 1.5, 4.0)
    right.plot(frequencies, [tracking(Case("tau5", WIDE, frequency=f)).error for f in frequencies], "o-", color=PURPLE)
    right.set(xlabel="frequency (pi rad/s)", title="tau5, 5 mm", ylim=(0, None), xticks=(0.75, 1.5, 4))
    return figure


def restitution() -> plt.Figure:
    """e over the restitution, with and without friction."""
    figure, (axes,) = panels()
    values = (0.0, 0.3, 0.6, 0.9)
    for friction, colour in ((0.1, RED), (0.0, BLUE)):
        e = [worst(Case("tau5", ONE, friction, restitution=x)) for x in values]
        axes.plot(values, e, "o-", color=colour, label=f"friction {friction:g}")
    axes.set(xlabel="restitution", ylabel="e of equation 16 (%)", title="tau5, 3 mm in J2", ylim=(0, 0.3))
    axes.legend(loc="lower left")
    return figure


def slow() -> plt.Figure:
    """Table 6 with ideal joints: printed and ours."""
    figure, axes = panels(2)
    for one, title in zip(axes, ("crank-rocker", "crank-crank"), strict=True):
        mechanism = f"{title.replace('-', '_')}_2016"
        printed = [float(TABLE_6[mechanism][law][0][0]) for law in LAWS]
        ours = [tracking(Case(law, mechanism=mechanism, step=None)).error for law in LAWS]
        bars(one, LAWS, {"printed": printed, "ours": ours}, (GREY, BLUE))
        for x, (a, b) in enumerate(zip(printed, ours, strict=True)):
            one.annotate(f"{a:g}\n{b:.3g}", (x, max(a, b)), ha="center", va="bottom", fontsize=7)
        one.set(yscale="log", ylim=(1e-3, 2e4), title=f"{title}, ideal joints")
        one.legend()
    axes[0].set_ylabel(ERROR)
    return figure


def sensitive() -> plt.Figure:
    """The crank under a sine as torque, by steps of four lengths."""
    figure, (axes,) = panels()
    for step, colour in zip((1e-4, 3e-5, 1e-5, 5e-6), COLOURS, strict=True):
        run = motion(Case("tau2", TWO, step=step), 1e-2)
        axes.plot(run["time"], run["angle"].sel(body="crank"), color=colour, lw=1, label=f"{step:g} s")
    axes.set(xlabel="time (s)", ylabel="crank (rad)", title="tau2, 3 mm: from 8 s on by the step")
    axes.legend(title="step", loc="upper left", bbox_to_anchor=(1, 1))
    return figure


def table_6() -> plt.Figure:
    """Table 6 with play beside ours."""
    figure, axes = panels(2)
    for one, (plays, k) in zip(axes, ((ONE, 1), (TWO, 2)), strict=True):
        printed = [float(TABLE_6["crank_rocker_2016"][law][0][k]) for law in LAWS]
        ours = [tracking(Case(law, plays)).error for law in LAWS]
        bars(one, LAWS, {"printed": printed, "ours": ours}, (GREY, BLUE))
        for x, (a, b) in enumerate(zip(printed, ours, strict=True)):
            one.annotate(f"{a / b:.2f} x", (x, max(a, b)), ha="center", va="bottom", fontsize=8)
        one.set(yscale="log", ylim=(0.1, 1e3), title="3 mm in J2" if k == 1 else "3 mm in J2 and J3")
        one.legend()
    axes[0].set_ylabel(ERROR)
    return figure


def tau5_tau6() -> plt.Figure:
    """Tracking errors over time, and how they grow when J3 opens too."""
    figure, (left, right) = panels(2, (1.7, 1))
    for law, colour in (("tau6", RED), ("tau5", BLUE)):
        run = motion(Case(law, TWO), 2e-3)
        late = run.isel(time=run["time"].values >= 1)
        left.plot(late["time"], np.degrees(late["tracking_error"].isel(channel=0)), color=colour, lw=0.7, label=law)
    left.set(xlabel="time (s)", ylabel="tracking error (deg)", title="tau6 errs more than tau5", ylim=(-0.7, 0.7))
    left.legend(loc="lower right", ncols=2)
    printed = [float(p[2]) / float(p[1]) for p in (TABLE_6["crank_rocker_2016"][law][0] for law in LAWS[2:])]
    ours = [tracking(Case(law, TWO)).error / tracking(Case(law, ONE)).error for law in LAWS[2:]]
    bars(right, LAWS[2:], {"printed": printed, "ours": ours}, (GREY, BLUE))
    right.axhline(2, color=GREY, ls=":")
    right.set(ylabel="error, J2 and J3 by J2", title='not "doubled" (dotted)', ylim=(0, 2.6))
    right.legend(ncols=2)
    return figure


def deviation() -> plt.Figure:
    """e over the play: the same for tau4 and tau5."""
    figure, (axes,) = panels()
    for law, colour, mark in (("tau4", GREEN, "o"), ("tau5", BLUE, "x")):
        e = [max(deviations(Case(law, (c, c), 0.0))) for c in PLAYS]
        axes.plot([2 * c for c in PLAYS], e, mark, color=colour, label=law)
    axes.plot([0, 10], [0, 0.5], color=GREY, lw=1, label="0.05 % for each mm")
    axes.set(xlabel="play of J2 and J3 together (mm)", ylabel="e of equation 16 (%)", title="e is kinematic")
    axes.legend()
    return figure


def friction() -> plt.Figure:
    """e3 of a constant torque over friction."""
    figure, (axes,) = panels()
    values = (0.0, 0.02, 0.05, 0.1)
    for c, colour in ((1.0, BLUE), (5.0, RED)):
        axes.plot(values, [limit(c, mu)[1] for mu in values], "o-", color=colour, label=f"{c:g} mm in J2")
    axes.set(xlabel="friction", ylabel="e3 (%)", title="tau1, 1 to 3 s", ylim=(0, None))
    axes.legend()
    return figure


def torques() -> plt.Figure:
    """Largest torques over the frequency, printed and ours."""
    figure, axes = panels(2)
    frequencies = np.array(list(TABLE_5))
    for i, (one, law) in enumerate(zip(axes, LAWS[2:], strict=True)):
        printed = [float(TABLE_5[f][1][i]) for f in frequencies]
        ours = [tracking(Case(law, frequency=f, step=None)).torque for f in frequencies]
        one.plot(frequencies, ours[0] * (frequencies / frequencies[0]) ** 2, color=GREY, ls=":", label="squared")
        one.loglog(frequencies, printed, "s-", color=GREY, label="printed")
        one.loglog(frequencies, ours, "o-", color=BLUE, label="ours")
        one.set(xlabel="frequency (pi rad/s)", title=f"{law}, ideal joints")
        one.set_xticks(frequencies, [f"{f:g}" for f in frequencies])
        one.minorticks_off()
        one.legend()
    axes[0].set_ylabel("max torque (N m)")
    return figure


def turning() -> plt.Figure:
    """Figures 6 and 14: gaps of tau1 and tau2; the error of tau4 over the speed of its reference."""
    figure, (left, right) = panels(2)
    for law, colour in (("tau1", BLUE), ("tau2", RED)):
        run = motion(Case(law, (5.0, 0.0), 0.0), 1e-2)
        count = int(run["impacts"].sum())
        named = f"{law}: {count} impact{'s' * (count != 1)}"
        left.plot(run["time"], 1e3 * run["gap"].isel(contact=0), color=colour, lw=0.8, label=named)
    left.set(xlabel="time (s)", ylabel="gap in J2 (mm)", title="Fig. 6: 5 mm in J2, no friction", ylim=(None, 12))
    left.legend(loc="upper right")
    case = Case("tau4", TWO, mechanism="crank_crank_2016")
    run = motion(case)
    late = run.isel(time=run["time"].values >= 1)
    speed = np.abs(np.cos(0.75 * np.pi * late["time"].values))
    error = np.degrees(np.abs(late["tracking_error"].isel(channel=0).values))
    right.plot(speed, error, ".", ms=1.2, color=BLUE)
    right.set(xlabel="speed of the reference (share of the largest)", ylabel="tracking error (deg)",
              title="Fig. 14: largest at speed, not at rest")  # fmt: skip
    return figure


def branch() -> plt.Figure:
    """tau7 that is told the branch of the crank, beside tau6."""
    from jointplay.model import library
    from jointplay.simulation import simulate

    figure, (axes,) = panels()
    mechanism = library.crank_rocker_2016(*(1e-3 * x for x in TWO))
    runs = {"tau6": motion(Case("tau6", TWO), 5e-3)}
    for rate in ("crank", "rocker"):
        loop = told.control(told.Told(rate))
        runs[f"tau7, rate by the {rate}"] = simulate(mechanism, 10.0, scheme(1e-5), every=5e-3, strict=False,
                                                     control=loop, error=False)  # fmt: skip
    for (name, run), colour in reversed(list(zip(runs.items(), (BLUE, GREEN, RED), strict=True))):
        late = run.isel(time=run["time"].values >= 1)
        error = np.degrees(late["tracking_error"].isel(channel=0))
        axes.plot(late["time"], error, color=colour, lw=0.7, label=name)
    axes.set(xlabel="time (s)", ylabel="tracking error (deg)", title="the crank tells the branch", ylim=(-4, 5.5))
    axes.legend(loc="upper center", ncols=3, fontsize=7)
    return figure


def program() -> plt.Figure:
    """tau6 in Table 4: printed, by equation 22, and by the published program."""
    figure, (left, right) = panels(2)
    gains, printed = zip(*[(gains, cells[:2]) for _, gains, cells in TABLE_4.values()], strict=True)
    errors, torques = zip(*[published.tracked(WIDE, one) for one in gains], strict=True)
    runs = [motion(Case("tau6", WIDE, gains=one), published.SAMPLED) for one in gains]
    samples = [float(abs(run["control"].values[run["time"].values >= 1]).max()) for run in runs]
    names = [f"{k:g}, {slope:g}" for k, slope in gains]
    for axes, text, column, ours, theirs in (
        (left, ERROR, 0, [tracking(Case("tau6", WIDE, gains=one)).error for one in gains], errors),
        (right, "max torque of samples (N m)", 1, samples, torques),
    ):
        sets = {"printed": [float(x[column]) for x in printed], "published program": theirs, "equation 22": ours}
        bars(axes, names, sets, (GREY, RED, BLUE))
        axes.set(xlabel="K, Lambda", ylabel=text)
    left.legend(loc="upper left")
    return figure


def causes() -> plt.Figure:
    """Printed errors by ours, for what was changed."""
    figure, (axes,) = panels()
    base = Case("tau5", TWO)
    changes = {
        "nothing": {},
        "friction 0": {"friction": 0.0},
        "friction 0.6": {"friction": 0.6},
        "restitution 0.9": {"restitution": 0.9},
        "6 mm": {"plays": (6.0, 6.0)},
        "30 mm": {"plays": (30.0, 30.0)},
        "step 1e-4 s": {"step": 1e-4},
        "second order": {"order": 2},
    }
    for law, colour in zip(LAWS[1:], (GREEN, BLUE, RED), strict=True):
        printed = float(TABLE_6["crank_rocker_2016"][law][0][2])
        ratios = [printed / tracking(replace(base, law=law, **change)).error for change in changes.values()]
        axes.plot(ratios, range(len(changes)), "o", color=colour, label=law)
    axes.axvline(1, color=GREY, lw=1)
    axes.set_yticks(range(len(changes)), changes)
    axes.invert_yaxis()
    axes.set(xscale="log", xlabel="printed error by ours", title="3 mm in J2 and J3, one thing changed")
    axes.set_xticks((0.5, 1, 2, 4, 8), ("0.5", "1", "2", "4", "8"))
    axes.minorticks_off()
    axes.legend(loc="upper left", bbox_to_anchor=(1, 1))
    return figure
