"""The gradient of a height, by fabric numbers and by the start velocity of each vertex."""

import weft

cloth = weft.sheet(13, 13, 0.4, 0.4, fabric="cotton").move((0, 0, 0), (30, 0, 0))
scene = weft.Scene(
    cloth, [weft.Pin(cloth.corners("top"))], step=0.01, settings=weft.StepSettings(tolerance=1e-8)
)
height = weft.adjoint.Mean((0, 1, 0), vertices=cloth.border("bottom"))  # of the free edge [m]
names = ["fabric.density", "fabric.bending_warp", "velocities"]
found = weft.Adjoint(scene, height, names, frames=10, fps=50)(check=True)

print(f"height {found.value:.4f} m")
print(f"by density {found.gradient['fabric.density']:.4g} m per kg/m^2")
print(f"by bending_warp {found.gradient['fabric.bending_warp']:.4g} m per N m")
print(found.report)

up = 1000 * found.gradient["velocities"][:, 1]  # (n,) of the vertical velocities
run = weft.simulate(scene, frames=10, fps=50, progress=False)
run.render("gradient.png", field=weft.Field("rise for 1 m/s upwards", "mm", lambda x: up))
