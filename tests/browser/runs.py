"""Real runs for the tests of figures and pages, each computed once in a process."""

import functools
import math

import numpy as np
import xarray

from jointplay import balancing, studies
from jointplay.model import Body, Gear, Mechanism, Prismatic, Revolute, Torque, bar, constant_speed, control, library
from jointplay.model.clearances import Compliant, Rigid
from jointplay.simulation import MoreauJean, simulate

START = {"crank.rate": 10.0}
WEIGHTS = "crank:radius=80mm,rocker:radius=80mm"


@functools.cache
def rocker() -> xarray.Dataset:
    """The crank-rocker with play and bouncing contact in two joints."""
    loose = library.crank_rocker_2016(3e-3, 3e-3, friction=0.05, restitution=0.7)
    return simulate(loose, 2.0, MoreauJean(2e-5), every=2e-3, start=START, reclose=True)


@functools.cache
def rocker_twin() -> xarray.Dataset:
    """The same with ideal joints."""
    return simulate(library.crank_rocker_2016(), 2.0, every=2e-3, start=START)


@functools.cache
def bouncing() -> xarray.Dataset:
    """The same crank-rocker for half a second, sampled so often that the path of a journal is smooth."""
    loose = library.crank_rocker_2016(3e-3, 3e-3, friction=0.05, restitution=0.7)
    return simulate(loose, 0.5, MoreauJean(2e-5), every=2e-4, start=START, reclose=True)


@functools.cache
def bore() -> xarray.Dataset:
    """A slider whose bore has play on its bar."""
    return simulate(library.wu_2017(clearance=5e-4), 3.0, MoreauJean(2e-5))


@functools.cache
def slider() -> xarray.Dataset:
    """A driven slider-crank, ideal."""
    return simulate(library.slider_crank(speed=10.0), 2.0)


@functools.cache
def controlled() -> xarray.Dataset:
    """The crank-rocker with play in two joints, its crank held at a speed by a controller that knows no play."""
    loose = library.crank_rocker_2016(1e-3, 1e-3, friction=0.05, restitution=0.3)
    return simulate(loose.replace(control=_AT_SPEED), 1.5, MoreauJean(2e-5), start=_SPEED, reclose=True)


@functools.cache
def controlled_twin() -> xarray.Dataset:
    """The same with ideal joints."""
    return simulate(library.crank_rocker_2016().replace(control=_AT_SPEED), 1.5, start=_SPEED)


_SPEED = {"crank.rate": 8.0}
_AT_SPEED = control.feedback_linearisation("crank", constant_speed(8.0, start=np.pi / 2), k1=900.0, k2=60.0)


@functools.cache
def cart() -> xarray.Dataset:
    """A pendulum on a cart, both pulled to their places: channels in m and rad, actuators in N and N m."""
    made = Mechanism(
        name="cart",
        ground={"points": {"O": (0, 0)}},
        bodies={"cart": Body(mass=1.0, inertia=0.01, points={"pin": (0, 0)}), "rod": bar(0.5, mass=0.2)},
        joints={
            "rail": Prismatic(between=("ground.O", "cart.pin"), axis=(1, 0)),
            "pin": Revolute(between=("cart.pin", "rod.start")),
        },
        control=control.pd_tracking([{"kind": "position", "of": "rail"}, "rod"], [0.1, -1.2], k1=50.0, k2=5.0),
    )
    return simulate(made, 0.2, start={"rod": -1.5})


@functools.cache
def fast() -> xarray.Dataset:
    """A fast slider-crank whose slider has play on its pin."""
    loose = library.slider_crank(speed=50.0).loosen(
        "J3", "0.5 mm", journal_radius="15 mm", contact=Rigid(friction=0.05)
    )
    return simulate(loose, 0.5, MoreauJean(1e-5), every=2.5e-4, reclose=True)


@functools.cache
def fast_twin() -> xarray.Dataset:
    """The same with ideal joints."""
    return simulate(library.slider_crank(speed=50.0), 0.5, every=2.5e-4)


@functools.cache
def permanent() -> xarray.Dataset:
    """Play that is always closed on one side."""
    return simulate(library.grigore_figure_5(), 2.0)


@functools.cache
def compliant() -> xarray.Dataset:
    """The same play closed by a compliant contact."""
    soft = library.grigore_figure_5(speed=10.0).loosen("O3", "1 mm", contact=Compliant(), journal_radius="10 mm")
    return simulate(soft, 1.0)


