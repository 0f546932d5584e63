"""Grigore, Jderu, Enachescu: Matrix of Constraints for the Motion of the Planar Kinematic Chains with Rotational
Links with Clearances.

The paper prints matrices and no numbers; lengths and masses are assumed (see `library.grigore_figure_5`).  What is
printed is evaluated block by block at a random state and compared with the derivative of the constraints.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..model import library
from ..model.bodies import bar
from ..model.joints import Revolute
from ..model.mechanism import Mechanism
from ..statics import assemble, freedom, start
from ..system import System
from .rows import Found, Row
from .verdicts import HOLDS

# Lines of the printed matrices: the joint, and the blocks of the elements in order.
FIGURE_5_DRIVEN = (("O2", "+B2(2)", "0"), ("O3", "-E3(2)", "+E3(3)"))
FIGURE_5_UNDRIVEN = (("O1", "-B1(1)", "0", "0"), ("O2", "-B2(1)", "+B2(2)", "0"), ("O3", "0", "-E3(2)", "-B3(3)"))
FIGURE_6 = (
    ("O1", "+B1(1)", "0", "0", "0", "0"),
    ("O2", "-B2(1)", "-B2(2)", "0", "0", "0"),
    ("O3", "0", "-B3(2)", "+B3(3)", "0", "0"),
    ("O5", "0", "-E5(2)", "0", "-E5(4)", "0"),
    ("O6", "0", "0", "0", "-E6(4)", "0"),
    ("O6", "0", "0", "0", "0", "+E6(5)"),
    ("O7", "0", "0", "0", "0", "+B7(5)"),
)
# The corrections of the reference page, for the lines that need one.
CORRECTED = {
    ("figure 5, undriven", "O3"): "[0 -E3(2) +E3(3)]",
    ("figure 6", "O2"): "[-B2(1) +B2(2) 0 0 0]",
    ("figure 6", "O4"): "[0 0 -B4(3) 0 0]",
    ("figure 6", "O5"): "[0 -E5(2) 0 +E5(4) 0]",
    ("figure 6", "O6"): "[0 0 0 -E6(4) +E6(5)]",
}
TILTED = math.pi / 3  # rad: the crank at the start

row = functools.partial(Row, study="grigore")


def opened(mechanism: Mechanism) -> Mechanism:
    """The chain without its last pivot O4."""
    return mechanism.replace(joints={name: joint for name, joint in mechanism.joints.items() if name != "O4"})


def undriven() -> Mechanism:
    """Fig. 5 with the crank as a body that is free to turn."""
    base = library.grigore_figure_5()
    o2, density = 0.1 * np.exp(1j * TILTED), base.bodies["rocker"].mass / 0.25
    return base.replace(
        bodies={"crank": bar(0.1, density * 0.1), **base.bodies},
        joints={
            "O1": Revolute(between=("ground.O1", "crank.start")),
            "O2": Revolute(between=("crank.end", "coupler.start")),
            **base.joints,
        },
        drives={},
        start={"crank": TILTED, "crank.x": o2.real / 2, "crank.y": o2.imag / 2, **base.start},
    )


class Blocks:
    """The blocks B and E of the paper at a random state of a mechanism, and its own matrix in terms of them."""

    def __init__(self, system: System) -> None:
        self.system, mechanism = system, system.mechanism
        random = np.random.default_rng(5)
        self.q = assemble(system) + random.uniform(-0.3, 0.3, len(system.coordinates))
        self.v = random.uniform(-1, 1, len(system.coordinates))
        self.equations = system.evaluate(self.q, self.v)
        self.bodies = list(mechanism.bodies)
        self.first = 3 - self.bodies.index("rocker")  # the paper's number of the first body
        self.joints: dict[str, dict[str, np.ndarray]] = {}
        for name, joint in mechanism.joints.items():
            self.joints[name] = {ref.partition(".")[0]: self._arm(ref) for ref in joint.between}
        if "O2" not in self.joints:
            self.joints["O2"] = {"coupler": self._arm("coupler.start")}

    def _arm(self, reference: str) -> np.ndarray:
        """A point as seen from the mass centre, in global axes: U_X, U_Y; of the ground its place."""
        body, _, point = reference.partition(".")
        if body == "ground":
            return np.array(self.system.mechanism.ground.points[point])
        x, y = self.system.mechanism.bodies[body].arm(point)
        c, s = (f(self.q[3 * self.bodies.index(body) + 2]) for f in (np.cos, np.sin))
        return np.array([c * x - s * y, s * x + c * y])

    def number(self, body: str) -> int:
        """The paper's number of a body."""
        return self.bodies.index(body) + self.first

    def B(self, joint: str, body: str) -> np.ndarray:
        """Equation (5): how the joint's point on a body moves with its coordinates."""
        x, y = self.joints[joint][body]
        return np.array([[1.0, 0.0, -y], [0.0, 1.0, x]])

    def E(self, joint: str, body: str) -> np.ndarray:
        """Equation (5): D^T B with the unit vector D of equation (3), here with the distance that there is."""
        return self.D(joint)[None] @ self.B(joint, body)

    def D(self, joint: str) -> np.ndarray:
        """Equation (3): from the first point to the second over the clearance."""
        ends = []
        for body in (ref.partition(".")[0] for ref in self.system.mechanism.joints[joint].between):
            at = 0 if body == "ground" else self.q[3 * self.bodies.index(body) :][:2]
            ends.append(at + self.joints[joint][body])
        return (ends[1] - ends[0]) / self.system.mechanism.value(f"{joint}.clearance")

    def rows(self, joint: str) -> np.ndarray:
        """Our rows of a joint, or of the drives of its point."""
        mine = [
            i for i, row in enumerate(self.system.rows) if row.partition(".")[0] in (joint, f"{joint}x", f"{joint}y")
        ]
        return self.equations.B[mine]

    def evaluate(self, block: str, body: str, height: int) -> np.ndarray:
        """A block such as -B2(1) as numbers."""
        if block == "0":
            return np.zeros((height, 3))
        sign, kind, joint = (1 if block[0] == "+" else -1), block[1], f"O{block[2]}"
        return sign * (self.B if kind == "B" else self.E)(joint, body)

    def named(self, joint: str) -> str:
        """Our rows of a joint in the paper's words, by trying which of its blocks they are."""
        found = []
        rows = self.rows(joint)
        for i, body in enumerate(self.bodies):
            mine = rows[:, 3 * i : 3 * i + 3]
            kind = "B" if len(rows) == 2 else "E"
            known = (
                [f"{sign}{kind}{joint[1:]}({self.number(body)})" for sign in "+-"] if body in self.joints[joint] else []
            )
            fits = [b for b in ("0", *known) if np.allclose(self.evaluate(b, body, len(rows)), mine, atol=1e-12)]
            found.append(fits[0] if fits else "?")
        return f"[{' '.join(found)}]"

    def wrong(self, joint: str, line: Sequence[str]) -> int:
        """How many entries of a printed line differ from ours, the sign of the whole line being free."""
        rows = self.rows(joint)
        counts = []
        for sign in (1, -1):
            off = 0
            for i, (body, block) in enumerate(zip(self.bodies, line, strict=True)):
                mine, printed = rows[:, 3 * i : 3 * i + 3], sign * self.evaluate(block, body, len(rows))
                same = mine.shape == printed.shape
                off += int((np.abs(mine - printed) > 1e-12).sum()) if same else mine.size
            counts.append(off)
        return min(counts)


