"""A stepper of one's own: the symplectic Euler method, which docs/extending.md explains."""

from dataclasses import dataclass, replace

import jointplay as jp


@dataclass(frozen=True)
class SymplecticEuler(jp.Stepper):
    """New rates by the accelerations of the beginning, new coordinates by the new rates; order 1."""

    step: float

    def take(self, motion, now, h):
        v = [x + h * a for x, a in zip(now.state.v, now.slope.v, strict=True)]
        q = [x + h * rate for x, rate in zip(now.state.q, v, strict=True)]
        return jp.Step(replace(now.state.moved(h, [1.0], [now]), q=q, v=v))


if __name__ == "__main__":
    pendulum = jp.library.pendulum(length=1.0, angles=[0.0])
    for step in (1e-3, 5e-4):
        run = jp.simulate(pendulum, until=2.0, stepper=SymplecticEuler(step))
        exact = jp.simulate(pendulum, until=2.0)
        print(f"step {step:g} s: angle off by {float(run.angle[-1, 0] - exact.angle[-1, 0]):.3g} rad")
