"""Derivatives of terms by what they take from the start of a step (damping, wind, friction).

With s = by . dE/dx at the end of the step, a term adds ds/d(what ``freeze`` stored) to a
``StepCotangents``. A term that freezes nothing needs nothing here. A term that does, and that is
not registered here, is refused by name.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import warp as wp

from weft import kernel
from weft.adjoint.step_cotangents import StepCotangents
from weft.base.arrays import Floats
from weft.base.errors import SceneError
from weft.base.runtime_types import checked
from weft.contact.contact_energy import ContactEnergy
from weft.energies.base import Bound
from weft.energies.elastic.curvature_damping import CurvatureDamping
from weft.energies.elastic.hinge_bending import HingeBending
from weft.energies.elastic.quadratic_bending import BoundQuadratic
from weft.energies.elastic.quadratic_form import BoundQuadraticForm
from weft.energies.elastic.strain_limit import BoundLimits
from weft.energies.element_energy import BoundElementEnergy
from weft.energies.inertia import Inertia
from weft.energies.loads.drag import BoundDrag
from weft.energies.loads.gravity import BoundGravity
from weft.energies.seams.seam_hinges import BoundSeams
from weft.energies.springs.bonds import BoundBonds
from weft.energies.springs.point_springs import BoundPointSprings
from weft.energies.step import Step
from weft.kernel import WarpArray, vec3

Pull = Callable[[Any, Step, WarpArray, Floats, StepCotangents], None]
DIFFERENCE = 1e-5  # step of difference quotients, relative to the size of an element

# terms whose memory is differentiated, or is not altered by a small change (torn bonds)
KEEP: tuple[type[Bound], ...] = (
    BoundBonds,
    BoundLimits,
    BoundPointSprings,
    ContactEnergy,
)
_PULLS: dict[type[Bound], Pull] = {}


@checked(SceneError)
def pulls(kind: type[Bound]) -> Callable[[Pull], Pull]:
    """Return a decorator that registers a function as the derivative of a kind of term.

    The function is called as ``pull(term, step, x, by, into)`` and adds to ``into``.
    """

    def register(pull: Pull) -> Pull:
        _PULLS[kind] = pull
        return pull

    return register


def check_lagged(term: Bound) -> None:
    """Raise an error for a term whose dependence on the start of a step has no derivative here.

    Raises:
        SceneError: such a term.
    """
    if type(term).freeze is not Bound.freeze and _pull_of(term) is None:
        raise SceneError(
            f"energy {term.name}",
            got=f"{type(term).__name__}, which takes something from the start of a step",
            expected="one whose derivatives by that are known (weft.adjoint.lagged_terms.pulls)",
            hint="register them, or leave the energy out",
        )
    if type(term).remember not in (Bound.remember, *(k.remember for k in KEEP)):
        raise SceneError(
            f"energy {term.name}",
            got="what it keeps from step to step",
            expected="no creases, and no fibers that are drawn out, with derivatives",
        )


def pull_back_lagged(
    term: Bound, step: Step, x: WarpArray, by: Floats, into: StepCotangents
) -> None:
    """Add ds/d(what the term froze) to ``into``, with s = by . dE/dx at x and by (n,3)."""
    pull = _pull_of(term)
    if pull is not None:
        pull(term, step, x, by, into)


def _pull_of(term: Bound) -> Pull | None:
    for kind in type(term).__mro__:
        if kind in _PULLS:
            return _PULLS[kind]
    return None


@pulls(Inertia)
def _inertia(term: Inertia, step: Step, x: WarpArray, by: Floats, into: StepCotangents) -> None:
    """Add the derivative of s = by . m (x - y)/scale by y."""
    if step.scale is not None:
        into.predicted -= np.array(kernel.numpy(term._shift))[:, None] * by


@pulls(BoundGravity)
def _gravity(
    term: BoundGravity, step: Step, x: WarpArray, by: Floats, into: StepCotangents
) -> None:
    """Add nothing: gravity takes only the time from a step."""


@pulls(BoundBonds)
def _bonds(term: BoundBonds, step: Step, x: WarpArray, by: Floats, into: StepCotangents) -> None:
    """Add nothing: bonds take the time, and which of them have torn, which has no derivative."""


@pulls(BoundSeams)
def _seams(term: BoundSeams, step: Step, x: WarpArray, by: Floats, into: StepCotangents) -> None:
    """Add the derivatives of the seam's hinges, once the seam is closed."""
    if term.acts:
        _local(term, step, x, by, into)


@pulls(BoundDrag)
def _drag(term: BoundDrag, step: Step, x: WarpArray, by: Floats, into: StepCotangents) -> None:
    """Add the derivative of s = by . c m (x - origin)/h by the origin."""
    if term._acts:
        into.origin -= np.array(kernel.numpy(term._shift))[:, None] * by


@pulls(BoundQuadraticForm)
def _form(
    term: BoundQuadraticForm, step: Step, x: WarpArray, by: Floats, into: StepCotangents
) -> None:
    """Add the derivative of s = by . K (x + rate (x - origin)) by the origin."""
    if term._rate:
        into.origin -= term._rate * (term.form.matrix(len(by)) @ by)


