"""Figures of docs/papers/bai2026.md."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from shared import BLUE, COLOURS, GREEN, GREY, PURPLE, RED, bars, panels

from jointplay.model import library
from jointplay.papers.bai2026 import CLEARANCES, KEPT, STEPPER, errors, ideal, largest, motion, peaks
from jointplay.papers.bai2026_cases import rough
from jointplay.papers.bai2026_claims import NUDGE
from jointplay.simulation import simulate

SETS = "ABCD"
NAMES = [f"arm {i}" for i in (1, 2, 3, 4)]


def swings() -> plt.Figure:
    """The velocity of arm 2 beside the ideal one, and how often peaks are those of ideal joints."""
    figure, (left, right) = panels(2, (1.4, 1))
    off = errors("A", 1)["angle_rate"].sel(body="arm2")
    left.plot(off["time"], off, color=BLUE, lw=0.7)
    left.axhline(0, color=GREY, lw=0.8)
    left.set(xlabel="time (s)", ylabel="velocity less the ideal (deg/s)", title="arm 2, set A, joint 2 loose")
    forces = [float((motion(s, 1)["peak_force"] / ideal(s)["peak_force"]).sel(joint="J2")) for s in SETS]
    right.bar(list(SETS), forces, color=BLUE)
    right.axhline(10, color=GREY, ls=":")
    right.set(yscale="log", xlabel="assumed set", title="force of joint 2 by the ideal one")
    return figure


def disturbed() -> plt.Figure:
    """Angle errors of the arms, by the joints that are loose."""
    figure, axes = plt.subplots(1, 4, figsize=(8.6, 2.7), sharey=True)
    for one, data in zip(axes, SETS, strict=True):
        bars(one, ["1", "2", "3", "4"], {"J2 loose": largest(data, 1), "J2 and J4": largest(data, 3)}, (BLUE, RED))
        one.set(yscale="log", xlabel="arm", title=f"set {data}")
    axes[0].set_ylabel("largest angle error (deg)")
    axes[0].set_ylim(None, 30)
    axes[0].legend(loc="upper right", fontsize=7)
    return figure


def friction() -> plt.Figure:
    """The angle error of arm 2 with clearance and friction, with one of them, set A."""
    figure, (left, right) = panels(2, (1.4, 1))
    both, bare = errors("A", 3), errors("A", 3, False)
    run, near = simulate(rough("A"), 5.0, STEPPER, every=5.0 / KEPT), ideal("A").isel(time=slice(None, None, 100))
    alone = np.degrees(run["angle"].sel(body="arm2").values - near["angle"].sel(body="arm2").values)
    left.plot(both["time"], both["angle"].sel(body="arm2"), color=RED, lw=1.2, label="0.5 mm and friction (the paper)")
    left.plot(run["time"], alone, color=BLUE, lw=1.2, ls="--", label="friction, no clearance")
    left.plot(bare["time"], bare["angle"].sel(body="arm2"), color=GREEN, lw=1, label="clearance, no friction")
    left.set(xlabel="time (s)", ylabel="angle error of arm 2 (deg)", title="set A, joints 2 and 4 loose")
    left.legend(fontsize=7)
    ours = [float(abs(both["angle"].sel(body=a)).max()) for a in ("arm1", "arm2")]
    bars(right, NAMES[:2], {"printed": [0.3025, 0.5417], "ours, assumed set A": ours}, (GREY, BLUE))
    right.set(ylabel="largest angle error (deg)", title="case 3", ylim=(0, 0.75))
    right.legend()
    return figure


def joint_1() -> plt.Figure:
    """The angle errors with joint 1 loose by those with joint 2 loose."""
    figure, (axes,) = panels()
    ratios = {f"set {data}": largest(data, 2) / largest(data, 1) for data in SETS}
    for (name, values), colour, mark in zip(ratios.items(), COLOURS, "os^D", strict=True):
        axes.plot(NAMES, values, mark, color=colour, label=name)
    axes.axhline(1, color=GREY)
    axes.set(yscale="log", ylabel="joint 1 loose by joint 2 loose", title="every arm above 1: in no set")
    axes.legend(loc="upper left", bbox_to_anchor=(1, 1))
    return figure


def more() -> plt.Figure:
    """Angle errors of arm 1 and 2 with two loose joints by those with one, and over the clearance."""
    figure, (left, right) = panels(2, (1, 1.2))
    for data, colour, mark in zip(SETS, COLOURS, "os^D", strict=True):
        left.plot(NAMES[:2], (largest(data, 3) / largest(data, 1))[:2], mark, color=colour, label=f"set {data}")
        grown = np.array([largest(data, case) for case in CLEARANCES])
        right.plot(list(CLEARANCES.values()), grown[:, 0] / grown[0, 0], f"{mark}-", color=colour, label=f"set {data}")
        right.plot(list(CLEARANCES.values()), grown[:, 1] / grown[0, 1], f"{mark}--", color=colour, mfc="white")
    left.axhline(1, color=GREY)
    left.set(ylabel="J2 and J4 loose by J2 loose", title="more joints", xlim=(-0.5, 1.5))
    right.axhline(1, color=GREY)
    right.set(xlabel="clearance (mm)", ylabel="error by that at 0.25 mm", title="more clearance (dashed: arm 2)")
    right.legend(loc="upper left", bbox_to_anchor=(1, 1))
    return figure


def converged() -> plt.Figure:
    """How much the angle errors change from a tolerance of 1e-9 to 1e-10."""
    figure, (axes,) = panels()
    found = {}
    for friction_, name in ((True, "with friction"), (False, "without")):
        pairs = [(largest(s, 3, friction_), largest(s, 3, friction_, 1e-10)) for s in SETS]
        found[name] = [max(1e-12, float((np.abs(a - b) / b)[:2].max())) for a, b in pairs]
    bars(axes, [f"set {s}" for s in SETS], found, (BLUE, RED))
    axes.axhline(1e-3, color=GREY, ls=":")
    axes.set(
        yscale="log", ylabel="change of the angle errors", title="tolerance 1e-9 to 1e-10, case 3", ylim=(None, 10)
    )
    axes.legend(ncols=2)
    return figure


def mirrored() -> plt.Figure:
    """How far the manipulators are from mirror images, and what a start that differs by round-off does."""
    figure, (axes,) = panels()
    for data, colour in (("A", BLUE), ("B", RED)):
        run, T = motion(data, 3), library.SPACECRAFT_2026_DATA[data].duration
        apart = np.degrees(np.abs(run["angle"].sel(body="arm1") + run["angle"].sel(body="arm3")))
        axes.semilogy(run["time"] / T, np.maximum(apart, 1e-17), color=colour, lw=1, label=f"set {data}, mirror images")
        mechanism = library.spacecraft_2026(data, 3)
        nudged = mechanism.replace(start={**mechanism.start, "arm1": mechanism.start["arm1"] + NUDGE})
        other = simulate(nudged, T, STEPPER, every=T / KEPT, error=False)
        moved = np.degrees(np.abs(other["angle"].values - run["angle"].values).max(axis=1))
        axes.semilogy(
            run["time"] / T, np.maximum(moved, 1e-17), color=colour, lw=0.7, ls=":", label="start off 1e-15 rad"
        )
    axes.set(xlabel="time by its end", ylabel="difference (deg)", title="round-off that impacts amplify")
    axes.legend(fontsize=7, loc="upper left", bbox_to_anchor=(1, 1))
    return figure


def sampled() -> plt.Figure:
    """The peak acceleration of arm 1, by how often one looks."""
    figure, (axes,) = panels()
    true = float(np.degrees(peaks("A", 1).errors["angle_acceleration"]["arm1"]))
    fine = simulate(library.spacecraft_2026("A", 1), 5.0, STEPPER, every=1e-4, error=False)
    near = ideal("A").isel(time=slice(None, None, 2))["angle_acceleration"].sel(body="arm1").values
    off = np.degrees(np.abs(fine["angle_acceleration"].sel(body="arm1").values - near))
    grids = (1, 2, 5, 10, 20, 50, 100)
    axes.loglog([1e-1 * k for k in grids], [float(off[::k].max()) for k in grids], "o-", color=PURPLE)
    axes.axhline(true, color=GREY, ls=":", label=f"all steps: {true:.0f}")
    axes.set(xlabel="samples every (ms)", ylabel="peak acceleration (deg/s^2)", title="arm 1, set A, case 1")
    axes.legend()
    return figure
