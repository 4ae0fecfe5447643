"""Derivatives by single numbers of a scene, from models built with slightly different values.

With g = dPhi/dx, dg/dp is d2Phi/dx dc dc/dp for all energies that know the first factor
(``constant_changes``): it is the mixed derivative at the x of the step by the energy's constants c,
times the change of these constants with p. An energy that does not know it, or a number that is no
constant of it, is differentiated by a difference quotient of its gradient *at the same x*;
``AdjointReport.differences`` lists these. Pins, bodies, the start and the loss itself are
differentiated by the values that the scene gives them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from weft import kernel
from weft.adjoint.constant_changes import ConstantChanges
from weft.adjoint.equality import are_equal
from weft.adjoint.keyframed_models import contact_at, energies_at, take, times_of
from weft.adjoint.parameters import Parameter
from weft.adjoint.reverse_step import ReverseStep
from weft.base.arrays import Floats
from weft.base.errors import SceneError, WeftError
from weft.contact.contact_energy import ContactEnergy
from weft.contact.derivatives.by_constants import constants_of, structure_of
from weft.contact.memory import FIRMNESS
from weft.energies.base import Bound, FastEnergy
from weft.energies.by_constants import ByName, Differentiable
from weft.energies.inertia import Inertia
from weft.energies.numpy_energy import NumpyEnergy
from weft.energies.state import StateDerivatives
from weft.energies.step import Step
from weft.integrators.model import Model
from weft.kernel import WarpArray, vec3

WIDE, NARROW = 0.5, 1e-3  # step relative to the size of a number: linear parameters, and others
# Points and weights of difference quotients: of fourth order, and exact ones for linear parameters.
# The one-sided ones serve numbers at the end of their range (a friction coefficient of zero).
CENTRAL = ((1, 8 / 12), (-1, -8 / 12), (2, -1 / 12), (-2, 1 / 12))
ONE_SIDED = ((0, -25 / 12), (1, 4.0), (2, -3.0), (3, 4 / 3), (4, -1 / 4))
TWO, FORWARD = ((1, 0.5), (-1, -0.5)), ((1, 1.0), (0, -1.0))


@dataclass(frozen=True, eq=False)
class SceneVariant:
    """A scene with a changed value, and the parts of its model that need difference quotients."""

    weight: float  # in the difference quotient
    scene: Any
    model: Model
    terms: tuple[Bound, ...]
    places: tuple[int | None, ...]  # index of each term's energy; None: inertia
    contact: ContactEnergy | None
    pins: bool
    bodies: bool
    start: bool

    @property
    def differs(self) -> bool:
        """True if any part of the model needs a difference quotient."""
        return bool(self.terms or self.contact or self.pins or self.bodies or self.start)

    def gradient(
        self, step: Step, x: WarpArray, freeze: Callable[[Bound], None] | None = None
    ) -> Floats:
        """Return (n,3) [N] dPhi/dx of the terms that differ.

        ``freeze`` begins the step for a term; None: ``term.freeze(step)``.
        """
        g = kernel.zeros(len(step.state.x), vec3)
        take(self.model, step.t, self.terms, self.places, self.contact)
        for term in (*self.terms, *((self.contact,) if self.contact else ())):
            term.freeze(step) if freeze is None else freeze(term)
            term.add_gradient(x, g)
        return np.array(kernel.numpy(g))

    def along(self, back: ReverseStep) -> float:
        """Return the contribution of this variant to the derivative in one step, without weight."""
        step, total = back.phi.step, 0.0
        if self.terms or self.contact:
            total -= float((back.z * self.gradient(step, back.x, back.freeze)).sum())
        if self.contact is not None and back.kept:
            kept = self.contact.remember(back.x)
            for name, by in back.kept.items():
                if name in kept and name != FIRMNESS:
                    total += float((by * kept[name]).sum())
        if self.pins:
            _, target = self.model.prescribed(step.t)
            total += float((back.pulled.target * np.where(step.fixed[:, None], target, 0.0)).sum())
        if self.bodies:
            total += float((back.pulled.before * self.model.bodies(step.state.t)).sum())
            total += float((back.pulled.after * self.model.bodies(step.t)).sum())
        return total

    def begins(self, back: StateDerivatives) -> float:
        """Return the contribution of this variant at the start of the run, without weight."""
        if not self.start:
            return 0.0
        state = self.scene.state()
        return float((back.x * state.x).sum() + (back.v * state.v).sum())


@dataclass(eq=False)
class ParameterDirection:
    """The derivative by one number of a parameter, accumulated step by step."""

    parameter: Parameter
    index: tuple[int, ...]
    variants: tuple[SceneVariant, ...]
    changes: ConstantChanges = field(default_factory=ConstantChanges)
    differences: tuple[str, ...] = ()  # names of terms differentiated by differences
    total: float = 0.0

    @staticmethod
    def of(
        scene: Any, parameter: Parameter, index: tuple[int, ...], base: Model | None = None
    ) -> "ParameterDirection":
        """Build the direction of one number of a parameter.

        Args:
            scene: scene of the run.
            parameter: the parameter.
            index: index of the number in its value.
            base: model of the scene; None: it is built.

        Raises:
            SceneError: a parameter to which no other value can be given.
        """
        base = scene.model() if base is None else base
        size = abs(float(parameter.value[index])) or parameter.size
        part = WIDE if parameter.linear else NARROW
        central, ahead = (TWO, FORWARD) if parameter.linear else (CENTRAL, ONE_SIDED)
        reason: WeftError | None = None
        for sign, points in ((1, central), (1, ahead), (-1, ahead)):
            h = sign * (parameter.near or part * size)
            try:
                made = [_other(scene, base, parameter, index, k * h, w / h) for k, w in points]
            except WeftError as error:
                reason = error
                continue
            return _direction(scene, base, parameter, index, made)
        raise SceneError(
            f"parameter {parameter.name}",
            got=f"no other value near {parameter.value[index]:g}",
            expected="one that can be changed a little",
            hint=str(reason),
        )

    @property
    def matters(self) -> bool:
        """True if anything in the model depends on the number."""
        return self.changes.some or any(v.differs for v in self.variants)

    def add(self, back: ReverseStep) -> None:
        """Add the contribution of one step."""
        self.total += self.changes.along(back)
        for v in self.variants:
            self.total += v.weight * v.along(back)

    def begin(self, back: StateDerivatives) -> None:
        """Add the contribution of the state at the start."""
        for v in self.variants:
            self.total += v.weight * v.begins(back)

    def explicit(self, loss: Any, x: Floats, v: Floats, t: Floats) -> None:
        """Add the direct dependence of a loss that knows the model (``losses.EnergyLoss``).

        The loss is evaluated at the same positions with each variant of the model.
        """
        for variant in self.variants:
            self.total += variant.weight * float(loss.of(variant.model)(x, v, t)[0])


@dataclass(frozen=True, eq=False)
class _Other:
    """A scene with another value, its model, and its weight in the difference quotient."""

    weight: float
    scene: Any
    model: Model


def _other(
    scene: Any, base: Model, parameter: Parameter, index: tuple[int, ...], shift: float, w: float
) -> _Other:
    if shift == 0:
        return _Other(w, scene, base)
    value = np.array(parameter.value)
    value[index] += shift
    made = parameter.at(scene, value)
    model = made.model()
    if len(base.energies) != len(model.energies) or len(base.mass) != len(model.mass):
        raise SceneError(
            f"parameter {parameter.name}",
            got="another number of energies or points",
            expected="the same",
        )
    return _Other(w, made, model)


def _direction(
    scene: Any, base: Model, parameter: Parameter, index: tuple[int, ...], made: Sequence[_Other]
) -> ParameterDirection:
    models = [(o.weight, o.model) for o in made]
    energies: dict[int, ByName] = {}
    unknown: list[int | None] = []
    timed = any(m.changing is not None for m in (base, *(m for _, m in models)))
    for k, old in enumerate(base.energies):
        others = [(w, m.energies[k]) for w, m in models]
        if timed:
            if any(_differs_in_time(base, m, k) for _, m in models):
                unknown.append(k)
            continue
        if all(are_equal(e, old) for _, e in others):
            continue
        if hasattr(old, "check_variant"):
            for _, e in others:
                old.check_variant(e, parameter.name)
        if _is_known(old, [e for _, e in others]):
            change = _quotient([(w, e.constants) for w, e in others], old.constants)  # type: ignore[attr-defined]
            if change:
                energies[k] = change
        else:
            unknown.append(k)
    times = times_of(base)
    heavier = any(
        not np.array_equal(m.mass_at(t), base.mass_at(t)) for _, m in models for t in times
    )
    mass = np.asarray(sum(w * m.mass for w, m in models)) if heavier and not timed else None
    if heavier and timed:
        unknown.append(None)
    contact, meets = _contacts(base, models)
    if timed and base.contact is not None:
        meets = (
            meets
            or bool(contact)
            or any(
                not are_equal(contact_at(m, t), contact_at(base, t))
                for _, m in models
                for t in times
            )
        )
        contact = {} if meets else contact
    changes = ConstantChanges(base.energies, energies, mass, contact)
    moved = _moved(scene, base, made)
    variants = tuple(_variant(base, o, unknown, meets, moved) for o in made)
    names = ["inertia" if k is None else base.energies[k].name for k in unknown]
    names += ["contact"] if meets else []
    return ParameterDirection(parameter, index, variants, changes, tuple(names))


def _differs_in_time(base: Model, other: Model, k: int) -> bool:
    """Return whether energy k of two models differs at any time."""
    times = sorted({*times_of(base), *times_of(other)})
    return any(not are_equal(energies_at(base, t)[k], energies_at(other, t)[k]) for t in times)


def _is_known(old: Any, others: Sequence[Any]) -> bool:
    """Return whether energies differ by constants alone, with known mixed derivatives."""
    return isinstance(old, Differentiable) and all(
        type(e) is type(old) and are_equal(e.structure, old.structure) for e in others
    )


def _quotient(others: Sequence[tuple[float, ByName]], old: ByName) -> ByName:
    """Return the difference quotients of the constants that differ, by name."""
    return {
        name: np.asarray(sum(w * c[name] for w, c in others))
        for name in old
        if any(not np.array_equal(c[name], old[name]) for _, c in others)
    }


def _contacts(base: Model, models: Sequence[tuple[float, Model]]) -> tuple[ByName, bool]:
    """Return the change of contact's constants, and whether contact differs in more than these."""
    old = base.contact
    if old is None:
        return {}, False
    others = [(w, m.contact) for w, m in models if m.contact is not None]
    if any(not are_equal(structure_of(c), structure_of(old)) for _, c in others):
        return {}, True
    return _quotient([(w, constants_of(c)) for w, c in others], constants_of(old)), False


