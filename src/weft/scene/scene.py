"""A scene in Python: the cloth, its pins and attachments, bodies, loads and settings.

A scene file says the same in YAML (``scene.file``).
"""

import dataclasses
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path as FilePath
from typing import Annotated, Any, Literal

import numpy as np

from weft import extensions
from weft.base.arrays import ArrayArgument, ArrayOf, Floats, Positions, Vector
from weft.base.errors import SceneError, WeftError, check_known
from weft.base.keyframes import Keys
from weft.base.runtime_types import checked
from weft.base.settings import MATERIAL, Accepts, documented, setting
from weft.base.trees import Yaml, YamlMapping
from weft.bodies.body import Body
from weft.bodies.motion.pins import Pin
from weft.cloth.attachments import AnyAttachment
from weft.cloth.cloth import Cloth
from weft.cloth.fields import FIELDS, missing_input
from weft.contact.settings import SelfContact
from weft.discretization.correspondence import find_mismatch
from weft.energies.air.wind import Wind
from weft.energies.elastic.buckling_bending import BucklingForm
from weft.energies.elastic.condition import ConditionForm
from weft.energies.elastic.pressed_lines import Pressed
from weft.energies.energy import Energy
from weft.energies.loads.pressure import Gas
from weft.energies.springs.hand import Hand
from weft.energies.state import State
from weft.fabric.fabric import Fabric
from weft.integrators.adaptive import AdaptiveSettings
from weft.integrators.base import StepSettings
from weft.laws.base import Law
from weft.scene.changes import Change, change_fabric, pose_body
from weft.scene.checks import check_attachments, check_vertices
from weft.scene.integrators import INTEGRATORS, Settings, check_stepper, name_of
from weft.scene.keyframed_numbers import (
    check_keyed_numbers,
    gust_offset,
    tree_of,
    value_at,
    with_changes,
)
from weft.scene.law import law_of_fabric

Ramps = Annotated[Floats, ArrayOf("numbers", ((None, 2),), "s")]  # (n,2) onset of gravity by vertex
MOST_FRAMES = 10_000_000  # of a run
MOST_STEPS = 1_000_000_000  # in one frame
NUMERICS = (
    "this setting changes only how a step is solved"  # reason for which numbers have no keyframes
)


def _with_plugin_blocks(kind: type) -> type:
    """Add a field for every registered energy with a scene block to the class of scenes."""
    for name in extensions.names("energies"):
        block = extensions.find("energies", name)
        meaning = (inspect.getdoc(block) or "").split("\n\n")[0].rstrip(".").replace("\n", " ")
        kind.__annotations__[name] = block | None
        setattr(kind, name, setting(None, f"{meaning}; none: without it"))
    return kind


