"""Being renamed to jointplay.simulation."""

from .simulation import FixedRungeKutta, MoreauJean, Outcome, RungeKutta, SimulationFailed, simulate

__all__ = ["FixedRungeKutta", "MoreauJean", "Outcome", "RungeKutta", "SimulationFailed", "simulate"]
