"""A mechanism with its equations traced and compiled; numbers change without a new trace."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Collection, Hashable, Mapping
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from .engine.program import Names, Program
from .engine.text import RUNNING, emit
from .engine.typing import Scalar
from .engine.values import Value
from .errors import InputError
from .model.clearances import Compliant
from .model.mechanism import Mechanism
from .numerics.linalg import dot
from .physics import dynamics
from .physics.contacts import contacts
from .physics.reduced import known
from .physics.sampled_motions import sampled
from .run import Run
from .structure import Memo, structure
from .traces import recalled

T = TypeVar("T")
CONTACT = (".friction", ".static_friction", ".restitution", ".stop_restitution")
# numbers whose being 0 changes what there is to compute: they cannot be set free
STRUCTURAL = (".noise", ".resolution", ".delay", ".regularisation", "gravity.x", "gravity.y")
PROGRAMS = Memo()  # of all systems of this process


def structural(mechanism: Mechanism, address: str) -> bool:
    """Whether a number being 0 changes what there is to compute, as the play of a joint does: it cannot be set free."""
    plays = (f"{name}.{joint.opened_by}" for name, joint in mechanism.joints.items())
    return address.endswith(STRUCTURAL) or address in plays


class Evaluation:
    """The equations of motion at one state: M a = F + B^T lam, B v = speed, B a = rhs.

    `residual` is what the constraints leave open, `Bdot` the time derivative of the matrix of constraints `B`; rows
    and columns are labelled by `System.rows` and `System.coordinates`. `reactions` times the multipliers lam gives,
    for each joint, the force (x, y) on its second body and the moment about its second point; `power` is that of
    the applied forces without a potential.  `gaps` are those of rigid and compliant contacts, `openings` their rates,
    labelled by `System.contacts`, and `places` the journal centres (x, y) in their bearings, of `System.journals`.

    Each part is put together when it is asked for: of a large mechanism the matrices take longer than the equations.
    """

    residual: np.ndarray
    B: np.ndarray
    Bdot: np.ndarray
    speed: np.ndarray
    rhs: np.ndarray
    mass: np.ndarray  # the diagonal of M
    F: np.ndarray
    reactions: np.ndarray
    energies: np.ndarray
    gaps: np.ndarray
    openings: np.ndarray
    places: np.ndarray

    def __init__(self, traced: Traced, row: np.ndarray) -> None:
        self.traced, self.row = traced, row

    def __getattr__(self, name: str) -> np.ndarray:
        if name not in Evaluation.__annotations__:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        found = self.__dict__[name] = self.traced.part(name, self.row)
        return found

    @property
    def M(self) -> np.ndarray:
        """The mass matrix."""
        return np.diag(self.mass)

    @property
    def kinetic(self) -> float:
        """Kinetic energy (J)."""
        return float(self.energies[0])

    @property
    def potential(self) -> float:
        """Potential energy (J)."""
        return float(self.energies[1])

    @property
    def power(self) -> float:
        """Power of the applied forces without a potential (W)."""
        return float(self.energies[2])

    def accelerations(self, more: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Accelerations and multipliers, under more forces if given; of dependent rows those multipliers that are
        least."""
        F = self.F if more is None else self.F + more
        if not self.mass.all():  # a body without inertia, which its joints may hold all the same
            n = len(F)
            whole = np.block([[self.M, -self.B.T], [self.B, np.zeros((len(self.B), len(self.B)))]])
            found = np.linalg.lstsq(whole, np.concatenate([F, self.rhs]), rcond=1e-12)[0]
            return found[:n], found[n:]
        weight, free = self.B.T / self.mass[:, None], F / self.mass
        ready = self.B @ weight
        size = np.sqrt(np.diag(ready))  # by which a light body's rows would hide those of heavy ones
        size[size == 0] = 1.0
        ready /= np.outer(size, size)
        scaled, _, rank, _ = np.linalg.lstsq(ready, (self.rhs - self.B @ free) / size, rcond=1e-12)
        multipliers = scaled / size
        if rank < len(size):
            idle = np.linalg.eigh(ready)[1][:, : len(size) - rank] / size[:, None]  # what does nothing together
            multipliers -= idle @ np.linalg.lstsq(idle, multipliers, rcond=None)[0]
        return free + weight @ multipliers, multipliers


