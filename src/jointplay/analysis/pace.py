"""How far a long analysis is, and whether it is to stop with what there is."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from .evidence import INCONCLUSIVE, INTERRUPTED, Evidence

SELDOM = 0.1  # s between two words on the progress


@dataclass(frozen=True)
class Stage:
    """How far an analysis is: the share that is done (0 to 1), and what is being computed."""

    share: float
    doing: str

    def __str__(self) -> str:
        return f"{100 * self.share:.0f} %, {self.doing}"


class Pace:
    """Counts simulated time (s, finer steps by their cost) against what an analysis will take.

    progress: is called with a Stage now and then. If it raises KeyboardInterrupt the analysis ends with what there is;
    one from elsewhere ends it without.
    """

    def __init__(self, progress: Callable[[Stage], None] | None = None) -> None:
        self.progress, self.parts, self.finished = progress, 1, 0  # parts that count alike
        self.total, self.done, self.stopped, self.doing, self.last = 0.0, 0.0, False, "preparing", 0.0

    def expect(self, work: float) -> None:
        """A part begins that takes so much work."""
        self.finished += self.total > 0
        self.total, self.done = work, 0.0

    @property
    def share(self) -> float:
        """What is done, of all."""
        return min(1.0, (self.finished + min(1.0, self.done / self.total)) / self.parts) if self.total else 0.0

    def of(self, doing: str, cost: float = 1.0, begin: float = 0.0) -> Callable[[float], bool]:
        """What is to be told the time (s) that a part has reached, from `begin` on; it answers whether to stop."""
        before = self.done

        def tell(reached: float) -> bool:
            self.done, self.doing = before + cost * max(0.0, reached - begin), doing
            return self.look()

        return tell

    def look(self) -> bool:
        """Tell the progress now and then; whether to stop."""
        now = time.perf_counter()
        if self.progress is None or self.stopped or now - self.last < SELDOM:
            return self.stopped
        self.last = now
        try:
            self.progress(Stage(self.share, self.doing))
        except KeyboardInterrupt:
            self.stopped = True
        return self.stopped

    def evidence(self) -> Evidence:
        """The row by which a verdict is inconclusive because it was interrupted."""
        said = f"while computing: {self.doing}; the rows beside rest on what there was until then"
        return Evidence(INTERRUPTED, self.share, None, said, INCONCLUSIVE, decides=True)

    def settle(self) -> str:
        """What would settle what was interrupted."""
        return f"interrupted after {100 * self.share:.0f} %: the same again to its end, or fewer periods (--until)"
