"""Studies: many runs of a mechanism over values, grids and samples, and what they mean.

sweep                                    the table of a study, in memory or in a store that can be resumed and extended
grid, uniform, normal, fit, samples      axes
open_study, state, collect, replay       a store, how far it is, shards put together, one run again
share, percentiles, indices, ranking     what a Monte Carlo study means
"""

from .again import collect, replay, state
from .axes import fit, grid, normal, uniform
from .meaning import Share, indices, percentiles, ranking, share
from .sampling import samples
from .store import open_study
from .sweeping import Progress, StudyFailed, sweep

__all__ = [
    "Progress",
    "Share",
    "StudyFailed",
    "collect",
    "fit",
    "grid",
    "indices",
    "normal",
    "open_study",
    "percentiles",
    "ranking",
    "replay",
    "samples",
    "share",
    "state",
    "sweep",
    "uniform",
]