@functools.cache
def contacts() -> dict[str, xarray.Dataset]:
    """The same joint as rigid, compliant, permanent and ideal contact."""
    model = library.grigore_figure_5()
    rigid = model.loosen("O3", "1 mm", contact=Rigid(), journal_radius="10 mm")
    ideal = model.with_({"O3.clearance": 0.0}).replace(start={"coupler": model.start["coupler"]})
    found = {"rigid": simulate(rigid, 1.0, MoreauJean(2e-5)), "compliant": compliant()}
    return found | {"permanent": permanent().sel(time=slice(0, 1.0)), "ideal": simulate(ideal, 1.0)}


@functools.cache
def table() -> xarray.DataArray:
    """Energy lost in impacts over clearance and friction."""
    clearances, frictions = np.array([1e-3, 2e-3, 3e-3]), np.array([0.0, 0.1, 0.2])
    lost = [[_lost(c, f) for f in frictions] for c in clearances]
    return xarray.DataArray(
        lost,
        {
            "clearance": ("clearance", 1e3 * clearances, {"units": "mm", "long_name": "clearance of J2"}),
            "friction": ("friction", frictions, {"long_name": "coefficient of friction"}),
        },
        ("clearance", "friction"),
        "lost",
        {"units": "J", "long_name": "energy lost in impacts", "title": "crank-rocker"},
    )


def _lost(clearance: float, friction: float) -> float:
    loose = library.crank_rocker_2016(clearance, friction=friction, restitution=0.5)
    run = simulate(loose, 0.2, MoreauJean(2e-5), start=START, reclose=True)
    return float(run.impact_loss[-1])


def offset(**plays: float) -> float:
    """Stands for a run: how far a slider is off, by the plays of its pins (m)."""
    return (
        0.9 * plays["J2.clearance"] + 1.1 * plays["J3.clearance"] + 4e3 * plays["J2.clearance"] * plays["J3.clearance"]
    )


@functools.cache
def machines() -> xarray.Dataset:
    """A Monte Carlo study, quick."""
    over = {"J2.clearance": studies.fit("20 H7/g6"), "J3.clearance": studies.fit("20 H8/f7")}
    found = studies.sweep(offset, over, samples=studies.samples(256, "saltelli"))
    return found.assign(value=found["value"].assign_attrs(units="m", long_name="largest offset of the slider"))


@functools.cache
def plays() -> xarray.Dataset:
    """A study of a grid, quick."""
    return studies.sweep(offset, {"J2.clearance": studies.grid(0, 1e-3, 9), "J3.clearance": [0, 5e-4, 1e-3]})


@functools.cache
def balanced():
    """The four-bar of docs/balancing.md with counterweights on crank and rocker."""
    drive = {"kind": "angle", "of": "crank", "motion": {"kind": "constant_speed", "speed": 10.0}}
    centres = ((0.05, 0.0), (0.12, 0.05), (0.12, 0.01))
    made = library.four_bar((0.1, 0.35, 0.25, 0.4), (0.3, 0.8, 0.5), (1e-3, 1e-2, 2e-3), 0.0, centres=centres)
    made = made.replace(drives={"motor": drive}, gravity=(0, 0))
    return balancing.balance(made, "force", WEIGHTS, times=np.linspace(0, math.tau / 10, 91))


@functools.cache
def front():
    """Its trade-off between shaking force and moment."""
    return balancing.trade_off(balanced().given, WEIGHTS, times=np.linspace(0, math.tau / 10, 45), points=8)


@functools.cache
def shaken():
    """It with 0.1 mm of play between crank and coupler."""
    loose = balanced().mechanism.loosen("J2", "0.1 mm", journal_radius="5 mm")
    return simulate(loose, 0.5, MoreauJean(2e-5), every=1e-3)


@functools.cache
def shaken_twin():
    """It with ideal joints."""
    return simulate(balanced().mechanism, 0.5, every=1e-3)


@functools.cache
def gears() -> xarray.Dataset:
    """Two wheels under a torque to and fro, with backlash and with play in a pin; states its errors."""
    axle = {"axle": (0, 0)}
    made = Mechanism(
        name="backlash",
        bodies={"pinion": Body(mass=1, inertia=1e-3, points=axle), "wheel": Body(mass=2, inertia=4e-3, points=axle)},
        ground={"points": {"A": (0, 0), "B": (0.09, 0)}},
        joints={
            "A": Revolute(between=("ground.A", "pinion.axle")),
            "B": Revolute(between=("ground.B", "wheel.axle"), clearance="0.1 mm", contact=Rigid(restitution=0.3)),
            "G": Gear(between=("pinion", "wheel"), ratio=-0.5, play="1 deg", contact=Rigid(restitution=0.3)),
        },
        forces={"motor": Torque(on="pinion", torque={"kind": "sine", "amplitude": 2.0, "frequency": "4 Hz"})},
    )
    return simulate(made.replace(journals="centred"), 0.3)
