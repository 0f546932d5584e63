"""Mechanisms to start from, and those of the five papers with their published data and source.

Start values are consistent: loops are closed here from the given angles.
"""

from __future__ import annotations

import cmath
import math
from typing import NamedTuple

from ..elements import AngleDrive, Motor, Prismatic, Revolute, XDrive, YDrive
from ..elements.contacts import Compliant, Following, Rigid
from ..errors import InputError
from ..parts.motions import Kinds, constant, constant_speed, sine
from .bodies import Body, Ground, bar
from .mechanism import Mechanism
from .shapes import (
    angle_between,
    five_bar,
    four_bar,
    meet,
    pendulum,
    point_mass,
    rr_arm,
    scotch_yoke,
    slider_crank,
    two_arms,
)

_AKHADKAR = "Akhadkar, Acary, Brogliato, Multibody System Dynamics 38 (2016) 101-136, "


def crank_rocker_2016(
    clearance2: float = 0.0, clearance3: float = 0.0, friction: float = 0.1, restitution: float = 0.0
) -> Mechanism:
    """The crank-rocker of Akhadkar et al. 2016, Table 1, closed exactly from its crank angle of 1.571 rad.

    Clearances (m) at J2 and J3 have rigid contact with this friction and restitution; the journals of 60 mm radius
    are on the later links and start in the middle of their bearings.
    """
    lengths, inertias = (1.0, 4.0, 2.5, 3.0), (0.0833, 1.33, 0.521)
    ideal = four_bar(lengths, (1.0, 1.0, 1.0), inertias, 1.571, name="crank-rocker", source=_AKHADKAR + "Table 1")
    return _akhadkar(ideal, clearance2, clearance3, Rigid(friction=friction, restitution=restitution))


def crank_crank_2016(
    clearance2: float = 0.0, clearance3: float = 0.0, friction: float = 0.1, restitution: float = 0.0
) -> Mechanism:
    """The crank-crank of Akhadkar et al. 2016, Table 3, closed exactly from its crank angle of 1.658 rad.

    Clearances (m) at J2 and J3 are as in `crank_rocker_2016`.
    """
    lengths, inertias = (1.2, 1.2, 1.2, 1.0), (0.12, 0.12, 0.12)
    ideal = four_bar(lengths, (1.0, 1.0, 1.0), inertias, 1.658, name="crank-crank", source=_AKHADKAR + "Table 3")
    return _akhadkar(ideal, clearance2, clearance3, Rigid(friction=friction, restitution=restitution))


def _akhadkar(ideal: Mechanism, clearance2: float, clearance3: float, contact: Rigid) -> Mechanism:
    for joint, clearance in (("J2", clearance2), ("J3", clearance3)):
        held = contact if clearance else None
        ideal = ideal.loosen(joint, clearance, bearing="first", contact=held, journal_radius=0.06)
    return ideal.replace(journals="centred")


_GRIGORE = "Grigore, Jderu, Enachescu, Matrix of Constraints for the Motion of the Planar Kinematic Chains, "
_DENSITY = 1.5685  # kg/m, of every bar in the reference data


def grigore_figure_5(speed: float = 1.0, clearance: float = 1e-3) -> Mechanism:
    """Coupler and rocker of Grigore et al., Fig. 5, at the equilibrium in contact for the crank at 60 degrees.

    The crank is not a body: O2 runs on its circle at the speed (rad/s).  O3 has the clearance (m); its start
    belongs to 1 mm.  The paper gives no numbers: lengths and density are the project's reference data.
    """
    w, first = speed, math.pi / 3
    return Mechanism(
        name="grigore-figure-5",
        source=_GRIGORE + "Fig. 5 (lengths and density assumed)",
        ground=Ground(points={"O1": (0.0, 0.0), "O4": (0.3, 0.0)}),
        bodies={"coupler": bar(0.35, _DENSITY * 0.35), "rocker": bar(0.25, _DENSITY * 0.25)},
        joints={
            "O3": Revolute(between=("coupler.end", "rocker.start"), clearance=clearance, contact=Following()),
            "O4": Revolute(between=("rocker.end", "ground.O4")),
        },
        drives={
            "O2x": XDrive(of="coupler.start", motion=sine(0.1, w, first + math.pi / 2)),
            "O2y": YDrive(of="coupler.start", motion=sine(0.1, w, first)),
        },
        start={
            **{"coupler.x": 0.20716037, "coupler.y": 0.16358058, "coupler": 0.45545892},
            **{"rocker.x": 0.33235398, "rocker.y": 0.12074030, "rocker": -1.83260899},
        },
        journals="centred",
    )


