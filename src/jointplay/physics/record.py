"""What is kept of a run, by every stepper: samples, peaks, energies, contacts, impacts, control.

The names of columns and accumulators, their units and what they are stand here once, for the text that writes them and
for `simulation.reading`, which makes a result of them.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from ..elements.pose import Pose, Spot
from ..engine.program import Names
from ..engine.text import Cells, branch, emit, memory, seldom
from ..engine.typing import Scalar
from ..engine.values import sqrt, where
from ..model.clearances import Compliant, Rigid
from ..numerics.choice import maximum
from ..numerics.functions import atan2
from ..numerics.linalg import is_zero
from ..numerics.signals import crests, peak, peaks, total
from .contact_solver import OPEN, STICKING, either
from .contacts import contacts
from .motion import LOSSES, Motion
from .step import Acting, State, Touch


class Signal(NamedTuple):
    """A variable of a result: what follows the label in the names of its columns, its unit, and what it is."""

    end: str
    unit: str
    text: str


BODIES = {
    "x": Signal(".x", "m", "mass centre, x"),
    "y": Signal(".y", "m", "mass centre, y"),
    "angle": Signal(".angle", "rad", "angle, not wrapped"),
    "x_rate": Signal(".x.rate", "m/s", "velocity of the mass centre, x"),
    "y_rate": Signal(".y.rate", "m/s", "velocity of the mass centre, y"),
    "angle_rate": Signal(".angle.rate", "rad/s", "angular velocity"),
    "x_acceleration": Signal(".x.acceleration", "m/s^2", "acceleration of the mass centre, x"),
    "y_acceleration": Signal(".y.acceleration", "m/s^2", "acceleration of the mass centre, y"),
    "angle_acceleration": Signal(".angle.acceleration", "rad/s^2", "angular acceleration"),
}
JOINTS = {
    "force_x": Signal(".force.x", "N", "force on the joint's second body, x"),
    "force_y": Signal(".force.y", "N", "force on the joint's second body, y"),
    "moment": Signal(".moment", "N*m", "moment on the joint's second body about its second point"),
}
MULTIPLIER = Signal(".multiplier", "N or N*m", "multiplier of the constraint row")
EFFORT = Signal(".multiplier", "N or N*m", "force or torque of the drive along its motion")
CONTACTS = {
    "gap": Signal(".gap", "m", "gap of the contact"),
    "slip": Signal(".slip", "m/s", "sliding velocity of the contact"),
    "normal_force": Signal(".normal", "N", "normal force of the contact"),
    "friction_force": Signal(".tangential", "N", "tangential force of the contact"),
}
MODE = Signal(".mode", "", "mode of the contact")
MEANINGS = ("free", "impact", "sliding", "sticking")
JOURNALS = {
    f"place_{axis}": Signal(f".place.{axis}", "m", f"journal centre in its bearing, {axis} of the bearing's body")
    for axis in "xy"
}
ENERGIES = {
    "kinetic": Signal("kinetic", "J", "kinetic energy"),
    "potential": Signal("potential", "J", "potential energy of gravity and springs"),
    "work": Signal("work", "J", "work of applied forces, motors, dampers and drives since the start"),
    "impact_loss": Signal("impact.loss", "J", "energy lost in impacts, along their normals"),
    "friction_loss": Signal("friction.loss", "J", "energy lost by friction"),
    "contact_normal_work": Signal("contact.normal.work", "J", "work of the contacts' normal forces on the bodies"),
    "contact_friction_work": Signal("contact.friction.work", "J", "work of the contacts' friction on the bodies"),
}

IMPACTS = {"time": "s", "angle": "rad", "approach": "m/s", "normal": "N*s", "tangential": "N*s", "lost": "J"}
TOUCHES = {"time": "s", "duration": "s", "approach": "m/s", "rebound": "m/s", "force": "N", "depth": "m"}
TURNED = {"m": "rad", "m/s": "rad/s", "N": "N*m", "N*s": "N*m*s"}  # units of contacts whose gaps are angles
CORNERS = ("one corner", "two opposite corners", "two corners on one side")
MOMENTA = ("x", "y", "angle")  # linear, and angular about the origin


def unit_in(unit: str, gaps: Collection[str]) -> str:
    """A unit of contacts by those of their gaps (m, rad): where a gap is an angle, a push is a torque."""
    turned = TURNED.get(unit, unit)
    return unit if "rad" not in gaps or turned == unit else f"{unit} or {turned}" if "m" in gaps else turned


STILL = 1e-9  # m/s: a slip that is none; a step in which a contact passes through it is a share of time of no account
NEAR, BENT = 0.8, 0.5  # positions in which rows depend on each other: how near both sides are, how much they may bend


class Bookkeeping:
    """Writes down what steps arrive at."""

    def __init__(self, motion: Motion, p: Names, impulsive: bool) -> None:
        self.motion, self.equations, self.p, self.impulsive = motion, motion.equations, p, impulsive
        self.mechanism = self.equations.mechanism
        self.kind = Rigid if impulsive else Compliant

    def contacts(self, pose: Pose) -> list[Spot]:
        """The contacts that this run computes."""
        return contacts(pose, self.kind) if self.motion.labels else []

    def step(self, now: State, end: State, acting: Acting, h: Scalar, pose: Pose | None = None) -> None:
        """Keep what a step of length h shows: peaks, energies, statistics of contacts and control."""
        self.energies(end, pose)
        self.passes(acting.firm, end.t)
        self.forces(acting, end.t)
        loop, even, held = self.motion.loop, self.impulsive and self.motion.fixed, self.impulsive or self.motion.digital
        if loop and acting.command:
            at = now if even else end
            if even and self.motion.remembers:  # of second order: what changes in a step counts with both its ends
                loop.begin(acting.command, now.q, now.t, held)
                loop.statistics(acting.command, end.q, end.t, h, mean=True, held=held)
            else:
                loop.statistics(acting.command, at.q, at.t, h, mean=not even, held=held)
            peaks(loop.sizes(acting.command, at.q, at.t), at.t)
            loop.stray(at.q, acting.command, at.t)

    def look(self, at: State, acting: Acting) -> dict[str, Scalar]:
        """What has a peak, and what has a mean, of forces at a state inside a long step."""
        loop, squares, sizes = self.motion.loop, *self.joint_forces(acting)
        found = squares | sizes | self.smooth_forces(acting)
        if loop and acting.command:
            loop.stray(at.q, acting.command, at.t)
            found |= loop.sizes(acting.command, at.q, at.t)
        return found

    def looks(self, found: Sequence[Mapping[str, Scalar]], begin: Scalar, span: Scalar) -> None:
        """Keep peaks and means of what was looked at four times in a step, equally far apart."""
        sizes = {name: [one[name] for one in found] for name in found[0]}
        if loop := self.motion.loop:
            loop.means(sizes, begin, span)
        crests(sizes, begin, span, loop.caps() if loop else None)

    def passes(self, firm: Scalar, t: Scalar) -> None:
        """Count positions in which rows depend on each other: `firm`, seen at times t one after the other, falls to 0
        there and rises again, as it would if it went on straight from the last two to the one before them."""
        if is_zero(firm - 1.0):
            return
        names = {"firm": ["singular.before", "singular.last"], "time": ["singular.before.time", "singular.last.time"]}
        kept = memory(names, {"firm": [1.0, 1.0], "time": [-2.0, -1.0]})
        (first, second), (early, late) = kept.value["firm"], kept.value["time"]
        kept.value = {"firm": [second, firm], "time": [late, t]}
        rise = (firm - second) * (late - early) / maximum(t - late, 1e-300)
        straight = abs(first + second - rise) < BENT * (first + second)
        at = memory("singular.time", -1.0)
        passed = (firm > second) & (first + second < NEAR) & straight & (at.value < early)
        at.value = where(passed, late, at.value)
        total("singular.passes", where(passed, 1.0, 0.0))

    def energies(self, end: State, pose: Pose | None) -> None:
        """The energy balance, and the momenta of what nothing outside acts on."""
        kinetic, potential = self.equations.energies(end.q, end.v, end.t, pose)
        balance = kinetic + potential - self.p["stepper.energy"]
        for name, energy in zip(self.motion.works, end.w, strict=True):
            balance = balance + energy if name in LOSSES else balance - energy
        peak("kinetic", kinetic)
        peak("potential.fallen", -potential)
        before = memory("work.before", 0.0)
        total("work.turned", abs(end.w[0] - before.value))
        before.value = end.w[0]
        peak("imbalance", abs(balance), end.t)
        if self.mechanism.isolated():
            first = [self.p[f"stepper.momentum.{part}"] for part in MOMENTA]
            off = [abs(x - x0) for x, x0 in zip(self.equations.momenta(end.q, end.v), first, strict=True)]
            peak("momentum", maximum(off[0], off[1]))
            peak("momentum.angle", off[2])

    def joint_forces(self, acting: Acting) -> tuple[dict[str, Scalar], dict[str, Scalar]]:
        """What has a peak of joints, drives and contacts: squares of forces and normal forces, and sizes; or of
        impulses."""
        motion = self.motion
        squares = {
            f"{joint}.force": r.x * r.x + r.y * r.y for joint, r in zip(motion.joints, acting.reactions, strict=True)
        }
        sizes: dict[str, Scalar] = {}
        for joint, r in zip(motion.joints, acting.reactions, strict=True):
            if not self.impulsive:
                sizes |= {f"{joint}.force.x": abs(r.x), f"{joint}.force.y": abs(r.y)}
            if not is_zero(r.moment):
                sizes[f"{joint}.moment"] = abs(r.moment)
        for row, x in zip(motion.rows, acting.multipliers, strict=True):
            if (drive := self.mechanism.owner(row)) in self.mechanism.drives:
                sizes[f"{drive}.effort"] = abs(x)
        normals = {f"{label}.normal": touch.normal for label, touch in zip(motion.labels, acting.touches, strict=True)}
        return squares, sizes | normals

    def forces(self, acting: Acting, t: Scalar) -> None:
        """The largest forces and accelerations; in a step with an impact impulses are no forces, and kept apart."""
        scale = 1 if acting.over is None else 1 / acting.over
        squares, sizes = self.joint_forces(acting)

        def lasting() -> None:
            if self.impulsive and acting.touches and not self.motion.remembers:
                self.calm.value = self.acts(acting)
            found = {name: x * (scale * scale) for name, x in squares.items()}
            found |= {name: x * scale for name, x in sizes.items()}
            peaks(found | ({} if self.impulsive else self.smooth_forces(acting)), t)

        def impact() -> None:
            of_contacts = {name: sizes[name] for name in (f"{label}.normal" for label in self.motion.labels)}
            peaks({f"{name}.impulse": x for name, x in (squares | of_contacts).items()}, t)

        if self.impulsive and acting.touches:
            branch(self.jumps(acting), impact, lasting)
        else:
            lasting()

    def acts(self, acting: Acting) -> dict[str, Scalar]:
        """Columns of a sample: accelerations, and forces of joints, rows and contacts; impulses count over the step."""
        motion, scale = self.motion, 1 if acting.over is None else 1 / acting.over
        both = zip(motion.names, acting.accelerations, strict=True)
        columns: dict[str, Scalar] = {f"{name}.acceleration": a for name, a in both}
        for joint, reaction in zip(motion.joints, acting.reactions, strict=True):
            columns |= {joint + signal.end: x * scale for signal, x in zip(JOINTS.values(), reaction, strict=True)}
        columns |= {row + MULTIPLIER.end: x * scale for row, x in zip(motion.rows, acting.multipliers, strict=True)}
        for label, touch in zip(motion.labels, acting.touches, strict=True):
            pushes = {"normal_force": touch.normal, "friction_force": touch.tangential}
            columns |= {label + CONTACTS[name].end: x * scale for name, x in pushes.items()}
        return columns

    @property
    def calm(self) -> Cells:
        """What acted in the last step without an impact: a force is what acts between impacts."""
        motion = self.motion
        names = [f"{name}.acceleration" for name in motion.names]
        names += [joint + signal.end for joint in motion.joints for signal in JOINTS.values()]
        names += [row + MULTIPLIER.end for row in motion.rows]
        names += [label + CONTACTS[n].end for label in motion.labels for n in ("normal_force", "friction_force")]
        found: Cells = memory({name: f"calm.{name}" for name in names}, dict.fromkeys(names, 0.0))
        return found

    @staticmethod
    def jumps(acting: Acting) -> Scalar:
        """Where a contact is struck or closes: the impulses of this step are no forces."""
        return either([touch.struck | touch.closes for touch in acting.touches])

    def smooth_forces(self, acting: Acting) -> dict[str, Scalar]:
        """What only forces at states have: accelerations, pushes of permanent contact, depths, sums of a joint."""
        motion = self.motion
        found = {f"{name}.largest": abs(a) for name, a in zip(motion.names, acting.accelerations, strict=True)}
        for joint, push in zip(motion.following, motion.pushes(acting), strict=True):
            found |= {f"{joint}.push.most": push, f"{joint}.push.least": -push}
        for label, touch in zip(motion.labels, acting.touches, strict=True):
            found[f"{label}.depth"] = -touch.gap
            pressed = f"{self.mechanism.owner(label)}.pressed"
            found[pressed] = found.get(pressed, 0.0) + touch.normal
        return found

    def rigid(self, acting: Acting, found: Sequence[Spot], t: Scalar) -> None:
        """Count what rigid contacts do in a step in which some are closed, and write down impacts."""
        for c, touch in zip(found, acting.touches, strict=True):
            share, rests = 1.0 if self.motion.fixed else acting.over, self.rests(c, touch)
            total(f"{c.label}.sticking", where(rests, share, 0.0))
            total(f"{c.label}.sliding", where(rests, 0.0, where(touch.mode > OPEN, share, 0.0)))
        if not self.motion.remembers:  # steps that are split write their impacts down where they are
            for c, touch in zip(found, acting.touches, strict=True):
                if c.play is not None:
                    peak("crossing", -touch.approach * acting.over / c.play)  # the play that it crosses in this step
            self.impacts(acting.touches, found, t)
        self.corners(found, acting.touches, 1.0 if self.motion.fixed else acting.over)

    def leaving(self, now: State, end: State, touches: Sequence[Touch]) -> None:
        """Sum up by how much the time of contacts is not known: in a chosen step one lets go somewhere, which shows by
        its force, gone on straight to the end of the step, and one that presses no more counts until it opens."""
        old, new = now.recent, end.recent
        assert old is not None and new is not None
        span, calm = end.t - now.t, new.length > 0  # of a step that ends in an impact no force is known
        known, last = calm & (old.length > 0), maximum(old.length, 0.0)
        for i, (label, was, touch) in enumerate(zip(self.motion.labels, now.modes, touches, strict=True)):
            slope, before, after = memory(f"{label}.slope", 0.0), old.normal[i], new.normal[i]
            grown = (after - before) / where(known, 0.5 * (old.length + new.length), 1.0)
            slope.value = where(calm, where(known, grown, 0.0), slope.value)
            least = where(calm, after + slope.value * 0.5 * span, before + slope.value * (span + 0.5 * last))
            idle = (least <= 0.0) & (calm | (last > 0))
            off = where(touch.mode == OPEN, span, where(idle, span + where(before > 0.0, last, 0.0), 0.0))
            slope.value = where(touch.mode == OPEN, 0.0, slope.value)
            total(f"{label}.leaving", where(was > OPEN, off, 0.0))

    def rests(self, c: Spot, touch: Touch) -> Scalar:
        """Where a contact sticks; or bears all the friction that it may, and others of its body hold it.  Without
        friction none does: whether a stop that is shut has a slip is rounding."""
        rough = False if c.tangential is None else self.equations.numbers(f"{c.joint}.friction") > 0.0
        return ((touch.mode == STICKING) | ((touch.mode > OPEN) & (abs(touch.slip) <= STILL))) & rough

    def impacts(self, touches: Sequence[Touch], found: Sequence[Spot], t: Scalar) -> None:
        """Write down the contacts that are struck at one time, and the energy that this makes, if it does."""
        struck, lost = [touch.struck for touch in touches], [touch.bumped + touch.rubbed for touch in touches]
        beside: Scalar = 0.0  # lost in contacts that were shut, per contact struck
        if self.motion.remembers:  # else it is not told from what they lose in the whole step
            beside = sum(where(hit, 0.0, x) for hit, x in zip(struck, lost, strict=True))
            beside = beside / maximum(sum(where(hit, 1.0, 0.0) for hit in struck), 1.0)
        for i, (c, touch) in enumerate(zip(found, touches, strict=True)):
            branch(touch.struck, seldom(functools.partial(self.impact, i, c, touch, lost[i] + beside, t)), lambda: None)
        branch(either(struck), lambda: total("created", maximum(-sum(lost), 0.0)), lambda: None)

    def impact(self, i: int, c: Spot, touch: Touch, lost: Scalar, t: Scalar) -> None:
        """Count an impact and write it down."""
        total(f"{c.label}.impacts", 1.0)
        if self.motion.fixed and not self.motion.remembers:
            self.late(c, t)
        angle = atan2(c.place.y, c.place.x) if c.place else 0.0
        row = {"time": t, "angle": angle, "approach": -touch.approach, "lost": lost}
        emit("impacts", contact=float(i), **row, normal=touch.normal, tangential=touch.tangential)

    def late(self, c: Spot, t: Scalar) -> None:
        """How late impacts of a joint are, each by up to a step: what rebounds carry on of it adds up, as a share of
        the longest flight from one impact to the next."""
        last, longest = memory(f"{c.joint}.struck", 0.0), memory(f"{c.joint}.flight", 0.0)
        behind, anew = memory(f"{c.joint}.behind", 0.0), t > last.value
        longest.value = maximum(longest.value, t - last.value)
        more = self.equations.numbers(c.restitution) * (behind.value + self.p["stepper.step"])
        behind.value, last.value = where(anew, more, behind.value), t
        peak("late", behind.value / maximum(longest.value, 1e-300))

    def corners(self, found: Sequence[Spot], touches: Sequence[Touch], length: Scalar) -> None:
        """Count how the four corners of a joint that has them touch, and how often its load changes sides."""
        on = {c.label: where(touch.mode > OPEN, 1.0, 0.0) for c, touch in zip(found, touches, strict=True)}
        for joint, kind in self.mechanism.loose(Rigid).items():
            ends = [f"{joint}.{corner}" for corner in kind.corners]
            if not ends or ends[0] not in on:
                continue
            front_up, front_low, rear_up, rear_low = (on[end] for end in ends)
            up, low = front_up + rear_up, front_low + rear_low
            flush = (up == 2.0) | (low == 2.0)
            shares = (up + low == 1.0), (up + low > 1.0) & ~flush, flush
            for name, share in zip(CORNERS, shares, strict=True):
                total(f"{joint}.{name}", where(share, length, 0.0))
            side = memory(f"{joint}.side", 0.0)
            now = where(up > low, 1.0, where(low > up, -1.0, side.value))
            total(f"{joint}.side switches", where(now * side.value < 0, 1.0, 0.0))
            side.value = now

    def lasting(self, at: State, span: Scalar) -> None:
        """Count the time of compliant contacts in a step that begins at a state: no step passes their ends."""
        for label, mode in zip(self.motion.labels, at.modes, strict=True):
            total(f"{label}.closed", where(mode > 0.5, span, 0.0))
        if self.motion.labels:
            total("contacts.time", span)

    def compliant(self, before: State, after: State, touches: Sequence[Touch]) -> None:
        """Keep what happens from the beginning of a compliant contact to its end, and write it down there; before and
        after: the end of a step before and after contacts changed there."""
        for i, (label, touch) in enumerate(zip(self.motion.labels, touches, strict=True)):
            begins, ends = after.modes[i] > before.modes[i], after.modes[i] < before.modes[i]
            since, speed = memory(f"{label}.since", 0.0), memory(f"{label}.speed", 0.0)
            force, depth = memory(f"{label}.greatest", 0.0), memory(f"{label}.deepest", 0.0)
            size = sqrt(touch.normal * touch.normal + touch.tangential * touch.tangential)
            speed.value = where(begins, -touch.opening, speed.value)
            force.value = where(begins, 0.0, maximum(force.value, size))
            depth.value = where(begins, 0.0, maximum(depth.value, -touch.gap))
            kept = {"time": since.value, "duration": after.t - since.value, "approach": speed.value}
            kept |= {"rebound": touch.opening, "force": force.value, "depth": depth.value}
            branch(ends, functools.partial(emit, "contacts", contact=float(i), **kept), lambda: None)

    def sample(self, state: State, acting: Acting, pose: Pose | None = None) -> None:
        """Write a sample of a state and of what acts there; where a contact is struck, forces are those before it."""
        motion = self.motion
        pose = pose or self.equations.pose(state.q, state.t)
        kinetic, potential = self.equations.energies(state.q, state.v, state.t, pose)
        columns: dict[str, Scalar] = {"time": state.t, "kinetic": kinetic, "potential": potential}
        columns |= zip(motion.works, state.w, strict=True)
        for i, name in enumerate(motion.names):
            columns |= {name: state.q[i], f"{name}.rate": state.v[i]}
        kept = self.impulsive and acting.touches and not motion.remembers
        columns |= self.calm.value if kept else self.acts(acting)
        for c, touch in zip(self.contacts(pose), acting.touches, strict=True):
            columns |= {c.label + CONTACTS["gap"].end: c.gap, c.label + CONTACTS["slip"].end: touch.slip}
            columns[c.label + MODE.end] = self.meaning(c, touch)
            if c.place is not None:
                columns |= {c.joint + s.end: x for s, x in zip(JOURNALS.values(), c.place.parts, strict=True)}
        if motion.loop and acting.command:
            columns |= motion.loop.columns(acting.command, state.q, state.t)
        emit("samples", **columns)

    def meaning(self, c: Spot, touch: Touch) -> Scalar:
        """The mode of a contact as the number of its meaning."""
        if not self.impulsive:
            return where(touch.mode > 0.5, 2.0, 0.0)
        sliding = where(self.rests(c, touch), 3.0, where(touch.mode > OPEN, 2.0, 0.0))
        return where(touch.closes, 1.0, sliding)

    def begun(self, state: State, acting: Acting, steered: Sequence[Scalar]) -> None:
        """Write what acts in the first step, and what the control loop says at the start, for the first sample of
        impulsive steps."""
        loop = self.motion.loop
        columns: dict[str, Scalar] = {}
        if acting.touches and self.motion.remembers:
            jumps = self.jumps(acting)
            columns = {f"first.{name}": where(jumps, 0.0, x) for name, x in self.acts(acting).items()}
        elif acting.touches:
            columns = {f"first.{name}": x for name, x in self.calm.value.items()}
        if loop and acting.command:
            columns |= loop.columns(acting.command, state.q, state.t)
            columns |= {f"{name}.steered": f for name, f in zip(self.motion.names, steered, strict=True)}
        emit("begun", **columns)
