"""What every model shares; it lives in `jointplay.parts.part`."""

from ..parts.part import *  # noqa: F403
from ..parts.part import plain as plain
