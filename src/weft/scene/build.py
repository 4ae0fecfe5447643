"""Building a ``Scene`` from a typed scene file, with every problem collected on the way."""

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path as FilePath
from typing import Any, TypeVar

import numpy as np

from weft.base.arrays import CornerUv
from weft.base.errors import (
    MeshError,
    Outlook,
    SceneError,
    SceneProblems,
    StartError,
    WeftError,
)
from weft.base.machine import PER_CLOTH_VERTEX, require_memory
from weft.base.schema.document import dotted_path
from weft.base.settings import settings_by_field
from weft.base.trees import Json, Yaml
from weft.base.yaml_lines import Loc
from weft.bodies.motion.pins import Pin
from weft.cloth.attachments import Attachment
from weft.cloth.cloth import Cloth
from weft.cloth.create import as_splines, spline_sheet, with_regions
from weft.cloth.regions import ContactThickness, own_thickness
from weft.cloth.rod import rod
from weft.contact import Body, load_animated, load_body, load_cached, load_frames
from weft.contact.contact import LOOK
from weft.discretization.mesh import TriangleMesh, grid, isolated_error
from weft.discretization.triangulate import triangulate_piece
from weft.energies.state import State
from weft.fabric.fabric import Fabric, fabric
from weft.integrators.model import Model
from weft.io import (
    knows_motion,
    read_mesh,
    read_surface,
    read_texture_coordinates,
    stage_keywords,
)
from weft.io.painted_weights import paint_mesh
from weft.io.surface import StageOptions
from weft.laws.base import Law
from weft.scene.attachment_schema import attachment_of, sew_loose_edges
from weft.scene.body_schema import SOURCES, BodyBlock
from weft.scene.build_model import build_model
from weft.scene.cloth_source import JoinedCloths
from weft.scene.field_schema import FieldBlock
from weft.scene.file import Source, first_frame, read_source, read_source_keyframes, validate
from weft.scene.law import law_of_fabric
from weft.scene.points import attached_points
from weft.scene.prepare import make_stepper, start_state, untangled_start
from weft.scene.scene import MOST_FRAMES, MOST_STEPS, Scene
from weft.scene.schema import SCENE_TYPES, ClothBlock, PinBlock, SceneFile
from weft.scene.selection import select_vertices
from weft.scene.shapes import BodyMeshBlock

T = TypeVar("T")
B = TypeVar("B")


@dataclass(frozen=True)
class LoadedScene:
    """A scene with the length and frame rate that its file gives."""

    scene: Scene
    seconds: float  # [s]
    fps: float  # [1/s]
    builder: "Builder | None" = None  # with what the sources of cloths built; None: Python made it
    notes: Sequence[str] = ()  # about sizes that were chosen

    @property
    def frames(self) -> int:
        """The number of the last frame."""
        return round(self.seconds * self.fps)


def load_scene(
    path: str | FilePath,
    overrides: Sequence[str] = (),
    integrator: str | None = None,
    *,
    text: str | None = None,
) -> LoadedScene:
    """Load a scene from a YAML file.

    Args:
        path: the file.
        overrides: ``path=value`` texts, such as ``cloth.sheet.nx=80``.
        integrator: in place of the file's, with settings of its own, if it is another one.
        text: the content of a file that is not written yet.

    Returns:
        The scene, with length and frame rate.

    Raises:
        SceneError: a file that cannot be read. SceneProblems: everything that is wrong with it.
    """
    source = read_source(path, overrides, integrator, text=text)
    return Builder(source, validate(source)).build()


