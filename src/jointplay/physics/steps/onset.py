"""Where contacts begin inside a step that may be as long as a flight through the play.

A gap is followed through a step by the cubic H through its values and rates at both ends, and by its true value in the
middle, which H misses by m.  A contact that begins and ends inside the step shows as a least value of H below 0.  Where
m is too large to tell (the gap in the middle, or the least of H, is within 2 m of 0) the step is given up for a shorter
one: m falls with the fourth power of its length.

A pass then leads to where the gap is estimated to close.  It counts if the gap that it would have there is what the
tolerance allows; else the time is put right by Newton's method, kept between what is known to lie before and after.
"""

from __future__ import annotations

from dataclasses import replace

from ...engine.text import branch, seldom
from ...engine.typing import Scalar, Vector
from ...engine.values import sqrt, where
from ...numerics.choice import maximum, minimum
from ...numerics.linalg import dot
from ..contact_solver import OPEN, either
from ..contacts import contacts
from .first_order import Ends, Landing
from .passes import NOTHING
from .second_order import DEEP, GO, Going, Passed, SecondOrder, choose

FAR = 0.5  # of a gap: what moves by less in a step does not reach its wall
CRUDE = 0.01  # of how far a gap moves in a step: H that misses more of it does not tell how often it closes
NEARLY = 0.01  # of the tolerance: by so much of the way in a pass its contacts may be missed
TRIES = 20.0  # to meet a contact, before the step is given up
HALF, FIFTH = 4.0, 25.0  # errors that stand for half the step, and for a fifth of it


