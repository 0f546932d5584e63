"""What Hess Coelho, Orsino and Coutinho say of control and balance, and where their text is misprinted."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator

import numpy as np

from ..model import library
from ..statics import reduced
from ..system import System
from ._coelho_arms import row
from .coelho import ANGLES, inverse
from .rows import Found, Row

MISPRINTS = (
    ("equations 14, 16, 17", "signs", "f + g - M p' is meant: g is the inertia force, on the side of f"),
    ("equation 46", "the inputs", "u is meant, not Q"),
    (
        "definition 3.1",
        "the equation of motion",
        "u_k = sum M_kr p_r' + sum D_krs p_r p_s + sum B_kr p_r + z_k is meant",
    ),
    ("equation 62", "q_p3,1", "p_B2,1 is meant"),
    ("equation 77", "a row of ones", "the row 1 1 1 does not belong there"),
    ("section 4.4", "heading B", "trajectory 2 is meant, as its equations are"),
    ("section 4.4", "y_sat(0.2) = -y_sat(0.2)", "-y_sat(-0.2) is meant"),
    ("section 4.4", "payload of 1.5 kg in each arm", "3 kg in total at the common tip; only the total matters"),
)


def states(balanced: bool, count: int = 60) -> list[np.ndarray]:
    """Positions along trajectory 2."""
    _, _, found, _ = inverse("T2", balanced)
    return [state.q for state in found[:: max(1, len(found) // count)]]


@functools.cache
def spread(balanced: bool) -> tuple[float, float]:
    """Along trajectory 2 in redundant rates: the largest |D| over the largest |M|, and the largest |z| (N m)."""
    system = System(library.coelho_five_bar(balanced))
    terms = [reduced(system, q, ["J1", "J5"], ANGLES, ["J3"]) for q in states(balanced)]
    D, M, z = (max(float(np.abs(t[key]).max()) for t in terms) for key in ("D", "M", "z"))
    return D / M, z


def simpler(which: int) -> Found:
    """What balancing leaves of the terms that a controller has to compute."""
    even, odd = spread(True)[which], spread(False)[which]
    return Found([even, odd], "balanced, unbalanced; along trajectory 2", holds=even < 1e-9 * max(odd, 1.0))


def margin(balanced: bool) -> float:
    """The least s^T M sgn(s)/sqrt(s^T M s) along trajectory 2 over s = C sigma (kg^0.5 m): above zero the sliding mode
    of (55) draws s to zero, whatever s is."""
    system = System(library.coelho_five_bar(balanced))
    least = math.inf
    for q in states(balanced):
        found = reduced(system, q, ["J1", "J5"], ANGLES, ["J3"])
        C = found.C_hat.values
        wide = np.linalg.lstsq(C.T, found.M.values, rcond=None)[0]  # M' = C^T M: what acts on s = C sigma
        for angle in np.linspace(0, math.pi, 181):
            s = C @ np.array([math.cos(angle), math.sin(angle)])
            size = float(s @ wide @ s)
            if size > 0:
                least = min(least, float(s @ wide @ np.sign(s)) / math.sqrt(size))
    return least


def convergent(balanced: bool, reference: float) -> Found:
    """The margin, and whether it is above zero; the reference's is a sampled extreme, an order of magnitude."""
    found = margin(balanced)
    note = (
        f"sufficient, not necessary, and sampled along trajectory 2; our reference has {reference:g} over more states"
    )
    return Found(found, note, holds=found > 0)


def rows() -> Iterator[Row]:
    """Claims and misprints."""
    quantity = "gyroscopic terms by the largest mass term"
    claim = "control becomes simpler: "
    yield row("section 4.3", {}, quantity, "s", lambda: simpler(0), claim + "no gyroscopic terms in 5R_G")
    yield row("section 4.3", {}, "largest weight term", "N m", lambda: simpler(1), claim + "no weight terms in 5R_G")
    claim = "the actuators can be controlled independently"
    yield row("section 1", {"balanced": True}, "coupling of the inputs", "", coupled, claim)
    for balanced, reference in ((True, 0.26), (False, 0.017)):
        compute = functools.partial(convergent, balanced, reference)
        quantity = "margin of the sufficient condition of convergence"
        yield row("equation 55", {"balanced": balanced}, quantity, "", compute, "the error converges")
    quantity = "convergence under constraints"
    yield row(
        "equation 55", {}, quantity, note="no proof is given for constrained mechanisms; above is a sufficient one"
    )
    for item, quantity, note in MISPRINTS:
        yield row(item, {}, quantity, note=note)
    quantity = "values of the curves"
    missing = "numbers beside its plots: our reference stands in their place"
    for number in range(8, 22):
        yield row(f"figure {number}", {}, quantity, missing=missing)


def coupled() -> Found:
    """The largest off-diagonal entry of M of the balanced 5R in independent rates, by the largest diagonal one."""
    system = System(library.coelho_five_bar(True))
    shares = []
    for q in states(True):
        M = reduced(system, q, ["J1", "J5"]).M.values
        shares.append(abs(float(M[0, 1])) / float(np.abs(np.diag(M)).max()))
    return Found(max(shares), "largest off-diagonal entry of M by the largest diagonal one", holds=max(shares) < 1e-9)
