"""What a designer may change: counterweights, numbers of a body, springs, and geared counter-rotating inertias."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ..errors import InputError
from ..model.bodies import Body
from ..model.joints import Gear, Revolute
from ..model.mechanism import Mechanism
from ..model.parts import suggestion
from ..model.units import (
    INERTIA,
    LENGTH,
    MASS,
    NUMBER,
    Dimension,
    UnitError,
    parse_quantity,
)
from .demands import labels, parameters, sizes, springs, stiffness_unit
from .frames import apart, length

OPTION = re.compile(r"\s*([a-z_.]+)\s*(<=|>=|=)\s*(.+?)\s*")
DISC, LIGHT = 1 / 16, 1e-6  # of the mechanism: mass and inertia of a geared disc before it is designed
FAR = 10.0  # sizes of the body: counterweights stay within unless bounds say otherwise
ROUND_OFF = 1e-15  # of the size of a number: it is 0
NOWHERE = 1e-12  # sizes of the mechanism: places nearer to 0 are round-off
LEAST = 1e-6  # of the mass of all bodies, or of the most it may have: the least mass of a body
NO_BOUNDS = (-math.inf, math.inf)
HEAVY = 100.0  # times the mass of all bodies: the most a counterweight has unless bounds say otherwise
_UNITS = {"mass": MASS, "x": LENGTH, "y": LENGTH, "radius": LENGTH, "inertia": INERTIA, "ratio": NUMBER}


@dataclass(frozen=True)
class Variable:
    """A number that may change: its address, bounds, first value, and its size by those of the mechanism."""

    address: str
    low: float
    high: float
    value: float
    size: float


@dataclass(frozen=True)
class Adjustable:
    """One thing that may be adjusted, as asked for: a body's counterweight, its geared inertia, a spring or a number.

    options: bounds and fixed values by key: (lowest, highest).
    """

    element: str
    kind: str  # counterweight, geared, spring, number
    options: Mapping[str, tuple[float, float]] = field(default_factory=dict)


def adjustables(mechanism: Mechanism, asked: str | Iterable[str | Adjustable]) -> list[Adjustable]:
    """What is meant by a text such as "crank:radius=80mm,mass<=2kg,rocker": bodies (their counterweights), bodies with
    `.geared` (an inertia geared to them), springs (their stiffness) or addresses, each with bounds.

    >>> from jointplay.model import library
    >>> [one.kind for one in adjustables(library.four_bar(), "crank:radius=80 mm,rocker.geared,coupler.mass<=2kg")]
    ['counterweight', 'geared', 'number']
    """
    found: list[tuple[str, dict[str, tuple[float, float]]]] = []
    given = [asked] if isinstance(asked, str) else list(asked)
    ready = [one for one in given if isinstance(one, Adjustable)]
    for text in (part for one in given if isinstance(one, str) for part in one.split(",")):
        head, colon, tail = text.partition(":")
        option = OPTION.fullmatch(tail if colon else text)
        if colon or option is None:
            found.append((head.strip(), {}))
            if not colon:
                continue
        if option is None:
            raise InputError(f"adjust {text.strip()!r}: must be ELEMENT:KEY=VALUE, as in crank:radius=80mm,mass<=2kg")
        key, sign, value = option.groups()
        address = _address(mechanism, key)
        if not colon and address:  # a number with its bound, such as coupler.mass<=2kg
            found.append((key, {}))
            key = "value"
        if not found:
            raise InputError(f"adjust {text.strip()!r}: belongs to no element; write ELEMENT:{text.strip()}")
        _bound(mechanism, found[-1], key, sign, value)
    made = ready + [_meant(mechanism, name, options) for name, options in found]
    if not made:
        raise InputError("adjust: nothing to adjust is named; give bodies, springs or addresses, such as crank,rocker")
    names = [(one.element, one.kind) for one in made]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"adjust {name[0]}: is named twice; keep one")
    return made


def _address(mechanism: Mechanism, name: str) -> bool:
    element, rest = mechanism.split(name)
    return element in mechanism.bodies and rest in ("mass", "inertia", "centre.x", "centre.y")


def _bound(
    mechanism: Mechanism, item: tuple[str, dict[str, tuple[float, float]]], key: str, sign: str, text: str
) -> None:
    element, options = item
    rest = mechanism.split(element)[1]
    load = mechanism.forces.get(element)
    kinds: dict[str, Dimension]
    if _address(mechanism, element):
        kinds = {"value": {"mass": MASS, "inertia": INERTIA}.get(rest, LENGTH)}
    elif rest == "geared":
        kinds = {"inertia": INERTIA, "ratio": NUMBER}
    elif load is not None:
        kinds = {"stiffness": stiffness_unit(load)}
    else:
        kinds = {k: _UNITS[k] for k in ("mass", "x", "y", "radius", "inertia")}
    if key not in kinds:
        raise InputError(f"adjust {element}: no {key!r} to bound; there are {', '.join(kinds)}")
    try:
        number = parse_quantity(text, kinds[key])
    except UnitError as error:
        raise InputError(f"adjust {element}: {key}: {error}") from None
    if (rest if key == "value" else key) in ("mass", "radius", "inertia", "stiffness") and number < 0:
        raise InputError(f"adjust {element}: {key} must be >= 0, got {text}")
    if key == "value" and rest == "mass" and sign != ">=" and number == 0:
        raise InputError(f"adjust {element}: a body needs a mass > 0, got {text}")
    if sign == "=" and key in ("ratio",) and number == 0:
        raise InputError(f"adjust {element}: ratio must not be 0")
    low, high = options.get(key, (-math.inf, math.inf))
    low, high = (max(low, number) if sign != "<=" else low), (min(high, number) if sign != ">=" else high)
    if low > high:
        raise InputError(f"adjust {element}: the bounds of {key} contradict each other: >= {low:g} and <= {high:g}")
    options[key] = (low, high)


def _meant(mechanism: Mechanism, name: str, options: dict[str, tuple[float, float]]) -> Adjustable:
    element, rest = mechanism.split(name)
    if name in mechanism.bodies:
        if "radius" in options and {"x", "y"} & options.keys():
            raise InputError(f"adjust {name}: radius and x or y contradict each other; keep one")
        return Adjustable(name, "counterweight", options)
    if element in mechanism.bodies and rest == "geared":
        return Adjustable(element, "geared", options)
    if name in springs(mechanism):
        return Adjustable(name, "spring", options)
    if _address(mechanism, name):
        return Adjustable(name, "number", options)
    whole = (
        {f"{element}.{key}" for key in ("mass", "inertia", "centre.x", "centre.y")}
        if element in mechanism.bodies
        else set()
    )
    known = [*mechanism.bodies, *springs(mechanism), *sorted(whole)]
    raise InputError(f"adjust {name!r}: no body, spring or number of a body{suggestion(name, known)}")


def disc(mechanism: Mechanism) -> Body:
    """A disc that is small beside a mechanism, about its pivot."""
    heavy = sum(body.whole()[0] for body in mechanism.bodies.values())
    far = max(math.hypot(*at) for body in mechanism.bodies.values() for at in body.all_points().values())
    return Body(mass=DISC * heavy, inertia=LIGHT * heavy * (far or 1.0) ** 2, points={"pivot": (0.0, 0.0)})


def prepared(mechanism: Mechanism, adjusted: Sequence[Adjustable]) -> Mechanism:
    """The mechanism with the geared inertias that are asked for: discs on the ground pivots of their bodies, which turn
    against them."""
    for one in adjusted:
        name = f"{one.element}_geared"
        if one.kind != "geared" or name in mechanism.bodies:
            continue
        pivots = [
            (end, joint.between)
            for joint in mechanism.joints.values()
            if joint.pinned
            for end in joint.between
            if mechanism.owner(end) == "ground" and one.element in map(mechanism.owner, joint.between)
        ]
        if not pivots:
            raise InputError(
                f"adjust {one.element}.geared: {one.element} turns on no pivot of the ground; choose one that does"
            )
        ratio = one.options.get("ratio", (-1.0, -1.0))
        if ratio[0] != ratio[1] or ratio[0] == 0:
            raise InputError(f"adjust {one.element}.geared: ratio must be one number, as in ratio=-1")
        where = pivots[0][0].partition(".")[2]
        start = mechanism.start.get(one.element)
        mechanism = mechanism.replace(
            bodies={**mechanism.bodies, name: disc(mechanism)},
            joints={
                **mechanism.joints,
                f"{name}_pivot": Revolute(between=(f"ground.{where}", f"{name}.pivot")),
                f"{name}_teeth": Gear(between=(one.element, name), ratio=ratio[0]),
            },
            start={**mechanism.start, **({name: ratio[0] * start} if start is not None else {})},
        )
    return mechanism


class Space:
    """The design variables of adjustable things: what they do to the parameters, within bounds.

    A counterweight of one radius has a mass and a direction, one with bounds of its radius that radius too; any other
    has a mass and a place.
    """

    def __init__(self, mechanism: Mechanism, adjusted: Sequence[Adjustable], roomy: bool = False) -> None:
        self.mechanism, self.adjusted, self.roomy = mechanism, adjusted, roomy
        self.variables: list[Variable] = []
        self.radius: dict[str, float] = {}  # of counterweights with a direction: the one radius, or where it begins
        self.total = sum(body.whole()[0] for body in mechanism.bodies.values())
        self.length = length(mechanism)
        self.index = {label: i for i, label in enumerate(labels(mechanism))}
        self.sizes = sizes(mechanism)  # of the parameters
        for one in adjusted:
            getattr(self, f"_{one.kind}")(one)
        self.low, self.high, self.size = (
            np.array([getattr(v, end) for v in self.variables]) for end in ("low", "high", "size")
        )
        self.first = np.clip([v.value for v in self.variables], self.low, self.high)
        self.base = parameters(mechanism)
        self.held = {b: [mechanism.value(f"{b}.{f}") for f in FIELDS] for b in mechanism.bodies}
        self.table = np.array(list(self.held.values()))
        for body, radius in self.radius.items():  # x holds the radius until a direction makes a place of it
            self.table[list(self.held).index(body), FIELDS.index("counterweight.x")] = radius
        self.slots = [self._slot(v.address) for v in self.variables]

    def without(self, base: Mechanism) -> np.ndarray:
        """The parameters of the mechanism as it was, without the discs that are added to it."""
        added = [label[0] in self.mechanism.bodies and label[0] not in base.bodies for label in self.index]
        return np.where(added, 0.0, self.base)

    def _add(self, address: str, low: float, high: float, value: float, size: float) -> None:
        self.variables.append(Variable(address, low, high, value, size))

    def _reach(self, body: str) -> float:
        """How far the points of a body are apart (m); the size of the mechanism if it has only one."""
        return apart(self.mechanism.bodies[body].all_points().values()) or self.length

    def _counterweight(self, one: Adjustable) -> None:
        options, reach, total = one.options, self._reach(one.element), self.total
        at = f"{one.element}.counterweight"
        held = self.mechanism.value
        low, high = _finite(options.get("mass", NO_BOUNDS), 0.0, HEAVY * total)
        self._add(f"{at}.mass", low, high, held(f"{at}.mass") or 0.1 * total, total)
        if "inertia" in options:
            bounds = _finite(options["inertia"], 0.0, self._spin())
            self._add(f"{at}.inertia", *bounds, held(f"{at}.inertia"), self._spin() / HEAVY)
        fixed = options.get("radius")
        place = {"x", "y"} & options.keys()
        weighed = "mass" in options and options["mass"][0] == options["mass"][1]
        if fixed is not None:
            near, far = _finite(fixed, 0.0, FAR * reach)
            self.radius[one.element] = min(max(reach, near), far)
            if near < far:
                self._add(f"{at}.radius", near, far, self.radius[one.element], min(reach, far))
        elif not place and not weighed and not self.roomy:
            self.radius[one.element] = reach
        if one.element in self.radius:
            self._add(f"{at}.direction", -math.tau, math.tau, math.pi, 1.0)
            return
        far = FAR * reach
        for axis in "xy":
            self._add(
                f"{at}.{axis}",
                *_finite(options.get(axis, NO_BOUNDS), -far, far),
                held(f"{at}.{axis}") or (-0.5 * reach if axis == "x" else 0.0),
                reach,
            )

    def _geared(self, one: Adjustable) -> None:
        most, name = self._spin(), f"{one.element}_geared.inertia"
        low, high = _finite(one.options.get("inertia", NO_BOUNDS), 0.0, most)
        low = max(low, 1e-15 * most)
        self._add(name, low, max(low, high), 0.01 * most, most / HEAVY)

    def _spring(self, one: Adjustable) -> None:
        held = self.mechanism.value(f"{one.element}.stiffness")
        size = held or float(self.sizes[self.index[one.element, "k"]])
        most = max(1e6, 1e3 * size)
        bounds = _finite(one.options.get("stiffness", NO_BOUNDS), 0.0, most)
        self._add(f"{one.element}.stiffness", *bounds, held, size)

    def _number(self, one: Adjustable) -> None:
        name, part = self.mechanism.split(one.element)
        value, reach = self.mechanism.value(one.element), self._reach(name)
        bounds = {"mass": (LEAST * self.total, HEAVY * self.total), "inertia": (0.0, self._spin())}
        low, high = bounds.get(part, (-FAR * reach, FAR * reach))
        size = {"mass": self.total, "inertia": self._spin() / HEAVY}.get(part, reach)
        given = one.options.get("value", NO_BOUNDS)
        low = min(low, LEAST * given[1]) if part == "mass" else low
        self._add(one.element, *_finite(given, low, high), value, size)

    def _spin(self) -> float:
        """The largest inertia (kg m^2) of a disc or counterweight unless bounds say otherwise."""
        return HEAVY * self.total * self.length**2

    def design(self, s: np.ndarray) -> dict[str, float]:
        """Addresses and numbers of a point of the space."""
        found: dict[str, float] = {}
        clean = np.where(np.abs(s) > ROUND_OFF * self.size, s, 0.0)
        given = dict(zip((v.address for v in self.variables), clean, strict=True))
        for address, x in given.items():
            if address.endswith(".counterweight.radius"):
                continue
            if not address.endswith(".counterweight.direction"):
                found[address] = float(x)
                continue
            at = address.removesuffix(".direction")
            radius = given.get(f"{at}.radius", self.radius[at.removesuffix(".counterweight")])
            found[f"{at}.x"], found[f"{at}.y"] = float(radius * math.cos(x)), float(radius * math.sin(x))
        for body in {one.element for one in self.adjusted if one.kind == "number"}:
            inertia = f"{self.mechanism.owner(body)}.inertia"  # a uniform bar's would change with its mass
            found.setdefault(inertia, self.mechanism.value(inertia))
        for address in [a for a, x in found.items() if a.endswith(".counterweight.mass") and x == 0]:
            at = address.removesuffix(".mass")  # a counterweight that is left away is nowhere
            found |= {f"{at}.x": 0.0, f"{at}.y": 0.0}
        near = NOWHERE * self.length
        return {a: 0.0 if a.endswith((".x", ".y")) and abs(x) < near else x for a, x in found.items()}

    def parameters(self, s: np.ndarray) -> np.ndarray:
        """The parameters (see `demands.parameters`) at a point of the space, or at several: (..., variables)."""
        s = np.asarray(s)
        table = np.broadcast_to(self.table, (*s.shape[:-1], *self.table.shape)).astype(s.dtype)
        theta = np.broadcast_to(self.base, (*s.shape[:-1], len(self.base))).astype(s.dtype)
        for k, (body, part, turned) in enumerate(self.slots):
            if part < 0:
                theta[..., body] = s[..., k]
            elif not turned:
                table[..., body, part] = s[..., k]
            else:
                table[..., body, part + 1] = table[..., body, part] * np.sin(s[..., k])
                table[..., body, part] *= np.cos(s[..., k])
        m, cx, cy, J, wm, wx, wy, wJ = np.moveaxis(table, -1, 0)
        four = m + wm, m * cx + wm * wx, m * cy + wm * wy, J + m * (cx * cx + cy * cy) + wJ + wm * (wx * wx + wy * wy)
        made = np.stack(four, axis=-1)
        theta[..., : 4 * len(self.table)] = made.reshape(*s.shape[:-1], -1)
        return np.asarray(theta)

    def jacobian(self, s: np.ndarray) -> np.ndarray:
        """The slopes of the parameters by the variables, exact by a complex step: (parameters, variables)."""
        step = 1e-30
        return np.asarray(self.parameters(s + 1j * step * np.eye(len(s))).imag.T / step)

    def _slot(self, address: str) -> tuple[int, int, bool]:
        """Where a variable belongs: body and field (and whether it is a direction), or a spring's parameter and -1."""
        name, rest = self.mechanism.split(address)
        if rest == "stiffness":
            return self.index[name, "k"], -1, False
        body = list(self.mechanism.bodies).index(name)
        if rest in ("counterweight.radius", "counterweight.direction"):
            return body, FIELDS.index("counterweight.x"), rest == "counterweight.direction"
        return body, FIELDS.index(rest), False

    def moved(self) -> set[tuple[str, str]]:
        """The parameters that the design can change, for which conditions are solved first."""
        found: set[tuple[str, str]] = set()
        random = np.random.default_rng(0)
        for _ in range(3):
            s = self.low + random.uniform(0.2, 0.8, len(self.low)) * (self.high - self.low)
            found |= {label for label, i in self.index.items() if self.parameters(s)[i] != self.base[i]}
        return found

    def admissible(self, design: Mapping[str, float]) -> list[str]:
        """What is physically impossible in a design, one line for each."""
        wrong = []
        for address, x in design.items():
            rest = address.rpartition(".")[2]
            if rest in ("mass", "inertia", "stiffness") and x < 0:
                wrong.append(f"{address} = {x:.4g} is negative")
        return wrong


FIELDS = (
    "mass",
    "centre.x",
    "centre.y",
    "inertia",
    "counterweight.mass",
    "counterweight.x",
    "counterweight.y",
    "counterweight.inertia",
)


def _finite(given: tuple[float, float], low: float, high: float) -> tuple[float, float]:
    """Bounds with the ends that are not given: those that there are without bounds, or as far beyond the one given."""
    first, last = given
    room = high - low
    if not math.isfinite(first):
        first = low if not math.isfinite(last) or last >= low else last - room
    if not math.isfinite(last):
        last = high if first <= high else first + room
    return first, last
