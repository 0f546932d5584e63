"""The conventions of a result: an xarray Dataset with units, labels and where it came from; files of it."""

from __future__ import annotations

import contextlib
import functools
import io
import json
import math
import os
import sys
import warnings
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ._version import __version__
from .errors import InputError
from .host import undisturbed
from .model.files import dumps
from .model.parts import ModelError
from .parts.units import everyday
from .physics import record
from .recognition import flaw, mistaken
from .recognition import rounding as rounding
from .series import apart as apart
from .series import deviation as deviation
from .series import when as when
from .series import when_with_error as when_with_error
from .system import System
from .writing import write

if TYPE_CHECKING:
    from xarray import Dataset

FORMAT_VERSION = 2
UNCONTROLLED = "model_without_control"  # of a run whose control loop no file can hold
NOT_DETERMINED = "not_determined"  # the attribute that lists headline numbers which another tolerance would change
SUFFIXES = (".nc", ".csv", ".parquet")
CHUNK = 65_536  # rows of a NetCDF file that have one check sum


def from_columns(
    system: System,
    columns: Mapping[str, np.ndarray],
    attrs: Mapping[str, Any] | None = None,
    others: Mapping[str, Any] | None = None,
) -> Dataset:
    """The Dataset of samples given as columns: `crank.x`, `crank.x.rate`, `J1.force.x`, `J1.x.multiplier`, ...

    others: variables as xarray takes them, after those."""
    from xarray import Dataset

    data, coordinates = sampled(system, columns)
    register()
    return Dataset(data | dict(others or {}), coordinates, provenance(system) | dict(attrs or {}))


