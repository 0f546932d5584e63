"""docs/model.md, the reference of model files: its blocks load, its tables are true, its recipes run."""

import inspect
import math
import re
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml
from pydantic_core import PydanticUndefined

from jointplay import statics
from jointplay.model import Mechanism, bodies, clearances, control, forces, joints, loads, motions
from jointplay.model.parts import InUse, OneOf, Part, Quantity, Several
from jointplay.model.starts import TAILS
from jointplay.parts.choices import Chosen, registry
from jointplay.parts.units import _PREFIXED, _PREFIXES, UNITS, parse_unit
from jointplay.simulation import simulate

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "model.md").read_text(encoding="utf-8")


def listed(union: Any) -> list[type[Part]]:
    if hasattr(union, "kinds"):  # those of the package, whatever a test may have defined
        return [kind for kind in union.kinds().values() if kind.__module__.startswith("jointplay.")]
    return [kind for kind in get_args(get_args(union)[0]) if kind is not motions.Function]


KINDS: dict[str, type[Part]] = {
    "file": Mechanism,
    "body": bodies.Body,
    "ground": bodies.Ground,
    **{f"joint {c.model_fields['kind'].default}": c for c in listed(joints.Joint)},
    **{f"contact {c.model_fields['kind'].default}": c for c in listed(clearances.Contact)},
    **{f"drive {c.model_fields['kind'].default}": c for c in listed(forces.Drive)},
    **{f"force {c.model_fields['kind'].default}": c for c in listed(forces.Load)},
    **{f"motion {c.model_fields['kind'].default}": c for c in listed(motions.AnyMotion)},
    "control": control.Control,
    "coordinate": control.Coordinate,
    "actuator": control.Actuator,
    "sensor": control.Sensor,
}


def annotations(field: Any) -> list[Any]:
    """What is said about a field: its metadata, also of one that may be None."""
    return [*field.metadata, *(x for part in get_args(field.annotation) for x in getattr(part, "__metadata__", ()))]


def unit(field: Any, in_use: str = "that of its use") -> str:
    """What a number of this field is in, or what it is if it is no number."""
    for said in annotations(field):
        said = said.of(0) if isinstance(said, Several) else said
        if isinstance(said, InUse):
            return in_use + ("/s" if said.order else "")
        if isinstance(said, Quantity):
            return said.dimension.unit or "number"
        if isinstance(said, OneOf):
            return said.what + (f" in {said.dimension.unit}" if said.dimension else "")
        if isinstance(said, Chosen):
            return f"{said.role} law"
    options = [field.annotation, *get_args(field.annotation)]
    choices = [x for option in options for x in get_args(option) if isinstance(x, str)]
    if field.annotation is int:
        return "whole number"
    return " or ".join(choices) if choices else "text" if field.annotation is str else ""


def default(field: Any) -> str:
    """What holds where the key is left out."""
    x = field.default
    if x is PydanticUndefined:
        return "needed"
    if isinstance(x, Part):
        shown = x.plain(brief=True)
        return shown.get("kind", "") if isinstance(shown, dict) else f"{shown:g}"
    if isinstance(x, tuple):
        return f"[{', '.join(f'{part:g}' for part in x)}]"
    return f"{x:g}" if isinstance(x, float) else str(x) if x else ""


def rows(kind: type[Part]) -> list[tuple[str, str, str]]:
    """Key, unit and default of every field, as the page shows them; those in place of a clearance come last."""
    fields = {f.alias or name: f for name, f in kind.model_fields.items() if name not in kind.also}
    if "kind" in fields and len(get_args(fields["kind"].annotation)) == 1:
        del fields["kind"]  # it has a heading of its own
    in_use = {control.Actuator: ["N*m or N"], control.Sensor: ["rad or m"]}.get(kind, [])
    found = [(f"`{key}`", unit(field, *in_use), default(field)) for key, field in fields.items()]
    places = {"file": ("text", ""), "fit": ("text", ""), "at": ("min or mean or max", "mean")}
    return found + [(f"`{key}`", *places.get(key, ("m", ""))) for key in kind.also]


def parameters(law: Any) -> str:
    """The parameters of a law with defaults and units, as the page shows them."""
    shown = []
    for name, x in law.own.items():
        number = "needed" if x is inspect.Parameter.empty else f"{x:g}"
        shown.append(f"`{name}` {number} {law.units.get(name, '')}".rstrip())
    return ", ".join(shown)


def section(title: str) -> str:
    """The text below a heading of any level."""
    found = re.search(rf"^#+ {re.escape(title)}\n(.*?)(?=^#|\Z)", PAGE, re.DOTALL | re.MULTILINE)
    assert found, f"docs/model.md has no heading {title!r}"
    return found[1]


def table(text: str) -> list[tuple[str, ...]]:
    """The cells of the first table in a text, without its head."""
    lines = re.search(r"^\| --- .*\n((?:\|.*\n)+)", text, re.MULTILINE)
    assert lines, "no table"
    return [tuple(cell.strip() for cell in line.strip().strip("|").split("|")) for line in lines[1].splitlines()]


