"""Spectra with windows that hold whole drive periods; the comb of the drive's harmonics, and what is beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError
from .series import Series

if TYPE_CHECKING:
    from xarray import Dataset


def whole_periods(series: Series) -> tuple[np.ndarray, np.ndarray, int]:
    """Time and values of the last whole drive periods, resampled so that each holds a whole number of samples."""
    period = series.period
    if period is None:
        return series.time, series.values, 0
    count = int(np.floor((series.length + series.interval) / period + 1e-9))
    if count < 1:
        raise InputError(
            f"{series.name}: {series.length:g} s do not cover the drive period of {period:g} s; record longer"
        )
    per = max(4, int(np.ceil(period / series.interval - 1e-9)))
    end = min(series.time[-1], series.time[0] + count * period)
    time = end - (count * per - np.arange(count * per)) * (period / per)
    if abs(period / per - series.interval) < 1e-6 * series.interval:
        values = series.values[-count * per :] if len(series.values) >= count * per else series.values
        return series.time[-len(values) :], values, count
    from scipy.interpolate import CubicSpline  # type: ignore[import-untyped]

    return time, CubicSpline(series.time, series.values)(np.clip(time, series.time[0], None)), count


def spectrum(series: Series) -> Dataset:
    """Amplitude and power spectral density over frequency (Hz), and which lines belong to the drive.

    With a drive period the window holds whole periods and has straight ends, so that a periodic signal has power on
    the comb only; without one it is Hann's. `off_comb`: share of the power (mean removed) that is not on the comb;
    `periods`: how many the window holds.
    """
    from xarray import Dataset

    time, values, count = whole_periods(series)
    interval = (time[-1] - time[0]) / (len(time) - 1)
    n = len(values)
    window = np.ones(n) if count else np.hanning(n + 1)[:n]
    parts = np.fft.rfft((values - values.mean()) * window)
    frequency = np.fft.rfftfreq(n, interval)
    power = np.abs(parts) ** 2
    twice = np.where((np.arange(len(power)) > 0) & ~((n % 2 == 0) & (np.arange(len(power)) == n // 2)), 2.0, 1.0)
    density = twice * power * interval / (window**2).sum()
    amplitude = twice * np.abs(parts) / window.sum()
    comb = (np.arange(len(power)) % count == 0) & (np.arange(len(power)) > 0) if count else np.zeros(len(power), bool)
    total = float(density[1:].sum())
    off = float(density[1:][~comb[1:]].sum() / total) if count and total else np.nan
    data: dict[str, Any] = {
        "amplitude": ("frequency", amplitude, {"units": series.unit}),
        "density": ("frequency", density, {"units": f"({series.unit})^2/Hz" if series.unit else ""}),
        "comb": ("frequency", comb),
    }
    attrs = {"off_comb": off, "periods": count, "signal": series.name, "period": series.period or np.nan}
    return Dataset(data, {"frequency": ("frequency", frequency, {"units": "Hz"})}, attrs)


def line(time: np.ndarray, values: np.ndarray, most: float | None = None) -> tuple[float, float]:
    """Frequency (Hz) and amplitude of the strongest line of a signal, located between the bins.

    Hann's window, the largest bin, then the maximum of the continuous spectrum near it.
    """
    from scipy.optimize import minimize_scalar  # type: ignore[import-untyped]

    n, interval = len(values), (time[-1] - time[0]) / (len(time) - 1)
    window = np.hanning(n + 1)[:n]
    shaped = (values - values.mean()) * window
    size = np.abs(np.fft.rfft(shaped, 4 * n))
    frequency = np.fft.rfftfreq(4 * n, interval)
    size[frequency < 1.0 / (n * interval)] = 0  # slower than the record: a trend, not a line
    if most is not None:
        size[frequency > most] = 0
    best = int(np.argmax(size))
    at = np.arange(n) * interval

    def negative(f: float) -> float:
        return -float(abs(np.dot(shaped, np.exp(-2j * np.pi * f * at))))

    step = float(frequency[1])
    found = minimize_scalar(
        negative,
        bounds=(max(0.0, frequency[best] - step), frequency[best] + step),
        method="bounded",
        options={"xatol": 1e-7 * step},
    )
    return float(found.x), -2 * float(found.fun) / float(window.sum())
