"""What phases explain of a model's motion, where its exponent and its section leave the case open.

One signal shows what it takes part in. A motion without a drive is periodic only if every number of its state repeats,
and only if it does not lose energy all the time: what is lost does not come back.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .agreement import Agreement
from .evidence import CHAOTIC, INCONCLUSIVE, PERIODIC, QUASI, Evidence, number
from .folding import Folded, size
from .indicators import CYCLES
from .regular import LIMIT, Repetition, grain, repetition, second_phase, settling, tolerance
from .sections import MOST_REPEATS
from .series import Series
from .strobed import Strobed, Watched
from .things import difference, is_angle

LOST = 1e-4  # of the largest kinetic energy: a smaller loss is none
RISES = 0.1  # of the loss: what rises by more in between is fed
SAME = 0.8  # of the loss: what finer steps lose too is no error of the steps


def phase_rows(
    together: Agreement, found: Strobed | None, series: Series, drive: float | None, seen: Watched | None = None
) -> tuple[list[Evidence], float | None]:
    """What phases explain of the signal, where exponent and section leave the case open, and the period (s) if the
    motion is periodic; drive (s): its period; seen: the states, all of which must repeat if nothing drives them.

    One signal may repeat where the whole state does not, so that it decides nothing where neighbouring motions part,
    and makes no motion periodic that has a drive.
    """
    name = "signal: change after one period, over its size"
    if drive is not None:
        period = found.multiple * drive if found is not None and found.multiple is not None else None
        settled = found is None or period is not None or together.sign or together.parting
        return ([] if settled or found is None else [two_phase_row(series, found)]), period
    if together.sign < 0:
        return [], None
    one, lost = repetition(series), [] if seen is None else energy_rows(seen)
    if together.sign == 0 and together.parting:
        said = "decides nothing: neighbouring motions part in one of the runs"
        return [Evidence(name, number(one.residual), None, said, INCONCLUSIVE, decides=True)], None
    if one.holds:
        row = Evidence(name, one.residual, None, one.says(), PERIODIC, decides=True)
        rows, period = ([row], one.period) if seen is None else of_the_state(row, one, series, seen)
        return [*rows, *lost], period
    row = two_phase_row(series, None)
    if together.sign > 0 and row.votes != QUASI:
        return [replace(row, votes=CHAOTIC)], None
    return [row, *lost], None


def two_phase_row(series: Series, found: Strobed | None) -> Evidence:
    """Whether two phases explain the signal, and the section does not just fade or hide in the integration error."""
    two, explained = second_phase(series, repetition(series))
    said = f"two phases do not explain it ({LIMIT})"
    if explained:
        said = f"two phases with periods {two.periods[0]:.6g} and {two.periods[1]:.6g} s explain it"
    vote = QUASI if explained else INCONCLUSIVE
    turns = float(np.ptp(series.time)) / max(two.periods) if explained else 0.0
    if explained and turns < CYCLES:  # few samples have others at both their phases to be compared with
        said, vote = f"two phases explain {turns:.2g} turns of the slower one; {CYCLES} are needed", INCONCLUSIVE
    if explained and found is not None and found.narrow:  # two phases explain what one does, too
        said, vote = f"two phases explain it, but {found.narrow}", INCONCLUSIVE
    elif two.fades:
        said, vote = f"two phases explain it, but {settling(two)}", INCONCLUSIVE
    name = "signal: change at equal phases of two, over its size"
    return Evidence(name, number(two.residual), None, said, vote, decides=True)


def of_the_state(row: Evidence, one: Repetition, series: Series, seen: Watched) -> tuple[list[Evidence], float | None]:
    """The rows and the period (s) of a motion without a drive whose signal repeats: that after which all numbers of the
    state repeat; where they do not, two phases may explain all of them together."""
    period, other = one.period or 0.0, ""
    moving = [i for i in range(len(seen.names)) if seen.span[i] > 0 and seen.names[i] != series.name]
    for times in range(1, MOST_REPEATS + 1):
        if times > 1 and series.length < 2 * times * period:
            break
        missing = (i for i in moving if not number_repeats(seen, i, series, times * period))
        bad = next(missing, None)
        if bad is None:
            whole = f"; the whole state after {times} of these" if times > 1 else ""
            return [replace(row, says=row.says + whole)], times * period
        other = other or seen.names[bad]
        moving = [bad, *(i for i in moving if i != bad)]  # asked first the next time
    said = f"{series.name} repeats after {period:.6g} s, but {other} does not"
    together = two_phase_row(all_together(seen, series), None)
    together = replace(together, indicator="all numbers of the state: change at equal phases of two, over their size")
    vote = "" if together.votes == QUASI else INCONCLUSIVE
    return [replace(row, says=said, votes=vote), together], None


def number_repeats(seen: Watched, index: int, series: Series, period: float) -> bool:
    """Whether a number of the state repeats after a period (s), and after as many as half of the samples hold."""
    name, values = seen.names[index], seen.states[0][:, index]
    folded = Folded(replace(series, values=values, name=name))
    shown = np.mod(values, 2 * np.pi) if is_angle(name) and np.ptp(values) > 2 * np.pi else values
    enough = tolerance(grain(folded.series))
    for times in {1, max(1, int(0.5 * series.length / period))}:
        kept = np.flatnonzero(series.time <= series.time[-1] - times * period)
        later = folded.curve(series.time[kept] + times * period)
        off = difference([name], later[:, None], values[kept, None])[:, 0]
        if size(off, shown) / np.sqrt(2) > enough:
            return False
    return True


def all_together(seen: Watched, series: Series) -> Series:
    """All coordinates of the state that move in one signal, each by its range and with a weight of its own."""
    total = np.zeros(len(series.values))
    for count, i in enumerate(i for i in range(len(seen.names)) if seen.span[i] > 0):
        if not seen.names[i].endswith(".rate"):
            values = seen.states[0][:, i]
            turns = is_angle(seen.names[i]) and np.ptp(values) > 2 * np.pi
            shown = np.sin(values) if turns else (values - values.mean()) / seen.span[i]
            total += shown * (1.0 + 0.1 * (count % 7))
    return replace(series, values=total, name="all numbers of the state")


def energy_rows(seen: Watched) -> list[Evidence]:
    """That a motion without a drive loses energy all the time, if it does: then it has not settled."""
    if len(seen.energies) < 2:
        return []
    (kinetic, total), (_, finer) = seen.energies[:2]
    many, most = min(len(total), len(finer)), float(kinetic.max())
    loss, rises = float(total[0] - total[-1]), float(np.maximum(np.diff(total), 0.0).sum())
    same = finer[0] - finer[many - 1] > SAME * (total[0] - total[many - 1])
    if loss <= LOST * most or rises > RISES * loss or not same:
        return []
    said = "nothing drives it, and its energy falls all the time: it is still settling, and comes to rest in the end"
    return [Evidence("energy lost, over the largest kinetic energy", loss / most, None, said, INCONCLUSIVE, True)]
