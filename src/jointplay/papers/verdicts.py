"""What comes of a comparison: one word out of seven, by numbers alone."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from decimal import Decimal
from typing import Any

Value = float | str | list[float] | None

# How each verdict counts in a sentence: "3 reproduce the paper".
VERDICTS = {
    "reproduces": "reproduce the paper",
    "contradicts": "contradict the paper and agree with our reference",
    "agrees": "agree with our reference (the paper prints no value)",
    "differs": "differ",
    "not-computable": "cannot be computed from what the paper gives",
    "not-converged": "have not converged",
    "remark": "remarks",
}
GOOD = ("reproduces", "contradicts", "agrees")
HOLDS, FAILS = "holds", "does not hold"  # what a reference says of a statement


def difference(computed: Any, other: Any) -> float | None:
    """The largest difference of two numbers or lists of numbers; None if they are not comparable."""
    if isinstance(computed, str) or isinstance(other, str) or computed is None or other is None:
        return None
    one, two = (x if isinstance(x, list | tuple) else [x] for x in (computed, other))
    if len(one) != len(two):
        return None
    apart = [abs(float(a) - float(b)) for a, b in zip(one, two, strict=True)]
    return math.nan if any(map(math.isnan, apart)) else max(apart)


def meets(computed: Any, other: Any, within: float) -> bool:
    """Whether a value is another within a tolerance; texts are equal or not."""
    if other is None:
        return False
    off = difference(computed, other)
    return bool(computed == other) if off is None else off <= within


def judge(
    computed: Any,
    paper: Any = None,
    reference: Any = None,
    within: float = 0.0,
    close: float | None = None,
    *,
    holds: bool | None = None,
    ended: bool = True,
    converged: bool = True,
    computable: bool = True,
    fitted: bool = False,
) -> str:
    """The verdict of a comparison.

    within, close: how far from the paper's value and from the reference it may be (in its unit; close is within unless
    given). holds: of a statement in words, whether it is true of what is computed; its reference is then "holds" or
    "does not hold". ended: the run came to its end. converged: the number does not depend on step or tolerance.
    computable: the paper gives what is needed. fitted: the data were chosen so that the paper's value comes out.

    >>> judge(3.1412, paper=3.14, within=0.005), judge(3.2, paper=3.14, within=0.005)
    ('reproduces', 'differs')
    >>> judge(3.2, paper=3.14, reference=3.2), judge(3.2, reference=3.2)
    ('contradicts', 'agrees')
    >>> judge(None), judge(3.2, paper=3.2, computable=False), judge(None, paper=3.2, ended=False)
    ('remark', 'not-computable', 'differs')
    """
    if not converged and computed is not None:
        return "not-converged"
    if not computable:
        return "not-computable"
    if not ended:
        return "differs"
    if computed is None:
        return "remark"
    if paper is None and reference is None:
        raise ValueError("a number beside which nothing stands is no comparison")
    right = meets(computed, paper, within) if holds is None else holds
    known = meets(computed, reference, within if close is None else close)
    known = known or (holds is not None and reference == (HOLDS if holds else FAILS))
    if paper is None:
        return "agrees" if known else "differs"
    if fitted:
        return "agrees" if right else "differs"
    return "reproduces" if right else "contradicts" if known else "differs"


def printed_to(text: str) -> float:
    """Half a unit of the last digit of a printed number: how far from it a value may be that is printed so.

    >>> printed_to("82.5"), printed_to("2.3e3")
    (0.05, 50.0)
    """
    exponent = Decimal(text).as_tuple().exponent
    assert isinstance(exponent, int)
    return 0.5 * 10.0**exponent


def known_digits(x: float, spread: float) -> float:
    """A number with the digits that a spread of its values leaves (less than half a unit of the last), one at least.

    >>> known_digits(0.043712, 0.0002), known_digits(0.043712, 0.3), known_digits(12.3456, 0.0)
    (0.044, 0.04, 12.3456)
    """
    if not (math.isfinite(x) and math.isfinite(spread)) or x == 0 or spread <= 0:
        return x
    most = math.floor(math.log10(abs(x)))
    return round(x, -min(math.ceil(math.log10(2 * spread)), most))


@dataclass(frozen=True)
class Record:
    """One comparison; `case` says for which parameters. The keys of `as_dict` are what other programs read."""

    study: str
    item: str
    case: Mapping[str, Any]
    quantity: str
    unit: str
    paper: Value
    reference: Value
    computed: Value
    verdict: str
    note: str = ""

    def __post_init__(self) -> None:
        if self.verdict not in VERDICTS:
            raise ValueError(f"{self.item}, {self.quantity}: no verdict {self.verdict!r}")
        odd = {
            "remark": self.computed is not None,
            "reproduces": self.paper is None or self.computed is None,
            "contradicts": self.paper is None or self.reference is None or self.computed is None,
            "agrees": self.computed is None or (self.paper is None and self.reference is None),
        }
        if odd.get(self.verdict, False) or (not self.note and self.verdict in ("not-computable", "not-converged")):
            raise ValueError(f"{self.item}, {self.quantity}: {self.verdict!r} does not fit its values and note")

    @property
    def good(self) -> bool:
        """Whether what is computed agrees with the paper, or with the reference where the paper is wrong or silent."""
        return self.verdict in GOOD

    def as_dict(self) -> dict[str, Any]:
        """The record as plain data, for JSON."""
        return asdict(self)
