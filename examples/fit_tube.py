"""Design: a tube of 33 cm, too tight, cut anew until no part is strained by more than 3 %."""

import numpy as np
from scipy.optimize import minimize

import weft

panel = weft.sheet(25, 7, 0.33, 0.15, fabric={"preset": "jersey", "damping": "0.05 s"})
one = np.arange(panel.n_vertices)
one[panel.border("right")] = panel.border("left")  # two sides become one seam
keep, ids = np.unique(one[panel.faces], return_inverse=True)
flat = panel.mesh.vertex_uv[keep] - panel.corner_uv.mean((0, 1))
angle, radius = 2 * np.pi * flat[:, 0] / 0.33, 0.0565 - 0.04 * flat[:, 1]  # put on, stretched
x = np.stack([radius * np.cos(angle), flat[:, 1], -radius * np.sin(angle)], axis=1)
mesh = weft.TriangleMesh(x, ids.reshape(-1, 3).astype(np.int32), panel.corner_uv)
thigh = weft.contact.cone(0.0591, 0.2, 0.01, top=0.0511, name="thigh")
outline = weft.adjoint.Outline(weft.Cloth(mesh, panel.fabric))
row = np.unique(np.round(outline.points[:, 1], 6), return_inverse=True)[1]
part = 0.01 * (outline.points[:, 0] - outline.points[:, 0].mean()) / 0.33  # of a cm more


def worn(wider):
    """The scene of a panel that is so much wider at each height [cm]."""
    tube = outline.move_border(np.stack([part * wider[row], 0 * part], axis=1))
    return weft.Scene(
        tube,
        bodies=[thigh],
        step=0.01,
        settings=weft.StepSettings(tolerance=1e-5),
        contact=weft.SelfContact(gap=0.002, friction=0.5),
    )


def strained(wider):
    """Strain above 2.5 %, and a little for the cloth that it takes; with the gradient."""
    found = weft.Adjoint(worn(wider), weft.adjoint.Strain(0.025), ["rest"], frames=1, fps=10)()
    by = 1e4 * np.bincount(row, outline.pull_back(found.gradient["rest"])[:, 0] * part)
    return 1e4 * found.value + 1e-3 * (wider**2).sum(), by + 2e-3 * wider


found = minimize(strained, np.zeros(7), jac=True, method="L-BFGS-B", options={"maxiter": 12})
for wider in (np.zeros(7), found.x):
    run = weft.simulate(worn(wider), frames=1, fps=10, progress=False)
    strain = weft.adjoint.Strain().of(weft.prepare(worn(wider)).model).principal(run.positions(1))
    print(f"wider by {np.round(wider, 1)} cm: strained by {100 * strain.max():.2f} %")
