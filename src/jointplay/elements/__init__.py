"""Kinds of joint, drive and force, one file each: fields, constraint function, gaps, forces, sizes and pictures.

`Joint`, `Drive` and `Load` are what a kind of one's own is made from (docs/extending.md).
"""

# ruff: noqa: I001 (kinds are listed in messages and schemas in the order in which they are imported)
from __future__ import annotations

from .contacts import Compliant as Compliant, Contact as Contact, Following as Following, Rigid as Rigid
from .drawing import Drawing as Drawing, Play as Play, Track as Track
from .kinds import (
    ForceHere as ForceHere,
    AtRate as AtRate,
    Drive as Drive,
    Element as Element,
    Joint as Joint,
    Load as Load,
)
from .pose import Here as Here, Pose as Pose, Spot as Spot

from .revolute import Revolute as Revolute
from .prismatic import Prismatic as Prismatic
from .weld import Weld as Weld
from .slot import Slot as Slot
from .rod import Rod as Rod
from .gear import Gear as Gear

from .angle_drive import AngleDrive as AngleDrive
from .rate_drive import RateDrive as RateDrive
from .position_drive import PositionDrive as PositionDrive
from .x_drive import XDrive as XDrive
from .y_drive import YDrive as YDrive

from .force import Force as Force
from .torque import Torque as Torque
from .motor import Motor as Motor
from .spring import Spring as Spring
from .torsion import Torsion as Torsion
