"""The crank-rocker of rigid.py in SICONOS, for the system's python3 (Debian: python3-siconos): a peer to compare with.

`python3 siconos_four_bar.py LIBRARY STEPS ANGLES` takes steps of 1e-5 s from rest at the angles of crank, coupler and
rocker, with the combined projection and callbacks from the compiled siconos_four_bar.c, and prints one JSON line: CPU
microseconds per step, and the last angle of the crank.
"""

import ctypes
import json
import os
import sys
import time
from pathlib import Path

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):  # read when SICONOS is loaded: one thread each
    os.environ[variable] = "1"

import siconos.kernel as kernel  # noqa: E402
import siconos.numerics as numerics  # noqa: E402

STEP, FRICTION, RESTITUTION, TOLERANCE = 1e-5, 0.1, 0.0, 1e-8


def simulation(plugin, steps, angles):
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
    model = kernel.NonSmoothDynamicalSystem(0.0, STEP * steps)
    model.insertDynamicalSystem(system)
    model.link(contact, system)
    rates = kernel.FrictionContact(2, numerics.SICONOS_FRICTION_2D_LEMKE)
    rates.numericsSolverOptions().dparam[0] = TOLERANCE
    positions = kernel.MLCPProjectOnConstraints(numerics.SICONOS_MLCP_ENUM)
    scheme, clock = kernel.MoreauJeanCombinedProjectionOSI(0.5), kernel.TimeDiscretisation(0.0, STEP)
    made = kernel.TimeSteppingCombinedProjection(model, clock, scheme, rates, positions, 2)
    made.setProjectionMaxIteration(2000)
    made.setConstraintTolUnilateral(TOLERANCE)
    made.setConstraintTol(TOLERANCE)
    return made, system, (model, contact, relation)  # SICONOS does not keep all of it alive


def main() -> None:
    """Time the steps; what SICONOS says on the way is not shown."""
    library, steps, angles = Path(sys.argv[1]), int(sys.argv[2]), [float(x) for x in sys.argv[3:]]
    ctypes.CDLL(str(library), mode=ctypes.RTLD_GLOBAL)  # SICONOS opens it once more, by its name alone
    made, system, _kept = simulation(library.stem, steps, angles)
    shown = os.dup(1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    begin = time.process_time()
    made.run()
    spent = time.process_time() - begin
    os.dup2(shown, 1)
    print(json.dumps({"us": spent / steps * 1e6, "crank": float(system.q()[0])}))


if __name__ == "__main__":
    main()