class System:
    """The compiled equations of a mechanism in the coordinates x, y, angle of each body.

    Motions given as Python functions that cannot be traced are sampled from 0 to `until` (s); `notes` says so.
    free: addresses of numbers that may be changed in a run even where they are 0 now.  like: a system whose mechanism
    differs in the values of numbers with addresses only, from which all is taken that does not depend on them.
    """

    def __init__(
        self, mechanism: Mechanism, until: float = 10.0, free: Collection[str] = (), like: System | None = None
    ) -> None:
        if not isinstance(mechanism, Mechanism):
            raise InputError(f"expected a mechanism, got {mechanism!r}; see jointplay.load or jointplay.library")
        self.given, self.mechanism, self.notes = mechanism, *sampled(mechanism, until)
        self.span = until if self.notes else math.inf  # s: how far motions that had to be sampled reach
        self.reach, self.free = until, frozenset(free)
        self.coordinates = [f"{body}.{c}" for body in mechanism.bodies for c in ("x", "y", "angle")]
        self.kept: dict[str, System] = {}  # systems that belong to this one, such as the ideal twin's
        self.launched: tuple[np.ndarray, np.ndarray] | None = None  # the state in which it starts, once asked for
        self.leaning: np.ndarray | None = None  # the coordinates with which its joints begin on their walls, once found
        self.pressed: Any = None  # what presses its joints there, once asked for
        self.place: np.ndarray | None = None  # its coordinates at time 0, once it was assembled without a remark
        self.massive = False  # whether it is known that all its bodies have inertia
        self.first: System | None = None  # the first of those that differ in numbers only, if this is another
        self.parameters = (like and self.altered(like)) or self.numbers()
        if like is None or not self.resembles(like):
            self.ready()

    def numbers(self) -> dict[str, Any]:
        """The run-time numbers and tables of every program of this mechanism; a 0 is structural except in contacts."""
        given, control = self.mechanism.addresses().items(), self.mechanism.control
        gains = {f"control.law.{name}" for name in (control.law.values if control and control.computed else ())}
        gains |= {"control.settled"} if control else set()
        fixed = {a for a in self.free if structural(self.mechanism, a)}
        used = {
            a: x
            for a, x in given
            if (
                x != 0
                or a.endswith(CONTACT)
                or ".normal." in a
                or ".friction." in a
                or a in gains
                or a in self.free - fixed
            )
            and not a.startswith("start.")
        }
        used |= {f"control.model.{a}": x for a, x in known(self.mechanism).items() if x != 0}
        return used | self.mechanism.tables()

    def altered(self, like: System) -> dict[str, Any] | None:
        """The same where no number has come to be 0 or not to be, by those of a system that differs in numbers only."""
        mine, theirs = self.mechanism.addresses(), like.mechanism.addresses()
        tables = any(not isinstance(x, float) for x in like.parameters.values())
        if self.mechanism.control is not None or tables or mine.keys() != theirs.keys():
            return None
        others = {a: x for a, x in mine.items() if x != theirs[a]}
        if not all(others.values()) or not all(theirs[a] for a in others):
            return None
        return like.parameters | {a: x for a, x in others.items() if a in like.parameters}

    def equations(self, dropped: Collection[str] = ()) -> Callable[[Names | Mapping[str, Scalar]], dynamics.Equations]:
        """What makes the text of the equations from the parameters of a trace; rows to be dropped are left out."""
        mechanism, known = self.mechanism, self.parameters
        return lambda p: dynamics.Equations(mechanism, lambda a: p[a] if a in known else 0, dropped)

    def program(self, kind: Hashable, make: Callable[[], T]) -> T:
        """What `make` traces of this system, kept for all systems of its structure; kind: all else it depends on."""
        return PROGRAMS.get((self.structure, kind), make)

    def traced_as(
        self, kind: Hashable, text: Callable[[], Callable[..., Any]], state: Mapping[str, Any], given: Mapping[str, Any]
    ) -> Program:
        """The program of a text of this system, kept in the process and on disk; given: its run-time numbers."""
        return self.program(kind, lambda: recalled(text(), state, given, (self.structure, kind)))

    def with_(self, changes: Mapping[str, float | str]) -> System:
        """The same mechanism with other numbers at some addresses; traced again only if its structure changes."""
        known = self.given.addresses()
        numbers = all(address in known or address.startswith("start.") for address in changes)
        return System(self.given.with_(changes), self.reach, self.free, self if numbers else None)

    def until(self, time: float) -> System:
        """This system, or a new one whose sampled motions reach the time (s)."""
        return self if time <= self.span else System(self.given, time, self.free)

    def resembles(self, like: System) -> bool:
        """Take over the program and the run of a system, if there is one structure and only numbers differ."""
        mine, theirs = self.parameters, like.parameters
        others = self.mechanism.addresses().keys() ^ like.mechanism.addresses().keys()
        if mine.keys() != theirs.keys() or not all(address.startswith("start.") for address in others):
            return False
        if like.traced.program.arrays or any(not isinstance(x, float) for x in mine.values()):
            return False
        if self.mechanism.bodies is like.mechanism.bodies and self.mechanism.ground is like.mechanism.ground:
            self.sizes, self.massive = like.sizes, like.massive  # of the same bodies
        for name in ("structure", "traced", "rows", "contacts", "journals", "run", "slots", "clock", "lock"):
            setattr(self, name, getattr(like, name))
        self.index: dict[str, int] = like.index
        self.first = like.first or like
        self.words: np.ndarray = like.words.copy()
        for name, x in mine.items():
            if x != theirs[name]:
                self.words[self.index[name]] = np.float64(x).view(np.int64)
        return True

    def ready(self) -> None:
        """A run of the equations with the present numbers."""
        tables = ((name, repr(x)) for name, x in self.parameters.items() if not isinstance(x, float))
        self.structure = structure(self.mechanism, self.parameters), tuple(tables)
        self.traced = self.program("equations", lambda: Traced(self))
        self.rows, self.contacts, self.journals = self.traced.rows, self.traced.contacts, self.traced.journals
        self.run = Run(self.traced.program, self.parameters, quick=True, rows=1)
        names = [*self.coordinates, *(f"{c}.rate" for c in self.coordinates)]
        self.slots = np.array([self.run.places[name] for name in names])
        self.index = {slot.name: i for i, slot in enumerate(self.traced.program.parameters)}
        self.clock = self.index["time"]
        self.words = self.run.parameter_words[:, 0].copy()
        self.lock = threading.Lock()  # the run has one place for a state, and systems of other numbers share it

    @cached_property
    def sizes(self) -> np.ndarray:
        """The size of each coordinate: the longest distance between points of a body or of the ground, and 1 rad."""
        mechanism = self.mechanism
        clouds = [np.array([*body.all_points().values()]) for body in mechanism.bodies.values()]
        clouds.append(np.array([*mechanism.ground.all_points().values()]))
        length = max([np.ptp(cloud, axis=0).max() for cloud in clouds if len(cloud)], default=0.0) or 1.0
        return np.tile([length, length, 1.0], len(mechanism.bodies))

    @cached_property
    def at_rate(self) -> np.ndarray:
        """Which rows prescribe a rate only, and leave the position to the start."""
        drives, owners = self.mechanism.drives, map(self.mechanism.owner, self.rows)
        return np.array([name in drives and drives[name].at_rate for name in owners], bool)

    def evaluate(self, q: ArrayLike, v: ArrayLike | None = None, t: float = 0.0) -> Evaluation:
        """The equations at coordinates q, rates v (zero unless given) and time t."""
        at, rates = (np.asarray(x, float) for x in (q, np.zeros(len(self.coordinates)) if v is None else v))
        if at.shape != (len(self.coordinates),) or rates.shape != at.shape:
            names = ", ".join(self.coordinates)
            raise InputError(f"expected {len(self.coordinates)} numbers for {names}; got {at.shape}")
        return Evaluation(self.traced, self.row(at, rates, t))

    def constraints(self, q: np.ndarray, t: float) -> tuple[np.ndarray, np.ndarray]:
        """The residual and the matrix of the constraints alone, for iterations that ask for nothing else."""
        row = self.row(q, np.zeros(len(q)), t)
        return self.traced.part("residual", row), self.traced.part("B", row)

    def row(self, q: np.ndarray, v: np.ndarray, t: float) -> np.ndarray:
        """All numbers of the equations that vary, in a row."""
        with self.lock:
            # the words of the run are set directly: names and checks would cost more than the equations
            self.run.state_words[self.slots, 0] = np.concatenate([q, v]).view(np.int64)
            self.run.state_words[self.run.places["status"], 0] = RUNNING
            self.run.parameter_words[:, 0] = self.words
            self.run.parameter_words[self.clock, 0] = np.float64(t).view(np.int64)
            return self.run.once("equations")

    def __getstate__(self) -> dict[str, Any]:
        return {"given": self.given, "reach": self.reach, "free": self.free}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["given"], state["reach"], state["free"])  # type: ignore[misc]


