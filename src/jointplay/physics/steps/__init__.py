"""The steppers: one file for each scheme, which reads like its source."""

from .moreau_jean import MoreauJean
from .runge_kutta import FixedRungeKutta, RungeKutta

__all__ = ["FixedRungeKutta", "MoreauJean", "RungeKutta"]
