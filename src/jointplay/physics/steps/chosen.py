"""Steps of second order whose length a tolerance chooses.

The error of a step is judged by the change of the accelerations since the last one.  Over a step of length k a change
of the acceleration at the rate j moves a body aside by about j k^3/12; a step is good if this is at most rtol times
what the largest speed of the body so far would move it on, v k.  Both are measured for all of a body at once, as the
square root of m v^2 + J w^2, so that no length or angle has to be weighed against another.

A body that contacts hold at rest has no accelerations, yet they change when it slips or leaves.  So what contacts hold
is judged as if it moved the bodies, and a step is too long by which contacts hold for longer than they can: forces
carried on to its end then leave their cones, and what they miss there is compared with rtol times the largest speed.

A chosen step ends where something strikes (onset.py), so that a short one can follow.  Contacts may knock each other
open over and over; what has less than rtol^2 of the kinetic energy is neglected, and while impacts follow each other
within what was a step before the first of them, more and more of it is, until they come to rest.

Nothing is known beyond rounding.  Where no body moves, rates are rounding, and a step is good if it moves no body aside
by more than places are rounded.  A contact that is drawn shut with an acceleration a gains a speed of sqrt(2 a d)
within the rounding d of its gap, and what rebounds no faster rests, or it would bounce for ever.
"""

from __future__ import annotations

import functools
from dataclasses import replace

from ...engine.text import branch, seldom
from ...engine.typing import Matrix, Scalar, Vector
from ...engine.values import sqrt, where
from ...numerics.choice import maximum, minimum
from ...numerics.linalg import dot, is_zero
from ..contact_solver import OPEN, STICKING, either
from ..motion import ROUND_OFF, WATCHED
from ..step import State
from .first_order import Ends, Landing, closing
from .onset import Onset
from .passes import NOTHING, STILL
from .second_order import GO, Going, Passed, choose

SLOW = 1e-4  # a body that hardly moves is judged by this share of the kinetic energy of all
RESTING = (
    1e-2  # changes of force on a body that has not moved yet are judged by this share of what contacts kept it from
)
LIGHTER = 1e4  # times the energy of a body that a contact joins: beside more its rebounds are not neglected
INSTANT = 1e-9  # of the time so far: when a contact lets go is not asked more closely
COARSEST = 1e-2  # of the speeds: what is faster is never neglected, else rows of elastic impacts would go uncounted
COARSER = 1.05  # by which what is neglected grows with each impact that follows another at once
BEYOND = 1e12  # more than any share of the speeds is in units of rtol


