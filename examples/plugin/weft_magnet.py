"""A plugin for weft in one file: an energy with a scene block, a body and a look.

``pip install ./examples/plugin``, then ``weft run examples/plugin/scene.yaml``.
"""

from weft.extensions import Plugin

# Declared before other modules of weft are imported, because they may ask for it.
plugin = Plugin(
    "magnet",
    weft="0.1",
    version="0.1.0",
    entries={
        "energies": {"magnet": "weft_magnet:Magnet"},
        "bodies": {"egg": "weft_magnet:EGG"},
        "looks": {"height": "weft_magnet:HEIGHT"},
    },
)

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from weft.base.settings import Setting, Size, documented, setting
from weft.contact import Body, sphere
from weft.scene.body_source import BodySource
from weft.scene.shape_block import shape_block
from weft.show.looks import Look, ShownFrame
from weft.solve.newton.psd import Psd


@documented
@dataclass(frozen=True)
class Magnet:
    """A magnet that pulls cloth to a place."""

    place: tuple[float, float, float] = setting((0.0, 0.0, 0.0), "of the magnet", "m")
    force: float = setting(1.0, "largest pull on a kilogram of cloth", "N/kg", keyframes=True)
    reach: float = setting(0.1, "distance of the largest pull", "m", above=0, keyframes=True)

    def energies(self, scene: object) -> Sequence["MagnetEnergy"]:
        """Return the energy of the magnet, on all vertices of the scene's cloth."""
        cloth = scene.cloth  # type: ignore[attr-defined]
        return [MagnetEnergy(cloth.mass, np.array(self.place), self.force, self.reach)]


@dataclass(frozen=True, eq=False)
class MagnetEnergy:
    """E = -sqrt(e) F r m exp(-|x - c|^2 / (2 r^2)) of every vertex, with its mass m.

    The pull is largest at the distance r from the magnet's place c, where it is F m.
    """

    mass: np.ndarray
    place: np.ndarray
    force: float
    reach: float
    name: str = "magnet"

    @property
    def stencil(self) -> np.ndarray:
        """Every vertex is an element of its own, (n,1)."""
        return np.arange(len(self.mass), dtype=np.int32)[:, None]

    def parts(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the offsets from the place over the reach (n,3), and the energies (n,) [J]."""
        s = (x[: len(self.mass)] - self.place) / self.reach
        well = np.exp(0.5 - 0.5 * (s**2).sum(1))
        return s, -self.force * self.reach * self.mass * well

    def value(self, x: np.ndarray) -> np.ndarray:
        """Return the energies (n,) [J]."""
        return self.parts(x)[1]

    def gradient(self, x: np.ndarray) -> np.ndarray:
        """Return the gradients (n,1,3) [N]."""
        s, energy = self.parts(x)
        return (-energy / self.reach)[:, None, None] * s[:, None]

    def hessian(self, x: np.ndarray, psd: Psd) -> np.ndarray:
        """Return the Hessians (n,1,1,3,3) [N/m]; projected, they have no negative eigenvalues."""
        s, energy = self.parts(x)
        k = (-energy / self.reach**2)[:, None, None]
        radial = s[:, :, None] * s[:, None, :]
        if psd is Psd.EXACT:
            return (k * (np.eye(3) - radial))[:, None, None]
        length2 = (s**2).sum(1)[:, None, None]
        inside = np.minimum(length2, 1.0) / np.maximum(length2, 1e-30)
        return (np.maximum(k, 0) * (np.eye(3) - inside * radial))[:, None, None]

    @property
    def constants(self) -> dict[str, np.ndarray]:
        """The numbers that derivatives are taken by, one row for each vertex."""
        n = len(self.mass)
        rows = {"force": self.force, "reach": self.reach, "place": self.place}
        made = {name: np.broadcast_to(value, (n, *np.shape(value))) for name, value in rows.items()}
        return {"mass": self.mass, **made}

    @property
    def structure(self) -> object:
        """What else the energy depends on: nothing."""
        return ()

    def mixed_derivatives(self, x: np.ndarray, step: object = None) -> dict[str, np.ndarray]:
        """Return the derivatives of the gradient by the constants."""
        g, (s, energy) = self.gradient(x), self.parts(x)
        by_reach = g * ((s**2).sum(1) / self.reach)[:, None, None] - g / self.reach
        exact = self.hessian(x, Psd.EXACT)[:, :, 0]
        unit = self.mass * np.exp(0.5 - 0.5 * (s**2).sum(1))
        by_force = unit[:, None, None] * s[:, None]
        per_mass = -energy / (self.reach * self.mass)
        return {
            "mass": per_mass[:, None, None] * s[:, None],
            "force": by_force,
            "reach": by_reach,
            "place": -exact,
        }


def egg(
    radius: Size,
    height: Annotated[float, Setting("from end to end", "m", above=0)],
    size: Annotated[float, Setting("approximate length of the edges", "m", above=0)] = 0.03,
    name: str = "egg",
) -> Body:
    """Create an egg, upright about the origin.

    Args:
        radius: [m] of its widest circle.
        height: [m] from end to end.
        size: [m] of its edges, about.
        name: for messages.
    """
    ball = sphere(radius, size)
    y = ball.vertices[:, 1] / float(radius)  # from -1 to 1
    wide = ball.vertices * [1, 0.5 * height / float(radius), 1]
    return Body(
        wide * np.column_stack([1 - 0.15 * y, 0 * y + 1, 1 - 0.15 * y]), ball.faces, name=name
    )


EGG = BodySource(shape_block(egg), "an egg, upright")


def height_of(frame: ShownFrame) -> np.ndarray:
    """Return the heights (n,) [m] of vertices above the lowest one."""
    return frame.x[:, 1] - frame.x[:, 1].min()


HEIGHT = Look("height", "height above the lowest point", "m", height_of)
