"""Grigore, Jderu, Enachescu: Matrix of Constraints for the Motion of the Planar Kinematic Chains with Rotational
Links with Clearances.

The paper prints matrices and no numbers; lengths and masses are assumed (see `library.grigore_figure_5`).  What is
printed is evaluated block by block at a random state and compared with the derivative of the constraints.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..model import library
from ..model.bodies import bar
from ..model.joints import Revolute
from ..model.mechanism import Mechanism
from ..simulation import RungeKutta, simulate
from ..statics import Equilibrium, assemble, equilibria, freedom, start
from ..system import System
from . import Record, Value, verdict

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
    ("Fig. 5, undriven", "O3"): "[0 -E3(2) +E3(3)]",
    ("Fig. 6", "O2"): "[-B2(1) +B2(2) 0 0 0]",
    ("Fig. 6", "O4"): "[0 0 -B4(3) 0 0]",
    ("Fig. 6", "O5"): "[0 -E5(2) 0 +E5(4) 0]",
    ("Fig. 6", "O6"): "[0 0 0 -E6(4) +E6(5)]",
}
TILTED = math.pi / 3  # rad: the crank at the start
EQUILIBRIUM = [0.20716037, 0.16358058, 0.45545892, 0.33235398, 0.12074030, -1.83260899]
SPEEDS = [-0.081102, 0.038771, -0.071450, -0.013848, 0.003711, 0.114695]  # at the start, for 1 rad/s
POSITION = [0.20679836, 0.11307265, 0.89423672, 0.30867999, 0.12469827, -1.64029214]  # at 5 rad/s after 1 s

record = functools.partial(Record, "grigore")


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


def matrices() -> Iterator[Record]:
    """The printed lines of the matrices of constraints beside the derivative of the constraints."""
    driven = library.grigore_figure_5()
    for item, mechanism, printed in (
        ("Fig. 5, driven", opened(driven), FIGURE_5_DRIVEN),
        ("Fig. 5, undriven", opened(undriven()), FIGURE_5_UNDRIVEN),
        ("Fig. 6", library.grigore_figure_6(), FIGURE_6),
    ):
        blocks = Blocks(System(mechanism))
        lines: dict[str, list[tuple[str, ...]]] = {name: [] for name in sorted(blocks.joints)}
        for joint, *line in printed:
            lines[joint].append(tuple(line))
        for joint, given in lines.items():
            paper = " / ".join(f"[{' '.join(line)}]" for line in given) or "not printed"
            ours = blocks.named(joint)
            off = sum(blocks.wrong(joint, line) for line in given) or (
                0 if given else np.count_nonzero(blocks.rows(joint))
            )
            if not given:
                said = f"differs by {off} entries: the rows are missing"
            elif off:
                said = f"differs by {off} entries" + (": two rows are printed for one" if len(given) > 1 else "")
            else:
                said = "reproduces"
            reference = CORRECTED.get((item, joint))
            if reference is not None:
                said += "; " + ("agrees with the reference" if ours == reference else "differs from the reference")
            yield record(item, {"joint": joint}, "rows of the joint", "", paper, reference, ours, said)


def sizes() -> Iterator[Record]:
    """Rows, columns and degrees of freedom."""
    five, six = library.grigore_figure_5(), library.grigore_figure_6()
    for item, case, mechanism, paper, shape, degrees, note in (
        ("Fig. 5, driven", "as printed, open at O4", opened(five), "3 x 6", None, None, ""),
        ("Fig. 5, driven", "rocker on O4", five, None, "5 x 6", 1, ""),
        (
            "Fig. 5, undriven",
            "as printed, open at O4",
            opened(undriven()),
            "6 x 9",
            "5 x 9",
            4,
            "a block of two rows for one",
        ),
        ("Fig. 5, undriven", "rocker on O4", undriven(), None, "7 x 9", 2, ""),
        ("Fig. 6", "all joints", six, "11 x 15", "12 x 15", 3, "O6 printed twice, O4 not at all"),
    ):
        system = System(mechanism)
        found = freedom(system, assemble(system))
        computed = f"{found.rows} x {found.coordinates}"
        said = verdict(computed, paper, shape, note=note)
        yield record(item, {"chain": case}, "rows x columns", "", paper, shape, computed, said)
        said = verdict(found.degrees, None, degrees)
        yield record(item, {"chain": case}, "degrees of freedom", "", None, degrees, found.degrees, said)


def formulas() -> Iterator[Record]:
    """The right-hand side of Fig. 5 and the derivative of the matrix (section 3.4) at a random state."""
    w, t = 1.3, 2.0
    system = System(library.grigore_figure_5(w))
    speed = system.evaluate(assemble(system), t=t).speed
    signs = {"O2x.x": ("first", -math.sin(w * t + TILTED)), "O2y.y": ("second", -math.cos(w * t + TILTED))}
    for row, (place, printed) in signs.items():
        paper, ours = 0.1 * w * printed, float(speed[system.rows.index(row)])
        reference = -paper if place == "second" else None
        said = verdict(ours, paper, reference, 1e-14, note="the sign is wrong" if place == "second" else "")
        yield record("Fig. 5, {C}", {"w": w, "t": t}, f"{place} entry", "m/s", paper, reference, ours, said)
    blocks = Blocks(system)
    found = blocks.equations.Bdot[system.rows.index("O3.distance")]
    r, vi, vj = 1e-3, blocks.v[:3], blocks.v[3:]
    D, Bi, Bj = blocks.D("O3"), blocks.B("O3", "coupler"), blocks.B("O3", "rocker")
    corrected = []
    for sign, B, body, rate in ((-1, Bi, "coupler", vi[2]), (1, Bj, "rocker", vj[2])):
        turning = np.zeros((2, 3))
        turning[:, 2] = -rate * blocks.joints["O3"][body]
        corrected.append(sign * ((Bj @ vj - Bi @ vi) @ B / r + D @ turning))
    off = float(np.abs(np.concatenate(corrected) - found).max() / np.abs(found).max())
    said = "not computable because the paper does not give a row there: in its second term q_i' is missing"
    yield record(
        "section 3.4", {}, "Edot, as printed", "", "q_j'^T Bj^T Bi/r - Bj^T Bi/r + D^T Bdot_i", None, None, said
    )
    said = verdict(off, None, 0.0, 1e-9)
    yield record("section 3.4", {}, "Edot, corrected: relative difference to ours", "", None, 0.0, off, said)


def rest(open_chain: bool = False) -> tuple[System, tuple[Equilibrium, ...]]:
    """The equilibria of Fig. 5 with the crank locked at 60 degrees."""
    base = library.grigore_figure_5()
    system = System(opened(base) if open_chain else base)
    return system, equilibria(system, 32)


def in_contact() -> Mechanism:
    """Fig. 5 at the equilibrium that pushes, the rocker's pin above the ground line."""
    system, found = rest()
    [valid] = [e for e in found if e.valid and e.q[1] > 0]
    named = (c.removesuffix(".angle") for c in system.coordinates)
    return system.mechanism.replace(start=dict(zip(named, map(float, valid.q), strict=True)))


