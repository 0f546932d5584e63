"""A journal bouncing in its bearing, written directly on the engine: prints the impacts, draws the path."""

from pathlib import Path

from jointplay.engine import Pair, branch, due, emit, number, peak, stop, total, trace
from jointplay.run import Run


def step(s, p):
    t = p.h * number(s.step + 1)
    v = Pair(s.vx, s.vy - p.h * p.gravity)
    r = Pair(s.x, s.y) + v * p.h

    def impact():  # Newton's restitution along the normal
        n = r * (1 / abs(r))
        after = v - n * ((1 + p.restitution) * v.dot(n))
        emit("impacts", t=t, x=n.x * p.clearance, y=n.y * p.clearance)
        total("energy lost", 0.5 * (v.dot(v) - after.dot(after)))
        peak("hardest", v.dot(n), t)
        return [*(n * p.clearance).parts, *after.parts]

    x, y, vx, vy = branch((abs(r) >= p.clearance) & (r.dot(v) > 0), impact, lambda: [*r.parts, *v.parts])
    branch(due(s.step, p.every), lambda: emit("samples", t=t, x=x, y=y), lambda: None)
    stop(t >= p.until)
    return {"x": x, "y": y, "vx": vx, "vy": vy}


parameters = dict(h=1e-6, gravity=9.81, clearance=1e-3, restitution=0.9, until=0.25, every=50)
run = Run(trace(step, dict(x=-7e-4, y=2e-4, vx=0.12, vy=0.0), parameters))
run.advance(expect=250_000)
hits, path = run.rows("impacts"), run.rows("samples")
print(f"{run.explain()}: {len(hits['t'])} impacts, the first at {1e3 * hits['t'][0]:.3f} ms, the hardest at")
print(f"{run['hardest'][0]:.4f} m/s after {run['hardest.time'][0]:.4f} s; {run['energy lost'][0]:.6f} J per kg lost")

import matplotlib.pyplot as plt  # noqa: E402  (loaded only now: the run itself starts in 0.2 s)

figure, axes = plt.subplots(figsize=(5, 5), layout="constrained")
axes.set(aspect="equal", xlabel="mm", ylabel="mm", title="A journal in a bearing with 1 mm of play")
axes.add_patch(plt.Circle((0, 0), 1, fill=False))
axes.plot(1e3 * path["x"], 1e3 * path["y"], 1e3 * hits["x"], 1e3 * hits["y"], "r.", lw=0.6, ms=4)
Path("build").mkdir(exist_ok=True)
figure.savefig("build/bouncing_journal.png", dpi=150)
