"""Where the bodies of a mechanism may be, from its start values and joints: first guesses for its assembly, and the
places of a mechanism that differs in numbers only."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import numpy as np

from ..model.clearances import Following
from ..model.mechanism import Mechanism
from ..system import System

RETRIES = 12  # with angles moved more and more
ELSEWHERE = 24  # with angles that are not given anywhere


def guess(
    system: System, angles: Mapping[str, float] | None = None, plays: Mapping[str, float] | None = None
) -> np.ndarray:
    """Coordinates from the start values; places that are not given follow the joints from body to body.

    Other angles (rad) of the bodies may be given, and the directions (rad) in which loose joints and rods lean; the
    start's places then serve only for bodies that no joint leads to.  A loose joint hangs down unless said otherwise,
    the ends of a rod are taken to meet.
    """
    mechanism, start = system.mechanism, system.mechanism.start
    anew = angles is not None or plays is not None
    turned = {body: start.get(body, 0.0) for body in mechanism.bodies} | dict(angles or {})
    given = {body: np.array([start.get(f"{body}.x", np.nan), start.get(f"{body}.y", np.nan)]) for body in turned}
    places = {} if anew else {body: place for body, place in given.items() if np.isfinite(place).all()}
    down = downwards(mechanism)

    def arm(reference: str) -> np.ndarray:
        body, point = mechanism.split(reference)
        x, y = mechanism.bodies[body].arm(point or "centre")
        c, s = np.cos(turned[body]), np.sin(turned[body])
        return np.array([c * x - s * y, s * x + c * y])

    def place(reference: str) -> np.ndarray | None:
        body, point = mechanism.split(reference)
        if body == "ground":
            return np.array(mechanism.ground.points[point])
        return places[body] + arm(reference) if body in places else None

    following = mechanism.loose(Following)

    def follow() -> None:
        found = True
        while found:
            found = False
            for name, joint in mechanism.joints.items():
                lean = (plays or {}).get(name, down)
                clearance = following[name].looseness if name in following else 0.0  # rigid play starts in the middle
                clearance = getattr(joint, joint.spaced_by) if joint.spaced_by and name in (plays or {}) else clearance
                play = clearance * np.array([np.cos(lean), np.sin(lean)])
                pairs = (joint.between, joint.between[::-1]) if joint.points else ()
                for sign, (known, other) in zip((1, -1), pairs, strict=False):
                    at, body = place(known), mechanism.owner(other)
                    if at is not None and body not in ("ground", *places):
                        places[body] = at + sign * play - arm(other)
                        found = True

    follow()
    for body in mechanism.bodies:
        if body not in places:
            places[body] = np.nan_to_num(given[body])
            follow()
    if not anew:
        places = {body: np.where(np.isnan(given[body]), places[body], given[body]) for body in mechanism.bodies}
    return np.concatenate([[*places[body], turned[body]] for body in mechanism.bodies])


def downwards(mechanism: Mechanism) -> float:
    """The direction (rad) of the weight, or of -y where there is none."""
    x, y = mechanism.gravity
    return math.atan2(y, x) if x or y else -math.pi / 2


def turned(system: System, t: float) -> np.ndarray:
    """A guess with the angles that rows of angles alone leave at time t (s): those of drives, gears and sliders."""
    at = guess(system)
    residual, B = system.constraints(at, t)
    angles = np.array([name.endswith(".angle") for name in system.coordinates])
    alone = ~system.at_rate & (B[:, angles] != 0).any(axis=1) & (B[:, ~angles] == 0).all(axis=1)
    change = np.linalg.lstsq(B[np.ix_(alone, angles)], -residual[alone], rcond=None)[0]
    return guess(system, dict(zip(system.mechanism.bodies, (at[angles] + change).tolist(), strict=True)))


def guesses(system: System, t: float) -> Iterator[np.ndarray]:
    """First guesses of the coordinates: from the start values, with the angles that are driven at time t (s), then with
    the angles moved, those not given more, and at last with rods that lean anywhere."""
    yield guess(system)
    yield turned(system, t)
    start, random = system.mechanism.start, np.random.default_rng(0)
    for i in range(1, RETRIES):
        share = i / RETRIES
        yield guess(
            system,
            {
                body: start[body] + share * random.uniform(-0.5, 0.5)
                if body in start
                else share * random.uniform(-np.pi, np.pi)
                for body in system.mechanism.bodies
            },
        )
    yield from leaning_rods(system)


def elsewhere(system: System) -> Iterator[np.ndarray]:
    """First guesses of the coordinates with angles anywhere; in the first half those that are given stay.  At last with
    rods that lean anywhere."""
    start, random = system.mechanism.start, np.random.default_rng(1)
    for i in range(ELSEWHERE):
        anywhere = {body: random.uniform(-np.pi, np.pi) for body in system.mechanism.bodies}
        given = {body: start[body] for body in anywhere if body in start} if 2 * i < ELSEWHERE else {}
        yield guess(system, anywhere | given)
    yield from leaning_rods(system)


def leaning_rods(system: System) -> Iterator[np.ndarray]:
    """First guesses with rods that hang down, then obliquely, then anywhere: where the ends of one meet it has no
    direction, and closes from nowhere."""
    rods = [name for name, joint in system.mechanism.joints.items() if joint.spaced_by]
    down, random = downwards(system.mechanism), np.random.default_rng(2)
    for lean in (down, down + 1.0) if rods else ():
        yield guess(system, plays=dict.fromkeys(rods, lean))
    for _ in range(RETRIES if rods else 0):
        yield guess(system, plays={name: random.uniform(-np.pi, np.pi) for name in rods})


def placed_alike(system: System) -> np.ndarray | None:
    """The coordinates of the first of those systems that differ in numbers only, if no number that differs can change
    them: numbers of forces and of control, and those of bodies that leave all their points where they are, seen from
    the mass centre."""
    first = system.first
    if first is None or first.place is None or first.mechanism.start != system.mechanism.start:
        return None
    mine, theirs = system.mechanism, first.mechanism
    known = theirs.addresses()
    for owner in {mine.owner(address) for address, x in mine.addresses().items() if x != known.get(address)}:
        if owner in mine.bodies:
            here, there = mine.bodies[owner], theirs.bodies[owner]
            if here.all_points() != there.all_points() or any(here.arm(p) != there.arm(p) for p in here.all_points()):
                return None
        elif owner not in mine.forces and owner != "control":
            return None
    return first.place
