"""What can be said of a mechanism without integrating its motion: assembly, driven cycles, equilibria, a check."""

from .assembly import Freedom, assemble, freedom, guess
from .check import Check, check, doubts, matrix_text
from .cycle import inverse_dynamics, kinematics
from .equilibrium import Equilibrium, equilibria
from .starting import closed, start, twin

__all__ = [
    "Check", "Equilibrium", "Freedom", "assemble", "check", "closed", "doubts", "equilibria", "freedom", "guess",
    "inverse_dynamics", "kinematics", "matrix_text", "start", "twin",
]  # fmt: skip