@checked(SceneError, "scene")
@documented
@dataclass(frozen=True, eq=False, repr=False)
@_with_plugin_blocks
class Scene:
    """Description of a simulation: cloth, pins, loads, bodies, integrator and settings.

    A field is declared here once: scene files, ``weft explain``, the manual, the JSON schema,
    keyframes, the identity of a run and the checks of arguments follow from the declaration.

    The fields of Python alone are ``cloth``, mesh and fabric; ``rest_angles``, ``flat``,
    ``as-given`` (the mesh's own angles are its rest shape) or (n,3) [m] vertex positions of a shape
    whose angles are the rest angles; ``settings``, how the integrator solves a step, such as
    ``StepSettings`` (None: its defaults); ``start_state``, positions and velocities of all points
    at the start (None: those of cloth and bodies, with ``velocity``); ``energies``, additional
    energies of the user's over the points (``weft.energies.energy.Energy``); ``keyed``, keyframes
    of numbers by path, in place of the value that the field itself has: ``{"gravity.1":
    weft.Keys([(0, -9.81), (1, 0)])}``; ``description``, the contents of the scene file, for the
    manifest of a run; and ``scene_file``, its path, to whose folder the files that it names are
    relative.

    Energies of plugins are fields, too (``weft.extensions``, kind ``energies``): settings, with a
    method ``energies(scene)`` that returns the energies at the time whose numbers the scene has.
    Settings that name files have a method ``read_files(folder)``, too: it returns them with what
    is in the files, whose paths are relative to the folder of the scene file.

    ``law`` is also a function that returns the law of a fabric, ``pressure`` a number [Pa] or a
    ``Gas``, ``velocity`` also (N,3) [m/s] of every point, ``gravity_from`` also (n,2) [s] of every
    vertex. ``integrator`` is also an integrator of the user's
    (``weft.integrators.base.Stepper``), without ``settings``.

    Raises:
        SceneError: a value out of range.
    """

    cloth: Cloth
    pins: Sequence[Pin] = setting(
        (),
        "vertices that are held or moved",
        constant="pins move along a path: pins.path.keyframes",
    )
    gravity: Vector = setting((0.0, -9.81, 0.0), "", "m/s^2", keyframes=True)
    damping: float | None = setting(
        None,
        "time constant of stiffness-proportional damping; none: the fabric's",
        "s",
        least=0,
        constant=MATERIAL,
    )
    step: float = setting(
        0.02,
        "largest time step; every frame is a whole number of steps",
        "s",
        above=0,
        constant=f"{NUMERICS}: `adaptive` divides steps",
    )
    integrator: Any = setting(
        "backward_euler",
        "a name, or {name: {settings}}; "
        + "; ".join(f"{name}: {kind.meaning}" for name, kind in INTEGRATORS.items()),
        constant=f"{NUMERICS}: settings of the whole run",
    )
    gravity_from: tuple[float, float] | Ramps = setting(
        (0.0, 0.0),
        "two times between which gravity grows from 0; none: gravity acts from the start, or for "
        "garments after seams are closed",
        "s",
        least=0,
        constant="these fields are times; gravity has keyframes, by component",
    )
    velocity: Annotated[ArrayArgument, ArrayOf("numbers", ((3,), (None, 3)), "m/s")] = setting(
        (0.0, 0.0, 0.0),
        "velocity of all points at the start",
        "m/s",
        constant="a velocity at the start; pins and bodies move along a path",
    )
    law: Law | Callable[[Fabric], Law] | None = setting(
        None,
        "law of the membrane; none: the fabric's curves, or baraff_witkin",
        constant="directions of the yarns in the material",
    )
    bending: str | None = setting(
        None,
        "bending energy of triangles; quadratic and fitted: for cloth that is flat at rest and "
        "hardly stretches; fitted depends least on the mesh; none: pairs with `buckling` or law "
        "immediate_buckling, otherwise hinges",
        choices=extensions.Names("bending"),
    )
    buckling: BucklingForm | None = setting(
        None,
        "bending by predicted buckled shapes ({}: defaults); none: hinges, or with law "
        "immediate_buckling the defaults",
    )
    pressure: float | Gas | None = setting(
        None, "pressure inside a closed surface; none: no pressure", "Pa", keyframes=True
    )
    wind: Wind | None = setting(
        None,
        "lift and drag of the air ({}: still air); none: there is no air",
        constant="give its velocity for each component; a field of velocities has its own times",
    )
    pressed: Sequence[Pressed] = setting((), "pressed lines with angles: pleats, creases")
    conditions: ConditionForm | None = setting(
        None,
        "condition energies of 1998; none: weft's law, or with baraff_witkin_1998 the conditions' "
        "defaults",
        constant="the energies of 1998 are fixed",
    )
    contact: SelfContact | None = setting(
        None,
        "contact: cloth does not pass through itself and bodies ({}: defaults); none: no contact",
    )
    bodies: Sequence[Body] = setting((), "obstacles for the cloth; `contact` has the distances")
    attachments: Sequence[AnyAttachment] = setting(
        (), "points that bodies, other cloth, ropes, springs and poles hold"
    )
    record: Sequence[str] = setting(
        (),
        "fields that every frame records besides positions and velocities, for exports",
        choices=FIELDS,
    )
    hand: Sequence[Hand] = setting(
        (), "hands that hold and move points of cloth, as `weft play` has them"
    )
    changes: Sequence[Change] = setting(
        (), "changes of the scene at a time, as `weft play` makes them"
    )
    adaptive: AdaptiveSettings | None = setting(
        None,
        "divide steps in which cloth stretches too fast ({}: defaults); none: off",
        constant=f"{NUMERICS}: settings of the whole run",
    )
    rest_angles: Annotated[
        str | ArrayArgument, Accepts(Literal["flat", "as-given"] | Positions)
    ] = "flat"
    settings: Settings | None = None
    start_state: State | None = None
    description: YamlMapping = field(default_factory=dict)
    energies: Sequence[Energy] = ()
    keyed: Mapping[str, Keys] = field(default_factory=dict)
    scene_file: FilePath | None = None

    def _repr_html_(self) -> str:
        """Return HTML for notebooks: a picture of the start, and a table of the scene."""
        from weft.show.viewer.notebook import format_html
        from weft.show.viewer.scene_summary import start_picture, summary_rows

        return format_html(partial(start_picture, self), partial(summary_rows, self))

    def __post_init__(self) -> None:
        times = np.asarray(self.gravity_from, dtype=np.float64)
        if not ((times >= 0).all() and (np.diff(times) >= 0).all()):
            raise SceneError(
                "scene.gravity_from",
                got=self.gravity_from,
                expected="two times, the second not before the first [s]",
            )
        self._check_integrator()
        self._check_rest()
        if isinstance(self.law, type):
            raise SceneError(
                "scene.law",
                got=f"the class {self.law.__name__}",
                expected="a law, or a function",
                hint=f"write weft.laws.{self.law.__name__}(...)",
            )
        if self.law is not None and (self.conditions is not None or self.is_1998):
            raise SceneError("scene.law", got="a law", expected="none, with the conditions of 1998")
        check_vertices(self.pins, self.attachments, self.cloth.n_vertices)
        check_attachments(self.attachments, self.integrator_name)
        self._complete()
        for field_name in self.record:
            lack = missing_input(
                field_name,
                has_law=self.conditions is None and not self.is_1998,
                has_wind=self.wind is not None,
                has_contact=self.contact is not None,
            )
            if lack:
                raise SceneError(
                    f"scene.record: {field_name}",
                    got=lack,
                    expected="the values that the law is built from",
                )
        for name in ("buckling", "bending"):
            given = getattr(self, name) is not None
            if given and (self.conditions is not None or self.is_1998):
                raise SceneError(
                    f"scene.{name}", got="given", expected="none, with the conditions of 1998"
                )
        if self.buckling is not None and self.bending not in (None, "pairs"):
            raise SceneError("scene.bending", got=self.bending, expected="pairs, with buckling")
        self._check_keyframes()
        self._check_changes()

    def _check_rest(self) -> None:
        """Raise unless the rest angles fit the cloth and every pressed line names an existing
        cloth."""
        if not isinstance(self.rest_angles, str):
            n = self.cloth.n_vertices
            if len(self.rest_angles) != n:
                got, expected = f"shape {self.rest_angles.shape}", f"flat, as-given, or ({n}, 3)"
                raise SceneError("scene.rest_angles", got=got, expected=expected)
            found = find_mismatch(self.cloth.vertices, self.rest_angles, self.cloth.faces)
            if found is not None and found.kind == "order":
                expected = "the vertices of the cloth, in the same order"
                raise SceneError("scene.rest_angles", got=found.text, expected=expected)
        for k, line in enumerate(self.pressed):
            names = [p.name for p in self.cloth.parts]
            if line.cloth is None and len(names) > 1:
                raise SceneError(f"pressed.{k}.cloth", got="nothing", expected=f"one of {names}")
            if line.cloth is not None:
                self.cloth.part(line.cloth)

    def _check_integrator(self) -> None:
        """Raise unless the integrator is known and its settings are of its kind."""
        if not isinstance(self.integrator, str):
            check_stepper(self.integrator)
            if self.settings is not None:
                got = f"{type(self.integrator).__name__}, and settings"
                raise SceneError("scene.integrator", got=got, expected="one or the other")
            return
        check_known(self.integrator, INTEGRATORS, "scene.integrator", SceneError)
        kind = INTEGRATORS[self.integrator].settings
        if self.settings is not None and not isinstance(self.settings, kind):
            raise SceneError(
                "scene.settings",
                got=type(self.settings).__name__,
                expected=f"{kind.__name__}, with integrator {self.integrator}",
            )

    def _complete(self) -> None:
        """Set the fields that follow from others, where they are not given."""
        for name, block in self.plugin_blocks.items():
            if hasattr(block, "read_files"):
                object.__setattr__(self, name, block.read_files(self.folder))
        if self.bodies and self.contact is None:
            object.__setattr__(self, "contact", SelfContact())
        if isinstance(self.step_settings, StepSettings):
            object.__setattr__(self, "step", min(self.step, self.step_settings.longest))

    @property
    def plugin_blocks(self) -> Mapping[str, Any]:
        """The settings of energies of plugins that the scene has, by name."""
        given = {name: getattr(self, name) for name in extensions.names("energies")}
        return {name: block for name, block in given.items() if block is not None}

    @property
    def folder(self) -> FilePath:
        """The folder to which the files that the scene names are relative."""
        return FilePath() if self.scene_file is None else self.scene_file.parent

    @property
    def integrator_name(self) -> str:
        """The name of the integrator; of one of the user's, that of its class."""
        given = self.integrator
        return given if isinstance(given, str) else name_of(given)

    @property
    def step_settings(self) -> Settings | None:
        """The settings of a named integrator; None: the integrator is one of the user's."""
        if not isinstance(self.integrator, str):
            return None
        return INTEGRATORS[self.integrator].settings() if self.settings is None else self.settings

    @property
    def is_1998(self) -> bool:
        """Return whether the integrator is that of 1998, which brings damping of its own."""
        return self.integrator_name == "baraff_witkin_1998"

    @property
    def prescribed_bodies(self) -> Sequence[Body]:
        """The bodies that forces do not move (colliders that stand still or follow a path)."""
        return [b for b in self.bodies if b.rigid is None]

    def with_(self, **changes: Any) -> "Scene":
        """Return a copy with some fields changed."""
        return dataclasses.replace(self, **changes)

    def with_values(self, values: Mapping[str, Yaml]) -> "Scene":
        """Return the scene with other values, by the paths of ``Change.set``.

        Raises:
            SceneError: a path that leads nowhere, or a value that its field refuses.
        """
        plain, fabrics, bodies = dict[str, Any](), list(self.cloth.fabrics), self.bodies
        scene = self
        if self.wind is None and any(path.startswith("wind.") for path in values):
            scene = self.with_(wind=Wind())
        for path in sorted(values, key=lambda p: p.count(".")):  # a preset before its numbers
            value = values[path]
            first, *rest = path.split(".")
            if path in self.keyed:
                raise SceneError(path, got="a change", expected="a number without keyframes")
            if first == "fabrics":
                change_fabric(fabrics, rest, value)
            elif first == "bodies":
                bodies = pose_body(bodies, rest, value)
            elif first == "law":
                kept = self.law.keywords if isinstance(self.law, partial) else {}
                plain["law"] = partial(law_of_fabric, **{**kept, "name": value})
                plain["law"](fabrics[0])
            else:
                value_at(scene, path, path)
                plain[path] = value
        made: Scene = with_changes(scene, tree_of(plain))
        return made.with_(cloth=self.cloth.with_fabrics(fabrics), bodies=bodies)

    def after(self, change: Change) -> "Scene":
        """Return the scene after one of its changes; its model is not checked at the start."""
        return self.with_(changes=()).with_values(change.set)

    def at(self, t: float) -> "Scene":
        """Return the scene with the changes up to the time t [s]."""
        count = sum(c.at <= t for c in self.changes)
        if count == 0:
            return self
        later = self._later
        if count not in later:
            later[count] = self.after(self.changes[count - 1])
            for old in later.keys() - {count - 1, count}:
                del later[old]
        return later[count]

    @cached_property
    def _later(self) -> "dict[int, Scene]":
        """The last two scenes after changes, by the number of changes: runs compare them."""
        return {}

    def check_unchanged(self, what: str, hint: str) -> None:
        """Check that the scene has no changes.

        Args:
            what: the thing that needs a scene without changes, for the message.
            hint: what to do instead.

        Raises:
            SceneError: a scene with changes.
        """
        if self.changes:
            got, expected = "a scene with `changes`", "a scene without `changes`"
            raise SceneError(what, got=got, expected=expected, hint=hint)

    def at_keys(self, t: float) -> "Scene":
        """Return the scene with the numbers that keyframes have at the time t [s], and with gusts
        where the wind has carried them.

        Raises:
            SceneError: numbers that do not go together at this time.
        """
        now = tree_of({path: keys.at(t) for path, keys in self.keyed.items()})
        made: Scene = with_changes(self.with_(keyed={}), now)
        offset = gust_offset(self.wind, self.keyed, t)
        if made.wind is not None and offset is not None:
            return made.with_(wind=dataclasses.replace(made.wind, gust_offset=offset))
        return made

    def _check_keyframes(self) -> None:
        """Check that keyframes belong to numbers of the scene that may change, within bounds.

        Raises:
            SceneError: a number that is not there or stays constant, or a value that its field
                refuses.
        """
        check_keyed_numbers(self, self.keyed)
        for t in sorted({t for keys in self.keyed.values() for t, _ in keys.points}):
            try:
                self.at_keys(t)
            except SceneError as error:
                error.hint = " ".join(filter(None, (error.hint, f"(at the key of t = {t:g} s)")))
                raise

    def _check_changes(self) -> None:
        """Check that changes are in the order of their times, with values that the scene allows.

        Raises:
            SceneError: times that do not increase, a path that the scene does not have, or a value
                that its field refuses.
        """
        times = [c.at for c in self.changes]
        if sorted(set(times)) != times:
            raise SceneError("changes", got=f"times {times}", expected="times that increase [s]")
        for change in self.changes:
            try:
                self.after(change)
            except WeftError as error:
                error.hint = " ".join(filter(None, (error.hint, f"(changes at {change.at:g} s)")))
                raise

    def __repr__(self) -> str:
        cloth = self.cloth
        parts = [
            f"{cloth.n_vertices} vertices of {cloth.fabric_names} ({cloth.mass.sum():.4g} kg)",
            f"{len({int(v) for pin in self.pins for v in pin.vertices})} pinned",
            *([f"{len(self.attachments)} attachments"] if self.attachments else []),
            *([f"{len(self.bodies)} bodies"] if self.bodies else []),
            "contact" if self.contact is not None else "no contact",
        ]
        damping = cloth.fabric.damping if self.damping is None else self.damping
        how = [
            self.integrator_name,
            f"steps of {self.step:g} s",
            f"gravity ({', '.join(f'{g:g}' for g in self.gravity)}) m/s^2",
            f"damping {damping:g} s",
            *(["adaptive"] if self.adaptive is not None else []),
        ]
        return f"Scene: {', '.join(parts)}\n  {', '.join(how)}"

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields alone: another process builds what follows from them anew."""
        return {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
