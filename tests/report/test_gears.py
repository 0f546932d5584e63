"""Contacts of gears are angles and torques: on the page, in figures, and among the headline numbers."""

import numpy as np
import pytest

from jointplay import plots, report, results
from jointplay.model import Mechanism, Revolute, bar
from jointplay.report import scene
from jointplay.simulation import simulate
from tests.browser import runs

from .test_report import parts

TORQUES = ["G.upper", "G.lower"]


def test_headline_numbers_of_gears_are_torques():
    stated = {entry["name"]: entry["unit"] for entry in results.errors(runs.gears())}
    assert {stated[f"{name}.peak_normal"] for name in TORQUES} == {"N*m"} and stated["B.peak_normal"] == "N"
    assert {stated[f"{name}.peak_impulse"] for name in TORQUES} == {"N*m*s"} and stated["B.peak_impulse"] == "N*s"
    assert "B.peak_force" in stated and not {"G.peak_force", "G.joint_impulse"} & set(stated)


def test_the_page_says_numbers_in_the_units_of_the_command_line():
    numbers = dict(parts(report.html(runs.gears()))[0]["numbers"])
    assert numbers["pinion.angle"].endswith(" deg") and numbers["wheel.x"].endswith(" mm")
    assert numbers["G.upper.share_free"].endswith(" %") and numbers["G.upper.peak_normal"].endswith(" N m")


def test_variables_of_contacts_say_both_units():
    run = runs.gears()
    assert run.normal_force.units == run.peak_normal.units == "N or N*m" and run.impact_normal.units == "N*s or N*m*s"
    assert runs.rocker().normal_force.units == "N" and run.impact_approach.units == "m/s or rad/s"


def test_the_page_draws_impacts_of_gears_apart():
    content, _ = parts(report.html(runs.gears()))
    strengths = {item["name"]: item["strength"] for item in content["impacts"]}
    assert strengths == {"B": "normal impulse (N s)"} | dict.fromkeys(TORQUES, "angular impulse (N m s)")


def test_flanks_of_gears_neither_slide_nor_stick():
    run = runs.gears()
    assert set(np.unique(scene.mode(run, "G.upper"))) == {scene.FREE, scene.TOUCHING}
    assert scene.SLIDING in scene.mode(run, "B") and scene.STICKING not in scene.mode(run, "B")  # without friction
    shown = [text.get_text() for text in plots.contact_modes(run, TORQUES).axes[0].get_legend().get_texts()]
    assert shown == ["free", "impact", "in contact"]


def drawn(figure) -> dict[str, list[str]]:
    """The curves of each panel by the words at its left."""
    return {
        ax.get_ylabel().replace("\n", " "): [
            line.get_label() for line in ax.lines if not line.get_label().startswith("_")
        ]
        for ax in figure.axes
    }


def test_figures_draw_the_torques_of_gears():
    run = runs.gears()
    assert drawn(plots.motion(run))["joint torque (N m)"] == ["G"]
    shown = drawn(plots.joint_force(run, ["B", "G"]))
    assert shown["force (N)"] == ["B"] and shown["torque (N m)"] == ["G"]
    assert {"impulses (N s)", "impulses (N m s)"} < set(shown)
    [curve] = [line for line in plots.joint_force(run, ["G"]).axes[0].lines if line.get_label() == "G"]
    assert curve.get_ydata() == pytest.approx(run.moment.sel(joint="G").values)


def test_the_dot_of_a_largest_torque_has_its_sign():
    run = runs.gears()
    [dot] = [line for line in plots.joint_force(run, ["G"]).axes[0].lines if len(line.get_xdata()) == 1]
    at = float(run.peak_moment_time.sel(joint="G"))
    there = np.interp(at, run.time.values, run.moment.sel(joint="G").values)
    assert np.sign(dot.get_ydata()[0]) == np.sign(there)


def test_gaps_of_gears_have_a_panel_and_no_slip():
    shown = drawn(plots.gap_and_slip(runs.gears()))
    assert shown == {"gap (µm)": ["B"], "gap (deg)": TORQUES, "slip in contact (m/s)": ["B"]}
    assert list(drawn(plots.gap_and_slip(runs.gears(), TORQUES))) == ["gap (deg)"]


def test_impacts_of_gears_are_angular():
    run = runs.gears()
    assert set(drawn(plots.impacts(run, TORQUES))) >= {"angular impulse (N m s)", "approach speed (rad/s)"}
    assert "normal impulse (N s)" in drawn(plots.impacts(run, ["B"]))
    assert "approach speed (m/s or rad/s)" in drawn(plots.impacts(run))


def test_stops_of_angles_have_angular_gaps():
    hinge = Revolute(between=("ground.O", "rod.start"), lower="-60 deg", stop_restitution=0.5)
    rod = Mechanism(ground={"points": {"O": (0, 0)}}, bodies={"rod": bar(0.5, mass=1.0)}, joints={"J": hinge})
    run = simulate(rod, 0.5, start={"rod": 0.0})
    assert run.impact_normal.units == "N*m*s" and run.sizes["impact"]
    panels = {panel["title"]: panel["unit"] for panel in parts(report.html(run))[0]["charts"]}
    assert panels["Angular gap"] == "deg" and "Gap" not in panels