CHAINS: dict[str, tuple[Callable[[], Mechanism], tuple[tuple[str, ...], ...]]] = {
    "figure 5, driven": (lambda: opened(library.grigore_figure_5()), FIGURE_5_DRIVEN),
    "figure 5, undriven": (lambda: opened(undriven()), FIGURE_5_UNDRIVEN),
    "figure 6": (library.grigore_figure_6, FIGURE_6),
}


@functools.cache
def blocks_of(item: str) -> Blocks:
    """The blocks of one of the paper's chains."""
    return Blocks(System(CHAINS[item][0]()))


def compared(item: str, joint: str, given: Sequence[Sequence[str]]) -> Found:
    """Our rows of a joint, and how many entries of the printed ones are wrong."""
    blocks = blocks_of(item)
    ours = blocks.named(joint)
    off = sum(blocks.wrong(joint, line) for line in given) if given else np.count_nonzero(blocks.rows(joint))
    why = (
        "the rows are missing" if not given else "two rows are printed for one" if len(given) > 1 else "signs or blocks"
    )
    return Found(ours, f"{off} entries are wrong: {why}" if off else "", holds=not off)


def matrices() -> Iterator[Row]:
    """The printed lines of the matrices of constraints beside the derivative of the constraints."""
    joints = {"figure 5, driven": "O2 O3", "figure 5, undriven": "O1 O2 O3", "figure 6": "O1 O2 O3 O4 O5 O6 O7"}
    for item, (_, printed) in CHAINS.items():
        for joint in joints[item].split():
            given = [line for name, *line in printed if name == joint]
            paper = " / ".join(f"[{' '.join(line)}]" for line in given) or "not printed"
            found = functools.partial(compared, item, joint, given)
            reference = CORRECTED.get((item, joint))
            yield row(item, {"joint": joint}, "rows of the joint", "", found, paper, reference)


