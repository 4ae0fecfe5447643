"""Four sheets of four fabrics swing side by side; each moves exactly as it does alone."""

import numpy as np
from PIL import Image

import weft


def hanging(fabric):
    cloth = weft.sheet(13, 13, fabric=fabric)
    return weft.Scene(cloth, pins=[weft.Pin(cloth.corners("top-left"))])


scenes = [hanging(fabric) for fabric in ("silk", "cotton", "denim", "jersey")]
worlds = weft.batch(scenes, fps=25)  # processes=4: four worlds at a time
x = worlds.run(0.8)  # of each world (21, n, 3) [m]: the start and 20 frames
for _ in range(5):  # frames with actions: the pin of each world rises by 1 cm a frame
    worlds.step(np.full((4, 1, 3), [0.0, 0.01, 0.0]))
worlds.reset(2)  # denim starts again, the others stay as they are

alone = weft.batch(scenes[2:3], fps=25).run(0.8)
print(f"denim in the batch and alone are apart by {np.abs(x[2] - alone[0]).max():g} m")

runs = weft.batch(scenes, fps=25).run(0.8, out="runs")  # a run folder for each world
files = [weft.Run(folder).render(folder / "end.png") for folder in runs]
images = [np.asarray(Image.open(file).convert("RGB")) for file in files]
rows = [np.concatenate(images[k : k + 2], axis=1) for k in (0, 2)]
Image.fromarray(np.concatenate(rows)).resize((1280, 720)).save("batch.png")
