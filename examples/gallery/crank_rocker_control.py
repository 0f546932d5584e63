"""A crank-rocker with play, under control

Feedback linearisation moves the crank of a four-bar to and fro.  The controller knows ideal joints; the mechanism has
3 mm of play in both joints of its coupler (Akhadkar, Acary and Brogliato 2016).  Play costs a hundredfold of the error.
"""

from math import degrees, pi

import jointplay as jp

wanted = jp.sine(6.0, frequency=0.75 * pi)  # rad
control = jp.control.feedback_linearisation("crank", wanted, k1=2000, k2=200, settled=1.0)
ideal = jp.library.crank_rocker_2016().replace(name="crank-rocker under control", control=control)
loose = jp.library.crank_rocker_2016(3e-3, 3e-3, friction=0.1).replace(name=ideal.name, control=control)

run, twin = (jp.simulate(mechanism, until=3.0, every=4e-3) for mechanism in (loose, ideal))
for name, result in {"3 mm of play": run, "ideal joints": twin}.items():
    error, torque = degrees(result.error_max[0]), float(result.control_max[0])
    print(f"{name}: the crank strays by up to {error:.2g} deg; the motor gives up to {torque:.0f} N m")
run.jp.report("page.html", twin=twin)
