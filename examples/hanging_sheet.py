"""A sheet held by two corners: how far does its lowest point sink in half a second?"""

import tempfile

import weft

cloth = weft.sheet(21, 21, width=1.0, height=1.0, fabric="cotton")
scene = weft.Scene(cloth, pins=[weft.Pin(cloth.corners("top"))])
with tempfile.TemporaryDirectory() as folder:
    run = weft.simulate(scene, seconds=0.5, fps=30, out=f"{folder}/run")
    print(f"lowest point: {run.positions()[:, 1].min():.3f} m")