@pulls(BoundQuadratic)
def _quadratic(
    term: BoundQuadratic, step: Step, x: WarpArray, by: Floats, into: StepCotangents
) -> None:
    """Add the derivatives of its damping."""
    if term.rate is not None:
        pull_back_lagged(term.rate, step, x, by, into)


@pulls(BoundElementEnergy)
def _local(
    term: BoundElementEnergy, step: Step, x: WarpArray, by: Floats, into: StepCotangents
) -> None:
    """Add the derivatives by the frozen measures of damped elements.

    They are in closed form for angles and curvatures, and differences by an element's coordinates
    for others.
    """
    beta = term.energy.damping
    if term.kernels.freeze is None or beta == 0 or not np.isfinite(step.span):
        return
    if isinstance(term.energy, HingeBending | CurvatureDamping):
        _measured(term, step, x, by, into)
    else:
        _by_differences(term, step, x, by, into)


def _measured(
    term: BoundElementEnergy, step: Step, x: WarpArray, by: Floats, into: StepCotangents
) -> None:
    """Add ds/dtheta_r = -w beta/h (dtheta . by), with theta_r = (1 + a) theta_n - a theta_(n-1)."""
    e, rate, a = term.energy, term.energy.damping / step.span, step.past_part
    weight = e.source.weight if isinstance(e, CurvatureDamping) else e.weight  # type: ignore[attr-defined]
    slope = np.einsum("mai,mai->m", measure_gradient(term, x), by[e.stencil])
    s = -rate * np.asarray(weight) * slope
    _scatter(
        term, (1 + a) * s[:, None, None] * measure_gradient(term, step.device_state), into.state_x
    )
    if a != 0:
        _scatter(term, -a * s[:, None, None] * measure_gradient(term, step.device_past), into.past)


def measure_gradient(term: BoundElementEnergy, x: WarpArray) -> Floats:
    """Return (m,k,3) dtheta/dx of what the elements measure (angle, curvature).

    It is the gradient of an energy of weight 1 whose measure is 1 away from its rest value.
    """
    e = term.energy
    out = kernel.empty(term.shape, vec3)
    p = e.parameters()
    kernel.launch(
        e.kernels.freeze,
        term.shape[0],
        x,
        x,
        e.device_stencil,
        kernel.Scalar(1.0),
        kernel.Scalar(0.0),
        kernel.Scalar(0.0),
        p,
    )
    if isinstance(e, CurvatureDamping):
        p.start = kernel.array(np.array(kernel.numpy(p.start)) - 1.0, kernel.Scalar)
        p.weight = kernel.array(np.ones(term.shape[0]), kernel.Scalar)
    else:
        records = kernel.numpy(p)
        records["rest"], records["rate"], records["weight"] = records["start"] - 1.0, 0.0, 1.0
        p = kernel.array(records, p.dtype)
    kernel.launch(e.kernels.gradient, term.shape[0], x, e.device_stencil, p, out)
    return np.array(kernel.numpy(out))


def _by_differences(
    term: BoundElementEnergy, step: Step, x: WarpArray, by: Floats, into: StepCotangents
) -> None:
    """Add ds/d(start of the step) by differences.

    Every element gets vertices of its own, so one coordinate of all elements is moved at a time.
    """
    e, (m, k) = term.energy, term.shape
    own = kernel.array(np.arange(m * k, dtype=np.int32).reshape(m, k), wp.int32)
    at, past = (np.asarray(y)[e.stencil] for y in (step.state.x, kernel.numpy(step.device_past)))
    size = np.abs(at - at[:, :1]).max(axis=(1, 2))
    for start, to in ((0, into.state_x), (1, into.past)):
        if start == 1 and step.past is None:
            continue
        slope = np.zeros((m, k, 3))
        for a in range(k):
            for j in range(3):
                values = []
                for sign in (1, -1):
                    ways = [np.array(at), np.array(past)]
                    ways[start][:, a, j] += sign * DIFFERENCE * size
                    values.append(_contracted(term, step, x, by, own, ways))
                slope[:, a, j] = (values[0] - values[1]) / (2 * DIFFERENCE * size)
        _scatter(term, slope, to)


def _contracted(
    term: BoundElementEnergy,
    step: Step,
    x: WarpArray,
    by: Floats,
    own: WarpArray,
    ways: list[Floats],
) -> Floats:
    """Return (m,) by . gradient of every element, frozen at positions (m,k,3) of its own."""
    e, out, p = term.energy, kernel.empty(term.shape, vec3), term.energy.parameters()
    points = [kernel.points(w.reshape(-1, 3)) for w in ways]
    numbers = (e.damping / step.span, 0.0, step.past_part)
    kernel.launch(
        e.kernels.freeze, term.shape[0], *points, own, *(kernel.Scalar(v) for v in numbers), p
    )
    kernel.launch(e.kernels.gradient, term.shape[0], x, e.device_stencil, p, out)
    return np.asarray(np.einsum("mai,mai->m", kernel.numpy(out), by[e.stencil]))


def _scatter(term: BoundElementEnergy, local: Floats, into: Floats) -> None:
    """Add local derivatives (m,k,3) to those by vertices (n,3)."""
    g = kernel.zeros(len(into), vec3)
    term.rows.add_gradient(kernel.array(local, vec3), g)
    into += kernel.numpy(g)
