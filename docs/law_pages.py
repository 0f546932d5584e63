"""reference/laws.md: every contact and friction law with its formula, parameters, source and a plot, made in the build.

Names, defaults, units and sources come from the laws themselves; only the formulas are written here, and a law without
one fails the build.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from jointplay.laws import Law
from jointplay.laws.roles import registry

FAMILY = r"F = K\,\delta^{n}\left(1 + \chi\,\frac{\dot\delta}{\dot\delta_0}\right),\qquad \chi = "
LINE = r",\qquad S = \frac{1}{\pi E^*},\quad R_B = R_J + c"
FORMULAS = {
    "hertz": r"F = K\,\delta^{n}",
    "exact_restitution": FAMILY + r"\chi(e):\quad \chi\,(1 + e) = \ln\frac{1 + \chi}{1 - \chi e}",
    "hunt_crossley": FAMILY + r"\tfrac{3}{2}(1 - e)",
    "herbert_mcwhannell": FAMILY + r"\frac{6\,(1 - e)}{(2e - 1)^2 + 3}",
    "lee_wang": FAMILY + r"\tfrac{3}{4}(1 - e)",
    "lankarani_nikravesh": FAMILY + r"\tfrac{3}{4}(1 - e^2)",
    "zhiying_qishao": FAMILY + r"\tfrac{3}{4}(1 - e^2)\,\mathrm{e}^{2(1 - e)}",
    "gonthier": FAMILY + r"\frac{1 - e^2}{e}",
    "flores": FAMILY + r"\frac{8\,(1 - e)}{5\,e}",
    "gharib_hurmuzlu": FAMILY + r"\frac{1}{e}",
    "hu_guo": FAMILY + r"\frac{3\,(1 - e)}{2\,e}",
    "safaeifar_farshidianfar": FAMILY + r"\frac{5\,(1 - e)}{4\,e}",
    "kelvin_voigt": r"F = K\,\delta + C\,\dot\delta",
    "adams_impact": r"F = K\,\delta^{n} + \mathrm{STEP}(\delta;\,0, 0;\,d, C)\,\dot\delta",
    "johnson": r"\delta = \frac{F S}{L}\left[\ln\frac{4\,c\,L}{F S} - 1\right]" + LINE,
    "esdu_78035": r"\delta = \frac{F S}{L}\left[\ln\frac{4\,c\,L}{F S} + 1\right]" + LINE,
    "radzimovsky": r"\delta = \frac{F S}{L}\left[\ln\frac{c\,L}{F S} + \tfrac{2}{3}\right]" + LINE,
    "goldsmith": r"\delta = \frac{F S}{L}\left[\ln\frac{c\,L}{F S\,R_B R_J} + 1\right]" + LINE,
    "dubowsky_freudenstein": r"\delta = \frac{F S}{L}\left[\ln\frac{c\,L^3}{F S\,R_B R_J} + 1\right]" + LINE,
    "liu": r"F = \frac{\pi}{2}\,E^* L\,\delta\,\sqrt{\frac{\delta}{2\,(c + \delta)}}",
    "modified_coulomb": r"\mu(v) = \mathrm{STEP}(v;\,-v_s, -\mu_s;\,v_s, \mu_s)\ \text{for}\ |v| < v_s,\quad "
    r"\mathrm{sgn}(v)\,\mathrm{STEP}(|v|;\,v_s, \mu_s;\,v_d, \mu)\ \text{else}",
    "threlfall": r"\mu(v) = \mu\,\mathrm{sgn}(v)\,(1 - \mathrm{e}^{-3|v|/v_r})\ \text{for}\ |v| < v_r,\quad "
    r"\mu\,\mathrm{sgn}(v)\ \text{else}",
    "ambrosio": r"\mu(v) = \mu\,\mathrm{sgn}(v)\,\min\left(1,\ \max\left(0,\ \frac{|v| - v_0}{v_1 - v_0}\right)\right)",
    "bengisu_akay": r"\mu(v) = \mathrm{sgn}(v)\,\mu_s\left(1 - \frac{(|v| - v_0)^2}{v_0^2}\right)\ \text{for}\ "
    r"|v| < v_0,\quad \mathrm{sgn}(v)\left(\mu + (\mu_s - \mu)\,\mathrm{e}^{-\xi(|v| - v_0)}\right)\ \text{else}",
    "dahl": r"\mu(v, z) = \sigma z,\qquad \dot z = v - \frac{\sigma\,|v|}{\mu}\,z",
    "lugre": r"\mu(v, z) = \sigma_0 z + \sigma_1 \dot z + \sigma_2 v,\qquad \dot z = v - \frac{\sigma_0 |v|}{g(v)}\,z,"
    r"\qquad g(v) = \mu + (\mu_s - \mu)\,\mathrm{e}^{-(v/v_s)^2}",
    "open_loop": r"u = 0",
    "pd": r"u = -k_1 e - k_2 \dot q",
    "pd_tracking": r"u = -k_1 e - k_2 \dot e",
    "pid": r"u = -k_1 e - k_2 \dot e - k_3 \int e\,\mathrm{d}t",
    "feedback_linearisation": r"u = \mathrm{ID}(q, \dot q;\ \ddot q_r - k_2 \dot e - k_1 e)",
    "passivity_based": r"u = \mathrm{ID}(q, \dot q_r - \lambda e;\ \ddot q_r - \lambda \dot e)"
    r" - k\,(\dot e + \lambda e)",
    "sliding_mode": r"u = \mathrm{ID}\left(q, \dot q;\ \ddot q_r - \lambda \dot e - \tfrac{2k}{\pi}"
    r"\arctan\left(s\,(\dot e + \lambda e)\right)\right)",
}
BEARING = {"journal_radius": 0.01, "clearance": 5e-4, "length": 0.02}  # m, for the plots of cylinders
BEGIN = """# Contact and friction laws

