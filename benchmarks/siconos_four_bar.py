"""The crank-rocker of rigid.py in SICONOS, for the system's python3 (Debian: python3-siconos): a peer to compare with.

`python3 siconos_four_bar.py LIBRARY STEPS ANGLES` takes steps from rest at the angles of crank, coupler and rocker,
with the combined projection and callbacks from the compiled siconos_four_bar.c, and prints one JSON line: CPU
microseconds per step, and the last angle of the crank.  With --feedback the callbacks have the controller of
work_precision.py, each step is looked at, and the line also has the largest tracking error from 1 s on, in degrees;
what looking costs is measured with it and stays out of the CPU time.
"""

import argparse
import ctypes
import json
import math
import os
import time
from pathlib import Path

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):  # read when SICONOS is loaded: one thread each
    os.environ[variable] = "1"

import siconos.kernel as kernel  # noqa: E402
import siconos.numerics as numerics  # noqa: E402

FRICTION, RESTITUTION, TOLERANCE = 0.1, 0.0, 1e-8
AMPLITUDE, FREQUENCY, SETTLED = 6.0, 0.75 * math.pi, 1.0  # rad, rad/s, s


def simulation(plugin, step, steps, angles):
    """The whole model: system, contact, discretisation and solvers.

    Of the solvers for friction LEMKE is the quickest that gets this contact right: CPG takes two thirds of its time
    while the contact slides, and ends a tenth of a radian away.  Without derivatives of the forces SICONOS takes the
    same steps, a tenth faster.
    """
    system = kernel.LagrangianDS(angles, [0.0, 0.0, 0.0], f"{plugin}:mass")
    system.setComputeFGyrFunction(plugin, "inertial")
    system.setComputeFIntFunction(plugin, "forces")
    relation = kernel.LagrangianScleronomousR(f"{plugin}:gap", f"{plugin}:gap_by_q")
    contact = kernel.Interaction(kernel.NewtonImpactFrictionNSL(RESTITUTION, 0.0, FRICTION, 2), relation)
    model = kernel.NonSmoothDynamicalSystem(0.0, step * steps)
    model.insertDynamicalSystem(system)
    model.link(contact, system)
    rates = kernel.FrictionContact(2, numerics.SICONOS_FRICTION_2D_LEMKE)
    rates.numericsSolverOptions().dparam[0] = TOLERANCE
    positions = kernel.MLCPProjectOnConstraints(numerics.SICONOS_MLCP_ENUM)
    scheme, clock = kernel.MoreauJeanCombinedProjectionOSI(0.5), kernel.TimeDiscretisation(0.0, step)
    made = kernel.TimeSteppingCombinedProjection(model, clock, scheme, rates, positions, 2)
    made.setProjectionMaxIteration(2000)
    made.setConstraintTolUnilateral(TOLERANCE)
    made.setConstraintTol(TOLERANCE)
    return made, system, (model, contact, relation)  # SICONOS does not keep all of it alive


def watched(made, system):
    """The largest tracking error of a run (deg), looked at after every step."""
    worst, angles = 0.0, system.q()
    while made.hasNextEvent():
        made.advanceToEvent()
        now = made.nextTime()
        if now >= SETTLED:
            worst = max(worst, abs(AMPLITUDE * math.sin(FREQUENCY * now) - angles[0]))
        made.processEvents()
    return math.degrees(worst)


def spent(asked, steps, look):
    """CPU seconds of so many steps, the last angle of the crank (rad), and what looking at each of them found."""
    made, system, _kept = simulation(asked.library.stem, asked.step, steps, asked.angles)
    begin = time.process_time()
    found = watched(made, system) if look else made.run()
    return time.process_time() - begin, float(system.q()[0]), found


def main() -> None:
    """Time the steps; what SICONOS says on the way is not shown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("library", type=Path)
    parser.add_argument("steps", type=int)
    parser.add_argument("angles", type=float, nargs=3)
    parser.add_argument("--step", type=float, default=1e-5, help="s")
    parser.add_argument("--feedback", action="store_true")
    asked = parser.parse_args()
    callbacks = ctypes.CDLL(str(asked.library), mode=ctypes.RTLD_GLOBAL)  # SICONOS opens it once more, by its name
    ctypes.c_int.in_dll(callbacks, "feedback").value = asked.feedback
    shown = os.dup(1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    cpu, crank, error = spent(asked, asked.steps, asked.feedback)
    if asked.feedback:
        few = min(asked.steps, 20_000)
        cpu -= (spent(asked, few, True)[0] - spent(asked, few, False)[0]) * asked.steps / few
    os.dup2(shown, 1)
    print(json.dumps({"us": cpu / asked.steps * 1e6, "crank": crank, "error": error}))


if __name__ == "__main__":
    main()
