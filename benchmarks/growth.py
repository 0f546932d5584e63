"""How time grows with the mechanism: `python benchmarks/run.py --only chains links four_bars`.

`chains`: from a chain of n bars to its first step, in a process that has run another mechanism before, with an empty
cache and with the one that this leaves.  `links`: time of a step of classical Runge-Kutta per bar, beside MuJoCo (RK4)
and Pinocchio (four times `aba`, what an empty model takes taken off), which must find the same accelerations.
`four_bars`: 40 four-bars in a row, from process start.
"""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from startup import empty_cache, output

SIZES = (10, 30, 100)
COLD = {10: 0.8, 30: 3.0, 100: 16.0}  # s, the bars
CACHED = {10: 0.1, 30: 0.3, 100: 1.5}
BESIDE = (8, 30, 60)  # bars, beside the peers
ROUNDS = 5

FIRST_STEP = """
import time
import jointplay as jp
jp.simulate(jp.library.four_bar(), until=0.01)
begin = time.perf_counter()
chain = jp.library.pendulum(BARS, angles=[-1.5 + 0.03 * i for i in range(BARS)])
jp.Simulation(chain, jp.FixedRungeKutta(1e-3)).step(1)
print(time.perf_counter() - begin)
"""

ROW = """
import math, time
import jointplay as jp
from jointplay.elements import Revolute
from jointplay.model.bodies import Ground, bar
from jointplay.model.mechanism import Mechanism

N, first = 40, []
bodies = {f"rocker{i}": bar(0.5, 1.0) for i in range(N + 1)} | {f"coupler{i}": bar(1.0, 1.0) for i in range(N)}
joints = {f"O{i}": Revolute(between=(f"ground.O{i}", f"rocker{i}.start")) for i in range(N + 1)}
for i in range(N):
    joints[f"A{i}"] = Revolute(between=(f"rocker{i}.end", f"coupler{i}.start"))
    joints[f"B{i}"] = Revolute(between=(f"coupler{i}.end", f"rocker{i + 1}.end"))
ground = Ground(points={f"O{i}": (float(i), 0.0) for i in range(N + 1)})
start = {f"rocker{i}": -1.0 for i in range(N + 1)} | {f"coupler{i}": 0.0 for i in range(N)}
row = Mechanism(name="a row of four-bars", ground=ground, bodies=bodies, joints=joints, start=start)

def told(t):
    if not first:
        first.append(time.perf_counter())

result = jp.simulate(row, until=10.0, progress=told)
print(first[0], time.perf_counter(), result.attrs["outcome"])
"""


def chains() -> dict[str, float | None]:
    """Seconds from a chain to its first step, cold and cached (wall)."""
    found: dict[str, float | None] = {}
    for n in SIZES:
        seen = []
        code = [sys.executable, "-c", FIRST_STEP.replace("BARS", str(n))]
        for _ in range(3 if n < 100 else 1):
            with empty_cache():
                seen.append((float(output(code)), min(float(output(code)) for _ in range(2))))
        cold, cached = (min(times) for times in zip(*seen, strict=True))
        found |= {f"chain_{n}_cold_s": cold, f"chain_{n}_cached_s": cached}
    return found


