"""What a study means: shares beyond a limit, percentiles, Sobol indices, and which axis to halve first."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError
from ..model.parts import suggestion
from ..physics.step import is_number
from .axes import RUN
from .metrics import WHEN
from .store import STUDY
from .work import DONE

if TYPE_CHECKING:
    from xarray import DataArray, Dataset

RESAMPLES = 400  # of the bootstrap
DEVIATES = 1.959963984540054  # standard deviations to either side that hold 95 %
OWN = ("status", "reached", "outcome")


@dataclass(frozen=True)
class Share:
    """The share of runs beyond a limit, of samples with its confidence interval; runs that failed are not counted.

    missing: how many of the runs have no number, in words; those that never reach a mark are beyond every limit.
    """

    share: float
    low: float
    high: float
    beyond: int
    runs: int
    failed: int
    limit: float
    missing: str = ""

    def __str__(self) -> str:
        failed = f"; {self.failed} runs failed and are not counted" if self.failed else ""
        missing = f"; {self.missing}" if self.missing else ""
        return f"{self.beyond} of {self.runs} runs exceed {self.limit:g}: {self.part}{missing}{failed}"

    @property
    def part(self) -> str:
        """The share in percent; cells of a grid were not drawn, and have no confidence."""
        text = f"{100 * self.share:.3g} %"
        if math.isnan(self.low):
            return text
        return f"{text} ({100 * self.low:.3g} to {100 * self.high:.3g} % with 95 % confidence)"


def numbers(study: Dataset, metric: str) -> tuple[np.ndarray, np.ndarray]:
    """The values of a metric in all runs, one after the other, and which of them are numbers of runs that are done."""
    if "judgement" in study.attrs:
        raise InputError("this is the result of one run; give the table of a study, as sweep makes it")
    known = [str(name) for name in study.data_vars if name not in OWN and "time" not in study[name].dims]
    if metric not in known:
        raise InputError(f"the study has no metric {metric!r}{suggestion(metric, known)}")
    values = study[metric].values.ravel()
    return values, np.isfinite(values) & done(study)


def done(study: Dataset) -> np.ndarray:
    """Which runs are done."""
    shape = next(iter(study.data_vars.values())).shape
    return np.ravel(study["status"].values == DONE if "status" in study else np.ones(shape, bool))


def lacking(metric: str) -> str:
    """What runs do that have no number."""
    return "never reach it" if metric.startswith(f"{WHEN}(") else "have none"


def missing(metric: str, good: np.ndarray, ran: np.ndarray) -> str:
    """How many of the runs that are done have no number, in words; nothing if all have one."""
    count = int((ran & ~good).sum())
    return f"{count} of {int(ran.sum())} runs {lacking(metric)}" if count else ""


def over(metric: str, values: np.ndarray, limit: float) -> np.ndarray:
    """Which values are beyond a limit; a mark that is never reached is later than every limit."""
    never = np.isnan(values) if metric.startswith(f"{WHEN}(") else False
    found: np.ndarray = (values > limit) | never
    return found


def share(study: Dataset, metric: str, limit: float) -> Share:
    """How many of the runs that are done have a metric above a limit (SI units); of samples with Wilson's interval
    (95 %), of a grid without (nan).  Of `when(...)` those that never reach the mark are above.

    The interval is that of independent samples; sobol and latin samples scatter less.  Where every value of a grid has
    the same samples, there are no more independent ones than these.  Of saltelli samples only the two independent ones
    of each base point are counted.
    """
    values, good = numbers(study, metric)
    if not is_number(limit):
        raise InputError(f"share: the limit of {metric} must be a number in SI units, got {limit!r}")
    ran, beyond = done(study) & independent(study, study[metric]), over(metric, values, limit)
    n, k = int(ran.sum()), int((beyond & ran).sum())
    if not ((good | beyond) & ran).any():
        raise InputError(f"no run of the study has a {metric}")
    known = study["status"].values if "status" in study else np.ones(1)
    failed = int((known > DONE).sum())
    drawn = len(np.unique(samples_of(study[metric])[ran])) if RUN in study[metric].dims else 0
    low, high = wilson(k / n, drawn) if drawn else (math.nan, math.nan)
    return Share(k / n, low, high, k, n, failed, float(limit), missing(metric, good, ran))


def wilson(share: float, n: int) -> tuple[float, float]:
    """Wilson's interval (95 %) of a share of n independent samples."""
    middle = (n * share + DEVIATES**2 / 2) / (n + DEVIATES**2)
    half = DEVIATES / (n + DEVIATES**2) * math.sqrt(n * share * (1 - share) + DEVIATES**2 / 4)
    return max(0.0, middle - half), min(1.0, middle + half)