def sizes() -> Iterator[Row]:
    """Rows, columns and degrees of freedom."""
    printed = "as printed, open at O4"
    ways: tuple[tuple[str, str, Callable[[], Mechanism], str | None, str | None, int | None, str], ...] = (
        ("figure 5, driven", printed, lambda: opened(library.grigore_figure_5()), "3 x 6", None, 3, ""),
        ("figure 5, driven", "rocker on O4", library.grigore_figure_5, None, "5 x 6", 1, ""),
        ("figure 5, undriven", printed, lambda: opened(undriven()), "6 x 9", "5 x 9", 4, "a block of two rows for one"),
        ("figure 5, undriven", "rocker on O4", undriven, None, "7 x 9", 2, ""),
        ("figure 6", "all joints", library.grigore_figure_6, "11 x 15", "12 x 15", 3, "O6 twice, O4 not at all"),
    )
    for item, chain, made, paper, shape, degrees, note in ways:
        size = lambda made=made: "{0.rows} x {0.coordinates}".format(counted(made))  # noqa: E731
        yield row(item, {"chain": chain}, "rows x columns", "", size, paper, shape, note=note)
        count = lambda made=made: counted(made).degrees  # noqa: E731
        yield row(item, {"chain": chain}, "degrees of freedom", "", count, None, degrees)


def counted(made: Callable[[], Mechanism]) -> Any:
    """Rows, coordinates and degrees of freedom of a mechanism."""
    system = System(made())
    return freedom(system, assemble(system))


# -- formulas at a random state
W, TIME = 1.3, 2.0  # rad/s, s


@functools.cache
def driven() -> Blocks:
    """Fig. 5 at a random state, the rocker on O4."""
    return Blocks(System(library.grigore_figure_5(W)))


def right_hand_side(name: str) -> float:
    """Our right-hand side of a row of Fig. 5, {C} in the paper (m/s)."""
    system = driven().system
    return float(system.evaluate(assemble(system), t=TIME).speed[system.rows.index(name)])


def derivative() -> float:
    """How far the corrected derivative of section 3.4 is from ours, as a share."""
    blocks = driven()
    found = blocks.equations.Bdot[blocks.system.rows.index("O3.distance")]
    r, vi, vj = 1e-3, blocks.v[:3], blocks.v[3:]
    D, Bi, Bj = blocks.D("O3"), blocks.B("O3", "coupler"), blocks.B("O3", "rocker")
    corrected = []
    for sign, B, body, rate in ((-1, Bi, "coupler", vi[2]), (1, Bj, "rocker", vj[2])):
        turning = np.zeros((2, 3))
        turning[:, 2] = -rate * blocks.joints["O3"][body]
        corrected.append(sign * ((Bj @ vj - Bi @ vi) @ B / r + D @ turning))
    return float(np.abs(np.concatenate(corrected) - found).max() / np.abs(found).max())


def third_entry() -> Found:
    """The third entry of E by equation (9), and by our row over the length of D there."""
    blocks = driven()
    (x, y), theta = blocks.system.mechanism.bodies["rocker"].arm("start"), float(blocks.q[5])
    D = blocks.D("O3")
    alpha, length = math.atan2(D[1], D[0]), float(np.hypot(*D))
    printed = -x * math.sin(theta - alpha) - y * math.cos(theta - alpha)
    return Found(float(blocks.rows("O3")[0, 5]) / length, paper=printed)


def turning_block() -> Found:
    """The third column of the derivative of B at O4 as printed in section 3.4, and ours."""
    blocks = driven()
    printed = -blocks.v[5] * blocks.joints["O4"]["rocker"]
    mine = [i for i, name in enumerate(blocks.system.rows) if name.startswith("O4")]
    ours = blocks.equations.Bdot[mine, 5]
    sign = -1.0 if blocks.rows("O4")[0, 3] < 0 else 1.0  # ours may be written the other way round
    return Found([float(sign * x) for x in ours], paper=[float(x) for x in printed])


