"""What manufacture leaves of a balance: masses that are made to a tolerance, as a study."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..errors import InputError
from ..model.mechanism import Mechanism
from .quantities import MotionSignals
from .solver import Balance

if TYPE_CHECKING:
    import xarray

SAMPLES = 1024


@dataclass(frozen=True)
class MadeMasses:
    """The numbers of a balanced mechanism over its motion, with masses as they come; what the study calls."""

    mechanism: Mechanism
    moved: MotionSignals
    __name__ = "masses made to a tolerance"  # the title of the study

    def plain(self) -> dict[str, Any]:
        """What tells it from another, for a store."""
        from ..studies.subject import text_of

        return {"balanced": text_of(self.mechanism), "times": [float(t) for t in self.moved.times]}

    def __call__(self, **masses: float) -> dict[str, float]:
        """Shaking force, moment and torque with masses (kg) by their addresses."""
        return self.moved.of(self.mechanism.with_(masses))


def tolerances(
    found: Balance,
    spread: float | Mapping[str, float] = 0.01,
    samples: Any = SAMPLES,
    seed: int = 0,
    **study: Any,
) -> xarray.Dataset:
    """A Monte Carlo of the masses of a balanced design, counterweights included: what is left of the balance.

    spread: standard deviation of each mass over itself (normal, so that its tolerance is three of them), or by address;
    samples: how many, or `jp.samples(n, method=...)`; study: what `sweep` takes besides (store, executor).  The table
    has `shaking_force_peak` and the like for each sample.  The motion is the same for all, so each is a product of
    matrices.
    """
    from ..studies import normal, sweep

    if found.moved is None:
        raise InputError(
            "tolerances: the design was found without a motion, so nothing shakes; give balance() times or a motion"
        )
    masses = {a: x for a, x in found.mechanism.addresses().items() if a.rpartition(".")[2] == "mass" and x}
    spreads = spread if isinstance(spread, Mapping) else dict.fromkeys(masses, float(spread))
    for address, x in spreads.items():
        if address not in masses:
            raise InputError(
                f"tolerances: {address} is no mass of {found.mechanism.name!r}; there are {', '.join(masses)}"
            )
        if not 0 < x < 0.25:
            raise InputError(f"tolerances: the spread of {address} must be above 0 and below 0.25 of it, got {x!r}")
    over = {address: normal(masses[address], x * masses[address]) for address, x in spreads.items()}
    table = sweep(MadeMasses(found.mechanism, found.moved), over, samples=samples, seed=seed, **study)
    for name in found.after:
        unit = "N" if "force" in name else "N*m"
        table[name].attrs |= {"units": unit, "long_name": name.replace("_", " ")}
    return table
