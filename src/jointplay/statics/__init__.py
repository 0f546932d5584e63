"""What can be said of a mechanism without integrating its motion: assembly, driven cycles, equilibria, a check."""

from .assembly import assemble, sizes
from .branches import assemblies
from .check import Check, check, doubts, guessed, matrix_text, whirls
from .complement import Coordinates, Coupling, FreeModel, Singular, coupling, null_space, reduced
from .cycle import inverse_dynamics, kinematics
from .degrees import Freedom, freedom
from .drives import followed, period, refuse_drives
from .equilibrium import Equilibrium, equilibria
from .guesses import guess
from .inverse import references
from .leeway import Leeway, leeways
from .linearisation import Linear, linearise
from .loops import loop_doubts, measured
from .masses import refuse_massless, refuse_unequal
from .sharing import jams, moves_by_share, open_reactions, tangents
from .starting import approaches, borne, closed, nearest, play_unit, start, stored, twin, yielding

__all__ = [
    "Check", "Coordinates", "Coupling", "Equilibrium", "FreeModel", "Freedom", "Leeway", "Linear", "Singular",
    "approaches", "assemble", "assemblies", "borne", "check", "closed", "coupling", "doubts", "equilibria",
    "followed", "freedom", "guess", "guessed", "inverse_dynamics", "jams", "kinematics", "leeways", "linearise",
    "loop_doubts", "matrix_text", "measured", "moves_by_share", "nearest", "null_space", "open_reactions",
    "period", "play_unit", "reduced", "references", "refuse_drives", "refuse_massless", "refuse_unequal", "sizes",
    "start", "stored", "tangents", "twin", "whirls", "yielding",
]  # fmt: skip
