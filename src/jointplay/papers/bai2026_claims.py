"""Which statements of the paper on the dual manipulator (Aerospace, 2026) hold in which assumed set, and misprints."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from ..model import library
from ..simulation import simulate
from .bai2026 import ARMS, KEPT, SIGNALS, STEPPER, errors, ideal, largest, motion, peaks, row
from .bai2026_cases import CLEARANCES, PRINTED, friction_alone, listing
from .rows import Found, Row

# -- the claims
Test = Callable[[str], tuple[bool, str]]


def _error(data: str, case: int, name: str = "angle") -> list[float]:
    return [float(np.degrees(peaks(data, case).errors[name][arm])) for arm in ARMS]


def _force(data: str, case: int, joint: str) -> float:
    return float(motion(data, case)["peak_force"].sel(joint=joint))


def _growing(name: str, arms: Sequence[int]) -> Test:
    def test(data: str) -> tuple[bool, str]:
        rows = [_error(data, case, name) for case in CLEARANCES]
        good = all(row[i] < after[i] for row, after in itertools.pairwise(rows) for i in arms)
        return good, "; ".join(f"arm {i + 1}: " + listing([row[i] for row in rows]) for i in arms)

    return test


def _accuracy(data: str) -> tuple[bool, str]:
    both, bare = largest(data, 3), largest(data, 3, False)
    return bool((both > 1e-3).all()), f"{listing(both[:2])} deg with friction, {listing(bare[:2])} without"


def _rates(data: str) -> tuple[bool, str]:
    off = errors(data, 1)["angle_rate"].sel(body="arm2").values
    swings = int((np.diff(np.sign(off[np.abs(off) > 0])) != 0).sum())
    return swings >= 10, f"{swings} changes of sign"


def _accelerations(data: str) -> tuple[bool, str]:
    smooth = float(np.degrees(np.abs(ideal(data)["angle_acceleration"].sel(body="arm2")).max()))
    ratio = _error(data, 1, "angle_acceleration")[1] / smooth
    return ratio > 10, f"{ratio:.0f} times the ideal arm 2"


def _tenfold(data: str) -> tuple[bool, str]:
    twin = ideal(data)["peak_force"]
    ratios = []
    for case, (loose, _) in library.SPACECRAFT_2026_CASES.items():
        ratios += [_force(data, case, joint) / float(twin.sel(joint=joint)) for joint in loose[:1]]
    return max(ratios) > 10, "cases 1 to 5: " + listing(ratios)


def _compared(name: str, one: int, two: int, arms: Sequence[int]) -> Test:
    """The errors of some arms are larger in a case than in another one."""

    def test(data: str) -> tuple[bool, str]:
        before, after = _error(data, one, name), _error(data, two, name)
        text = f"case {one}: {listing(before[i] for i in arms)}; case {two}: {listing(after[i] for i in arms)}"
        return all(after[i] > before[i] for i in arms), text

    return test


def _inner_force(data: str) -> tuple[bool, str]:
    pair = _force(data, 1, "J2"), _force(data, 2, "J1")
    return pair[1] > pair[0], f"{pair[1]:.4g} N against {pair[0]:.4g} N"


def _own(name: str) -> Test:
    def test(data: str) -> tuple[bool, str]:
        rows = [_error(data, case, name) for case in (1, 2)]
        return all(min(row[:2]) > max(row[2:]) for row in rows), "; ".join(map(listing, rows))

    return test


def _outer_arm(name: str, cases: Sequence[int]) -> Test:
    def test(data: str) -> tuple[bool, str]:
        rows = [_error(data, case, name) for case in cases]
        return all(row[1] > row[0] for row in rows), "; ".join(listing(row[:2]) for row in rows)

    return test


def _sensitive(data: str) -> tuple[bool, str]:
    """Errors by the largest ideal values: that of the acceleration above that of the angle."""
    shares = []
    for name in SIGNALS:
        size = float(np.degrees(np.abs(ideal(data)[name].sel(body="arm2")).max()))
        shares.append(_error(data, 1, name)[1] / size)
    return shares[2] > 10 * shares[0], f"angle, velocity, acceleration of arm 2: {listing(shares)} of the ideal"


NUDGE = 1e-15  # rad: a start that differs by round-off


def mirrored_by(data: str, case: int) -> tuple[float, float]:
    """How far the manipulators are from mirror images (deg), and how far a start that differs by round-off moves them.

    They are mirror images in exact numbers. The sums of a step are not taken in a mirrored order, so that the speeds of
    their first impacts differ in the last digit, and impacts amplify what is there."""
    run = motion(data, case)
    pairs = (("arm1", "arm3"), ("arm2", "arm4"))
    apart = max(
        float(np.abs(run["angle"].sel(body=a).values + run["angle"].sel(body=b).values).max()) for a, b in pairs
    )
    mechanism, T = library.spacecraft_2026(data, case), library.SPACECRAFT_2026_DATA[data].duration
    nudged = mechanism.replace(start={**mechanism.start, "arm1": mechanism.start["arm1"] + NUDGE})
    other = simulate(nudged, T, STEPPER, every=T / KEPT, error=False)
    return float(np.degrees(apart)), float(np.degrees(np.abs(other["angle"].values - run["angle"].values).max()))


def _mirrored(data: str) -> tuple[bool, str]:
    found = [mirrored_by(data, case) for case in CLEARANCES]
    apart, moved = (max(x) for x in zip(*found, strict=True))
    text = f"mirror images within {apart:.1g} deg, by round-off: a start turned by 1e-15 rad moves them by {moved:.1g}"
    return all(one <= max(1e-9, 10 * other) for one, other in found), text


def _by_friction(data: str) -> tuple[bool, str]:
    both = largest(data, 3)[:2]
    clearance, friction = largest(data, 3, False)[:2] / both, friction_alone(data)[:2] / both
    texts = (f"{100 * b:.0f} and {100 * a:.0f} %" for a, b in zip(clearance, friction, strict=True))
    return bool((clearance < 0.5).all() and (friction > 0.5).all()), ", ".join(texts)


ANGLE, RATE, ACCELERATION = SIGNALS
CLAIMS: tuple[tuple[str, str, Test], ...] = (
    ("figure 6", "clearance reduces the accuracy of the arms' angles", _accuracy),
    ("figure 7", "angular velocities swing around the ideal ones", _rates),
    ("figure 9", "peaks of angular acceleration grow significantly", _accelerations),
    ("conclusions", "contact forces can be more than 10 times the ideal reactions", _tenfold),
    ("conclusions", "velocity and acceleration are more sensitive than the angle", _sensitive),
    ("figure 6", "a loose joint disturbs its own manipulator more than the other: angles", _own(ANGLE)),
    ("figure 8", "a loose joint disturbs its own manipulator more than the other: velocities", _own(RATE)),
    ("figure 10", "a loose joint disturbs its own manipulator more than the other: accelerations", _own(ACCELERATION)),
    ("figure 13", "larger angle errors in every arm with joint 1 loose than with joint 2",
     _compared(ANGLE, 1, 2, (0, 1, 2, 3))),
    ("figure 15", "larger velocity errors of arms 1, 3, 4 with joint 1 loose", _compared(RATE, 1, 2, (0, 2, 3))),
    ("figure 15", "a smaller velocity error of arm 2 with joint 1 loose", _compared(RATE, 2, 1, (1,))),
    ("figure 17", "larger acceleration errors of arms 1, 3, 4 with joint 1 loose",
     _compared(ACCELERATION, 1, 2, (0, 2, 3))),
    ("figure 18", "larger contact forces with joint 1 loose than with joint 2", _inner_force),
    ("figure 20", "with joint 2 loose the angle error of arm 2 exceeds that of arm 1", _outer_arm(ANGLE, (1, 3, 4, 5))),
    ("figure 22", "the same for the velocity, case 3", _outer_arm(RATE, (3,))),
    ("figure 24", "the same for the acceleration, case 3", _outer_arm(ACCELERATION, (3,))),
    ("figure 20", "more loose joints, larger angle errors: arms 1, 2 (their own joints unchanged)",
     _compared(ANGLE, 1, 3, (0, 1))),
    ("figure 20", "more loose joints, larger angle errors: arms 3, 4 (joint 4 now loose)",
     _compared(ANGLE, 1, 3, (2, 3))),
    ("figure 22", "more loose joints, larger velocity errors of arms 3, 4", _compared(RATE, 1, 3, (2, 3))),
    ("figure 24", "more loose joints, larger acceleration errors of arms 3, 4", _compared(ACCELERATION, 1, 3, (2, 3))),
    ("figure 24", "the peak acceleration of arm 1 rises from case 1 to case 3", _compared(ACCELERATION, 1, 3, (0,))),
    ("figure 20", "with joints 2 and 4 loose both manipulators have the same errors", _mirrored),
    ("figure 30", "a larger clearance gives larger angle errors (0.25, 0.5, 1 mm)", _growing(ANGLE, (0, 1))),
    ("conclusions", "a larger clearance gives larger errors of velocity", _growing(RATE, (0, 1))),
    ("figure 28", "a larger clearance gives larger peaks of acceleration", _growing(ACCELERATION, (0, 1))),
)  # fmt: skip
BY_FRICTION = (_accuracy, CLAIMS[-3][2])  # of which friction has the larger part


def scored(test: Test, sets: Sequence[str]) -> Found:
    """In how many sets a statement holds, with the numbers that decide."""
    found = {data: test(data) for data in sets}
    good = [data for data, (holds, _) in found.items() if holds]
    where = "all sets" if len(good) == len(sets) else f"set {', '.join(good)} only" if good else "no set"
    notes = [f"holds in {where}: the data are assumed"]
    if test in BY_FRICTION:
        shares = {data: _by_friction(data) for data in sets}
        if any(mostly for mostly, _ in shares.values()):
            told = "; ".join(f"{data}: {text}" for data, (_, text) in shares.items())
            which = ", ".join(data for data, (mostly, _) in shares.items() if mostly)
            notes.append(f"it is friction rather than clearance in {which} (friction and clearance alone, of both "
                         f"together, 0.5 mm, arms 1, 2: {told})")  # fmt: skip
    notes += [f"{data}: {numbers}" for data, (_, numbers) in found.items()]
    return Found(len(good), "; ".join(notes), holds=len(good) == len(sets))


def stiffness() -> list[float]:
    """K of equation (8) (N/m^1.5) for 0.25, 0.5 and 1 mm."""
    return [float(library.spacecraft_2026_contact(1e-3 * c).normal.values["stiffness"]) for c in CLEARANCES.values()]


def remarks() -> Iterator[Row]:
    """Formulas and prose that contradict themselves."""
    known = [9.710232e10, 6.949401e10, 5.029607e10]
    yield row("equation 8", {"clearances": [2.5e-4, 5e-4, 1e-3]}, "K", "N/m^1.5", stiffness, None, known, 6e4,
              note="cases 3 to 5 change the stiffness with the clearance; the law is that of spheres, the joint a "
              "cylinder")  # fmt: skip
    printed = [*PRINTED[1]["angle"][:2], *PRINTED[3]["angle"][:2]]
    said = "by these numbers arms 1 and 2 are nearer to the ideal with two loose joints than with one, against (3)"
    yield row("conclusions", {"cases": [1, 3]}, "angle errors of arms 1, 2", "deg", paper=printed, note=said)
    for item, quantity, paper, note in (
        ("equations 5, 6", "tangential velocity", "derivative of the contact point's place",
         "taken literally it is zero, and with it friction; material velocities r' + w x (A s + R n) are used"),
        ("equations 10, 11", "friction", "mu(v_t) with sign(v_t)",
         "both have the sign, so that taken literally the force is even in v_t, and it jumps at v_s"),
        ("figure 25", "joints of case 3", "joint 2 and joint 3", "joints 2 and 4 are meant, as the caption says"),
        ("figure 29", "unit of the angle errors of cases 4, 5", "deg/s", "deg is meant"),
    ):  # fmt: skip
        yield row(item, {}, quantity, paper=paper, note=note)
    for number in (1, 2, 3):
        note = "the cases follow from the prose" if number == 3 else ""
        yield row(f"table {number}", {}, "its numbers", missing="them in the text that we have", note=note)


def rows(sets: Sequence[str]) -> Iterator[Row]:
    """The scoreboard and the remarks."""
    for item, text, test in CLAIMS:
        compute = functools.partial(scored, test, list(sets))
        yield row(item, {"data": list(sets)}, text, f"of {len(sets)} sets", compute, "yes")
    yield from remarks()
