"""A law of one's own: fibers that stiffen with strain; stress and Hessian are generated."""

import numpy as np
import warp as wp

import weft

Scalar, mat32, vec3 = weft.laws.Scalar, weft.laws.mat32, weft.laws.vec3


@wp.struct
class Params:
    """Stiffness [N/m] at rest, and how much it grows with the square of the strain."""

    stiffness: Scalar
    growth: Scalar
    shear: Scalar


@wp.func
def psi(F: mat32, p: Params):
    f0 = vec3(F[0, 0], F[1, 0], F[2, 0])
    f1 = vec3(F[0, 1], F[1, 1], F[2, 1])
    a = wp.pow(wp.length(f0) - Scalar(1.0), Scalar(2.0))
    b = wp.pow(wp.length(f1) - Scalar(1.0), Scalar(2.0))
    stretch = a + b + Scalar(0.5) * p.growth * (a * a + b * b)
    c = wp.dot(f0, f1)
    return Scalar(0.5) * (p.stiffness * stretch + p.shear * c * c)


law = weft.laws.OwnLaw("stiffening", Params, psi, {"stiffness": 200.0, "growth": 50.0, "shear": 20})
F = np.repeat(np.eye(3)[None, :, :2], 3, axis=0)
F[:, 0, 0] = [1.05, 1.1, 1.2]
print("warp stress at 5, 10 and 20 % [N/m]:", law.stress(F)[:, 0, 0].round(3).tolist())

cloth = weft.sheet(13, 13, width=0.6, height=0.6, fabric="jersey").move(rotation=(90, 0, 0))
scene = weft.Scene(cloth, [weft.Pin(cloth.corners("top"))], law=law, damping=0.05)
run = weft.simulate(scene, seconds=0.4, fps=10, progress=False)
run.render("own_law.png", look="strain")