def grigore_figure_6(clearance: float = 1e-3, angle: float = math.pi / 3) -> Mechanism:
    """The five elements of Grigore et al., Fig. 6, with clearances (m) at O5 and O6; starts closed without them."""
    o4, o7 = complex(0.3), complex(0.62, 0.10)
    o2 = 0.1 * cmath.exp(1j * angle)
    o3 = meet(o2, 0.35, o4, 0.25, 1)
    along = (o3 - o2) / abs(o3 - o2)
    o5 = (o2 + o3) / 2 + 0.12j * along
    o6 = meet(o5, 0.40, o7, 0.35, -1)
    inertia = _DENSITY * (0.35**3 / 12 + 0.12 * (0.12**2 / 12 + 0.06**2))
    coupler = bar(0.35, _DENSITY * (0.35 + 0.12), inertia, points={"O5": (0.175, 0.12)})
    return Mechanism(
        name="grigore-figure-6",
        source=_GRIGORE + "Fig. 6 (lengths and density assumed)",
        ground=Ground(points={"O1": (0.0, 0.0), "O4": (0.3, 0.0), "O7": (0.62, 0.10)}),
        bodies={
            "crank": bar(0.1, _DENSITY * 0.1),
            "coupler": coupler,
            "rocker": bar(0.25, _DENSITY * 0.25),
            "link4": bar(0.40, _DENSITY * 0.40),
            "link5": bar(0.35, _DENSITY * 0.35),
        },
        joints={
            "O1": Revolute(between=("ground.O1", "crank.start")),
            "O2": Revolute(between=("crank.end", "coupler.start")),
            "O3": Revolute(between=("coupler.end", "rocker.start")),
            "O4": Revolute(between=("rocker.end", "ground.O4")),
            "O5": Revolute(between=("coupler.O5", "link4.start"), clearance=clearance, contact=Following()),
            "O6": Revolute(between=("link4.end", "link5.start"), clearance=clearance, contact=Following()),
            "O7": Revolute(between=("link5.end", "ground.O7")),
        },
        start={
            **{"crank": angle, "coupler": angle_between(o2, o3), "rocker": angle_between(o3, o4)},
            **{"link4": angle_between(o5, o6), "link5": angle_between(o6, o7)},
        },
        journals="centred",
    )


WU_2017_START = (math.radians(110), math.radians(60))  # rad: alpha and beta at time 0
WU_2017_SPEEDS = tuple((math.radians(w), math.radians(50)) for w in (30, 40, 50, 60, 70))  # rad/s: Table 3


WU_2017_REMARKS = (
    "AC, the radius of the bar, v_s, v_d and M10 are not given; assumed 150 mm, 8 mm, 0.1 and 1 m/s, 50 N m",
    "I1 and I2 are m L^2/3, about the ends of the links, I4 is about the slider's long axis, I3 is neither m L^2/12 "
    "nor m L^2/3; all are used as printed, about the mass centres",
    "K = 1e5 N/mm with the exponent 1.5 can only be N/mm^1.5, 3.162278e9 N/m^1.5",
    "Cmax is said to be 1 % of K (1000 N s/mm) and printed as 58 N s/mm; 58 is used",
    "c is said to be a difference of diameters and used as one of radii; radial here, half of the play across",
    "equation 2 takes 2 (r + c), a diameter, as a radius",
    "friction by equation 6 jumps from -mu_s to mu_s at rest; regularised by STEP between -v_s and v_s",
    "a step of 0.1 s can only be that of the output",
    "30 and 50 deg/s repeat after 36 s, so the 120 s of the paper are 3.33 periods",
)


def wu_2017_contact() -> Compliant:
    """The contact of Wu, Marghitu, Zhao 2017, Table 2: IMPACT of ADAMS with 1e5 N/mm^1.5 (printed N/mm), 58 N s/mm.

    Its friction is regularised at rest, where equation (6) jumps; v_s and v_d (100 and 1000 mm/s) are assumed.
    """
    rough = {"law": "modified_coulomb", "static_friction": 0.3, "friction": 0.1, "v_s": 0.1, "v_d": 1.0}
    return Compliant.from_adams(1e5, 1.5, 58.0, 0.1, friction=rough)


