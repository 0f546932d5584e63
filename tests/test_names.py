"""One name for one thing: no two modules define a class or a type of the same name."""

import ast
from collections import defaultdict
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent / "src" / "jointplay"


def defined(text: str) -> set[str]:
    """Classes and type aliases at the top of a module: names such as Here, not such as HERE or _Here."""
    found = set()
    for node in ast.parse(text).body:
        targets = [node.target] if isinstance(node, ast.AnnAssign) else getattr(node, "targets", [])
        found |= {target.id for target in targets if isinstance(target, ast.Name)}
        found |= {node.name} if isinstance(node, ast.ClassDef) else set()
    return {name for name in found if name[0].isupper() and not name.isupper()}


def test_a_name_stands_for_one_thing():
    homes = defaultdict(list)
    for file in sorted(SOURCE.rglob("*.py")):
        if "papers" not in file.relative_to(SOURCE).parts:  # each paper has words of its own
            for name in defined(file.read_text(encoding="utf-8")):
                homes[name].append(file.relative_to(SOURCE).as_posix())
    assert homes["Motion"] == ["physics/motion.py"] and homes["Scalar"] == ["engine/typing.py"]
    assert {name: files for name, files in homes.items() if len(files) > 1} == {}


def test_what_counts_as_a_name():
    assert defined("A = 1\nNear = dict[str, int]\nclass Here: ...\n_Far = Here\nx: Odd = 1\nfrom a import B\n") == {
        "Near",
        "Here",
    }