def known_point() -> Found:
    """Equation (10) where the drive begins: the speed of O2, and B times the rates that start a run."""
    system = System(library.grigore_figure_5(W))
    q, v = start(system)
    rows = [system.rows.index(name) for name in ("O2x.x", "O2y.y")]
    ours = system.evaluate(q, v).B[rows] @ v
    printed = [-0.1 * W * math.sin(TILTED), 0.1 * W * math.cos(TILTED)]
    return Found([float(x) for x in ours], paper=printed)


def separated(made: Callable[[], Mechanism]) -> Found:
    """Whether masses and B M^-1 B^T can be inverted: then reactions come first, motion after."""
    system = System(made())
    here = system.evaluate(assemble(system))
    mass = np.diag(here.M) if here.M.ndim == 1 else here.M
    inner = here.B @ np.linalg.solve(mass, here.B.T)
    scale = np.sqrt(np.diag(inner))
    least = float(np.linalg.eigvalsh(inner / np.outer(scale, scale)).min())
    return Found(least, "rows scaled to 1; every body has mass and inertia", holds=least > 1e-9)


def formulas() -> Iterator[Row]:
    """The right-hand side of Fig. 5, (9), (10) and the derivatives of section 3.4."""
    signs = {"O2x.x": ("first", -math.sin(W * TIME + TILTED)), "O2y.y": ("second", -math.cos(W * TIME + TILTED))}
    for name, (place, printed) in signs.items():
        paper = 0.1 * W * printed
        reference = -paper if place == "second" else None
        compute = functools.partial(right_hand_side, name)
        note = "the sign is wrong" if place == "second" else ""
        case = {"speed": W, "time": TIME}
        yield row("figure 5, {C}", case, f"{place} entry", "m/s", compute, paper, reference, 1e-14, note=note)
    for item, quantity, unit, pair in (
        ("equation 9", "third entry of E", "m", third_entry),
        ("equation 10", "velocity of the driven point", "m/s", known_point),
        ("section 3.4", "third column of the derivative of B", "m/s", turning_block),
    ):
        yield row(item, {"state": "random"}, quantity, unit, pair, within=1e-12)
    quantity = "the same for a point with known motion"
    yield row("section 3.4", {}, quantity, paper="Btilde = -theta' [...]", note="the dot over Btilde is missing")
    text = "q_j'^T Bj^T Bi/r - Bj^T Bi/r + D^T Bdot_i"
    yield row("section 3.4", {}, "Edot, as printed", paper=text, missing="q_i' in the second term of it")
    corrected = "Edot, corrected: relative difference to ours"
    yield row("section 3.4", {"state": "random"}, corrected, "", derivative, None, 0.0, 1e-9)


def statements() -> Iterator[Row]:
    """What introduction and conclusion say, and the misprints."""
    claim = "the inertia matrix is regular: reactions separate from the motion"
    for chain, made in (("figure 5", library.grigore_figure_5), ("figure 6", library.grigore_figure_6)):
        compute = functools.partial(separated, made)
        quantity = "least eigenvalue of B M^-1 B^T"
        yield row("introduction", {"chain": chain}, quantity, "", compute, claim, HOLDS)
    quantity = "the numerical applications confirm the statements"
    yield row("conclusions", {}, quantity, missing="any numerical application, nor lengths and masses for one")
    for item, quantity, note in (
        ("equations 3, 4", "joint without clearance", "D = 0 divides by r = 0; d = O^(j) - O^(i) = 0 is meant"),
        ("equation 1", "coordinates of O_k^(i)", "y_k^(j) stands before (1) in place of y_k^(i)"),
        ("equation 6", "rate of U_kY", "the dot is missing on the left"),
        ("section 3.2", "Utilde_lY", "tildes are missing over x_l and y_l"),
        ("section 3.3", "the matrices that are assembled", "(9), (10) are named where (7), (10) are meant"),
    ):
        yield row(item, {}, quantity, note=note)


def rows(**options: float) -> Iterator[Row]:
    """All comparisons; options are the tolerances rtol and atol of the driven runs."""
    from . import grigore_motion

    yield from matrices()
    yield from sizes()
    yield from formulas()
    yield from statements()
    yield from grigore_motion.rows(**options)
