"""How an exponent depends on the stiffness and damping of the contacts, which nobody knows well."""

from __future__ import annotations

from typing import Any

from ..errors import InputError
from ..model.mechanism import Mechanism
from ..system import System
from .agreement import FIRST
from .evidence import Evidence
from .lyapunov import Exponent
from .pace import Pace

FACTORS = (0.1, 0.3, 3.0)
STIFFNESS, DAMPING = "stiffness", "damping"
RESTITUTIONS = ("restitution", "stop_restitution")


def other_contacts(mechanism: Mechanism, what: str, factor: float) -> dict[str, float]:
    """The numbers of all contacts with a stiffness or damping times a factor, by address; empty if there are none.

    A coefficient of restitution e stands for damping that grows with 1 - e.
    """
    found = {}
    for address in mechanism.addresses():
        name, _, rest = address.partition(".")
        part, _, last = rest.rpartition(".")
        joint = mechanism.joints.get(name)
        if joint is None or part not in ("", "normal") or (part == "" and last not in RESTITUTIONS):
            continue
        stops = any(getattr(joint, end, None) is not None for end in ("lower", "upper"))
        if not (stops if last == RESTITUTIONS[1] else joint.loose):
            continue
        x = mechanism.value(address)
        if last == what and x:
            found[address] = factor * x
        elif last in RESTITUTIONS and what == DAMPING:
            found[address] = min(1.0, max(0.0, 1.0 - factor * (1.0 - x)))
    return {address: x for address, x in found.items() if x != mechanism.value(address)}


def variants(mechanism: Mechanism | System) -> dict[str, tuple[Mechanism, dict[str, float]]]:
    """The mechanism with other contacts, and the numbers that differ, by name."""
    base = mechanism.given if isinstance(mechanism, System) else mechanism
    asked = {f"{what} x {by:g}": other_contacts(base, what, by) for what in (STIFFNESS, DAMPING) for by in FACTORS}
    return {name: (base.with_(changes), changes) for name, changes in asked.items() if changes}


def contact_evidence(
    mechanism: Mechanism | System, asked: dict[str, Any], here: int, pace: Pace | None = None
) -> list[Evidence]:
    """The exponent with other stiffness and damping of all contacts; here: its sign with the numbers as they are."""
    from .judge import planned
    from .trajectories import watched

    pace = pace or Pace()
    listed, signs = list[Evidence](), dict[str, int]()
    for name, (changed, changes) in variants(mechanism).items():
        found = planned(changed, pace=pace, **asked)
        one = watched(*found, sweep=False, pace=pace).exponents.get(FIRST) if isinstance(found, tuple) else None
        if pace.stopped:
            return listed
        if one is None:
            continue
        signs[name] = one.sign
        said = f"{growth(one)}, with {', '.join(f'{a} = {x:.4g}' for a, x in changes.items())}"
        listed.append(Evidence(f"largest exponent, contact {name}, 1/s", one.value, one.error, said))
    if not listed:
        raise InputError(
            "no contact of this mechanism has a stiffness or damping that could be varied; leave the contacts out"
        )
    other = [name for name, sign in signs.items() if sign * here < 0]
    said = "its sign is the same with all of them: the contact numbers do not decide"
    if other:
        said = f"its sign changes with {', '.join(other)}: the contact numbers decide, so they must be known"
    return [*listed, Evidence("contact numbers at which the exponent has another sign", float(len(other)), None, said)]


def growth(one: Exponent) -> str:
    """What an exponent says, in a word."""
    return {
        1: "neighbouring motions part",
        -1: "neighbouring motions meet",
        0: "its sign is open, within three errors of zero",
    }[one.sign]
