"""Every law on one sheet, side by side: equilibria of a square held at two corners."""

import sys
import tempfile

import numpy as np
from PIL import Image

import weft

SIDE = int(sys.argv[1]) if len(sys.argv) > 1 and sys.argv[1].isdigit() else 16
cloth = weft.sheet(SIDE, SIDE, fabric="linen").move((0, 0, 0), (50, 0, 0))
k, shear = cloth.fabric.stretch_warp, cloth.fabric.shear
L = weft.laws
laws = {
    "Baraff-Witkin": L.BaraffWitkin((k, k), shear),
    "weft at 60 degrees": L.BaraffWitkin((k, k), shear, weft=(0.5, 0.75**0.5)),
    "ARAP + shear": L.Arap(k) + L.DotShear(shear),
    "StVK shear": L.BaraffWitkin((k, k), 0.0) + L.StvkShear(shear),
    "StVK": L.StVK(k / 2),
    "neo-Hookean": L.NeoHookean(k / 2),
}
images, lowest = [], {}
with tempfile.TemporaryDirectory() as folder:
    for name, law in laws.items():
        pins = [weft.Pin(cloth.corners("top"))]
        scene = weft.Scene(cloth, pins, integrator="quasi_static", law=law)
        out = f"{folder}/{len(images)}"
        run = weft.simulate(scene, frames=1, fps=1, out=out, progress=False)
        lowest[name] = float(run.positions(-1)[:, 1].min())
        images.append(np.asarray(Image.open(run.render(f"{out}.png")).convert("RGB")))
rows = [np.concatenate(images[i : i + 3], axis=1) for i in (0, 3)]
Image.fromarray(np.concatenate(rows)).resize((1440, 540)).save("compare_laws.png")
print("lowest point [m]:", {name: round(y, 3) for name, y in lowest.items()})
