"""The table of a study: in memory, or on disk as zarr that `xarray.open_zarr` reads as it is.

A batch is one chunk of every array.  zarr writes a chunk under a temporary name and renames it; the chunk of `status`
is written last, so that a run counts as done only once all its numbers are there.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import host
from ..errors import InputError
from .axes import RUN, StudyDimension
from .plan import Plan, Rectangle
from .work import DONE, MEANINGS, MISSING, Rows

if TYPE_CHECKING:
    from xarray import Dataset

FORMAT = 1
STUDY = "jointplay_study"  # the attribute that tells our stores from others
LOCK = ".writer"
FLAGS = {"flag_values": [0, 1, 2, 3], "flag_meanings": MEANINGS, "long_name": "how the run ended"}
MetricNames = Mapping[str, Mapping[str, str]]  # of metrics: their attributes


class Memory:
    """The table of a study in memory."""

    def __init__(
        self, plan: Plan, names: MetricNames, kept: Mapping[str, int], time: Any, attrs: Mapping[str, Any]
    ) -> None:
        self.plan, self.names, self.kept, self.time, self.attrs = plan, names, dict(kept), time, dict(attrs)
        rows = Rows.empty(len(plan), list(names), self.kept)
        self.arrays = {"status": rows.status.reshape(plan.shape), "reached": rows.reached.reshape(plan.shape)}
        self.arrays["outcome"] = np.full(plan.shape, "", dtype=object)
        self.arrays |= {name: x.reshape(plan.shape + x.shape[1:]) for name, x in rows.values.items()}

    def status(self) -> np.ndarray:
        """How every run stands."""
        found: np.ndarray = self.arrays["status"]
        return found

    def put(self, rectangle: Rectangle, chosen: np.ndarray, rows: Rows) -> None:
        """Write some of the runs of a batch: chosen says which of its shape."""
        for name in (*rows.values, "reached", "outcome", "status"):
            given = np.array(rows.outcome, dtype=object) if name == "outcome" else (
                rows.values[name] if name in rows.values else getattr(rows, name))  # fmt: skip
            self.arrays[name][rectangle][chosen] = given

    def dataset(self) -> Dataset:
        """The table as a Dataset."""
        from xarray import Dataset

        data: dict[str, Any] = {}
        for name, array in self.arrays.items():
            dims = self.plan.names + (("time",) if name in self.kept else ())
            values = array.astype(str) if name == "outcome" else array.copy()
            data[name] = (dims, values, attributes(name, self.names))
        return Dataset(data, coordinates(self.plan, self.attrs, self.time), attrs_of(self.attrs))


class Zarr:
    """The table of a study on disk; one process writes it, any may read it."""

    def __init__(
        self, path: Path, attrs: Mapping[str, Any], plan: Plan, names: MetricNames, kept: Mapping[str, int]
    ) -> None:
        import zarr

        self.path, self.attrs, self.plan, self.names, self.kept = path, dict(attrs), plan, names, dict(kept)
        self.group = zarr.open_group(str(path), mode="r+", use_consolidated=False)
        self.chunk: tuple[int, ...] = tuple(self.group["status"].chunks)  # type: ignore[union-attr]

    def array(self, name: str) -> Any:
        return self.group[name]

    def status(self) -> np.ndarray:
        return np.asarray(self.array("status")[...])

    def put(self, rectangle: Rectangle, chosen: np.ndarray, rows: Rows) -> None:
        everything = bool(chosen.all())
        for name in (*rows.values, "reached", "outcome", "status"):
            if name == "outcome":
                given: Any = np.array(rows.outcome, dtype=object)
                if not any(rows.outcome):
                    continue
            else:
                given = rows.values[name] if name in rows.values else getattr(rows, name)
            array = self.array(name)
            if everything:
                block = given.reshape(chosen.shape + given.shape[1:])
            else:  # the others of the chunk stay as they are
                block = np.array(array[rectangle])
                block[chosen] = given
            array[rectangle] = block

    def dataset(self) -> Dataset:
        return open_study(self.path)


def attributes(name: str, names: MetricNames) -> dict[str, Any]:
    """The attributes of a variable."""
    if name == "status":
        return dict(FLAGS)
    if name == "reached":
        return {"units": "s", "long_name": "time that the run reached"}
    if name == "outcome":
        return {"long_name": "why a run ended early or failed, or is done but doubtful or wrong"}
    return dict(names.get(name, {}))


def coordinates(plan: Plan, attrs: Mapping[str, Any], time: Any = None) -> dict[str, Any]:
    """The coordinates of a study: the values at its addresses."""
    units = attrs.get("units", {})
    found: dict[str, Any] = {}
    for d in plan.dimensions:
        if d.name == RUN:
            found[RUN] = (RUN, np.arange(len(d)), {})
        for address, x in (*d.columns.items(), *d.extras.items()):
            unit = "m" if address in d.extras else units.get(address, "")
            found[address] = (d.name, x.astype(str) if x.dtype == object else x, {"units": unit} if unit else {})
    return found | ({"time": ("time", time, {"units": "s"})} if time is not None else {})


def attrs_of(attrs: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes of a study's Dataset."""
    return {"title": attrs["title"], "version": attrs["told"]["version"], STUDY: json.dumps(attrs)}


