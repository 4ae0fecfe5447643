"""A scene in Python: the cloth, its pins and attachments, bodies, loads and settings.

A scene file says the same in YAML (``scene.file``).
"""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path as FilePath
from typing import Annotated, Any, Literal

import numpy as np

from weft.base.arrays import ArrayOf, Floats, Positions
from weft.base.errors import SceneError, check_known
from weft.base.keyframes import Keys
from weft.base.runtime_types import check_value, checked
from weft.base.settings import Accepts, Setting
from weft.bodies.body import Body
from weft.bodies.motion.pins import Pin
from weft.bodies.rigid.energies import check_rigid, rigid_energies
from weft.bodies.rigid.rigid_bodies import RigidBodies, single
from weft.cloth.attachments import Attached, Attachment, attached, check_stretch
from weft.cloth.cloth import Cloth
from weft.cloth.fields import Physics, check_fields, missing
from weft.contact.contact import Contact, SelfContact
from weft.energies.air.wind import Wind
from weft.energies.base import Energy
from weft.energies.elastic.buckling_bending import BucklingForm
from weft.energies.elastic.condition import ConditionForm
from weft.energies.elastic.pressed_lines import Pressed
from weft.energies.loads.pressure import Gas
from weft.energies.state import State
from weft.fabric.fabric import Fabric
from weft.integrators.adaptive import AdaptiveSettings
from weft.integrators.base import StepSettings
from weft.integrators.feasible_start import FeasibleStart, feasible_start
from weft.integrators.model import Model
from weft.laws.base import Law
from weft.scene.acting import made_of
from weft.scene.changing import ChangingScene, carried, thickens, thickest, thickness_at
from weft.scene.checks import check_attachments, check_energies, check_ropes, check_solver
from weft.scene.described import described
from weft.scene.elastic import BENDING, check_start
from weft.scene.held import ANCHOR, HeldPoints, held_points
from weft.scene.identity import identity
from weft.scene.integrators import INTEGRATORS, Maker, Settings, name_of
from weft.scene.keyed import at, changes, check_keyed, contact_at_start, heaviest, widest_gap
from weft.scene.law import law_of_fabric
from weft.scene.regions import laws_of, pieces_of

Ramps = Annotated[Floats, ArrayOf("numbers", ((None, 2),), "s")]  # (n,2) onset of gravity by vertex
APART_FROM_MODEL = frozenset(  # fields that the model does not depend on
    {"step", "settings", "adaptive", "velocity", "description", "scene_file", "record"}
)


