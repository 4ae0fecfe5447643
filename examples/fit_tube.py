"""Design: the panel of a tube, cut anew until no part of it is strained by more than 3 %."""

import numpy as np
from scipy.optimize import minimize

import weft

ROWS, GIRTH = 7, 2 * np.pi * 0.0525  # of the panel: a rectangle, too tight below [m]
panel = weft.sheet(25, ROWS, GIRTH, 0.15, fabric={"preset": "jersey", "damping": "0.05 s"})
one = np.arange(panel.n_vertices)
one[panel.border("right")] = panel.border("left")  # two sides become one seam
keep, ids = np.unique(one[panel.faces], return_inverse=True)
flat = panel.mesh.vertex_uv[keep]
y = flat[:, 1] - panel.corner_uv[..., 1].mean()
angle, radius = 2 * np.pi * flat[:, 0] / GIRTH, 0.0565 - 0.04 * y  # put on, stretched
x = np.stack([radius * np.cos(angle), y, -radius * np.sin(angle)], axis=1)
tube = weft.Cloth(
    weft.TriangleMesh(x, ids.reshape(-1, 3).astype(np.int32), panel.corner_uv), panel.fabric
)
thigh = weft.contact.cone(0.0591, 0.2, 0.01, top=0.0511, name="thigh")
touch = weft.SelfContact(gap=0.002, friction=0.5)
outline = weft.adjoint.Outline(tube)
row = np.unique(np.round(outline.points[:, 1], 6), return_inverse=True)[1]
part = (outline.points[:, 0] - outline.points[:, 0].mean()) / GIRTH


def strained(wider):
    """The loss and its gradient by how much wider the panel is at each height [cm], and the run."""
    shift = np.stack([part * 0.01 * wider[row], 0 * part], axis=1)
    scene = weft.Scene(outline.moved(shift), bodies=[thigh], contact=touch, step=0.01,
                       settings=weft.StepSettings(tolerance=1e-5))  # fmt: skip
    loss = weft.adjoint.Strain(limit=0.029)
    found = weft.Adjoint(scene, loss, ["rest"], frames=1, fps=10)()
    by = outline.pulled(found.gradient["rest"])[:, 0] * part * 0.01
    return 1e4 * found.value, 1e4 * np.bincount(row, by), found


if __name__ == "__main__":
    import time
    for w in (np.zeros(ROWS), np.linspace(3,0,ROWS)):
        t=time.time(); a=strained(w); print(a[0],a[1],time.time()-t); print(a[2].report)
        h=1e-3; d=np.linspace(1,.5,ROWS)
        print((strained(w+h*d)[0]-strained(w-h*d)[0])/(2*h), a[1]@d)
