"""Signals of other families and seeds than those of `signals.py`.

The verdict was asked once on `regular`, and its rules mended afterwards; `second` was written then, and asked once.
"""

from collections.abc import Iterator

import numpy as np

from jointplay.analysis import Series, textbook

SEED = 20_417
SYSTEMS = ("Roessler", "Duffing", "impact oscillator", "double pendulum", "Chua", "Ikeda", "Henon")


def impacts(phase: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """What strikes do to a signal, as a function of a phase (turns): ringing, a jump of the rate, or half a sine."""
    since = np.mod(phase - rng.uniform(), 1.0)
    kind, width = rng.integers(3), rng.uniform(0.02, 0.08)
    if kind == 0:  # two modes that ring
        ring = np.cos(2 * np.pi * since / width) + 0.5 * np.cos(2 * np.pi * 2.76 * since / width)
        return np.asarray(ring * np.exp(-since / (1.5 * width)))
    if kind == 1:  # a rate that jumps back and falls, as of a journal that bounces
        return np.where(since < 6 * width, np.exp(-since / (2 * width)) * (1 - np.mod(since / width, 2.0)), 0.0)
    return np.where(since < width, np.sin(np.pi * since / width), 0.0)  # a force while it touches


def shape(phase: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A smooth periodic function of a phase (turns) that is no sum of two sines: a slider-crank's, or a triangle."""
    angle = 2 * np.pi * (phase + rng.uniform())
    ratio = rng.uniform(0.2, 0.6)
    return np.cos(angle) + np.sqrt(1 - (ratio * np.sin(angle)) ** 2) / ratio + ratio * np.arcsin(0.9 * np.sin(angle))


def regular(count: int = 4000, seed: int = SEED) -> Iterator[tuple[str, Series]]:
    """(verdict, Series): twenty periodic and twenty quasi-periodic signals with impacts, every second with noise."""
    rng = np.random.default_rng(seed)
    for i in range(40):
        quasi, noise, known = i % 2 == 1, (0.0, 1e-3)[i // 2 % 2], i // 4 % 2 == 0
        period = rng.uniform(0.2, 5.0)
        time = period / rng.uniform(30, 110) * np.arange(count)
        phase = time / period
        values = shape(phase, rng) + rng.uniform(0.5, 4) * impacts(phase, rng)
        values += rng.uniform(0.2, 1) * impacts(phase / rng.integers(1, 4), rng)  # period 1, 2 or 3
        if quasi:  # a second rate, as of a wheel that slips or of a vibration of its own
            other = phase * rng.uniform(0.3, 0.9)
            values *= 1 + rng.uniform(0.1, 0.4) * np.sin(2 * np.pi * other)
            values += rng.uniform(0.2, 0.8) * shape(other, rng) + rng.uniform(0.0, 0.6) * impacts(other, rng)
        values += noise * values.std() * rng.normal(size=count)
        name = f"{i} {'quasi-periodic' if quasi else 'periodic'}, noise {noise:g}{', drive known' if known else ''}"
        yield name.split()[1].strip(","), Series(time, values, name, period=period if known else None)


def second(count: int = 4000, seed: int = 90_125) -> Iterator[tuple[str, Series]]:
    """(verdict, Series): forty more, of contact forces, sticking and slipping, and impacts whose time is modulated."""
    rng = np.random.default_rng(seed)
    for i in range(40):
        quasi, noise, known = i % 2 == 1, (0.0, 1e-3)[i // 2 % 2], i // 4 % 2 == 0
        period, k = rng.uniform(0.01, 20.0), rng.choice([1, 1, 2, 3, 4, 5, 7])
        time = period / rng.uniform(25, 140) * np.arange(count)
        phase = time / period
        other = phase * rng.uniform(0.13, 0.97)
        shaken = rng.uniform(0.01, 0.05) * np.sin(2 * np.pi * other) if quasi else 0.0
        values = rng.uniform(0.3, 1) * contact_force(phase + shaken, rng) + rng.uniform(0.5, 2) * stick_slip(phase, rng)
        values += rng.uniform(0.05, 0.5) * contact_force(phase / k, rng)
        if quasi:
            values += rng.uniform(0.1, 0.6) * (np.sin(2 * np.pi * other) + 0.4 * stick_slip(other, rng))
        values += noise * values.std() * rng.normal(size=count)
        kind = "quasi-periodic" if quasi else "periodic"
        name = f"{i} {kind}, k {k}, noise {noise:g}{', drive known' if known else ''}"
        yield kind, Series(time, values, name, period=period if known else None)


def contact_force(phase: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A row of bounces, each shorter and weaker than the one before, as a force over a phase (turns)."""
    since, found = np.mod(phase - rng.uniform(), 1.0), np.zeros_like(phase)
    begin, width, height = 0.0, rng.uniform(0.03, 0.1), 1.0
    for _ in range(rng.integers(1, 5)):
        inside = (since > begin) & (since < begin + width)
        found[inside] += height * np.sin(np.pi * (since[inside] - begin) / width) ** 1.5
        begin, width, height = begin + 2.2 * width, 0.8 * width, 0.6 * height
    return found


def stick_slip(phase: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Held for a part of a turn, then let go to swing, as a function of a phase (turns)."""
    since, stuck = np.mod(phase - rng.uniform(), 1.0), rng.uniform(0.3, 0.8)
    free = (since - stuck) / (1 - stuck)
    return np.where(since < stuck, since / stuck, np.cos(np.pi * free) * (1 - free))


def chaotic(count: int = 4000) -> Iterator[Series]:
    """Samples of seven chaotic systems."""
    things = {
        "Roessler": (textbook.roessler(step=0.02), 0.17, 1),
        "Duffing": (textbook.duffing(steps=200), 2 * np.pi / 1.2 / 20, 0),
        "impact oscillator": (textbook.impact_oscillator(2.83), 2 * np.pi / 2.83 / 15, 1),
        "double pendulum": (textbook.double_pendulum(step=5e-3), 0.04, 3),
    }
    for name, (thing, interval, index) in things.items():
        thing.advance(137.0)
        begin, rows = float(thing.time[0]), []
        for i in range(count):
            thing.advance(begin + i * interval)
            rows.append(thing.state[0, index])
        yield Series(interval * np.arange(count), np.array(rows), name)
    yield Series(0.05 * np.arange(count), chua(count), "Chua")
    for name, values in (("Ikeda", ikeda(count)), ("Henon", henon(count))):
        yield Series(np.arange(count, dtype=float), values, name)


def chua(count: int, substeps: int = 10) -> np.ndarray:
    """The voltage x of Chua's circuit (double scroll), sampled every 0.05."""

    def rates(s: np.ndarray) -> np.ndarray:
        x, y, z = s
        line = -0.714 * x + 0.5 * (-1.143 + 0.714) * (abs(x + 1) - abs(x - 1))
        return np.array([15.6 * (y - x - line), x - y + z, -28.0 * y])

    state, h, found = np.array([0.7, 0.0, 0.0]), 0.05 / substeps, []
    for i in range((count + 1000) * substeps):
        k1 = rates(state)
        k2 = rates(state + h / 2 * k1)
        k3 = rates(state + h / 2 * k2)
        state = state + h / 6 * (k1 + 2 * k2 + 2 * k3 + rates(state + h * k3))
        if i >= 1000 * substeps and i % substeps == 0:
            found.append(state[0])
    return np.array(found)


def ikeda(count: int) -> np.ndarray:
    """The real part of Ikeda's map, u = 0.9."""
    z, found = 0.1 + 0.1j, []
    for i in range(count + 500):
        z = 1 + 0.9 * z * np.exp(1j * (0.4 - 6 / (1 + abs(z) ** 2)))
        if i >= 500:
            found.append(z.real)
    return np.array(found)


def henon(count: int) -> np.ndarray:
    """x of Henon's map."""
    x, y, found = 0.1, 0.1, []
    for i in range(count + 500):
        x, y = 1 - 1.4 * x * x + y, 0.3 * x
        if i >= 500:
            found.append(x)
    return np.array(found)
