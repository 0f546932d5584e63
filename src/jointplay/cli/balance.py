"""``jointplay balance``: conditions, a design, the balanced model and a figure of before and after."""

from __future__ import annotations

import argparse
import importlib.util
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jointplay.errors import InputError

from . import DONE, inputs
from .tables import columns

if TYPE_CHECKING:
    from jointplay.balancing import Balance

MODELS = {".yaml": "", ".yml": ""}
MEASURES = {
    "shaking_force_peak": "force",
    "shaking_force_rms": "force",
    "shaking_moment_peak": "moment",
    "torque_rms": "torque",
}


def balance(arguments: argparse.Namespace) -> int:
    """Balance a mechanism; write the design as a model and, if it moves, a figure."""
    mechanism = inputs.mechanism(arguments.model, arguments.changes)
    stem = Path(arguments.model).stem
    output = inputs.target("-o", arguments.output or f"{stem}-balanced.yaml", MODELS)
    plot = _figure(arguments, output.stem)
    until = None if arguments.until is None else inputs.duration("--until", arguments.until)

    from jointplay import balancing
    from jointplay.balancing.quantities import QUANTITIES
    from jointplay.model.files import save

    against = arguments.front
    if against is not None and (against not in QUANTITIES or against == "force"):
        raise InputError(f"--front {against}: must be moment, torque or bearing")
    chosen = None if arguments.coordinates is None else [c.strip() for c in arguments.coordinates.split(",")]
    asked = ",".join(arguments.adjust)
    found = balancing.balance(
        mechanism, arguments.objective, asked, motion_of=arguments.motion, times=until, independent=chosen
    )
    save(found.mechanism, output)
    files = [output]
    if plot is not None and found.moved is not None:
        from jointplay import plots

        plots.save(plots.balance(found), plot)
        files.append(plot)
    front = None
    if against is not None:
        from jointplay import plots

        front = balancing.trade_off(mechanism, asked, against, motion_of=arguments.motion, times=until)
        if plot is not None:
            drawn = plot.with_name(f"{plot.stem}-front{plot.suffix}")
            plots.save(plots.trade_off(front), drawn)
            files.append(drawn)
    print(json.dumps(found.as_dict(), indent=2, allow_nan=False) if arguments.json else summary(found, front, files))
    return DONE


def _figure(arguments: argparse.Namespace, stem: str) -> Path | None:
    if arguments.plot is not None:
        return inputs.target("--plot", arguments.plot, inputs.PLOTS)
    if importlib.util.find_spec("matplotlib") is None:
        return None
    return inputs.target("--plot", f"{stem}.png", inputs.PLOTS)


def summary(found: Balance, front: Any, files: list[Path]) -> str:
    """What was found, in a few paragraphs."""
    lines = [f"objective {found.objective} of {found.given.name!r}"]
    if found.conditions:
        lines.append(f"{found.rank} independent conditions:")
        lines += [f"  {one.text}" for one in found.conditions]
    lines.append("")
    lines.append("the design meets them:" if found.feasible and found.conditions else "the best design found:")
    if not found.feasible:
        lines[-1] = f"infeasible: {found.reason}. The nearest design:"
    lines.append(columns([(f"  {address}", f"= {x:.9g}") for address, x in found.design.items()]))
    lines += [f"residual {found.residual:.3g} (relative)", ""]
    if found.moved is None:
        lines.append("no motion to compare: give one, as in --motion 'crank=60 rpm'")
    else:
        rows = [("over the motion", "before", "after", "")]
        for key, quantity in MEASURES.items():
            unit = found.moved.unit(quantity)
            rows.append((key.replace("_", " "), f"{found.before[key]:.6g}", f"{found.after[key]:.6g}", unit))
        lines.append(columns(rows))
    if front is not None:
        against = front.attrs["against"]
        rows = [
            (
                "front: shaking force rms/N",
                f"{against} rms",
                f"torque rms/({front['torque_rms'].units})",
                "bearing rms/N",
            )
        ]
        for i in range(front.sizes["point"]):
            values = (float(front[f"{q}_rms"][i]) for q in ("force", against, "torque", "bearing"))
            rows.append(tuple(f"{x:.5g}" for x in values))  # type: ignore[arg-type]
        lines += ["", columns(rows)]
    lines += [f"note: {note}" for note in found.notes]
    if importlib.util.find_spec("matplotlib") is None:
        lines.append('note: no figure, as matplotlib is not installed: pip install "jointplay[plot]"')
    lines.append("written " + ", ".join(map(str, files)))
    return "\n".join(lines)
