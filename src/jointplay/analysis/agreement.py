"""What a sweep of exponents says together: one value, its error bar, the sign that is beyond doubt, and the words."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .evidence import CHAOTIC, INCONCLUSIVE, PERIODIC, Evidence
from .lyapunov import BARS, LINEAR, Exponent

FIRST = "as it is"  # the run whose value counts; the others check it
FINER = "finer steps"
AGREE = 4.0  # common errors by which two exponents of the sweep may differ
FADES = 0.5  # a rate of growth that falls below this share of the earlier one is no exponent


@dataclass(frozen=True)
class Agreement:
    """The exponents of a sweep by name, the first of which counts while the others check it.

    Everything that is said of them follows from here: the sign, the vote and the words of each row.
    """

    found: dict[str, Exponent]

    @property
    def first(self) -> Exponent:
        """The one whose value counts."""
        return self.found[FIRST]

    @cached_property
    def error(self) -> float:
        """The error bar (1/s): that of the first, or half its distance to the farthest of the others."""
        values = np.array([one.value for one in self.found.values()])
        return max(self.first.error, float(np.abs(values - self.first.value).max()) / 2)

    @property
    def bars(self) -> float:
        """How many error bars the value is away from zero."""
        return abs(self.first.value) / self.error if self.error else np.inf

    def apart(self, one: Exponent) -> float:
        """By how many common errors an exponent differs from the first."""
        common = float(np.hypot(one.error, self.first.error))
        if one.value == self.first.value:
            return 0.0
        return abs(one.value - self.first.value) / common if common else np.inf

    @cached_property
    def agreed(self) -> bool:
        """Whether all have the sign of the first, and its value within their errors."""
        same = all(one.value * self.first.value > 0 for one in self.found.values())
        return same and all(self.apart(one) <= AGREE for one in self.found.values() if one is not self.first)

    @cached_property
    def unanimous(self) -> bool:
        """Whether each by itself has the same sign, beyond its own error bars."""
        return self.first.sign != 0 and all(one.sign == self.first.sign for one in self.found.values())

    @property
    def parting(self) -> bool:
        """Whether neighbouring motions part in any of the runs."""
        return any(one.sign > 0 for one in self.found.values())

    @cached_property
    def later(self) -> float:
        """The rate of growth in the second half over that in the first."""
        half = len(self.first.growth) // 2
        early, late = float(self.first.growth[:half].mean()), float(self.first.growth[half:].mean())
        return late / early if early else np.inf

    @property
    def fading(self) -> bool:
        """Whether a separation grows ever slower: like time, as without damping, and not exponentially."""
        return self.doubted > 0 and self.later < FADES

    @cached_property
    def doubted(self) -> int:
        """The sign by value and error bars, before it is asked whether the growth fades.

        Where all agree, or each is beyond its own error, the value must be beyond the error bar of all together; that
        it is negative is also known if its size depends on the sweep.
        """
        beyond = self.bars > BARS and (self.agreed or self.unanimous)
        shrinks = self.unanimous and self.first.sign < 0
        return int(np.sign(self.first.value)) if beyond or shrinks else 0

    @cached_property
    def limit(self) -> float:
        """What steps of no length would give (1/s), if the value errs with their length: as much again as finer ones,
        of half the length, change; nan if there are none."""
        return 2 * self.found[FINER].value - self.first.value if FINER in self.found else np.nan

    @property
    def made(self) -> bool:
        """Whether a sign may be owed to the steps: finer ones give another size of a growth, beyond the errors, or what
        they change would, extrapolated to steps of no length, give no value of that sign."""
        if FINER not in self.found or not self.doubted:
            return False
        return self.limit * self.doubted <= 0 or (self.doubted > 0 and self.apart(self.found[FINER]) > AGREE)

    @property
    def sign(self) -> int:
        """1: neighbouring motions part; -1: they meet; 0: open."""
        return 0 if self.fading or self.made else self.doubted

    def says(self) -> str:
        """What the exponents say together."""
        if self.fading:
            return (
                f"positive, but falling: in the second half {self.later:.2g} of what it was in the first; neighbouring "
                "motions drift apart like time, not exponentially"
            )
        if self.made:
            word = "positive" if self.doubted > 0 else "negative"
            there = f"finer steps give {self.found[FINER].value:.4g} and steps of no length about {self.limit:.4g}"
            return f"{word}, but {there}: the steps may make it, and shorter ones would tell"
        if self.sign:
            word, motions = ("positive", "part") if self.sign > 0 else ("negative", "meet")
            how = f"by {self.bars:.1f} error bars" if self.bars > BARS else "in every run, each beyond its own error"
            size = "" if self.agreed else "; its size depends on the separation or the steps, its sign does not"
            if self.sign < 0 and self.first.floored:
                size = (
                    f"; in {self.first.floored} intervals both became the same number, so the value is an upper bound"
                )
            return f"{word} {how}: neighbouring motions {motions}{size}"
        if self.first.sign and not self.agreed:
            return "its sign is open: runs with other separations or steps do not agree"
        return f"its sign is open: {self.bars:.1f} error bars from zero, more than {BARS:g} are needed"

    def evidence(self, driven: bool) -> list[Evidence]:
        """The row that decides, and one for each run of the sweep; driven: whether a drive has a period."""
        meets = PERIODIC if driven else INCONCLUSIVE
        said = self.says()
        if self.sign < 0 and not driven:
            said += "; nothing drives it, so it comes to rest or has not settled"
        vote = {1: CHAOTIC, 0: "", -1: meets}[self.sign]
        rows = [Evidence("largest exponent, 1/s", self.first.value, self.error, said, vote, decides=True)]
        return rows + [self.row(name, one) for name, one in self.found.items()]

    def row(self, name: str, one: Exponent) -> Evidence:
        """One run of the sweep, beside the first."""
        if one is self.first:
            text = "the value that counts; its own error"
        else:
            close = "agrees with it" if self.apart(one) <= AGREE else "does not agree with it"
            text = f"{close}: {self.apart(one):.1f} common errors apart, {AGREE:g} are allowed"
        text += f"; separation {one.separation:.3g}, over {one.length:.4g} s"
        if one.floored:
            text += f"; in {one.floored} intervals both became the same number, so the value is an upper bound"
        if one.largest > LINEAR:
            text += f"; the separation reached {one.largest:.2g} of the motion and was not small any more"
        return Evidence(f"exponent, {name}, 1/s", one.value, one.error, text)