def samples_of(array: DataArray) -> np.ndarray:
    """Which sample each run is of, one after the other: where a table was cut these are not the places of its rows."""
    found: np.ndarray = array[RUN].broadcast_like(array).transpose(*array.dims).values.ravel()
    return found


def independent(study: Dataset, array: DataArray) -> np.ndarray:
    """Which runs were drawn independently of each other: of saltelli samples the first and last of a base point."""
    how = json.loads(str(study.attrs.get(STUDY, "{}"))).get("samples") or {}
    if how.get("method") != "saltelli" or RUN not in array.dims:
        return np.ones(array.size, bool)
    size = len(how["factors"]) + 2
    return np.isin(samples_of(array) % size, (0, size - 1))


def percentiles(study: Dataset, metric: str, at: Sequence[float] = (5, 50, 95)) -> dict[float, float]:
    """Percentiles of a metric over the runs that are done and have a number."""
    values, good = numbers(study, metric)
    for p in at if isinstance(at, Sequence | np.ndarray) and not isinstance(at, str) else [None]:
        if not (is_number(p) and 0 <= p <= 100):
            raise InputError(f"percentiles of {metric}: must be a list of numbers from 0 to 100, got {at!r}")
    if not good.any():
        raise InputError(f"no run of the study has a {metric}")
    return {p: float(x) for p, x in zip(at, np.percentile(values[good], at), strict=True)}


def sampled(study: Dataset) -> dict[str, Any]:
    """How the samples of a study were drawn; a study without samples is refused."""
    told = json.loads(str(study.attrs.get(STUDY, "{}"))).get("samples") or {}
    if not told:
        raise InputError("the study has no samples; give axes distributions and samples=jp.samples(...)")
    if study["status"].ndim != 1:
        raise InputError(
            f"choose one value of {', '.join(str(d) for d in study['status'].dims if d != RUN)} first, with sel"
        )
    return dict(told)


