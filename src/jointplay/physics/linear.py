"""The ideal mechanism in independent coordinates as text, y'' = f(y, y', u), with its derivatives.

Places follow from y, and rates from y', by the rows of the joints (the implicit function theorem).  What is
differentiated by places while rates are held, the terms of velocity, stands in a subroutine of both: derivatives
through it see that rates depend on places.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..engine.derivatives import derivative, derivatives
from ..engine.program import Names
from ..engine.text import emit, subroutine
from ..engine.typing import Scalar, Vector
from ..model.control import Along
from ..numerics.choice import maximum
from ..numerics.linalg import dot
from ..numerics.newton import hold
from .dynamics import Equations
from .loop import Loop, flag
from .reduced import WEAKEST, Model
from .spread import along


def placed(model: Model, begin: Vector, y: Vector, shifts: Vector, time: float) -> tuple[Vector, Scalar]:
    """The coordinates that belong to y, which move with the shifts of y as the joints demand, to first order; and what
    is left open, 1 where y does not determine them."""
    q, left, _ = model.close(begin, [hold(x) for x in y], time)
    q = [hold(x) for x in q]
    rows, more = model.rows(model.closed, model.axes, q, time)
    firm = model.spread([*rows.B, *more])
    follow = firm([*([0.0] * len(rows.B)), *shifts])[0]
    return [x + d for x, d in zip(q, follow, strict=True)], maximum(left, flag(firm.weak(WEAKEST)))


def linear(
    make: Callable[[Names], Equations], outputs: Sequence[tuple[Along, bool]], time: float = 0.0
) -> Callable[..., dict[str, Scalar]]:
    """The text that emits y, y', y'' and the outputs (values, or rates where so marked), with the derivatives of these
    two along a direction `along.0`, ... of y, y' and u, at coordinates `at.0`, rates `rate.0`, inputs `input.0`, ...

    The equations have a control loop whose coordinates are y and whose actuators are u.  One direction at a time: all
    of them together would be a program that grows with the square of the mechanism.
    """

    def step(s: Names, p: Names) -> dict[str, Scalar]:
        loop = Loop(make(p))
        plant, model = loop.plant, Model(loop.plant, loop.control.model_copy(update={"sensors": {}}))
        n = len(plant.coordinates)
        begin, speeds = ([p[f"{part}.{i}"] for i in range(n)] for part in ("at", "rate"))
        given = [p[f"input.{i}"] for i in range(len(model.acting))]
        places, lines = loop.lines(model.axes, begin, time)
        point, moved = [*places, *(dot(line, speeds) for line in lines), *given], hold(p["moved"])
        shifts = [moved * p[f"along.{i}"] for i in range(len(point))]
        beside, count = [hold(x) + d for x, d in zip(point, shifts, strict=True)], len(places)
        y, w, u = beside[:count], beside[count : 2 * count], beside[2 * count :]
        q, bad = placed(model, begin, places, shifts[:count], time)
        v = model.rates(q, w, time)

        @subroutine
        def moving(*numbers: Scalar) -> Vector:
            at, rates, push = list(numbers[:n]), list(numbers[n : 2 * n]), list(numbers[2 * n :])
            *_, a, _ = plant.accelerations(at, rates, time, loop.forces(at, time, push))
            _, lines = loop.lines(model.axes, at, time)
            bent = [along(derivatives(line, at), rates) for line in lines]
            return [dot(line, a) + dot(bend, rates) for line, bend in zip(lines, bent, strict=True)]

        values, lines = loop.lines([axis for axis, _ in outputs], q, time)
        seen = [dot(line, v) if rate else x for x, line, (_, rate) in zip(values, lines, outputs, strict=True)]
        found = [*moving(*q, *v, *u), *seen]
        numbers = [*y, *w, *found, *(x for [x] in derivative(found, [moved]))]
        emit("linear", bad=bad, **{f"c{i}": x for i, x in enumerate(numbers)})
        return {}

    return step
