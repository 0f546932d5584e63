"""The slider-crank of compliant.py in Exudyn (pip install exudyn), a peer to compare with.

`python exudyn_slider_crank.py STEPS TIMES` takes steps of 1 us in two ways with the C++ contact of Exudyn: the explicit
formula of order 4 on a kinematic tree of three coordinates, and the generalized-alpha method on three bodies with six
constraints, for which Exudyn has no explicit solver.  It prints one JSON line: for both, the least CPU microseconds per
step of so many times, and the slider's place (m) at equal intervals.
"""

import json
import sys
import time
import warnings

warnings.filterwarnings("ignore")

import exudyn  # noqa: E402
import exudyn.itemInterface as items  # noqa: E402
import numpy as np  # noqa: E402
from slider_crank import BEARING, CRANK, GRAVITY, JOURNAL, LAW, ROD, ROUGH, SHIFT, SLIDER, SPEED  # noqa: E402

STEP, SAMPLES = 1e-6, 30
RODS = -SPEED * CRANK.length / ROD.length  # rad/s: the rod turns so that its end stays on the line
FIRST = CRANK.length + ROD.length + SHIFT  # m: where the slider starts


def touch(system, journal, bearing):
    """The contact of a journal (its marker) in a bearing: a sphere in a hollow one, with the same force in a plane."""
    memory = system.AddNode(
        items.NodeGenericData(initialCoordinates=[BEARING - JOURNAL, 0, 0, 0], numberOfDataCoordinates=4)
    )
    system.AddObject(
        items.ObjectContactSphereSphere(
            markerNumbers=[journal, bearing],
            nodeNumber=memory,
            spheresRadii=[JOURNAL, BEARING],
            isHollowSphere1=True,
            contactStiffness=LAW["stiffness"],
            contactStiffnessExponent=LAW["exponent"],
            impactModel=1,  # Hunt and Crossley
            restitutionCoefficient=LAW["restitution"],
            minimumImpactVelocity=1e-3,
            dynamicFriction=ROUGH["friction"],
            frictionProportionalZone=ROUGH["v1"],
        )
    )


def tree(system):
    """Crank, rod and slider as a tree: two angles and a place."""
    start = {"initialCoordinates": [0, 0, 0], "initialCoordinates_t": [SPEED, RODS - SPEED, 0]}
    node = system.AddNode(items.NodeGenericODE2(referenceCoordinates=[0, 0, 0], numberOfODE2Coordinates=3, **start))
    kinds = exudyn.JointType
    turn = np.eye(3)
    made = system.AddObject(
        items.ObjectKinematicTree(
            nodeNumber=node,
            jointTypes=[kinds.RevoluteZ, kinds.RevoluteZ, kinds.PrismaticX],
            linkParents=[-1, 0, -1],
            jointTransformations=exudyn.Matrix3DList([turn] * 3),
            jointOffsets=exudyn.Vector3DList([[0, 0, 0], [CRANK.length, 0, 0], [FIRST, 0, 0]]),
            linkInertiasCOM=exudyn.Matrix3DList([np.diag([0, 0, b.inertia]) for b in (CRANK, ROD, SLIDER)]),
            linkCOMs=exudyn.Vector3DList([[b.length / 2, 0, 0] for b in (CRANK, ROD, SLIDER)]),
            linkMasses=[b.mass for b in (CRANK, ROD, SLIDER)],
            gravity=[0, GRAVITY, 0],
        )
    )
    ends = [
        system.AddMarker(items.MarkerKinematicTreeRigid(objectNumber=made, linkNumber=link, localPosition=[x, 0, 0]))
        for link, x in ((1, ROD.length), (2, 0))
    ]
    touch(system, *ends)
    place = exudyn.OutputVariableType.Position
    watched = {"objectNumber": made, "linkNumber": 2, "outputVariableType": place, "storeInternal": True}
    return system.AddSensor(items.SensorKinematicTree(**watched))