def wu_2017(
    speeds: tuple[float, float] = WU_2017_SPEEDS[0],
    base: float = 0.15,
    clearance: float = 0.0,
    contact: Rigid | Compliant | None = None,
    angles: tuple[Kinds, Kinds] | None = None,
) -> Mechanism:
    """Two driven links, a bar and a slider on it: Wu, Marghitu, Zhao 2017.

    speeds (rad/s) of links 1 and 2, those of Table 3 in `WU_2017_SPEEDS`, or in their place motions of their angles
    (rad; `papers.wu2017.variable` has those of equation 7); base: AC (m), which the paper does not give.  Inertias as
    printed.  A clearance (m, half of the play across) opens the prismatic pair P: the slider's bore of 60 mm on the
    bar of 8 mm radius (assumed), with the contact, rigid and without friction unless given (`wu_2017_contact` is the
    paper's).
    """
    drives = angles or tuple(constant_speed(w, first) for w, first in zip(speeds, WU_2017_START, strict=True))
    alpha, beta = (float(motion(0.0)) for motion in drives)
    b, d = 0.25 * cmath.exp(1j * alpha), base + 0.32 * cmath.exp(1j * beta)
    turn = angle_between(b, d)
    return Mechanism(
        name="two-driving-links",
        source="Wu, Marghitu, Zhao, Nonlinear Dynamics Response ... (2017), Table 1; AC and bar radius assumed",
        remarks=WU_2017_REMARKS,
        ground=Ground(points={"A": (0.0, 0.0), "C": (base, 0.0)}),
        bodies={
            "link1": bar(0.25, 0.392, 0.00817),
            "link2": bar(0.32, 0.502, 0.01713),
            "link3": bar(0.9, 1.412, 0.07703),
            "slider": Body(mass=0.211, inertia=3e-5, points={"D": (0.0, 0.0)}),
        },
        joints={
            "A": Revolute(between=("ground.A", "link1.start")),
            "B": Revolute(between=("link1.end", "link3.start")),
            "C": Revolute(between=("ground.C", "link2.start")),
            "D": Revolute(between=("link2.end", "slider.D")),
            "P": Prismatic(
                between=("link3.start", "slider.D"),
                axis=(1.0, 0.0),
                clearance=clearance,
                length=0.06,
                radius=0.008,
                bearing="second",
                contact=contact or Rigid(),
            ),
        },
        drives={"alpha": AngleDrive(of="link1", motion=drives[0]), "beta": AngleDrive(of="link2", motion=drives[1])},
        journals="centred",
        start={"link1": alpha, "link2": beta, "link3": turn, "slider": turn, "slider.x": d.real, "slider.y": d.imag},
    )


def coelho_five_bar(balanced: bool = True) -> Mechanism:
    """The 5R of Hess Coelho, Orsino, Coutinho, section 4.4, with payload and (if balanced) counterweights.

    Each outer arm carries 1.5 kg at the tip; each counterweight is a point mass of 1 kg behind its arm's pivot.
    """
    inner, outer = bar(0.1, 0.2, 67e-5), bar(0.2, 0.4, 134e-5).loaded(1.5, (0.2, 0.0))
    if balanced:
        inner, outer = inner.loaded(1.0, (-3.0 * 0.1, 0.0)), outer.loaded(1.0, (-1.7 * 0.2, 0.0))
    source = "Hess Coelho, Orsino, Coutinho, Adaptative balancing techniques ..., section 4.4"
    name = "five-bar " + ("balanced" if balanced else "unbalanced")
    return two_arms((inner, outer, outer, inner), 0.2, (0.0, 0.02), (1, -1), name, source)


class SpacecraftData(NamedTuple):
    """What the tables of Aerospace 2026 would say: an assumed set of data."""

    torques: tuple[float, float]  # N m: amplitudes of joints 1 and 2; joints 3 and 4 are mirrored
    duration: float  # s: of the manoeuvre
    waves: float  # periods of the sine in it; 0: the torques are constant
    base_inertia: float  # kg m^2, of the base of 200 kg
    inner_mass: float = 1.0  # kg, of arms 1 and 3


# All assumed: Tables 1 and 2 of the paper are missing from its text.
SPACECRAFT_2026_DATA = {
    "A": SpacecraftData((0.1, -0.05), 5.0, 1.0, base_inertia=40.0),
    "B": SpacecraftData((0.04571, -0.03453), 5.9215, 0.0, base_inertia=33.33),
    "C": SpacecraftData((0.06360, -0.03483), 13.5499, 1.0, base_inertia=33.33, inner_mass=1.1046),
    "D": SpacecraftData((0.05088, -0.03593), 8.7225, 0.5, base_inertia=33.33),
}
# Loose joints and clearance (m) of the paper's cases, from its prose; 0 has ideal joints.
SPACECRAFT_2026_CASES: dict[int, tuple[tuple[str, ...], float]] = {
    0: ((), 0.0),
    1: (("J2",), 0.5e-3),
    2: (("J1",), 0.5e-3),
    3: (("J2", "J4"), 0.5e-3),
    4: (("J2", "J4"), 0.25e-3),
    5: (("J2", "J4"), 1e-3),
}


