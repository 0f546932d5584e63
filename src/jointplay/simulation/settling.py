"""When a run counts as settled: a time, or turns of a drive."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

import numpy as np

from ..elements import Drive
from ..errors import InputError
from ..model.mechanism import Mechanism
from ..model.units import TIME, UnitError, parse_quantity

TURNS = re.compile(r"\s*([0-9.eE+-]+)\s*turns?(?:\s+of\s+(\S+))?\s*")
GRID = 20_001  # times at which a drive is asked how far it has turned


def settled_time(mechanism: Mechanism, given: float | str, until: float) -> float:
    """The time (s) that `settled` means: seconds, a text with a unit ("200 ms"), or turns ("2 turns of motor").

    >>> from jointplay.model import library
    >>> settled_time(library.slider_crank(speed=10.0), "2 turns", 5.0)
    1.256637
    """
    turns = TURNS.fullmatch(given) if isinstance(given, str) else None
    if turns:
        seconds = _turned(mechanism, turns, until)
    else:
        try:
            seconds = parse_quantity(given, TIME) if isinstance(given, str) else float(given)
        except (UnitError, TypeError, ValueError):
            text = f"settled must be a time such as 0.5 or '500 ms', or '2 turns of motor', got {given!r}"
            raise InputError(text) from None
    if not 0 <= seconds < until:
        raise InputError(
            f"settled = {seconds:g} s leaves nothing of the run of {until:g} s; choose 0 <= settled < until"
        )
    return seconds


def _turned(mechanism: Mechanism, found: re.Match[str], until: float) -> float:
    """When a drive has turned so often, to six digits of the run."""
    turning: Mapping[str, Drive] = {name: drive for name, drive in mechanism.drives.items() if drive.turns}
    name, known = found[2], ", ".join(turning)
    if name is None and len(turning) == 1:
        name = known
    if name not in turning:
        lacks = f"say of which: {known}" if known and name is None else f"drives that turn: {known or 'none'}"
        raise InputError(f"settled: {found[0].strip()!r} needs a drive that turns ({lacks}); or give a time")
    drive, times = turning[name], np.linspace(0.0, until, GRID)
    values = np.array([float(drive.motion(t)) for t in times])
    if drive.at_rate:
        values = np.concatenate([[0.0], np.cumsum((values[1:] + values[:-1]) / 2 * np.diff(times))])
    gone, wanted = np.abs(values - values[0]), math.tau * float(found[1])
    late = np.flatnonzero(gone >= wanted)
    if not len(late):
        raise InputError(
            f"settled: drive {name!r} turns {gone.max() / math.tau:.3g} times in {until:g} s, not {found[1]}"
        )
    i = max(int(late[0]), 1)
    share = (wanted - gone[i - 1]) / (gone[i] - gone[i - 1]) if gone[i] > gone[i - 1] else 1.0
    return float(f"{times[i - 1] + share * (times[i] - times[i - 1]):.7g}")
