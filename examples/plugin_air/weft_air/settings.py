"""Scene blocks of the plugin: ``added_mass`` and ``wind_grid``."""

import dataclasses
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from weft.base.errors import SceneError
from weft.base.runtime_types import checked
from weft.base.settings import documented, setting
from weft.energies.air.lift_and_drag import AirForce
from weft.energies.air.wind import Wind
from weft_air.added_mass import AddedMass
from weft_air.wind_grid import WindGrid

if TYPE_CHECKING:
    from weft.scene.scene import Scene

# Faces that the wind passes in a step, times the air's share of the mass, from which weft_air
# warns; results are wrong from 0.9 on (README.md).
HEAVY_AIR = 0.5


@checked(SceneError, "added_mass", unchecked=("energies",))
@documented
@dataclass(frozen=True)
class AddedMassSettings:
    """Air that a strip of cloth along the wind carries with it (Lighthill's slender bodies).

    Raises:
        SceneError: a span that is not > 0.
    """

    span: float = setting(
        0.1,
        "width of the strip across the wind: an area carries the mass pi/4 density span of the "
        "scene's air",
        "m",
        above=0,
        keyframes=True,
    )

    def energies(self, scene: "Scene") -> Sequence[AddedMass]:
        """Return the energy of the carried air, on the vertices of the scene's cloth.

        Raises:
            SceneError: a scene without air, or cloth of splines.
        """
        if scene.cloth.embedding is not None:
            raise SceneError("added_mass", got="cloth of splines", expected="cloth of triangles")
        energy = AddedMass(scene.cloth.mesh, air_of(scene), self.span)
        self._warn_of_long_steps(scene, energy)
        return [energy]

    def _warn_of_long_steps(self, scene: "Scene", energy: AddedMass) -> None:
        """Warn if heavy air passes many faces in one step, because its flow is explicit."""
        share = energy.mass / (energy.mass + min(f.density for f in scene.cloth.fabrics))
        cell = float(np.median(np.sqrt(2 * energy.mesh.rest_area)))
        speed = energy.wind.speed
        passed = speed * scene.step / cell
        if share * passed > HEAVY_AIR:
            most = HEAVY_AIR / share * cell / speed
            warnings.warn(
                f"added_mass: in a step of {scene.step:.3g} s the mean wind passes {passed:.2g} "
                f"faces, and {share:.2g} of the moving mass is air: strips swing too little or "
                f"blow up; take a step of {most:.2g} s or less, or larger faces",
                stacklevel=2,
            )


@checked(SceneError, "wind_grid", unchecked=("energies",))
@documented
@dataclass(frozen=True)
class WindGridSettings:
    """Wind whose velocities are on a grid in space and time: lift and drag on cloth.

    ``grid`` is of Python alone: the grid itself, in place of its file.

    Raises:
        SceneError: neither file nor grid; numbers out of range.
    """

    file: str | None = setting(
        None,
        "an .npz of arrays velocity (frames,nx,ny,nz,3) [m/s], origin and spacing (3,) [m], and "
        "times (frames,) [s]; relative to the scene file",
    )
    density: float = setting(1.2, "of the air", "kg/m^3", above=0, keyframes=True)
    drag: float = setting(1.17, "coefficient, as of `wind`", least=0, keyframes=True)
    lift: float = setting(1.12, "coefficient, as of `wind`; <= drag", least=0, keyframes=True)
    grid: WindGrid | None = None

    def __post_init__(self) -> None:
        if self.file is None and self.grid is None:
            raise SceneError("wind_grid.file", got="nothing", expected="the path of an .npz")

    def read_files(self, folder: Path) -> "WindGridSettings":
        """Return the settings with the grid of the file, whose path is relative to a folder.

        Raises:
            SceneError: as ``WindGrid.load``.
        """
        if self.grid is not None or self.file is None:
            return self
        return dataclasses.replace(self, grid=WindGrid.load(folder / self.file))

    @property
    def air(self) -> Wind:
        """The wind of the grid, which is read."""
        return Wind(density=self.density, drag=self.drag, lift=self.lift, field=self.grid)

    def energies(self, scene: "Scene") -> Sequence[AirForce]:
        """Return lift and drag on every surface of the scene's cloth.

        Raises:
            SceneError: a scene that has ``wind``, too.
        """
        wind = air_of(scene)
        surfaces = [surface for _, surface in scene.cloth.elements]
        names = ["wind grid" if k == 0 else f"wind grid {k + 1}" for k in range(len(surfaces))]
        return [AirForce(s.samples(), wind, name) for s, name in zip(surfaces, names)]


def air_of(scene: "Scene") -> Wind:
    """Return the air of a scene: of its ``wind``, or of its ``wind_grid``.

    Raises:
        SceneError: neither, or both.
    """
    on_grid: WindGridSettings | None = getattr(scene, "wind_grid", None)
    if scene.wind is not None and on_grid is not None:
        raise SceneError(
            "wind_grid",
            got="with wind",
            expected="one of them",
            hint="in Python, the field of a wind may be a grid: weft.Wind(velocity, field=grid)",
        )
    if scene.wind is not None:
        return scene.wind
    if on_grid is not None:
        return on_grid.air
    raise SceneError(
        "added_mass",
        got="a scene without air",
        expected="wind or wind_grid",
        hint="wind: {} is still air",
    )
