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
from weft.base.errors import SceneError, check_known
from weft.base.keyframes import Keys
from weft.base.runtime_types import check_value, checked
from weft.base.settings import MATERIAL, Accepts, documented, setting
from weft.base.trees import YamlMapping
from weft.bodies.body import Body
from weft.bodies.motion.pins import Pin
from weft.bodies.rigid.energies import check_rigid
from weft.bodies.rigid.rigid_bodies import RigidBodies
from weft.cloth.attachments import AnyAttachment, Attached, attached, check_stretch
from weft.cloth.cloth import Cloth
from weft.cloth.fields import FIELDS, Physics, missing_input
from weft.contact.contact import SelfContact
from weft.discretization.correspondence import find_mismatch
from weft.energies.air.wind import Wind
from weft.energies.elastic.buckling_bending import BucklingForm
from weft.energies.elastic.condition import ConditionForm
from weft.energies.elastic.pressed_lines import Pressed
from weft.energies.energy import Energy
from weft.energies.loads.pressure import Gas
from weft.energies.seams.sewing import close_earlier
from weft.energies.springs.hand import Hand
from weft.energies.state import State
from weft.fabric.fabric import Fabric
from weft.fabric.law import default_law
from weft.integrators.adaptive import Adaptive, AdaptiveSettings
from weft.integrators.base import Stepper, StepSettings
from weft.integrators.feasible_start import FeasibleStart, feasible_start
from weft.integrators.model import Model
from weft.laws.base import Law
from weft.run.scene_interface import SEWN_EARLIER
from weft.scene.build_model import build_model
from weft.scene.changes import Change, check_changes, scene_after
from weft.scene.checks import check_attachments, check_vertices
from weft.scene.identity import identity
from weft.scene.integrators import INTEGRATORS, Settings, check_stepper, name_of
from weft.scene.keyframed_numbers import (
    check_keyframes,
    scene_at,
)
from weft.scene.plugins_in_use import plugins_in_use
from weft.scene.regions import laws_of
from weft.scene.spline_pins import PinnedPoints, pin_points
from weft.scene.summary import summary

Ramps = Annotated[Floats, ArrayOf("numbers", ((None, 2),), "s")]  # (n,2) onset of gravity by vertex
NUMERICS = "how a step is solved, not what"  # reason for which numbers have no keyframes
APART_FROM_MODEL = frozenset(  # fields that the model does not depend on
    {"step", "settings", "adaptive", "velocity", "description", "scene_file", "record"}
)


def _with_plugin_blocks(kind: type) -> type:
    """Add a field for every registered energy with a scene block to the class of scenes."""
    for name in extensions.names("energies"):
        block = extensions.find("energies", name)
        meaning = (inspect.getdoc(block) or "").split("\n\n")[0].rstrip(".").replace("\n", " ")
        kind.__annotations__[name] = block | None
        setattr(kind, name, setting(None, f"{meaning}; none: none"))
    return kind


