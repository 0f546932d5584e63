"""The motions of a model; they live in `jointplay.parts.motions`."""

from ..parts.motions import *  # noqa: F403
