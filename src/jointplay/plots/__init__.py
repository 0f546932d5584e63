"""Figures of results: one function for each, from a Dataset to a matplotlib Figure; they never touch pyplot.

motion, velocity, acceleration, phase_plane      how bodies move
tracking_error, effort, energy                   how well they follow, what it takes, where it goes
joint_force, journal, gap_and_slip               what happens in the joints
contact_modes, impacts                           when surfaces touch, and how hard they strike
balance, shaking, trade_off                          before and after balancing, the trade-off, and what a run does
contour, comparison                              tables of many runs, and a few runs side by side
histogram, series, sensitivity, ranking          what a study means
analysis                                         figures of nonlinear analysis: spectra, sections, diagrams
save                                             write a figure: .png, .pdf, .svg

Where `twin` is asked for, it is the result of the same mechanism with ideal joints: drawn thin and grey behind.
"""

from . import analysis
from .balancing import balance, shaking, trade_off
from .contacts import contact_modes, gap_and_slip, impacts, journal
from .motion import acceleration, motion, phase_plane, velocity
from .runs import comparison, contour
from .studies import histogram, ranking, sensitivity, series
from .style import save
from .work import effort, energy, joint_force, tracking_error

__all__ = [
    "acceleration",
    "analysis",
    "balance",
    "comparison",
    "contact_modes",
    "contour",
    "effort",
    "energy",
    "gap_and_slip",
    "histogram",
    "impacts",
    "joint_force",
    "journal",
    "motion",
    "phase_plane",
    "ranking",
    "save",
    "sensitivity",
    "series",
    "shaking",
    "tracking_error",
    "trade_off",
    "velocity",
]
