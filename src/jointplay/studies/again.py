"""A study that was computed: how far it is, its shards put together, one of its runs again."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError
from ..model.files import loads
from ..model.mechanism import Mechanism
from ..simulation import FixedRungeKutta, MoreauJean, RungeKutta, Stepper
from . import store as stores
from .lanes import Extent
from .plan import Plan, differences
from .subject import Machine, number
from .work import DONE, MISSING, Rows

if TYPE_CHECKING:
    from xarray import Dataset

STEPPERS = {kind.__name__: kind for kind in (RungeKutta, FixedRungeKutta, MoreauJean)}


def state(path: str | os.PathLike[str]) -> dict[str, Any]:
    """How far a study on disk is: runs by how they stand, its axes, metrics and version, and what failed first."""
    there = stores.existing(Path(path))
    status = there.status()
    found: dict[str, Any] = {"title": there.attrs["title"], "runs": int(status.size), **stores.counts(status)}
    found["axes"] = {d.name: len(d) for d in there.plan.dimensions}
    found["metrics"], found["version"] = list(there.names), there.attrs["told"]["version"]
    bad = np.flatnonzero(status.ravel() > DONE)
    if len(bad):
        outcomes = np.asarray(there.array("outcome")[...]).ravel()
        found["failures"] = {int(i): str(outcomes[i]) for i in bad[:5]}
    return found


def collect(path: str | os.PathLike[str], shards: list[str | os.PathLike[str]] | None = None) -> Dataset:
    """Put the shards of a study together into one store: study-1of4.zarr, ... into study.zarr.

    shards: their names, where they do not stand beside the target.  Runs that no shard has stay missing; the same sweep
    with the target as its store computes them.
    """
    target = Path(path)
    found = [Path(x) for x in shards] if shards else beside(target)
    if not found:
        name = f"{target.stem}-1of4{target.suffix}"
        raise InputError(f"{target}: there are no shards such as {name} beside it; compute them with shard=(1, 4)")
    first = stores.existing(found[0])
    for other in found[1:]:
        apart = differences(first.attrs["told"], stores.existing(other).attrs["told"])
        if apart:
            raise InputError(f"{other}: is of another study than {found[0]}, which differs in {'; '.join(apart)}")
    if target.exists():
        apart = differences(first.attrs["told"], stores.existing(target).attrs["told"])
        if apart:
            raise InputError(f"{target}: holds another study than {found[0]}, which differs in {'; '.join(apart)}")
        whole = stores.existing(target)
    else:
        time = first.array("time")[...] if first.kept else None
        whole = stores.create(target, first.plan, first.chunk, first.names, first.kept, time, first.attrs)
    with stores.writer(target):
        for shard in found:
            part = stores.existing(shard)
            merge(whole, part)
    return whole.dataset()


def merge(whole: stores.Zarr, part: stores.Zarr) -> None:
    """Write into a store the runs that another one has and it has not."""
    chosen = (whole.status() == MISSING) & (part.status() != MISSING)
    if not chosen.any():
        return
    held = {name: np.asarray(part.array(name)[...])[chosen] for name in (*part.names, *part.kept)}
    texts = [str(x) for x in np.asarray(part.array("outcome")[...])[chosen]]
    rows = Rows(part.status()[chosen], np.asarray(part.array("reached")[...])[chosen], texts, held)
    whole.put(tuple(slice(0, n) for n in whole.plan.shape), chosen, rows)


def beside(target: Path) -> list[Path]:
    """The shards of a store that stand beside it, in their order."""
    named = re.compile(re.escape(target.stem) + r"-(\d+)of(\d+)" + re.escape(target.suffix))
    found = [(int(m[2]), int(m[1]), path) for path in target.parent.iterdir() if (m := named.fullmatch(path.name))]
    counts = {n for n, _, _ in found}
    if len(counts) > 1:
        shown = ", ".join(str(n) for n in sorted(counts))
        raise InputError(
            f"{target}: beside it are shards of different counts ({shown}); name those that belong together"
        )
    return [path for _, _, path in sorted(found)]


def replay(
    path: str | os.PathLike[str],
    run: int | Mapping[str, float | str],
    subject: Mechanism | None = None,
    every: float | None = None,
) -> Dataset:
    """The full result of one run of a study, bit for bit the same run.

    run: its number, or values at addresses, of which the nearest run is taken.  subject: the mechanism, only where the
    study's holds Python functions, which a store cannot keep.  every (s): more or fewer samples than the study had,
    which changes nothing else.
    """
    attrs, plan = stores.read(Path(path))
    if attrs["kind"] != "mechanism":
        raise InputError(f"{path}: is a study of a function; call it with {plan.settings(number_of(plan, run, path))}")
    told = attrs["told"]
    if subject is None and told["model"].startswith("{"):
        why = json.loads(told["model"])["why"]
        raise InputError(f"{path}: its mechanism cannot be read from the store ({why}); give it to replay")
    mechanism = subject or loads(told["model"])
    named = {a: {label: revived(x) for label, x in values.items()} for a, values in told["named"].items()}
    machine = Machine(mechanism, revived(told["stepper"]), named)
    settings = plan.settings(number_of(plan, run, path, machine.read))
    found = Extent(told["until"], every or told["every"], told["reclose"], told["settled"]).alone(
        machine.task(settings)
    )
    return found.assign_attrs(study=str(path), settings=json.dumps(settings))


def revived(told: Any) -> Any:
    """A stepper from plain data; anything else stays what it is, for the mechanism to read."""
    if isinstance(told, Mapping) and told.get("stepper") in STEPPERS:
        made: Stepper = STEPPERS[told["stepper"]](**{k: x for k, x in told.items() if k != "stepper"})
        return made
    if isinstance(told, Mapping) and "function" in told:
        raise InputError(
            f"{told['function']}: a Python function cannot be read from a store; replay it from its script"
        )
    return told


def number_of(
    plan: Plan, run: int | Mapping[str, float | str], path: Any, read: Callable[[str, Any], float] = number
) -> int:
    """The number of a run, given as such or by values at its addresses, which are read so."""
    if not isinstance(run, Mapping):
        if isinstance(run, bool) or not 0 <= int(run) < len(plan):
            raise InputError(f"{path}: has runs 0 to {len(plan) - 1}, got {run}")
        return int(run)
    place = []
    unknown = [a for a in run if not any(a in d.columns for d in plan.dimensions)]
    if unknown:
        known = ", ".join(a for d in plan.dimensions for a in d.columns)
        raise InputError(f"{path}: has no axis {unknown[0]!r}; there are {known}")
    for d in plan.dimensions:
        off = np.zeros(len(d))
        for a, x in d.columns.items():
            if a in run and x.dtype == object:
                off += x != run[a]
            elif a in run:
                off += np.abs(x - read(a, run[a])) / (np.ptp(x) or 1.0)
        place.append(int(np.argmin(off)))
    return int(np.ravel_multi_index(place, plan.shape))