def push(system: System, e: Equilibrium) -> float:
    """The normal force (N) at O3; below 0 the contact would have to pull."""
    return -float(e.multipliers[system.rows.index("O3.distance")])


def statics() -> Iterator[Record]:
    """Equilibria: hanging as an open chain, and with the rocker on its pivot."""
    system, found = rest(open_chain=True)
    [hanging] = [e for e in found if e.stability == "stable"]
    weight = -float(system.mechanism.bodies["rocker"].mass * 9.81)
    lam = -push(system, hanging)
    said = verdict(lam, None, -3.846746, 5e-7, note=f"- m3 g = {weight:.9g}")
    yield record("equilibrium", {"chain": "open at O4"}, "multiplier of O3, hanging", "N", None, -3.846746, lam, said)
    system, found = rest()
    case = {"chain": "rocker on O4", "crank": "60 deg"}
    upper = [e for e in found if e.q[1] > 0]
    said = verdict(len(upper), None, 2)
    yield record("equilibrium", case, "number with the coupler above", "", None, 2, len(upper), said)
    said = verdict(len(found), note="as many with the coupler below")
    yield record("equilibrium", case, "number on both branches", "", None, None, len(found), said)
    for e, N, text in zip(upper, (3.67698, -3.64867), ("in contact", "in tension"), strict=True):
        said = verdict(push(system, e), None, N, 5e-6, note=e.text)
        yield record("equilibrium", case, f"normal force at O3, {text}", "N", None, N, push(system, e), said)
    q = [float(x) for x in upper[0].q]
    said = verdict(q, None, EQUILIBRIUM, 6e-9)
    yield record("equilibrium", case, "position in contact", "m, m, rad", None, EQUILIBRIUM, q, said)


def motion(rtol: float = 1e-12, atol: float = 1e-13) -> Iterator[Record]:
    """Driven runs from the equilibrium in contact, with the least kinetic energy at the start."""
    base, stepper = in_contact(), RungeKutta(rtol=rtol, atol=atol)

    def turning(w: float) -> Mechanism:
        return base.with_({"O2x.frequency": w, "O2y.frequency": w})

    def compared(
        w: float, quantity: str, unit: str, reference: Value, computed: Any, off: float, note: str = ""
    ) -> Record:
        said = verdict(computed, None, reference, off, note=note)
        return record("Fig. 5, driven", {"w": w}, quantity, unit, None, reference, computed, said)

    v = [float(x) for x in start(System(turning(1.0)))[1]]
    yield compared(1.0, "velocities at the start", "m/s, m/s, rad/s", SPEEDS, v, 6e-7)
    for w, least, most in ((1.0, (1.04, 5e-3), (7.9, 0.05)), (2.0, (0.23, 5e-3), (18.3, 0.05))):
        run = simulate(turning(w), 4 * math.pi / w, stepper, strict=False)
        found = {"least": float(run.least_normal[0]), "largest": float(run.peak_normal[0])}
        for (reference, off), (which, N) in zip((least, most), found.items(), strict=True):
            yield compared(w, f"{which} normal force in two turns", "N", reference, N, off, run.attrs["outcome_text"])
    for w, time in ((2.2, 2.181128), (3.0, 1.572540)):
        run = simulate(turning(w), 4 * math.pi / w, stepper, strict=False)
        lost = float(run.attrs["outcome_time"]) if run.attrs["outcome"] == "contact lost" else run.attrs["outcome"]
        # the reference is the first microsecond with N < 0, ours the root before it
        yield compared(w, "contact lost at", "s", time, lost, 1e-6, run.attrs["outcome_text"])
    O3 = {**base.joints["O3"].plain(), "contact": {"kind": "following", "on_loss": "continue"}}
    bilateral = turning(5.0).replace(joints={**base.joints, "O3": O3})
    run = simulate(bilateral, 1.0, stepper, strict=False)
    q = [float(run[c].sel(body=body)[-1]) for body in base.bodies for c in ("x", "y", "angle")]
    yield compared(5.0, "position after 1 s, bilateral", "m, m, rad", POSITION, q, 1e-8)


def records(**options: Any) -> Iterator[Record]:
    """All comparisons; options are the tolerances rtol and atol of the driven runs."""
    yield from matrices()
    yield from sizes()
    yield from formulas()
    yield from statics()
    yield from motion(**options)
