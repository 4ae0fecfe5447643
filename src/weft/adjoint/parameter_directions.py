"""Derivatives by single numbers of a scene, from models built with slightly different values.

With g = dPhi/dx, dg/dp is d2Phi/dx dc dc/dp for every term that knows the first factor
(``energies.by_constants``): it is the mixed derivative at the x of the step by the constants c of
its energy, times the change of these constants with p. The change is a difference quotient of
constants, exact if they are linear in p (as all constants of a fabric are with triangles and
hinges), with an error of 1e-12 elsewhere; no force is subtracted from another. A term that does not
know it, or a number that is no constant of it, is differentiated by a difference quotient of its
gradient *at the same x*; ``AdjointReport.differences`` lists these. Pins, bodies, the start and the
loss itself are differentiated by the values that the scene gives them.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from weft.adjoint.parameters import Parameter, ParameterDerivative
from weft.adjoint.recorded_run import RecordedRun
from weft.adjoint.reverse_step import ReverseStep
from weft.base.arrays import Floats
from weft.base.differences import FOURTH_ORDER
from weft.base.equality import are_equal
from weft.base.errors import SceneError, WeftError
from weft.contact.memory import STIFFNESS
from weft.energies.by_constants import ByName, differ_by_constants
from weft.energies.derivative import differentiable
from weft.energies.state import StateDerivatives
from weft.energies.step import Step
from weft.energies.term import Term
from weft.integrators.assembly import bind_term, sum_gradients
from weft.integrators.model import Model
from weft.integrators.potential import Potential
from weft.kernel import WarpArray
from weft.scene.prepare import Simulation, prepare
from weft.scene.scene import Scene

WIDE, NARROW = 0.5, 1e-3  # step relative to the size of a number: linear parameters, and others
# Points and weights of difference quotients: of fourth order, and exact ones for linear parameters.
# The one-sided ones serve numbers at the end of their range (a friction coefficient of zero).
ONE_SIDED = ((0, -25 / 12), (1, 4.0), (2, -3.0), (3, 4 / 3), (4, -1 / 4))
TWO, FORWARD = ((1, 0.5), (-1, -0.5)), ((1, 1.0), (0, -1.0))


@dataclass(frozen=True, eq=False)
class SceneVariant:
    """A scene with a changed value, and the terms of its model that need difference quotients."""

    weight: float  # in the difference quotient
    scene: Scene | Simulation
    model: Model
    terms: Mapping[int, Term]  # by index among all terms
    pins: bool = False
    bodies: bool = False
    start: bool = False

    @property
    def differs(self) -> bool:
        """True if any part of the model needs a difference quotient."""
        return bool(self.terms or self.pins or self.bodies or self.start)

    def gradient(
        self, step: Step, x: WarpArray, freeze: Callable[[Term], None] | None = None
    ) -> Floats:
        """Return (n,3) [N] dPhi/dx of the terms that differ.

        ``freeze`` begins the step for a term; None: ``term.freeze(step)``.
        """
        if self.model.changing is not None:
            self.model.changing(step.t).update(self.terms.values())
        for term in self.terms.values():
            term.freeze(step) if freeze is None else freeze(term)
        return sum_gradients(self.terms.values(), x)

    def remember(self, x: WarpArray) -> dict[str, Floats]:
        """Return what the terms remember after a step that ended at x, without what jumps."""
        terms = differentiable(self.terms.values())
        smooth = (term for term in terms if not term.remembers_jumps)
        return {name: np.asarray(a) for term in smooth for name, a in term.remember(x).items()}

    def along(self, back: ReverseStep) -> float:
        """Return the contribution of this variant to the derivative in one step, without weight."""
        step, total = back.phi.step, 0.0
        if self.terms:
            total -= float((back.z * self.gradient(step, back.x, back.freeze)).sum())
        if back.memory:
            for name, value in self.remember(back.x).items():
                if name in back.memory and name != STIFFNESS:  # stiffness adapts by jumps
                    total += float((back.memory[name] * value).sum())
        if self.pins:
            _, target = self.model.prescribed_positions(step.t)
            total += float((back.pulled.target * np.where(step.fixed[:, None], target, 0.0)).sum())
        if self.bodies:
            total += float((back.pulled.before * self.model.bodies(step.state.t)).sum())
            total += float((back.pulled.after * self.model.bodies(step.t)).sum())
        return total

    def begins(self, back: StateDerivatives) -> float:
        """Return the contribution of this variant at the start of the run, without weight."""
        if not self.start:
            return 0.0
        state = prepare(self.scene).state
        return float((back.x * state.x).sum() + (back.v * state.v).sum())


@dataclass(eq=False)
class ParameterDirection:
    """The derivative by one number of a parameter, accumulated step by step."""

    parameter: Parameter
    index: tuple[int, ...]
    variants: tuple[SceneVariant, ...]
    changes: Mapping[int, ByName] = field(default_factory=dict)  # dc/dp by index of the term
    differences: tuple[str, ...] = ()  # names of terms differentiated by differences
    total: float = 0.0

    @staticmethod
    def of(
        scene: Scene | Simulation,
        parameter: Parameter,
        index: tuple[int, ...],
        base: Model | None = None,
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
        base = prepare(scene).model if base is None else base
        size = abs(float(parameter.value[index])) or parameter.size
        part = WIDE if parameter.linear else NARROW
        central, ahead = (TWO, FORWARD) if parameter.linear else (FOURTH_ORDER, ONE_SIDED)
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
            expected="a value that can change a little",
            hint=str(reason),
        )

    @property
    def matters(self) -> bool:
        """True if anything in the model depends on the number."""
        return bool(self.changes) or any(v.differs for v in self.variants)

    def add(self, back: ReverseStep) -> None:
        """Add the contribution of one step."""
        step, x, into = back.phi.step, back.x, back.pulled
        for k, change in self.changes.items():
            (term,) = differentiable([back.phi.terms_of_phi[k]])
            self.total += term.pull_back_constants(step, x, -back.z, change, back.memory, into)
        for v in self.variants:
            self.total += v.weight * v.along(back)

    def forces(self, phi: Potential, x: WarpArray, at: Floats | None) -> tuple[Floats, ByName]:
        """Return (n,3) [N] the change of dPhi/dx by way of constants, and that of the memory.

        Args:
            phi: potential of a step.
            x: (n,) vec3 end of the step.
            at: (n,3) where ``lag`` was called last; None: nowhere.
        """
        out, kept = np.zeros((len(phi.free), 3)), dict[str, Floats]()
        for k, change in self.changes.items():
            (term,) = differentiable([phi.terms_of_phi[k]])
            forces, remembered = term.along_constants(phi.step, x, change, at)
            out, kept = out + forces, {**kept, **remembered}
        return out, kept

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


class NumberDerivative(ParameterDerivative):
    """The derivative by a parameter whose numbers are differentiated one by one.

    Args:
        scene: scene of the run.
        run: the run.
        parameter: the parameter.

    Raises:
        SceneError: a parameter to which no other value can be given.
    """

    def __init__(self, scene: Scene | Simulation, run: RecordedRun, parameter: Parameter) -> None:
        self.shape = parameter.value.shape
        every = np.ndindex(self.shape)
        self.numbers = [ParameterDirection.of(scene, parameter, i, run.model) for i in every]
        self.differences = list(dict.fromkeys(n for d in self.numbers for n in d.differences))

    @property
    def matters(self) -> bool:
        """True if anything in the model depends on one of the numbers."""
        return any(d.matters for d in self.numbers)

    def add(self, back: ReverseStep) -> None:
        """Add the contribution of one step."""
        for d in self.numbers:
            if d.matters:
                d.add(back)

    def add_start(self, back: StateDerivatives) -> None:
        """Add the contribution of the state at the start."""
        for d in self.numbers:
            d.begin(back)

    def add_explicit(self, loss: Any, x: Floats, v: Floats, t: Floats) -> None:
        """Add the direct dependence of a loss that knows the model."""
        for d in self.numbers:
            d.explicit(loss, x, v, t)

    def result(self) -> Floats:
        """Return the derivative, in the shape of the parameter's value."""
        return np.array([d.total for d in self.numbers]).reshape(self.shape)