def links() -> dict[str, float | None]:
    """Nanoseconds of a step per bar of a chain, ours and those of peers by turns."""
    makers = {"mujoco": mujoco_step, "pinocchio": pinocchio_step}
    found: dict[str, float | None] = {}
    for n in sorted({10, 100, *BESIDE}):
        timers: dict[str, Callable[[int], float]] = {"": own_step(n)}
        for peer, make in makers.items() if n in BESIDE else ():
            try:
                timers[f"_{peer}"] = make(n)
            except ImportError:
                print(f"links: {peer} is not installed; left out")
        steps = max(100, 20_000 // n)
        seen: dict[str, list[float]] = {name: [] for name in timers}
        for _ in range(ROUNDS):
            for name, timer in timers.items():
                seen[name].append(timer(steps) / steps / n * 1e9)
        found |= {f"chain_{n}{name}_link_ns": min(times) for name, times in seen.items()}
    return found


def angles(n: int) -> np.ndarray:
    """Where the bars of a chain start."""
    return -1.5 + 0.03 * np.arange(n)


def own_step(n: int) -> Callable[[int], float]:
    """Takes steps of our own chain; gives their seconds."""
    import jointplay as jp

    chain = jp.library.pendulum(n, angles=angles(n).tolist())
    one = jp.Simulation(chain, jp.FixedRungeKutta(1e-4, order=4))
    one.step(10)
    return lambda steps: timed(lambda: one.step(steps))


def timed(work: Callable[[], Any]) -> float:
    """CPU seconds of this thread."""
    begin = time.thread_time()
    work()
    return time.thread_time() - begin


def mujoco_step(n: int) -> Callable[[int], float]:
    """The same chain in MuJoCo, in relative angles."""
    mujoco = importlib.import_module("mujoco")
    opened = ""
    for i in range(n):
        opened += f'<body pos="{float(i > 0)} 0 0"><joint type="hinge" axis="0 -1 0"/>'
        opened += f'<inertial pos="0.5 0 0" mass="1" diaginertia="{1 / 12} {1 / 12} {1 / 12}"/>'
    flags = '<flag contact="disable" constraint="disable"/>'
    text = f'<mujoco><option timestep="1e-4" integrator="RK4" gravity="0 0 -9.81">{flags}</option>'
    model = mujoco.MjModel.from_xml_string(f"{text}<worldbody>{opened}{'</body>' * n}</worldbody></mujoco>")
    data = mujoco.MjData(model)
    data.qpos[:] = np.diff(angles(n), prepend=0.0)
    mujoco.mj_forward(model, data)
    same("MuJoCo", n, np.cumsum(data.qacc))
    return lambda steps: timed(lambda: mujoco.mj_step(model, data, nstep=steps))


def pinocchio_step(n: int) -> Callable[[int], float]:
    """The same chain in Pinocchio: the four articulated-body sweeps of a step."""
    pin = importlib.import_module("pinocchio")

    def chain(count: int) -> Callable[[], np.ndarray]:
        model = pin.Model()
        for i in range(count):
            place = pin.SE3(np.eye(3), np.array([float(i > 0), 0.0, 0.0]))
            joint = model.addJoint(i, pin.JointModelRevoluteUnaligned(np.array([0.0, -1.0, 0.0])), place, f"J{i}")
            inertia = pin.Inertia(1.0, np.array([0.5, 0.0, 0.0]), np.eye(3) / 12)
            model.appendBodyToJoint(joint, inertia, pin.SE3.Identity())
        data = model.createData()
        q, none = np.diff(angles(count), prepend=0.0), np.zeros(count)
        return lambda: pin.aba(model, data, q, none, none)

    sweep, nothing = chain(n), chain(0)
    same("Pinocchio", n, np.cumsum(sweep()))

    def repeated(work: Callable[[], Any], steps: int) -> float:
        return timed(lambda: [work() for _ in range(4 * steps)])

    return lambda steps: repeated(sweep, steps) - repeated(nothing, steps)


def same(name: str, n: int, accelerations: np.ndarray) -> None:
    """Refuse a peer that computes something else."""
    import jointplay as jp

    system = jp.System(jp.library.pendulum(n, angles=angles(n).tolist()))
    from jointplay import statics

    ours = system.evaluate(statics.assemble(system)).accelerations()[0][2::3]
    if not np.allclose(accelerations, ours, rtol=1e-6, atol=1e-6 * np.abs(ours).max()):
        raise SystemExit(f"links: {name} finds other accelerations of {n} bars: {accelerations[:3]} against {ours[:3]}")


def four_bars() -> dict[str, float | None]:
    """Seconds from process start to the first step of 40 four-bars in a row, and to the end of 10 s of motion."""
    with empty_cache():
        begin = time.perf_counter()
        first, end, *outcome = output([sys.executable, "-c", ROW]).split()
    print(f"40 four-bars in a row: {' '.join(outcome)}")
    return {"four_bars_40_first_step_s": float(first) - begin, "four_bars_40_total_s": float(end) - begin}


def key(name: str) -> Callable[[Any], float]:
    """One of the numbers found."""
    return lambda r: float(r[name])


def share(n: int, peer: str) -> Callable[[Any], float]:
    """Our time beside a peer's."""
    return lambda r: float(r[f"chain_{n}_link_ns"] / r[f"chain_{n}_{peer}_link_ns"])


BARS: list[tuple[str, Callable[[Any], float], float]] = [
    *((f"chain of {n} to its first step, cold, s", key(f"chain_{n}_cold_s"), COLD[n]) for n in SIZES),
    *((f"chain of {n} to its first step, cached, s", key(f"chain_{n}_cached_s"), CACHED[n]) for n in SIZES),
    ("step per bar, chain of 100 / chain of 10", lambda r: r["chain_100_link_ns"] / r["chain_10_link_ns"], 1.6),
    *((f"chain of {n}: step / MuJoCo's", share(n, "mujoco"), 1.0) for n in BESIDE),
    *((f"chain of {n}: step / Pinocchio's four sweeps", share(n, "pinocchio"), 1.0) for n in BESIDE),
    ("40 four-bars to their first step, s", key("four_bars_40_first_step_s"), 20.0),
    ("40 four-bars, 10 s in all, s", key("four_bars_40_total_s"), 30.0),
]
