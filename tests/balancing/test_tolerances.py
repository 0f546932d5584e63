"""What is left of a balance: masses made to a tolerance, play in a joint, and what the page shows of it."""

import json

import numpy as np
import pytest

import jointplay as jp
from jointplay import balancing
from jointplay.report import charts, scene
from tests.balancing.pictures import four_bar, made


@pytest.fixture(scope="module")
def found():
    return made(256, executor=1)


def test_the_mean_square_is_that_of_the_single_masses(found):
    """The shaking force is linear in the masses, so variances add up: a closed form for the mean of its square."""
    design, study = found
    assert design.after["shaking_force_peak"] < 1e-12 and (study.status == 1).all()
    expected = 0.0
    for address in [a for a in design.mechanism.addresses() if a.endswith(".mass")]:
        x = design.mechanism.value(address)
        expected += design.moved.of(design.mechanism.with_({address: 1.01 * x}))["shaking_force_rms"] ** 2
    assert np.mean(study.shaking_force_rms.values**2) == pytest.approx(expected, rel=0.1)
    assert study.shaking_force_peak.attrs["units"] == "N"


@pytest.mark.parametrize(
    ("spread", "text"), [({"coupler.length": 0.01}, "is no mass"), (0.5, "below 0.25"), (0.0, "above 0")]
)
def test_bad_spreads(found, spread, text):
    with pytest.raises(ValueError, match=text):
        balancing.tolerances(found[0], spread, 4)


def test_without_a_motion_nothing_shakes():
    still = balancing.balance(jp.library.rr_arm(), "static", "arm1,arm2")
    with pytest.raises(ValueError, match="without a motion"):
        balancing.tolerances(still)


def test_the_page_shows_counterweights_and_what_play_leaves(found):
    design = found[0]
    loose = design.mechanism.loosen("J2", "0.1 mm", journal_radius="5 mm")
    run = jp.simulate(loose, until=0.02, stepper=jp.MoreauJean(2e-5), every=1e-3)
    ideal = jp.simulate(design.mechanism, until=0.02, every=1e-3)
    panels = {chart["title"]: chart["curves"] for chart in charts.charts(run, ideal)}
    left = {curve["twin"]: np.abs(curve["values"]).max() for curve in panels["Shaking force"] if curve["name"] == "x"}
    assert left[True] < 1e-12 and left[False] > 1e-3 and "Shaking moment" in panels
    assert all(len(curve["time"]) == len(curve["values"]) for curve in panels["Shaking force"])
    drawn = {body["name"]: body for body in scene.bodies(loose, ["crank", "coupler", "rocker"])}
    crank = loose.bodies["crank"]
    place = np.add(drawn["crank"]["weight"]["at"], crank.whole()[1])
    assert place == pytest.approx([crank.counterweight.x, crank.counterweight.y])
    assert "weight" not in drawn["coupler"] and json.dumps(drawn)
    bare = jp.simulate(four_bar(), until=0.02, every=1e-3)
    assert "Shaking force" not in [chart["title"] for chart in charts.charts(bare, None)]