class Builder:
    """Builder of a scene from its parts, which collects the problems of independent parts.

    Args:
        source: the scene file.
        file: its contents.

    ``bodies`` are those that could be built, and ``made`` what the cloths' sources have built, also
    if the scene could not. Sources may keep in ``shared`` what several cloths need.
    """

    def __init__(self, source: Source, file: SceneFile) -> None:
        self.source, self.file = source, file
        self.problems: list[WeftError] = []
        self.bodies: list[Body] = []
        self.made: list[Any] = []
        self.shared: dict[str, Any] = {}

    def build(self) -> LoadedScene:
        """Build the scene.

        Raises:
            SceneProblems: all problems found.
        """
        f, keyed = self.file, read_source_keyframes(self.source)
        self._try(("seconds",), self._check_frames)
        several: list[tuple[Loc, ClothBlock]] = [(("cloths", i), b) for i, b in enumerate(f.cloths)]
        blocks: list[tuple[Loc, ClothBlock]] = [(("cloth",), f.cloth)] if f.cloth else several
        self._made: dict[str, Fabric] = {}
        loaded = self._each("bodies", f.bodies, self._bodies)
        # Bodies have the numbers of their blocks, with which keyframes name them.
        bodies = [links[0] for links in loaded] + [b for links in loaded for b in links[1:]]
        self.bodies = bodies
        made = [self._source_of(loc, block) for loc, block in blocks]
        self.made = [thing for thing in made if thing is not None]
        joined = None
        if len(self.made) == len(made):
            joined = self._try(("cloths",), self._join)
        if joined is None:
            raise SceneProblems(self.problems)
        cloth = joined.cloth
        pins = self._each("pins", f.pins, partial(self._pin, cloth))
        held = self._each("attachments", f.attachments, partial(self._attachment, cloth))
        held += sew_loose_edges(cloth, f.sewing)
        if self.problems:
            raise SceneProblems(self.problems)
        law = self._try(("law",), self._law)
        at = [(*loc, b.source_name) for loc, b in blocks if b.source.join is not None]
        parts = self._try(at[0] if len(at) == 1 else ("cloths",), lambda: joined.parts(f))
        if parts is None:
            raise SceneProblems(self.problems)
        given = partial(self._rest, [b for _, b in blocks], cloth.mesh)
        rest = self._try((*blocks[0][0], "rest_shape"), given)
        start = self._try(("start_state",), self._start_state)
        scene = self._try(
            (),
            lambda: Scene(
                cloth,
                pins=pins,
                attachments=held,
                rest_angles=rest,
                keyed=keyed,
                integrator=f.integrator.name,
                settings=f.integrator.settings,
                law=law,
                contact=parts.contact,
                energies=parts.energies,
                gravity_from=f.gravity_from or parts.gravity_from,
                bodies=bodies,
                velocity=f.velocity,
                start_state=start,
                description=self.source.tree,
                scene_file=self.source.path,
                **self._as_written(),
            ),
        )
        if scene is None:
            raise SceneProblems(self.problems)
        self._try(("integrator", f.integrator.name, "linear"), lambda: make_stepper(scene))
        if held and self._try(("attachments",), lambda: attached_points(scene)) is None:
            raise SceneProblems(self.problems)
        model = self._try(("contact",) if f.contact else ("conditions",), partial(_model_of, scene))
        if model is not None:
            self._try(("pins",), lambda: model.prescribed_positions(0.0))
            before = len(self.problems)
            self._try(("contact", "resolve"), lambda: untangled_start(scene))
            if len(self.problems) == before:  # else the state has the same problem
                self._try(("start_state",), lambda: start_state(scene))
        if self.problems:
            raise SceneProblems(self.problems, scene)
        return LoadedScene(scene, f.seconds, f.fps, self, self.source.notes)

    def _check_frames(self) -> None:
        """Raise a SceneError for too many frames or steps, or no frame at all."""
        f = self.file
        frames, steps = f.seconds * f.fps, f.seconds / f.step
        got = f"{f.seconds:g} s at {f.fps:g} fps: {frames:.3g} frames"
        if not frames <= MOST_FRAMES:
            raise SceneError("seconds", got=got, expected=f"at most {MOST_FRAMES}")
        if round(frames) == 0:
            expected = f"one frame or more, {1 / f.fps:.3g} s"
            raise SceneError("seconds", got=got, expected=expected)
        if not steps <= MOST_STEPS:
            got, expected = f"{f.step:g} s: {steps:.3g} steps", f"at most {MOST_STEPS:g}"
            raise SceneError("step", got=got, expected=expected)

    def _as_written(self) -> Json:
        """Return the fields of the scene whose values are those of the file."""
        names = settings_by_field(Scene).keys() - SCENE_TYPES.keys() - {"contact"}
        return {name: getattr(self.file, name) for name in (*names, "pressure")}

    def _try(self, loc: Loc, make: Callable[[], T]) -> T | None:
        """Return the result of ``make``, or None after its error is noted with the line of
        ``loc``.
        """
        try:
            return make()
        except WeftError as error:
            self.problems.append(self.source.add_line(error, loc))
            return None

    def _each(self, name: str, blocks: Sequence[B], make: Callable[[int, B], T]) -> list[T]:
        """Build the blocks of a list, and note the problems of each one."""
        made = [self._try((name, i), partial(make, i, block)) for i, block in enumerate(blocks)]
        return [thing for thing in made if thing is not None]

    def _bodies(self, number: int, block: BodyBlock) -> Sequence[Body]:
        """Return the body of a block, or the links of an arm."""
        name, (kind, shape) = block.name or f"bodies.{number}", block.shape
        read_links = SOURCES[kind].links
        if read_links is None:
            return [self._make_body(name, block)]
        links = read_links(self.source.path.parent / shape, block, name)
        return [dataclasses.replace(link, thickness=block.thickness) for link in links]

    def _make_body(self, name: str, block: BodyBlock) -> Body:
        _, shape = block.shape
        if block.is_arm:
            raise SceneError(name, got="an arm", expected="one surface")
        if isinstance(shape, BodyMeshBlock):
            body = self._body_mesh(shape, name).weld(shape.weld)
        elif isinstance(shape, FieldBlock):
            body = shape.load(self.source.path.parent, name)
        else:
            body = shape.make(name)
        body = dataclasses.replace(body, thickness=block.thickness)
        body = body.move(block.translation, block.path, block.rotation)
        body = dataclasses.replace(body, rigid=block.rigid, landmarks=block.landmarks)
        body.check_until(self.file.seconds)
        return body

    def _body_mesh(self, m: BodyMeshBlock, name: str) -> Body:
        path = self.source.path.parent / m.file
        options = self._options(m)
        stage_keywords(path, options)  # refuses options that the file does not have
        timed: Json = {"scale": m.scale, "start": m.start, "hold": m.hold, "name": name}
        if m.motion is not None:
            return load_cached(
                path, self.source.path.parent / m.motion, m.fps, prim=m.prim, **timed
            )
        if knows_motion(path):
            return load_animated(path, m.fps, prim=m.prim, options=options, **timed)
        still = m.fps is None and path.suffix.lower() != ".npz"
        if still or m.prim is not None:
            return load_body(path, m.scale, name, m.prim)
        frames, faces = load_frames(path, m.fps, **timed)
        return Body(frames.positions[0], faces, None, name, None, frames)

    def _options(self, mesh: StageOptions) -> StageOptions:
        """Return how the stage of a mesh block is read."""
        return dataclasses.replace(mesh, origin=self._origin, preroll=self.file.preroll)

    @cached_property
    def _origin(self) -> float | None:
        """The time code at which the scene begins; reading it takes a process of its own."""
        return first_frame(self.file, self.source.path.parent)

    def _rest(self, blocks: Sequence[ClothBlock], mesh: TriangleMesh) -> Any:
        """Return the scene's word for rest angles, or the vertices (n,3) [m] of the file
        with them, in place of those of ``mesh``.
        """
        first = blocks[0]
        if all(b.rest_shape is None for b in blocks):
            return first.rest_angles
        if len(blocks) > 1:
            raise SceneError(
                "cloths.rest_shape", got="with several cloths", expected="cloth, alone"
            )
        return mesh.of_file(read_surface(self.source.path.parent / str(first.rest_shape))[0])

    def _start_state(self) -> State | None:
        """Read positions and velocities at the start; None: the file names none."""
        if self.file.start_state is None:
            return None
        path = self.source.path.parent / self.file.start_state
        try:
            with np.load(path, allow_pickle=False) as arrays:
                return State(arrays["x"], arrays["v"])
        except (OSError, KeyError, ValueError) as error:
            form = "an .npz file with x and v, (n,3)"
            raise SceneError("start_state", got=str(error), where=path, expected=form) from None

    def _law(self) -> Callable[[Fabric], Law] | None:
        b = self.file.law
        if b is None:
            return None
        law = partial(law_of_fabric, name=b.name, warp=b.warp, weft=b.weft)
        for made in self._made.values():
            law(made)
        return law

    def _source_of(self, loc: Loc, block: ClothBlock) -> Any:
        """Build a cloth, or what its source makes, where it starts.

        None: it has problems, which are noted.
        """
        build = block.source.build
        if build is None:
            made = self._cloth(loc, block)
            if made is None:
                return None
            return self._try((*loc, "surface"), lambda: self._paint(block, made))
        name = block.source_name
        return self._try((*loc, name), lambda: build(self, block, self._given_fabric(loc, block)))

    def _given_fabric(self, loc: Loc, block: ClothBlock) -> Fabric | None:
        """Return the fabric that a block names; None: it names none."""
        if "fabric" not in block.model_fields_set:
            return None
        return self._fabric(block.fabric, (*loc, "fabric"))

    def _cloth(self, loc: Loc, block: ClothBlock) -> Cloth | None:
        """Build one cloth where it starts; None with its problems noted."""
        made = self._try((*loc, "fabric"), lambda: self._fabric(block.fabric, (*loc, "fabric")))
        if block.rod is not None:
            line = self._try((*loc, "rod"), lambda: rod(**dict(block.rod)))
            return None if line is None else self._move(loc, block, line)
        kind = next(k for k in ("sheet", "panel", "mesh") if getattr(block, k) is not None)
        if block.discretization == "bspline" and block.sheet is not None:
            sheet = self._try((*loc, kind), lambda: self._spline_sheet(block, made))
            return None if sheet is None else self._move(loc, block, sheet)
        mesh = self._try((*loc, kind), lambda: self._mesh(block))
        if mesh is None:
            return None
        if len(mesh.isolated_vertices):
            error = isolated_error(mesh)
            error.where = f"{self.source.where(loc)}, {mesh.source}"
            self.problems.append(error)
        mesh = self._try((*loc, "paint"), partial(self._painted, block, mesh))
        if mesh is None:
            return None
        flat = self._try((*loc, "fabric"), partial(Cloth, mesh, made or fabric("cotton")))
        if flat is None:
            return None
        cloth: Cloth | None = flat
        if block.fabrics:
            cloth = self._try((*loc, "fabrics"), lambda: self._regions(loc, block, mesh, made))
        if block.discretization == "bspline":
            how = block.spline.model_dump(exclude={"net"})
            cloth = self._try((*loc, "spline"), partial(as_splines, flat, **how))
        return None if cloth is None else self._move(loc, block, cloth)

    def _painted(self, block: ClothBlock, mesh: TriangleMesh) -> TriangleMesh:
        """Return the mesh of a block with the weights that files paint."""
        if not block.paint:
            return mesh
        folder, m = self.source.path.parent, block.mesh
        if m is None:  # the rectangle around a sheet or panel
            flat = mesh.corner_uv - mesh.corner_uv.min(axis=(0, 1))
            uv: CornerUv | None = flat / flat.max(axis=(0, 1))
        else:
            uv = read_texture_coordinates(
                folder / m.file, m.prim, self._options(m), scale=m.scale, weld=m.weld
            )
        return paint_mesh(mesh, {name: folder / f for name, f in block.paint.items()}, uv)

    def _paint(self, block: ClothBlock, cloth: Cloth) -> Cloth:
        """Return a cloth with the appearance of its block."""
        if block.surface is None:
            return cloth
        look = block.surface.beside(self.source.path.parent).on_part()
        return dataclasses.replace(cloth, appearances={cloth.parts[0].name: look})

    def _move(self, loc: Loc, block: ClothBlock, cloth: Cloth) -> Cloth | None:
        return self._try(
            (*loc, "translation"), lambda: cloth.move(block.translation, block.rotation)
        )

    def _spline_sheet(self, block: ClothBlock, made: Fabric | None) -> Cloth:
        s, b = block.sheet, block.spline
        assert s is not None
        if s.model_fields_set & {"pattern", "seed"}:
            raise SceneError(
                "cloth.sheet.pattern",
                got=s.pattern,
                expected="no such field, because splines have no triangles",
            )
        how = b.model_dump(include={"net", "rule", "bending", "density"})
        plain = spline_sheet(s.nx, s.ny, s.width, s.height, **how)
        mesh = self._painted(block, plain.mesh)
        return dataclasses.replace(plain, mesh=mesh, fabric=made or fabric("cotton"))

    def _join(self) -> JoinedCloths:
        """Join all cloths into one.

        Raises:
            SceneError: sources of two kinds that both join the cloths in their own way.
        """
        f, things = self.file, self.made
        blocks = [f.cloth] if f.cloth else f.cloths
        thickness = [_thickness(k, b, thing) for k, (b, thing) in enumerate(zip(blocks, things))]
        names = [b.name or f"cloth {k + 1}" for k, b in enumerate(blocks)]
        if len({b.rest_angles for b in blocks}) > 1:
            raise SceneError("cloths", got="different rest_angles", expected="the same for all")
        cloth = things[0]
        if f.cloth is not None and isinstance(cloth, Cloth):
            (part,) = cloth.parts
            part = dataclasses.replace(part, name=f.cloth.name or part.name, thickness=thickness[0])
            seen = dict(zip([part.name], cloth.appearances.values()))
            return JoinedCloths(dataclasses.replace(cloth, given=(part,), appearances=seen))
        ways = {b.source.join: b.source_name for b in blocks if b.source.join is not None}
        if len(ways) > 1:
            both = " and ".join(ways.values())
            raise SceneError("cloths", got=both, expected="only one such block in a scene")
        made = [self._given_fabric(("cloths", k), b) for k, b in enumerate(blocks)]
        join = next(iter(ways), None) or JoinedCloths.of
        return join(list(zip(names, things, thickness)), made)

    def _regions(
        self, loc: Loc, block: ClothBlock, mesh: TriangleMesh, rest: Fabric | None
    ) -> Cloth:
        """Build a cloth whose regions have different fabrics."""
        made = {name: self._fabric(f, (*loc, "fabrics", name)) for name, f in block.fabrics.items()}
        given = "fabric" in block.model_fields_set
        return with_regions(mesh, made, rest if given else None, own=block.thickness == "fabric")

    def _fabric(self, value: Yaml, loc: Loc) -> Fabric:
        """Build a cloth's fabric; equal fabrics are one object."""
        folder = self.source.path.parent
        if isinstance(value, dict) and isinstance(value.get("arcsim"), str):
            value = {**value, "arcsim": str(folder / value["arcsim"])}
        if isinstance(value, str) and value.endswith((".yaml", ".yml", ".json")):
            value = str(folder / value)
        made = fabric(value, dotted_path(loc))
        return self._made.setdefault(repr(dataclasses.asdict(made)), made)

    def _mesh(self, cloth: ClothBlock) -> TriangleMesh:
        if cloth.sheet is not None:
            s = cloth.sheet
            require_memory(PER_CLOTH_VERTEX * s.nx * s.ny, "sheet.nx", (s.nx, s.ny), MeshError)
            return grid(s.nx, s.ny, s.width, s.height, s.pattern, s.seed)
        if cloth.panel is not None:
            p = cloth.panel
            return triangulate_piece(p.outline, p.holes, p.size, seed=p.seed)
        m, folder = cloth.mesh, self.source.path.parent
        assert m is not None
        is_file = isinstance(m.rest, str) and m.rest not in ("mesh", "uv")
        rest = str(folder / str(m.rest)) if is_file else m.rest
        names = ("scale", "uv_scale", "warp", "prim", "weld", "sewing")
        how = {name: getattr(m, name) for name in names}
        return read_mesh(folder / m.file, rest=rest, options=self._options(m), **how)

    def _pin(self, cloth: Cloth, number: int, block: PinBlock) -> Pin:
        name = block.name or f"pins.{number}"
        pin = Pin(select_vertices(cloth, name, block), block.until, block.path, name)
        pin.check_until(self.file.seconds)
        return pin

    def _attachment(self, cloth: Cloth, number: int, block: Yaml) -> Attachment:
        name = block.name or f"attachments.{number}"
        guide = None
        if block.guide is not None:
            m = block.guide.mesh
            said = f"{name}.guide" if m is None else " ".join(filter(None, (m.file, m.prim)))
            guide = self._make_body(block.guide.name or said, block.guide)
        return attachment_of(cloth, block, name, self.file.seconds, guide)