def indices(study: Dataset, metric: str, seed: int = 0) -> Dataset:
    """Sobol indices of a metric: which share of its variance each axis explains alone (first order) and with others
    (total), each with a standard error by bootstrap.

    Total ones need samples of the method saltelli (Saltelli et al. 2010 and Jansen 1999); of others there is the first
    order only (`first_order`), the correlation ratio by parabolas in slices of equal count, corrected for its bias.
    """
    from xarray import Dataset

    how = sampled(study)
    values, good = numbers(study, metric)
    factors = [",".join(f) for f in how["factors"]]
    if np.ptp(values[good], axis=0) == 0 if good.any() else True:
        raise InputError(f"{metric} is the same in all runs; there is no variance to explain")
    rng = np.random.default_rng(seed)
    if how["method"] == "saltelli":
        block = blocks(samples_of(study[metric]), np.where(good, values, np.nan), len(factors) + 2)
        kept = block[np.isfinite(block).all(axis=1)]
        found = saltelli_indices(kept)
        draws = [saltelli_indices(kept[rng.integers(0, len(kept), len(kept))]) for _ in range(RESAMPLES)]
        data: dict[str, Any] = {}
        for k, (name, text) in enumerate((("first", "alone"), ("total", "alone and with others"))):
            said = {"long_name": f"share of the variance explained {text}"}
            data[name] = ("factor", found[k], said)
            data[f"{name}_error"] = ("factor", np.std([d[k] for d in draws], axis=0), {"long_name": "standard error"})
        lost = len(block) - len(kept)
        left_out = f", {lost} left out for runs that failed or {lacking(metric)}"
        note = f"{len(kept)} base points{left_out if lost else ''}"
    else:
        columns = [study[f[0]].values[good] for f in how["factors"]]
        y = values[good]
        first = [first_order(x, y) for x in columns]
        picks = [rng.integers(0, len(y), len(y)) for _ in range(RESAMPLES // 4)]
        scatter = np.std([[first_order(x[p], y[p]) for x in columns] for p in picks], axis=0)
        data = {"first": ("factor", first, {"long_name": "share of the variance explained alone"})}
        data["first_error"] = ("factor", scatter, {"long_name": "standard error"})
        note = f"{how['method']} samples give the first order only; total indices need jp.samples(n, method='saltelli')"
        note += "; inputs are correlated, so that shares overlap" if how.get("correlated") else ""
        note += f"; {lack} and are left out" if (lack := missing(metric, good, done(study))) else ""
    return Dataset(data, {"factor": factors}, {"metric": metric, "note": note})


def blocks(samples: np.ndarray, values: np.ndarray, size: int) -> np.ndarray:
    """The values of each base point of saltelli samples in a row; nan where a table that was cut has none."""
    points, rows = np.unique(samples // size, return_inverse=True)
    found = np.full((len(points), size), np.nan)
    found[rows, samples % size] = values
    return found


def saltelli_indices(block: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """First-order and total indices of rows A, A with one input from B, ..., B."""
    if len(block) < 2:
        raise InputError(f"{len(block)} base points of saltelli samples are whole; give more of the study's runs")
    a, b = block[:, 0], block[:, -1]
    both = np.concatenate([a, b])
    variance, middle = both.var(), both.mean()
    mixed = block[:, 1:-1]
    first = np.mean((b - middle)[:, None] * (mixed - a[:, None]), axis=0) / variance
    total = np.mean((a[:, None] - mixed) ** 2, axis=0) / (2 * variance)
    return first, total


def first_order(x: np.ndarray, y: np.ndarray) -> float:
    """The share of the variance of y that its course over x explains: parabolas in slices of equal count, what they
    explain by chance taken off.

    A parabola leaves nothing of a smooth course, where a mean would leave its slope: one axis alone explains all.
    Chance gives every coefficient as much as every degree of freedom has that is left, where samples are drawn by
    themselves; where they are spread evenly it gives less, as the next powers tell, which a smooth course has not.
    """
    n, order = len(y), np.argsort(x, kind="stable")
    left, spent = np.zeros(2), np.zeros(2, int)  # with parabolas, and with two powers more
    slices = max(1, round(n ** (1 / 3)))
    for at, part in zip(np.array_split(x[order], slices), np.array_split(y[order], slices), strict=True):
        z = (at - at.mean()) / (np.ptp(at) or 1.0)
        for k, rows in enumerate((np.vander(z, 3), np.vander(z, 5))):
            weights, _, rank, _ = np.linalg.lstsq(rows, part, rcond=1e-9)
            left[k] += float(((part - rows @ weights) ** 2).sum())
            spent[k] += int(rank)
    whole = float(((y - y.mean()) ** 2).sum())
    if whole == 0 or n <= spent[0]:
        return math.nan
    chance = left[0] / (n - spent[0])
    if spent[1] > spent[0]:
        chance = min(chance, (left[0] - left[1]) / (spent[1] - spent[0]))
    return float((whole - left[0] - (spent[0] - 1) * chance) / whole)


def ranking(study: Dataset, metric: str, limit: float | None = None, seed: int = 0) -> Dataset:
    """Which clearance to halve first: what half of its values would gain of a metric, the most first.

    Of a study without clearances (or plays of gears) all axes are ranked.  A quadratic surface through all runs says:
    `gain`, how much the mean of the metric falls, `gain_high`, how much its 95th percentile falls, `beyond`, the share
    above `limit` then, each with a standard error by bootstrap; `outside`, the share of the halved values that lie
    beyond all samples, where the surface only goes on as it came; `explained` is the share of the variance that it
    explains.  Where that is little, or much is outside, compute the study with the halved axis.
    """
    from xarray import Dataset

    how = sampled(study)
    values, good = numbers(study, metric)
    factors = [",".join(f) for f in how["factors"]]
    x = np.column_stack([study[f[0]].values[good] for f in how["factors"]])
    y = values[good]
    if len(y) < (least := 4 * terms(x[:1]).shape[1]):
        raise InputError(f"{len(y)} runs are too few to rank {len(factors)} axes; compute at least {least}")
    centre, width = x.mean(axis=0), np.maximum(x.std(axis=0), 1e-300)
    rng = np.random.default_rng(seed)
    found = halved(x, y, centre, width, limit)
    picks = [rng.integers(0, len(y), len(y)) for _ in range(RESAMPLES // 4)]
    errors = np.std([halved(x[p], y[p], centre, width, limit)[0] for p in picks], axis=0)
    plays = [i for i, f in enumerate(factors) if f.endswith((".clearance", ".play"))]
    order = np.array(sorted(plays or range(len(factors)), key=lambda i: -found[0][i, 0]))
    units = {"units": study[metric].attrs["units"]} if "units" in study[metric].attrs else {}
    data: dict[str, Any] = {}
    for k, (name, text, said) in enumerate((
        ("gain", "fall of the mean if the axis is halved", units),
        ("gain_high", "fall of the 95th percentile if the axis is halved", units),
        ("beyond", "share beyond the limit if the axis is halved", {"units": "1"}),
        ("outside", "share of the halved values that lie beyond all samples", {"units": "1"}),
    )):  # fmt: skip
        if name != "beyond" or limit is not None:
            data[name] = ("factor", found[0][order, k], {"long_name": text, **said})
            data[f"{name}_error"] = ("factor", errors[order, k], {"long_name": "standard error", **said})
    attrs = {"metric": metric, "mean": float(y.mean()), "high": float(np.percentile(y, 95)), "explained": found[1]}
    attrs |= {"limit": limit, "beyond": float((y > limit).mean())} if limit is not None else {}
    attrs |= {"missing": missing(metric, good, done(study))}
    return Dataset(data, {"factor": [factors[i] for i in order]}, attrs)


def terms(z: np.ndarray) -> np.ndarray:
    """The terms of a quadratic surface."""
    count = z.shape[1]
    pairs = [z[:, i] * z[:, j] for i in range(count) for j in range(i, count)]
    return np.column_stack([np.ones(len(z)), z, *pairs])


def halved(
    x: np.ndarray, y: np.ndarray, centre: np.ndarray, width: np.ndarray, limit: float | None
) -> tuple[np.ndarray, float]:
    """Of each axis the fall of mean and 95th percentile, the share beyond the limit and that of halves beyond all
    samples; and what is explained."""
    z = (x - centre) / width
    weights, *_ = np.linalg.lstsq(terms(z), y, rcond=None)
    fitted = terms(z) @ weights
    left = y - fitted
    explained = 1 - float(left.var()) / float(y.var()) if y.var() else math.nan
    rows = []
    for k in range(x.shape[1]):
        half = x.copy()
        half[:, k] /= 2
        then = terms((half - centre) / width) @ weights + left  # each machine keeps what the surface does not explain
        beyond = float((then > limit).mean()) if limit is not None else math.nan
        outside = float(np.mean((half[:, k] < x[:, k].min()) | (half[:, k] > x[:, k].max())))
        rows.append([y.mean() - then.mean(), np.percentile(y, 95) - np.percentile(then, 95), beyond, outside])
    return np.array(rows), explained
