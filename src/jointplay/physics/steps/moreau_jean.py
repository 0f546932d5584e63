"""Moreau-Jean time stepping for rigid contact: which of its steps is taken.

The scheme as published in 2016 is in first_order.py; a step of second order is made of passes (passes.py,
second_order.py), and a tolerance may choose its length (chosen.py).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from ...engine.typing import Scalar
from ...errors import InputError
from ...model.clearances import Rigid
from ..motion import Motion
from ..step import Point, Step, Stepper, is_number, positive
from .chosen import ChosenStep
from .first_order import RigidStep
from .second_order import SecondOrder

STEP = 1e-5  # s: of order 1, unless it is given
RTOL = 5e-7  # of order 2, unless it or a step is given: why, docs/second_order.md
LEAST, MOST = 1e-12, 1e-2  # tolerances


@dataclass(frozen=True)
class MoreauJean(Stepper):
    """Moreau-Jean time stepping for rigid contact, with steps chosen by a tolerance or of one length.

    rtol: the tolerated error of a step, relative to what the speed of each body moves it on (steps/chosen.py), 5e-7
    unless given; step: in its place, the length of all steps (s), of order 1 1e-5 s unless given; theta: weight of
    the new rates in the positions; projection: "combined" moves positions back onto joints and closed contacts in every
    step, "none" leaves their drift; forces: "explicit" at the beginning of a step, or at its "midpoint"; order: 2, or
    1 for the scheme as published in 2016, to which theta and forces belong.
    """

    step: float | None = None
    theta: float = 0.5
    projection: Literal["combined", "none"] = "combined"
    forces: Literal["explicit", "midpoint"] = "explicit"
    order: Literal[1, 2] = 2
    rtol: float | None = None

    computes: ClassVar[tuple[type, ...]] = (Rigid,)
    impulsive: ClassVar[bool] = True
    error_order: ClassVar[int] = 2

    def __post_init__(self) -> None:
        if self.step is None and self.rtol is None:
            name, default = ("step", STEP) if self.order == 1 else ("rtol", RTOL)
            object.__setattr__(self, name, default)
        if self.step is not None and self.rtol is not None:
            raise InputError(f"MoreauJean: give step or rtol, not both; got {self.step!r} and {self.rtol!r}")
        positive("MoreauJean", **({"step": self.step} if self.rtol is None else {"rtol": self.rtol}))
        if self.rtol is not None and not LEAST <= self.rtol <= MOST:
            raise InputError(f"MoreauJean: rtol must be between {LEAST:g} and {MOST:g}, got {self.rtol!r}")
        if self.rtol is not None and self.order == 1:
            raise InputError("MoreauJean: the scheme of order 1 has steps of one length; give step in place of rtol")
        if not (is_number(self.theta) and 0.5 <= self.theta <= 1):
            raise InputError(f"MoreauJean: theta must be between 0.5 and 1, got {self.theta!r}")
        for name, known in (("projection", ("combined", "none")), ("forces", ("explicit", "midpoint"))):
            if getattr(self, name) not in known:
                raise InputError(f"MoreauJean: {name} must be one of {', '.join(known)}, got {getattr(self, name)!r}")
        if self.order not in (1, 2) or isinstance(self.order, bool):
            raise InputError(f"MoreauJean: order must be 1 or 2, got {self.order!r}")
        for name, only in (("theta", 0.5), ("forces", "explicit")) if self.order == 2 else ():
            if getattr(self, name) != only:
                text = f"a step of order 2 knows {name}={only!r} only, got {getattr(self, name)!r}; add order=1"
                raise InputError(f"MoreauJean: {text}")

    @property
    def adaptive(self) -> bool:  # type: ignore[override]
        """Whether a tolerance chooses the steps."""
        return self.rtol is not None

    @property
    def numbers(self) -> tuple[str, ...]:  # type: ignore[override]
        """The fields that are run-time numbers."""
        return ("rtol",) if self.adaptive else ("step",)

    @property
    def remembers(self) -> bool:
        """Whether steps use what acted in the last one."""
        return self.order == 2

    def finer(self) -> MoreauJean:
        """The same with half its steps."""
        if self.rtol is not None:
            return replace(self, rtol=max(self.rtol / 4, LEAST))
        assert self.step is not None
        return replace(self, step=self.step / 2)

    def take(self, motion: Motion, now: Point, h: Scalar) -> Step:
        """One step of length h."""
        if self.order == 1:
            return RigidStep(self, motion, now.state, h).step()
        return (ChosenStep if self.adaptive else SecondOrder)(self, motion, now.state, h).step()
