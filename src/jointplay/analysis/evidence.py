"""What a verdict is made of: indicators with value and error, and what each of them says."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

PERIODIC, QUASI, CHAOTIC, INCONCLUSIVE = VERDICTS = ("periodic", "quasi-periodic", "chaotic", "inconclusive")


@dataclass(frozen=True)
class Evidence:
    """One indicator: its value and error, and in a sentence what it says; `votes` for one of the verdicts, or none."""

    indicator: str
    value: float | None
    error: float | None
    says: str
    votes: str = ""

    def as_dict(self) -> dict[str, Any]:
        """For JSON: what is not a number becomes null."""
        return {
            "indicator": self.indicator,
            "value": number(self.value),
            "error": number(self.error),
            "says": self.says,
        }


@dataclass(frozen=True)
class Verdict:
    """What kind of motion it is, how that is known, and what would settle it if it is not.

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

    def headline(self) -> str:
        """The verdict in one line."""
        text = self.verdict
        if self.period is not None:
            text += f", {self.period:.6g} s"
            text += f" (period {self.multiple} of the drive)" if self.multiple and self.multiple > 1 else ""
        if self.exponent is not None:
            text += f", largest exponent {self.exponent:.4g}"
            text += f" +- {self.exponent_error:.2g} 1/s" if self.exponent_error is not None else " 1/s"
        return text


def number(x: Any) -> float | None:
    """A finite float, or None."""
    return None if x is None or not math.isfinite(float(x)) else float(x)
