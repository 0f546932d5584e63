"""A mechanism in independent coordinates by other means: Newton's method, least squares and a saddle point in numpy."""

import numpy as np

from jointplay.system import System

# a spring with a damper on the slider of library.slider_crank
SPRING = {
    "s": {
        "kind": "spring",
        "between": ["ground.O", "slider.pin"],
        "stiffness": 400,
        "damping": 20,
        "free_length": 0.2,
    }
}


class Reduction:
    """y'' of the coordinates that `rows` pick from all, with forces `push` on them; places are closed from q."""

    def __init__(self, mechanism, rows, push, q):
        self.system, self.q = System(mechanism), np.array(q, float)
        self.rows, self.push = np.array(rows, float), np.array(push, float)

    def place(self, y):
        q = self.q.copy()
        for _ in range(20):
            here = self.system.evaluate(q)
            left = np.concatenate([here.residual, self.rows @ q - y])
            q = q - np.linalg.lstsq(np.vstack([here.B, self.rows]), left, rcond=None)[0]
        return q

    def __call__(self, x, u):
        """The derivative of x = (y, y') under the forces u."""
        n = len(self.rows)
        q = self.place(x[:n])
        B = np.vstack([self.system.evaluate(q).B, self.rows])
        v = np.linalg.lstsq(B, np.concatenate([np.zeros(len(B) - n), x[n:]]), rcond=None)[0]
        here = self.system.evaluate(q, v)
        k = len(here.B)
        matrix = np.block([[here.M, -here.B.T], [here.B, np.zeros((k, k))]])
        a = np.linalg.lstsq(matrix, np.concatenate([here.F + self.push.T @ u, here.rhs]), rcond=None)[0]
        return np.concatenate([x[n:], self.rows @ a[: len(q)]])


def units(mechanism, *names):
    """Rows that pick these coordinates."""
    coordinates = System(mechanism).coordinates
    return [np.eye(len(coordinates))[coordinates.index(name)] for name in names]
