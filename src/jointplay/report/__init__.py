"""A result as one HTML file that needs nothing else: the mechanism moves, its loose joints are magnified.

write(run, target)   the page as a file        show(run)   the page in a notebook, also run.jp.show()
pdf(page, target)    the page printed           movie(run, target)   the mechanism as .gif or .mp4
write_study(study, target)   a study: contour or histogram, each run with the command that replays it
"""

from .export import chromium, movie, pdf
from .notebook import Shown, show
from .page import html, write
from .study import write_study

__all__ = ["Shown", "chromium", "html", "movie", "pdf", "show", "write", "write_study"]
