"""A scene: a cloth, what holds it and what acts on it, in Python. A scene file says the same in
YAML (``scene.file``).
"""

import dataclasses
import enum
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from weft.cloth import Cloth, Part
from weft.contact.body import Body
from weft.contact.contact import Contact, Piece, SelfContact
from weft.energies.base import Energy, StepTerm
from weft.energies.buckling_bending import BucklingForm
from weft.energies.condition import ConditionForm
from weft.energies.gravity import Gravity
from weft.energies.pressure import Gas, Pressure
from weft.errors import SceneError, check_known
from weft.fabric import Fabric
from weft.integrators.adaptive import Adaptive, AdaptiveSettings
from weft.integrators.backward_euler import BackwardEuler
from weft.integrators.baraff_witkin_1998 import BaraffWitkin1998, Settings1998
from weft.integrators.base import Stepper, StepSettings
from weft.integrators.bdf2 import Bdf2
from weft.integrators.quasi_static import QuasiStatic, QuasiStaticSettings
from weft.integrators.resolve import Resolved, resolved
from weft.integrators.semi_implicit_bdf2 import SemiImplicitBdf2, SemiImplicitSettings
from weft.laws.base import Law, SingleLaw
from weft.model import Model
from weft.pins import Pin
from weft.scene.described import described
from weft.scene.elastic import elastic_energies
from weft.scene.held import ANCHOR, Held, held_points
from weft.scene.law import law_of_fabric
from weft.state import State
from weft.units import fields_in_si

Settings = StepSettings | Settings1998 | SemiImplicitSettings | QuasiStaticSettings
SETTINGS: Mapping[str, type[Settings]] = {
    "backward_euler": StepSettings,
    "bdf2": StepSettings,
    "bdf2_semi_implicit": SemiImplicitSettings,
    "baraff_witkin_1998": Settings1998,
    "quasi_static": QuasiStaticSettings,
}
INTEGRATORS = tuple(SETTINGS)


