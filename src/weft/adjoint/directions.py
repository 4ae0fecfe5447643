"""Derivatives by single numbers of a scene: what differs in the models that two values make.

dg/dp, for any p that a scene has, is a difference quotient of gradients dPhi/dx *at the same x*: of
those terms alone that differ between the models of p + h and p - h, with everything else as it was
in the step. Where forces are linear in p it is exact; else four points a thousandth apart leave
1e-11 of it. What pins, bodies, the start and the loss itself say of p is added likewise.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weft import kernel
from weft.adjoint.parameters import Parameter
from weft.adjoint.same import same
from weft.adjoint.step_back import Back, StepBack
from weft.arrays import Floats
from weft.contact.term import FIRMNESS, ContactTerm
from weft.energies.base import Bound, FastEnergy
from weft.energies.inertia import Inertia
from weft.energies.on_host import OnHost
from weft.errors import SceneError, WeftError
from weft.kernel import WarpArray, vec3
from weft.model import Model
from weft.step import Step

WIDE, NARROW = 0.5, 1e-3  # of the size of a number, for linear ones and others
CENTRAL = ((1, 8 / 12), (-1, -8 / 12), (2, -1 / 12), (-2, 1 / 12))
ONE_SIDED = ((0, -25 / 12), (1, 4.0), (2, -3.0), (3, 4 / 3), (4, -1 / 4))
TWO, FORWARD = ((1, 0.5), (-1, -0.5)), ((1, 1.0), (0, -1.0))


@dataclass(frozen=True, eq=False)
class Variant:
    """A scene with another value, and what its model has that the run's has not."""

    weight: float  # in the difference quotient
    scene: Any
    model: Model
    terms: tuple[Bound, ...]
    contact: ContactTerm | None
    pins: bool
    bodies: bool
    start: bool

    @property
    def differs(self) -> bool:
        """Whether anything is another."""
        return bool(self.terms or self.contact or self.pins or self.bodies or self.start)

    def gradient(self, step: Step, x: WarpArray) -> Floats:
        """(n,3) dPhi/dx of the terms that differ."""
        g = kernel.zeros(len(step.state.x), vec3)
        for term in (*self.terms, *((self.contact,) if self.contact else ())):
            term.freeze(step)
            term.add_gradient(x, g)
        return np.array(kernel.numpy(g))

    def along(self, back: StepBack) -> float:
        """What this variant adds for one step."""
        step, total = back.phi.step, 0.0
        if self.terms or self.contact:
            total -= float((back.z * self.gradient(step, back.x)).sum())
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

    def begins(self, back: Back) -> float:
        """What it adds for the start."""
        if not self.start:
            return 0.0
        state = self.scene.state()
        return float((back.x * state.x).sum() + (back.v * state.v).sum())


@dataclass(eq=False)
class Direction:
    """The derivative by one number of a parameter, added up step by step."""

    parameter: Parameter
    index: tuple[int, ...]
    variants: tuple[Variant, ...]
    total: float = 0.0

    @staticmethod
    def of(scene: Any, parameter: Parameter, index: tuple[int, ...]) -> "Direction":
        """Of one number of a parameter.

        Raises:
            SceneError: a parameter that no other value can be given.
        """
        size = abs(float(parameter.value[index])) or parameter.size
        part = WIDE if parameter.linear else NARROW
        central, ahead = (TWO, FORWARD) if parameter.linear else (CENTRAL, ONE_SIDED)
        reason: WeftError | None = None
        for sign, points in ((1, central), (1, ahead), (-1, ahead)):
            h = sign * (parameter.near or part * size)
            try:
                made = [_variant(scene, parameter, index, k * h, w / h) for k, w in points]
            except WeftError as error:
                reason = error
                continue
            kept = tuple(v for v in made if v is not None)
            return Direction(parameter, index, _together(kept))
        raise SceneError(
            f"parameter {parameter.name}", got=f"no other value near {parameter.value[index]:g}",
            expected="one that can be changed a little", hint=str(reason),
        )  # fmt: skip

    @property
    def matters(self) -> bool:
        """Whether anything of the model depends on it."""
        return any(v.differs for v in self.variants)

    def add(self, back: StepBack) -> None:
        """Of one step."""
        for v in self.variants:
            self.total += v.weight * v.along(back)

    def begin(self, back: Back) -> None:
        """Of the start."""
        for v in self.variants:
            self.total += v.weight * v.begins(back)

    def explicit(self, loss: Any, x: Floats, v: Floats, t: Floats) -> None:
        """Of a loss that knows the model (``losses.Energy``), at the same positions."""
        for variant in self.variants:
            self.total += variant.weight * float(loss.of(variant.model)(x, v, t)[0])


def _variant(
    scene: Any, parameter: Parameter, index: tuple[int, ...], shift: float, weight: float
) -> Variant:
    value = np.array(parameter.value)
    value[index] += shift
    made = scene if shift == 0 else parameter.at(scene, value)
    base, model = scene.model(), made.model()
    if len(base.energies) != len(model.energies) or len(base.mass) != len(model.mass):
        raise SceneError(
            f"parameter {parameter.name}", got="another number of energies or points",
            expected="the same",
        )  # fmt: skip
    pattern = base.assembly.pattern
    terms: list[Bound] = [
        e.bind(pattern) if isinstance(e, FastEnergy) else OnHost(e, pattern)
        for e, old in zip(model.energies, base.energies)
        if not same(e, old)
    ]
    if not np.array_equal(model.mass, base.mass):
        terms.append(Inertia(model.mass))
    contact, bodies = None, False
    if base.contact is not None and model.contact is not None:
        bodies = not all(map(same, base.contact.bodies, model.contact.bodies))
        if _meets_otherwise(base.contact, model.contact):
            contact = ContactTerm(model.contact)
    pins = not same(base.pins, model.pins) or not same(base.start, model.start)
    old, new = scene.state(), made.state()
    start = not (np.array_equal(old.x, new.x) and np.array_equal(old.v, new.v))
    return Variant(weight, made, model, tuple(terms), contact, pins, bodies, start)


def _together(made: Sequence[Variant]) -> tuple[Variant, ...]:
    """The same, all with the terms that any of them has: a value in the middle differs in none,
    and counts in one-sided quotients.
    """
    if all(v.differs for v in made) or not any(v.differs for v in made):
        return tuple(made)
    whole = next(v for v in made if v.differs)
    names = {t.name for t in whole.terms}
    out = []
    for v in made:
        if not v.differs:
            pattern = v.model.assembly.pattern
            terms: list[Bound] = [
                e.bind(pattern) if isinstance(e, FastEnergy) else OnHost(e, pattern)
                for e in v.model.energies
                if e.name in names
            ]
            if any(isinstance(t, Inertia) for t in whole.terms):
                terms.append(Inertia(v.model.mass))
            contact = ContactTerm(v.model.contact) if whole.contact and v.model.contact else None
            v = Variant(
                v.weight, v.scene, v.model, tuple(terms), contact, whole.pins, whole.bodies,
                whole.start,
            )  # fmt: skip
        out.append(v)
    return tuple(out)


def _meets_otherwise(a: Any, b: Any) -> bool:
    """Whether contact differs in more than where its bodies are."""
    mine, other = a.mesh.sides, b.mesh.sides
    tables = ("thickness", "static", "kinetic", "part")
    return not (
        same(a.settings, b.settings)
        and a.stiffness == b.stiffness
        and all(np.array_equal(getattr(mine, k), getattr(other, k)) for k in tables)
    )
