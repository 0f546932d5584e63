"""The numbers of the slider-crank that jointplay and Exudyn compute, in SI units."""

from math import tau
from typing import NamedTuple


class Numbers(NamedTuple):
    """A body: length (m), mass (kg) and inertia about its middle (kg m^2)."""

    length: float
    mass: float
    inertia: float


CRANK, ROD, SLIDER = Numbers(0.05, 0.30, 0.0501), Numbers(0.12, 0.21, 2.5e-4), Numbers(0.0, 0.14, 1e-4)
SPEED = 5000 * tau / 60  # rad/s: of the crank, with its flywheel, at the start
SHIFT = 1e-5  # m: of the slider at the start, out of the middle of its play
JOURNAL, BEARING = 9.5e-3, 10e-3  # m, radii: the rod carries the journal
GRAVITY = -9.81
LAW = {"stiffness": 6.6e10, "exponent": 1.5, "restitution": 0.9}  # Hunt and Crossley
ROUGH = {"friction": 0.05, "v0": 0.0, "v1": 1e-2}  # growing in proportion to the slip up to v1