@dataclass(frozen=True, eq=False, repr=False)
class Scene:
    """What is simulated.

    Args:
        cloth: mesh and fabric.
        pins: what is held or moved.
        gravity: [m/s^2].
        damping: [s] time constant of stiffness-proportional damping (k_d/k of conditions); None
            takes the fabric's.
        step: [s] largest time step; frames are divided evenly.
        rest_angles: ``flat``, or ``as-given``: the mesh's own angles are its rest shape.
        integrator: ``backward_euler``, ``bdf2``, ``bdf2_semi_implicit``, ``baraff_witkin_1998`` or
            ``quasi_static``.
        settings: how a step is solved: ``StepSettings``, ``SemiImplicitSettings``, ``Settings1998``
            (whose damping is the scene's) or ``QuasiStaticSettings``; None takes the integrator's
            own.
        law: of the membrane, or a function that gives each fabric its own; None: Baraff-Witkin
            with the fabric's stiffness.
        buckling: bend by predicted buckled shapes (Choi & Ko), in this form; None: hinges, or with
            the law ``ImmediateBuckling`` the form's defaults.
        pressure: [Pa] inside a closed surface, or a ``Gas``; None: none.
        conditions: take the condition energies of 1998 in this form; None: the finite element law,
            or with ``baraff_witkin_1998`` the conditions in their default form.
        contact: the cloth does not pass through itself, nor through bodies (``SelfContact``); None:
            it passes through itself, unless there are bodies.
        bodies: what it meets besides (``weft.contact.sphere``, ``plate``, ``Body``).
        adaptive: divide steps in which cloth stretches too fast; None: never.
        velocity: (3,) or (N,3) [m/s] of the points, at the start.
        description: the contents of the scene file, for the manifest of a run.

    Raises:
        SceneError: a value out of range.
    """

    cloth: Cloth
    pins: Sequence[Pin] = ()
    gravity: tuple[float, float, float] = (0.0, -9.81, 0.0)
    damping: float | None = None
    step: float = 0.02
    rest_angles: str = "flat"
    integrator: str = "backward_euler"
    settings: Settings | None = None
    law: Law | Callable[[Fabric], Law] | None = None
    buckling: BucklingForm | None = None
    pressure: float | Gas | None = None
    conditions: ConditionForm | None = None
    contact: SelfContact | None = None
    bodies: Sequence[Body] = ()
    adaptive: AdaptiveSettings | None = None
    velocity: Any = (0.0, 0.0, 0.0)
    description: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        return described(self)

    def __post_init__(self) -> None:
        fields_in_si(self, "scene", gravity="m/s^2", damping="s", step="s", velocity="m/s",
                     pressure="Pa")  # fmt: skip
        if not (np.isfinite(self.step) and self.step > 0):
            raise SceneError("scene.step", got=self.step, expected="must be > 0 [s]")
        if self.damping is not None and not (np.isfinite(self.damping) and self.damping >= 0):
            raise SceneError("scene.damping", got=self.damping, expected="must be >= 0 [s]")
        if not np.isfinite(self.gravity).all() or len(self.gravity) != 3:
            raise SceneError("scene.gravity", got=self.gravity, expected="three numbers [m/s^2]")
        check_known(self.integrator, INTEGRATORS, "scene.integrator", SceneError)
        expected = SETTINGS[self.integrator]
        if self.settings is not None and not isinstance(self.settings, expected):
            raise SceneError(
                "scene.settings",
                got=type(self.settings).__name__,
                expected=f"{expected.__name__}, with integrator {self.integrator}",
            )
        if self.law is not None and (self.conditions is not None or self.is_1998):
            raise SceneError("scene.law", got="a law", expected="none, with the conditions of 1998")
        if self.bodies and self.contact is None:
            object.__setattr__(self, "contact", SelfContact())
        beta = {p.fabric.damping for p in self.cloth.parts}
        if self.is_1998 and self.damping is None and len(beta) > 1:
            raise SceneError(
                "scene.damping", got=f"fabrics with {sorted(beta)} s", expected="one number, given",
                hint="baraff_witkin_1998 damps all conditions alike",
            )  # fmt: skip
        if self.buckling is not None and (self.conditions is not None or self.is_1998):
            raise SceneError(
                "scene.buckling", got="given", expected="none, with the conditions of 1998"
            )

    @property
    def is_1998(self) -> bool:
        """True with the integrator that brings damping of its own."""
        return self.integrator == "baraff_witkin_1998"

    @property
    def _beta(self) -> float:
        """[s] of damping."""
        return self.cloth.fabric.damping if self.damping is None else self.damping

    @property
    def _settings(self) -> Settings:
        """The integrator's, given or its own."""
        settings = self.settings or SETTINGS[self.integrator]()
        if isinstance(settings, Settings1998):
            return dataclasses.replace(settings, damping=self._beta)
        return settings

    def model(self) -> Model:
        """Masses, energies and pins.

        Raises:
            SceneError: frozen bend conditions with an integrator that minimizes an energy; faces
            that intersect, where there is contact.
        """
        cloth, held = self.cloth, self._held
        elastic: tuple[Energy, ...] = ()
        damping: tuple[StepTerm, ...] = ()
        for k, (fabric, element) in enumerate(cloth.elements):
            found, damped = elastic_energies(self, fabric, element, "" if k == 0 else f" {k + 1}")
            elastic, damping = (*elastic, *found), (*damping, *damped)
        inside: tuple[Energy, ...] = ()
        if self.pressure is not None:
            if cloth.control is not None:
                raise SceneError("scene.pressure", got="with splines", expected="triangles")
            inside = (Pressure.of(cloth.mesh, self.pressure),)
        mass = np.concatenate([cloth.mass, np.full(held.anchors, ANCHOR)])
        energies = (*elastic, *inside, *held.energies, Gravity(mass, self.gravity))
        embedding = cloth.embedding
        if embedding is not None:
            embedding = embedding.wider(len(mass))
        contact = None
        if self.contact is not None:
            pieces = [Piece(p.name, p.vertices, p.thickness) for p in cloth.parts]
            contact = Contact.of(
                cloth.mesh, cloth.vertex_mass, self.contact, self.bodies, pieces, embedding
            )
        return Model(mass, energies, damping, held.pins, held.points, contact, embedding)

    @cached_property
    def _held(self) -> Held:
        """Pins, as the points have them."""
        return held_points(self.cloth, tuple(self.pins))

    def law_of(self, fabric: Fabric) -> Law:
        """The membrane's law for one of the fabrics."""
        if self.law is None:
            return law_of_fabric(fabric)
        return self.law if isinstance(self.law, Law) else self.law(fabric)

    @cached_property
    def resolved(self) -> Resolved | None:
        """The untangled start, where contact asks for one.

        Raises:
            SceneError: intersections that no small motion takes away.
        """
        if self.contact is None or not self.contact.resolve:
            return None
        if self.cloth.control is not None:
            raise SceneError(
                "scene.contact.resolve", got="with splines", expected="false",
                hint="untangle the triangles they are fitted to, or move the pieces apart",
            )  # fmt: skip
        return resolved(self.model(), self._held.points)

    def state(self) -> State:
        """The state at t = 0, untangled where that is asked for."""
        x = np.array(self._held.points if self.resolved is None else self.resolved.x)
        v = np.zeros(x.shape)
        v[: len(self.cloth.points)] = np.asarray(self.velocity, dtype=np.float64)
        return State(x, v)

    def stepper(self) -> Stepper:
        """The integrator, with adaptive steps where asked for."""
        settings = self._settings
        stepper: Stepper
        if isinstance(settings, Settings1998):
            stepper = BaraffWitkin1998(settings)
        elif isinstance(settings, QuasiStaticSettings):
            stepper = QuasiStatic(settings)
        elif isinstance(settings, SemiImplicitSettings):
            stepper = SemiImplicitBdf2(settings)
        else:
            stepper = {"backward_euler": BackwardEuler, "bdf2": Bdf2}[self.integrator](settings)
        if self.adaptive is None:
            return stepper
        return Adaptive(stepper, self.cloth.samples(), self.adaptive)

    def identity(self) -> Mapping[str, Any]:
        """A plain tree that two scenes share only if they simulate the same."""
        mesh = hashlib.sha256()
        for part in (self.cloth.vertices, self.cloth.faces, self.cloth.corner_uv):
            mesh.update(np.ascontiguousarray(part).tobytes())
        pins = [
            {"vertices": p.vertices.tolist(), "until": p.until,
             "path": None if p.path is None else repr(p.path)} for p in self.pins
        ]  # fmt: skip
        if self.cloth.control is not None:
            mesh.update(np.ascontiguousarray(self.cloth.points).tobytes())
            mesh.update(repr(self.cloth.control.identity()).encode())
        return {
            "mesh": mesh.hexdigest(),
            "parts": [_part(p) for p in self.cloth.parts],
            "pins": pins,
            "gravity": list(self.gravity),
            "damping": self.damping,
            "step": self.step,
            "rest_angles": self.rest_angles,
            "integrator": self.integrator,
            "law": None
            if self.law is None
            else [
                [_of(part) for part in self.law_of(fabric).parts]
                for fabric, _ in self.cloth.by_fabric
            ],
            "buckling": _plain(self.buckling),
            "pressure": _plain(self.pressure) if isinstance(self.pressure, Gas) else self.pressure,
            "settings": _plain(self._settings),
            "conditions": _plain(self.conditions),
            "contact": _plain(self.contact),
            "bodies": [_body(b) for b in self.bodies],
            "adaptive": _plain(self.adaptive),
            "velocity": np.asarray(self.velocity).tolist(),
        }

    def with_(self, **changes: Any) -> "Scene":
        """A copy with some fields changed."""
        return dataclasses.replace(self, **changes)


