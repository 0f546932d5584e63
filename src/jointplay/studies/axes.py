"""What a study varies: values, grids, and the distributions that samples are drawn from."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NoReturn

import numpy as np

from ..errors import InputError
from ..model.fits import FitError, parse_fit
from ..model.units import shorten

Read = Callable[[str, Any], float]  # the SI number that something given at an address means
RUN = "run"  # the dimension of samples
SPREAD = 6.0  # a tolerance zone is six standard deviations wide, cut at its ends


def refuse(address: str, text: str) -> NoReturn:
    raise InputError(f"{address}: {text}")


@dataclass(frozen=True)
class Grid:
    """Evenly spaced values, the ends included."""

    low: float | str
    high: float | str
    count: int
    spacing: Literal["linear", "logarithmic"] = "linear"

    def values(self, address: str, read: Read) -> list[float]:
        low, high = read(address, self.low), read(address, self.high)
        if self.spacing == "linear":
            return [float(x) for x in np.linspace(low, high, self.count)]
        if not (low > 0 and high > 0):
            refuse(address, f"a logarithmic grid needs ends > 0, got {low:g} and {high:g}")
        return [float(x) for x in np.geomspace(low, high, self.count)]


def grid(low: float | str, high: float | str, count: int, spacing: Literal["linear", "logarithmic"] = "linear") -> Grid:
    """So many evenly spaced values from low to high, both included; unit strings are read.

    >>> grid("0 mm", "5 mm", 11).count
    11
    """
    if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 1:
        raise InputError(f"grid: must have a whole number of values >= 1, got {count!r}")
    if spacing not in ("linear", "logarithmic"):
        raise InputError(f"grid: spacing must be linear or logarithmic, got {spacing!r}")
    return Grid(low, high, int(count), spacing)


@dataclass(frozen=True)
class Uniform:
    """Every value between two ends is as likely."""

    low: float | str
    high: float | str
    inputs = ("",)

    def draw(self, u: np.ndarray) -> np.ndarray:
        """Values for numbers between 0 and 1, one column per input."""
        low, high = float(self.low), float(self.high)
        return low + (high - low) * u[:, 0]

    def known(self, address: str, read: Read) -> Uniform:
        """The same in SI units, or an error that names the address."""
        low, high = read(address, self.low), read(address, self.high)
        if not low < high:
            refuse(address, f"a range needs its low end below its high end, got {low:g} and {high:g}")
        return Uniform(low, high)

    def ends(self) -> tuple[float, float]:
        return float(self.low), float(self.high)


@dataclass(frozen=True)
class Normal:
    """A normal distribution, cut where `low` and `high` say so."""

    mean: float | str
    sigma: float | str
    low: float | str | None = None
    high: float | str | None = None
    inputs = ("",)

    def draw(self, u: np.ndarray) -> np.ndarray:
        return cut_normal(u[:, 0], float(self.mean), float(self.sigma), *self.ends())

    def known(self, address: str, read: Read) -> Normal:
        mean = read(address, self.mean)
        sigma = self.sigma if not isinstance(self.sigma, str) else read(address, self.sigma)
        if not (isinstance(sigma, int | float | np.number) and math.isfinite(sigma) and sigma > 0):
            refuse(address, f"a normal distribution needs sigma > 0, got {sigma!r}")
        low, high = (None if x is None else read(address, x) for x in (self.low, self.high))
        if low is not None and high is not None and not low < high:
            refuse(address, f"a normal distribution is cut from low to high, got {low:g} and {high:g}")
        return Normal(mean, float(sigma), low, high)

    def ends(self) -> tuple[float, float]:
        low = -math.inf if self.low is None else float(self.low)
        return low, math.inf if self.high is None else float(self.high)


@dataclass(frozen=True)
class Fitted:
    """The clearance of an ISO 286 fit, hole and shaft drawn independently from their tolerance zones."""

    fit: str
    shape: Literal["normal", "uniform"] = "normal"
    inputs = (".hole", ".shaft")

    def zones(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Least and greatest diameter (m) of hole and shaft."""
        found = parse_fit(self.fit)
        nominal = float(found.diameter) * 1e-3
        return tuple(  # type: ignore[return-value]
            (nominal + 1e-6 * low, nominal + 1e-6 * high) for low, high in (found.hole, found.shaft)
        )

    def parts(self, u: np.ndarray) -> list[np.ndarray]:
        """Diameters (m) of holes and shafts."""
        found = []
        for k, (low, high) in enumerate(self.zones()):
            if self.shape == "uniform":
                found.append(low + (high - low) * u[:, k])
            else:
                found.append(cut_normal(u[:, k], (low + high) / 2, (high - low) / SPREAD, low, high))
        return found

    def draw(self, u: np.ndarray) -> np.ndarray:
        hole, shaft = self.parts(u)
        return np.maximum(hole - shaft, 0.0) / 2

    def known(self, address: str, read: Read) -> Fitted:
        if self.shape not in ("normal", "uniform"):
            refuse(address, f"the tolerances of a fit are drawn normal or uniform, got {self.shape!r}")
        try:
            parse_fit(self.fit)
        except FitError as error:
            refuse(address, str(error))
        return self

    def ends(self) -> tuple[float, float]:
        return parse_fit(self.fit).clearance("min"), parse_fit(self.fit).clearance("max")


