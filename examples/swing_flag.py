"""Control: how a pole has to be moved and turned, so that its flag flies flat, far from hanging."""

import numpy as np
from scipy.optimize import minimize

import weft

TIMES = (0.0, 0.15, 0.3, 0.45)  # [s] of the pole's keyframes
TURN = np.radians(60.0)  # of the pose, from where the flag hangs
flag = weft.sheet(4, 7, 0.2, 0.3, fabric={"preset": "denim", "damping": "0.02 s"})
flag = flag.moved((0, 0, 0), (90, 0, 0))
hoist = flag.border("top")
pole = np.array(flag.vertices)[hoist].mean(0)
c, s = np.cos(TURN), np.sin(TURN)
pose = pole + (np.array(flag.vertices) - pole) @ np.array([[1, 0, 0], [0, c, -s], [0, s, c]])
loss = weft.adjoint.Target(pose)


def swung(q):
    """The scene whose pole is at (3,3) places: up and ahead [dm], and turned by the last [rad]."""
    keys = [weft.Keyframe(0.0)]
    keys += [weft.Keyframe(t, (0, 0.1 * u, 0.1 * z), a) for t, (u, z, a) in zip(TIMES[1:], q)]
    path = weft.Path(keys, interpolation="linear", axis=(1.0, 0.0, 0.0))
    return weft.Scene(flag, [weft.Pin(hoist, path=path, name="pole")], step=0.015,
                      integrator="bdf2", settings=weft.StepSettings(tolerance=1e-6))  # fmt: skip


def off(q):
    """Mean square distance from the pose [cm^2], and its gradient."""
    names = ["pins.pole.keyframes", "pins.pole.rotations"]
    found = weft.Adjoint(swung(q.reshape(3, 3)), loss, names, frames=3, fps=1 / 0.15)()
    move, turn = (found.gradient[n][1:] for n in names)
    return 1e4 * found.value, 1e4 * np.column_stack([0.1 * move[:, 1:], turn]).reshape(-1)


still = np.zeros(9)
found = minimize(off, still, jac=True, method="L-BFGS-B", options={"maxiter": 14})
print(f"mean square off, before and after: {off(still)[0]:.0f} and {found.fun:.2f} cm^2")