def _of(part: SingleLaw) -> Mapping[str, Any]:
    """A law's name and parameters as a plain tree."""
    values = {k: np.asarray(v).tolist() for k, v in part.parameters().items()}
    return {"name": part.name, **values}


def _part(part: Part) -> Mapping[str, Any]:
    """Name, fabric and size of a cloth."""
    fabric = {k: v for k, v in dataclasses.asdict(part.fabric).items() if k != "sources"}
    return {"name": part.name, "fabric": fabric, "faces": len(part.faces),
            "thickness": part.thickness}  # fmt: skip


def _body(body: Body) -> Mapping[str, Any]:
    """A body's shape, as a digest, and its motion."""
    digest = hashlib.sha256(np.ascontiguousarray(body.vertices).tobytes())
    digest.update(np.ascontiguousarray(body.faces).tobytes())
    if body.frames is not None:
        digest.update(body.frames.times.tobytes() + body.frames.positions.tobytes())
    path = None if body.path is None else repr(body.path)
    return {"name": body.name, "shape": digest.hexdigest(), "path": path,
            "thickness": body.thickness}  # fmt: skip


def _plain(settings: Any) -> Any:
    """A frozen dataclass as a tree of numbers and names."""
    if settings is None:
        return None
    fields = dataclasses.asdict(settings)
    return {k: v.name if isinstance(v, enum.Enum) else v for k, v in fields.items()}
