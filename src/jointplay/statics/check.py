"""What a person should know of a mechanism before it is computed: freedom, assembled state, doubtful data."""

from __future__ import annotations

import html
import math
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..elements import Following, Joint
from ..model.checks import assumed, implausible, misread, unused
from ..model.mechanism import Mechanism
from ..model.parts import ModelError
from ..model.starts import start_text, started
from ..parts.motions import Sum
from ..parts.tables import Table
from ..parts.units import spoken
from ..physics.dynamics import Equations
from ..system import System
from .assembly import adrift, weakest
from .branches import assemblies
from .chosen import chosen
from .degrees import Freedom, freedom
from .drives import Followed, followed, off_the_bar
from .loops import loop_doubts
from .readable import plays, readable, shown
from .starting import FAR, TOLD, closed, leaning, play_unit, start
from .within import leant

APART = 1e-3  # m or rad: what differs by more is another assembly; loose joints start beside the ideal ones
SWINGS = 0.1  # of the range of a table's values: a spline that goes further beyond them is told
LISTED = 6  # of other assemblies on a page
SOLE = 1e-6  # rad, or of the size of a coordinate: where nothing else says where it starts, more than this is told
SINGULAR = 1e-3  # conditioning below this is called near singular


@dataclass(frozen=True, repr=False)
class Check:
    """The findings of `check`; `text()` puts them on a page."""

    mechanism: Mechanism
    coordinates: tuple[str, ...]
    rows: tuple[str, ...]
    q: np.ndarray
    v: np.ndarray
    freedom: Freedom
    warnings: tuple[str, ...]
    drives: str = ""  # what following them over their period showed
    branches: tuple[str, ...] = ()  # other ways in which it can be assembled
    notes: tuple[str, ...] = ()  # no reason to worry: start values that only chose a way to assemble it, defaults

    def __repr__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        return f'<pre style="white-space:pre;overflow-x:auto">{html.escape(self.text())}</pre>'

    @property
    def degrees(self) -> int:
        """Degrees of freedom by rank."""
        return self.freedom.degrees

    def text(self) -> str:
        """A page for people."""
        m, f = self.mechanism, self.freedom
        numbers = {kind: len(getattr(m, kind)) for kind in ONE}
        counts = ", ".join(f"{n} {kind if n > 1 else ONE[kind]}" for kind, n in numbers.items() if n)
        head = [
            ("mechanism", m.name),
            ("", counts),
            ("degrees of freedom", f"{f.degrees} ({f.coordinates} coordinates, {f.rows} constraints of rank {f.rank})"),
        ]
        if f.counted != f.degrees:
            head.append(("", f"counted without the rank: {f.counted}"))
        if f.redundant:
            head.append(("redundant", f"{', '.join(f.redundant)} (these constraints follow from those before them)"))
        head += plays(m)
        head.append(("conditioning", f"{f.conditioning:.2g} (1 is best, 0 is a singular position)"))
        head += [("drives", self.drives)] if self.drives else []
        more = len(self.branches) - LISTED
        for i, branch in enumerate((*self.branches[:LISTED], *([f"and {more} more"] if more > 0 else []))):
            head.append(("" if i else "other assemblies", branch))
        lines = [f"{name:<20}{value}".rstrip() for name, value in head]
        width = max(len(name) for name in (*m.bodies, "start"))
        places, unit = readable(self.q)
        heads = (f"x/{unit}", f"y/{unit}", "angle/deg", "x'/(m/s)", "y'/(m/s)", "rate/(rad/s)")
        lines += ["", f"{'start':<{width}}" + "".join(f"{c:>13}" for c in heads)]
        for i, body in enumerate(m.bodies):
            state = (*places[3 * i : 3 * i + 3], *self.v[3 * i : 3 * i + 3])
            lines.append(f"{body:<{width}}" + "".join(f"{shown(value):>13}" for value in state))
        lines += ["", *(f"note: {note}" for note in self.notes)]
        lines += [f"warning: {warning}" for warning in self.warnings] or ["no warnings"]
        return "\n".join(lines)


ONE = {"bodies": "body", "joints": "joint", "drives": "drive", "forces": "force"}


