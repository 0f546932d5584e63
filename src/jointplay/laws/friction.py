"""Friction of a contact: f(slip, normal, *, parameters) in N.

slip: speed of the second body's surface over the first's along the tangent (m/s); normal: the normal force (N, >= 0).
The result is the force on the second body along the same tangent: it opposes the slip.  All laws scale with the normal
force, so they vanish where the contact opens.  The memoryless ones are Coulomb's law made steep instead of
discontinuous at rest: they creep under load and know no stiction.  Those with a `bristle` (m) hold.
"""

from __future__ import annotations

from ..engine.values import where
from ..numerics.choice import sign
from ..numerics.functions import exp
from .normal import smooth_step
from .roles import LAWS, friction

FRICTION = LAWS["friction"]
_SPEED = "m/s"


@friction(
    units={"v_s": _SPEED, "v_d": _SPEED},
    above={"v_s": 0.0},
    less={"v_s": "v_d"},
    at_most={"friction": "static_friction"},
)
def modified_coulomb(slip, normal, *, static_friction=0.15, friction=0.1, v_s=1e-3, v_d=1e-2):
    """Cubic steps from -static_friction to static_friction at the slips -v_s and v_s, and on to friction at v_d.

    static_friction >= friction, both plain numbers; v_s < v_d (m/s): where the largest and the sliding friction are
    reached.  It is the friction of ADAMS contacts, and that of Bai et al. (2026).
    """
    speed = abs(slip)
    rising = smooth_step(slip, -v_s, -static_friction, v_s, static_friction)
    falling = smooth_step(speed, v_s, static_friction, v_d, friction) * sign(slip)
    return -normal * where(speed < v_s, rising, falling)


@friction(units={"v_r": _SPEED}, above={"v_r": 0.0})
def threlfall(slip, normal, *, friction=0.1, v_r=1e-3):
    """friction (1 - exp(-3 |slip|/v_r)) below v_r, else friction: it jumps by 5 % at v_r.

    friction: plain number; v_r (m/s): where sliding begins.
    R. C. Threlfall, Mech. Mach. Theory 13 (1978) 475-483.
    """
    speed = abs(slip)
    return -normal * sign(slip) * (friction * where(speed < v_r, 1 - exp(-3 * (speed / v_r)), 1.0))


@friction(units={"v0": _SPEED, "v1": _SPEED}, less={"v0": "v1"})
def ambrosio(slip, normal, *, friction=0.1, v0=1e-4, v1=1e-3):
    """None up to the slip v0, then growing in proportion to friction at v1.

    friction: plain number; v0 < v1 (m/s).
    J. A. C. Ambrosio, in: Virtual Nonlinear Multibody Systems, Kluwer, 2003, 57-81.
    """
    part = (abs(slip) - v0) / (v1 - v0)
    return -normal * sign(slip) * (friction * where(part < 0, 0.0, where(part > 1, 1.0, part)))


@friction(units={"v0": _SPEED, "xi": "s/m"}, above={"v0": 0.0}, at_most={"friction": "static_friction"})
def bengisu_akay(slip, normal, *, static_friction=0.15, friction=0.1, v0=1e-3, xi=500.0):
    """A parabola up to static_friction at the slip v0, then an exponential fall to friction.

    static_friction >= friction, both plain numbers; v0 (m/s); xi (s/m): how fast it falls beyond v0.
    The authors give forces; here they are coefficients times the normal force.
    M. T. Bengisu, A. Akay, J. Sound Vib. 171 (1994) 557-570.
    """
    speed = abs(slip)
    lack = where(speed < v0, (speed - v0) / v0, 0.0)
    beyond = where(speed > v0, speed - v0, 0.0)
    fallen = friction + (static_friction - friction) * exp(-xi * beyond)
    return -normal * sign(slip) * where(speed < v0, static_friction * (1 - lack * lack), fallen)


@friction(rates={"bristle": 0.0}, units={"stiffness": "1/m"}, above={"friction": 0.0})
def dahl(slip, normal, *, friction=0.1, stiffness=1e4, bristle):
    """F' = sigma slip (1 - F sign(slip)/F_c) with F_c = friction * normal and sigma = stiffness * normal.

    friction > 0: plain number; stiffness (1/m): of the bristles, per unit of the normal force.  State: bristle (m),
    never longer than friction/stiffness.  P. R. Dahl, A solid friction model, Aerospace Corp. TOR-158 (1968).
    """
    rate = slip - abs(slip) * (stiffness * bristle / friction)
    return -normal * (stiffness * bristle), {"bristle": rate}, {}


@friction(
    rates={"bristle": 0.0},
    units={"stiffness": "1/m", "damping": "s/m", "viscous": "s/m", "v_s": _SPEED},
    above={"friction": 0.0, "v_s": 0.0},
    at_most={"friction": "static_friction"},
)
def lugre(
    slip,
    normal,
    *,
    static_friction=0.15,
    friction=0.1,
    stiffness=1e4,
    damping=31.6227766,
    viscous=0.0,
    v_s=1e-3,
    bristle,
):
    """Bristles with stiffness and damping that slide at g(v) = friction + (static_friction - friction) e^-(v/v_s)^2.

    static_friction >= friction > 0: plain numbers; stiffness (1/m), damping (s/m) and viscous (s/m) per unit of the
    normal force; v_s (m/s): Stribeck's speed.  State: bristle (m), z' = v - stiffness |v| z/g(v), never longer than
    static_friction/stiffness.  Its rate, stiffness |v|/g, is stiff for explicit steps at high slip.
    C. Canudas de Wit, H. Olsson, K. J. Astrom, P. Lischinsky, IEEE Trans. Autom. Control 40 (1995) 419-425; scaled by
    the normal force as in C. Canudas de Wit, P. Tsiotras, Proc. 38th IEEE CDC (1999) 3746-3751.
    """
    ratio = slip / v_s
    level = friction + (static_friction - friction) * exp(-(ratio * ratio))
    rate = slip - abs(slip) * (stiffness * bristle / level)
    return -normal * (stiffness * bristle + damping * rate + viscous * slip), {"bristle": rate}, {}
