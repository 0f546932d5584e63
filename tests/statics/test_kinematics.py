"""Driven mechanisms against closed forms of position, velocity, acceleration, drive torque and reactions."""

import json
import math

import mpmath
import numpy as np
import pytest

import jointplay as jp
from jointplay.errors import InputError
from jointplay.model import library, loads
from jointplay.model.motions import constant_speed, polynomial
from jointplay.statics import cycle, inverse_dynamics, kinematics
from jointplay.system import System
from tests.helpers import PARALLEL

CRANK, ROD, OFFSET = 0.1, 0.3, 0.02
COEFFICIENTS = (0.5, 4.0, 1.5, -0.7)  # of a crank angle that speeds up and slows down


def driven(mechanism, motion, of="crank", kind="angle"):
    return mechanism.replace(drives={"motor": {"kind": kind, "of": of, "motion": motion}})


def crank_angle(t):
    poly = np.polynomial.Polynomial(COEFFICIENTS)
    return poly(t), poly.deriv()(t), poly.deriv(2)(t)


def slider_crank_form(t):
    """Angle, rate and acceleration of the rod, and of the slider along x: the textbook formulas."""
    th, w, al = crank_angle(t)
    phi = np.arcsin((OFFSET - CRANK * np.sin(th)) / ROD)
    dphi = -CRANK * w * np.cos(th) / (ROD * np.cos(phi))
    ddphi = (CRANK * w**2 * np.sin(th) - CRANK * al * np.cos(th) + ROD * dphi**2 * np.sin(phi)) / (ROD * np.cos(phi))
    x = CRANK * np.cos(th) + ROD * np.cos(phi)
    dx = -CRANK * w * np.sin(th) - ROD * dphi * np.sin(phi)
    ddx = -CRANK * (al * np.sin(th) + w**2 * np.cos(th)) - ROD * (ddphi * np.sin(phi) + dphi**2 * np.cos(phi))
    return (phi, dphi, ddphi), (x, dx, ddx)


@pytest.fixture(scope="module")
def slider_crank():
    mechanism = library.slider_crank(CRANK, ROD, offset=OFFSET, angle=COEFFICIENTS[0])
    return driven(mechanism, polynomial(*COEFFICIENTS))


TIMES = np.linspace(0.0, 2.0, 121)


@pytest.fixture(scope="module")
def forces(slider_crank):
    return inverse_dynamics(System(slider_crank), TIMES)


def test_slider_crank_follows_the_textbook(forces):
    rod, slider = slider_crank_form(TIMES)
    for end, phi, x in zip(("", "_rate", "_acceleration"), rod, slider, strict=True):
        assert forces[f"angle{end}"].sel(body="rod").values == pytest.approx(phi, abs=1e-10)
        assert forces[f"x{end}"].sel(body="slider").values == pytest.approx(x, abs=1e-10)
    assert np.ptp(crank_angle(TIMES)[0]) > 2 * math.pi  # a whole turn and more


def centres(t):
    """Mass, inertia and the second derivatives of the centres of crank, rod and slider, by hand."""
    th, w, al = crank_angle(t)
    (phi, dphi, ddphi), (_, dx, ddx) = slider_crank_form(t)

    def swing(r, angle, rate, acceleration):
        turn = np.exp(1j * angle)
        return r * 1j * rate * turn, r * (1j * acceleration - rate**2) * turn

    pin, half = swing(CRANK, th, w, al), swing(ROD / 2, phi, dphi, ddphi)
    yield 1.0, 1.0 * CRANK**2 / 12, *swing(CRANK / 2, th, w, al), w, al
    yield 2.0, 2.0 * ROD**2 / 12, pin[0] + half[0], pin[1] + half[1], dphi, ddphi
    yield 1.0, 1e-3, dx + 0j, ddx + 0j, 0 * w, 0 * w


