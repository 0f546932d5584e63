"""The driven impact oscillator from impact to impact, by its closed solution and scipy: nothing of jointplay."""

import numpy as np
from scipy.optimize import brentq


class ImpactMap:
    """x'' + 2 z x' + x = cos(w t), struck at x = gap from below: x' becomes -r x'."""

    def __init__(self, w, r, gap=0.0, z=0.0):
        self.w, self.r, self.gap, self.z = w, r, gap, z
        size = (1 - w * w) ** 2 + (2 * z * w) ** 2
        self.a, self.b = (1 - w * w) / size, 2 * z * w / size

    def flight(self, t0, x0, v0, t):
        """Place and speed at a time t after t0."""
        w, z, a, b = self.w, self.z, self.a, self.b
        y = x0 - a * np.cos(w * t0) - b * np.sin(w * t0)
        u = v0 + a * w * np.sin(w * t0) - b * w * np.cos(w * t0)
        s, turn = t - t0, np.sqrt(1 - z * z)
        c, n, fade = np.cos(turn * s), np.sin(turn * s), np.exp(-z * s)
        x = fade * (y * c + (u + z * y) / turn * n) + a * np.cos(w * t) + b * np.sin(w * t)
        v = fade * (u * c - (z * u + y) / turn * n) - a * w * np.sin(w * t) + b * w * np.cos(w * t)
        return x, v

    def strike(self, t0, x0, v0, longest=40.0):
        """Time and speed after the next impact."""
        span = 2 * np.pi / self.w
        begin = t0
        while begin < t0 + longest:
            times = np.linspace(begin, begin + span, 4001)[1:]
            x = self.flight(t0, x0, v0, times)[0] - self.gap
            if begin == t0:
                x[times - t0 < 1e-9] = -1.0
            first = np.flatnonzero(x > 0)
            if len(first):
                at = times[first[0]]
                low = times[first[0] - 1] if first[0] else max(begin, t0 + 1e-9)
                t = brentq(lambda one: self.flight(t0, x0, v0, one)[0] - self.gap, low, at, xtol=1e-15, rtol=1e-15)
                return t, -self.r * self.flight(t0, x0, v0, t)[1]
            begin += span
        raise AssertionError("no impact")

    def next(self, t, v):
        """From just after one impact to just after the next."""
        return self.strike(t, self.gap, v)

    def state(self, t0, x0, v0, until):
        """Place and speed at a time, all impacts on the way made, and how many they were."""
        count, t, x, v = 0, t0, x0, v0
        while True:
            at, after = self.strike(t, x, v)
            if at > until:
                return (*self.flight(t, x, v, until), count)
            t, x, v, count = at, self.gap, after, count + 1

    def jacobian(self, t, v, h=1e-6):
        """Derivatives of next by central differences."""
        columns = []
        for dt, dv in ((h, 0.0), (0.0, h)):
            more, less = self.next(t + dt, v + dv), self.next(t - dt, v - dv)
            columns.append((np.array(more) - np.array(less)) / (2 * h))
        return np.array(columns).T
