"""Draws how a chain of n bars grows, measured now: `python benchmarks/growth_figure.py docs/images/fig_growth.png`.

CPU seconds of one thread, each in a process of its own that has run another mechanism before.
"""

from __future__ import annotations

import os
import sys

import matplotlib.pyplot as plt
from startup import empty_cache, output

SIZES = (2, 5, 10, 20, 30, 45, 60, 80, 100)
CODE = """
import time
import jointplay as jp
from jointplay.engine import native, program

seconds = dict.fromkeys(("trace", "code"), 0.0)

def timed(owner, name, part):
    inner = getattr(owner, name)
    def outer(*given):
        begin = time.process_time()
        inner(*given)
        seconds[part] += time.process_time() - begin
    setattr(owner, name, outer)

jp.simulate(jp.library.four_bar(), until=0.01)
timed(program.Program, "recorded", "trace")
timed(native.Native, "__init__", "code")
begin = time.process_time()
chain = jp.library.pendulum(BARS, angles=[-1.5 + 0.03 * i for i in range(BARS)])
one = jp.Simulation(chain, jp.FixedRungeKutta(1e-4, order=4))
one.step(1)
total, steps, least = time.process_time() - begin, 20000 // BARS, 1e9
for _ in range(5):
    begin = time.process_time()
    one.step(steps)
    least = min(least, time.process_time() - begin)
print(total, seconds["trace"], seconds["code"], one.program.operations, least / steps * 1e6)
"""


def main() -> None:
    """Measure, print and draw."""
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # threads that wait for each other would count
    rows = []
    for n in SIZES:
        code = [sys.executable, "-c", CODE.replace("BARS", str(n))]
        with empty_cache():
            total, trace, machine, operations, step = map(float, output(code).split())
            cached, *_, again = map(float, output(code).split())
        rows.append((n, total, trace, machine, cached, min(step, again)))
        parts = f"{total:6.2f} s cold ({trace:.2f} traced, {machine:.2f} machine code), {cached:.3f} s cached"
        print(f"{n:4d} bars {operations:8.0f} operations: {parts}, {rows[-1][-1]:.2f} us a step", flush=True)
    n, total, trace, machine, cached, step = zip(*rows, strict=True)
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    curves = {"cold": total, "of it machine code": machine, "of it the trace": trace, "again, from the cache": cached}
    for look, (label, values) in zip(("o-", "s--", "^--", "v-"), curves.items(), strict=True):
        left.loglog(n, values, look, label=label, markersize=4)
    left.loglog(n, [total[-1] * x / n[-1] for x in n], color="0.7", linewidth=1, label="in proportion to n")
    left.set(xlabel="bars of the chain", ylabel="CPU seconds to the first step")
    left.legend(frameon=False, fontsize=8)
    right.plot(n, [1e3 * x / k for x, k in zip(step, n, strict=True)], "o-", markersize=4)
    right.set(xlabel="bars of the chain", ylabel="ns per step and bar", ylim=(0, None))
    figure.savefig(sys.argv[1], dpi=120)


if __name__ == "__main__":
    main()
