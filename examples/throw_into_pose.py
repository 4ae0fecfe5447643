"""Control: the path of two hands that brings the free edge of a cloth to a place, and to rest."""

import numpy as np
from scipy.optimize import minimize

import weft

cloth = weft.sheet(4, 6, width=0.3, height=0.5, fabric="polyester").move((0, 0, 0), (90, 0, 0))
path = weft.Path([weft.Keyframe(t) for t in (0.0, 0.15, 0.3, 0.45)], interpolation="linear")
hands = weft.Pin(cloth.corners("top"), path=path, name="hands")
settings = weft.StepSettings(tolerance=1e-6)
scene = weft.Scene(cloth, [hands], step=0.015, integrator="bdf2", settings=settings)

edge = cloth.border("bottom")
goal = np.array(cloth.vertices[edge]) + [0.0, 0.15, 0.2]  # 15 cm up, 20 cm ahead
loss = weft.adjoint.Target(goal, vertices=edge, velocities=np.zeros_like(goal), time=0.05)
adjoint = weft.Adjoint(scene, loss, ["pins.hands.keyframes"], frames=15, fps=1 / 0.03)
flat = weft.adjoint.Flat(adjoint)  # one vector: x, y, z of each keyframe [cm]


def off(q):
    """Return the mean square distance from the goal [cm^2], and its gradient."""
    value, gradient = flat(q)
    return 1e4 * value, 1e4 * gradient


bounds = [(0, 0)] * 3 + [(None, None)] * 9  # the hands start where the cloth is
found = minimize(
    off, flat.start, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": 14}
)
print(f"mean square off, before and after: {off(flat.start)[0]:.0f} and {found.fun:.2f} cm^2")
print(f"runs and their gradients: {found.nfev}")

best = adjoint.with_values(flat.unpack(found.x)).scene
run = weft.simulate(best, frames=15, fps=1 / 0.03, progress=False)
run.render("throw_into_pose.png", sheet=6)
