"""Runs that are wrong unless noticed are right, refused or judged; healthy runs are judged fine."""

from __future__ import annotations

from typing import Any

import pytest

from tests.adversarial import ADVERSARIAL, HEALTHY, verdict


def test_there_are_thirty_of_each() -> None:
    assert len(ADVERSARIAL) >= 30 and len(HEALTHY) >= 30


@pytest.mark.parametrize("name", ADVERSARIAL)
def test_nothing_is_silently_wrong(name: str, record: Any) -> None:
    found = verdict(ADVERSARIAL[name])
    kind = found.partition(":")[0]
    verdict_ = "differs" if kind == "silently wrong" else "agrees"
    record(item="adversarial runs", quantity=name, unit="", reference="not silently wrong", ours=kind, verdict=verdict_)
    assert kind != "silently wrong", found


@pytest.mark.parametrize("name", HEALTHY)
def test_healthy_runs_are_fine(name: str) -> None:
    run = HEALTHY[name]()
    assert run.attrs["judgement"] == "fine", run.attrs["judgement_text"]
