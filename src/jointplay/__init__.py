"""Dynamics and control of planar mechanisms whose joints have play.

Public names are resolved on first use, so that ``import jointplay`` stays cheap and loads no
numerical library.
"""

from importlib import import_module
from typing import Any

from jointplay._version import __version__ as __version__

# Public name -> module that holds it. Where the module is ``jointplay.<name>``, the name is that module.
_PUBLIC: dict[str, str] = {
    "engine": "jointplay.engine",
}


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = import_module(_PUBLIC[name])
    value = module if module.__name__ == f"{__name__}.{name}" else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_PUBLIC})