@checked(SceneError, "scene", unchecked=("law_of",))
@dataclass(frozen=True, eq=False, repr=False)
class Scene:
    """Description of a simulation: cloth, pins, loads, bodies, integrator and settings.

    Args:
        cloth: mesh and fabric.
        pins: vertices that are held or moved.
        gravity: [m/s^2].
        damping: [s] time constant of stiffness-proportional damping (k_d/k of conditions); None
            takes the fabric's.
        step: [s] largest time step; frames are divided evenly.
        rest_angles: ``flat``; ``as-given``: the mesh's own angles are its rest shape; or (n,3) [m]
            vertex positions of a shape whose angles are the rest angles.
        integrator: one of ``scene.integrators.INTEGRATORS``, such as ``bdf2``.
        settings: how the integrator solves a step, such as ``StepSettings``; None: its defaults.
        law: membrane law, or a function that returns the law of a fabric; None: the fabric's
            measured curves, or Baraff-Witkin with the fabric's stiffness.
        buckling: form of the energy of predicted buckled shapes (Choi & Ko); None: hinges, or with
            the law ``ImmediateBuckling`` the form's defaults.
        pressure: [Pa] inside a closed surface, or a ``Gas``; None: none.
        conditions: form of the condition energies of 1998; None: the finite element law, or with
            the integrator ``baraff_witkin_1998`` the conditions in their default form.
        contact: settings that keep the cloth from passing through itself and through bodies
            (``SelfContact``); None: the cloth passes through itself, unless there are bodies.
        bodies: colliders (``weft.contact.sphere``, ``plate``, ``Body``); the cloth moves rigid
            ones.
        adaptive: when to divide steps in which cloth stretches too fast; None: never.
        velocity: (3,) or (N,3) [m/s] of the points, at the start.
        description: the contents of the scene file, for the manifest of a run.
        scene_file: its path; files that it names are relative to its folder.
        energies: additional energies of the user's (``weft.energies.base.Energy``, over the
            points).
        stepper: an integrator of the user's (``weft.integrators.base.Stepper``), in place of
            ``integrator`` and ``settings``. After construction the field is callable:
            ``scene.stepper()`` returns this stepper, or builds the one that ``integrator`` names.
        bending: bending energy of triangles, one of ``scene.elastic.BENDING``; None: ``pairs``
            with ``buckling`` or the law ``ImmediateBuckling``, else ``hinges``.
        gravity_from: [s] two times between which gravity grows from zero to its full value, or
            (n,2) such times of every vertex.
        record: fields that every frame stores besides positions (``weft.cloth.fields.FIELDS``).
        wind: air that flows or stands still (``Wind``), with lift and drag; None: there is no air.
        pressed: lines with rest angles that are pressed into the cloth (``Pressed``): pleats,
            creases.
        keyed: keyframes of numbers, by path: ``{"gravity.1": weft.Keys([(0, -9.81), (1, 0)])}``
            (``scene.keyed.CHANGING``); the value that the field itself has is then never used.
        attachments: attachments of points to bodies, to one another, to ropes, springs and rails
            (``AttachToBody``, ``AttachCloth``, ``Rope``, ``Spring``, ``Slide``).

    Raises:
        SceneError: a value out of range.
    """

    cloth: Cloth
    pins: Sequence[Pin] = ()
    gravity: Annotated[tuple[float, float, float], Setting("", "m/s^2")] = (0.0, -9.81, 0.0)
    damping: Annotated[float | None, Setting("", "s", least=0)] = None
    step: Annotated[float, Setting("", "s", above=0)] = 0.02
    rest_angles: Annotated[Any, Accepts(Literal["flat", "as-given"] | Positions)] = "flat"
    integrator: str = "backward_euler"
    settings: Settings | None = None
    law: Law | Callable[[Fabric], Law] | None = None
    buckling: BucklingForm | None = None
    pressure: Annotated[float | Gas | None, Setting("", "Pa")] = None
    conditions: ConditionForm | None = None
    contact: SelfContact | None = None
    bodies: Sequence[Body] = ()
    adaptive: AdaptiveSettings | None = None
    velocity: Annotated[Any, ArrayOf("numbers", ((3,), (None, 3)), "m/s")] = (0.0, 0.0, 0.0)
    description: Mapping[str, Any] = field(default_factory=dict)
    energies: Sequence[Energy] = ()
    stepper: Any = None
    bending: str | None = None
    gravity_from: Annotated[tuple[float, float] | Ramps, Setting("", "s", least=0)] = (0.0, 0.0)
    wind: Wind | None = None
    pressed: Sequence[Pressed] = ()
    keyed: Mapping[str, Keys] = field(default_factory=dict)
    record: Sequence[str] = ()
    attachments: Sequence[Attachment] = ()
    scene_file: FilePath | None = None

    def __repr__(self) -> str:
        return described(self)

    def _repr_html_(self) -> str:
        """Return HTML for notebooks: a picture of the start, and a table of the scene."""
        from weft.scene.described import picture, rows
        from weft.view.notebook import shown

        return shown(partial(picture, self), partial(rows, self))

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
        if self.wind is not None:
            object.__setattr__(self, "wind", self.wind.loaded())
        check_attachments(self.attachments, self.integrator)
        check_solver(self)
        if self.bodies and self.contact is None:
            object.__setattr__(self, "contact", SelfContact())
        object.__setattr__(self, "record", check_fields(self.record, "scene.record"))
        for field_name in self.record:
            lack = missing(field_name, self.physics(), pressed=self.contact is not None)
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
        if self.bending is not None:
            check_known(self.bending, BENDING, "scene.bending", SceneError)
            if self.buckling is not None and self.bending != "pairs":
                raise SceneError("scene.bending", got=self.bending, expected="pairs, with buckling")
        check_keyed(self)

    def _check_rest(self) -> None:
        """Raise unless the rest angles fit the cloth and every pressed line names an existing
        cloth."""
        if not isinstance(self.rest_angles, str):
            n = self.cloth.n_vertices
            if len(self.rest_angles) != n:
                got, expected = f"shape {self.rest_angles.shape}", f"flat, as-given, or ({n}, 3)"
                raise SceneError("scene.rest_angles", got=got, expected=expected)
        for k, line in enumerate(self.pressed):
            names = [p.name for p in self.cloth.parts]
            if line.cloth is None and len(names) > 1:
                raise SceneError(f"pressed.{k}.cloth", got="nothing", expected=f"one of {names}")
            if line.cloth is not None:
                self.cloth.part(line.cloth)

    def _check_integrator(self) -> None:
        """Check integrator and settings, or the user's stepper, and store them as a ``Maker``."""
        given = self.stepper.given if isinstance(self.stepper, Maker) else self.stepper
        if given is None:
            check_known(self.integrator, INTEGRATORS, "scene.integrator", SceneError)
            kind = INTEGRATORS[self.integrator]
            settings = kind.settings() if self.settings is None else self.settings
            if not isinstance(settings, kind.settings):
                raise SceneError(
                    "scene.settings",
                    got=type(settings).__name__,
                    expected=f"{kind.settings.__name__}, with integrator {self.integrator}",
                )
            if isinstance(settings, StepSettings):
                object.__setattr__(self, "step", min(self.step, settings.longest))
            maker = Maker(None, kind, settings, self.adaptive, self.cloth)
        else:
            name = name_of(given)
            if self.settings is not None or self.integrator not in (name, "backward_euler"):
                raise SceneError(
                    "scene.stepper",
                    got=f"{type(given).__name__}, and integrator or settings",
                    expected="one or the other",
                )
            object.__setattr__(self, "integrator", name)
            maker = Maker(given, None, None, self.adaptive, self.cloth)
        object.__setattr__(self, "stepper", maker)

    @property
    def is_1998(self) -> bool:
        """Return whether the integrator is that of 1998, which brings damping of its own."""
        return self.integrator == "baraff_witkin_1998"

    def model(self) -> Model:
        """Return masses, energies, pins and contact of the scene; they are built once.

        Raises:
            SceneError: frozen bend conditions with an integrator that minimizes an energy; faces
                that intersect, if there is contact; an energy of vertices that do not exist.
        """
        return self._model

    @cached_property
    def _model(self) -> Model:
        cloth, held, loose = self.cloth, self._held, self.loose
        special = {
            "pressure": self.pressure is not None,
            "buckling": self.buckling is not None,
            "bending": self.bending is not None,
            "rest_angles": not (isinstance(self.rest_angles, str) and self.rest_angles == "flat"),
            "pressed": bool(self.pressed),
            "wind.span": self.wind is not None and self.wind.span is not None,
            "conditions.bend": self.conditions is not None and self.conditions.bend is not None,
        }
        cloth.surfaces.require(*(name for name, given in special.items() if given))
        mass = np.concatenate([cloth.mass, np.full(held.anchors, ANCHOR), loose.point_mass])
        *made, weight = made_of(self, mass)
        ties = self.attached
        moved, others = rigid_energies(loose, self._unmoved), (*made, *held.energies, weight)
        check_ropes(moved, [e.name for e in others])
        energies = (*made, *held.energies, *moved, weight)
        changing = None
        if changes(self):
            places = [*range(len(made)), len(energies) - 1]
            tied = dict(enumerate(ties.energies, len(energies)))
            rigid = range(len(energies) - 1 - len(moved), len(energies) - 1)
            changing = ChangingScene(self, mass, places, tied, rigid)
        check_energies(ties.energies, [e.name for e in energies], len(mass), "attachments")
        energies = (*energies, *ties.energies)
        check_energies(self.energies, [e.name for e in energies], len(cloth.points))
        energies = (*energies, *self.energies)
        check_start(energies, held.points)
        embedding = cloth.embedding
        if embedding is not None:
            embedding = embedding.wider(len(mass))
        elif len(loose):
            embedding = single(cloth.n_vertices, len(mass))
        contact = None
        if self.contact is not None:
            pieces = pieces_of(cloth, self.contact.thickness)
            kept = (thickness_at(self, 0.0), thickest(self)) if thickens(self) else None
            b = sum(len(body.vertices) for body in self._unmoved)
            contact = Contact.of(
                cloth.mesh,
                cloth.vertex_mass,
                contact_at_start(self),
                self._unmoved,
                pieces,
                embedding,
                ties.sewn(cloth.sewn, cloth.n_vertices, b, len(loose)),
                loose,
                kept,
                widest_gap(self),
            )
        start = np.concatenate([held.points, loose.points])
        rest = (contact, embedding, changing, heaviest(self))
        return Model(mass, energies, held.pins, start, *rest)

    @cached_property
    def _held(self) -> HeldPoints:
        """The pins as pins of points, with anchors and springs of splines."""
        return held_points(self.cloth, tuple(self.pins))

    def physics(self) -> Physics:
        """Return the laws and the wind from which stress and air fields are computed."""
        made = self._physics_at(0.0)
        if not changes(self):
            return made
        return dataclasses.replace(made, changing=self._physics_at)

    def _physics_at(self, t: float) -> Physics:
        """Return laws and wind at the time t [s]; laws are None with the conditions of 1998."""
        plain = self.conditions is not None or self.is_1998
        wind = at(self, t).wind if self.keyed else self.wind
        return Physics(None if plain else laws_of(self, t), wind, carried(self, t))

    @cached_property
    def loose(self) -> RigidBodies:
        """The rigid bodies, each as four points after all points of the cloth."""
        loose = RigidBodies.of(self.bodies, len(self._held.points))
        check_rigid(loose, self.integrator, airless=self.wind is None)
        return loose

    @property
    def _unmoved(self) -> Sequence[Body]:
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
            own = [p.kept() for p in self.cloth.parts] + [r.kept() for r in self.cloth.regions]
            own += [b.thickness for b in self.bodies]
            known = [k for k in own if k is not None]
            reach = contact_at_start(self).gap + max([self.contact.thickness, *known])
        count = len(self.cloth.points) + self._held.anchors
        made = attached(self.attachments, self.cloth, count, self._unmoved, reach, self.loose)
        check_stretch(self.cloth, self.pins, made.links)
        return made

    def law_of(self, fabric: Fabric) -> Law:
        """Return the membrane law of one of the fabrics."""
        if self.law is None:
            return law_of_fabric(fabric, "measured" if fabric.is_measured else "baraff_witkin")
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
        if len(self.loose):
            raise SceneError(
                "scene.contact.resolve",
                got="true, with rigid bodies",
                expected="false",
                hint="move what is too near apart by hand",
            )
        return feasible_start(self.model(), self._held.points)

    def state(self) -> State:
        """Return positions and velocities at t = 0, untangled if contact asks for it."""
        x = np.array(self._held.points if self.resolved is None else self.resolved.x)
        x = np.concatenate([x, self.loose.points])
        v = np.zeros(x.shape)
        v[: len(self.cloth.points)] = self.velocity
        for body in self.loose.affine:
            v[body.own] = body.start_velocity
        return State(x, v)

    def identity(self) -> Mapping[str, Any]:
        """Return a plain tree that two scenes share only if they simulate the same."""
        return identity(self)

    def with_(self, **changes: Any) -> "Scene":
        """Return a copy with some fields changed; the model is shared if it does not depend on
        them."""
        made = dataclasses.replace(self, **changes)
        if changes.keys() <= APART_FROM_MODEL:
            built = ("_model", "_held", "loose", "attached", "resolved")
            vars(made).update({k: v for k, v in vars(self).items() if k in built})
        return made