class ChosenStep(Onset):
    """One step of second order with its error, as text."""

    @property
    def scales(self) -> Vector:
        """The largest m v^2 + J w^2 of each body so far (J)."""
        return self.recent.watched[: -len(WATCHED)]

    def energy(self, i: int, rates: Vector) -> Scalar:
        """m v^2 + J w^2 of a body."""
        own = slice(3 * i, 3 * i + 3)
        return dot(self.equations.masses()[own], [w * w for w in rates[own]])

    def measures(self, scales: Vector) -> Vector:
        """What errors of bodies are judged by, as m v^2 + J w^2 (J): their own scale and a share of all; where nothing
        moves, what rounding of places is to rtol in this step."""
        every, total = range(len(scales)), sum(scales, start=0.0)
        ones = [self.energy(i, [1.0] * len(self.q)) for i in every]
        rests = total < STILL * STILL * sum(ones, start=0.0)
        rounded = where(rests, ROUND_OFF / (self.motion.given("rtol") * self.h), 0.0)
        return [maximum(scales[i] + SLOW * total + rounded * rounded * ones[i], NOTHING) for i in every]

    def judged(self, ahead: Going, split: Scalar) -> Going:
        """The pass with its error relative to the tolerance; one that leads to an impact counts if it is too long by
        itself, and then as the whole step would."""
        new, old, k, h = ahead.state.recent, self.recent, self.k, self.h
        assert new is not None
        scales, worst = new.watched[: -len(WATCHED)], 0.0
        change = [a - b for a, b in zip(new.a, old.a, strict=True)]
        for i, scale in enumerate(self.measures(scales)):
            worst = maximum(worst, self.energy(i, change) / scale)
        rtol = self.motion.given("rtol")
        error = sqrt(worst) * (h * h) / (6 * (k + old.length) * rtol)
        error = where(old.length > 0, error, 0.0)  # the first pass of all, and after an impact, cannot be judged
        goes = (self.going.aim == GO) & (error * (k * k) > h * h)
        whole = self.tries if split is False else self.tries & ~split  # nothing strikes without contacts
        error = where(whole | goes, error, 0.0)
        if not self.near.gaps:
            return replace(ahead, error=error)
        modes = list(zip(self.state.modes, ahead.state.modes, strict=True))
        freed = either([((m == STICKING) & (n != STICKING)) | ((m > OPEN) & (n == OPEN)) for m, n in modes])
        instant = k <= INSTANT * maximum(self.t, INSTANT)
        jump = [where(freed, x, 0.0) for x in change]
        shut = (whole | (self.going.aim == GO)) & either([before > OPEN for before, _ in modes])
        missed = branch(shut, lambda: self.holding(ahead.state, jump, instant), lambda: 0.0)
        error = maximum(where(freed & instant, 0.0, error), missed / rtol)
        return super().judged(replace(ahead, error=error), split)

    def holding(self, end: State, jump: Vector, instant: Scalar) -> Scalar:
        """The error of what contacts hold, as a share of the speeds: by its change; and, but for an instant, by those
        that hold for longer than they can, and by the jump of the accelerations where they let go."""
        near, masses, new, old, k = self.near, self.equations.masses(), end.recent, self.recent, self.k
        assert new is not None
        friction, static, _ = self.published.coefficients(near)
        onwards = k / (k + old.length)
        held, changed = ([0.0] * len(masses) for _ in range(2))
        missed = [m * abs(x) * k for m, x in zip(masses, jump, strict=True)]
        for i, (normal, tangent) in enumerate(zip(near.lines[::2], near.lines[1::2], strict=True)):
            lasts = (self.state.modes[i] > OPEN) & (end.modes[i] > OPEN) & (old.length > 0)
            sticks = lasts & (self.state.modes[i] == STICKING) & (end.modes[i] == STICKING)
            forces = (new.normal[i], new.tangential[i])
            grown = [where(lasts, x - y, 0.0) for x, y in zip(forces, (old.normal[i], old.tangential[i]), strict=True)]
            n, t = (x + onwards * d for x, d in zip(forces, grown, strict=True))  # at the end of the pass
            rough = near.contacts[i].tangential is not None
            slack, was = (where(sticks, static[i] * x - abs(y), x) if rough else x for x, y in ((n, t), forces))
            late = where(lasts & (slack < 0), slack / minimum(2 * (slack - was), -NOTHING), 0.0)  # share of the pass
            late = minimum(late, 1.0) * k
            for j, (a, b) in enumerate(zip(normal, tangent, strict=True)):
                held[j] = held[j] + (a * forces[0] + b * forces[1])
                changed[j] = changed[j] + (a * grown[0] + b * grown[1])
                lost = where(sticks, b * (abs(t) - friction[i] * n), a * n) if rough else a * n
                missed[j] = missed[j] + late * abs(lost)
        share = where(self.motion.counts, k * k / (6 * (k + old.length)), 0.0)  # a sample must not shorten the step
        worst: Scalar = 0.0
        rates = [[x / m for x, m in zip(row, masses, strict=True)] for row in (changed, missed, held)]
        for i, scale in enumerate(self.measures(self.scales)):
            change, miss, rest = (self.energy(i, row) for row in rates)
            change = share * share * change / (scale + rest * (RESTING * self.t) ** 2)
            worst = maximum(worst, maximum(change, where(instant, 0.0, miss / scale)))
        return sqrt(worst)

    def over(self, ahead: Going, rest: Scalar) -> Scalar:
        """A step ends where something strikes, or is given up."""
        return super().over(ahead, rest) | (self.impact & (self.going.strikes > 0.0)) | (ahead.error > 1.0)

    def beginning(self, last: Scalar) -> Going:
        """Before the first pass: nothing is known yet of what draws contacts shut."""
        return replace(super().beginning(last), falls=[0.0] * len(self.motion.labels))

    def onward(self, this: Passed) -> tuple[Going, Scalar]:
        """What follows a pass that does not end the step; one that leads into contacts tells what drew them shut."""
        going, more = super().onward(this)
        old, new = self.recent, this.ahead.state.recent
        assert new is not None
        slower = (x - y for x, y in zip(old.opening, new.opening, strict=True))
        grown = [maximum(x / maximum(self.k, NOTHING), 0.0) for x in slower]
        return replace(going, falls=choose(self.tries, grown, self.going.falls)), more

    def sinks(self, i: int, gap: Scalar) -> Scalar:
        """Where an open contact ends in penetration: it was open, or moved, and goes deeper."""
        old = self.recent
        moves = (old.gap[i] > ROUND_OFF) | (abs(old.opening[i]) > STILL)
        back = (gap < 0.0) & (dot(self.near.normals[i], self.arrives) < 0.0)
        return super().sinks(i, gap) | ((self.state.modes[i] == OPEN) & moves & back)

    def still(self, i: int, response: Scalar) -> Scalar:
        """The rate of a gap that counts as none: it has less than rtol^2 of the kinetic energy, or more in a row of
        impacts; or what draws the contact shut gives it such a rate within rounding."""
        rtol, energy = self.motion.given("rtol"), self.beside(i)
        neglected = minimum(rtol * maximum(self.recent.watched[-1], 1.0), maximum(rtol, COARSEST))
        gained = sqrt(2 * ROUND_OFF * self.going.falls[i])
        return maximum(maximum(STILL, gained), neglected * sqrt(energy * abs(response)))

    def beside(self, i: int) -> Scalar:
        """The kinetic energy beside which that of a rebound is small: of all bodies, unless one that the contact joins
        has far less; a flywheel elsewhere says nothing about a light pin."""
        line, total = self.near.normals[i], sum(self.scales, start=0.0)
        joined = [x for k, x in enumerate(self.scales) if not all(is_zero(n) for n in line[3 * k : 3 * k + 3])]
        least = functools.reduce(minimum, joined, total)
        return minimum(total, maximum(LIGHTER * least, total / (LIGHTER * LIGHTER)))

    def hold(self, responses: Matrix, opening: Vector, active: Vector) -> Vector:
        """A contact whose rebound counts as none is brought to rest.  If it kept its rate, the next impact beside it
        would turn that round, by Newton's rule, and the short step after it would take it for a force."""
        slow = [
            self.impact & shut & (rate <= self.still(i, responses[i][i]))
            for i, (shut, rate) in enumerate(zip(active, opening, strict=True))
        ]
        opens = either([one & (rate > 0.0) for one, rate in zip(slow, opening, strict=True)])
        rest = [-rate for rate in opening]
        none = [0.0 for _ in opening]
        pull: Vector = branch(opens, seldom(lambda: closing(responses, rest, slow)), lambda: [x + 0.0 for x in none])
        return pull

    def mode(
        self, i: int, active: Scalar, found: Scalar, normal: Scalar, opens: Scalar, leaves: Scalar, slip: Scalar
    ) -> Scalar:
        """How a contact goes on; one that does not push any more where something strikes, by its force carried on to
        the end of this pass, has let go there, however slowly it opens, and takes no part in the impact."""
        k, old = self.k, self.recent
        force = normal / maximum(k, NOTHING)
        carried = force + k / maximum(k + old.length, NOTHING) * (force - old.normal[i])
        released = (self.going.aim == GO) & ((normal <= 0) | ((old.length > 0) & (old.normal[i] > 0) & (carried < 0)))
        return where(released, OPEN, super().mode(i, active, found, normal, opens, leaves, slip))

    def waiting(self, leaves: Scalar) -> Scalar:
        """A contact that hardly opens is not let go yet."""
        return where(leaves, self.learning, True)

    def moved(self, ends: Ends, place: Landing, gaps: Vector) -> State:
        """The state after the pass, with what the next steps go by."""
        state = super().moved(ends, place, gaps)
        assert state.recent is not None
        scales = [maximum(scale, self.energy(i, ends.rates)) for i, scale in enumerate(self.scales)]
        calm, before, neglected = self.recent.watched[-len(WATCHED) :]
        struck, quick = self.impact & (self.going.strikes > 0.0), calm < before
        gone = calm + where(self.tries | (self.going.aim == GO), self.k, 0.0)
        row = [
            where(struck, 0.0, gone),  # time since the last impact (s)
            where(struck & ~quick, self.h, before),  # the step before a row of impacts (s)
            where(struck, where(quick, minimum(COARSER * maximum(neglected, 1.0), BEYOND), 1.0), neglected),
        ]
        return replace(state, recent=replace(state.recent, watched=[*scales, *row]))