def test_drive_torque_balances_the_power(forces):
    power = 0.0
    for m, inertia, v, a, rate, acceleration in centres(TIMES):
        power = power + m * (v.conjugate() * (a + 9.81j)).real + inertia * rate * acceleration
    torque = forces["effort"].sel(drive="motor").values
    assert torque == pytest.approx(power / crank_angle(TIMES)[1], abs=1e-10)
    assert np.ptp(torque) > 1.0


def test_reactions_are_those_of_newton_and_euler(forces):
    bodies = list(centres(TIMES))
    crank, rod, slider = (m * (a + 9.81j) for m, _, _, a, _, _ in bodies)
    found = {
        joint: (forces["force_x"] + 1j * forces["force_y"]).sel(joint=joint).values for joint in forces.joint.values
    }
    assert found["J1"].real == pytest.approx((crank + rod + slider).real, abs=1e-10)  # the guide has no force along x
    assert (found["J1"] + found["J4"]).imag == pytest.approx((crank + rod + slider).imag, abs=1e-10)
    assert found["J3"].real == pytest.approx(slider.real, abs=1e-10)
    # moments on the rod about its start give the force across it at its end
    phi = slider_crank_form(TIMES)[0][0]
    half, (_, inertia, _, _, _, acceleration) = ROD / 2 * np.exp(1j * phi), bodies[1]
    moment = inertia * acceleration + (half.conjugate() * rod).imag
    assert (2 * half.conjugate() * -found["J3"]).imag == pytest.approx(moment, abs=1e-10)


def four_bar_form(lengths, th2, w2, side):
    """Coupler and rocker angles with their derivatives at constant crank speed (Freudenstein; Norton's formulas)."""
    a, b, c, d = lengths
    x, y = d - a * np.cos(th2), -a * np.sin(th2)  # from the pin to the rocker's pivot
    reach = np.hypot(x, y)
    th3 = np.arctan2(y, x) + side * np.arccos((b**2 + reach**2 - c**2) / (2 * b * reach))
    th4 = np.arctan2(a * np.sin(th2) + b * np.sin(th3), a * np.cos(th2) + b * np.cos(th3) - d)
    w3 = a * w2 * np.sin(th4 - th2) / (b * np.sin(th3 - th4))
    w4 = a * w2 * np.sin(th2 - th3) / (c * np.sin(th4 - th3))
    A, B, D, E = c * np.sin(th4), b * np.sin(th3), c * np.cos(th4), b * np.cos(th3)
    C = a * w2**2 * np.cos(th2) + b * w3**2 * np.cos(th3) - c * w4**2 * np.cos(th4)
    F = -a * w2**2 * np.sin(th2) - b * w3**2 * np.sin(th3) + c * w4**2 * np.sin(th4)
    return (th3, w3, (C * D - A * F) / (A * E - B * D)), (th4, w4, (C * E - B * F) / (A * E - B * D))


@pytest.mark.parametrize("side", [1, -1])
def test_four_bar_follows_the_textbook(side):
    lengths, w, angle = (0.1, 0.35, 0.25, 0.3), 7.0, 1.1
    mechanism = driven(library.four_bar(lengths, crank=angle, side=side), constant_speed(w, angle))
    times = np.linspace(0, 2 * math.pi / w, 73)
    found = kinematics(System(mechanism), times)
    for body, form in zip(("coupler", "rocker"), four_bar_form(lengths, angle + w * times, w, side), strict=True):
        turned = found["angle"].sel(body=body).values
        assert np.exp(1j * turned) == pytest.approx(np.exp(1j * form[0]), abs=1e-10)
        assert np.abs(np.diff(turned)).max() < 0.3  # angles are not wrapped
        assert found["angle_rate"].sel(body=body).values == pytest.approx(form[1], abs=1e-10)
        assert found["angle_acceleration"].sel(body=body).values == pytest.approx(form[2], abs=1e-10)
    assert "multiplier" not in found


