"""Shaking force and moment, tests of balance, conditions in the model's names, designs and what they cost.

shaking      what a motion, or a run with play, does to the frame
judge        static, gyroscopic and decoupling balance over sampled positions
balance      a design of counterweights, springs and geared inertias, with its conditions
trade_off    the front between two of shaking force, moment, torque and bearing load
adaptive     counterweight places as functions of the payload
tolerances   what masses made to a tolerance leave of a balance, as a study
"""

from .adaptive import adaptive
from .adjust import Adjustable, adjustables
from .conditions import Condition
from .descent import trade_off
from .proof import Judgement, Test, judge
from .quantities import MotionSignals, motion
from .shaking import shaking
from .solver import Balance, balance
from .tolerances import tolerances

__all__ = [
    "Adjustable",
    "Balance",
    "Condition",
    "Judgement",
    "MotionSignals",
    "Test",
    "adaptive",
    "adjustables",
    "balance",
    "judge",
    "motion",
    "shaking",
    "tolerances",
    "trade_off",
]