Written by the build from the laws themselves. How they are named in a model file is in
[model files](../model.md#contacts), how to choose one in [fits, laws and materials](../materials.md).
"""
NORMAL = r"""## Normal laws

$\delta$ is the depth (m), $\dot\delta$ its rate (> 0 while the depth grows), $\dot\delta_0$ the speed at which the
contact began; $K$, $n$, $e$ are `stiffness`, `exponent` and `restitution`; $E^*$ is `modulus`,
$1/E^* = \sum (1 - \nu^2)/E$; $c$, $R_J$, $L$ are `clearance`, `journal_radius` and `length` of the joint. A law never
pulls: a negative force is cut off. The laws of cylinders give the elastic force; it is multiplied by
$1 + \chi\,\dot\delta/\dot\delta_0$ with the $\chi(e)$ of `exact_restitution`.
$\mathrm{STEP}(x; x_0, h_0; x_1, h_1)$ goes from $h_0$ to $h_1$ by a cubic with level ends.

Each plot shows a free impact of 1 kg at 0.1 m/s with the law's defaults, but a restitution of 0.5 where the law takes
one; the rebound that comes out is in its title. Cylinders: journal radius 10 mm, clearance 0.5 mm, length 20 mm.
"""
FRICTION = r"""## Friction laws

The force on the second body is $-\mu(v)\,N$, with $v$ the slip (m/s) and $N$ the normal force. $\mu_s$ is
`static_friction`, $\mu$ `friction`, $z$ the bristle (m). Laws with a bristle are drawn over a displacement of 0.05 mm
to either side, five times a second; the others over the slip.
"""
CONTROL = r"""## Controllers

$e$ is the error, value minus reference $q_r$; $\mathrm{ID}(q, \dot q; a)$ the inverse dynamics of the model for the
accelerations $a$; $\lambda$ is `slope`, $s$ `steepness`.
"""


def write(here: Path) -> None:
    """reference/laws.md and its pictures below reference/laws."""
    (here / "reference" / "laws").mkdir(parents=True, exist_ok=True)
    text = [BEGIN]
    for role, said, draw in (("normal", NORMAL, _impact), ("friction", FRICTION, _slide), ("control", CONTROL, None)):
        text.append(said)
        for law in registry(role).values():
            text += [*_entry(law), *(_picture(here, law, draw) if draw else [])]
    (here / "reference" / "laws.md").write_text("\n".join(text) + "\n", encoding="utf-8")


def _entry(law: Law) -> Iterator[str]:
    """Name, formula, parameters with defaults and units, and what the docstring says after its first sentence."""
    said = inspect.cleandoc(law.__doc__ or "")
    yield from (f"### {law.name}", "", f"$${FORMULAS[law.name]}$$", "")
    if law.own:
        values = (f"`{name}` {_default(value)} {law.units.get(name, '')}".strip() for name, value in law.own.items())
        yield from ("Parameters: " + ", ".join(values) + ".", "")
    yield from (said.replace("*", r"\*").replace("|", r"\|"), "")


def _default(value) -> str:
    return "needed" if value is inspect.Parameter.empty else f"{value:g}"


def _picture(here: Path, law: Law, draw: Callable) -> list[str]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.2, 2.6), layout="constrained")
    said = draw(figure.subplots(), law)
    figure.savefig(here / "reference" / "laws" / f"{law.name}.svg", metadata={"Date": None})
    return [f"```{{image}} laws/{law.name}.svg", f":alt: {said}", "```", ""]


def _numbers(law: Law, **changed: float) -> dict[str, float]:
    known = {**BEARING, **changed}
    return {n: known.get(n, d) for n, d in law.parameters.items()}


def _impact(axes, law: Law) -> str:
    """Force over depth of a free impact, by small steps."""
    numbers, speed = _numbers(law, restitution=0.5), 0.1
    depth, rate, dt, path = 0.0, speed, 2e-7, []
    while len(path) < 40_000:
        force = float(law(depth, rate, speed, **numbers)[0])
        path.append((depth, force))
        rate -= force * dt  # 1 kg; symplectic, as a step is a few thousandths of the contact
        depth += rate * dt
        if depth <= 0 or (force <= 0 and len(path) > 10):
            break
    curve = np.array(path)
    axes.plot(1e6 * curve[:, 0], curve[:, 1])
    axes.set(xlabel="depth (µm)", ylabel="force (N)", title=f"rebounds with {-rate / speed:.2f} of its speed")
    return f"Force over depth of a free impact with the law {law.name}"


def _slide(axes, law: Law) -> str:
    numbers = _numbers(law)
    if not law.rates:
        slip = np.linspace(-0.012, 0.012, 961) if "v_d" in numbers else np.linspace(-0.004, 0.004, 961)
        axes.plot(1e3 * slip, [-float(law(x, 1.0, **numbers)[0]) for x in slip])
        axes.set(xlabel="slip (mm/s)", ylabel="friction / normal force")
        return f"Friction over slip of the law {law.name}"
    times, turn = np.linspace(0, 0.5, 20_001), 2 * np.pi * 5
    place, slip = 5e-5 * np.sin(turn * times), 5e-5 * turn * np.cos(turn * times)
    bristle, values = 0.0, []
    for v in slip:
        force, rates, _ = law(v, 1.0, **{**numbers, "bristle": bristle})
        values.append(-float(force))
        bristle += float(rates["bristle"]) * (times[1] - times[0])
    axes.plot(1e6 * place, values)
    axes.set(xlabel="displacement (µm)", ylabel="friction / normal force")
    return f"Friction over displacement of the law {law.name}"
