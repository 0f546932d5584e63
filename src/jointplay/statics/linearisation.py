"""The linear system that an ideal mechanism is about a point, for the design of controllers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..model.control import Along, axis_of, use
from ..model.mechanism import Mechanism
from ..model.parts import ModelError, Problem
from ..physics.linear import linear
from ..physics.reduced import ideal
from ..run import Run
from ..system import System
from .assembly import sizes
from .cycle import undriven
from .degrees import freedom
from .starting import start

STILL = 1e-9  # of the accelerations that loads cause: less is rest


@dataclass(frozen=True)
class Linear:
    """x' = A (x - x0) + B (u - u0) + r and y = y0 + C (x - x0) + D (u - u0); it unpacks to A, B, C, D.

    `states`, `inputs` and `outputs` label rows and columns; `state`, `input` and `output` are x0, u0 and y0. The input
    is what holds the mechanism at the point as well as can be; `residual` is r, `text` says if it is no `equilibrium`.
    """

    A: np.ndarray
    B: np.ndarray
    C: np.ndarray
    D: np.ndarray
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    state: np.ndarray
    input: np.ndarray
    output: np.ndarray
    residual: np.ndarray
    equilibrium: bool
    text: str

    def __iter__(self) -> Iterator[np.ndarray]:
        return iter((self.A, self.B, self.C, self.D))


def linearise(
    mechanism: Mechanism | System,
    at: Mapping[str, float | str] | None = None,
    inputs: str | Sequence[Any] | None = None,
    outputs: str | Sequence[Any] | None = None,
    states: str | Sequence[Any] | None = None,
) -> Linear:
    """The ideal mechanism (without play and control) about a point as a linear system, drives held at time 0.

    at: start values in place of the mechanism's ("crank", "crank.rate"). inputs: where torques and forces act, as in
    `control.use`; those of its control loop unless given. states: as many coordinates as degrees of freedom, whose
    rates follow them; unless given, the inputs' if they are as many. outputs: coordinates and rates ("slider.x.rate");
    the states' coordinates unless given.

    >>> from jointplay.model import library
    >>> arm = linearise(library.pendulum(length=1.0, mass=2.0), at={"bar1": 0.0}, inputs="bar1")
    >>> arm.input.round(9), arm.B.round(9)[1]  # it holds m g l/2; 1/(m l^2/3)
    (array([9.81]), array([1.5]))
    """
    given = mechanism.given if isinstance(mechanism, System) else mechanism
    base = ideal(given.with_({f"start.{key}": x for key, x in at.items()}) if at else given)
    refuse_rough(base)
    system = System(base)
    q, v = start(system)
    free = freedom(system, q)
    if not free.degrees:
        raise ModelError(Problem(("drives",), "they leave the mechanism no degree of freedom; leave one out"))
    if free.passing:
        rows = ", ".join(free.passing)
        text = f"a singular position has no linear system: {rows} depend on others there, but not beside it; move it"
        raise ModelError(Problem(("start",), text))
    acting = listed(inputs)
    if inputs is None and given.control:
        acting = [{"kind": x.kind, "of": x.of} for x in given.control.actuators.values()]
    axes = listed(states) or (acting if len(acting) == free.degrees else undriven(system, q))
    if len(axes) != free.degrees:
        raise ModelError(Problem(("states",), f"there are {len(axes)} for {free.degrees} degrees of freedom"))
    about = _About(base, axes, acting, listed(outputs) or axes)
    return about.linear(about.run(q, v, free.redundant))


class _About:
    """The mechanism with a loop of its inputs, outputs and states, in which names are checked as in any loop."""

    def __init__(self, base: Mechanism, axes: list[Any], acting: list[Any], seen: list[Any]) -> None:
        self.rated = [isinstance(one, str) and one.endswith(".rate") for one in seen]
        read = [axis_of(one.removesuffix(".rate") if rate else one) for one, rate in zip(seen, self.rated, strict=True)]
        self.loop = use("open_loop", axes, actuators=acting or axes[:1], sensors=read)  # which needs an actuator
        self.system = System(base.replace(control=self.loop))
        self.n, self.m, self.k = len(axes), len(acting), len(seen)
        self.numbers: dict[str, Any] = dict(self.system.parameters)

    def run(self, q: np.ndarray, v: np.ndarray, redundant: Sequence[str]) -> Run:
        """The program that computes the point q, v, and the slopes there."""
        inputs = [0.0] * len(self.loop.actuators)
        along = [0.0] * (2 * self.n) + inputs
        for part, values in (("at", q), ("rate", v), ("input", inputs), ("along", along)):
            self.numbers |= {f"{part}.{i}": float(x) for i, x in enumerate(values)}
        self.numbers["moved"] = 0.0
        marked = list(zip(self.loop.sensors.values(), self.rated, strict=True))
        kind = "linear", redundant, tuple(self.rated)
        made = self.system.traced_as(kind, lambda: linear(self.system.equations(redundant), marked), {}, self.numbers)
        return Run(made, self.numbers, quick=True)

    def found(self, run: Run, u: Sequence[float] | np.ndarray, which: range) -> tuple[np.ndarray, ...]:
        """States with accelerations, outputs, and the slopes of accelerations and outputs along some of the states and
        inputs, under inputs u."""
        n, k, rows = self.n, self.k, []
        run.start(0, self.numbers | {f"input.{i}": float(x) for i, x in enumerate(u)})
        for i in which:
            run[f"along.{i}"] = 1.0
            rows.append(run.once("linear"))
            run[f"along.{i}"] = 0.0
            if not np.isfinite(rows[-1]).all() or rows[-1][0] > 1e-9:
                names = ", ".join(map(label, self.loop.coordinates.values()))
                text = f"{names} do not determine the mechanism's motion there; give others, or another point"
                raise ModelError(Problem(("states",), text))
        slopes = np.array([row[1 + 3 * n + k :] for row in rows]).T
        return rows[0][1 : 1 + 3 * n], rows[0][1 + 3 * n : 1 + 3 * n + k], slopes

    def linear(self, run: Run) -> Linear:
        """The linear system about the point, with the inputs that hold it there as well as they can."""
        n, m = self.n, self.m
        motion, _, slopes = self.found(run, [], range(2 * n, 2 * n + m) or range(1))
        pulled, push = motion[2 * n :], slopes[:n, :m]
        u = np.linalg.lstsq(push, -pulled, rcond=1e-12)[0]
        motion, output, slopes = self.found(run, u, range(2 * n + m))
        residual = motion[n:]
        still = STILL * (
            np.abs(pulled).max() + math.hypot(*self.system.mechanism.gravity) / sizes(self.system)[0] + 1.0
        )
        rest = bool(np.abs(residual).max() <= still)
        names = [label(axis) for axis in self.loop.coordinates.values()]
        states = (*names, *(f"{name}.rate" for name in names))
        moving = [f"d({name})/dt = {x:.6g}" for name, x in zip(states, residual, strict=True) if abs(x) > still]
        marked = zip(self.loop.sensors.values(), self.rated, strict=True)
        return Linear(
            A=np.vstack([np.eye(n, 2 * n, n), slopes[:n, : 2 * n]]),
            B=np.vstack([np.zeros((n, m)), slopes[:n, 2 * n :]]),
            C=slopes[n:, : 2 * n],
            D=slopes[n:, 2 * n :],
            states=states,
            inputs=tuple(label(axis) for axis in list(self.loop.actuators.values())[:m]),
            outputs=tuple(label(axis) + (".rate" if rate else "") for axis, rate in marked),
            state=motion[: 2 * n],
            input=u,
            output=output,
            residual=residual,
            equilibrium=rest,
            text="an equilibrium" if rest else f"no equilibrium: {', '.join(moving)}",
        )


def label(axis: Along) -> str:
    """The name of a coordinate: that of a body or joint if it is an angle."""
    return axis.of if axis.turns else f"{axis.of}.{axis.kind}"


def listed(given: Any) -> list[Any]:
    """One or several as a list."""
    return [] if given is None else [given] if isinstance(given, str | Mapping) else list(given)


def refuse_rough(mechanism: Mechanism) -> None:
    """Refuse what has no linear system."""
    for name, drive in mechanism.drives.items():
        if drive.at_rate:
            raise ModelError(Problem(("drives", name), "a rate drive has no position to hold; drive the angle instead"))
    for name, joint in mechanism.joints.items():
        if joint.pin_law():
            text = "linear systems know no friction of pins; leave it out"
            raise ModelError(Problem(("joints", name, "pin_friction"), text))
