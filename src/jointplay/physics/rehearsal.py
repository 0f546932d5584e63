"""What a controller sees of its loop, and a rehearsal of it, which tells whether it asks for the model."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ..engine.program import Names, trace
from ..engine.typing import Scalar, Vector
from ..laws import Law
from ..model.control import Control
from .reduced import Reduced, same_axes


@dataclass
class View:
    """What a controller sees of its loop; see `jointplay.laws.controllers`."""

    time: Scalar
    values: Vector
    rates: Vector
    references: Vector
    reference_rates: Vector
    reference_accelerations: Vector
    actuators: list[str]
    reduced: Reduced | None
    watched: dict[str, Scalar] = field(default_factory=dict)

    @property
    def errors(self) -> Vector:
        """Values minus references."""
        return [a - b for a, b in zip(self.values, self.references, strict=True)]

    @property
    def error_rates(self) -> Vector:
        """Their rates."""
        return [a - b for a, b in zip(self.rates, self.reference_rates, strict=True)]

    @property
    def model(self) -> Reduced:
        """The ideal mechanism at what is measured."""
        if self.reduced is None:
            raise ValueError("this control loop has no model; its law must be declared with @controller(model=True)")
        return self.reduced

    def watch(self, name: str, number: Scalar) -> None:
        """Record a signal."""
        self.watched[name] = number


def uses_model(control: Control) -> bool:
    """Whether the loop needs the model: by its law, for gravity, or because sensors are elsewhere."""
    sensors = list(control.sensors.values())
    elsewhere = bool(sensors) and not same_axes(sensors, list(control.coordinates.values()))
    if control.gravity or (elsewhere and control.computed):
        return True
    return control.computed and needs_model(control.law.law, len(control.coordinates), tuple(control.actuators))


class Stand:
    """Stands for the model in a rehearsal: numbers in the right places, and nothing behind them."""

    def __init__(self, one: Scalar, axes: int, actuators: int) -> None:
        self.one, self.axes, self.actuators = one, axes, actuators
        self.values, self.rates = [one] * axes, [one] * axes

    def torques(self, accelerations: Sequence[Scalar], rates: Sequence[Scalar] | None = None) -> Vector:
        """One for each actuator."""
        return [self.one] * self.actuators

    def gravity(self) -> Vector:
        """One for each actuator."""
        return [self.one] * self.actuators

    def carried(self, torques: Sequence[Scalar]) -> Vector:
        """One for each actuator."""
        return [self.one] * self.actuators

    def energy(self, rates: Sequence[Scalar]) -> Scalar:
        """One number."""
        return self.one


@functools.lru_cache(64)  # a study asks the same law for every run
def needs_model(law: Law, axes: int, actuators: tuple[str, ...]) -> bool:
    """Whether a controller asks for the model: it says so, or it is rehearsed on recording values and seen to do it.

    What goes wrong in a rehearsal goes wrong again in the run, and is told there.
    """
    if law.model is not None:
        return law.model
    asked: list[bool] = []

    def rehearse(s: Names, p: Names) -> dict[str, Scalar]:
        one = p.one

        class Rehearsal(View):
            @property
            def model(self) -> Any:
                asked.append(True)
                return Stand(one, axes, len(actuators))

        n = [one] * axes
        view = Rehearsal(one, n, n, n, n, n, list(actuators), None)
        own = {name: [one] * axes for name in (*law.rates, *law.memory)}
        law(view, **dict.fromkeys(law.own, one), **own)
        return {}

    with contextlib.suppress(Exception):
        trace(rehearse, {}, {"one": 1.0})
    return bool(asked)
