"""Nothing but its own file tests for a kind of joint, drive or force: the source is read to hold that."""

import ast
import re
from pathlib import Path

import pytest

from jointplay.elements import Drive, Joint, Load

SOURCE = Path(__file__).resolve().parents[2] / "src" / "jointplay"
FAMILIES = (Joint, Drive, Load)
OURS = [kind for family in FAMILIES for kind in family.kinds().values() if kind.__module__.startswith("jointplay.")]
CLASSES = {kind.__name__ for kind in OURS}
WORDS = {kind.model_fields["kind"].default for kind in Joint.kinds().values() if kind in OURS}
ROW = re.compile(r"(^|\.)(distance|across|front|rear)(\.|$)")  # row and contact names that say the kind
FREE = (
    "elements",
    "engine",
    "numerics",
    "run.py",
    "words.py",
    "laws",
    "papers",
    "model/library.py",
)  # kinds; below them; makers

# Files that still test for kinds, until they are rewritten: shall become empty.
LEFT: set[str] = set()


def found(text: str) -> list[str]:
    """Every place in a Python text that tests for a kind: line and what stands there."""
    tree = ast.parse(text)
    allowed: set[int] = set()  # names that make one, and documents
    wrong: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            allowed.add(id(node.func))
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and isinstance(body[0], ast.Expr):
            allowed.add(id(body[0].value))
    for node in ast.walk(tree):
        if id(node) in allowed:
            continue
        named = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
        if named in CLASSES:
            wrong.append(f"{node.lineno}: {named}")
        if isinstance(node, ast.Attribute) and node.attr == "kind" and compared(node, tree):
            wrong.append(f"{node.lineno}: {ast.unparse(node)}")
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and ROW.search(node.value):
            wrong.append(f"{node.lineno}: {node.value!r}")
    return wrong


def compared(node: ast.Attribute, tree: ast.AST) -> bool:
    """Whether a `.kind` that is not the own one is compared with something or looked up."""
    if isinstance(node.value, ast.Name) and node.value.id in ("self", "outcome", "found"):
        return False
    for other in ast.walk(tree):
        if isinstance(other, ast.Compare) and any(part is node for part in (other.left, *other.comparators)):
            words = {x.value for x in ast.walk(other) if isinstance(x, ast.Constant)}
            return bool(words & (WORDS | {"angle", "position", "rate", "x", "y"})) or isinstance(other.ops[0], ast.In)
        if isinstance(other, ast.Subscript) and other.slice is node:
            return True
        if isinstance(other, ast.Call) and node in other.args and isinstance(other.func, ast.Attribute):
            return other.func.attr == "get"
    return False


def files() -> list[Path]:
    return [f for f in sorted(SOURCE.rglob("*.py")) if not f.relative_to(SOURCE).as_posix().startswith(FREE)]


@pytest.mark.parametrize("file", files(), ids=lambda file: file.relative_to(SOURCE).as_posix())
def test_no_kind_is_tested_for(file):
    places = found(file.read_text(encoding="utf-8"))
    assert bool(places) == (file.relative_to(SOURCE).as_posix() in LEFT), places


def test_what_is_left_is_there():
    assert {name for name in LEFT if not (SOURCE / name).exists()} == set()


@pytest.mark.parametrize("file", sorted((SOURCE / "report").glob("*.js")), ids=lambda file: file.name)
def test_the_page_knows_no_kind(file):
    text = file.read_text(encoding="utf-8")
    assert re.findall(r"\.kind\b", text) == []
    assert [word for word in WORDS if re.search(rf"[\"'`]{word}[\"'`]", text)] == []


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("from x import Revolute\njoint = Revolute(between=('a.p', 'b.p'))", 0),
        ("isinstance(joint, Revolute)", 1),
        ("isinstance(joint, elements.Prismatic | Slot)", 2),
        ("Openable = Revolute | Gear", 2),
        ("{Spring: 1}[type(load)]", 1),
        ("if joint.kind == 'gear': pass", 1),
        ("if drive.kind in ('angle', 'rate'): pass", 1),
        ("units = UNITS[part.kind]", 1),
        ("if outcome.kind == 'done': pass", 0),
        ("rows.index(f'{name}.distance')", 1),
        ("'joint'", 0),
    ],
)
def test_the_reader_itself(text, places):
    assert len(found(text)) == places
