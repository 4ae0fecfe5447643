"""From a typed scene file to a Scene, collecting every problem on the way."""

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import TypeVar

import numpy as np

from weft.arrays import Ints
from weft.cloth import Cloth
from weft.contact.body import Body, plate, sphere
from weft.contact.contact import SelfContact
from weft.energies.buckling_bending import BucklingForm
from weft.energies.condition import ConditionForm, Variant
from weft.energies.pressure import Gas
from weft.errors import SceneError, SceneProblems, WeftError
from weft.fabric import Fabric, fabric
from weft.garment.triangulate import triangulated
from weft.integrators.adaptive import AdaptiveSettings
from weft.integrators.baraff_witkin_1998 import Settings1998
from weft.integrators.base import StepSettings
from weft.integrators.quasi_static import QuasiStaticSettings
from weft.integrators.semi_implicit_bdf2 import SemiImplicitSettings
from weft.io import read_mesh
from weft.laws.base import Law, Psd
from weft.mesh import TriangleMesh, grid, isolated_error
from weft.pins import Keyframe, Path, Pin
from weft.scene.file import Loc, Source, read_source, validate
from weft.scene.law import law_of_fabric
from weft.scene.scene import Scene, Settings
from weft.scene.schema import BodyBlock, ClothBlock, PathBlock, PinBlock, SceneFile
from weft.solve.base import Stop

T = TypeVar("T")


@dataclass(frozen=True)
class LoadedScene:
    """A scene with the length and frame rate that its file asks for."""

    scene: Scene
    seconds: float  # [s]
    fps: float  # [1/s]

    @property
    def frames(self) -> int:
        """Number of the last frame."""
        return round(self.seconds * self.fps)


def load_scene(path: str | FilePath, overrides: Sequence[str] = ()) -> LoadedScene:
    """A scene from a YAML file.

    Args:
        path: the file.
        overrides: ``path=value`` texts, such as ``cloth.sheet.nx=80``.

    Raises:
        SceneError: a file that cannot be read. SceneProblems: everything that is wrong with it.
    """
    source = read_source(path, overrides)
    return Builder(source, validate(source)).build()


