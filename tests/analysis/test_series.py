"""Series: what is refused, spectra, embedding, surrogates, the 0-1 test."""

import numpy as np
import pytest

import jointplay as jp
from jointplay.analysis import Series, embedding, iaaft, read, rosenstein, spectrum, textbook, zero_one
from jointplay.analysis.phases import two_phase_row
from jointplay.analysis.regular import repetition, second_phase, two_phases
from jointplay.analysis.series import unit_of
from tests.analysis.signals import sampled

TIME = np.linspace(0, 50, 1001)


@pytest.mark.parametrize(
    ("time", "values", "period", "text"),
    [
        (TIME[:100], np.sin(TIME[:100]), None, "100 samples are too few, at least 300.*record longer"),
        (TIME, np.full(1001, 3.0), None, "constant.*choose another"),
        (TIME, np.where(TIME[7] == TIME, np.nan, TIME), None, "sample 8 is not a number"),
        (np.where(TIME > 20, TIME + 1, TIME), np.sin(TIME), None, "unevenly sampled.*resample"),
        (TIME[::-1], np.sin(TIME), None, "time must grow"),
        (TIME, np.sin(TIME), 0.05, "drive period of 0.05 s needs more than two samples"),
        (TIME, np.sin(TIME[:-1]), None, "one length"),
    ],
)
def test_what_is_refused(time, values, period, text):
    with pytest.raises(ValueError, match=text):
        Series(time, values, period=period)


@pytest.mark.parametrize(
    ("content", "column", "text"),
    [
        ("", None, "is empty"),
        ("a,b\n1,2\n", None, "must name a column 'time'"),
        ("time;b\n1;2\n", None, "separated by commas"),
        ("1,2\n3,4\n", None, "it holds numbers"),
        ("time,x\n0,1\n", "y", "no column 'y'; there are x"),
        ("time,x\n0,1\n1,two\n", None, "row 3, column 'x': expected a number, got 'two'"),
        ("time,x\n0,1\n1\n", None, "row 3, column 'x': expected a number, got nothing"),
        ("time\n0\n", None, "there are none beside time"),
    ],
)
def test_files_that_are_refused(tmp_path, content, column, text):
    file = tmp_path / "series.csv"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(ValueError, match=text):
        read(file, column)


def test_a_file_is_read(tmp_path):
    file = tmp_path / "series.csv"
    lines = [f"{t:.4f},{np.cos(t):.9f},{np.sin(t):.9f}" for t in TIME]
    file.write_text("time, x, y\n" + "\n".join(lines), encoding="utf-8")
    assert read(file).values == pytest.approx(np.cos(TIME), abs=1e-8)
    assert read(file, "y").name == "y" and read(file, "y").interval == pytest.approx(0.05)


def test_amplitude_and_density():
    time = np.arange(4000) * 0.01
    found = spectrum(Series(time, 2 * np.sin(2 * np.pi * time) + 0.5 * np.cos(6 * np.pi * time), period=1.0))
    at = found.amplitude.sel(frequency=[1.0, 3.0], method="nearest")
    assert at.values == pytest.approx([2.0, 0.5], rel=1e-9) and found.attrs["periods"] == 40
    assert float(found.density.sum()) / 40 == pytest.approx(2.0 + 0.125, rel=1e-9)  # the mean square
    assert found.attrs["off_comb"] < 1e-20
    assert found.comb.values[found.density.values > 1e-6].all()


@pytest.mark.parametrize("share", [0.1, 0.01])
def test_power_beside_the_comb(share):
    time = np.arange(6000) * 0.013  # no whole number of samples in a period
    values = np.sin(2 * np.pi * time) + np.sqrt(share) * np.sin(2 * np.pi * time * 1.618)
    found = spectrum(Series(time, values, period=1.0))
    assert found.attrs["off_comb"] == pytest.approx(share / (1 + share), rel=0.05)


def test_the_period_is_found_between_samples():
    time = np.arange(3000) * 0.0317
    values = np.sin(2 * np.pi * time / 1.2345) + 0.5 * np.sin(np.pi * time / 1.2345 + 1)
    found = repetition(Series(time, values))
    assert found.period == pytest.approx(2.469, abs=1e-4)
    assert found.holds


