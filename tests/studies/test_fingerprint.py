"""A store is not gone on with by a study whose Python functions hold other values."""

import functools
import subprocess
import sys
from dataclasses import dataclass

import numpy as np
import pytest

import jointplay as jp
from jointplay.studies.fingerprint import described

GAIN = 1.0


def scaled(a, gain=1.0):
    return gain * a


def closing(gain):
    return lambda a: gain * a


def nested(gain):
    inner = closing(gain)
    return lambda a: inner(a)


def defaulted(gain):
    def of(a, g=gain):
        return g * a

    return of


@dataclass
class Scaled:
    gain: object

    def __call__(self, a):
        return float(np.sum(self.gain)) * a

    def method(self, a):
        return self(a)


def by_module(a):
    return GAIN * a


WAYS = {
    "partial": lambda g: functools.partial(scaled, gain=g),
    "closure": closing,
    "nested closure": nested,
    "default": defaulted,
    "object": Scaled,
    "object with an array": lambda g: Scaled(np.full(2000, g / 2000)),
    "method": lambda g: Scaled(g).method,
    "closure over an array": lambda g: closing(np.full(1, g)[0]),
    "typed in": lambda g: eval(f"lambda a: {g} * a"),
}


@pytest.mark.parametrize("way", WAYS)
def test_functions_that_hold_other_numbers_are_other_functions(way, tmp_path):
    store = tmp_path / "study.zarr"
    jp.sweep(WAYS[way](2.0), {"a": [1.0, 2.0]}, store=store)
    more = jp.sweep(WAYS[way](2.0), {"a": [1.0, 2.0, 3.0]}, store=store)
    assert more["value"].values == pytest.approx([2.0, 4.0, 6.0])
    with pytest.raises(ValueError, match="holds another study, which differs in model"):
        jp.sweep(WAYS[way](10.0), {"a": [1.0, 2.0, 3.0, 4.0]}, store=store)


def test_constants_of_the_module_count(tmp_path, monkeypatch):
    jp.sweep(by_module, {"a": [1.0]}, store=tmp_path / "study.zarr")
    monkeypatch.setattr(sys.modules[__name__], "GAIN", 5.0)
    with pytest.raises(ValueError, match="holds another study"):
        jp.sweep(by_module, {"a": [1.0, 2.0]}, store=tmp_path / "study.zarr")


def test_forces_and_metrics_that_close_over_numbers_are_told_apart(tmp_path):
    def study(force, gain):
        base = jp.library.slider_crank(speed=30.0)
        push = {"kind": "force", "at": "slider.centre", "x": lambda t: force + 0 * t}
        over = {f"{next(iter(base.bodies))}.mass": [0.5]}

        def far(run):
            return gain * float(run["x"].max())

        made = base.replace(forces={"p": push})
        return jp.sweep(made, over, until=0.01, metrics=[far], store=tmp_path / "study.zarr")

    study(1000.0, 1.0)
    study(1000.0, 1.0)
    with pytest.raises(ValueError, match="which differs in model"):
        study(5000.0, 1.0)
    with pytest.raises(ValueError, match="which differs in metrics"):
        study(1000.0, 2.0)


def test_it_is_the_same_in_another_process():
    """Hashes of texts and addresses of objects differ from process to process."""
    code = (
        "import functools, json, numpy as np\n"
        "from jointplay.studies.fingerprint import described\n"
        "class A: pass\n"
        "a = A(); a.x, a.y, a.me = np.arange(3000.0), {'b': 1, 'c': len}, a\n"
        "f = lambda q, k=a: k.x * q\n"
        "print(json.dumps(described([f, functools.partial(f, 2), a, np.sin, {1, 2}])))\n"
    )
    told = {
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout for _ in "ab"
    }
    assert len(told) == 1 and "0x" not in told.pop()


def test_functions_that_hold_themselves_are_described():
    def down(n):
        return down(n - 1) if n else 0

    assert described(down)["holds"] == {"down": "itself"}
