"""Control: the way of two grippers that lay one half of a napkin onto the other, on a table."""

import numpy as np
from scipy.optimize import minimize

import weft

SIZE, TIMES = 0.2, (0.0, 0.15, 0.3, 0.45, 0.6)  # [m], [s] of the grippers' keyframes
napkin = weft.sheet(7, 7, SIZE, SIZE, fabric={"preset": "cotton", "damping": "0.03 s"})
napkin = napkin.move((0.0031, 0.002, 0.0017))
table = weft.contact.plate(0.5, 0.5, size=0.1, name="table")
touch = weft.SelfContact(gap=0.003, friction=0.5)
goal = np.array(napkin.vertices)
depth = goal[:, 2] - goal[:, 2].mean()
goal += np.outer(depth > 1e-6, [0, 0.004, 0])  # the near half comes to lie on the far one
goal[:, 2] -= depth + np.abs(depth)
loss = weft.adjoint.Target(goal)
guess = 0.5 * SIZE * np.array([[0, 0.3, -0.4], [0, 0.7, -1.0], [0, 0.5, -1.5], [0, 0.2, -1.7]])


def laid(ways):
    """The scene whose grippers go (4,3) ways from where they take hold [m]."""
    keys = [weft.Keyframe(t, tuple(w)) for t, w in zip(TIMES, [np.zeros(3), *ways])]
    path = weft.Path(keys, interpolation="linear")
    grippers = weft.Pin(napkin.corners("bottom"), path=path, name="grippers")
    return weft.Scene(
        napkin,
        [grippers],
        bodies=[table],
        contact=touch,
        step=0.015,
        integrator="bdf2",
        settings=weft.StepSettings(tolerance=1e-5),
    )


def off(q):
    """Mean square distance from the goal [cm^2], and its gradient by the ways [cm]."""
    ways = 0.01 * q.reshape(4, 3)
    found = weft.Adjoint(laid(ways), loss, ["pins.grippers.keyframes"], frames=4, fps=1 / 0.15)()
    return 1e4 * found.value, 1e2 * found.gradient["pins.grippers.keyframes"][1:].reshape(-1)


found = minimize(
    off, 100 * guess.reshape(-1), jac=True, method="L-BFGS-B", options={"maxiter": 8, "maxfun": 8}
)
print(f"off, before and after: {off(100 * guess.reshape(-1))[0]:.2f} and {found.fun:.2f} cm^2")
