"""What the user writes: bodies, joints, drives and forces as frozen values, their files and a library.

Names are resolved on first use.
"""

from __future__ import annotations

import importlib
from typing import Any

_ROOMS = {
    ".parts": "ModelError Problem",
    ".bodies": "Body Counterweight Ground bar",
    ".clearances": "Compliant Following Rigid",
    ".joints": "Revolute Prismatic Weld Slot Rod Gear",
    ".motions": "Constant ConstantSpeed Sine Polynomial Cycloidal Table Sum Function "
    "constant constant_speed sine polynomial cycloidal table total",
    ".forces": "AngleDrive RateDrive PositionDrive XDrive YDrive Force Torque Motor Spring Torsion",
    ".fits": "Fit FitError parse_fit",
    ".mechanism": "Mechanism",
    ".modules": "couple",
    ".checks": "implausible",
    ".files": "load loads save dumps schema FORMAT_VERSION",
    ".units": "Dimension UnitError parse_quantity parse_unit",
}
_MODULES = ["bodies", "control", "files", "fits", "forces", "joints", "library", "mechanism", "motions", "units"]
_HOME = {name: room for room, names in _ROOMS.items() for name in names.split()}
__all__ = sorted([*_HOME, *_MODULES])
__dir__ = __all__.copy


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f".{name}", __name__)
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOME[name], __name__), name)
