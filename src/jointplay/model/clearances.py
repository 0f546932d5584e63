"""How a joint with play behaves: the contact that closes its clearance."""

from __future__ import annotations

from typing import Annotated, Literal

from .parts import OneOf, Part, Quantity
from .units import NUMBER


class Following(Part):
    """Permanent contact: the clearance is a massless link (Grigore et al.).

    The link can only push.  Where it would begin to pull, contact is lost: the run stops there, or continues as the
    bilateral model, marked.
    """

    kind: Literal["following"] = "following"
    on_loss: Literal["stop", "continue"] = "stop"


class Rigid(Part):
    """Unilateral contact with Newton's restitution and Coulomb's friction, both plain numbers."""

    kind: Literal["rigid"] = "rigid"
    restitution: Annotated[float, Quantity(NUMBER, at_least=0)] = 0.0
    friction: Annotated[float, Quantity(NUMBER, at_least=0)] = 0.0


Contact = Annotated[Following | Rigid, OneOf("contact")]