def test_the_drive_period_counts_in_multiples():
    time = np.arange(3000) * 0.01
    values = np.sin(2 * np.pi * time) + 0.2 * np.sin(2 * np.pi * time / 3)
    assert repetition(Series(time, values, period=1.0)).period == pytest.approx(3.0)


def saw(phase):
    """A function of a phase (turns) that jumps once a turn, and bends."""
    return np.mod(phase, 1.0) ** 2


@pytest.mark.parametrize("per_period", [31.7, 44.0455, 27.4])  # samples meet after 10, 22 and 5 periods
@pytest.mark.parametrize("multiple", [1, 2])
def test_a_signal_that_jumps_repeats(per_period, multiple):
    phase = np.arange(4000) / per_period
    values = saw(phase) + 0.3 * saw(phase / multiple + 0.4)
    found = repetition(Series(2.0 * phase, values, period=2.0))
    assert found.holds and found.period == 2.0 * multiple


TICKS = np.arange(6000) * 0.01


@pytest.mark.parametrize("period", [0.98649, 1.2345, 0.7071, 0.3333])
def test_a_signal_of_two_levels_repeats_after_its_own_period(period):
    """Jumps fall between samples, but not after a multiple of the period that is a whole number of samples."""
    found = repetition(Series(TICKS, np.sign(np.sin(2 * np.pi * TICKS / period))))
    assert found.holds and found.period == pytest.approx(period, rel=1e-4)


@pytest.mark.parametrize("wider, turns", [(0.1, 1), (0.2, 3)])
def test_pulses_of_a_drive(wider, turns):
    """A tenth of the period long; where every third one is longer they repeat after three."""
    width = np.where((TICKS / 0.3333).astype(int) % 3 == 0, wider, 0.1)
    found = repetition(Series(TICKS, (width > TICKS / 0.3333 % 1) * 1.0, period=0.3333))
    assert found.holds and found.period == pytest.approx(turns * 0.3333)


def test_pulses_of_any_length_do_not_repeat():
    width = np.random.default_rng(0).uniform(0.3, 0.7, 100)[(TICKS / 1.2345).astype(int)]
    assert not repetition(Series(TICKS, (width > TICKS / 1.2345 % 1) * 1.0)).holds


def test_a_small_motion_beside_a_period_is_neither_periodic_nor_quasi_periodic():
    phase = np.arange(4000) / 44.0455
    small = sampled(textbook.lorenz(step=0.01), 0.02, 50, 0, "Lorenz").values
    series = Series(phase, saw(phase) + 0.3 * saw(phase / 2) + 0.02 * small / small.std(), period=1.0)
    found = repetition(series)
    assert not found.holds and found.smooth > 0.9
    assert not second_phase(series, found)[1]


def test_heights_of_impacts_that_repeat_after_seven_periods():
    time, heights = 0.02 * np.arange(4000), np.random.default_rng(7).uniform(0.7, 1.3, 7)
    phase = time / 0.9 + 0.3
    blow = np.exp(-np.mod(phase, 1.0) / 0.03) * heights[np.floor(phase).astype(int) % 7]
    assert repetition(Series(time, np.sin(2 * np.pi * phase) + blow, period=0.9)).period == pytest.approx(6.3)


def test_neither_a_decay_nor_a_wrong_drive_is_quasi_periodic():
    time = 0.02 * np.arange(2000)
    assert jp.verdict(Series(time, np.exp(-time / 10) * np.sin(7 * time))).verdict == "inconclusive"
    rounded = Series(time, np.sin(2 * np.pi * time / 0.9) + saw(time / 0.9), period=0.901)
    found = jp.verdict(rounded)
    assert found.verdict == "inconclusive" and "no multiple of the drive's 0.901 s" in found.evidence[0].says


def test_two_phases():
    time = np.arange(4000) * 0.02
    values = np.sin(2 * np.pi * time) * (1 + 0.4 * np.sin(2 * np.pi * time / 2**0.5 / 3))
    found = two_phases(Series(time, values))
    assert found.residual < 0.02
    noise = np.random.default_rng(0).normal(size=4000)
    assert two_phases(Series(time, noise)).residual > 0.7  # without the worst 30 %