class Builder:
    """Builds the parts of a scene; problems of independent parts are collected."""

    def __init__(self, source: Source, file: SceneFile) -> None:
        self.source, self.file = source, file
        self.problems: list[WeftError] = []

    def build(self) -> LoadedScene:
        """The scene.

        Raises:
            SceneProblems: all problems found.
        """
        f = self.file
        made = self._try(("cloth", "fabric"), self._fabric)
        kinds = ("sheet", "panel", "mesh")
        kind = next(k for k in kinds if getattr(f.cloth, k) is not None)
        mesh = self._try(("cloth", kind), self._mesh)
        pins: list[Pin | None] = []
        if mesh is not None:
            cloth = Cloth(mesh, made or fabric("cotton"))
            cloth = cloth.moved(f.cloth.translation, f.cloth.rotation)
            pins = [
                self._try(("pins", i), lambda i=i, p=p: self._pin(i, p, cloth))  # type: ignore[misc]
                for i, p in enumerate(f.pins)
            ]
            if len(mesh.isolated_vertices):
                error = isolated_error(mesh)
                error.where = f"{self.source.where(('cloth',))}, {mesh.source}"
                self.problems.append(error)
        if self.problems or mesh is None:
            raise SceneProblems(self.problems)
        settings = self._try(("solver",), self._settings)
        form = self._try(("conditions",), self._form)
        law = self._try(("law",), lambda: self._law(made)) if made is not None else None
        buckling = None if f.buckling is None else BucklingForm(**f.buckling.model_dump())
        bodies = [
            self._try(("bodies", i), lambda i=i, b=b: self._body(i, b))  # type: ignore[misc]
            for i, b in enumerate(f.bodies)
        ]
        contact = None if f.contact is None else SelfContact(**f.contact.model_dump())
        pressure = self._try(("pressure",), self._pressure)
        adaptive = self._try(("adaptive",), self._adaptive)
        scene = self._try((), lambda: Scene(
            cloth, [p for p in pins if p is not None], f.gravity, f.damping, f.step,
            f.cloth.rest_angles, f.integrator, settings, law, buckling, pressure, form, contact,
            [b for b in bodies if b is not None], adaptive,
            f.velocity,
            f.model_dump(mode="json"),
        ))  # fmt: skip
        if scene is None or settings is None:
            raise SceneProblems(self.problems)
        self._try(("solver", "linear"), scene.stepper)
        model = self._try(("conditions",), scene.model)
        if model is not None:
            self._try(("pins",), lambda: model.prescribed(0.0))
        if self.problems:
            raise SceneProblems(self.problems)
        return LoadedScene(scene, f.seconds, f.fps)

    def _try(self, loc: Loc, make: Callable[[], T]) -> T | None:
        """What ``make`` makes, or None with its error noted, at its line."""
        try:
            return make()
        except WeftError as error:
            last = error.what.rsplit(".", 1)[-1]
            place = (*loc, last) if (*loc, last) in self.source.lines else loc
            line = self.source.where(place)
            error.where = f"{line}, {error.where}" if error.where else line
            self.problems.append(error)
            return None

    def _settings(self) -> Settings:
        """How a step is solved; fields of the other integrator are refused."""
        s, name = self.file.solver, self.file.integrator
        other = {
            "backward_euler": {"stop"},
            "bdf2": {"stop"},
            "bdf2_semi_implicit": {"stop", "tolerance", "max_iterations"},
            "baraff_witkin_1998": {"tolerance", "max_iterations"},
            "quasi_static": {"stop", "tolerance", "forcing"},
        }[name]
        for field in sorted(other & s.model_fields_set):
            raise SceneError(
                f"solver.{field}",
                got=getattr(s, field),
                expected=f"nothing: integrator {name} does not have it",
                hint="`weft explain scene.solver`",
            )
        if name == "quasi_static":
            psd = Psd[(s.psd or "projected").upper()]
            own = QuasiStaticSettings(psd=psd, linear=s.linear)
            given = "max_iterations" in s.model_fields_set
            return dataclasses.replace(own, max_iterations=s.max_iterations) if given else own
        if name == "bdf2_semi_implicit":
            psd = Psd[(s.psd or "projected").upper()]
            return SemiImplicitSettings(psd, 0.01 if s.forcing is None else s.forcing, s.linear)
        if name in ("backward_euler", "bdf2"):
            psd = Psd[(s.psd or "projected").upper()]
            forcing = 0.5 if s.forcing is None else s.forcing
            return StepSettings(s.tolerance, s.max_iterations, psd, s.linear, forcing)
        return Settings1998(
            psd=Psd[(s.psd or "exact").upper()],
            tolerance=0.01 if s.forcing is None else s.forcing,
            linear=s.linear,
            stop=Stop[s.stop.upper()],
        )

    def _body(self, number: int, block: BodyBlock) -> Body:
        name = block.name or f"bodies.{number}"
        if block.sphere is not None:
            body = sphere(block.sphere.radius, block.sphere.size, name)
        else:
            assert block.plate is not None
            body = plate(block.plate.width, block.plate.depth, block.plate.size, name)
        path = None if block.path is None else _path(block.path)
        body = body.moved(block.translation, path)
        if path is not None:
            Pin(np.zeros(1, dtype=np.int32), None, path, name).check_until(self.file.seconds)
        return body

    def _pressure(self) -> float | Gas | None:
        p = self.file.pressure
        if p is None or p.volume is None:
            return None if p is None else p.pressure
        return Gas(p.pressure, p.volume, p.ambient)

    def _law(self, fabric: Fabric) -> Law | None:
        b = self.file.law
        return None if b is None else law_of_fabric(fabric, b.name, b.warp, b.weft)

    def _form(self) -> ConditionForm | None:
        c = self.file.conditions
        return None if c is None else ConditionForm(c.p, Variant(c.variant), c.bend)

    def _adaptive(self) -> AdaptiveSettings | None:
        a = self.file.adaptive
        return None if a is None else AdaptiveSettings(**a.model_dump())

    def _fabric(self) -> Fabric:
        value = self.file.cloth.fabric
        if isinstance(value, str) and value.endswith((".yaml", ".yml")):
            return fabric(self.source.path.parent / value)
        return fabric(value, "cloth.fabric")

    def _mesh(self) -> TriangleMesh:
        cloth: ClothBlock = self.file.cloth
        if cloth.sheet is not None:
            s = cloth.sheet
            return grid(s.nx, s.ny, s.width, s.height, s.pattern, s.seed)
        if cloth.panel is not None:
            p = cloth.panel
            return triangulated(p.outline, p.holes, p.size, seed=p.seed)
        m = cloth.mesh
        assert m is not None
        path = self.source.path.parent / m.file
        return read_mesh(path, scale=m.scale, uv_scale=m.uv_scale, warp=m.warp)

    def _pin(self, number: int, block: PinBlock, cloth: Cloth) -> Pin:
        selections: list[Ints] = []
        if block.corners is not None:
            selections.append(cloth.corners(block.corners))
        if block.border is not None:
            selections.append(cloth.border(block.border))
        if block.group is not None:
            selections.append(cloth.group(block.group))
        if block.box is not None:
            selections.append(cloth.in_box(block.box.low, block.box.high))
        name = block.name or f"pins.{number}"
        if block.vertices is not None:
            ids = np.array(block.vertices, dtype=np.int32)
            bad = ids[(ids < 0) | (ids >= cloth.n_vertices)]
            if len(bad):
                raise SceneError(
                    f"{name}.vertices", got=int(bad[0]), expected=f"0 to {cloth.n_vertices - 1}"
                )
            selections.append(ids)
        path = None if block.path is None else _path(block.path)
        pin = Pin(np.concatenate(selections), block.until, path, name)
        pin.check_until(self.file.seconds)
        return pin


def _path(block: PathBlock) -> Path:
    frames = [
        Keyframe(k.time, k.translation, float(np.radians(k.rotation))) for k in block.keyframes
    ]
    return Path(frames, block.interpolation, block.axis, block.center, block.hold)
