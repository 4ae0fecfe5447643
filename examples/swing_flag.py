"""Control: along which way a pole has to go, so that its flag flies flat, far from hanging."""

import numpy as np
from scipy.optimize import minimize

import weft

TIMES = (0.0, 0.15, 0.3, 0.45)  # [s] of the pole's keyframes
TURN = np.radians(60.0)  # of the pose, from where the flag hangs
flag = weft.sheet(4, 7, 0.2, 0.3, fabric={"preset": "denim", "damping": "0.02 s"})
flag = flag.move((0, 0, 0), (90, 0, 0))
hoist = flag.border("top")
pole = np.array(flag.vertices)[hoist].mean(0)
c, s = np.cos(TURN), np.sin(TURN)
pose = pole + (np.array(flag.vertices) - pole) @ np.array([[1, 0, 0], [0, c, -s], [0, s, c]])
loss = weft.adjoint.Target(pose)


def swung(q):
    """The scene whose pole goes to (3,2) places, up and ahead of where it starts [m]."""
    keys = [weft.Keyframe(t, (0, up, z)) for t, (up, z) in zip(TIMES, [(0, 0), *q])]
    pin = weft.Pin(hoist, path=weft.Path(keys, interpolation="linear"), name="pole")
    return weft.Scene(
        flag, [pin], step=0.015, integrator="bdf2", settings=weft.StepSettings(tolerance=1e-6)
    )


def off(q):
    """Mean square distance from the pose [cm^2], and its gradient by the places [dm]."""
    adjoint = weft.Adjoint(
        swung(0.1 * q.reshape(3, 2)), loss, ["pins.pole.keyframes"], frames=3, fps=1 / 0.15
    )
    found = adjoint()
    return 1e4 * found.value, 1e3 * found.gradient["pins.pole.keyframes"][1:, 1:].reshape(-1)


found = minimize(off, np.zeros(6), jac=True, method="L-BFGS-B", options={"maxiter": 14})
print(f"mean square off, before and after: {off(np.zeros(6))[0]:.0f} and {found.fun:.2f} cm^2")
