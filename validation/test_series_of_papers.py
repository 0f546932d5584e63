"""The clearance and speed series of Wu et al. 2017 and Bai et al. 2026 as studies: one call each, runs in lanes."""

import itertools
import math

import numpy as np
import pytest

import jointplay as jp
from jointplay.model import library

STEPPER = jp.RungeKutta(1e-7, 1e-9, max_step=1e-3)
WU = {"stepper": STEPPER, "every": 1e-3, "metrics": ["shift[link3]", "peak_normal_sum[P]"]}


def told(record, item, quantity, unit, ours, reference, good):
    said = "agrees" if good else "differs"  # the values are those of our reference
    record(item=item, quantity=quantity, unit=unit, ours=ours, reference=reference, verdict=said)
    assert good, (item, quantity, ours, reference)


class AngleError:
    """The largest difference of an arm's angle from that of the ideal mechanism (deg)."""

    __name__ = "angle_error"

    def __init__(self, ideal):
        self.angle = ideal["angle"].sel(body="arm1").values

    def __call__(self, run):
        return math.degrees(float(np.abs(run["angle"].sel(body="arm1").values - self.angle).max()))


def test_the_clearances_of_paper_002(record):
    """The motion repeats every 36 s, so that 40 s show what 120 s do."""
    mechanism = library.wu_2017(clearance=1e-4, contact=library.wu_2017_contact())
    found = jp.sweep(mechanism, {"P.clearance": ["0.1 mm", "0.5 mm", "0.75 mm"]}, until=40.0, **WU)
    assert (found.status == 1).all()
    reference = {0.10: (0.5939, 285.3), 0.50: (2.8482, 892.5), 0.75: (4.2572, 1262.0)}
    for i, (c, (most, force)) in enumerate(reference.items()):
        item = f"Wu et al. 2017 as a study, c = {c} mm"
        off = 1e3 * float(found["shift[link3]"][i])
        told(record, item, "largest deviation of G", "mm", off, most, abs(off - most) < 1e-4)
        total = float(found["peak_normal_sum[P]"][i])
        told(record, item, "largest sum of the normal forces", "N", total, force, abs(total / force - 1) < 0.02)


def test_the_speeds_of_paper_002(record):
    mechanism = library.wu_2017(clearance=5e-4, contact=library.wu_2017_contact())
    found = jp.sweep(mechanism, {("alpha.speed", "beta.speed"): list(library.WU_2017_SPEEDS)}, until=36.0, **WU)
    off = (1e3 * found["shift[link3]"].values).tolist()
    rising = all(a < b for a, b in itertools.pairwise(off))
    for (w1, _), x in zip(library.WU_2017_SPEEDS, off, strict=True):
        item = f"Wu et al. 2017 as a study, {math.degrees(w1):.0f} and 50 deg/s"
        record(item=item, quantity="largest deviation of G", unit="mm", ours=x, reference=None, verdict="remark")
    said = "reproduces" if rising else "differs"
    record(item="Wu et al. 2017 as a study", quantity="G becomes less precise with the speed of link 1", unit="",
           ours="yes" if rising else "no", reference="yes", verdict=said)  # fmt: skip
    assert (found.status == 1).all() and max(off) < 20.0


@pytest.mark.parametrize(("friction", "reference"), [(True, (0.113, 0.114, 0.122)), (False, (0.0134, 0.0271, 0.0547))])
def test_the_clearances_of_paper_004(record, friction, reference):
    """Cases 4, 3 and 5: joints 2 and 4; the stiffness of the contact follows from the clearance."""
    plays = (0.25e-3, 0.5e-3, 1e-3)
    stiffness = [library.spacecraft_2026("A", 3, clearance=c).value("J2.normal.stiffness") for c in plays]
    names = tuple(f"J{i}.{what}" for what in ("clearance", "normal.stiffness") for i in (2, 4))
    stepper = jp.RungeKutta(1e-8, 1e-10)
    ideal = jp.simulate(library.spacecraft_2026("A"), 5.0, stepper, every=5e-3)
    found = jp.sweep(
        library.spacecraft_2026("A", 3, friction=friction),
        {names: [(c, c, k, k) for c, k in zip(plays, stiffness, strict=True)]},
        until=5.0,
        stepper=stepper,
        every=5e-3,
        metrics=[AngleError(ideal)],
    )
    assert (found.status == 1).all()
    for c, ours, wanted in zip(plays, found["angle_error"].values, reference, strict=True):
        item = f"Bai et al. 2026 as a study, set A, c = {1e3 * c:g} mm, {'with' if friction else 'without'} friction"
        good = abs(ours - wanted) < max(6e-4, 0.02 * wanted)
        told(record, item, "largest error of arm 1", "deg", float(ours), wanted, good)