TITLES = {"file": "A file", "body": "Bodies", "control": "Control"}


@pytest.mark.parametrize("kind", KINDS)
def test_every_key_is_described_with_its_unit_and_default(kind):
    text = section(TITLES.get(kind, kind))
    assert [row[:3] for row in table(text)] == rows(KINDS[kind])
    assert "```yaml\n" in text, "an example, please"


@pytest.mark.parametrize(
    ("role", "title"), [("normal", "Normal laws"), ("friction", "Friction laws"), ("control", "Controllers")]
)
def test_every_law_is_described(role, title):
    assert [row[:2] for row in table(section(title))] == [
        (f"`{name}`", parameters(law)) for name, law in registry(role).items()
    ]


def test_every_unit_is_named():
    first, *others = table(section("Units"))
    assert re.findall("`([^`]+)`", first[0]) == list(_PREFIXED)
    assert re.findall("`([^`]+)`", first[1])[: len(_PREFIXES)] == list(_PREFIXES)
    for example in re.findall("`([^`]+)`", first[1])[len(_PREFIXES) :]:
        parse_unit(example)
    named = {name for row in others for name in re.findall("`([^`]+)`", row[0])}
    prefixed = {prefix + name for prefix in _PREFIXES for name in _PREFIXED}
    assert named == UNITS.keys() - _PREFIXED.keys() - prefixed


def test_every_start_value_is_named():
    named = [(row[0].strip("`").removeprefix("crank"), row[1]) for row in table(section("Start"))]
    assert dict(named) == {tail: dimension.unit for tail, dimension in TAILS.items()}


def blocks(info: str) -> list[str]:
    return re.findall(rf"^```{info}\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


BASE, *PIECES = blocks("yaml")
RECIPES = {str(yaml.safe_load(text)["name"]): text for text in blocks("yaml recipe")}


def merged(piece: str) -> str:
    """The file at the top of the page with the lines of a block written into it."""
    data, given = (yaml.load(text, yaml.BaseLoader) for text in (BASE, piece))  # `on` is a key, not true
    for key, value in given.items():
        data[key] = {**data.get(key, {}), **value} if value and key != "start" else value or {}
    return yaml.safe_dump(data, sort_keys=False)


def test_no_block_is_left_out():
    assert PAGE.count("```yaml") == len(PIECES) + len(RECIPES) + len(blocks("yaml addresses")) + 1
    assert len(PIECES) > 25 and len(RECIPES) == 6


@pytest.mark.parametrize("piece", PIECES, ids=lambda text: re.sub(r"\W+", "-", text)[:40])
def test_every_block_loads_and_assembles(piece):
    statics.check(loads(merged(piece)))


def test_every_address_is_one():
    [piece] = blocks("yaml addresses")
    model = loads(merged(piece))
    named = [name for row in table(section("Addresses")) for name in re.findall("`([^`]+)`", row[0])]
    assert len(named) > 15 and [name for name in named if name not in model.addresses()] == []


@pytest.mark.parametrize("name", RECIPES)
def test_every_recipe_runs(name):
    run = simulate(loads(RECIPES[name]), 0.02, every=0.001)
    assert run.attrs["outcome"] == "done"


def test_the_block_slides_as_the_page_says():
    run = simulate(loads(RECIPES["incline"]), 0.3, every=0.01)
    speed = (run.x_rate.sel(body="block") ** 2 + run.y_rate.sel(body="block") ** 2) ** 0.5
    promised = 9.81 * (math.sin(math.pi / 6) - 0.3 * math.cos(math.pi / 6))
    assert f"= {promised:.2f} m/s^2" in section("A block on an incline with friction")
    assert float(speed[-1] - speed[10]) / 0.2 == pytest.approx(promised, rel=0.01)


def test_the_pendulum_bounces_off_its_stop():
    run = simulate(loads(RECIPES["pendulum with a stop"]), 2.0, every=0.01)
    assert int(run.impacts.sel(contact="J.stop.lower")) >= 1 and float(run.angle.min()) >= -2 * math.pi / 3 - 1e-6


def test_the_shaper_cuts_on_its_way_to_the_right_only():
    shaper = loads(RECIPES["shaper"])
    run, idle = (simulate(model, 2.0, every=0.01) for model in (shaper, shaper.replace(forces={})))
    load = (run.effort - idle.effort).sel(drive="motor")
    cuts = abs(load) > 1.0
    assert cuts.any() and (run.x_rate.sel(body="ram")[cuts.values] > 0).all() and (load[cuts.values] > 0).all()


def test_the_pin_starts_where_it_is_told():
    run = simulate(loads(RECIPES["dropped pin"]), 0.02, every=0.001)
    assert float(run.gap.isel(time=0, contact=0)) == pytest.approx(0.2e-3, abs=2e-6)