def _moved(scene: Any, base: Model, made: Sequence[_Other]) -> tuple[bool, bool, bool]:
    """Return whether pins, bodies and the start have moved in any of the scenes."""
    state = scene.state()
    pins = bodies = start = False
    for other in made:
        model, new = other.model, other.scene.state()
        pins |= not are_equal(base.pins, model.pins) or not are_equal(base.start, model.start)
        if base.contact is not None and model.contact is not None:
            bodies |= not all(map(are_equal, base.contact.bodies, model.contact.bodies))
        start |= not (np.array_equal(state.x, new.x) and np.array_equal(state.v, new.v))
    return pins, bodies, start


def _variant(
    base: Model,
    other: _Other,
    unknown: Sequence[int | None],
    meets: bool,
    moved: tuple[bool, bool, bool],
) -> SceneVariant:
    """Build a variant whose terms are differentiated by differences.

    All variants of one direction have the same terms, since their gradients are subtracted.
    """
    pattern, model = base.assembly.pattern, other.model
    terms: list[Bound] = []
    now = energies_at(model, 0.0)
    for k in unknown:
        if k is None:
            terms.append(Inertia(model.mass))
            continue
        e = now[k]
        terms.append(e.bind(pattern) if isinstance(e, FastEnergy) else NumpyEnergy(e, pattern))
    contact = ContactEnergy(model.contact) if meets and model.contact is not None else None
    return SceneVariant(
        other.weight, other.scene, model, tuple(terms), tuple(unknown), contact, *moved
    )
