"""The fixture ``record``: one comparison, one line of build/validation.jsonl."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from jointplay.papers.verdicts import VERDICTS

RECORDS = Path(__file__).resolve().parent.parent / "build" / "validation.jsonl"


@pytest.fixture
def record() -> Callable[..., None]:
    """A function that writes down one comparison; call it before asserting the verdict.

    A record of a literature study (`jointplay.papers`) is written by `record(**found.as_dict())`.
    """

    def write(
        *,
        item: str,
        quantity: str,
        unit: str,
        reference: Any,
        verdict: str,
        ours: float | str | None = None,
        study: str = "",
        case: Mapping[str, Any] | None = None,
        paper: Any = None,
        computed: Any = None,
        note: str = "",
    ) -> None:
        assert verdict in VERDICTS, (
            f"{verdict!r}: a verdict is one of {', '.join(VERDICTS)}; the rest belongs in the quantity"
        )
        line: dict[str, Any] = {"item": item, "quantity": quantity, "unit": unit, "reference": reference}
        about = {"study": study, "case": case, "paper": paper, "computed": computed, "note": note}
        line |= about if study else {"ours": ours}
        RECORDS.parent.mkdir(exist_ok=True)
        with RECORDS.open("a", encoding="utf-8") as file:
            file.write(json.dumps({**line, "verdict": verdict}, default=float) + "\n")

    return write
