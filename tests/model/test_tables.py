"""Tables: curves between their points, and what is said of those that swing beyond them."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import jointplay as jp
from jointplay.parts.curves import reach

PULSE = {"times": [0.0, 1.0, 1.001, 1.002, 2.0], "values": [0.0, 0.0, 1000.0, 0.0, 0.0]}


def pushed(**more):
    torque = {"kind": "table", **PULSE, **more}
    return jp.library.pendulum().replace(forces={"p": {"kind": "torque", "on": "bar1", "torque": torque}})


@pytest.mark.parametrize("ends", ["clamped", "held", "periodic"])
def test_a_spline_that_swings_beyond_its_points_is_told_and_others_do_not_swing(ends):
    low, high = reach(jp.table(**PULSE, ends=ends)._spline)
    assert min(low, -high) < -2e5  # through points between 0 and 1000
    [warning] = jp.check(pushed(ends=ends)).warnings
    assert warning.startswith("p.torque: the cubic spline through its table goes beyond the values by")
    assert "set interpolation: pchip or linear" in warning
    assert "cubic spline" in jp.simulate(pushed(ends=ends), 0.01).attrs["notes"]
    for interpolation in ("pchip", "linear"):
        curve = jp.table(**PULSE, ends=ends, interpolation=interpolation)
        assert reach(curve._spline) == (0.0, 1000.0)
        assert curve.integral(0.0, 2.0) == pytest.approx(1.0, rel=1e-9)
        assert not jp.check(pushed(ends=ends, interpolation=interpolation)).warnings


def test_an_ordinary_table_is_not_told():
    times = np.linspace(0, 1, 9).tolist()
    smooth = {"kind": "table", "times": times, "values": np.sin(7 * np.array(times)).tolist(), "ends": "held"}
    swing = jp.library.pendulum().replace(forces={"p": {"kind": "torque", "on": "bar1", "torque": smooth}})
    assert not jp.check(swing).warnings


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.floats(-100, 100), min_size=3, max_size=9),
    st.sampled_from(["pchip", "linear"]),
    st.sampled_from(["clamped", "held", "periodic"]),
)
def test_pchip_and_linear_stay_between_neighbours(values, interpolation, ends):
    values = [*values[:-1], values[0]] if ends == "periodic" else values
    times = [float(i) for i in range(len(values))]
    curve = jp.table(times, values, ends=ends, interpolation=interpolation)
    for i, (a, b) in enumerate(itertools.pairwise(values)):
        inside = [curve(i + u) for u in np.linspace(0, 1, 11)]
        assert min(a, b) - 1e-9 <= min(inside) and max(inside) <= max(a, b) + 1e-9
    assert curve(times[-1] + 0.0 if ends == "periodic" else times[-1] + 5.0) == pytest.approx(values[-1], abs=1e-9)


@pytest.mark.parametrize("interpolation", ["pchip", "linear"])
@pytest.mark.parametrize("ends", ["clamped", "held", "periodic"])
def test_the_text_computes_what_python_does(interpolation, ends):
    """The work of a torque on a bar that turns at a prescribed rate is its integral times the rate."""
    torque = jp.table([0.0, 0.3, 0.5, 1.0], [1.0, 4.0, -2.0, 1.0], ends=ends, interpolation=interpolation)
    turned = jp.library.pendulum().replace(
        gravity=(0.0, 0.0),
        drives={"m": {"kind": "rate", "of": "bar1", "motion": 2.0}},
        forces={"p": {"kind": "torque", "on": "bar1", "torque": torque}},
    )
    run = jp.simulate(turned, 1.5, every=0.01)
    wanted = [-torque(t) for t in run.time.values]
    assert run.effort.values[:, 0] == pytest.approx(wanted, abs=1e-9)


def test_a_drive_by_a_linear_table_is_told():
    motion = {"kind": "table", "times": [0, 0.5, 1], "values": [0.5, 1.0, 0.5], "interpolation": "linear"}
    crank = jp.library.slider_crank(angle=0.5).replace(drives={"m": {"kind": "angle", "of": "crank", "motion": motion}})
    assert any("m.motion: the speed of a linear table jumps" in warning for warning in jp.check(crank).warnings)
    smooth = crank.replace(
        drives={"m": {"kind": "angle", "of": "crank", "motion": motion | {"interpolation": "pchip"}}}
    )
    assert not jp.check(smooth).warnings
