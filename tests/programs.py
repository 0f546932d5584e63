"""Random programs, built from a list of integers so that a shorter list is a smaller program.

Every number of a program stays within about [-2, 2] and every operation passes on errors at most slightly
enlarged, so that runs that round differently stay close.  What is discontinuous (comparisons, floor, the
rounds of a loop) is taken down in the memory "decisions": two runs may be compared closely if it agrees.
"""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from jointplay import engine as e

STATE = {"x": 0.3, "y": -0.7, "k": 1}
PARAMETERS = {"a": 0.4, "b": -0.9, "lag": 1, "seed": 3, "run": 0, "last": 100, "fail": 100, "every": 3}


class Draw:
    """Integers, one after the other, and zeros when they are used up."""

    def __init__(self, numbers: list[int]) -> None:
        self.numbers, self.names = iter(numbers), 0

    def __call__(self, below: int) -> int:
        return next(self.numbers, 0) % below

    def name(self, stem: str) -> str:
        self.names += 1
        return f"{stem}{self.names}"


@dataclass
class Scope:
    """What a piece of text can use: floats, those free of loops (which have derivatives), masks."""

    step: Any
    p: Any
    floats: list[Any]
    clean: list[Any]
    masks: list[Any] = field(default_factory=list)

    def inner(self, **changes: Any) -> "Scope":
        kept = {"floats": list(self.floats), "clean": list(self.clean), "masks": list(self.masks)}
        return replace(self, **{**kept, **changes})

    def note(self, count: Any) -> Any:
        cell = e.memory("decisions", 0)
        cell.value = cell.value * 31 + count

    def decided(self, mask: Any) -> Any:
        self.note(e.where(mask, e.whole(1), 2))
        return mask


def leaf(draw):
    kind, which = draw(4), draw(8)
    return lambda s: which / 4 - 1 if kind == 3 else s.floats[-1 - which % len(s.floats)]


SMOOTH = [
    lambda a, b: (a + b) * 0.5,
    lambda a, b: (a - b) * 0.5,
    lambda a, b: (a * b + b) * 0.25,
    lambda a, b: (a - a * b) * 0.25,
    lambda a, b: 0.5 * a / (1 + b * b),
    lambda a, b: e.sin(a),
    lambda a, b: e.cos(a + b) + 0.5 * e.sin(a + b),
    lambda a, b: e.exp(a - 2.0),
    lambda a, b: 0.9 * e.sqrt(a * a + 0.1),
    lambda a, b: 0.5 * e.log(a * a + 0.5),
    lambda a, b: e.atan2(a, b * b + 1.0),
    lambda a, b: 0.2 * (a * a + 0.1) ** 1.5,
    lambda a, b: -a,
]
ROUGH = [
    lambda s, a, b: e.minimum(a, b),
    lambda s, a, b: e.maximum(a, 0.25),
    lambda s, a, b: abs(a),
    lambda s, a, b: noted(s, e.floor(a)),
    lambda s, a, b: noted(s, round(a)),
    lambda s, a, b: noted(s, e.sign(a)),
]


def noted(scope: Scope, x: Any) -> Any:
    scope.note(e.integer(x))
    return x


def smooth(draw, depth=2):
    """A float of the floats and masks in scope, with a derivative; may stand in a subroutine."""
    which = draw(len(SMOOTH) + 6) if depth else 0
    if which < 2:
        return leaf(draw)
    a, b = smooth(draw, depth - 1), smooth(draw, depth - 1)
    if which < len(SMOOTH) + 2:
        return lambda s: SMOOTH[which - 2](a(s), b(s))
    chosen, select = draw(3), [e.where, chosen_side, constant_side, constant_code][which - len(SMOOTH) - 2]
    return lambda s: select(s.masks[chosen % len(s.masks)], a(s), b(s)) if s.masks else a(s)


def chosen_side(mask, a, b):
    return e.branch(mask, e.seldom(lambda: a * 0.75), lambda: e.branch(b > 5.0, lambda: b * a * 0.1, lambda: b))


def constant_side(mask, a, b):
    return -0.5 * e.branch(mask, lambda: a, lambda: 0.0) * b


def constant_code(mask, a, b):
    return -0.5 * e.branch(mask, lambda: -0.25, lambda: b * a) * b


def rough(draw, depth=2):
    """Any float."""
    which = draw(len(ROUGH) + 4) if depth else 0
    if which < 4:
        return smooth(draw, depth)
    a, b = rough(draw, depth - 1), rough(draw, depth - 1)
    return lambda s: ROUGH[which - 4](s, a(s), b(s))


def condition(draw):
    """A mask: of floats (a decision), of the step counter, or of other masks."""
    which, k = draw(6), draw(7)
    if which < 2:
        a, b = rough(draw, 1), rough(draw, 1)
        return lambda s: s.decided(a(s) < b(s) if which else a(s) >= b(s))
    if which == 2:
        return lambda s: (((s.step * 5 + k) >> 1) & 3) == (s.step ^ k) & 1
    if which == 3:
        return lambda s: e.due(s.step, s.p.every)
    a, b = condition(draw), condition(draw) if which == 4 else None
    return lambda s: a(s) ^ True if b is None else a(s) & b(s) | (s.step < k)


def assignment(draw, depth):
    value, test = rough(draw, 3), condition(draw)

    def text(s):
        s.masks.append(test(s))
        s.floats.append(value(s))

    return text


def choice(draw, depth):
    """A branch whose sides hold statements of their own and give two values."""
    test = condition(draw)
    sides = [(statements(draw, 1 + draw(2), depth - 1), rough(draw), rough(draw)) for _ in range(2)]

    def side(s, lines, first, second):
        inner = play(lines, s.inner())
        return [first(inner), second(inner)]

    mark = e.seldom if len(sides[0][0]) > 1 else lambda text: text

    def text(s):
        s.floats += e.branch(test(s), lambda: side(s, *sides[0]), mark(lambda: side(s, *sides[1])))

    return text


