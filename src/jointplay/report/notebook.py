"""The page inside a notebook: no server, only text."""

from __future__ import annotations

import html as markup
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..model.mechanism import Mechanism
from ..results import register
from .page import html

if TYPE_CHECKING:
    import xarray

register()  # also for Datasets that xarray itself opens


@dataclass(frozen=True)
class Shown:
    """A page that a notebook shows inline; `page` is its text."""

    page: str
    height: int = 760

    def __repr__(self) -> str:
        return f"<jointplay page, {len(self.page) / 1000:.0f} kB; show it in a notebook, or write it with report.write>"

    def _repr_html_(self) -> str:
        style = f"width:100%;height:{self.height}px;border:1px solid #8884;border-radius:8px"
        text = markup.escape(self.page, quote=True)
        return f'<iframe title="jointplay" sandbox="allow-scripts" style="{style}" srcdoc="{text}"></iframe>'


def show(
    run: xarray.Dataset | str | os.PathLike[str],
    twin: xarray.Dataset | str | os.PathLike[str] | None = None,
    height: int = 760,
    mechanism: Mechanism | None = None,
) -> Shown:
    """The animated page of a result for a notebook's output, `height` pixels high."""
    return Shown(html(run, twin, mechanism=mechanism), height)
