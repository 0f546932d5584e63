"""Results as they come back from elsewhere: each attribute, label and variable left out or made something else."""

import json
from collections.abc import Callable, Iterator

import numpy as np
import xarray

JSON = ("null", "3", "[]", "{}", '"x"', "[1, 2]", '{"a": "b"}', "[[1]]", '{"a": []}')
Change = Callable[[xarray.Dataset], xarray.Dataset]


def alterations(run: xarray.Dataset) -> Iterator[tuple[str, Change]]:
    """Changes of a result, by name."""
    for name, value in run.attrs.items():
        yield from ((f"{name} {what}", _attribute(name, new)) for what, new in _other(value))
        yield f"no {name}", lambda r, name=name: r.assign_attrs({}).pipe(_without, name)
    for name in run.variables:
        yield f"no {name}", lambda r, name=name: r.drop_vars(name)
        yield f"{name} as text", lambda r, name=name: _variable(r, name, r[name].values.astype(str))
        yield f"{name} as numbers", lambda r, name=name: _variable(r, name, np.zeros(r[name].shape))
        yield f"{name} as dates", lambda r, name=name: _variable(r, name, np.full(r[name].shape, np.datetime64("2020")))
        if name not in run.dims:
            yield f"{name} of one number", lambda r, name=name: r.drop_vars(name).assign({name: 1.0})
        if run[name].dtype.kind == "f":
            yield f"{name} not a number", lambda r, name=name: _variable(r, name, r[name].values * np.nan)
            yield f"{name} infinite", lambda r, name=name: _variable(r, name, r[name].values + np.inf)
            yield f"{name} huge", lambda r, name=name: _variable(r, name, r[name].values * 1e300)
        if run[name].ndim == 2:
            yield f"{name} turned", lambda r, name=name: r.assign({name: r[name].transpose()})
            yield f"{name} along other things", lambda r, name=name: _along(r, name)
    for name in run.dims:
        yield f"none along {name}", lambda r, name=name: r.isel({name: slice(0)})
        yield f"one along {name}", lambda r, name=name: r.isel({name: slice(1)})
        yield f"{name} renamed", lambda r, name=name: r.rename({name: "other"})
        labels = run[name].values if name in run.coords else []
        others = {"backwards": labels[::-1], "all alike": [*labels[:1]] * len(labels)}
        others |= {"numbered": range(len(labels)), "called otherwise": [f"a{i}" for i in range(len(labels))]}
        for how, new in others.items() if name in run.coords else ():
            yield f"{name} {how}", lambda r, name=name, new=new: r.assign_coords({name: list(new)})
    yield "nothing but attributes", lambda r: xarray.Dataset(attrs=r.attrs)
    yield "no attributes", lambda r: r.drop_attrs()


def _other(value: object) -> Iterator[tuple[str, object]]:
    yield from (("as a number", 7), ("as numbers", np.arange(3.0)), ("empty", ""), ("not a number", np.nan))
    yield from (("open", "{"), ("as a word", "word"), ("infinite", np.inf))
    yield from (
        (f"as {text}", text) for text in ("null", "3", "[]", "{}", '"x"', "[1, 2]", '{"a": "b"}', "[[1]]", '{"a": []}')
    )
    if isinstance(value, str) and value.startswith(("{", "[")):
        yield "longer", json.dumps([json.loads(value)])
    if isinstance(value, str) and "bodies:" in value:
        yield "of another mechanism", value.replace("crank", "arm").replace("rod", "bar")
        yield "cut", value[: len(value) // 2]
        yield "with less", value[: value.index("joints:")]
        yield "with other lengths", value.replace("0.", "1.")


def _attribute(name: str, value: object) -> Change:
    return lambda r: r.assign_attrs({name: value})


def _without(run: xarray.Dataset, name: str) -> xarray.Dataset:
    run.attrs = {k: v for k, v in run.attrs.items() if k != name}
    return run


def _variable(run: xarray.Dataset, name: str, values: np.ndarray) -> xarray.Dataset:
    dims, kept = run[name].dims, {k: v for k, v in run[name].attrs.items() if k in ("units", "long_name")}
    if values.dtype.kind == "M":
        kept = {}
    return run.drop_vars(name).assign({name: (dims, values, kept)})


def _along(run: xarray.Dataset, name: str) -> xarray.Dataset:
    dims = [f"{name}_{i}" for i in range(run[name].ndim)]
    return run.assign({name: (dims, run[name].values)})