@checked(SceneError, "scene", unchecked=("law_of",))
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
        "what is held or moved",
        constant="pins move along a path: pins.path.keyframes",
    )
    gravity: Vector = setting((0.0, -9.81, 0.0), "", "m/s^2", keyframes=True)
    damping: float | None = setting(
        None,
        "of stiffness-proportional damping; none: the fabric's",
        "s",
        least=0,
        constant=MATERIAL,
    )
    step: float = setting(
        0.02,
        "largest time step; frames divide evenly",
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
        "two times between which gravity grows; none: it is there from the start, or with "
        "garments once seams are closed",
        "s",
        least=0,
        constant="times themselves; gravity has keyframes, by component",
    )
    velocity: Annotated[ArrayArgument, ArrayOf("numbers", ((3,), (None, 3)), "m/s")] = setting(
        (0.0, 0.0, 0.0),
        "at the start",
        "m/s",
        constant="it is that of the start; pins and bodies move along a path",
    )
    law: Law | Callable[[Fabric], Law] | None = setting(
        None,
        "of the membrane; none: the fabric's curves, or baraff_witkin",
        constant="directions of the yarns in the material",
    )
    bending: str | None = setting(
        None,
        "energy of triangles that bend; quadratic and fitted: for cloth that is flat at rest "
        "and hardly stretches; fitted with the least dependence on the mesh; none: pairs with "
        "`buckling` or law immediate_buckling, else hinges",
        choices=extensions.Names("bending"),
    )
    buckling: BucklingForm | None = setting(
        None,
        "bend by predicted buckled shapes ({}: defaults); none: hinges, or with law "
        "immediate_buckling the defaults",
    )
    pressure: float | Gas | None = setting(
        None, "inside a closed surface; none: none", "Pa", keyframes=True
    )
    wind: Wind | None = setting(
        None,
        "lift and drag of the air ({}: still air); none: there is no air",
        constant="give its velocity for each component; a field of velocities has times of its own",
    )
    pressed: Sequence[Pressed] = setting(
        (), "lines with angles that are pressed in: pleats, creases"
    )
    conditions: ConditionForm | None = setting(
        None,
        "condition energies of 1998; none: weft's law, or with baraff_witkin_1998 the conditions' "
        "defaults",
        constant="what energies of 1998 are made of",
    )
    contact: SelfContact | None = setting(
        None, "the cloth does not pass through itself ({}: defaults); none: it does"
    )
    bodies: Sequence[Body] = setting(
        (), "what cloth does not pass through; `contact` says from how near on"
    )
    attachments: Sequence[AnyAttachment] = setting(
        (), "what is held by bodies, other cloth, ropes, springs and poles"
    )
    record: Sequence[str] = setting(
        (),
        "what every frame keeps besides positions and velocities, for exports",
        choices=FIELDS,
    )
    hand: Sequence[Hand] = setting(
        (), "hands that hold and move points of cloth, as `weft play` has them"
    )
    changes: Sequence[Change] = setting(
        (), "what becomes different at a time, as `weft play` does it"
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

    def __repr__(self) -> str:
        return summary(self)

    def _repr_html_(self) -> str:
        """Return HTML for notebooks: a picture of the start, and a table of the scene."""
        from weft.scene.summary import start_picture, summary_rows
        from weft.show.viewer.notebook import format_html

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
            lack = missing_input(field_name, self.physics(), pressed=self.contact is not None)
            if lack:
                raise SceneError(
                    f"scene.record: {field_name}", got=lack, expected="what it is made from"
                )
        for name in ("buckling", "bending"):
            given = getattr(self, name) is not None
            if given and (self.conditions is not None or self.is_1998):
                raise SceneError(
                    f"scene.{name}", got="given", expected="none, with the conditions of 1998"
                )
        if self.buckling is not None and self.bending not in (None, "pairs"):
            raise SceneError("scene.bending", got=self.bending, expected="pairs, with buckling")
        check_keyframes(self)
        check_changes(self)

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
                expected = "the vertices of the cloth, in their order"
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

    def stepper(self) -> Stepper:
        """Return the user's integrator, or a new one of the named kind; it divides steps if the
        scene is adaptive.
        """
        made: Stepper = self.integrator
        if isinstance(self.integrator, str):
            made = INTEGRATORS[self.integrator].stepper(self.step_settings)
        if self.adaptive is None:
            return made
        return Adaptive(made, self.cloth.samples(), self.adaptive)

    @property
    def is_1998(self) -> bool:
        """Return whether the integrator is that of 1998, which brings damping of its own."""
        return self.integrator_name == "baraff_witkin_1998"

    def model(self) -> Model:
        """Return masses, energies, pins and contact of the scene; they are built once.

        Raises:
            SceneError: frozen bend conditions with an integrator that minimizes an energy; faces
                that intersect, if there is contact; an energy of vertices that do not exist.
        """
        return self._model

    @cached_property
    def _model(self) -> Model:
        return build_model(self)

    @cached_property
    def pinned_points(self) -> PinnedPoints:
        """The pins as pins of points, with anchors and springs of splines."""
        return pin_points(self.cloth, tuple(self.pins))

    def physics(self) -> Physics:
        """Return the laws and the wind from which stress and air fields are computed."""
        made = self._physics_at(0.0)
        if not self.keyed:
            return made
        return dataclasses.replace(made, changing=self._physics_at)

    def _physics_at(self, t: float) -> Physics:
        """Return laws and wind at the time t [s]; laws are None with the conditions of 1998."""
        plain = self.conditions is not None or self.is_1998
        wind = scene_at(self, t).wind if self.keyed else self.wind
        return Physics(None if plain else laws_of(self), wind)

    @cached_property
    def rigid_bodies(self) -> RigidBodies:
        """The rigid bodies, each as four points after all points of the cloth."""
        rigid_bodies = RigidBodies.of(self.bodies, len(self.pinned_points.points))
        check_rigid(rigid_bodies, self.integrator_name, airless=self.wind is None)
        return rigid_bodies

    @property
    def prescribed_bodies(self) -> Sequence[Body]:
        """The bodies that forces do not move (colliders that stand still or follow a path)."""
        return [b for b in self.bodies if b.rigid is None]

    @cached_property
    def attached(self) -> Attached:
        """The attachments, as energies of the points.

        Raises:
            SceneError: an attachment that is not possible, or that would stretch the cloth by half.
        """
        reach = None
        if self.contact is not None:
            own = [p.contact_distance() for p in self.cloth.parts] + [
                r.contact_distance() for r in self.cloth.regions
            ]
            own += [b.thickness for b in self.bodies]
            known = [k for k in own if k is not None]
            reach = self.contact.gap + max([self.contact.thickness, *known])
        made = attached(
            self.attachments, self.cloth, self.prescribed_bodies, reach, self.rigid_bodies
        )
        check_stretch(self.cloth, self.pins, made.links)
        return made

    def law_of(self, fabric: Fabric) -> Law:
        """Return the membrane law of one of the fabrics."""
        if self.law is None:
            return default_law(fabric)
        if isinstance(self.law, Law):
            return self.law
        what = "scene.law: what the function returns"
        made: Law = check_value(self.law(fabric), Law, what, SceneError)
        return made

    @cached_property
    def resolved(self) -> FeasibleStart | None:
        """The untangled start, if contact asks for one; else None.

        Raises:
            SceneError: intersections that no small motion removes.
        """
        if self.contact is None or not self.contact.resolve:
            return None
        self.cloth.surfaces.require("contact.resolve")
        if len(self.rigid_bodies):
            raise SceneError(
                "scene.contact.resolve",
                got="true, with rigid bodies",
                expected="false",
                hint="move what is too near apart by hand",
            )
        return feasible_start(self.model(), self.pinned_points.points)

    def state(self) -> State:
        """Return positions and velocities at t = 0, untangled if contact asks for it.

        Raises:
            SceneError: a start of another number of points, or one that intersects.
        """
        if self.start_state is not None:
            return self._given_start(self.start_state)
        x = np.array(self.pinned_points.points if self.resolved is None else self.resolved.x)
        x = np.concatenate([x, self.rigid_bodies.points])
        v = np.zeros(x.shape)
        v[: len(self.cloth.points)] = self.velocity
        for body in self.rigid_bodies.affine:
            v[body.own] = body.start_velocity
        return State(x, v)

    def _given_start(self, start: State) -> State:
        """Return the start that was given, after checks."""
        model, contact = self.model(), self.model().contact
        if start.x.shape != (len(model.mass), 3):
            got, expected = f"{len(start.x)} points", f"{len(model.mass)}, as the scene has"
            raise SceneError("scene.start_state", got=got, expected=expected)
        cloth, x = self.cloth, start.x[: len(self.cloth.points)]
        x = x if cloth.embedding is None else cloth.embedding.of(x)
        found = find_mismatch(cloth.vertices, x, cloth.faces)
        if found is not None and found.kind != "axes":
            raise SceneError("scene.start_state", got=found.text, expected="the cloth's own points")
        if contact is not None:
            contact.check_start(contact.all_vertices(start.x))
        return State(np.array(start.x), np.array(start.v))

    def plugins(self) -> dict[str, str]:
        """Return the names of the plugins that the scene uses, and their versions."""
        return plugins_in_use(self)

    def identity(self) -> YamlMapping:
        """Return a plain tree that two scenes share only if they simulate the same."""
        return identity(self)

    def at(self, t: float) -> "Scene":
        """Return the scene with the changes up to the time t [s]."""
        count = sum(c.at <= t for c in self.changes)
        if count == 0:
            return self
        later = self._later
        if count not in later:
            later[count] = scene_after(self, self.changes[count - 1])
            for old in later.keys() - {count - 1, count}:
                del later[old]
        return later[count]

    @cached_property
    def _later(self) -> "dict[int, Scene]":
        """The last two scenes after changes, by the number of changes: runs compare them."""
        return {}

    def sew_earlier(self, seams: Sequence[str], gap: float) -> "Scene | None":
        """Return the scene with seams that begin to close with the first ones; None if they do
        already. Its description has them, and the gap [m] with which they were left before.
        """
        pairs = [own for name, own in self.cloth.seams if name in seams]
        energies = close_earlier(self.energies, pairs) if seams else self.energies
        tried = {"seams": list(seams), "gap": gap}
        description = {**self.description, SEWN_EARLIER: tried}
        changed = {"energies": energies, "description": description}
        return None if energies is None else self.with_(**changed)

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields alone: another process builds what follows from them anew."""
        return {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}

    def with_(self, **changes: Any) -> "Scene":
        """Return a copy with some fields changed; the model is shared if it does not depend on
        them."""
        made = dataclasses.replace(self, **changes)
        if changes.keys() <= APART_FROM_MODEL:
            built = ("_model", "pinned_points", "rigid_bodies", "attached", "resolved")
            vars(made).update({k: v for k, v in vars(self).items() if k in built})
        return made
