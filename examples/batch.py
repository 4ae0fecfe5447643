"""Eight sheets of eight fabrics, each as it is alone: pins that are pulled, and one world that
starts again.
"""

import numpy as np

import weft

FABRICS = ("cotton", "silk", "denim", "linen", "jersey", "wool", "cotton", "silk")


def hanging(fabric):
    cloth = weft.sheet(13, 13, fabric=fabric)
    return weft.Scene(cloth, pins=[weft.Pin(cloth.corners("top"))])


scenes = [hanging(fabric) for fabric in FABRICS]
worlds = weft.batch(scenes, fps=25)  # processes=2 divides them among two processes
worlds.run(0.4)

alone = weft.batch(scenes[2:3], fps=25)
alone.run(0.4)
apart = np.abs(worlds.positions()[2] - alone.positions()[0]).max()
print(f"the third one and one that is alone are apart by {apart:g} m")

worlds.reset(5)  # the others go on
for _ in range(5):
    up = np.zeros((len(worlds), 1, 3))  # one pin in each world, by how much it moves in a frame
    up[:, :, 1] = 0.01
    worlds.step(up)
lowest = worlds.positions()[:, :, 1].min(axis=1)
print("lowest points, with every pin 5 cm higher:", lowest.round(3).tolist())
