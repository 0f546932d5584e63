"""Joints; each kind lives in a file of `jointplay.elements`."""

from __future__ import annotations

from ..elements import Gear as Gear
from ..elements import Joint as Joint
from ..elements import Prismatic as Prismatic
from ..elements import Revolute as Revolute
from ..elements import Rod as Rod
from ..elements import Slot as Slot
from ..elements import Weld as Weld