def test_the_branch_is_kept_where_two_branches_nearly_touch():
    """Almost a parallelogram: near the stretched position a coarse step would slip to the other branch."""
    lengths, angle = (1.2, 1.2, 1.2, 1.1999), math.pi / 2
    mechanism = driven(library.four_bar(lengths, crank=angle), constant_speed(1.0, angle))
    times = np.linspace(0, 4 * math.pi, 60)
    found = kinematics(System(mechanism), times)
    right = four_bar_form(lengths, angle + times, 1.0, 1)[0][0]
    assert np.exp(1j * found["angle"].sel(body="coupler").values) == pytest.approx(np.exp(1j * right), abs=1e-8)


@pytest.mark.parametrize("crossed", [False, True])
@pytest.mark.parametrize("count", [3, 21, 50, 201, 360, 1001])
def test_the_branch_through_change_points_does_not_depend_on_the_times(count, crossed):
    """A parallelogram stays one, and an antiparallelogram one: with 21, 50, 201 or 1001 times one became the other
    right beside a change point, where both are at the same place and only velocities tell them apart."""
    bars = library.four_bar((0.2, 0.4, 0.2, 0.4), crank=0.5, side=-1 if crossed else 1)
    found = kinematics(System(driven(bars, constant_speed(10.0, 0.5))), np.linspace(0, 2, count))
    coupler = found["angle"].sel(body="coupler").values
    crank = 0.5 + 10.0 * found.time.values
    wanted = 2 * np.arctan2(-0.2 * np.sin(crank), 0.4 - 0.2 * np.cos(crank)) if crossed else np.zeros(count)
    assert coupler == pytest.approx(wanted, abs=1e-7)
    assert len(json.loads(found.attrs["change_points"])) == 6


def test_a_parallelogram_goes_straight_through_its_change_points():
    mechanism = driven(library.four_bar((1.0, 2.0, 1.0, 2.0), crank=0.5), constant_speed(1.0, 0.5))
    found = kinematics(System(mechanism), np.linspace(0, 2 * math.pi, 50))
    assert found["angle"].sel(body="coupler").values == pytest.approx(0.0, abs=1e-9)
    passed = json.loads(found.attrs["change_points"])
    assert passed == pytest.approx([math.pi - 0.5, 2 * math.pi - 0.5], abs=1e-5)
    with pytest.raises(ValueError, match=r"singular position at t = 2.64159 s \(joints J.*choose other times"):
        kinematics(System(mechanism), [math.pi - 0.5])


@pytest.mark.parametrize("crossed", [False, True])
@pytest.mark.parametrize("beside", [1e-2, 1e-3, 3e-4, 1e-4])  # rad
def test_efforts_beside_a_change_point_keep_their_digits(beside, crossed):
    """Of a crossed or parallel four-bar in the position where all bars lie flat, by the power of its weights and of its
    kinetic energy: efforts were off by 4 % at 3e-4 rad, and refused nearer."""
    r, d, speed = 0.2, 0.4, 10.0
    bars = library.four_bar((r, d, r, d), (1.0, 1.0, 1.0), (0.1, 0.2, 0.1), crank=0.5, side=-1 if crossed else 1)
    turn = math.pi - beside
    found = inverse_dynamics(System(driven(bars, constant_speed(speed, 0.5))), [0.0, (turn - 0.5) / speed])

    def at(angle):  # crank, coupler, rocker, and the height of their centres
        coupler = 2 * mpmath.atan2(-r * mpmath.sin(angle), d - r * mpmath.cos(angle)) if crossed else mpmath.mpf(0)
        end = r * mpmath.expj(angle) + d * mpmath.expj(coupler)
        heights = r / 2 * mpmath.sin(angle), r * mpmath.sin(angle) + d / 2 * mpmath.sin(coupler), end.imag / 2
        return coupler, mpmath.arg((end - d) * mpmath.expj(-math.pi)), end, heights

    def energy(angle):  # kinetic: the crank turns at `speed`; its rate needs the derivatives by the crank's angle
        middle = lambda x: r * mpmath.expj(x) + d / 2 * mpmath.expj(at(x)[0])  # noqa: E731
        rates = [mpmath.diff(lambda x, k=k: at(x)[k], angle) for k in (0, 1)]
        moved = abs(mpmath.diff(lambda x: mpmath.re(middle(x)), angle)) ** 2
        moved += abs(mpmath.diff(lambda x: mpmath.im(middle(x)), angle)) ** 2
        turned = 0.2 * rates[0] ** 2 + (0.1 + (r / 2) ** 2) * rates[1] ** 2
        return 0.5 * speed**2 * (moved + turned)

    with mpmath.workdps(40):
        power = mpmath.diff(energy, turn) + 9.81 * mpmath.diff(lambda x: sum(at(x)[3]), turn)
    effort = found["effort"].sel(drive="motor").values[1]
    assert effort == pytest.approx(float(power), rel=1e-6)