def _thickness(number: int, block: ClothBlock, thing: Any) -> ContactThickness:
    """Return the thickness [m] of a cloth in contact.

    None stands for that of the scene, or of a pattern's panels.

    Raises:
        SceneError: ``fabric`` as the thickness of panels.
    """
    thickness: ContactThickness = block.thickness
    if thickness != "fabric":
        return thickness
    if isinstance(thing, Cloth):
        return own_thickness(thing.fabric)
    raise SceneError(
        f"cloths.{number}.thickness",
        got="fabric",
        expected=f"a length, with a {block.source_name}",
        hint="its panels have their own thickness, in the pattern",
    )


def _model_of(scene: Scene) -> Model:
    """Return the model of a scene.

    Raises:
        StartError: cloth that intersects at the start; it says whether weft can untangle it.
    """
    try:
        return build_model(scene)
    except StartError as error:
        assert scene.contact is not None
        trial = scene.with_(contact=dataclasses.replace(scene.contact, resolve=True))
        try:
            outlook, how = Outlook.MAY, f"with `resolve: true` weft {untangled_start(trial)}"
            step = (
                "write `resolve: true` in the scene's contact, or add `--set "
                "contact.resolve=true`, or move them apart"
            )
        except WeftError as reason:
            step = reason.hint or "move them apart"
            outlook, how = Outlook.CANNOT, str(reason).removesuffix(f"; {step}")
            how = how.removeprefix("contact.resolve = ")
        if "`weft check`" not in step:
            step += f"; {LOOK}"
        error.hint = f"\n  {outlook.value}: {how}\n  next: {step}"
        raise