def check(model: Mechanism | System) -> Check:
    """Assembles the mechanism, counts its degrees of freedom and looks for doubtful data.

    >>> from jointplay.model import library
    >>> check(library.wu_2017()).warnings[0][:75]
    'link1.inertia = 0.00817 kg m^2 is 4 times that of a uniform bar about its c'
    """
    mechanism = model.mechanism if isinstance(model, System) else model
    system, loose = _attached(model)
    q, v = start(system)
    found = freedom(system, q)
    around = followed(system)
    warnings = (
        *_position(system, q, found),
        *_driven(mechanism, around),
        *_inertias(mechanism),
        *doubts(system, q, v),
        *_steered(system, q, found),
        *implausible(mechanism),
        *(f"the source: {remark}" for remark in mechanism.remarks),
    )
    notes = *guessed(system, q, least=TOLD).values(), *leant(system, q), *assumed(mechanism)
    warnings = tuple(text for text in warnings if text not in notes)
    text = "" if around is None else around.text()
    branches = tuple(_branches(system, q))
    q, v, found = _with_free(mechanism, system, loose, q, v, found)
    coordinates = tuple(f"{body}.{c}" for body in mechanism.bodies for c in ("x", "y", "angle"))
    return Check(mechanism, coordinates, tuple(system.rows), q, v, found, warnings, text, branches, notes)


def _branches(system: System, q: np.ndarray) -> Iterator[str]:
    """Other ways in which a mechanism can be assembled with its start values, by the bodies that differ."""
    for other in assemblies(closed(system)):
        turned = [math.remainder(b - a, math.tau) for a, b in zip(q[2::3], other[2::3], strict=True)]
        moved = np.abs(other - q).reshape(-1, 3)[:, :2].max(axis=1)
        told = []
        for i, body in enumerate(system.mechanism.bodies):
            x, y, angle = other[3 * i : 3 * i + 3]
            if abs(turned[i]) > APART:
                told.append(f"{body} {shown(math.degrees(math.remainder(angle, math.tau)))} deg")
            elif moved[i] > APART:
                size, unit = spoken("m", max(abs(x), abs(y)))
                told.append(f"{body} ({shown(x / size)}, {shown(y / size)}) {unit}")
        if told:
            yield ", ".join(told)


def _attached(model: Mechanism | System) -> tuple[System, list[str]]:
    """The system of a mechanism without its free bodies, and their names: they start where the start says, and their
    equations, which may be many, are not asked for."""
    if isinstance(model, System):
        return model, []
    plain = model.plain()
    used = _words(model, {key: value for key, value in plain.items() if key not in ("bodies", "start", "name")})
    free = [body for body in model.bodies if body not in used]
    if len(free) == len(model.bodies):
        free = free[1:]  # a mechanism has a body
    if not free:
        return System(model), []
    bodies = {name: body for name, body in model.bodies.items() if name not in free}
    start = {key: x for key, x in model.start.items() if started(key)[0] in bodies}
    return System(model.replace(bodies=bodies, start=start)), free


def _words(model: Mechanism, plain: Any) -> set[str]:
    """The names of bodies, and other texts, that some part of a model holds."""
    if isinstance(plain, dict):
        return {word for pair in plain.items() for part in pair for word in _words(model, part)}
    if isinstance(plain, list | tuple):
        return {word for part in plain for word in _words(model, part)}
    return {plain, model.owner(plain)} if isinstance(plain, str) else set()


def _with_free(
    mechanism: Mechanism, system: System, free: list[str], q: np.ndarray, v: np.ndarray, found: Freedom
) -> tuple[np.ndarray, np.ndarray, Freedom]:
    """State and freedom of the whole mechanism: free bodies are where, and as fast as, the start says."""
    if not free:
        return q, v, found
    known = {name: (q[i], v[i]) for i, name in enumerate(system.coordinates)}
    begun = mechanism.start
    for body in free:
        known[f"{body}.angle"] = (begun.get(body, 0.0), begun.get(f"{body}.rate", 0.0))
        for axis in "xy":
            known[f"{body}.{axis}"] = (begun.get(f"{body}.{axis}", 0.0), begun.get(f"{body}.{axis}.rate", 0.0))
    pairs = np.array([known[f"{body}.{c}"] for body in mechanism.bodies for c in ("x", "y", "angle")])
    return pairs[:, 0], pairs[:, 1], replace(found, coordinates=len(pairs))


def _driven(mechanism: Mechanism, around: Followed | None) -> Iterator[str]:
    """Drives that cannot be followed over their period, and bores that they take off their bars."""
    if around is not None and around.problem is not None:
        yield str(around.problem)
    elif around is not None:
        yield from off_the_bar(mechanism, around)


def _steered(system: System, q: np.ndarray, found: Freedom) -> list[str]:
    """What is odd about the control loop, over ten seconds."""
    try:
        return loop_doubts(system, q, found.degrees, 10.0)
    except ModelError as error:
        return [str(problem) for problem in error.problems]