def bodies(system):
    """Crank, rod and slider as bodies of a plane, their joints as constraints."""
    ground, nodes, made = system.AddObject(items.ObjectGround()), [], []
    rates = (CRANK.length / 2 * SPEED, SPEED), (CRANK.length / 2 * SPEED, RODS), (0, 0)
    middles = CRANK.length / 2, CRANK.length + ROD.length / 2, FIRST
    for body, x, (rise, spin) in zip((CRANK, ROD, SLIDER), middles, rates, strict=True):
        nodes.append(
            system.AddNode(items.NodeRigidBody2D(referenceCoordinates=[x, 0, 0], initialVelocities=[0, rise, spin]))
        )
        made.append(
            system.AddObject(
                items.ObjectRigidBody2D(physicsMass=body.mass, physicsInertia=body.inertia, nodeNumber=nodes[-1])
            )
        )
        centre = system.AddMarker(items.MarkerBodyPosition(bodyNumber=made[-1]))
        system.AddLoad(items.LoadForceVector(markerNumber=centre, loadVector=[0, GRAVITY * body.mass, 0]))

    def marker(body, x):
        return system.AddMarker(items.MarkerBodyRigid(bodyNumber=body, localPosition=[x, 0, 0]))

    for pair in (
        (marker(ground, 0), marker(made[0], -CRANK.length / 2)),
        (marker(made[0], CRANK.length / 2), marker(made[1], -ROD.length / 2)),
    ):
        system.AddObject(items.ObjectJointRevolute2D(markerNumbers=list(pair)))
    still = system.AddMarker(
        items.MarkerNodeCoordinate(nodeNumber=system.AddNode(items.NodePointGround()), coordinate=0)
    )
    for coordinate in (1, 2):  # the slider neither rises nor turns
        own = system.AddMarker(items.MarkerNodeCoordinate(nodeNumber=nodes[2], coordinate=coordinate))
        system.AddObject(items.ObjectConnectorCoordinate(markerNumbers=[still, own]))
    touch(system, marker(made[1], ROD.length / 2), marker(made[2], 0))
    place = exudyn.OutputVariableType.Position
    return system.AddSensor(items.SensorNode(nodeNumber=nodes[2], outputVariableType=place, storeInternal=True))


def run(build, steps, solver):
    """CPU microseconds per step, and the slider's places."""
    container = exudyn.SystemContainer()
    system = container.AddSystem()
    sensor = build(system)
    system.Assemble()
    settings = exudyn.SimulationSettings()
    times = settings.timeIntegration
    times.endTime, times.numberOfSteps, times.verboseMode = steps * STEP, steps, 0
    settings.solutionSettings.writeSolutionToFile = False
    settings.solutionSettings.sensorsWritePeriod = steps * STEP / SAMPLES
    settings.linearSolverType = exudyn.LinearSolverType.EXUdense
    settings.parallel.numberOfThreads = 1
    times.discontinuous.useRecommendedStepSize = False  # otherwise the step collapses at the first impact
    if solver == "GeneralizedAlpha":
        times.generalizedAlpha.spectralRadius = 0.9
        times.newton.relativeTolerance, times.newton.absoluteTolerance = 1e-8, 1e-10
    else:
        times.adaptiveStep = False
        times.explicitIntegration.computeEndOfStepAccelerations = False
    begin = time.process_time()
    system.SolveDynamic(settings, solverType=getattr(exudyn.DynamicSolverType, solver))
    spent = time.process_time() - begin
    seen = system.GetSensorStoredData(sensor)
    offset = FIRST if build is tree and abs(seen[0, 1]) < 1e-9 else 0.0  # a tree counts from the joint
    return {"us": spent / steps * 1e6, "time": seen[:, 0].tolist(), "place": (seen[:, 1] + offset).tolist()}


def main() -> None:
    """Both ways."""
    exudyn.config.printToConsole = False
    steps, times = map(int, sys.argv[1:])
    ways = {"explicit": (tree, "RK44"), "alpha": (bodies, "GeneralizedAlpha")}
    made = {name: [run(build, steps, solver) for _ in range(times)] for name, (build, solver) in ways.items()}
    print(json.dumps({name: min(runs, key=lambda one: one["us"]) for name, runs in made.items()}))


if __name__ == "__main__":
    main()
