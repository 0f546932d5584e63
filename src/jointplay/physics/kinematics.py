"""Where the bodies are; it lives in `jointplay.elements.pose`, where joints, drives and forces find it."""

from ..elements.pose import Numbers as Numbers
from ..elements.pose import Pose as Pose
