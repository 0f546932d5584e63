"""Steps of second order whose length a tolerance chooses.

The error of a step is judged by the change of the accelerations since the last one.  Over a step of length k a change
of the acceleration at the rate j moves a body aside by about j k^3/12; a step is good if this is at most rtol times
what the largest speed of the body so far would move it on, v k.  Both are measured for all of a body at once, as the
square root of m v^2 + J w^2, so that no length or angle has to be weighed against another.

A body that contacts hold at rest has no accelerations, yet they change when it slips or leaves.  So what contacts hold
is judged as if it moved the bodies, and a step is too long by which contacts hold for longer than they can: forces
carried on to its end then leave their cones, and what they miss there is compared with rtol times the largest speed.

A chosen step ends where something strikes, so that a short one can follow.  Contacts may knock each other open over
and over; what has less than rtol^2 of the kinetic energy is neglected, and while impacts follow each other within
what was a step before the first of them, more and more of it is, until they come to rest.
"""

from __future__ import annotations

from dataclasses import replace

from ...engine.text import branch
from ...engine.typing import Scalar, Vector
from ...engine.values import sqrt, where
from ...numerics.choice import maximum, minimum
from ...numerics.linalg import dot
from ..contact_solver import OPEN, STICKING, either
from ..motion import WATCHED
from ..step import State
from .first_order import Ends, Landing
from .passes import NOTHING, STILL
from .second_order import GO, Going, SecondOrder

SLOW = 1e-4  # a body that hardly moves is judged by this share of the kinetic energy of all
RESTING = (
    1e-2  # changes of force on a body that has not moved yet are judged by this share of what contacts kept it from
)
INSTANT = 1e-9  # of the time so far: when a contact lets go is not asked more closely
COARSER = 1.5  # by which what is neglected grows with each impact that follows another at once


class ChosenStep(SecondOrder):
    """One step of second order with its error, as text."""

    @property
    def scales(self) -> Vector:
        """The largest m v^2 + J w^2 of each body so far (J)."""
        return self.recent.watched[: -len(WATCHED)]

    def energy(self, i: int, rates: Vector) -> Scalar:
        """m v^2 + J w^2 of a body."""
        own = slice(3 * i, 3 * i + 3)
        return dot(self.equations.masses()[own], [w * w for w in rates[own]])

    def judged(self, ahead: Going, split: Scalar) -> Going:
        """The pass with its error relative to the tolerance; one that leads to an impact counts if it is too long by
        itself, and then as the whole step would."""
        new, old, k, h = ahead.state.recent, self.recent, self.k, self.h
        assert new is not None
        scales, worst = new.watched[: -len(WATCHED)], 0.0
        least = SLOW * sum(scales, start=0.0)
        change = [a - b for a, b in zip(new.a, old.a, strict=True)]
        for i, scale in enumerate(scales):
            worst = maximum(worst, self.energy(i, change) / maximum(scale + least, NOTHING))
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
        return replace(ahead, error=maximum(where(freed & instant, 0.0, error), missed / rtol))

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
        least, worst = SLOW * sum(self.scales, start=0.0), 0.0
        rates = [[x / m for x, m in zip(row, masses, strict=True)] for row in (changed, missed, held)]
        for i, scale in enumerate(self.scales):
            change, miss, rest = (self.energy(i, row) for row in rates)
            change = share * share * change / maximum(scale + least + rest * (RESTING * self.t) ** 2, NOTHING)
            worst = maximum(worst, maximum(change, where(instant, 0.0, miss / maximum(scale + least, NOTHING))))
        return sqrt(worst)

    def over(self, ahead: Going, rest: Scalar) -> Scalar:
        """A step ends where something strikes, or is given up."""
        return super().over(ahead, rest) | (self.impact & (self.going.strikes > 0.0)) | (ahead.error > 1.0)

    def still(self, response: Scalar) -> Scalar:
        """The rate of a gap that counts as none: it has less than rtol^2 of the kinetic energy, or more in a row of
        impacts."""
        neglected = maximum(self.recent.watched[-1], 1.0)
        energy = sum(self.scales, start=0.0)
        return maximum(STILL, self.motion.given("rtol") * neglected * sqrt(energy * abs(response)))

    def waiting(self, leaves: Scalar) -> Scalar:
        """A contact that hardly opens is not let go yet."""
        return self.learning | ~leaves

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
            where(struck, where(quick, COARSER * maximum(neglected, 1.0), 1.0), neglected),
        ]
        return replace(state, recent=replace(state.recent, watched=[*scales, *row]))