def sampled(system: System, columns: Mapping[str, np.ndarray]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Variables and coordinates, as xarray takes them, of samples given as columns."""
    mechanism, time = system.mechanism, np.asarray(columns["time"])
    bodies, joints = list(mechanism.bodies), list(mechanism.joints)
    data: dict[str, Any] = {}

    def gather(name: str, dimension: str, labels: list[str], end: str, unit: str, text: str) -> None:
        if labels and labels[0] + end in columns:
            table = np.column_stack([columns[label + end] for label in labels])
            data[name] = (("time", dimension), table, {"units": unit, "long_name": text})

    for name, signal in record.BODIES.items():
        gather(name, "body", bodies, *signal)
    for name, signal in record.JOINTS.items():
        gather(name, "joint", joints, *signal)
    rows = [row for row in system.rows if row + record.MULTIPLIER.end in columns]
    gather("multiplier", "row", rows, *record.MULTIPLIER)
    drives = [row for row in rows if mechanism.owner(row) in mechanism.drives]
    gather("effort", "drive", drives, *record.EFFORT)
    for name, signal in record.ENERGIES.items():
        if signal.end in columns:
            data[name] = ("time", columns[signal.end], {"units": signal.unit, "long_name": signal.text})
    coordinates: dict[str, Any] = {"time": ("time", time, {"units": "s"}), "body": bodies}
    coordinates |= {"joint": joints} if joints else {}
    coordinates |= {"row": rows} if rows else {}
    coordinates |= {"drive": [mechanism.owner(row) for row in drives]} if drives else {}
    return data, coordinates


def provenance(system: System) -> dict[str, Any]:
    """What every result carries: the model's text, the program's version and the format of the file."""
    mechanism = system.mechanism
    drawn: dict[str, Any] = {}
    try:
        text = dumps(mechanism)
    except ModelError as error:  # a Python function or a law of one's own
        text = f"# {mechanism.name}: {error}\n"
        with contextlib.suppress(ModelError):  # what figures and the page draw
            drawn = {UNCONTROLLED: dumps(mechanism.replace(control=None))}
    return drawn | {
        "title": mechanism.name,
        "model": text,
        "version": __version__,
        "format_version": FORMAT_VERSION,
        "notes": json.dumps(system.notes),
    }


def dataset(
    system: System,
    time: Any,
    q: Any,
    v: Any,
    a: Any = None,
    multipliers: Any = None,
    attrs: Mapping[str, Any] | None = None,
) -> Dataset:
    """The Dataset of states (time, coordinates) and multipliers (time, rows); reactions and energies follow."""
    time, q, v = np.asarray(time, float), np.asarray(q, float), np.asarray(v, float)
    columns: dict[str, np.ndarray] = {"time": time}
    for end, values in (("", q), (".rate", v), (".acceleration", a)):
        if values is not None:
            columns |= {name + end: np.asarray(values)[:, i] for i, name in enumerate(system.coordinates)}
    states = [system.evaluate(*state) for state in zip(q, v, time, strict=True)]
    columns["kinetic"] = np.array([state.kinetic for state in states])
    columns["potential"] = np.array([state.potential for state in states])
    if multipliers is not None:
        multipliers = np.asarray(multipliers, float)
        columns |= {f"{row}.multiplier": multipliers[:, i] for i, row in enumerate(system.rows)}
        found = np.array([state.reactions @ lam for state, lam in zip(states, multipliers, strict=True)])
        for i, joint in enumerate(system.mechanism.joints):
            parts = ("force.x", "force.y", "moment")
            columns |= {f"{joint}.{part}": found[:, 3 * i + k] for k, part in enumerate(parts)}
    return from_columns(system, columns, attrs)


def flat(run: Dataset) -> dict[str, np.ndarray]:
    """Every signal over time as a named column: `crank.angle`, `J1.force_x`, `kinetic`."""
    columns = {"time": run["time"].values}
    for name, signal in run.data_vars.items():
        if signal.dims == ("time",):
            columns[str(name)] = signal.values
        elif signal.dims[:1] == ("time",) and len(signal.dims) == 2:
            for label in run[signal.dims[1]].values:
                columns[f"{label}.{name}"] = signal.sel({signal.dims[1]: label}).values
    return columns


@undisturbed()
def save(run: Dataset, path: str | os.PathLike[str]) -> None:
    """Write a result by its suffix, whole or not at all: .nc (everything), .csv or .parquet (signals over time).

    Ctrl-C waits until it is written: h5py lets go of its objects in callbacks, where Python drops an interrupt.
    """
    target = Path(path if isinstance(path, os.PathLike) else str(path))  # what is no name has no suffix
    suffix = target.suffix.lower()
    if suffix not in SUFFIXES:
        raise InputError(f"{target}: the suffix must be one of {', '.join(SUFFIXES)}, got {target.suffix!r}")
    if not target.parent.is_dir():
        raise InputError(f"{target}: no such directory {str(target.parent)!r}; create it first")
    if target.is_dir():
        raise InputError(f"{target}: is a directory; give the name of a file")
    if suffix == ".nc":
        write(target, _netcdf(run))
    elif suffix == ".csv":
        write(target, _csv(flat(run)))
    else:
        write(target, _parquet(flat(run), dict(run.attrs)))


def _netcdf(run: Dataset) -> bytes:
    """A result as the bytes of a NetCDF file, made in memory: HDF5 does not survive a disk that fills up.

    Numbers have check sums, so that one that changes on the disk or on the way is no other number, but an error.
    """
    import h5netcdf
    import h5py
    from xarray.backends import H5NetCDFStore

    numbers = {
        name: x.shape
        for name, x in run.variables.items()
        if x.size and np.issubdtype(x.dtype, np.number) | (x.dtype == bool)
    }
    checked = {
        name: {"fletcher32": True, "chunksizes": (min(shape[0], CHUNK), *shape[1:])}
        for name, shape in numbers.items()
        if shape
    }
    with h5py.File("result.nc", "w", driver="core", backing_store=False, track_order=True) as memory:
        with h5netcdf.File(memory, "w") as file:
            run.dump_to_store(H5NetCDFStore(file), encoding=checked)
        memory.flush()
        image: bytes = memory.id.get_file_image()
        return image


def _csv(columns: dict[str, np.ndarray], rows: int = 4096) -> Iterator[bytes]:
    """The text of a table, some rows at a time."""
    yield (",".join(columns) + "\n").encode()
    for begin in range(0, len(columns["time"]), rows):
        text = io.StringIO()
        table = np.column_stack([column[begin : begin + rows] for column in columns.values()])
        np.savetxt(text, table, fmt="%.17g", delimiter=",")
        yield text.getvalue().encode()


def _parquet(columns: dict[str, np.ndarray], attrs: dict[str, Any]) -> bytes:
    try:
        import pyarrow  # type: ignore[import-untyped]
        import pyarrow.parquet  # type: ignore[import-untyped]
    except ImportError:
        raise InputError('Parquet needs pyarrow: pip install "jointplay[parquet]", or write .csv or .nc') from None
    table = pyarrow.table(columns)
    stream = pyarrow.BufferOutputStream()
    pyarrow.parquet.write_table(table.replace_schema_metadata({k: str(x) for k, x in attrs.items()}), stream)
    data: bytes = stream.getvalue().to_pybytes()
    return data


def load(path: str | os.PathLike[str]) -> Dataset:
    """A result written by `save` as .nc; another format version is refused by name."""
    from xarray import load_dataset

    register()
    file = Path(path)
    if other := mistaken(file):
        raise InputError(f"{path}: is a {other}")
    try:
        with file.open("rb") as stream:
            start = stream.read(8)
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if start != b"\x89HDF\r\n\x1a\n":
        what = "it is another kind of file" if start else "it is empty"
        raise InputError(f"{path}: cannot be read as a NetCDF result: {what}; only results saved as .nc can be loaded")
    try:
        with warnings.catch_warnings(action="ignore"), undisturbed():  # as in `save`
            run = load_dataset(path, engine="h5netcdf")
    except Exception as error:  # whatever the layers below make of a damaged file
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise InputError(f"{path}: cannot be read as a NetCDF result, which may be damaged: {reason}") from None
    version = run.attrs.get("format_version")
    if version is None or "model" not in run.attrs or "time" not in run.dims:
        lacking = "format_version" if version is None else "model" if "model" not in run.attrs else "time"
        raise InputError(f"{path}: is not a jointplay result (it has no {lacking})")
    if np.ndim(version) or isinstance(version, str | bytes) or version != FORMAT_VERSION:
        newer = isinstance(version, int | float | np.number) and version > FORMAT_VERSION
        remedy = "update jointplay to read it" if newer else "compute it again"
        shown = repr(version) if isinstance(version, str) else version
        raise InputError(f"{path}: result format {shown} is not known (this version reads {FORMAT_VERSION}): {remedy}")
    wrong = flaw(run)
    if wrong:
        raise InputError(f"{path}: is not as jointplay writes results, and may have been altered: {wrong}")
    return run


class Accessor:
    """What every result can do: run.jp itself says what happened; run.jp.show() in a notebook, run.jp.report(path)."""

    def __init__(self, run: Dataset) -> None:
        self._run = run

    def __repr__(self) -> str:
        said: str = _card().text(self._run)
        return said

    def _repr_html_(self) -> str:
        said: str = _card().html(self._run)
        return said

    def show(self, twin: Dataset | str | os.PathLike[str] | None = None, height: int = 760, **options: Any) -> Any:
        """The animated page, inline, `height` pixels high; see `jointplay.report.show`."""
        return _report().show(self._run, twin, height, **options)

    def report(self, target: str | os.PathLike[str], **options: Any) -> Path:
        """Write the animated page; see `jointplay.report.write`."""
        written: Path = _report().write(self._run, target, **options)
        return written


def _report() -> Any:
    """The room that makes pages: it stands above this one and is asked only when a page is."""
    return import_module(".report", __package__)


def _card() -> Any:
    return import_module(".report.card", __package__)


@functools.cache
def register() -> None:
    """Give Datasets their `jp`; whoever makes or reads a result calls this, since xarray is slow to import.

    In a notebook results then show what happened, a picture and the audit in place of the list of variables.
    """
    from xarray import Dataset, register_dataset_accessor

    register_dataset_accessor("jp")(Accessor)
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if shell is not None:
        shell.display_formatter.formatters["text/html"].for_type(Dataset, in_notebook)


def in_notebook(found: Dataset) -> str:
    """A Dataset as a notebook shows it: a result of ours as a card, another one as xarray does."""
    if "judgement" not in found.attrs or "model" not in found.attrs:
        return str(found._repr_html_())
    try:
        return str(_card().html(found))
    except Exception:  # a part of a result, or an altered one: never worth an error where one only looks
        return str(found._repr_html_())


def audit(run: Dataset) -> list[dict[str, Any]]:
    """What makes a run trustworthy: drift of the constraints, imbalance of energy, and so on; each entry has a name, a
    value, its unit, a limit and a judgement (None where nothing is judged yet)."""
    found: list[dict[str, Any]] = json.loads(run.attrs.get("audit", "[]"))
    return found


def notes(run: Dataset) -> list[str]:
    """What a run has to say beside its numbers, such as how it was put together at the start."""
    found: list[str] = json.loads(run.attrs.get("notes", "[]"))
    return found


def without_impacts(run: Dataset) -> str:
    """What peaks and samples of forces of a run leave out, if it had rigid impacts."""
    if "peak_impulse" not in run or not float(run["impacts"].sum()):
        return ""
    return (
        "Peak forces are those between impacts, and so are samples, whose means leave impulses out: rigid contact "
        "gives an impact an impulse (N s) and no force; compliant contact gives the force."
    )


def audited(run: Dataset, name: str) -> float:
    """The value of one entry of the audit."""
    found = {entry["name"]: entry["value"] for entry in audit(run)}
    if name not in found:
        raise KeyError(f"the audit has no {name!r}; it has {', '.join(found)}")
    return float(found[name])


def errors(run: Dataset) -> list[dict[str, Any]]:
    """The headline numbers of a run with their estimated errors: each entry has a name (`J2.peak_force`), a value, its
    unit, the error, whether it is determined, and the scale it is judged by; none where errors were not asked for."""
    found: list[dict[str, Any]] = json.loads(run.attrs.get("errors", "[]"))
    return found


def conclusion(run: Dataset) -> str:
    """The judgement of a run in words, and how many of its headline numbers are not determined."""
    said = str(run.attrs.get("judgement_text") or run.attrs.get("judgement", ""))
    names = str(run.attrs.get(NOT_DETERMINED, ""))
    many = len(names.split(", ")) if names else 0
    return said + (f"; but {many} {'number is' if many == 1 else 'numbers are'} not determined" if many else "")


def spoken(entry: Mapping[str, Any]) -> str:
    """A headline number with its error in words, in the unit that people read and with no more digits than it has.

    >>> spoken({"value": 237.66627, "unit": "N", "error": 0.0893, "determined": True})
    '237.67 ± 0.09 N'
    >>> spoken({"value": 63.3555, "unit": "rad", "error": 7e-11, "determined": True})
    '3630.00 ± <0.01 deg'
    >>> spoken({"value": 13.0, "unit": "1", "error": 6.0, "determined": False})
    '13 (not determined)'
    """
    value, error, unit = entry["value"], entry["error"], entry["unit"].replace("*", " ")
    share = ".share_" in entry.get("name", "")
    size, unit = (100.0, "%") if share else everyday(value, unit)
    unit = "" if unit in ("", "1") else f" {unit}"
    if not share and rounding(entry):
        return f"0{unit}"
    value, error = size * value, error and max(size * error, 0.1 if share else 0.0)
    if not entry["determined"] or error is None:
        return f"{float(f'{value:.2g}'):g}{unit} (not determined)"
    if not error:
        return f"{value:.1f}{unit}" if share else f"{value:.6g}{unit}"
    error = float(f"{error:.1g}")
    least, place = math.floor(math.log10(error)), math.floor(math.log10(abs(value) or error)) - 5
    if least < place:
        return f"{_rounded(value, place)} ± <{10.0**place:g}{unit}"
    return f"{_rounded(value, least)} ± {error:g}{unit}"


def _rounded(x: float, place: int) -> str:
    """A number to a power of ten, as engineers write it: with an exponent only where it is very large or small."""
    if abs(x) < 0.5 * 10.0**place:
        return "0"
    whole = math.floor(math.log10(abs(x)))
    if -5 <= whole < 7:
        return f"{x:.{max(0, -place)}f}" if place <= 0 else f"{round(x, -place):.0f}"
    return f"{x:.{max(0, whole - place)}e}"
