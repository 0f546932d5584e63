"""Functions of numbers that studies call, also in other processes."""

import math
import os
import time
from multiprocessing import parent_process


def ishigami(a, b, c):
    """Ishigami and Homma's function, whose Sobol indices are known."""
    return math.sin(a) + 7 * math.sin(b) ** 2 + 0.1 * c**4 * math.sin(a)


def moody(x, y):
    """Diverges where x is great, raises where both are."""
    if x > 0.9 and y > 0.9:
        raise ArithmeticError(f"x = {x:.3f} is too much")
    return {"sum": x + y, "product": math.inf if x > 0.9 else x * y}


def slow(x, y):
    """Takes a moment."""
    time.sleep(0.004)
    return {"sum": x + y, "product": x * y}


def once_deadly(x, y):
    """Kills the worker that it runs in where a file of the environment says so, once."""
    file = os.environ.get("DEADLY", "")
    if x > 0.5 and parent_process() and os.path.exists(file):
        os.unlink(file)
        os.kill(os.getpid(), 9)
    return slow(x, y)
