"""From a typed scene file to a Scene, collecting every problem on the way."""

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import TypeVar

import numpy as np

from weft.arrays import Ints
from weft.cloth import Cloth
from weft.contact import (
    Between,
    Body,
    Friction,
    box,
    capsule,
    load_body,
    load_frames,
    plate,
    ring,
    sphere,
)
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
from weft.plain_yaml import Loc
from weft.scene.blocks import PathBlock
from weft.scene.contact_schema import BodyBlock, ContactBlock, FrictionBlock
from weft.scene.file import Source, dotted, read_source, validate
from weft.scene.law import law_of_fabric
from weft.scene.needs import needs_of
from weft.scene.scene import Scene, Settings
from weft.scene.schema import ClothBlock, PinBlock, SceneFile, SplineBlock
from weft.solve.base import Stop
from weft.sources import as_splines, joined, spline_sheet

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
    file = validate(source)
    needs_of(source, file)
    return Builder(source, file).build()


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
        one: Loc = ("cloth",)
        several: list[tuple[Loc, ClothBlock]] = [(("cloths", i), b) for i, b in enumerate(f.cloths)]
        blocks = [(one, f.cloth)] if f.cloth else several
        self._made: dict[str, Fabric] = {}
        cloths = [self._cloth(loc, block) for loc, block in blocks]
        pins: list[Pin | None] = []
        whole = None
        if all(cloth is not None for cloth in cloths):
            whole = self._try(("cloths",), lambda: self._joined([c for c in cloths if c]))
        if whole is not None:
            cloth = whole
            pins = [
                self._try(("pins", i), lambda i=i, p=p: self._pin(i, p, cloth))  # type: ignore[misc]
                for i, p in enumerate(f.pins)
            ]
        if self.problems or whole is None:
            raise SceneProblems(self.problems)
        settings = self._try(("solver",), self._settings)
        form = self._try(("conditions",), self._form)
        law = self._try(("law",), self._law)
        buckling = None if f.buckling is None else BucklingForm(**f.buckling.model_dump())
        bodies = [
            self._try(("bodies", i), lambda i=i, b=b: self._body(i, b))  # type: ignore[misc]
            for i, b in enumerate(f.bodies)
        ]
        contact = None
        if f.contact is not None:
            contact = self._try(("contact",), lambda: _contact(f.contact))  # type: ignore[arg-type]
        pressure = self._try(("pressure",), self._pressure)
        adaptive = self._try(("adaptive",), self._adaptive)
        scene = self._try((), lambda: Scene(
            whole, [p for p in pins if p is not None], f.gravity, f.damping, f.step,
            blocks[0][1].rest_angles, f.integrator, settings, law, buckling, pressure, form,
            contact,
            [b for b in bodies if b is not None], adaptive,
            f.velocity,
            f.model_dump(mode="json", exclude_unset=True),
        ))  # fmt: skip
        if scene is None or settings is None:
            raise SceneProblems(self.problems)
        self._try(("solver", "linear"), scene.stepper)
        model = self._try(("contact",) if f.contact else ("conditions",), scene.model)
        if model is not None:
            self._try(("pins",), lambda: model.prescribed(0.0))
            self._try(("contact", "resolve"), lambda: scene.resolved)
        if self.problems:
            raise SceneProblems(self.problems, scene)
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
        body = self._shape(block, block.name or f"bodies.{number}")
        path = None if block.path is None else _path(block.path)
        body = dataclasses.replace(body, thickness=block.thickness)
        body = body.moved(block.translation, path, block.rotation)
        body.check_until(self.file.seconds)
        return body

    def _shape(self, b: BodyBlock, name: str) -> Body:
        if b.sphere is not None:
            return sphere(b.sphere.radius, b.sphere.size, name)
        if b.plate is not None:
            return plate(b.plate.width, b.plate.depth, b.plate.size, name)
        if b.capsule is not None:
            return capsule(b.capsule.radius, b.capsule.length, b.capsule.size, name)
        if b.box is not None:
            return box((b.box.width, b.box.height, b.box.depth), b.box.size, name)
        if b.ring is not None:
            return ring(b.ring.radius, b.ring.thickness, b.ring.size, name)
        assert b.mesh is not None
        path = self.source.path.parent / b.mesh.file
        if b.mesh.fps is None:
            return load_body(path, b.mesh.scale, name)
        m = b.mesh
        frames, faces = load_frames(
            path, b.mesh.fps, scale=m.scale, start=m.start, hold=m.hold, name=name
        )
        return Body(frames.positions[0], faces, None, name, None, frames)

    def _pressure(self) -> float | Gas | None:
        p = self.file.pressure
        if p is None or p.volume is None:
            return None if p is None else p.pressure
        return Gas(p.pressure, p.volume, p.ambient)

    def _law(self) -> Callable[[Fabric], Law] | None:
        b = self.file.law
        if b is None:
            return None

        def law(fabric: Fabric) -> Law:
            return law_of_fabric(fabric, b.name, b.warp, b.weft)

        for made in self._made.values():
            law(made)
        return law

    def _form(self) -> ConditionForm | None:
        c = self.file.conditions
        return None if c is None else ConditionForm(c.p, Variant(c.variant), c.bend)

    def _adaptive(self) -> AdaptiveSettings | None:
        a = self.file.adaptive
        return None if a is None else AdaptiveSettings(**a.model_dump())

    def _cloth(self, loc: Loc, block: ClothBlock) -> Cloth | None:
        """One cloth where it starts; None with its problems noted."""
        made = self._try((*loc, "fabric"), lambda: self._fabric(block, dotted((*loc, "fabric"))))
        kind = next(k for k in ("sheet", "panel", "mesh") if getattr(block, k) is not None)
        if block.discretization == "bspline" and block.sheet is not None:
            sheet = self._try((*loc, kind), lambda: self._spline_sheet(block, made))
            return None if sheet is None else self._moved(loc, block, sheet)
        mesh = self._try((*loc, kind), lambda: self._mesh(block))
        if mesh is None:
            return None
        if len(mesh.isolated_vertices):
            error = isolated_error(mesh)
            error.where = f"{self.source.where(loc)}, {mesh.source}"
            self.problems.append(error)
        cloth = Cloth(mesh, made or fabric("cotton"))
        if block.discretization == "bspline":
            fitted = self._try((*loc, "spline"), lambda: _fitted(cloth, block.spline))
            if fitted is None:
                return None
            cloth = fitted
        return self._moved(loc, block, cloth)

    def _moved(self, loc: Loc, block: ClothBlock, cloth: Cloth) -> Cloth | None:
        return self._try(
            (*loc, "translation"), lambda: cloth.moved(block.translation, block.rotation)
        )

    def _spline_sheet(self, block: ClothBlock, made: Fabric | None) -> Cloth:
        s, b = block.sheet, block.spline
        assert s is not None
        if s.model_fields_set & {"pattern", "seed"}:
            raise SceneError(
                "cloth.sheet.pattern", got=s.pattern, expected="nothing: splines have no triangles"
            )
        return spline_sheet(
            s.nx, s.ny, s.width, s.height, made or fabric("cotton"),
            net=b.net, rule=b.rule, bending=b.bending, density=b.density,
        )  # fmt: skip

    def _joined(self, cloths: list[Cloth]) -> Cloth:
        """All cloths as one."""
        f = self.file
        blocks = [f.cloth] if f.cloth else f.cloths
        thickness = [
            c.fabric.thickness if b.thickness == "fabric" else b.thickness
            for b, c in zip(blocks, cloths)
        ]
        names = [b.name or f"cloth {k + 1}" for k, b in enumerate(blocks)]
        if f.cloth is None:
            if len({b.rest_angles for b in blocks}) > 1:
                raise SceneError("cloths", got="different rest_angles", expected="the same for all")
            return joined(cloths, names, thickness)
        if f.cloth.name or thickness[0] is not None:
            (part,) = cloths[0].parts
            name = f.cloth.name or part.name
            part = dataclasses.replace(part, name=name, thickness=thickness[0])
            return dataclasses.replace(cloths[0], given=(part,))
        return cloths[0]

    def _fabric(self, cloth: ClothBlock, what: str) -> Fabric:
        """A cloth's fabric; equal ones are one."""
        value = cloth.fabric
        if isinstance(value, str) and value.endswith((".yaml", ".yml")):
            made = fabric(self.source.path.parent / value)
        else:
            made = fabric(value, what)
        return self._made.setdefault(repr(made), made)

    def _mesh(self, cloth: ClothBlock) -> TriangleMesh:
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
        name = block.name or f"pins.{number}"
        part = None if block.cloth is None else cloth.part(block.cloth)
        sides = block.corners is not None or block.border is not None
        if part is None and sides and len(cloth.parts) > 1:
            raise SceneError(
                f"{name}.cloth", got="nothing", expected=f"one of {[p.name for p in cloth.parts]}",
                hint="corners and borders are those of one cloth",
            )  # fmt: skip
        if block.corners is not None:
            selections.append(cloth.corners(block.corners, part))
        if block.border is not None:
            selections.append(cloth.border(block.border, part))
        if block.group is not None:
            known = f"{block.cloth} {block.group}" if part else block.group
            selections.append(cloth.group(known))
        if block.box is not None:
            inside = cloth.in_box(block.box.low, block.box.high)
            selections.append(inside if part is None else np.intersect1d(inside, part.vertices))
        if block.vertices is not None:
            ids = np.array(block.vertices, dtype=np.int64)
            bad = ids[(ids < 0) | (ids >= cloth.n_vertices)]
            if len(bad):
                raise SceneError(
                    f"{name}.vertices", got=int(bad[0]), expected=f"0 to {cloth.n_vertices - 1}"
                )
            selections.append(ids.astype(np.int32))
        path = None if block.path is None else _path(block.path)
        pin = Pin(np.concatenate(selections), block.until, path, name)
        pin.check_until(self.file.seconds)
        return pin


def _fitted(cloth: Cloth, b: SplineBlock) -> Cloth:
    return as_splines(
        cloth, spans=b.spans, span_size=b.span_size, corners=b.corners, smooth=b.smooth,
        density=b.density, rule=b.rule, bending=b.bending,
    )  # fmt: skip


def _contact(block: ContactBlock) -> SelfContact:
    pairs = [
        Between(p.between, None if p.friction is None else _friction(p.friction), p.ignore)
        for p in block.pairs
    ]
    values = block.model_dump(exclude={"pairs", "friction"})
    return SelfContact(**values, pairs=tuple(pairs), friction=_friction(block.friction))


def _friction(value: float | FrictionBlock) -> Friction:
    return Friction(value) if isinstance(value, float) else Friction(value.static, value.kinetic)


def _path(block: PathBlock) -> Path:
    frames = [
        Keyframe(k.time, k.translation, float(np.radians(k.rotation))) for k in block.keyframes
    ]
    return Path(frames, block.interpolation, block.axis, block.center, block.hold)
