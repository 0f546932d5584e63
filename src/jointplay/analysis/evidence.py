"""What a verdict is made of: indicators with value and error, and what each of them says."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

PERIODIC, QUASI, CHAOTIC, INCONCLUSIVE = VERDICTS = ("periodic", "quasi-periodic", "chaotic", "inconclusive")
INTERRUPTED = "interrupted, share that was done"


@dataclass(frozen=True)
class Evidence:
    """One indicator: its value and error, and in a sentence what it says.

    votes: the verdict that it speaks for, or none. decides: whether its vote counts; the others are shown beside.
    """

    indicator: str
    value: float | None
    error: float | None
    says: str
    votes: str = ""
    decides: bool = False

    def as_dict(self) -> dict[str, Any]:
        """For JSON: what is not a number becomes null."""
        return {
            "indicator": self.indicator,
            "value": number(self.value),
            "error": number(self.error),
            "says": self.says,
        }


def decided(evidence: Iterable[Evidence]) -> str:
    """The verdict on which all evidence that decides agrees; inconclusive where it does not, or none votes.

    >>> decided([Evidence("a", 1.0, None, "", CHAOTIC, True), Evidence("b", 0.0, None, "", "", True)])
    'chaotic'
    """
    votes = {one.votes for one in evidence if one.decides and one.votes}
    return votes.pop() if len(votes) == 1 else INCONCLUSIVE


@dataclass(frozen=True)
class Verdict:
    """What kind of motion it is, how that is known, and what would settle it if it is not.

    verdict: always what the evidence decides (`decided`).

    period (s): that after which the motion repeats, `multiple` times the drive's (or 1, without a drive). exponent
    (1/s): the largest Lyapunov exponent. details: curves for figures, by name.
    """

    verdict: str
    period: float | None
    multiple: int | None
    exponent: float | None
    exponent_error: float | None
    periods_covered: float | None
    evidence: list[Evidence]
    settle: str
    title: str = ""
    details: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    def __post_init__(self) -> None:
        said = decided(self.evidence)
        if said != self.verdict:
            raise AssertionError(f"the verdict {self.verdict!r} is not that of its evidence, {said!r}")

    def as_dict(self) -> dict[str, Any]:
        """The object that `jointplay analyse --json` prints."""
        return {
            "verdict": self.verdict,
            "period": number(self.period),
            "multiple": self.multiple,
            "exponent": number(self.exponent),
            "exponent_error": number(self.exponent_error),
            "periods_covered": number(self.periods_covered),
            "evidence": [one.as_dict() for one in self.evidence],
            "settle": self.settle,
        }

    @property
    def interrupted(self) -> bool:
        """Whether it was ended before all was computed."""
        return any(one.indicator == INTERRUPTED for one in self.evidence)

    def headline(self) -> str:
        """The verdict in one line."""
        text = f"{self.verdict}: interrupted" if self.interrupted else self.verdict
        if self.period is not None:
            text += f", {self.period:.6g} s"
            text += f" (period {self.multiple} of the drive)" if self.multiple and self.multiple > 1 else ""
        if self.exponent is not None:
            text += f", largest exponent {self.exponent:.4g}"
            text += f" ± {self.exponent_error:.2g} 1/s" if self.exponent_error is not None else " 1/s"
        return text


def number(x: Any) -> float | None:
    """A finite float, or None."""
    return None if x is None or not math.isfinite(float(x)) else float(x)