def test_a_prescribed_rate_is_integrated_from_the_start():
    base = library.slider_crank(angle=0.3)
    rate = {"kind": "sine", "amplitude": 3.0, "frequency": 2.0, "offset": 8.0}
    times = np.linspace(0.1, 1.5, 15)  # the first is not the start
    found = kinematics(System(driven(base, rate, kind="rate")), times)
    angle = 0.3 + 8.0 * times + 1.5 * (1 - np.cos(2.0 * times))
    assert found["angle"].sel(body="crank").values == pytest.approx(angle, abs=1e-11)
    assert found["angle_rate"].sel(body="crank").values == pytest.approx(8 + 3 * np.sin(2 * times), abs=1e-11)
    assert found["angle_acceleration"].sel(body="crank").values == pytest.approx(6 * np.cos(2 * times), abs=1e-10)


def test_drives_of_points_give_forces_along_them():
    """A bar carried by its ends: two drives and the angle; at rest they share the weight."""
    lift = {"kind": "y", "of": "bar1.end", "motion": -0.5}
    mechanism = library.pendulum(1, angles=[-math.pi / 6]).replace(drives={"lift": lift})
    found = inverse_dynamics(System(mechanism), [0.0, 1.0])
    assert found["effort"].sel(drive="lift").values == pytest.approx(9.81 / 2, rel=1e-12)
    assert found["force_y"].sel(joint="J1").values == pytest.approx(9.81 / 2, rel=1e-12)


DRIVEN = "drives: {motor: {kind: angle, of: a, motion: {kind: constant_speed, start: 0.4, speed: 2}}}\n"
REDUNDANT = PARALLEL.replace("60 deg", "0.4").replace("2.0, mass: 1", "2.0, mass: 3") + DRIVEN


def test_redundant_rows_leave_the_drive_torque_unique():
    times = np.linspace(0, 1, 11)
    found = inverse_dynamics(System(loads(REDUNDANT)), times)
    angle = 0.4 + 2 * times
    for body in "bc":
        assert found["angle"].sel(body=body).values == pytest.approx(angle, abs=1e-11)
    # the beam moves on a circle of 0.5 m, the cranks turn evenly: only weights need a torque
    assert found["effort"].sel(drive="motor").values == pytest.approx(
        (3 * 0.25 + 3 * 0.5) * 9.81 * np.cos(angle), abs=1e-9
    )
    assert len(json.loads(found.attrs["redundant"])) == 1
    assert found["force_y"].sel(joint=["A", "B", "C"]).sum("joint").values == pytest.approx(
        6 * 9.81 - 3 * 4 * 0.25 * np.sin(angle) - 3 * 4 * 0.5 * np.sin(angle), abs=1e-9
    )


def test_what_is_not_driven_is_named():
    with pytest.raises(
        ValueError, match=r"'five-bar': 2 degrees of freedom are not driven; add drives, e.g. of the angle of"
    ):
        kinematics(System(library.five_bar()), [0.0])
    with pytest.raises(ValueError, match=r"1 degree of freedom is not driven; add drives, e.g. of the angle of crank$"):
        inverse_dynamics(System(library.four_bar()), [0.0])


