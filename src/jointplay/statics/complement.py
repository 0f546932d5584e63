"""The orthogonal complement of the constraints, and the equations of motion reduced by it, as numbers at a position.

After Hess Coelho, Orsino and Coutinho: rates v = C p with B C = 0 leave u = C^T (M a - F), where the accelerations
a = C p' + (what the constraints ask of them at these rates).  Drives are left out: what they do is the input u.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError
from ..model.control import axis_of
from ..model.mechanism import Mechanism
from ..physics.reduced import ideal
from ..system import Evaluation, System, as_system
from .assembly import RANK, assemble, independent, sizes
from .cycle import undriven
from .degrees import BENT

if TYPE_CHECKING:
    import xarray

WEAK = 1e-8  # of the largest singular value: nearer to a singular position nothing can be said
AGREE = 1e-9  # relative: the three ways to the complement agree to this, or the position is called singular


class Singular(ValueError):
    """A position in which the coordinates do not determine the motion."""


class Coordinates:
    """A mechanism without drives, with rows for chosen coordinates: "crank", "J2", "slider.x", or as in `control.use`.

    Coordinates that are not given are chosen: as many as there are degrees of freedom, angles first.
    """

    def __init__(self, mechanism: Mechanism | System, chosen: Sequence[Any] | None, cut: Sequence[str] = ()) -> None:
        given = as_system(mechanism)
        self.free = _undriven(given)
        base = ideal(given.given).replace(drives={})
        for joint in cut:
            if joint not in base.joints:
                raise InputError(f"cut: no joint {joint!r}; there are {', '.join(base.joints)}")
        if chosen is None:
            chosen = undriven(self.free, assemble(self.free))
        axes = [axis_of(one) for one in ([chosen] if isinstance(chosen, str) else chosen)]
        self.labels = [one["of"] + (f".{one['kind']}" if one.get("kind") in ("x", "y") else "") for one in axes]
        if len(set(self.labels)) < len(self.labels):
            raise InputError(f"coordinates {', '.join(self.labels)}: one is given twice")
        drives = {f"coordinate{i}": {"kind": "angle", **one, "motion": 0.0} for i, one in enumerate(axes)}
        self.system = _derived(given, f"coordinates {axes!r}", lambda: base.replace(drives=drives))
        self.scale = sizes(self.system)
        rows = [self.system.mechanism.owner(row) for row in self.system.rows]
        self.asked = np.array([name in self.system.mechanism.drives for name in rows], bool)
        self.cut = np.array([name in cut for name in rows], bool)
        self.joined = ~self.asked & ~self.cut

    def evaluate(self, q: np.ndarray, v: np.ndarray | None = None) -> Evaluation:
        """The equations at a position."""
        return self.system.evaluate(q, v)

    def complement(self, here: Evaluation, method: str = "partition") -> np.ndarray:
        """C with B C = 0 and unit rates of the coordinates, joints that are cut left out."""
        B, R = here.B[self.joined] * self.scale, here.B[self.asked] * self.scale
        kept = independent(B)
        lacking = B.shape[1] - len(kept) - len(R)
        if lacking:
            raise Singular(
                f"coordinates {', '.join(self.labels)}: there are {len(R)} for {len(R) + lacking} degrees of freedom; "
                f"{'add' if lacking > 0 else 'leave out'} {abs(lacking)}"
            )
        whole = np.vstack([B[kept], R])
        values = np.linalg.svd(whole, compute_uv=False)
        if not len(values) or values[-1] < WEAK * values[0]:
            raise Singular(
                f"mechanism {self.system.mechanism.name!r} is in a singular position, or its coordinates "
                f"{', '.join(self.labels)} do not determine its motion there; choose others"
            )
        if method == "partition":
            found = np.linalg.solve(whole, np.vstack([np.zeros((len(kept), len(R))), np.eye(len(R))]))
        elif method == "svd":
            basis = np.linalg.svd(B)[2][len(kept) :].T
            found = basis @ np.linalg.inv(R @ basis)
        else:
            basis = np.linalg.qr(B[kept].T, mode="complete")[0][:, len(kept) :]
            found = basis @ np.linalg.inv(R @ basis)
        return self.scale[:, None] * found

    def accelerations(self, here: Evaluation, v: np.ndarray, p: np.ndarray) -> np.ndarray:
        """All accelerations for those of the coordinates, at the rates v."""
        rows = np.vstack([here.B[self.joined], here.B[self.asked]]) * self.scale
        wanted = np.concatenate([here.rhs[self.joined], p - here.Bdot[self.asked] @ v])
        found = np.linalg.lstsq(rows, wanted, rcond=RANK)[0]
        left = np.abs(rows @ found - wanted).max(initial=0.0)
        if left > BENT * (np.abs(wanted).max(initial=0.0) + (np.abs(rows) @ np.abs(found)).max(initial=0.0)):
            raise Singular(
                f"mechanism {self.system.mechanism.name!r} is in a singular position: joints that follow from others "
                f"there ask for other accelerations; choose another one"
            )
        return np.asarray(found * self.scale)

    def inputs(self, q: np.ndarray, C: np.ndarray, p: np.ndarray, dp: np.ndarray) -> np.ndarray:
        """What must act along the coordinates for rates p and accelerations dp of them."""
        v = C @ p
        here = self.evaluate(q, v)
        return np.asarray(C.T @ (np.diag(here.M) * self.accelerations(here, v, dp) - here.F))


def null_space(
    system: Mechanism | System,
    q: ArrayLike | None = None,
    independent: Sequence[Any] | None = None,
    method: str = "partition",
    cut: Sequence[str] = (),
) -> xarray.DataArray:
    """The orthogonal complement C of the matrix of constraints at q (assembled unless given): B C = 0, and all rates
    are C times those of the independent coordinates.

    method: "partition" (elimination with pivoting), "svd" or "qr"; all three are computed, and attribute `apart` says
    how far they differ.  cut: joints whose rows are left out, such as those between modules.

    >>> from jointplay.model import library
    >>> C = null_space(library.rr_arm(), independent=["J1", "J2"])
    >>> C.sel(coordinate="arm2.angle").values.round(12)  # turns with both joints
    array([1., 1.])
    """
    from xarray import DataArray

    if method not in ("partition", "svd", "qr"):
        raise InputError(f"method must be partition, svd or qr, got {method!r}")
    chosen = Coordinates(system, independent, cut)
    at = assemble(chosen.free) if q is None else np.asarray(q, float)
    here = chosen.evaluate(at)
    found = {name: chosen.complement(here, name) for name in ("partition", "svd", "qr")}
    apart = max(float(np.abs(a - b).max()) for a in found.values() for b in found.values())
    if apart > AGREE * max(1.0, float(np.abs(found[method]).max())):
        raise Singular(f"the complement differs by {apart:.2g} between three ways to it: the position is singular")
    labels = {"coordinate": chosen.system.coordinates, "independent": chosen.labels}
    return DataArray(found[method], labels, tuple(labels), attrs={"method": method, "apart": apart})


def second_degree(
    u: Callable[[np.ndarray, np.ndarray], np.ndarray], n: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """z, M, D and B of u(p, p') = M p' + D p p + B p + z for n rates, exactly; D is symmetric in them.

    What u gives may have further dimensions after that of the inputs; those of the rates stand between.
    """
    zero, units = np.zeros(n), np.eye(n)
    z = u(zero, zero)
    M = np.stack([u(zero, e) - z for e in units], axis=1)
    ahead, back = ([u(sign * e, zero) for e in units] for sign in (1, -1))
    B = np.stack([(a - b) / 2 for a, b in zip(ahead, back, strict=True)], axis=1)
    D = np.zeros((len(z), n, n, *z.shape[1:]))
    for r in range(n):
        D[:, r, r] = (ahead[r] + back[r]) / 2 - z
    for r in range(n):
        for s in range(r):
            both = (u(units[r] + units[s], zero) + u(-units[r] - units[s], zero)) / 2 - z
            D[:, r, s] = D[:, s, r] = (both - D[:, r, r] - D[:, s, s]) / 2
    return z, M, D, B


def reduced(
    system: Mechanism | System,
    q: ArrayLike | None = None,
    independent: Sequence[Any] | None = None,
    redundant: Sequence[Any] | None = None,
    cut: Sequence[str] = (),
) -> xarray.Dataset:
    """The equations of motion along independent coordinates at a position q, u_k = sum M_kr p_r' + sum D_krs p_r p_s +
    sum B_kr p_r + z_k, with their terms exactly: they are of second degree in the rates.

    redundant, cut: with the joints that are cut open, these coordinates are independent; M, D, B are then in the rates
    of the redundant ones, and `C_hat` gives these from those of the independent ones.  D is symmetric in r and s.
    `mismatch` compares the terms with the equations at random rates; where something acts that is not of second
    degree, it is not small.

    >>> from jointplay.model import library
    >>> found = reduced(library.pendulum(), [0.5, 0.0, 0.0], ["bar1"])
    >>> round(found.M.item(), 9), round(found.z.item(), 9)  # m L^2/3 and m g L/2
    (0.333333333, 4.905)
    """
    from xarray import Dataset

    system = as_system(system)
    least = Coordinates(system, independent)
    at = assemble(least.free) if q is None else np.asarray(q, float)
    wide = least if redundant is None else Coordinates(system, redundant, cut)
    here = wide.evaluate(at)
    C1 = wide.complement(here)
    C = least.complement(least.evaluate(at))
    across = np.eye(len(least.labels)) if wide is least else here.B[wide.asked] @ C
    n = C1.shape[1]

    def u(p: np.ndarray, dp: np.ndarray) -> np.ndarray:
        return np.asarray(across.T @ wide.inputs(at, C1, p, dp))

    z, M, D, B = second_degree(u, n)
    random = np.random.default_rng(0)
    p, dp = random.normal(size=(2, n))
    exact = u(p, dp)
    off = np.abs(exact - (M @ dp + np.einsum("krs,r,s->k", D, p, p) + B @ p + z)).max(initial=0.0)
    labels = {"input": least.labels, "rate": wide.labels, "rate2": wide.labels, "coordinate": wide.system.coordinates}
    return Dataset(
        {
            "M": (("input", "rate"), M),
            "D": (("input", "rate", "rate2"), D),
            "B": (("input", "rate"), B),
            "z": (("input",), z),
            "C": (("coordinate", "rate"), C1),
            "C_hat": (("rate", "input"), across),
            "q": (("coordinate",), at),
        },
        labels,
        {"mismatch": float(off / max(np.abs(exact).max(initial=0.0), 1e-300))},
    )


def _undriven(system: Mechanism | System) -> System:
    given = as_system(system)
    if not given.given.drives and given.given.control is None and given.given.closed() is given.given:
        return given
    return _derived(given, "undriven", lambda: ideal(given.given).replace(drives={}))


# Systems that belong to others, by the program of these: with other numbers they need no new trace.
_families: WeakKeyDictionary[Any, dict[str, tuple[Mechanism, System]]] = WeakKeyDictionary()


def _derived(given: System, key: str, make: Callable[[], Mechanism]) -> System:
    """The system of a mechanism that is made from that of another, kept with it and its likes."""
    if key in given.kept:
        return given.kept[key]
    family = _families.setdefault(given.program, {})
    if key in family:
        like, known = family[key]
        addresses = known.given.addresses()
        changes = {a: x for a, x in given.given.addresses().items() if a in addresses and like.addresses().get(a) != x}
        same = like.start.keys() == given.given.start.keys()
        made = known.with_(changes) if same else System(make())
    else:
        made = System(make())
        family[key] = given.given, made
    given.kept[key] = made
    return made


@dataclass(frozen=True)
class FreeModel:
    """One module by itself: A a + b = 0 of its own joints, their complement C, masses M and forces F."""

    coordinates: list[str]
    rows: list[str]
    A: np.ndarray
    b: np.ndarray
    C: np.ndarray
    M: np.ndarray
    F: np.ndarray


@dataclass(frozen=True)
class Coupling:
    """A mechanism as its modules and what joins them: the rows A a + b = 0 of the joints of no single module.

    `C_hat` leads from the rates of the whole to those of the modules' complements, side by side in their order.
    """

    modules: dict[str, FreeModel]
    rows: list[str]
    A: np.ndarray
    b: np.ndarray
    C_hat: np.ndarray


def coupling(system: Mechanism | System, q: ArrayLike | None = None, v: ArrayLike | None = None) -> Coupling:
    """The free models of the modules at a position q and rates v, and the rows that couple them; bodies of no module
    are one more, with the empty name."""
    whole = _undriven(system)
    at = assemble(whole) if q is None else np.asarray(q, float)
    rates = np.zeros(len(at)) if v is None else np.asarray(v, float)
    here, names = whole.evaluate(at, rates), whole.mechanism.modules()
    rest = [body for body in whole.mechanism.bodies if "." not in body]
    modules, used = dict[str, FreeModel](), np.zeros(len(whole.rows), bool)
    for name, bodies in [*names.items(), *([("", rest)] if rest else [])]:
        columns = [i for i, c in enumerate(whole.coordinates) if whole.mechanism.owner(c) in bodies]
        mine = [i for i, row in enumerate(whole.rows) if _within(whole.mechanism, whole.mechanism.owner(row), bodies)]
        used[mine] = True
        A = here.B[np.ix_(mine, columns)]
        basis = (
            np.linalg.svd(A)[2][np.linalg.matrix_rank(A, RANK * max(1.0, float(np.linalg.norm(A)))) :].T
            if mine
            else None
        )
        modules[name] = FreeModel(
            [whole.coordinates[i] for i in columns],
            [whole.rows[i] for i in mine],
            A,
            -here.rhs[mine],
            np.eye(len(columns)) if basis is None else basis,
            here.M[np.ix_(columns, columns)],
            here.F[columns],
        )
    joint = ~used
    side = [here.B[joint][:, [whole.coordinates.index(c) for c in m.coordinates]] @ m.C for m in modules.values()]
    hat = np.hstack(side)
    rank = np.linalg.matrix_rank(hat, RANK * max(1.0, float(np.linalg.norm(hat)))) if joint.any() else 0
    C_hat = np.linalg.svd(hat)[2][rank:].T if joint.any() else np.eye(hat.shape[1])
    labels = [row for row, keep in zip(whole.rows, joint, strict=True) if keep]
    return Coupling(modules, labels, here.B[joint], -here.rhs[joint], C_hat)


def _within(mechanism: Mechanism, joint: str, bodies: Sequence[str]) -> bool:
    ends: Iterator[str] = (mechanism.owner(end) for end in mechanism.joints[joint].between)
    return all(end == "ground" or end in bodies for end in ends)