Distribution = Uniform | Normal | Fitted


def uniform(low: float | str, high: float | str) -> Uniform:
    """A range in which every value is as likely, for samples; unit strings are read."""
    return Uniform(low, high)


def normal(
    mean: float | str, sigma: float | str, low: float | str | None = None, high: float | str | None = None
) -> Normal:
    """A normal distribution, for samples; cut at low and high where they are given."""
    return Normal(mean, sigma, low, high)


def fit(text: str, shape: Literal["normal", "uniform"] = "normal") -> Fitted:
    """The clearance of a fit such as "20 H7/g6", for samples: half the difference of a hole and a shaft.

    Each is drawn from its tolerance zone, normal with a sixth of the zone as standard deviation and cut at its ends, or
    uniform.

    >>> fit("20 H7/g6").ends()
    (3.5e-06, 2.05e-05)
    """
    return Fitted(text, shape)


def cut_normal(u: np.ndarray, mean: float, sigma: float, low: float, high: float) -> np.ndarray:
    """Values of a normal distribution cut at low and high, for numbers between 0 and 1."""
    from scipy.special import ndtr, ndtri  # type: ignore[import-untyped]

    if low > mean:  # shares near 1 have no digits left for the upper tail, the lower one has
        return 2 * mean - cut_normal(1 - u, mean, sigma, 2 * mean - high, 2 * mean - low)
    first, last = ndtr((low - mean) / sigma), ndtr((high - mean) / sigma)
    return np.clip(mean + sigma * ndtri(first + (last - first) * u), low, high)


@dataclass(frozen=True)
class StudyDimension:
    """One dimension of a study: for each point a value, or the label of a named one, at each of its addresses."""

    name: str
    columns: Mapping[str, np.ndarray]
    extras: Mapping[str, np.ndarray] = field(default_factory=dict)  # told beside them, such as diameters

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))


@dataclass(frozen=True)
class Axes:
    """What `over` holds, read: dimensions of values, distributions that are still to be drawn, and named values."""

    dimensions: tuple[StudyDimension, ...]
    drawn: Mapping[tuple[str, ...], Distribution]
    named: Mapping[str, Mapping[str, Any]]


def address_of(key: str) -> str:
    """A fit is an axis of the clearance: `J2.fit` is `J2.clearance`."""
    return key.removesuffix(".fit") + ".clearance" if key.endswith(".fit") else key


