"""How time goes on: the steppers a run may use, as values."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np


def is_number(x: Any) -> bool:
    """Whether x is a finite number."""
    return isinstance(x, int | float | np.number) and not isinstance(x, bool) and math.isfinite(x)


def positive(owner: str, **numbers: Any) -> None:
    """Refuse numbers that are not above 0."""
    for name, x in numbers.items():
        if not (is_number(x) and x > 0):
            raise ValueError(f"{owner}: {name} must be a number > 0, got {x!r}")


@dataclass(frozen=True)
class RungeKutta:
    """Dormand and Prince's 5(4) pair with adaptive steps, projected on the constraints.

    rtol, atol: tolerated error of a step in every coordinate and rate, relative and absolute (SI); max_step (s):
    a hundredth of the run unless given.
    """

    rtol: float = 1e-8
    atol: float = 1e-10
    max_step: float | None = None

    def __post_init__(self) -> None:
        given = {} if self.max_step is None else {"max_step": self.max_step}
        positive("RungeKutta", rtol=self.rtol, atol=self.atol, **given)
        if self.rtol < 1e-14:
            raise ValueError(f"RungeKutta: rtol {self.rtol!r} is below what double precision can hold; use >= 1e-14")


@dataclass(frozen=True)
class FixedRungeKutta:
    """Steps of one length (s), projected on the constraints: by the fifth-order formula of the same pair, or by the
    classical one of order 4, which costs two thirds of it."""

    step: float
    order: Literal[4, 5] = 5

    def __post_init__(self) -> None:
        positive("FixedRungeKutta", step=self.step)
        if self.order not in (4, 5):
            raise ValueError(f"FixedRungeKutta: order must be 4 or 5, got {self.order!r}")


@dataclass(frozen=True)
class MoreauJean:
    """Moreau-Jean time stepping for rigid contact with steps of one length (s).

    theta: weight of the new rates in the positions; projection: "combined" moves positions back onto joints and
    closed contacts in every step, "none" leaves their drift; forces: "explicit" at the beginning of a step, or at
    its "midpoint".
    """

    step: float = 1e-5
    theta: float = 0.5
    projection: Literal["combined", "none"] = "combined"
    forces: Literal["explicit", "midpoint"] = "explicit"

    def __post_init__(self) -> None:
        positive("MoreauJean", step=self.step)
        if not (is_number(self.theta) and 0.5 <= self.theta <= 1):
            raise ValueError(f"MoreauJean: theta must be between 0.5 and 1, got {self.theta!r}")
        for name, known in (("projection", ("combined", "none")), ("forces", ("explicit", "midpoint"))):
            if getattr(self, name) not in known:
                raise ValueError(f"MoreauJean: {name} must be one of {', '.join(known)}, got {getattr(self, name)!r}")


Stepper = RungeKutta | FixedRungeKutta | MoreauJean