def spacecraft_2026_contact(clearance: float, friction: bool = True) -> Compliant:
    """The contact of Aerospace 2026 for a clearance (m), its numbers assumed: journals of 10 mm radius in steel
    (207 GPa, 0.3), Lankarani and Nikravesh with 0.9, the modified friction of Coulomb or none."""
    from ..laws.materials import contact_modulus, hertz_stiffness

    stiffness = hertz_stiffness(contact_modulus(207e9, 0.3), 0.01, clearance)
    rough = {"law": "modified_coulomb", "static_friction": 0.15, "friction": 0.1, "v_s": 1e-3, "v_d": 1e-2}
    normal = {"law": "lankarani_nikravesh", "stiffness": stiffness, "restitution": 0.9}
    return Compliant(normal=normal, friction=rough if friction else None)


def spacecraft_2026(data: str = "A", case: int = 0, clearance: float | None = None, friction: bool = True) -> Mechanism:
    """Two arms of two bars on a floating base, no gravity: the dual manipulator of Aerospace 2026.

    data: A, B, C or D of `SPACECRAFT_2026_DATA`, all assumed because the paper's tables are missing; case: 0 (ideal
    joints) to 5, the loose joints of `SPACECRAFT_2026_CASES`; clearance (m) in place of the case's; friction: whether
    the contacts have it.  The motors turn joints 1 and 2, joints 3 and 4 mirrored.
    """
    for name, given, known in (("data", data, SPACECRAFT_2026_DATA), ("case", case, SPACECRAFT_2026_CASES)):
        if given not in known:
            raise InputError(f"spacecraft_2026: {name} must be one of {', '.join(map(str, known))}, got {given!r}")
    chosen, (loose, play) = SPACECRAFT_2026_DATA[data], SPACECRAFT_2026_CASES[case]
    if clearance is not None and not loose:
        raise InputError(
            f"spacecraft_2026: case {case} has no loose joint for a clearance of {clearance!r}; choose 1 to 5"
        )
    play = play if clearance is None else clearance
    w = 2 * math.pi * chosen.waves / chosen.duration
    r, eighth = math.sqrt(0.5), math.pi / 4

    def motor(between: tuple[str, str], amplitude: float) -> Motor:
        return Motor(between=between, torque=sine(amplitude, w) if w else constant(amplitude))

    first, second = chosen.torques
    ideal = Mechanism(
        name="spacecraft",
        source="Motion Accuracy and Dynamic Responses of Dual-Manipulator ..., Aerospace (2026); data assumed",
        gravity=(0.0, 0.0),
        bodies={
            "base": Body(mass=200.0, inertia=chosen.base_inertia, points={"lower": (0.5, -0.5), "upper": (0.5, 0.5)}),
            **{f"arm{i}": bar(1.0, chosen.inner_mass if i % 2 else 1.0) for i in (1, 2, 3, 4)},
        },
        joints={
            "J1": Revolute(between=("base.lower", "arm1.start")),
            "J2": Revolute(between=("arm1.end", "arm2.start")),
            "J3": Revolute(between=("base.upper", "arm3.start")),
            "J4": Revolute(between=("arm3.end", "arm4.start")),
        },
        forces={
            "motor1": motor(("base", "arm1"), first),
            "motor2": motor(("arm1", "arm2"), second),
            "motor3": motor(("base", "arm3"), -first),
            "motor4": motor(("arm3", "arm4"), -second),
        },
        journals="centred",
        start={
            **{"base.x": 0.0, "base.y": 0.0, "base": 0.0},
            **{"arm1": -eighth, "arm2": eighth, "arm3": eighth, "arm4": -eighth},
            **{"arm1.x": 0.5 + r / 2, "arm1.y": -0.5 - r / 2, "arm3.x": 0.5 + r / 2, "arm3.y": 0.5 + r / 2},
        },
    )
    for joint in loose:
        contact = spacecraft_2026_contact(play, friction)
        ideal = ideal.loosen(joint, play, bearing="first", contact=contact, journal_radius=0.01)
    return ideal


MECHANISMS = {
    f.__name__: f
    for f in (four_bar, slider_crank, five_bar, rr_arm, point_mass, scotch_yoke, pendulum)
    + (crank_rocker_2016, crank_crank_2016, grigore_figure_5, grigore_figure_6, wu_2017, coelho_five_bar)
    + (spacecraft_2026,)
}
