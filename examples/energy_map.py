"""A round tablecloth of irregular triangles that buckles at once, colored by its bending energy."""

import numpy as np

import weft

angle = 2 * np.pi * np.arange(48) / 48
outline = 0.4 * np.stack([np.cos(angle), np.sin(angle)], axis=1)
cloth = weft.triangulate(outline, size=0.03, fabric="cotton")
fabric = cloth.fabric
k = (fabric.stretch_warp, fabric.stretch_weft)
law = weft.laws.ImmediateBuckling(k, (4 * fabric.shear, 4 * fabric.shear))
table = np.flatnonzero(np.linalg.norm(cloth.vertices, axis=1) < 0.2)
scene = weft.Scene(cloth, [weft.Pin(table)], law=law, integrator="bdf2_semi_implicit", step=1 / 60)
run = weft.simulate(scene, seconds=1.0, fps=30, out="tablecloth", progress=False)

bending = weft.prepare(scene).energies["bending"]
areal = lambda x: weft.vertex_energy(bending, cloth.mesh, x) / cloth.mesh.vertex_area  # noqa: E731
run.render("tablecloth.png", field=weft.Field("bending energy", "J/m^2", areal))
x = run.positions(-1)
total, parts = bending.value(x).sum(), weft.vertex_energy(bending, cloth.mesh, x).sum()
print(f"bending energy {1e3 * total:.2f} mJ, of all vertices over that: {parts / total:.6f}")