def read_axes(over: Mapping[Any, Any], read: Read, check: Callable[[str, float], None]) -> Axes:
    """The axes of a study; read: an SI number at an address; check: refuses a number that cannot be there."""
    if not isinstance(over, Mapping) or not over:
        raise InputError(f"over: must be a mapping such as {{'J2.clearance': jp.grid(0, 5e-3, 11)}}, got {over!r}")
    dimensions, drawn, named = [], {}, {}
    seen: set[str] = set()
    for key, given in over.items():
        addresses = tuple(map(address_of, key if isinstance(key, tuple) else (key,)))
        for address in addresses:
            if not isinstance(address, str) or not address:
                raise InputError(f"over: an axis is an address such as 'J2.clearance', got {address!r}")
            if address in seen:
                refuse(address, "is an axis twice; keep one")
            seen.add(address)
        if isinstance(given, str) and not isinstance(key, tuple) and addresses[0].endswith(".clearance"):
            given = Fitted(given)  # "20 H7/g6"
        if isinstance(given, Distribution):
            drawn[addresses] = _distribution(addresses, given, read, check)
        elif isinstance(key, tuple):
            dimensions.append(_linked(addresses, given, read, check))
        elif isinstance(given, Mapping):
            named[addresses[0]] = _named(addresses[0], given)
            dimensions.append(StudyDimension(addresses[0], {addresses[0]: np.array(list(given), dtype=object)}))
        else:
            dimensions.append(_values(addresses[0], given, read, check))
    return Axes(tuple(dimensions), drawn, named)


def _distribution(
    addresses: tuple[str, ...], given: Distribution, read: Read, check: Callable[[str, float], None]
) -> Distribution:
    for address in reversed(addresses):  # a unit has to be one of all
        found = given.known(address, read)
    for address in addresses:
        if isinstance(given, Fitted) and not address.endswith(".clearance"):
            refuse(address, f"a fit says a clearance, as in 'J2.fit' or 'J2.clearance', got {shorten(given.fit)}")
        for end in found.ends():
            if math.isfinite(end):
                check(address, end)
    return found


def _values(address: str, given: Any, read: Read, check: Callable[[str, float], None]) -> StudyDimension:
    if isinstance(given, str | bytes) or not isinstance(given, Iterable | Grid):
        refuse(address, f"must be a list of values, jp.grid(...), named values or a distribution, got {shorten(given)}")
    raw = given.values(address, read) if isinstance(given, Grid) else list(given)
    if not raw:
        refuse(address, "the axis is empty; give at least one value")
    for one in raw:
        if not isinstance(one, int | float | np.number | str) or isinstance(one, bool):
            text = f"must be numbers, got {shorten(one)}; give others by names: {{'name': value, ...}}"
            refuse(address, text)
    values = [read(address, x) for x in raw]
    for x in dict.fromkeys((min(values), max(values))):
        check(address, x)
    if len(set(values)) < len(values):
        twice = next(x for x in values if values.count(x) > 1)
        refuse(address, f"the axis holds {twice:g} twice; keep one")
    return StudyDimension(address, {address: np.array(values)})


def _linked(addresses: tuple[str, ...], given: Any, read: Read, check: Callable[[str, float], None]) -> StudyDimension:
    name = ",".join(addresses)
    rows = [tuple(row) if isinstance(row, Iterable) and not isinstance(row, str) else (row,) for row in given]
    if not rows:
        refuse(name, "the axis is empty; give at least one tuple of values")
    for row in rows:
        if len(row) != len(addresses):
            refuse(name, f"must be tuples of {len(addresses)} values, got {shorten(row)}")
    table = np.array([[read(a, x) for a, x in zip(addresses, row, strict=True)] for row in rows])
    if len({tuple(row) for row in table.tolist()}) < len(table):
        refuse(name, "the axis holds the same values twice; keep one")
    for k, address in enumerate(addresses):
        for x in (table[:, k].min(), table[:, k].max()):
            check(address, float(x))
    return StudyDimension(name, {a: table[:, k] for k, a in enumerate(addresses)})


def _named(address: str, given: Mapping[Any, Any]) -> dict[str, Any]:
    if not given:
        refuse(address, "the axis is empty; give at least one named value")
    for label in given:
        if not isinstance(label, str) or not label.isprintable() or not label:
            refuse(address, f"a named value needs a printable name, got {shorten(label)}")
    return dict(given)