def doubts(system: System, q: np.ndarray, v: np.ndarray) -> Iterator[str]:
    """What is odd about the state in which a mechanism starts; runs note it too."""
    yield from _prescribed(system.mechanism)
    yield from guessed(system, q, least=FAR).values()
    yield from chosen(system, q)
    yield from _whirls(system, q, v)
    yield from unused(system.mechanism)
    yield from _tables(system.given)
    yield from misread(system.mechanism)
    yield from assumed(system.mechanism)
    yield from _idle(system.mechanism)
    here = system.evaluate(q, v)
    for label, gap in zip(system.contacts, here.gaps, strict=True):
        if gap < -1e-9 and not (system.leaning is not None and np.array_equal(q, system.leaning)):
            deep = f"{-gap:.3g} {play_unit(system, label)}"
            yield f"the start penetrates {label!r} by {deep}; give other or fewer values, or --reclose"


def _idle(mechanism: Mechanism) -> Iterator[str]:
    """Bodies in a guide on the ground that nothing moves along it, where others do move."""
    plain = mechanism.plain()
    used = _words(mechanism, {key: plain[key] for key in ("drives", "forces", "control", "start") if key in plain})
    attached: dict[str, dict[str, Joint]] = {body: {} for body in mechanism.bodies}
    for name, joint in mechanism.joints.items():
        for body in {*joint.bodies()} & attached.keys():
            attached[body][name] = joint
    for body, own in attached.items() if len(attached) > 1 else ():
        if len(own) > 1 or used & {body, *own}:
            continue
        for name, joint in own.items():
            axis = getattr(joint, "axis", None)
            if joint.moves == "position" and "ground" in joint.bodies() and axis is not None:
                pulled = abs(np.dot(axis, mechanism.gravity)) > 1e-9 * np.linalg.norm(mechanism.gravity)
                if not pulled:
                    yield f"body {body!r} is held by {name!r} alone, and nothing moves it along; is a pin missing?"


def whirls(system: System, q: np.ndarray, v: np.ndarray, t: float = 0.0) -> dict[str, float]:
    """How fast the journals in permanent contact go round their bearings (m/s), by their joints."""
    text = Equations(system.mechanism, lambda address: system.parameters.get(address, 0))
    found = {}
    with np.errstate(all="ignore"):
        pair = [text.pose(list(at), t) for at in (q, q + 1e-7 * v)]
        for name, joint in system.mechanism.loose(Following).items():
            first, second = (pose.between(joint.between) for pose in pair)
            found[name] = math.hypot(float(second.x - first.x), float(second.y - first.y)) / 1e-7
    return found


def _whirls(system: System, q: np.ndarray, v: np.ndarray) -> Iterator[str]:
    """Journals in permanent contact that start fast round their bearings."""
    fastest = max([float(np.abs(v[0::3]).max()), float(np.abs(v[1::3]).max())]) if len(v) else 0.0
    for name, speed in whirls(system, q, v).items():
        if speed > 0.05 * fastest and speed > 1e-6:
            yield (
                f"joint {name!r}: its journal starts with {speed:.3g} m/s round the bearing; give other start rates, "
                "or let it start calm with `journals: loaded`"
            )


def _tables(mechanism: Mechanism) -> Iterator[str]:
    """Tables that swing far beyond their values, and motions of drives whose speed jumps."""
    for name, element in (*mechanism.drives.items(), *mechanism.forces.items()):
        for key, motion in element.given():
            for one in tables_in(motion):
                if one.interpolation == "cubic" and one.beyond() > SWINGS:
                    yield (
                        f"{name}.{key}: the cubic spline through its table goes beyond the values by "
                        f"{one.beyond():.3g} times their range; set interpolation: pchip or linear, or give more points"
                    )
                if name not in mechanism.drives or mechanism.drives[name].at_rate:
                    continue
                if one.interpolation == "linear":
                    yield f"{name}.{key}: the speed of a linear table jumps at its points; set interpolation: pchip"
                for end in one.stops():
                    yield f"{name}.{key}: the speed of a held table jumps at its end, t = {end:g} s; set ends: clamped"


def tables_in(motion: object) -> Iterator[Table]:
    """The tables of a motion: itself, or its terms."""
    if isinstance(motion, Table):
        yield motion
    elif isinstance(motion, Sum):
        for term in motion.terms:
            yield from tables_in(term)


def _position(system: System, q: np.ndarray, found: Freedom) -> Iterator[str]:
    if found.redundant:
        rows = ", ".join(found.redundant)
        yield f"{rows}: redundant, computed without; the reactions of the rows that they repeat are not unique"
    if found.passing:
        rows = ", ".join(found.passing)
        yield f"the start is a singular position: {rows} depend on other rows there, but not beside it; move the start"
    elif found.conditioning < SINGULAR:
        joints = weakest(system, system.evaluate(q).B, found.rank - 1)
        yield (
            f"the start is near a singular position (conditioning {found.conditioning:.1g}; joints "
            f"{joints}): reactions grow without bound there"
        )
    if found.degrees == 0 and not system.mechanism.drives:
        yield "no degree of freedom is left: nothing can move"


