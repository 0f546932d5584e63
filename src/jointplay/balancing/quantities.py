"""Shaking force, shaking moment, drive torques and bearing loads over a motion, as rows in the parameters."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InputError
from ..model.mechanism import Mechanism
from ..model.repeats import drive_period
from ..model.units import RATE, UnitError, parse_quantity
from ..physics.reduced import ideal
from ..statics.assembly import RANK, assemble
from ..statics.cycle import ROUNDS, follow, rounds, undriven
from ..statics.degrees import freedom
from ..statics.drives import period
from ..system import System
from .demands import parameters, pulls
from .frames import Frames
from .instants import SAMPLES, seen
from .shaking import refuse_passages

SAME = 1e-9  # of a time, or of a period: equal
EVEN, ALIKE = 1e-6, 0.3  # steps that are the same; bends of a smooth curve at neighbours, the least by the largest
QUANTITIES = ("force", "moment", "torque", "bearing")
UNITS = {"force": "N", "moment": "N m", "torque": "N m", "bearing": "N"}


@dataclass(frozen=True)
class MotionSignals:
    """Signals over a motion as rows: (times, components, parameters + 1), the last column being constant.

    force: shaking force (x, y); moment: shaking moment; torque: of each drive; bearing: forces of all joints (x, y
    beside each other, a joint after the other).
    """

    mechanism: Mechanism
    times: np.ndarray
    path: np.ndarray  # coordinates at these times
    rows: Mapping[str, np.ndarray]
    drives: list[str]
    joints: list[str]
    weights: np.ndarray  # the share of the motion that each time stands for
    note: str = ""  # on what is not in it

    def unit(self, quantity: str) -> str:
        """The unit of a quantity: drives along a line have forces."""
        efforts = sorted({self.mechanism.drives[name].effort_unit for name in self.drives})
        return " or ".join(efforts) if quantity == "torque" and efforts else UNITS[quantity]

    def signal(self, quantity: str, theta: np.ndarray) -> np.ndarray:
        """A quantity over time for parameters: (times, components)."""
        found = self.rows[quantity]
        return np.asarray(found[..., :-1] @ theta + found[..., -1])

    def sizes(self, quantity: str, theta: np.ndarray) -> np.ndarray:
        """The size of a quantity at each time; of bearings the largest of all joints, of drives all together."""
        signal = self.signal(quantity, theta)
        if quantity == "bearing":
            return np.asarray(np.hypot(signal[:, 0::2], signal[:, 1::2]).max(axis=1, initial=0.0))
        return np.asarray(np.linalg.norm(signal, axis=1))

    def peak(self, quantity: str, theta: np.ndarray) -> float:
        """The largest size over the motion, between its times too where it is smooth."""
        signal = self.signal(quantity, theta)
        if quantity == "bearing":
            return top(self.times, np.hypot(signal[:, 0::2], signal[:, 1::2]))
        return top(self.times, np.linalg.norm(signal, axis=1)[:, None])

    def rms(self, quantity: str, theta: np.ndarray) -> float:
        """The root of the mean square over the motion: of the force, the moment, all torques, all bearing forces."""
        return math.sqrt(max(self.square(quantity, theta), 0.0))

    def square(self, quantity: str, theta: np.ndarray) -> float:
        """The mean square over the motion."""
        return float(self.weights @ (self.signal(quantity, theta) ** 2).sum(axis=1))

    def of(self, mechanism: Mechanism) -> dict[str, float]:
        """The numbers by which designs are compared, for the same mechanism with other masses: what a Monte Carlo of
        tolerances asks for each sample.  Lengths must be the same."""
        return self.measures(parameters(mechanism))

    def measures(self, theta: np.ndarray) -> dict[str, float]:
        """The numbers by which designs are compared, from parameters."""
        return {
            "shaking_force_peak": self.peak("force", theta),
            "shaking_force_rms": self.rms("force", theta),
            "shaking_moment_peak": self.peak("moment", theta),
            "torque_rms": self.rms("torque", theta),
        }


def top(times: np.ndarray, curves: np.ndarray) -> float:
    """The largest value of curves (times, curves): of the parabola through a largest sample and its neighbours where
    these are equally far apart and the curve bends alike beside it (a jump or a kink does not)."""
    most = float(curves.max(initial=0.0))
    if len(times) < 5:
        return most
    step, bends = np.diff(times), -np.diff(curves, 2, axis=0)
    bend = np.stack([bends[:-2], bends[1:-1], bends[2:]])
    rise = curves[3:-1] - curves[1:-3]
    near = np.stack([step[:-3], step[1:-2], step[2:-1], step[3:]])
    even = np.ptp(near, axis=0) <= EVEN * near.max(axis=0)
    inside = np.abs(rise) <= bend[1]  # the vertex is within half a step
    smooth = even[:, None] & inside & (bend.min(axis=0) > ALIKE * bend.max(axis=0))
    tops = curves[2:-2] + rise**2 / np.where(smooth, 8 * bend[1], np.inf)
    return max(most, float(tops.max(initial=0.0)))


def motion(
    mechanism: Mechanism | System, times: Any = None, pole: complex = 0j, samples: int = SAMPLES
) -> MotionSignals:
    """The signals of a fully driven mechanism at times (s), until a time, or by default over the period of its drives
    and forces: at so many samples, or more if something moves faster than they see.

    Play in joints is closed: what is balanced is the ideal mechanism.
    """
    base = ideal(mechanism.given if isinstance(mechanism, System) else mechanism)
    whole, note = cycle(base)
    if times is None and whole is None:
        raise InputError(
            f"mechanism {base.name!r}: its drives do not repeat, so there is no period to look at; give times"
        )
    if times is None and whole is not None:
        whole, note = come_round(base, whole, note)
    at = np.asarray(whole if times is None else times, float)
    system = System(base, max(float(at.max(initial=0.0)), 10.0))
    path, states = follow(system, at) if at.ndim else seen(system, float(at), times is None, samples)
    at = np.array([state.t for state in states])
    refuse_passages(system, path.passages)
    q, v, a = (np.array([getattr(state, part) for state in states]) for part in "qva")
    frames = Frames.of(base, q, v, a)
    n, columns = len(base.bodies), len(parameters(base)) + 1
    rows = {key: np.zeros((len(at), size, columns)) for key, size in (("force", 2), ("moment", 1))}
    force = -frames.force()
    rows["force"][:, 0, : 4 * n], rows["force"][:, 1, : 4 * n] = force.real, force.imag
    rows["moment"][:, 0, : 4 * n] = -frames.moment(pole)
    owners = [base.owner(row) for row in system.rows]
    drives = [name for name in owners if name in base.drives]
    acting = [i for i, name in enumerate(owners) if name in base.drives]
    joints = [name for name, joint in base.joints.items() if joint.points]
    carried = [3 * i + k for i, name in enumerate(base.joints) if name in joints for k in (0, 1)]
    torque, bearing = [], []
    own = frames.own(complex(*base.gravity))
    for i, state in enumerate(states):
        solved = _multipliers(base, system, state, own[0][i], own[1][i])
        torque.append(solved[acting])
        bearing.append(state.equations.reactions[carried] @ solved)
    rows["torque"] = np.array(torque).reshape(len(at), len(acting), columns)
    rows["bearing"] = np.array(bearing).reshape(len(at), len(carried), columns)
    return MotionSignals(base, at, q, rows, drives, joints, weights(at, whole), note if times is None else "")


def cycle(mechanism: Mechanism) -> tuple[float | None, str]:
    """The time (s) after which drives and forces repeat (two turns of a four-stroke engine); where they never do
    together, that of the drives, and a note."""
    try:
        return drive_period(mechanism.replace(control=None)), ""
    except InputError as error:
        found = period(mechanism)
        why = str(error).partition(";")[0]
        return found, "" if found is None else f"over {found:g} s, the period of the drives, for {why}"


def come_round(mechanism: Mechanism, whole: float, note: str) -> tuple[float, str]:
    """The time (s) after which all bodies are back where they began, some periods of drives and forces, with a note if
    that takes too long."""
    if (count := rounds(System(mechanism, max(ROUNDS * whole, 10.0)), whole)) is not None:
        return count * whole, note
    more = (
        f"over {whole:g} s, the period of the drives: not all bodies are back then, nor in {ROUNDS} of them; give times"
    )
    return whole, f"{note}; {more}" if note else more


def weights(times: np.ndarray, whole: float | None) -> np.ndarray:
    """The share of a motion that each of its times stands for: half the way to both neighbours; the same where equal
    steps go round whole periods, the last of them back to the first time."""
    steps = np.diff(times)
    rounds = (times[-1] - times[0] + steps[0]) / whole if whole and len(steps) else 0.5
    if (
        (steps <= 0).any()
        or not len(steps)
        or (np.ptp(steps) <= SAME * times[-1] and abs(rounds - round(rounds)) <= SAME)
    ):
        return np.full(len(times), 1 / len(times))
    found = (np.append(steps, 0.0) + np.append(0.0, steps)) / 2
    return np.asarray(found / found.sum())


def _multipliers(base: Mechanism, system: System, state: Any, force: np.ndarray, moment: np.ndarray) -> np.ndarray:
    """The multipliers at a state as rows in the parameters, by balance about the origins of the frames."""
    n = len(base.bodies)
    springs = pulls(base, system.coordinates, state.q)
    Y = np.zeros((3 * n, 4 * n + springs.shape[1] + 1))
    for i in range(n):
        Y[3 * i, 4 * i : 4 * i + 4], Y[3 * i + 1, 4 * i : 4 * i + 4] = force[i].real, force[i].imag
        Y[3 * i + 2, 4 * i : 4 * i + 4] = moment[i]
    Y[:, 4 * n : -1] = -springs
    e = state.equations
    B = e.B.copy()
    need = np.diag(e.M) * state.a - e.F
    arms = np.exp(1j * state.q[2::3]) * np.array([complex(*body.whole()[1]) for body in base.bodies.values()])
    for i, arm in enumerate(arms):  # rates of the mass centre from those of the origin
        x, y, turn = 3 * i, 3 * i + 1, 3 * i + 2
        B[:, turn] += -arm.imag * B[:, x] + arm.real * B[:, y]
        need[turn] += -arm.imag * need[x] + arm.real * need[y]
    Y[:, -1] = need - Y[:, :-1] @ parameters(base)  # loads and dampers
    return np.asarray(np.linalg.lstsq(B.T, Y, rcond=RANK)[0])


def moving(mechanism: Mechanism, text: str | None = None) -> Mechanism | None:
    """The mechanism with a motion: its own drives, or those of a text such as "crank=60 rpm"; without both, its one
    degree of freedom turns at 1 rad/s; None if it has several."""
    if text is not None:
        drives: dict[str, Any] = {}
        for part in text.split(","):
            name, equals, value = part.partition("=")
            if not equals or not value.strip():
                raise InputError(f"motion {text!r}: must be BODY=SPEED, as in 'crank=60 rpm'")
            known = {*mechanism.bodies, *(n for n, j in mechanism.joints.items() if j.driven_along("angle"))}
            if name.strip() not in known:
                from ..model.parts import suggestion

                raise InputError(
                    f"motion {text!r}: no body or revolute joint {name.strip()!r}{suggestion(name.strip(), known)}"
                )
            try:
                speed = parse_quantity(value, RATE)
            except UnitError as error:
                raise InputError(f"motion {text!r}: {error}") from None
            drives[f"{name.strip().replace('.', '_')}_speed"] = _turning(mechanism, name.strip(), speed)
        return mechanism.replace(drives=drives)
    if mechanism.drives:
        return mechanism
    system = System(ideal(mechanism))
    q = assemble(system)
    if freedom(system, q).degrees != 1:
        return None
    [first] = undriven(system, q)
    return mechanism.replace(drives={"turning": _turning(mechanism, first, 1.0)}) if first in mechanism.bodies else None


def _turning(mechanism: Mechanism, of: str, speed: float) -> dict[str, Any]:
    """A drive at a constant speed (rad/s) from where the mechanism starts."""
    system = System(ideal(mechanism).replace(drives={}))
    q = assemble(system)
    at = dict(zip(system.coordinates, q, strict=True))
    if of in mechanism.bodies:
        begin = at[f"{of}.angle"]
    else:
        ends = [mechanism.owner(end) for end in mechanism.joints[of].between]
        first, second = (0.0 if end == "ground" else float(at[f"{end}.angle"]) for end in ends)
        begin = second - first
    return {"kind": "angle", "of": of, "motion": {"kind": "constant_speed", "speed": speed, "start": float(begin)}}
