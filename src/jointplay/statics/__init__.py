"""What can be said of a mechanism without integrating its motion: assembly, driven cycles, equilibria, a check."""

from .assembly import Freedom, assemble, freedom, guess
from .check import Check, check, doubts, matrix_text
from .cycle import inverse_dynamics, kinematics
from .drives import followed, period, refuse_drives
from .equilibrium import Equilibrium, equilibria
from .starting import closed, start, twin

__all__ = [
    "Check", "Equilibrium", "Freedom", "assemble", "check", "closed", "doubts", "equilibria", "followed", "freedom",
    "guess", "inverse_dynamics", "kinematics", "matrix_text", "period", "refuse_drives", "start", "twin",
]  # fmt: skip
