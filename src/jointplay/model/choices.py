"""The choices of a model; they live in `jointplay.parts.choices`."""

from ..parts.choices import *  # noqa: F403