def _inertias(mechanism: Mechanism) -> Iterator[str]:
    sleeves = [joint for joint in mechanism.joints.values() if joint.sleeve()]
    bores = {mechanism.owner(joint.between[1]): joint.sleeve() for joint in sleeves}
    for name, body in mechanism.bodies.items():
        points = np.array([*body.all_points().values()])
        reach = max(math.dist(a, b) for a in points for b in points)
        if body.inertia == 0:
            yield f"{name}.inertia is 0: a point mass; its angle has no equation of motion of its own"
        elif body.length is not None and math.isclose(body.centre[0], body.length / 2, rel_tol=0.05):
            uniform = body.mass * body.length**2 / 12
            if not 1 / 3 <= body.inertia / uniform <= 3:
                about = " (m L^2/3 is about its end)" if math.isclose(body.inertia, 4 * uniform, rel_tol=0.05) else ""
                yield (
                    f"{name}.inertia = {body.inertia:g} kg m^2 is {body.inertia / uniform:.3g} times that of a uniform "
                    f"bar about its centre, {uniform:.3g}{about}"
                )
        elif name in bores and body.inertia < body.mass * bores[name] ** 2 / 12:
            yield (
                f"{name}.inertia = {body.inertia:g} kg m^2 is {12 * body.inertia / body.mass / bores[name] ** 2:.3g} "
                f"times that of a thin tube as long as its bore, {body.mass * bores[name] ** 2 / 12:.3g}: is it about "
                "the long axis?"
            )
        elif 0 < body.mass * reach**2 < body.inertia:
            yield (
                f"{name}.inertia = {body.inertia:g} kg m^2 is more than its mass at {reach:.3g} m, the greatest "
                f"distance of its points, has ({body.mass * reach**2:.3g})"
            )


def _prescribed(mechanism: Mechanism) -> Iterator[str]:
    driven = {(drive.of, drive.prescribes): name for name, drive in mechanism.drives.items()}
    for key in mechanism.start:
        body, rest = started(key)
        moves = {".rate": "angle", ".x.rate": "x", ".y.rate": "y"}.get(rest, "")
        if (body, moves) in driven:
            yield f"start {key} is given, but drive {driven[body, moves]!r} prescribes it; leave it out"


def guessed(system: System, q: np.ndarray, sure: Collection[str] = (), least: float = math.inf) -> dict[str, str]:
    """Start values that only chose how it is assembled, and a note on each: missed by more than `least` (rad, or of
    their size); by more than a millionth if they are all there is, but out of reach, or among those that are `sure`."""
    if not system.mechanism.loose(leaning(system.mechanism)) and adrift(system, q, by=SOLE):
        least = SOLE
    found = {}
    for key, given in system.mechanism.start.items():
        body, rest = started(key)
        i = -1 if key.endswith("rate") else system.coordinates.index(key if rest else f"{body}.angle")
        if i >= 0 and abs(q[i] - given) > (SOLE if key in sure else least) * system.sizes[i]:
            told, at = start_text(key, given), start_text(key, float(q[i]))
            text = f"is taken as a guess: joints, drives and the values before it put it at {at}"
            found[key] = f"start {key} = {told} {text}"
    return found


def matrix_text(system: System, q: ArrayLike, t: float = 0.0) -> str:
    """The matrix of constraints B at q as a table, its zeros as dots.

    >>> from jointplay.model import library
    >>> system = System(library.pendulum())
    >>> print(matrix_text(system, [0.5, 0.0, 0.0]))
             bar1
          x  y  angle
    J1.x  1  .      .
    J1.y  .  1   -0.5
    """
    B = system.evaluate(q, t=t).B
    cells = [["." if x == 0 else "0" if abs(x) < 1e-12 else f"{x:.4g}" for x in row] for row in B]
    parts = [c.rpartition(".")[2] for c in system.coordinates]
    widths = [max(len(cell) for cell in column) for column in zip(parts, *cells, strict=True)]
    for i, body in enumerate(system.mechanism.bodies):  # the body's name stands above its three columns
        lacking = len(body) - sum(widths[3 * i : 3 * i + 3]) - 4
        widths[3 * i + 2] += max(lacking, 0)
    left = max((len(row) for row in system.rows), default=0)

    def line(label: str, values: list[str]) -> str:
        groups = [
            "  ".join(f"{x:>{w}}" for x, w in zip(values[i : i + 3], widths[i : i + 3], strict=True))
            for i in range(0, len(values), 3)
        ]
        return f"{label:<{left}}  " + " | ".join(groups)

    bodies = [f"{body:^{sum(widths[3 * i : 3 * i + 3]) + 4}}" for i, body in enumerate(system.mechanism.bodies)]
    top = f"{'':<{left}}  " + " | ".join(bodies)
    return "\n".join(x.rstrip() for x in (top, line("", parts), *map(line, system.rows, cells)))