def create(
    path: Path, plan: Plan, chunk: tuple[int, ...], names: MetricNames, kept: Mapping[str, int], time: Any,
    attrs: Mapping[str, Any],
) -> Zarr:  # fmt: skip
    """A new store, whole under its name or not there."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    shutil.rmtree(temporary, ignore_errors=True)
    try:
        lay_out(temporary, plan, chunk, names, kept, time, attrs)
        os.rename(temporary, path)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return Zarr(path, attrs, plan, names, kept)


def lay_out(
    path: Path, plan: Plan, chunk: tuple[int, ...], names: MetricNames, kept: Mapping[str, int], time: Any,
    attrs: Mapping[str, Any],
) -> None:  # fmt: skip
    """The arrays of a store, its coordinates written, its numbers missing."""
    import zarr

    described = dict(attrs) | {"names": {n: dict(x) for n, x in names.items()}, "kept": dict(kept)}
    group = zarr.open_group(str(path), mode="w", attributes=attrs_of(described))
    shape, dims = plan.shape, plan.names
    for name, (dim, values, said) in coordinates(plan, attrs, time).items():
        text = values.dtype.kind == "U"
        kind = "string" if text else values.dtype
        size = {"shape": values.shape, "chunks": values.shape}
        array = group.create_array(name, **size, dtype=kind, dimension_names=(dim,), attributes=said)
        array[:] = values.astype(object) if text else values
    own = [name for d in plan.dimensions for name in (*d.columns, *d.extras) if name != d.name]
    if own:
        group.attrs["coordinates"] = " ".join(own)
    for name in (*names, *kept, "reached", "outcome", "status"):
        more = (kept[name],) if name in kept else ()
        kind = {"status": "int8", "outcome": "string"}.get(name, "float64")
        empty: Any = {"status": 0, "outcome": ""}.get(name, np.nan)
        group.create_array(
            name,
            shape=shape + more,
            chunks=chunk + more,
            dtype=kind,
            fill_value=empty,
            dimension_names=dims + (("time",) if more else ()),
            attributes=attributes(name, names),
        )
    with warnings.catch_warnings(action="ignore"):  # zarr warns that its format 3 does not specify this yet
        zarr.consolidate_metadata(group.store)


def read(path: Path) -> tuple[dict[str, Any], Plan]:
    """What a store says of itself: its attributes and its plan; a store that is not ours is refused."""
    import zarr
    from zarr.errors import GroupNotFoundError

    recover(path)
    if not path.exists():
        raise InputError(f"{path}: no such study")
    try:
        group = zarr.open_group(str(path), mode="r", use_consolidated=False)
        attrs = json.loads(str(group.attrs[STUDY]))
    except (GroupNotFoundError, KeyError, ValueError, OSError, NotADirectoryError) as error:
        what = "it has no " + STUDY if isinstance(error, KeyError) else "no zarr group that can be read"
        raise InputError(f"{path}: is not a study of jointplay ({what}); choose another name") from None
    if attrs.get("format") != FORMAT:
        remedy = "read it with the version that wrote it, or compute it again into another store"
        raise InputError(f"{path}: study format {attrs.get('format')} is not known ({FORMAT} is): {remedy}")
    dimensions = []
    for name, (columns, extras) in attrs["dimensions"].items():
        held = [{a: np.asarray(group[a][...]) for a in part} for part in (columns, extras)]  # type: ignore[index]
        held = [
            {a: x if np.issubdtype(x.dtype, np.number) else x.astype(object) for a, x in part.items()} for part in held
        ]
        dimensions.append(StudyDimension(name, *held))
    return attrs, Plan(tuple(dimensions), attrs.get("samples") or {})


def existing(path: Path) -> Zarr:
    """A store that is there."""
    attrs, plan = read(path)
    return Zarr(path, attrs, plan, attrs["names"], attrs["kept"])


def open_study(path: str | os.PathLike[str]) -> Dataset:
    """The table of a study on disk, as `xarray.open_zarr` gives it, in memory except for kept signals."""
    import xarray

    attrs, _ = read(Path(path))
    found = xarray.open_zarr(str(path), chunks=None, consolidated=True)
    found = found if attrs["kept"] else found.load()
    texts = [name for name, array in found.variables.items() if array.dtype.kind not in "fiub"]
    return found.assign({n: found[n].copy(data=found[n].values.astype(object).astype(str)) for n in texts})


def extended(
    store: Zarr, plan: Plan, places: list[np.ndarray], chunk: tuple[int, ...], attrs: Mapping[str, Any]
) -> Zarr:
    """The store with more runs: a new one that holds what the old one knows, put in its place."""
    path = store.path
    temporary, backup = path.with_name(f".{path.name}.{os.getpid()}.tmp"), backup_of(path)
    shutil.rmtree(temporary, ignore_errors=True)
    time = store.array("time")[...] if store.kept else None
    lay_out(temporary, plan, chunk, store.names, store.kept, time, attrs)
    new = Zarr(temporary, attrs, plan, store.names, store.kept)
    for name in (*store.names, *store.kept, "reached", "outcome", "status"):
        held = new.array(name)[...]
        held[np.ix_(*places)] = store.array(name)[...]
        new.array(name)[...] = held
    with writer(temporary):
        os.rename(path, backup)
        os.rename(temporary, path)
    shutil.rmtree(backup)
    return Zarr(path, attrs, plan, store.names, store.kept)


def backup_of(path: Path) -> Path:
    return path.with_name(f".{path.name}.before")


def recover(path: Path) -> None:
    """Take back a store whose extension was cut off between two renames."""
    backup = backup_of(path)
    if backup.exists() and not path.exists():
        os.rename(backup, path)


@contextlib.contextmanager
def writer(path: Path) -> Iterator[None]:
    """Hold a store as its only writer; a lock ends with its process, however that ends."""
    file = os.open(path / LOCK, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        if not _locked(file):
            holder = os.read(file, 200).decode(errors="replace").strip() or "another process"
            text = f"{path}: is being written by {holder}; wait for it, or give another name"
            raise InputError(text)
        os.ftruncate(file, 0)
        os.write(file, f"process {os.getpid()} on {socket.gethostname()}".encode())
        for partial in path.rglob("*.partial"):  # of a process that was killed while it wrote
            partial.unlink(missing_ok=True)
        yield
    finally:
        os.close(file)


def _locked(file: int) -> bool:
    """Whether nobody else holds the lock; where nothing can be locked one cannot know, and must not write."""
    try:
        return host.lock(file)
    except OSError:
        return False


def spoken(word: str) -> str:
    """A word of `flag_meanings` as one says it."""
    return word.replace("_", " ")


def counts(status: np.ndarray) -> dict[str, int]:
    """How many runs stand how."""
    return {word: int((status == k).sum()) for k, word in enumerate(map(spoken, MEANINGS.split()))}


__all__ = ["DONE", "MISSING", "Memory", "Zarr", "create", "existing", "extended", "open_study", "read", "writer"]