def repetition(draw, depth):
    """A loop that ends by its data."""
    start, more, lines = rough(draw), smooth(draw, 1), statements(draw, draw(3), depth - 1)
    most, until = 1 + draw(5), 0.05 + 0.1 * draw(8)

    def text(s):
        def body(v, n):
            inner = play(lines, s.inner(floats=[*s.floats, v]))
            new = 0.5 * v + 0.25 * more(inner)
            return [new, n + 1], abs(new) > until

        (v, n), unfinished = e.loop([start(s), e.whole(0)], body, most)
        s.note(n)
        s.masks.append(s.decided(unfinished))
        s.floats.append(v)

    return text


def routine_of(draw):
    """A subroutine of two floats and a mask, which may use a float from outside; gives two."""
    first, second, outside = smooth(draw), smooth(draw), draw(2)

    def make(s):
        @e.subroutine
        def routine(a, b, m):
            known = [a, b, s.clean[0]] if outside else [a, b]
            inner = s.inner(floats=known, clean=known, masks=[m])
            return first(inner), second(inner)

        return routine

    return make


def calls(draw, depth):
    """One subroutine, called three times."""
    routine, test, arguments = routine_of(draw), condition(draw), [smooth(draw, 1) for _ in range(3)]

    def text(s):
        call, mask, (a, b, c) = routine(s), test(s), (x(s) for x in arguments)
        first = call(a, b, mask)
        s.floats += [*first, *call(first[1], c, mask ^ True), *call(0.5, c, mask)]

    return text


def differentiation(draw, depth):
    """First or second derivatives by x and y through a subroutine, branches, where and solve."""
    inside, outside, routine, twice = smooth(draw, 3), smooth(draw), routine_of(draw), draw(3) == 2
    test, solving = condition(draw), draw(2)

    def text(s):
        inner = s.inner(floats=list(s.clean), masks=[*s.masks, test(s)])
        value = inside(inner)
        if solving:
            (root,), _ = e.solve(lambda z: [z + 0.25 * e.sin(z) - value], [value])
            inner.floats.append(root)
        inner.floats += routine(s)(value, outside(inner), inner.masks[-1])
        x, y = s.clean[:2]
        [row] = e.derivative([outside(inner)], [x, y])
        if twice:
            [row] = e.derivative([0.1 * row[0]], [x, y])
        s.floats.append(0.7 + 0.1 * e.sin(row[0]) + 0.1 * e.sin(row[1]))

    return text


def root(draw, depth):
    a, b = smooth(draw), smooth(draw)

    def text(s):
        u, v = a(s), b(s)
        (z, w), left = e.solve(lambda z, w: [z + 0.2 * w * w - u, w - 0.2 * e.sin(z) - v], [u, v])
        s.floats += [0.3 * z, 0.3 * w + 0.1 * left]

    return text


def keeping(draw, depth):
    """Memory, sums, peaks, rows, delays and random numbers."""
    value, kind, name, lag = rough(draw), draw(6), draw.name("keep"), draw(4)

    def text(s):
        x = value(s)
        if kind == 0:
            cell = e.memory(name, 0.25)
            s.floats.append(cell.value)
            cell.value = 0.5 * cell.value + 0.5 * x
        elif kind == 1:
            e.total(name, x)
        elif kind == 2:
            e.peak(name, x, e.number(s.step))
        elif kind == 3:
            e.emit("rows", step=s.step, x=x, big=x > 0.5)
        elif kind == 4:
            s.floats.append(e.delay(name, x, s.p.lag if lag == 3 else lag, s.step, 3, 0.5))
        else:
            s.floats.append(2 * e.random(s.p.seed, s.p.run, s.step, lag) - 1)

    return text


STATEMENTS = [assignment, keeping, choice, calls, differentiation, repetition, root]


def statements(draw, count, depth):
    usable = STATEMENTS if depth > 0 else STATEMENTS[:2]
    return [usable[draw(len(usable))](draw, depth) for _ in range(count)]


def play(lines, scope: Scope) -> Scope:
    for line in lines:
        line(scope)
    return scope


def program(numbers: list[int]) -> e.Program:
    """The program that a list of integers stands for."""
    draw = Draw(numbers)
    lines = statements(draw, 1 + draw(6), 2)
    x, y, mask = rough(draw), rough(draw), condition(draw)

    def step(s, p):
        names = [s.x, s.y, p.a, p.b]
        scope = play(lines, Scope(s.step, p, list(names), list(names)))
        e.emit("states", x=s.x, y=s.y, k=s.k)
        e.stop(s.step >= p.fail, e.SINGULAR_PIVOT, s.step)
        e.stop(s.step >= p.last)
        return {"x": 0.5 * x(scope), "y": 0.5 * y(scope), "k": e.where(mask(scope), s.k * 5, s.k) & 1023}

    return e.trace(step, STATE, PARAMETERS)


def parameter_sets(count: int, seed: int) -> list[dict[str, Any]]:
    """Different parameters for so many runs; most end at different steps, some of them badly."""
    rng = np.random.default_rng(seed)
    whole = {"lag": (0, 4), "seed": (0, 100), "last": (5, 25), "fail": (5, 40), "every": (1, 5)}
    return [
        {"a": rng.uniform(-1, 1), "b": rng.uniform(-1, 1), "run": i}
        | {name: int(rng.integers(*limits)) for name, limits in whole.items()}
        for i in range(count)
    ]
