"""Figures of forces, efforts and errors: their numbers."""

from typing import ClassVar, Literal

import numpy as np

import jointplay as jp
from jointplay import plots
from jointplay.elements import Drive
from jointplay.elements.fields import AngleMotion, Turning


class TurnedBy(Drive):
    """An angle whose row is not called so."""

    prescribes: ClassVar = "angle"
    kind: Literal["turned_by"] = "turned_by"
    of: Turning
    motion: AngleMotion

    def residual(self, here):
        return {"turn": here.coordinate(self.of) - here.motion()}


def test_the_effort_of_a_drive_of_ones_own_has_the_unit_of_its_kind():
    """A torque was drawn as "force (N)", for its row is not called angle."""
    motion = {"kind": "constant_speed", "speed": 3.0}
    arm = jp.library.pendulum().replace(drives={"D": {"kind": "turned_by", "of": "bar1", "motion": motion}}, start={})
    run = jp.simulate(arm, 0.1, error=False)
    assert [ax.get_ylabel() for ax in plots.effort(run).axes] == ["torque (N m)"]


def test_errors_against_a_run_with_other_samples_are_not_those_of_straight_lines():
    """The same motion, sampled ten times as seldom and for half as long: chords were 1.6 mm off, and what came after
    its end was compared with where it ended; between its samples it is not known (50 µm off by cubics)."""
    crank = jp.library.slider_crank(speed=30.0)
    fine, coarse = jp.simulate(crank, until=0.2, every=1e-3), jp.simulate(crank, until=0.1, every=1e-2)
    figure = plots.tracking_error(fine, coarse, ["slider.x", "rod.angle"])
    units = {"µm": 1e-6, "mm": 1e-3, "m": 1.0, "deg": np.pi / 180}
    for ax, most in zip(figure.axes[1::2], (1e-8, 1e-7), strict=True):  # m, rad
        error = ax.lines[0].get_ydata() * units[ax.get_ylabel().removeprefix("error (").removesuffix(")")]
        assert np.isfinite(error).sum() == 11 and np.nanmax(np.abs(error)) < most