@dataclass(frozen=True, eq=False)
class _Other:
    """A scene with another value, its model, and its weight in the difference quotient."""

    weight: float
    scene: Scene | Simulation
    model: Model


def _other(
    scene: Scene | Simulation,
    base: Model,
    parameter: Parameter,
    index: tuple[int, ...],
    shift: float,
    w: float,
) -> _Other:
    if shift == 0:
        return _Other(w, scene, base)
    value = np.array(parameter.value)
    value[index] += shift
    made = parameter.at(scene, value)
    model = prepare(made).model
    if len(base.parts) != len(model.parts) or len(base.mass) != len(model.mass):
        raise SceneError(
            f"parameter {parameter.name}",
            got="the same number of energies and points",
            expected="the same",
        )
    return _Other(w, made, model)


def _direction(
    scene: Scene | Simulation,
    base: Model,
    parameter: Parameter,
    index: tuple[int, ...],
    made: Sequence[_Other],
) -> ParameterDirection:
    timed = any(m.changing is not None for m in (base, *(o.model for o in made)))
    changes: dict[int, ByName] = {}
    unknown: list[int] = []
    for k, old in enumerate(base.parts):
        others = [(o.weight, o.model.parts[k]) for o in made]
        if timed:
            if any(_differs_in_time(base, o.model, k) for o in made):
                unknown.append(k)
        elif not all(are_equal(part, old) for _, part in others):
            for _, part in others:
                if hasattr(part, "check_variant"):
                    part.check_variant(old, parameter.name)
            if not all(differ_by_constants(old, part) for _, part in others):
                unknown.append(k)
            elif change := _quotient([(w, part.constants) for w, part in others], old.constants):
                changes[k] = change
    moved = _detect_motion(scene, base, made)
    pattern = base.assembly.pattern
    variants = []
    for other in made:
        parts = other.model.parts if not timed else other.model.parts_at(0.0)
        # contact is bound as it is; its keyframes are those of ``Changing``
        parts = (*parts[: len(base.energies) + 1], other.model.contact)
        terms = {k: bind_term(parts[k], pattern) for k in unknown}
        variants.append(SceneVariant(other.weight, other.scene, other.model, terms, *moved))
    names = tuple(base.parts[k].name for k in unknown)
    return ParameterDirection(parameter, index, tuple(variants), changes, names)


def _differs_in_time(base: Model, other: Model, k: int) -> bool:
    """Return whether part k of two models differs at any time."""
    times = sorted({*base.times, *other.times})
    return any(not are_equal(base.parts_at(t)[k], other.parts_at(t)[k]) for t in times)


def _quotient(others: Sequence[tuple[float, ByName]], old: ByName) -> ByName:
    """Return the difference quotients of the constants that differ, by name."""
    return {
        name: np.asarray(sum(w * c[name] for w, c in others))
        for name in old
        if any(not np.array_equal(c[name], old[name]) for _, c in others)
    }


def _detect_motion(
    scene: Scene | Simulation, base: Model, made: Sequence[_Other]
) -> tuple[bool, bool, bool]:
    """Return whether pins, bodies and the start have moved in any of the scenes."""
    state = prepare(scene).state
    pins = bodies = start = False
    for other in made:
        model, new = other.model, prepare(other.scene).state
        pins |= not are_equal(base.pins, model.pins) or not are_equal(base.start, model.start)
        if base.contact is not None and model.contact is not None:
            bodies |= not all(map(are_equal, base.contact.bodies, model.contact.bodies))
        start |= not (np.array_equal(state.x, new.x) and np.array_equal(state.v, new.v))
    return pins, bodies, start
