"""The fixture ``record``: one comparison, one line of build/validation.jsonl."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

RECORDS = Path(__file__).resolve().parent.parent / "build" / "validation.jsonl"


@pytest.fixture
def record() -> Callable[..., None]:
    """A function that writes down one comparison; call it before asserting the verdict."""

    def write(*, item: str, quantity: str, unit: str, ours: float | str, reference: float | str, verdict: str) -> None:
        line = {
            "item": item,
            "quantity": quantity,
            "unit": unit,
            "ours": ours,
            "reference": reference,
            "verdict": verdict,
        }
        RECORDS.parent.mkdir(exist_ok=True)
        with RECORDS.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line, default=float) + "\n")

    return write
