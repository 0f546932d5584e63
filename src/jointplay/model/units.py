"""The units of a model; they live in `jointplay.parts.units`."""

from ..parts.units import *  # noqa: F403
