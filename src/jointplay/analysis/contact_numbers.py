"""How an exponent depends on the stiffness and damping of the contacts, which nobody knows well."""

from __future__ import annotations

from typing import Any

from ..errors import InputError
from ..model.mechanism import Mechanism
from ..system import System
from .evidence import Evidence
from .lyapunov import Exponent

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


def contact_evidence(mechanism: Mechanism | System, asked: dict[str, Any], here: int) -> list[Evidence]:
    """The exponent with other stiffness and damping of all contacts; here: its sign with the numbers as they are."""
    from .judge import planned
    from .trajectories import watched

    base = mechanism.given if isinstance(mechanism, System) else mechanism
    listed, signs = [], {}
    for what in (STIFFNESS, DAMPING):
        for factor in FACTORS:
            changes = other_contacts(base, what, factor)
            found = planned(base.with_(changes), **asked) if changes else None
            if not isinstance(found, tuple):
                continue
            one = watched(*found, sweep=False).exponents["as it is"]
            signs[what, factor] = one.sign
            said = f"{growth(one)}, with {', '.join(f'{a} = {x:.4g}' for a, x in changes.items())}"
            listed.append(Evidence(f"largest exponent, contact {what} x {factor:g}, 1/s", one.value, one.error, said))
    if not listed:
        raise InputError(
            f"{base.name}: no contact of it has a stiffness or damping that could be varied; leave the contacts out"
        )
    other = [f"{what} x {factor:g}" for (what, factor), sign in signs.items() if sign * here < 0]
    said = "its sign is the same with all of them: the contact numbers do not decide"
    if other:
        said = f"its sign changes with {', '.join(other)}: the contact numbers decide, so they must be known"
    return [*listed, Evidence("contact numbers at which the exponent has another sign", float(len(other)), None, said)]


def growth(one: Exponent) -> str:
    """What an exponent says, in a word."""
    return {1: "neighbouring motions part", -1: "neighbouring motions meet", 0: "zero within 3 errors"}[one.sign]
