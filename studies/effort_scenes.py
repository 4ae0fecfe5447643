"""Scenes in which cloth meets something, small, from starts that differ by millimeters."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import resources

import numpy as np

from weft.bodies.motion.pins import Keyframe, Path, Pin
from weft.cloth.cloth import Cloth
from weft.cloth.create import join, sheet
from weft.contact import sphere
from weft.contact.settings import SelfContact
from weft.scene.build import load_scene
from weft.scene.scene import Scene
from weft.show.picture.renderer import Style

SHIFT, TURN = 2e-3, 0.2  # [m], [degrees] by which starts differ at most: 2 mm at a corner each
CONTACT = SelfContact(gap=4e-3, friction=0.3)
SMALL = Style(width=240, height=240)


@dataclass(frozen=True)
class TimedScene:
    """A scene and when to look at it."""

    name: str
    make: Callable[[int, int], Scene]  # of vertices a side and the number of the start
    impact: float  # [s]
    seconds: float  # [s]
    axis: int  # shapes are compared as seen along it
    style: Style = SMALL


def started(cloth: Cloth, seed: int) -> Cloth:
    """The cloth shifted along the floor and turned about the vertical by a little."""
    rng = np.random.default_rng(seed)
    x, z, turn = rng.uniform(-1.0, 1.0, 3) * (SHIFT, SHIFT, TURN)
    return cloth.move((x, 0.0, z), (0.0, turn, 0.0))


def drape(n: int, seed: int) -> Scene:
    """Linen falls on a sphere on a floor, as in ``weft demo``."""
    with resources.as_file(resources.files("weft") / "scenes" / "drape.yaml") as path:
        scene = load_scene(path, (f"cloth.sheet.nx={n}", f"cloth.sheet.ny={n}")).scene
    return scene.with_(cloth=started(scene.cloth, seed))


def pushed(n: int, seed: int) -> Scene:
    """A sheet hangs by two corners; a ball pushes into it at 1.5 m/s, and stays."""
    hung = sheet(n, n, 0.5, 0.5, pattern="alternating").move((0, 0, 0), (90, 0, 0))
    cloth = started(hung, seed)
    push = Path([Keyframe(0.0), Keyframe(0.2, (0.0, 0.0, 0.3))], "linear", hold=True)
    ball = sphere(0.06, 0.02).move((0.02, -0.08, -0.08), push)
    return Scene(cloth, [Pin(cloth.corners("top"))], bodies=[ball], contact=CONTACT)


def crossed(n: int, seed: int) -> Scene:
    """A strip falls across another one, whose ends come closer."""
    lower, upper = (sheet(n, max(3, n // 3), 0.6, 0.2, pattern="alternating") for _ in range(2))
    upper = started(upper.move((0.02, 0.08, 0.01), (0, 80, 0)), seed)
    cloth = join([lower, upper], ["lower", "upper"])
    pins = [Pin(lower.border(side), path=_nearer(way)) for side, way in _INWARD.items()]
    return Scene(cloth, pins, contact=CONTACT)


_INWARD = {"left": 0.03, "right": -0.03}  # [m]


def _nearer(way: float) -> Path:
    return Path([Keyframe(0.0), Keyframe(0.2, (way, 0.0, 0.0))], hold=True)


CASES = (
    TimedScene("drape", drape, impact=0.3, seconds=1.6, axis=1),
    TimedScene(
        "pushed", pushed, impact=0.16, seconds=0.8, axis=2, style=replace(SMALL, azimuth=60.0)
    ),
    TimedScene("crossed", crossed, impact=0.2, seconds=0.8, axis=1),
)
