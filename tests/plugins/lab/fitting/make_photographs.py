"""The photographs of examples/fabrics/drapings, made by running this module. A
fabric's specimen is draped some times, on a mesh and from bumps that no fit has; each time it lies
turned on the tester, under a lens that is a little aside.
"""

from pathlib import Path

import numpy as np

from tests.plugins.lab.fitting.camera_above import photograph
from weft.fabric.fabric import fabric
from weft.plugins.lab.laboratory.cusick import cusick
from weft.show.picture.renderer import save_png

FOLDER = Path(__file__).parents[4] / "examples" / "fabrics" / "drapings"
SIZE, MESH, SEED = 6e-3, 3, 40  # [m]
HEIGHT = 0.9  # [m]
MOST = 8
_RNG = np.random.default_rng(7)
TURN = _RNG.uniform(0, 2 * np.pi, MOST)  # [rad] of the specimen
ASIDE = _RNG.uniform(-0.015, 0.015, (MOST, 2))  # [m] of the lens
OTHERS, OTHER_COUNT = 300, 4  # the first seed of other folds, and how many their means are of

FIT = """\
# A fabric from photographs of three drapings:  weft fabrics fit examples/fabrics/drapings.yaml
# They are of weft's own "{name}" (tests/plugins/lab/fitting/make_photographs.py), rendered;
# drapes from bumps and on a mesh that the fit does not have; it is told the weight, and how warp
# lies in each.
name: drapings
title: from {count} photographs of its drapes
start: {start}
hold: [stretch_warp, stretch_weft, shear] # a drape hardly sees them
measurements:
  - kind: value # a balance
    field: density
    value: {weight} g/m^2
    uncertainty: 1 %
  - kind: ratio # a drape sees the mean of both: said, hardly seen
    fields: [bending_warp, bending_weft]
    value: 1
    uncertainty: 30 %
  - kind: drape
    picture: [{pictures}]
    warp: [{warp}] # counter-clockwise from the right
    camera: 90 cm # of the lens above the disk
    size: 6 mm
"""


def photographs(name, folder, count):
    """Pictures 0.png, 1.png, ... in a folder; their drapes' coefficients."""
    found = []
    for k in range(count):
        draped = cusick(fabric(name), SIZE, 1, SEED + k, MESH)
        image = photograph(draped.mesh, draped.typical, HEIGHT, tuple(ASIDE[k]), float(TURN[k]))
        save_png(folder / f"{k}.png", image)
        found.append(draped.coefficient)
    return found


def fit_text(name, start, count, folder=""):
    """The fit file of that many pictures in a folder."""
    return FIT.format(
        name=name,
        count=count,
        start=start,
        weight=round(1e3 * fabric(name).density, 3),
        pictures=", ".join(f"{folder}{k}.png" for k in range(count)),
        warp=", ".join(f"{np.degrees(t):.1f} deg" for t in TURN[:count]),
    )


def other_folds(f):
    """The test of a fabric from bumps that neither pictures nor fits have."""
    return cusick(f, SIZE, OTHER_COUNT, OTHERS, MESH)


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for k, coefficient in enumerate(photographs("wool", FOLDER, 3)):
        print(f"{k}.png: {100 * coefficient:.1f} %")
    path = FOLDER.parent / "drapings.yaml"
    path.write_text(fit_text("wool", "cotton", 3, "drapings/"))
