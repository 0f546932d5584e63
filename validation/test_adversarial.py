"""Runs that are wrong unless noticed are right, refused or judged; healthy runs are judged fine."""

from __future__ import annotations

from typing import Any

import pytest

from tests.adversarial import ADVERSARIAL, HEALTHY, healthy, told


def test_there_are_thirty_of_each() -> None:
    assert len(ADVERSARIAL) >= 30 and len(HEALTHY) >= 30


@pytest.mark.parametrize("name", ADVERSARIAL)
def test_nothing_is_silently_wrong(name: str, record: Any) -> None:
    told("adversarial runs", name, ADVERSARIAL[name], record)


@pytest.mark.parametrize("name", HEALTHY)
def test_healthy_runs_are_fine(name: str) -> None:
    healthy(HEALTHY[name]())
