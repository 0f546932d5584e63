"""Functions of time: values, continuity, parameters, the same text on numbers and in a trace."""

import math

import numpy as np
import pytest

from jointplay import model
from jointplay.engine import derivative, trace
from jointplay.model import motions
from jointplay.run import Run

MOTIONS = {
    "constant": motions.constant(1.5),
    "constant_speed": motions.constant_speed(2.0, start=0.5),
    "sine": motions.sine(2.0, 3.0, phase=0.4, offset=-1.0),
    "polynomial": motions.polynomial(1.0, -2.0, 0.5),
    "cycloidal": motions.cycloidal(3.0, duration=2.0, start=1.0, begin=0.5),
    "table": motions.table([0.0, 1.0, 1.5, 4.0], [0.0, 1.0, -1.0, 2.0]),
    "sum": model.Sum(terms=[motions.sine(1.0, 2.0), motions.constant(0.25), motions.table([0, 1, 2], [0, 1, 0])]),
    "function": model.Function(function=lambda t: 3.0 * t * t),
}


def test_every_kind_is_here():
    assert set(MOTIONS) == {c.model_fields["kind"].default for c in motions.Kinds.__args__}


@pytest.mark.parametrize(
    ("kind", "t", "value"),
    [
        ("constant", 9.0, 1.5),
        ("constant_speed", 2.0, 4.5),
        ("sine", 0.7, -1 + 2 * math.sin(2.5)),
        ("polynomial", 3.0, 1 - 6 + 4.5),
        ("cycloidal", 0.0, 1.0),
        ("cycloidal", 1.5, 2.0),
        ("cycloidal", 9.0, 3.0),
        ("table", 1.5, -1.0),
        ("table", 9.0, 2.0),
        ("table", -1.0, 0.0),
        ("sum", 1.0, math.sin(2.0) + 1.25),
        ("function", 2.0, 12.0),
    ],
)
def test_values(kind, t, value):
    assert MOTIONS[kind](t) == pytest.approx(value, abs=1e-14)


@pytest.mark.parametrize("kind", MOTIONS)
def test_the_same_in_a_trace_with_its_derivative(kind):
    """Every parameter is a run-time number there, and the engine differentiates in time."""
    motion, t = MOTIONS[kind], 1.2
    given = {address: value for address, _, value in motion.numbers()} | motion.tables()
    names = {address: "p_" + address.replace(".", "_") for address in given}

    def step(s, p):
        local = {address: getattr(p, name) for address, name in names.items()}
        value = motion.evaluate(p.t, local)
        return {"value": value, "rate": derivative([value], [p.t])[0][0]}

    run = Run(trace(step, {"value": 0.0, "rate": 0.0}, {"t": t, **{names[a]: x for a, x in given.items()}}))
    run.advance(1)
    h = 1e-5
    assert float(run["value"][0]) == pytest.approx(motion(t), abs=1e-14)
    assert float(run["rate"][0]) == pytest.approx((motion(t + h) - motion(t - h)) / (2 * h), abs=1e-8)


def test_ends_of_tables():
    held = motions.table([0, 1, 2, 3], [0, 1, 4, 9], ends="held")
    assert held(2.5) == pytest.approx(6.25) and held(4.0) == 9.0
    wave = motions.table(
        np.linspace(0, 2 * math.pi, 33), [*np.sin(np.linspace(0, 2 * math.pi, 33)[:-1]), 0.0], "periodic"
    )
    assert wave(20.0) == pytest.approx(math.sin(20.0), abs=1e-5)
    assert wave(-1.0) == pytest.approx(math.sin(-1.0), abs=1e-5)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: motions.sine(math.nan, 1.0), "sine.amplitude: must be finite, got nan"),
        (lambda: motions.cycloidal(1.0, 0.0), "cycloidal.duration: must be > 0, got 0.0 s"),
        (lambda: motions.polynomial(), "polynomial.coefficients: must be a list of at least 1 numbers, got ()"),
        (lambda: motions.table([0, 0], [1, 2]), "table.times.1: must increase, got 0.0 after 0.0"),
        (
            lambda: motions.table([0, 1], [1, 2, 3]),
            "table.values: needs one value for each time, got 2 times and 3 values",
        ),
        (
            lambda: motions.table([0, 1], [1, 2], "periodic"),
            "table.values: periodic ends need equal first and last values, got 1.0 and 2.0",
        ),
        (
            lambda: model.Constant(value="3 mm"),
            "constant.value: must be a plain number in SI units: units are known only in a file or drive, got '3 mm'",
        ),
        (
            lambda: motions.constant("3 mm")(0.0),
            "constant: has unit strings, which are read by the drive or force that takes it; "
            "give plain numbers in SI units",
        ),
        (
            lambda: model.Function(function="sin"),
            "function.function: must be a Python function of t, so a file cannot hold one: use a table; got 'sin'",
        ),
    ],
)
def test_refusals(make, message):
    with pytest.raises(model.ModelError) as caught:
        make()
    assert str(caught.value) == message


def test_a_table_in_a_trace_must_be_bound():
    motion = MOTIONS["table"]
    with pytest.raises(model.ModelError, match="must be bound"):
        trace(lambda s, p: {"x": motion(s.x)}, {"x": 0.0}, {})


@pytest.mark.parametrize(
    ("made", "same"),
    [
        (motions.constant("90 deg"), motions.constant(math.pi / 2)),
        (motions.constant_speed("60 rpm", start="180 deg"), motions.constant_speed(2 * math.pi, math.pi)),
        (motions.sine("180 deg", "1 Hz", "90 deg"), motions.sine(math.pi, 2 * math.pi, math.pi / 2)),
        (motions.polynomial(0, "60 rpm", "1 rad/s^2"), motions.polynomial(0, 2 * math.pi, 1)),
        (motions.cycloidal("180 deg", "500 ms"), motions.cycloidal(math.pi, 0.5)),
        (motions.table([0, "100 ms"], [0, "180 deg"]), motions.table([0, 0.1], [0, math.pi])),
        (motions.total(motions.constant_speed("60 rpm"), "180 deg"),
         motions.total(motions.constant_speed(2 * math.pi), math.pi)),
        (motions.total(1.0, motions.sine(1.0, 2.0)), motions.total(1.0, motions.sine(1.0, 2.0))),
    ],
)  # fmt: skip
def test_unit_strings_are_read_by_the_drive_that_takes_the_motion(made, same):
    assert model.AngleDrive(of="crank", motion=made).motion == same


def test_a_unit_string_of_the_wrong_dimension_is_refused_by_the_drive():
    with pytest.raises(model.ModelError, match=r"motion.speed: must be an angle per time in rad/s, got '3 mm/s'"):
        model.AngleDrive(of="crank", motion=motions.constant_speed("3 mm/s"))
