"""Control: how a pole has to be turned and moved, so that its flag flies level in a given plane."""

import numpy as np
from scipy.optimize import minimize

import weft

TIMES = (0.0, 0.15, 0.3, 0.45, 0.6)  # [s] of the pole's keyframes
TURN = np.radians(100.0)  # of the pose, from where the flag begins
flag = weft.sheet(7, 5, 0.3, 0.2, fabric={"preset": "polyester", "damping": "0.01 s"})
flag = flag.moved((0.15, 0, 0), (90, 0, 0))  # in the plane z = 0, its pole along y
hoist = flag.border("left")
c, s = np.cos(TURN), np.sin(TURN)
pose = np.array(flag.vertices) @ np.array([[c, 0, -s], [0, 1, 0], [s, 0, c]])
loss = weft.adjoint.Target(pose)


def swung(q):
    """The scene whose pole is at (4,4) places: x, y, z [dm] and turned by the last [rad]."""
    keys = [weft.Keyframe(0.0)]
    keys += [weft.Keyframe(t, tuple(0.1 * p[:3]), p[3]) for t, p in zip(TIMES[1:], q)]
    pole = weft.Path(keys, interpolation="linear", center=(0.0, 0.0, 0.0))
    return weft.Scene(flag, [weft.Pin(hoist, path=pole, name="pole")], step=0.015,
                      integrator="bdf2", settings=weft.StepSettings(tolerance=1e-6))  # fmt: skip


def off(q):
    """Mean square distance from the pose [cm^2], and its gradient."""
    names = ["pins.pole.keyframes", "pins.pole.rotations"]
    found = weft.Adjoint(swung(q.reshape(4, 4)), loss, names, frames=4, fps=1 / 0.15)()
    move, turn = (found.gradient[n][1:] for n in names)
    return 1e4 * found.value, 1e4 * np.column_stack([0.1 * move, turn]).reshape(-1)


even = np.zeros((4, 4))
even[:, 3] = TURN * np.arange(1, 5) / 4  # turned at one speed
found = minimize(off, even.reshape(-1), jac=True, method="L-BFGS-B", options={"maxiter": 25})
print(f"mean square off, before and after: {off(even.reshape(-1))[0]:.1f} and {found.fun:.2f} cm^2")
