"""The fits of a model; they live in `jointplay.parts.fits`."""

from ..parts.fits import *  # noqa: F403