def test_lorenz_from_4000_samples():
    series = sampled(textbook.lorenz(step=0.01), 0.05, 98.7, 0, "Lorenz")
    chosen = embedding(series)
    assert chosen.dimension == 3 and 2 <= chosen.delay <= 8
    found = rosenstein(series, chosen)
    assert found.slope == pytest.approx(0.9056, rel=0.1) and found.reach > 0.5
    assert zero_one(series).K > 0.9


def test_oversampling_is_thinned():
    time = np.arange(20_000) * 0.001
    found = zero_one(Series(time, np.sin(2 * np.pi * time) + np.sin(2 * np.pi * 2**0.5 * time)))
    assert found.spacing > 0.1 and found.samples < 200


def test_surrogates_keep_values_and_spectrum():
    values = sampled(textbook.lorenz(step=0.01), 0.05, 50, 0, "Lorenz", 1500).values
    made = iaaft(values, np.random.default_rng(5))
    assert np.array_equal(np.sort(made), np.sort(values)) and not np.array_equal(made, values)
    power = [np.abs(np.fft.rfft(x - x.mean())) for x in (made, values)]
    assert np.corrcoef(*power)[0, 1] > 0.99


def test_signals_have_the_units_of_results():
    assert [unit_of(name) for name in ("rod.angle_rate", "rod.angle.rate", "J1.force_x", "x")] == ["rad/s"] * 2 + [
        "N",
        "",
    ]
    found = spectrum(Series(TIME, np.sin(TIME), "rod.angle_rate", unit_of("rod.angle_rate")))
    assert found.density.attrs["units"] == "(rad/s)^2/Hz"


def test_a_signal_of_a_result():
    run = jp.simulate(jp.library.slider_crank(speed=10.0), until=3.0, every=0.005)
    series = jp.analysis.from_run(run, "rod.angle_rate")
    assert series.values == pytest.approx(run.angle_rate.sel(body="rod").values)
    found = jp.verdict(run, signal="rod.angle_rate")
    assert (found.verdict, found.multiple) == ("periodic", 1)
    assert found.period == pytest.approx(0.2 * np.pi) and found.exponent is None
    with pytest.raises(ValueError, match="no signal 'rod'"):
        jp.analysis.from_run(run, "rod")


@pytest.mark.parametrize("turns", [8, 80])
def test_a_few_turns_are_not_called_quasi_periodic(turns):
    time = np.arange(turns * 100) / 100.0
    signal = np.sin(2 * np.pi * time) + 0.4 * np.sin(2 * np.pi * time / 0.381966)
    row = two_phase_row(Series(time, signal, simulated=True), None)
    assert row.votes == ("quasi-periodic" if turns > 20 else "inconclusive")


def test_the_error_of_a_slope_tells_that_the_curve_bends():
    """Duffing's x'' + 0.3 x' - x + x^3 = 0.5 cos 1.2 t, 200 periods: the exponent is 0.104 1/s by tangent vectors, and
    long records give half of it, for neighbours that begin close are soon far apart.  0.053 +- 0.010 was stated."""
    period, per = 2 * np.pi / 1.2, 50
    times, h = np.arange(260 * per) * period / per, period / per / 8

    def slope(t, y):
        return np.array([y[1], -0.3 * y[1] + y[0] - y[0] ** 3 + 0.5 * np.cos(1.2 * t)])

    y, x = np.array([1.0, 0.0]), np.empty(len(times))
    for i, begin in enumerate(times):
        x[i] = y[0]
        for t in begin + h * np.arange(8):
            a = slope(t, y)
            b = slope(t + h / 2, y + h / 2 * a)
            c = slope(t + h / 2, y + h / 2 * b)
            y = y + h / 6 * (a + 2 * b + 2 * c + slope(t + h, y + h * c))
    found = rosenstein(Series(times[: 200 * per], x[60 * per :], period=period))
    assert abs(found.slope - 0.104) < 2 * found.error and found.slope > found.error
