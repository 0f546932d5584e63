"""How runs end, as values: a kind, a sentence with time, element and remedy."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from xarray import Dataset


cut_short: list[
    str
] = []  # what Ctrl-C ended in this process and was returned as far as it was: no number of a whole run


class Ending(StrEnum):
    """How a run stands or ended."""

    RUNNING = "running"
    DONE = "done"
    INTERRUPTED = "interrupted"
    STOPPED = "stopped"
    NON_FINITE = "non-finite"
    NEAR_SINGULAR = "near singular"
    SOLVER_FAILED = "solver failed"
    STEP_TOO_SMALL = "step too small"
    STEP_TOO_LONG = "step too long"
    TOO_MANY_STEPS = "too many steps"
    CONTACT_LOST = "contact lost"
    CONTROLLER_FAILED = "controller failed"


@dataclass(frozen=True)
class Outcome:
    """How a run ended: its kind, a sentence, the time (s) that it reached, the element it is about, and what helps."""

    kind: Ending
    text: str
    time: float
    element: str = ""
    remedy: str = ""

    @property
    def complete(self) -> bool:
        """Whether the run went where it was asked to go."""
        return self.kind is Ending.DONE


class Finding(NamedTuple):
    """One finding of the audit of a run."""

    name: str
    value: float | None
    unit: str
    limit: float | None = None
    judgement: str | None = None


class SimulationFailed(RuntimeError):
    """A run that ended early; `outcome` says how, `result` holds what was computed."""

    def __init__(self, outcome: Outcome, result: Dataset) -> None:
        super().__init__(outcome.text)
        self.outcome, self.result = outcome, result

    def __reduce__(self) -> Any:
        return SimulationFailed, (self.outcome, self.result)
