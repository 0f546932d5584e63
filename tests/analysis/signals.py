"""Forty regular signals with impact spikes, which must not be called chaotic, and samples of chaotic systems."""

import numpy as np

from jointplay.analysis import Series, textbook

RATIOS = ((1 + 5**0.5) / 2, 2**0.5, np.pi / 2, 3**0.5)
KINDS = ("decay", "bump", "one sample")


def spikes(time, period, phase, width, height, kind):
    """Impacts once a period (s): a decaying oscillation, a short bump, or a single sample."""
    since = np.mod(time - phase, period)
    if kind == "decay":
        return height * np.exp(-since / width) * np.cos(np.pi * since / width)
    if kind == "bump":
        return height * np.exp(-((np.minimum(since, period - since) / width) ** 2))
    return height * (since < time[1] - time[0])


def regular(count=4000):
    """(name, verdict, period, Series): twenty signals, each without and with noise of 1e-3 of its size."""
    rng = np.random.default_rng(0)
    for i in range(20):
        quasi, kind = i % 2 == 1, KINDS[i % 3]
        time = (0.01, 0.02, 0.05, 0.013)[i % 4] * np.arange(count)
        period = (1.0, 1.37, 2.0, 0.9, 3.1)[i % 5]
        angle, height = 2 * np.pi * time / period, (1.0, 3.0, 6.0)[i % 3]
        values = np.sin(angle + 0.3 * i) + 0.4 * np.sin(2 * angle)
        values += spikes(time, period, 0.3 * period, 0.03 * period, height, kind)
        whole = period
        if i % 5 == 0 and not quasi:  # period two
            values += 0.3 * np.sin(angle / 2) + spikes(time, 2 * period, 0.7 * period, 0.03 * period, 1.0, kind)
            whole = 2 * period
        if quasi:
            ratio = RATIOS[i % 4]
            values += (0.3, 0.8, 1.0)[i % 3] * np.sin(ratio * angle)
            values += spikes(time, period / ratio, 0.1, 0.03 * period, 1.0, kind)
        for noise in (0.0, 1e-3):
            shown = values + noise * values.std() * rng.normal(size=count)
            name = f"{i} {'quasi' if quasi else 'periodic'} {kind}, noise {noise:g}"
            yield name, "quasi-periodic" if quasi else "periodic", None if quasi else whole, Series(time, shown, name)


def sampled(thing, interval, settle, index, name, count=4000):
    """A number of the state of a thing, sampled after settling (s)."""
    begin = settle
    thing.advance(begin)
    rows = []
    for i in range(count):
        thing.advance(begin + i * interval)
        rows.append(thing.state[0, index])
    return Series(interval * np.arange(count), np.array(rows), name)


def chaotic(count=4000):
    """Samples of the four chaotic systems."""
    yield sampled(textbook.lorenz(step=0.01), 0.05, 50, 0, "Lorenz", count)
    yield sampled(textbook.roessler(step=0.02), 0.2, 200, 0, "Roessler", count)
    yield sampled(textbook.impact_oscillator(), 2 * np.pi / 2.8 / 16, 200, 0, "impact oscillator", count)
    yield sampled(textbook.double_pendulum(step=5e-3), 0.05, 20, 2, "double pendulum", count)
