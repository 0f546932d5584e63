"""Impulses of unilateral contacts with Coulomb friction: exact, by their modes.

A contact is open, slides one way or the other, or sticks.  One contact is solved in closed form.  Several are solved
for the modes of the step before; while these are wrong, each contact is switched to what its own signs say, and at
last all combinations are tried.  The least violated solution is kept, and how much it violates is given.  Two contacts
that stay open or go on sliding, which is what they mostly do, have a closed form that is taken if it violates nothing.

Contacts of one body that stick together share their friction as they like.  So one that sticks and would bear more than
its static friction allows bears just that, and slips only if the others do not hold the body beside it.

One that slid and whose slip turns in the step sticks if static friction could hold it at rest under the load of the
step; else it slides on the other way, and friction has not been more than that of sliding.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from ..engine.text import branch, loop, seldom
from ..engine.trees import mapped
from ..engine.typing import Matrix, Scalar, Vector
from ..engine.values import where
from ..numerics.choice import maximum
from ..numerics.linalg import dot, is_zero, linear_solve

OPEN, FORWARD, BACKWARD, STICKING = 0.0, 1.0, 2.0, 3.0
HELD_FORWARD, HELD_BACKWARD = 4.0, 5.0  # at the limit of static friction, and held by others
LOCAL = 6  # rounds of switching each contact by its own signs
MOST = 4096  # combinations of the active contacts tried at most
MET = 1e-7  # of the fastest approach: what a closed contact may keep of its own
SOFT = 1e-12  # relative regularisation, for contacts that share a direction
WEDGED = 1e-9  # of the product of its responses: a contact whose determinant is less slips only as it opens
STILL = 1e-12  # m/s: a slip that is none
SLIPLESS = 1e-6, STILL  # of its slip, and m/s: what is left of it counts as rounding
FINE = 1e-11  # violation that counts as none, relative to the impulses


@dataclass
class ContactProblem:
    """Contacts at one state: u = b + W p with rows normal, tangential of each contact in turn.

    W, b: as lists; tangential: whether a contact has friction; friction, static: coefficients; active: whether its
    gap is closed; mode: that of the step before.
    """

    W: Matrix
    b: Vector
    friction: Vector
    static: Vector
    active: Vector
    mode: Vector
    smooth: list[bool]  # contacts without friction
    slips: Vector = field(default_factory=list)  # at the beginning of the step (m/s); 0, or none, in an impact

    @property
    def apart(self) -> list[bool]:
        """Which contacts have static friction of their own."""
        return [one is not other for one, other in zip(self.friction, self.static, strict=True)]

    @property
    def count(self) -> int:
        """How many contacts there are."""
        return len(self.active)


@dataclass
class Answer:
    """Impulses in the order of the rows, modes, and the violation relative to the largest impulse."""

    impulses: Vector
    modes: Vector
    violation: Scalar


def solve_contacts(problem: ContactProblem) -> Answer:
    """The impulses that keep closed contacts from approaching, with friction in its cone."""
    idle = [not smooth and wedged(problem, i) for i, smooth in enumerate(problem.smooth)]
    friction, given = (
        [where(still, 0.0, mu) for still, mu in zip(idle, row, strict=True)]
        for row in (problem.friction, problem.static)
    )
    apart = problem.apart
    static = [mu if other else rough for mu, other, rough in zip(given, apart, friction, strict=True)]
    problem = replace(problem, friction=friction, static=static)
    answer = solved(problem)
    if problem.slips and any(apart):
        answer = turned(problem, answer)
    modes = [
        mode if still is False else where(still & (mode > OPEN), STICKING, mode)
        for still, mode in zip(idle, answer.modes, strict=True)
    ]
    for i in (i for i in range(problem.count) if problem.slips and apart[i]):
        # what rested and rests is held by static friction, whatever friction it takes beside a stop
        rests = slipless(problem, answer.impulses, i) & (abs(problem.slips[i]) <= STILL)
        modes[i] = where((modes[i] > OPEN) & rests, STICKING, modes[i])
    return replace(answer, modes=modes)


def slipless(problem: ContactProblem, p: Vector, i: int) -> Scalar:
    """Where impulses leave a contact no slip, beside what they and the rates of its own bodies add up to it."""
    terms = [problem.b[2 * i + 1], *(w * x for w, x in zip(problem.W[2 * i + 1], p, strict=True) if not is_zero(w))]
    size: Scalar = 0.0
    for x in terms:
        size = size + abs(x)
    return abs(sum(terms, start=0.0)) <= MET * size


def solved(problem: ContactProblem) -> Answer:
    """The impulses, by the number of contacts."""
    if problem.count == 1:
        return single(problem)
    first = likely(problem)
    return pair(problem, first) if problem.count == 2 else several(problem, first)


def turned(problem: ContactProblem, answer: Answer) -> Answer:
    """The answer, but for contacts that slid and now stick by more than the friction of sliding: they may only if they
    would be held from rest, too.  In a step in which the slip turns the impulse alone does not tell."""
    p, every = answer.impulses, range(problem.count)
    slid = [
        False if smooth else (mode == FORWARD) | (mode == BACKWARD)
        for mode, smooth in zip(problem.mode, problem.smooth, strict=True)
    ]
    doubtful = [
        slid[i] & (answer.modes[i] == STICKING) & (abs(p[2 * i + 1]) > problem.friction[i] * p[2 * i])
        for i in every
        if problem.apart[i]
    ]

    def again() -> Answer:
        b = list(problem.b)
        for i in every:
            b[2 * i + 1] = b[2 * i + 1] - where(slid[i], problem.slips[i], 0.0)
        rest = [where(moved, STICKING, mode) for moved, mode in zip(slid, problem.mode, strict=True)]
        held = solved(replace(problem, b=b, mode=rest)).modes
        static = [
            where(slid[i] & (held[i] != STICKING), mu, most) if problem.apart[i] else mu
            for i, (mu, most) in enumerate(zip(problem.friction, problem.static, strict=True))
        ]
        return solved(replace(problem, static=static))

    found: Answer = branch(either(doubtful), seldom(again), lambda: answer)
    return found


def wedged(problem: ContactProblem, i: int) -> Scalar:
    """Where a contact that stays shut cannot slip.  Any friction in its cone would do then, with another normal force
    each (a body with one freedom that rests on a rough wall); the choice is none, and not that of rounding."""
    W, (bn, bt) = problem.W, problem.b[2 * i : 2 * i + 2]
    (wnn, wnt), (_, wtt) = (row[2 * i : 2 * i + 2] for row in W[2 * i : 2 * i + 2])
    share, rounding = SLIPLESS
    still = abs(wnn * bt - wnt * bn) <= (share * abs(bt) + rounding) * wnn
    return (wnn * wtt - wnt * wnt <= WEDGED * wnn * wtt) & still


def likely(problem: ContactProblem) -> Vector:
    """The modes to try first: those of the step before; what was open and approaches slides."""
    modes = []
    for i, mode in enumerate(problem.mode):
        slides = where(problem.b[2 * i + 1] > 0, FORWARD, BACKWARD)
        modes.append(where(mode == OPEN, where(problem.b[2 * i] < 0, slides, OPEN), mode))
    return modes


def single(problem: ContactProblem) -> Answer:
    """One contact in closed form: slip, else stick, else slip the other way."""
    [[wnn, wnt], [_, wtt]], [bn, bt] = problem.W, problem.b
    [friction], [static], [mode] = problem.friction, problem.static, problem.mode
    slope = where(bt > 0, -friction, friction)  # tangential impulse per normal impulse
    # both quotients are there before the sign is known
    slip = -bn * where(bt > 0, 1 / (wnn - friction * wnt), 1 / (wnn + friction * wnt))
    reverses = (bt + (wnt + slope * wtt) * slip) * slope > 0
    sides = where(bt > 0, FORWARD, BACKWARD), where(bt > 0, BACKWARD, FORWARD)

    def stick() -> tuple[Scalar, Scalar, Scalar]:
        inverse = 1 / (wnn * wtt - wnt * wnt)
        n, t = (bt * wnt - bn * wtt) * inverse, (bn * wnt - bt * wnn) * inverse
        back = bn / (slope * wnt - wnn)
        inside = abs(t) <= static * n
        n2, t2 = where(reverses, back, slip), where(reverses, -slope * back, slope * slip)
        mode = where(inside, STICKING, where(reverses, sides[1], sides[0]))
        return where(inside, n, n2), where(inside, t, t2), mode

    # with strong friction the slip equation may lose its sign; what sticks is then always a solution
    held = reverses | (mode == STICKING) | (wnn + slope * wnt <= 0)
    if problem.apart[0]:  # what turns may be held by more than what it slides against
        held = held | (mode == sides[1])
    n, t, m = branch(held, stick, lambda: (slip, slope * slip, sides[0]))
    on = problem.active[0] & (bn < 0)
    n, t, m = where(on, n, 0.0), where(on, t, 0.0), where(on, m, OPEN)
    return Answer([n, t], [m], where(on, where(n >= 0, 0.0, 1.0), 0.0))


def pair(problem: ContactProblem, modes: Vector) -> Answer:
    """Two contacts, open or sliding as their modes say, by determinants; else what a search finds from these modes."""
    W, b, active, friction = problem.W, problem.b, problem.active, problem.friction
    opened = [~a | (mode == OPEN) for a, mode in zip(active, modes, strict=True)]
    slope = [where(mode == FORWARD, -mu, mu) for mode, mu in zip(modes, friction, strict=True)]
    (a, c), (d, e) = (
        [W[2 * i][2 * j] * (1 + SOFT if i == j else 1) + W[2 * i][2 * j + 1] * slope[j] for j in (0, 1)] for i in (0, 1)
    )
    a, c, d, e = where(opened[0], 1.0, a), where(opened[0], 0.0, c), where(opened[1], 0.0, d), where(opened[1], 1.0, e)
    right = [where(opened[i], 0.0, -b[2 * i]) for i in (0, 1)]
    over = 1 / (a * e - c * d)
    normal = [(right[0] * e - c * right[1]) * over, (a * right[1] - right[0] * d) * over]
    p = [x for n, s in zip(normal, slope, strict=True) for x in (n, s * n)]
    fastest = MET * maximum(abs(b[0]), abs(b[2]))
    fine: Scalar = True
    for i in (0, 1):
        un, ut = b[2 * i] + dot(W[2 * i], p), b[2 * i + 1] + dot(W[2 * i + 1], p)
        slides = (modes[i] != STICKING) & (normal[i] > 0) & (slope[i] * ut <= 0) & (abs(un) <= fastest)
        fine = fine & where(opened[i], ~active[i] | (un >= 0), slides)
    kept = [where(opened[i], OPEN, modes[i]) for i in (0, 1)]
    found: Answer = branch(fine, lambda: Answer(p, kept, 0.0), seldom(lambda: several(problem, modes)))
    return found


@dataclass
class Search:
    """Where the search for modes stands: those to try, the digits of the count of all combinations, the best so far."""

    modes: Vector
    digits: Vector
    best: Answer
    tries: Scalar


def several(problem: ContactProblem, first: Vector) -> Answer:
    """The first modes, then local switches, then all combinations; the least violated wins."""
    every, W, b = range(problem.count), problem.W, problem.b
    static, active = problem.static, problem.active
    apart = problem.apart
    soft = [[w * (1 + SOFT) if i == j else w for j, w in enumerate(row)] for i, row in enumerate(W)]

    fastest: Scalar = 1e-300
    for x in b:
        fastest = maximum(fastest, abs(x))

    def attempt(search: Search) -> tuple[Search, Scalar]:
        modes, best = search.modes, search.best
        opened = [~active[i] | (modes[i] == OPEN) for i in every]
        stuck = [~opened[i] & (modes[i] == STICKING) for i in every]
        held = [~opened[i] & (modes[i] > STICKING) if apart[i] else False for i in every]
        slope = slopes(problem, modes, [opened[i] | stuck[i] for i in every], held)
        p = branch(
            either(stuck), lambda: with_sticking(soft, b, opened, stuck, slope), lambda: sliding(soft, b, opened, slope)
        )
        largest: Scalar = 1e-30
        for x in p:
            largest = maximum(largest, abs(x))
        violation: Scalar = 0.0
        switched = []
        for i in every:
            n, t = p[2 * i], p[2 * i + 1]
            un, ut = b[2 * i] + dot(W[2 * i], p), b[2 * i + 1] + dot(W[2 * i + 1], p)
            over = abs(t) - static[i] * n
            against = slope[i] * ut > 0
            wrong = where(against, abs(ut) / W[2 * i + 1][2 * i + 1], 0.0)
            closed = maximum(-n, where(stuck[i], over, wrong))
            # contacts that cannot all be kept shut (a jam) still approach
            rests = slipless(problem, p, i)
            kept_shut = (abs(un) <= MET * fastest) & (~(stuck[i] | held[i]) | rests)
            closed = where(kept_shut, closed, largest)
            mine = where(opened[i], where(active[i], -un / W[2 * i][2 * i], 0.0), closed)
            violation = maximum(violation, mine / largest)
            slides = where(ut > 0, FORWARD, BACKWARD)
            limit = where(t > 0, HELD_BACKWARD, HELD_FORWARD) if apart[i] else where(t > 0, BACKWARD, FORWARD)
            better = where(stuck[i], where(over > 0, limit, STICKING), modes[i])
            better = where(~(stuck[i] | held[i]) & against, STICKING, better)
            if apart[i]:  # friction that the others let slip along with it, or that would be too much, as it slides
                better = where(held[i] & ~rests, where(against, STICKING, slides), better)
            better = where(n < 0, OPEN, better)
            switched.append(where(opened[i], where(active[i] & (un < 0), slides, OPEN), better))
        kept = [where(opened[i], OPEN, modes[i]) for i in every]
        less = violation < best.violation
        best = mapped(lambda x, y: where(less, x, y), Answer(p, kept, violation), best)
        counting = search.tries >= LOCAL
        carry, counted = counting, []
        for i in every:  # an odometer with four digits for each active contact, two without friction
            digit = search.digits[i] + where(carry & active[i], 1.0, 0.0)
            over_last = digit > (FORWARD if problem.smooth[i] else STICKING)
            carry = carry & (over_last | ~active[i])
            counted.append(where(over_last, 0.0, digit))
        following = [where(counting, d, x) for d, x in zip(search.digits, switched, strict=True)]
        most = LOCAL + min(4**problem.count, MOST)
        more = (best.violation > FINE) & (search.tries < most)
        return Search(following, counted, best, search.tries + 1.0), more

    zeros = [0.0] * problem.count
    begin = Search(first, zeros, Answer([0.0] * (2 * problem.count), zeros, 1e300), 0.0)
    search, _ = loop(begin, attempt, LOCAL + min(4**problem.count, MOST) + 1)
    impulses, found = search.best.impulses, search.best.modes
    modes = [where(mode > STICKING, STICKING, mode) if own else mode for mode, own in zip(found, apart, strict=True)]
    for i in every:  # round-off must neither pull nor act in an open contact
        shut = (modes[i] > OPEN) & (impulses[2 * i] > 0)
        impulses[2 * i], impulses[2 * i + 1] = where(shut, impulses[2 * i], 0.0), where(shut, impulses[2 * i + 1], 0.0)
    return Answer(impulses, modes, search.best.violation)


def slopes(problem: ContactProblem, modes: Vector, still: Vector, held: Vector) -> Vector:
    """The tangential impulse per normal impulse of each contact by its mode; still: where there is none."""
    found = []
    for mode, rests, holds, mu, most in zip(modes, still, held, problem.friction, problem.static, strict=True):
        forward = mode == FORWARD if holds is False else (mode == FORWARD) | (mode == HELD_FORWARD)
        mu = mu if holds is False else where(holds, most, mu)
        found.append(where(rests, 0.0, where(forward, -mu, mu)))
    return found


def with_sticking(soft: Matrix, b: Vector, opened: Vector, stuck: Vector, slope: Vector) -> Vector:
    """The impulses of contacts that are open, stick, or bear friction by a slope."""
    matrix, right = [], []
    for i in range(len(opened)):
        normal, tangential = 2 * i, 2 * i + 1
        matrix.append([where(opened[i], 1.0 if j == normal else 0.0, w) for j, w in enumerate(soft[normal])])
        fixed = {normal: -slope[i], tangential: 1.0}
        matrix.append([where(stuck[i], w, fixed.get(j, 0.0)) for j, w in enumerate(soft[tangential])])
        right += [where(opened[i], 0.0, -b[normal]), where(stuck[i], -b[tangential], 0.0)]
    return linear_solve(matrix, right)


def sliding(soft: Matrix, b: Vector, opened: Vector, slope: Vector) -> Vector:
    """The same where none sticks: half as many equations."""
    matrix, every = [], range(len(opened))
    for i in every:
        row = [soft[2 * i][2 * j] + soft[2 * i][2 * j + 1] * slope[j] for j in every]
        matrix.append([where(opened[i], 1.0 if j == i else 0.0, w) for j, w in enumerate(row)])
    n = linear_solve(matrix, [where(opened[i], 0.0, -b[2 * i]) for i in every])
    return [x for i in every for x in (n[i], slope[i] * n[i])]


def either(masks: Sequence[Scalar]) -> Scalar:
    """Where any of the masks holds."""
    result = masks[0]
    for mask in masks[1:]:
        result = result | mask
    return result
