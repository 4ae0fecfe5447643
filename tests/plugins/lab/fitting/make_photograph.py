"""The photograph of examples/fabrics: ``python -m tests.plugins.lab.fitting.make_photograph``."""

from pathlib import Path

from tests.plugins.lab.fitting.camera_above import photograph
from weft.fabric.fabric import fabric
from weft.plugins.lab.laboratory.cusick import cusick
from weft.show.picture.renderer import save_png

PATH = Path(__file__).parents[4] / "examples" / "fabrics" / "photograph.png"
NAME, SIZE, SEED, MESH = "wool", 5e-3, 4, 3
HEIGHT, ASIDE, TURN = 0.9, (0.012, 0.008), 0.65  # [m], [m], [rad]


def made():
    """The drape and its picture."""
    draped = cusick(fabric(NAME), SIZE, 1, SEED, MESH)
    return draped, photograph(draped.mesh, draped.typical, HEIGHT, ASIDE, TURN)


if __name__ == "__main__":
    draped, image = made()
    save_png(PATH, image)
    print(f"{PATH.name}: {PATH.stat().st_size / 1e3:.0f} kB; {100 * draped.coefficient:.1f} %")