class Onset(SecondOrder):
    """A step of second order that finds the contacts inside it, and meets them where they are."""

    def beginning(self, last: Scalar) -> Going:
        """Before the first pass: no contact is sought yet."""
        return replace(super().beginning(last), sought=[0.0] * 3 if self.motion.labels else [])

    def closed(self, ends: Ends) -> tuple[Vector, Landing]:
        """The gaps where a pass ends, and the place there; and what gaps do inside a pass that is tried."""
        self.arrives = ends.rates
        gaps, place = super().closed(ends)
        if gaps:
            self.look_inside(gaps, place)
        return gaps, place

    def look_inside(self, gaps: Vector, place: Landing) -> None:
        """For each contact its least gap inside the pass and when that is, if it closes and opens in it; and whether
        the pass is too long to tell."""
        old, k, v = self.recent, self.k, self.v
        rates = [dot(n, self.arrives) for n in self.near.normals]
        moves = [k * maximum(abs(a), abs(b)) for a, b in zip(old.opening, rates, strict=True)]
        ends = zip(self.state.modes, moves, old.gap, gaps, strict=True)
        reaching = [(mode == OPEN) & (far > FAR * minimum(a, b)) for mode, far, a, b in ends]
        some = self.tries & either(reaching)

        def look() -> tuple[Vector, Vector, Scalar]:
            halfway = zip(self.q, place.q, v, self.arrives, strict=True)
            at = [0.5 * (a + b) + 0.125 * k * (x - y) for a, b, x, y in halfway]
            middle = [c.gap for c in contacts(self.equations.pose(at, self.t - 0.5 * k))]
            least, when, unsure = [], [], []
            for i, (begin, rate, true) in enumerate(zip(old.gap, old.opening, middle, strict=True)):
                a, b, rise = k * rate, k * rates[i], gaps[i] - begin
                miss = abs(true - (0.5 * (begin + gaps[i]) + 0.125 * (a - b)))
                bend, turn = 3 * rise - 2 * a - b, a + b - 2 * rise
                u = minimum(-a / maximum(bend + sqrt(maximum(bend * bend - 3 * a * turn, 0.0)), NOTHING), 1.0)
                dips = reaching[i] & (a < 0) & (b > 0) & (gaps[i] >= 0)
                lowest = begin + u * (a + u * (bend + u * turn))
                crude = reaching[i] & (true < 2 * miss) & (miss > maximum(CRUDE * moves[i], DEEP))
                unsure.append(crude | (dips & (abs(lowest) < 2 * miss) & (miss > DEEP)))
                least.append(where(dips, lowest, 0.0))
                when.append(where(dips, u * k, k))
            return least, when, where(either(unsure), 1.0, 0.0)

        none = [0.0 for _ in gaps]
        self.least, self.when, self.unsure = branch(some, seldom(look), lambda: (none, [k + 0.0 for _ in gaps], 0.0))

    def dips(self, i: int) -> Scalar:
        """Where an open contact closes and opens inside the pass."""
        return (self.state.modes[i] == OPEN) & (self.least[i] < minimum(self.recent.gap[i], 0.0) - DEEP)

    def sinks(self, i: int, gap: Scalar) -> Scalar:
        """Where an open contact ends in penetration, or was in it."""
        return super().sinks(i, gap) | self.dips(i)

    def meeting(self, i: int, gap: Scalar) -> Scalar:
        """When a contact met."""
        return self.root(i, where(self.dips(i), self.least[i], gap), self.when[i])

    def judged(self, ahead: Going, split: Scalar) -> Going:
        """The pass with its error: one that is too long to tell where contacts begin is given up."""
        if not self.near.gaps:
            return ahead
        return replace(ahead, error=maximum(ahead.error, where(self.unsure > 0.5, HALF, 0.0)))

    def onward(self, this: Passed) -> tuple[Going, Scalar]:
        """What follows a pass that does not end the step: one that leads into contacts but misses them is put right."""
        after, more = super().onward(this)
        if not this.deep:
            return after, more
        latest = self.k
        for sunk, when in zip(this.deep, self.when, strict=True):
            latest = minimum(latest, where(sunk, when, self.k))
        begun = replace(after, sought=[0.0, latest, 0.0])
        again, missed = self.put_right()
        goes = self.going.aim == GO
        after = choose(goes & missed, again, choose(self.tries, begun, after))
        return after, where(goes & missed, again.error <= 1.0, more)

    def put_right(self) -> tuple[Going, Scalar]:
        """The pass before contacts once more, nearer to them; and whether it must be."""
        going, k, rtol = self.going, self.k, self.motion.given("rtol")
        (low, high, tries), old, hit = going.sought, self.recent, [x > 0.5 for x in going.hit]
        rates = [minimum(dot(n, self.arrives), -NOTHING) for n in self.near.normals]
        each = list(zip(self.apart, rates, self.state.modes, old.gap, strict=True))
        allowed = [maximum(DEEP, NEARLY * rtol * k * abs(rate)) for rate in rates]
        sunk = [
            (mode == OPEN) & (gap < minimum(begin, 0.0) - limit)
            for (gap, _, mode, begin), limit in zip(each, allowed, strict=True)
        ]
        met = [mask & (abs(gap) <= limit) for mask, gap, limit in zip(hit, self.apart, allowed, strict=True)]
        late, there = either(sunk), either(met)
        high, low = where(late, k, high), where(late | there, low, k)
        asked = [where(late, a, b) for a, b in zip(sunk, hit, strict=True)]
        best = high
        for (gap, rate, _, _), mask in zip(each, asked, strict=True):
            guess = k - gap / rate
            guess = where((guess > low) & (guess < high), guess, 0.5 * (low + high))
            best = where(mask, minimum(best, guess), best)
        arrived = there & ~late
        others = either([a & ~b for a, b in zip(hit, met, strict=True)])  # they come later
        kept = [where(arrived, a, b) for a, b in zip(met, asked, strict=True)]
        lost = (tries >= TRIES) | (~arrived & (high - low <= 1e-15 * high))
        again = replace(
            going,
            k=where(arrived, k, best),
            hit=[where(x, 1.0, 0.0) for x in kept],
            sought=[low, high, tries + 1.0],
            error=where(lost, FIFTH, 0.0),
        )
        return again, ~arrived | others
