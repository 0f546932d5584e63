"""What several test files need: programs over arrays, comparison of bits, one lane of a run as numbers."""

import re

import numpy as np
import pytest

from jointplay.engine import emit, stop, trace
from jointplay.run import Run

MODES = [{"eager": True}, {"eager": False, "fma": False}, {"eager": False}]
EVERY_MODE = pytest.mark.parametrize("mode", MODES, ids=["eager", "plain", "fused"])
# three cranks that stay parallel: one row of its joints is redundant
PARALLEL = """
name: parallel cranks
ground: {points: {A: [0, 0], B: [1, 0], C: [2, 0]}}
bodies:
  a: {bar: 0.5, mass: 1}
  b: {bar: 0.5, mass: 1}
  c: {bar: 0.5, mass: 1}
  beam: {bar: 2.0, mass: 1, points: {middle: [1, 0]}}
joints:
  A: {kind: revolute, between: [ground.A, a.start]}
  B: {kind: revolute, between: [ground.B, b.start]}
  C: {kind: revolute, between: [ground.C, c.start]}
  D: {kind: revolute, between: [a.end, beam.start]}
  E: {kind: revolute, between: [b.end, beam.middle]}
  F: {kind: revolute, between: [c.end, beam.end]}
start: {a: 60 deg, b: 60 deg, c: 60 deg}
"""
NAN_BITS = np.float64("nan").view(np.int64)


def bits_of(values) -> np.ndarray:
    """The 64-bit words of floats or words, every NaN the same one."""
    array = np.ascontiguousarray(values)
    words = array if array.dtype == np.int64 else array.astype(np.float64).view(np.int64)
    return np.where(np.isnan(words.view(np.float64)), NAN_BITS, words)


def same_bits(a, b) -> bool:
    """True if two arrays have the same shape and the same bits."""
    return np.shape(a) == np.shape(b) and bool((bits_of(a) == bits_of(b)).all())


def evaluate(function, *arrays, fma=True, eager=False, **parameters) -> np.ndarray:
    """function(x, ...) for each element of the arrays, by one program that takes one step for each.

    A function that gives several numbers gives one row of the result for each.  Keyword arguments become
    parameters of the program, passed on by name.
    """
    data = {f"x{i}": np.atleast_1d(np.asarray(x, dtype=float)) for i, x in enumerate(arrays)}
    count = len(data["x0"])
    single = False

    def step(s, p):
        nonlocal single
        result = function(*(p[n].load(s.step) for n in data), **{n: p[n] for n in parameters})
        single = not isinstance(result, list | tuple)
        emit("out", **{f"y{i}": y for i, y in enumerate([result] if single else result)})
        stop(s.step >= count - 1)

    run = Run(trace(step, {}, {**data, **parameters}), fma=fma, eager=eager)
    run.advance()
    rows = np.array(list(run.rows("out").values()))
    assert run.status == ["done"] and rows.shape[1] == count, (run.status, rows.shape)
    return rows[0] if single else rows


def run_to_end(program, parameters=None, state=None, steps=None, **options) -> Run:
    """A run of a program that has been advanced."""
    run = Run(program, parameters, state, **options)
    run.advance(steps)
    return run


def outcome(run: Run, lane: int = 0) -> dict[str, np.ndarray]:
    """Everything one lane has to show: the words of its state and the rows of its streams."""
    found = {"state": bits_of(run.state_words[:, lane])}
    for stream in run.program.streams:
        for column, values in run.rows(stream, lane).items():
            found[f"{stream}.{column}"] = bits_of(values)
    return found


def differences(a: dict[str, np.ndarray], b: dict[str, np.ndarray]) -> list[str]:
    """The names under which two outcomes differ; empty if they are the same."""
    return [n for n in {**a, **b} if n not in a or n not in b or not np.array_equal(a[n], b[n])]


def scalar_outcomes(program, parameters: list[dict], steps=None, **options) -> list[dict[str, np.ndarray]]:
    """The outcome for each set of parameters, run alone by the same machine code."""
    run = Run(program, **options)
    found = []
    for given in parameters:
        run.start(0, given)
        run.advance(steps)
        found.append(outcome(run))
    return found


def lane_run(program, parameters: list[dict], steps=None, **options) -> Run:
    """One lane for each set of parameters, side by side."""
    run = Run(program, lanes=len(parameters), **options)
    for lane, given in enumerate(parameters):
        run.start(lane, given)
    run.advance(steps)
    return run


def recorded(program, operation: str) -> int:
    """How often an operation stands in the listing of a program."""
    return len(re.findall(rf" = {operation}\b", program.listing))
