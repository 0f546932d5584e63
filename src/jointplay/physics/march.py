"""One call of a run's program: a step is taken, judged, recorded and sampled.  The same for every stepper.

A stepper of impulses always arrives, and its samples are the ends of steps.  All others give states with slopes: the
march projects them onto the constraints, rejects steps whose error is too large, lands on the beginning and end of
contacts, and samples by a polynomial through both ends of the step, at most so many rows in a call; while rows are left
no new step is begun.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from ..engine.program import Names
from ..engine.typing import Scalar
from .dynamics import Equations
from .march_of_states import States
from .marches import ChosenMarch, Impulses
from .motion import Motion
from .step import Recent, State, Stepper


class Text:
    """The text of one call, for the equations that `make` builds from the parameters.

    labels: the contacts; clock: the parts of the control loop that are sampled or delayed, with the most steps of a
    delay; settles: whether a step ends where the run counts as settled.  When it is traced, `state` has the names of
    what a state holds, `rows` those of its constraints.
    """

    def __init__(
        self,
        make: Callable[[Names], Equations],
        labels: Sequence[str],
        stepper: Stepper,
        clock: Mapping[str, int],
        settles: bool = False,
    ) -> None:
        self.make, self.labels, self.stepper, self.clock, self.settles = make, labels, stepper, clock, settles
        self.state: State | None = None
        self.rows: list[str] = []

    def __call__(self, s: Names, p: Names) -> dict[str, Scalar]:
        strides = {name: p[f"clock.{name}"] for name in self.clock}
        strides |= {f"{name}.most": most for name, most in self.clock.items()}
        motion = Motion(self.make(p), self.labels, self.stepper, strides, lambda name: p[f"stepper.{name}"])
        if self.settles:
            motion.settled = p["stepper.settled"]
        march = (ChosenMarch if self.stepper.adaptive else Impulses) if self.stepper.impulsive else States
        march(motion, self.stepper, p).text()
        self.state, self.rows = motion.names_of_state, motion.rows
        return {}

    def found(self) -> dict[str, object]:
        """What was found by tracing, as plain data."""
        assert self.state is not None
        return {"state": asdict(self.state), "rows": self.rows}

    def take(self, found: Mapping[str, Any]) -> None:
        """Know again what was found."""
        state, recent = found["state"], found["state"]["recent"]
        self.state, self.rows = State(**state | {"recent": recent and Recent(**recent)}), found["rows"]