class Traced:
    """The equations of a system, traced: its program, the labels of rows and contacts, and where numbers belong."""

    def __init__(self, system: System) -> None:
        self.make, self.mechanism, self.coordinates = system.equations(), system.mechanism, system.coordinates
        self.entries: dict[str, tuple[list[int], list[int]]] = {}  # where the columns of the emitted row belong
        self.constants: dict[str, np.ndarray] = {}
        self.rows: list[str] = []
        self.contacts: list[str] = []
        self.journals: list[str] = []
        state = dict.fromkeys([*self.coordinates, *(f"{c}.rate" for c in self.coordinates)], 0.0)
        self.program = recalled(self, state, {"time": 0.0, **system.parameters}, (system.structure, "equations"))

    @cached_property
    def layout(self) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """Where the columns of a row belong in each part, and which they are."""
        return {
            name: (np.array(places, int), np.array(columns, int)) for name, (places, columns) in self.entries.items()
        }

    def part(self, name: str, row: np.ndarray) -> np.ndarray:
        """A part of the equations, from the row that a step writes."""
        places, columns = self.layout[name]
        found = self.constants[name].copy()
        found.flat[places] = row[columns]
        return found

    def found(self) -> dict[str, Any]:
        """All but the program, as plain data."""
        arrays = {}
        for name, x in self.constants.items():
            places = np.flatnonzero(x.view(np.int64))  # all but 0, a -0 too
            arrays[name] = x.shape, places.tolist(), x.flat[places].tolist()
        labels = {"rows": self.rows, "contacts": self.contacts, "journals": self.journals}
        return {**labels, "entries": self.entries, "constants": arrays}

    def take(self, found: Mapping[str, Any]) -> None:
        """Know again what was found."""
        self.rows, self.contacts, self.journals = found["rows"], found["contacts"], found["journals"]
        self.entries = {name: (places, columns) for name, (places, columns) in found["entries"].items()}
        for name, (shape, places, numbers) in found["constants"].items():
            self.constants[name] = np.zeros(shape)
            self.constants[name].flat[places] = numbers

    def __call__(self, s: Names, p: Names) -> dict[str, Scalar]:
        q, v, t = [s[c] for c in self.coordinates], [s[f"{c}.rate"] for c in self.coordinates], p.time
        text = self.make(p)
        rows = text.rows(q, v, t)
        self.rows = rows.labels
        n, m, j = len(q), len(rows.labels), len(self.mechanism.joints)
        kinetic, potential = text.energies(q, v, t)
        pose = text.pose(q, t)
        touch = [*contacts(pose), *contacts(pose, Compliant)]
        self.contacts = [c.label for c in touch]
        opening = [dot([c.normal.get(name, 0) for name in self.coordinates], v) for c in touch]
        journals = {c.joint: c.place for c in touch if c.place is not None}
        self.journals = list(journals)
        parts = {
            "residual": (rows.residual, (m,)),
            "B": (rows.B, (m, n)),
            "Bdot": (rows.Bdot, (m, n)),
            "speed": (rows.speed, (m,)),
            "rhs": (rows.rhs, (m,)),
            "mass": (text.masses(), (n,)),
            "F": (text.forces(q, v, t), (n,)),
            "reactions": (text.reactions(rows, q, t), (3 * j, m)),
            "gaps": ([c.gap for c in touch], (len(touch),)),
            "openings": (opening, (len(touch),)),
            "places": ([place.parts for place in journals.values()], (len(journals), 2)),
            "energies": ([kinetic, potential, dot(text.applied(q, v, t), v)], (3,)),
        }
        columns: dict[str, Scalar] = {}
        for name, (part, shape) in parts.items():  # what varies goes into one row; what is known for good is kept
            self.constants[name] = np.zeros(shape)
            places, numbers = [], []
            for i, x in enumerate(x for line in part for x in (line if len(shape) == 2 else [line])):
                if isinstance(x, Value):
                    places.append(i)
                    numbers.append(len(columns))
                    columns[f"c{len(columns)}"] = x
                else:
                    self.constants[name].flat[i] = x
            self.entries[name] = (places, numbers)
        emit("equations", **columns)
        return {}


def as_system(mechanism: Mechanism | System) -> System:
    """The system of a mechanism, or the system itself."""
    return mechanism if isinstance(mechanism, System) else System(mechanism)
