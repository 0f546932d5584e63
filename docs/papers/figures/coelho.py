"""Figures of docs/papers/coelho.md."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from shared import BLUE, GREY, RED, bars, panels

from jointplay.model import library
from jointplay.papers._coelho_arms import GAMMAS, LENGTHS, PIVOT
from jointplay.papers.coelho import ANGLES, break_even, controlled, inverse, joint_motions, judged, rms
from jointplay.papers.coelho_claims import margin
from jointplay.statics import Coordinates, reduced
from jointplay.system import System

BOTH = ((False, RED, "unbalanced"), (True, BLUE, "balanced"))


def counterweights() -> plt.Figure:
    """The 5R with the counterweights of equation (87), in the middle of trajectory 1."""
    figure, (axes,) = plt.subplots(1, 1, figsize=(5.2, 2.3), squeeze=False)[0], plt.gcf().axes
    angles = [float(angle(2.5)) for angle in joint_motions("T1")]
    for pivot, (first, second) in ((-PIVOT, angles[:2]), (PIVOT, angles[2:])):
        at = np.array([pivot, 0.0])
        for length, share, angle in zip(LENGTHS, GAMMAS, (first, first + second), strict=True):
            way = length * np.array([np.cos(angle), np.sin(angle)])
            axes.plot(*np.transpose([at, at + way]), "o-", color=BLUE, ms=4, lw=3)
            weight = at - share * way
            axes.plot(*np.transpose([at, weight]), color=GREY, lw=1)
            axes.plot(*weight, "s", color=RED, ms=7)
            at = at + way
    axes.set(aspect="equal", xlabel="x (m)", ylabel="y (m)", title="counterweights of 1 kg (squares), to scale")
    return figure


def terms() -> plt.Figure:
    """Gyroscopic and weight terms along trajectory 2, in redundant rates."""
    figure, (left, right) = panels(2)
    for balanced, colour, name in BOTH:
        times, found = _terms(balanced)
        left.plot(times, [float(np.abs(t.D).max()) for t in found], color=colour, label=name)
        right.plot(times, [float(np.abs(t.z).max()) for t in found], color=colour, label=name)
    left.set(xlabel="time (s)", ylabel="largest term of D (kg m^2)", title="gyroscopic terms")
    right.set(xlabel="time (s)", ylabel="largest term of z (N m)", title="weight terms")
    left.legend()
    return figure


def sliding() -> plt.Figure:
    """The error under sliding mode in all four cases, and the margin."""
    figure, axes = panels(3, (1.2, 1.2, 0.8))
    for one, path in zip(axes, ("T1", "T2"), strict=False):
        for balanced, colour, name in BOTH:
            run, error = controlled(path, balanced)
            one.semilogy(run["time"], error, color=colour, lw=1, label=name)
        one.set(xlabel="time (s)", title=f"trajectory {path[1]}")
    axes[0].set_ylabel("norm of the error (rad)")
    axes[1].legend()
    axes[2].bar(("unbalanced", "balanced"), [margin(False), margin(True)], color=(RED, BLUE))
    axes[2].set(title="margin of convergence")
    return figure


def rates() -> plt.Figure:
    """The residuals of the tests of balance in redundant and independent rates."""
    figure, (axes,) = panels()
    tests = ("static", "gyroscopic", "decoupling")
    found = {
        f"{which} rates": [max(1e-17, float(judged(which)[t].residual)) for t in tests]
        for which in ("redundant", "independent")
    }
    bars(axes, tests, found, (BLUE, RED))
    axes.set(yscale="log", ylabel="residual of the test", title="the balanced 5R", ylim=(1e-17, 1e3))
    axes.legend(ncols=2)
    return figure


def coupling() -> plt.Figure:
    """The entries of M of the balanced 5R along trajectory 2, in independent rates."""
    figure, (axes,) = panels()
    times, _, states, _ = inverse("T2", True)
    system, some = System(library.coelho_five_bar(True)), slice(None, None, 20)
    M = np.array([reduced(system, state.q, ["J1", "J5"]).M.values for state in states[some]])
    axes.plot(times[some], M[:, 0, 0], color=BLUE, label="M11")
    axes.plot(times[some], M[:, 1, 1], color=BLUE, ls="--", label="M22")
    axes.plot(times[some], M[:, 0, 1], color=RED, label="M12")
    axes.axhline(0, color=GREY, lw=0.8)
    axes.set(xlabel="time (s)", ylabel="inertia (kg m^2)", title="balanced 5R, trajectory 2")
    axes.legend(loc="upper left", bbox_to_anchor=(1, 1))
    return figure


def torques() -> plt.Figure:
    """Torques along both trajectories, and their rms over the rate of trajectory 2."""
    figure, axes = panels(3)
    for one, path, title in zip(axes, ("T1", "T2"), ("slow: they help", "fast: they do not"), strict=False):
        for balanced, colour, name in BOTH:
            times, u, _, _ = inverse(path, balanced)
            one.plot(times, u[:, 0], color=colour, lw=1, label=name)
        one.set(xlabel="time (s)", title=f"trajectory {path[1]}, {title}")
    axes[0].set_ylabel("torque u1 (N m)")
    axes[0].legend(loc="upper right", bbox_to_anchor=(1, 0.92))
    grown = np.linspace(0.0, 10.0, 41)
    for balanced, colour, _ in BOTH:
        times, u, states, _ = inverse("T2", balanced)
        chosen = Coordinates(library.coelho_five_bar(balanced), ["J1", "J5"])
        rest = np.array([-(chosen.complement(here).T @ here.F)[0] for here in (chosen.evaluate(s.q) for s in states)])
        axes[2].plot(grown, [rms(times, rest + (w / 7) ** 2 * (u[:, 0] - rest)) for w in grown], color=colour)
    axes[2].axvline(break_even(), color=GREY, ls=":")
    axes[2].set(xlabel="rate of trajectory 2 (rad/s)", ylabel="rms of u1 (N m)", title=f"equal at {break_even():.2f}")
    return figure


def _terms(balanced):
    times, _, states, _ = inverse("T2", balanced)
    system, some = System(library.coelho_five_bar(balanced)), slice(None, None, 20)
    return times[some], [reduced(system, state.q, ["J1", "J5"], ANGLES, ["J3"]) for state in states[some]]
