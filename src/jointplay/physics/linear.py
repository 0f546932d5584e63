"""The ideal mechanism in independent coordinates as text, y'' = f(y, y', u), with its derivatives.

Places follow from y by the joints (`solve`, the implicit function theorem) and rates from y' by the rows.  What is
differentiated by places while rates are held, the terms of velocity, stands in a subroutine of both: derivatives
through it see that rates depend on places.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..engine.derivatives import derivative
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


def linear(
    make: Callable[[Names], Equations], outputs: Sequence[tuple[Along, bool]], time: float = 0.0
) -> Callable[..., dict[str, Scalar]]:
    """The text that emits y, y', y'' and the outputs (values, or rates where so marked), with derivatives of these two
    by y, y' and u, at coordinates `at.0`, ... with rates `rate.0`, ... and inputs `input.0`, ...

    The equations have a control loop whose coordinates are y and whose actuators are u.
    """

    def step(s: Names, p: Names) -> dict[str, Scalar]:
        loop = Loop(make(p))
        plant, model = loop.plant, Model(loop.plant, loop.control.model_copy(update={"sensors": {}}))
        n = len(plant.coordinates)
        begin, speeds = ([p[f"{part}.{i}"] for i in range(n)] for part in ("at", "rate"))
        u = [p[f"input.{i}"] for i in range(len(model.acting))]
        places, lines = loop.lines(model.axes, begin, time)
        y, w = [hold(x) for x in places], [hold(dot(line, speeds)) for line in lines]
        q, left, _ = model.close(begin, y, time)
        v = model.rates(q, w, time)

        @subroutine
        def moving(*numbers: Scalar) -> Vector:
            at, rates, push = list(numbers[:n]), list(numbers[n : 2 * n]), list(numbers[2 * n :])
            *_, a, _ = plant.accelerations(at, rates, time, loop.forces(at, time, push))
            _, lines = loop.lines(model.axes, at, time)
            bent = [[dot(row, rates) for row in derivative(line, at)] for line in lines]
            return [dot(line, a) + dot(bend, rates) for line, bend in zip(lines, bent, strict=True)]

        values, lines = loop.lines([axis for axis, _ in outputs], q, time)
        seen = [dot(line, v) if rate else x for x, line, (_, rate) in zip(values, lines, outputs, strict=True)]
        found = [*moving(*q, *v, *u), *seen]
        slopes = derivative(found, [*y, *w, *u])
        numbers = [*y, *w, *found, *(x for row in slopes for x in row)]
        rows, more = model.rows(model.closed, model.axes, begin, time)
        weak = flag(model.spread([*rows.B, *more]).weak(WEAKEST))
        emit("linear", bad=maximum(left, weak), **{f"c{i}": x for i, x in enumerate(numbers)})
        return {}

    return step