def test_a_limit_position_is_an_error_with_time_and_joints():
    mechanism = library.four_bar((0.3, 0.25, 0.2, 0.4), crank=0.5)  # no crank: it cannot turn all around
    system = System(driven(mechanism, constant_speed(1.0, 0.5)))
    limit = math.acos((0.3**2 + 0.4**2 - 0.45**2) / (2 * 0.3 * 0.4)) - 0.5
    with pytest.raises(ValueError, match=rf"cannot be assembled beyond t = {limit:.6g} s: at .* J\d.*stay open"):
        kinematics(system, np.linspace(0, 3, 31))


def test_drives_that_contradict_are_named():
    drives = {
        name: {"kind": "rate", "of": body, "motion": 1.0} for name, body in (("first", "crank"), ("second", "rod"))
    }
    with pytest.raises(ValueError, match="drives first, second contradict each other at t = 0 s; drop one"):
        kinematics(System(library.slider_crank().replace(drives=drives)), [0.0, 1.0])


@pytest.mark.parametrize("times", [[], [0.0, 0.0], [1.0, 0.5], [math.nan], [[0.0, 1.0]]])
def test_times_must_increase(slider_crank, times):
    with pytest.raises(ValueError, match="times must be finite and increase, got"):
        kinematics(System(slider_crank), times)


def test_a_hundred_turns_between_two_times():
    """Halvings of the step count only one after the other, not over the whole way."""
    yoke = System(library.scotch_yoke(crank=0.1, speed=2 * math.pi))
    found = kinematics(yoke, [100.1])
    assert found["angle"].sel(body="crank").item() == pytest.approx(2 * math.pi * 100.1, rel=1e-14)
    assert found["x"].sel(body="yoke").item() == pytest.approx(0.1 * math.cos(2 * math.pi * 0.1), abs=1e-12)


def test_a_time_too_far_away_is_refused_with_the_reason():
    yoke = System(library.scotch_yoke(crank=0.1, speed=2 * math.pi))
    with pytest.raises(ValueError, match=r"followed from 0 s to 1e\+07 s: at most 50000 steps of 0.5 rad"):
        kinematics(yoke, [1e7])
    with pytest.raises(ValueError, match=r"at most 20 steps of 0.5 rad or of its size reach \S+ s; choose nearer"):
        cycle.DrivenPath(yoke, most=20).go(5.0)


@pytest.mark.parametrize("ask", [jp.kinematics, jp.inverse_dynamics, lambda m, t: jp.equilibria(m, t=t)])
def test_times_are_numbers(ask):
    with pytest.raises(InputError, match=r"must be numbers of seconds, such as 0\.1, got '0\.1 s'"):
        ask(jp.library.slider_crank(speed=30.0), "0.1 s")


@pytest.mark.parametrize("turn", [1.0, math.pi, 30.0])
@pytest.mark.parametrize("interpolation", ["cubic", "pchip", "linear"])
def test_a_table_that_ends_with_a_speed_is_followed_beyond_and_told(turn, interpolation):
    """The speed of its drive jumps there; from 2 pi rad/s on it was called a singular position."""
    motion = jp.table([0, 0.5, 1], [0, turn, 2 * turn], ends="held", interpolation=interpolation)
    arm = driven(library.pendulum(), motion, of="bar1")
    found = kinematics(arm, [0.0, 0.7, 1.0, 1.5])
    assert found.angle.values[:, 0] == pytest.approx([0, 1.4 * turn, 2 * turn, 2 * turn])
    assert found.angle_rate.values[[1, 3], 0] == pytest.approx([2 * turn, 0], abs=1e-9)
    (told,) = [text for text in jp.check(arm).warnings if "jumps" in text]
    assert "linear table jumps at its points" in told or "held table jumps at its end, t = 1 s" in told
    level = jp.table([0, 0.5, 1], [0, turn, 0], ends="clamped")
    assert not [text for text in jp.check(driven(library.pendulum(), level, of="bar1")).warnings if "jumps" in text]
