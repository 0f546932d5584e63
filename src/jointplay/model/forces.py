"""Drives and forces; each kind lives in a file of `jointplay.elements`."""

from __future__ import annotations

from ..elements import AngleDrive as AngleDrive
from ..elements import Drive as Drive
from ..elements import Force as Force
from ..elements import Load as Load
from ..elements import Motor as Motor
from ..elements import PositionDrive as PositionDrive
from ..elements import RateDrive as RateDrive
from ..elements import Spring as Spring
from ..elements import Torque as Torque
from ..elements import Torsion as Torsion
from ..elements import XDrive as XDrive
from ..elements import YDrive as YDrive
