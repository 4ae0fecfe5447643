"""Losses: functions of a trajectory that give a value and its derivative.

A loss is called with positions x (f+1,n,3) [m] and velocities v (f+1,n,3) [m/s] of the surface's
vertices in frames 0 to f, and with their times t (f+1,) [s]. It returns its value and the
derivative by x, of the same shape as x, and may return the derivative by v as a third item. Every
such function can be a loss; ``Sum`` adds losses.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from weft import kernel
from weft.base.arrays import ArrayOf, Floats, Ints, Positions, Velocities, VertexIds
from weft.base.errors import SceneError
from weft.base.runtime_types import checked
from weft.base.settings import Setting
from weft.discretization.samples import Samples
from weft.energies.state import State
from weft.integrators.assembly import sum_gradients
from weft.integrators.model import Model

UNCHECKED = ("of", "by_corner", "principal")  # methods of losses that runs call
Answer = tuple[Any, ...]  # value, derivative by x, and possibly by v
Loss = Callable[[Floats, Floats, Floats], Answer]


@checked(SceneError, unchecked=UNCHECKED)
@dataclass(frozen=True, eq=False)
class Target:
    """Mean squared distance [m^2] of vertices to their targets in a frame.

    Args:
        positions: (k,3) [m] targets, or (n,3) without ``vertices``.
        frame: number of the frame; -1 is the last one.
        vertices: (k,) ids; None: all.
        weight: (k,) weight of each vertex; None: equal weights.
        velocities: (k,3) [m/s] target velocities; None: velocities do not matter.
        time: [s] factor that makes velocities comparable with positions.
    """

    positions: Positions
    frame: int = -1
    vertices: VertexIds | None = None
    weight: Floats | None = None
    velocities: Velocities | None = None
    time: Annotated[float, Setting("", "s", least=0)] = 0.1

    def __call__(self, x: Floats, v: Floats, t: Floats) -> Answer:
        """Return the value and the derivatives by x and v."""
        ids = _ids(self.vertices, x.shape[1])
        share = np.full(len(ids), 1.0) if self.weight is None else np.asarray(self.weight)
        share = share / share.sum()
        by_x, by_v, value = np.zeros_like(x), np.zeros_like(v), 0.0
        wanted = ((x, self.positions, by_x, 1.0), (v, self.velocities, by_v, self.time**2))
        for have, want, by, scale in wanted:
            if want is None:
                continue
            off = have[self.frame, ids] - np.asarray(want)
            value += scale * float((share * (off**2).sum(1)).sum())
            by[self.frame, ids] += 2 * scale * share[:, None] * off
        return value, by_x, by_v


@checked(SceneError, unchecked=UNCHECKED)
@dataclass(frozen=True, eq=False)
class Mean:
    """Mean coordinate [m] of vertices in a frame along an axis, for example their height.

    Args:
        axis: direction (3,).
        vertices: (k,) ids; None: all.
        frame: number of the frame; -1 is the last one.
    """

    axis: Annotated[Any, ArrayOf("numbers", ((3,),))] = (0.0, 1.0, 0.0)
    vertices: VertexIds | None = None
    frame: int = -1

    def __call__(self, x: Floats, v: Floats, t: Floats) -> Answer:
        """Return the value and the derivative by x."""
        ids = _ids(self.vertices, x.shape[1])
        axis, by = np.asarray(self.axis, dtype=np.float64), np.zeros_like(x)
        by[self.frame, ids] = axis / len(ids)
        return float((x[self.frame, ids] @ axis).mean()), by


@checked(SceneError, unchecked=UNCHECKED)
@dataclass(frozen=True, eq=False)
class EnergyLoss:
    """Energy [J] of a frame: of one energy by its name in the metrics, or of all energies.

    The direct dependence on numbers other than positions (stiffness) is differentiated as well.
    Splines are refused, because positions of vertices do not determine the points of a spline.

    Args:
        name: ``membrane``, ``bending``, ``gravity``, ...; None: the sum of all.
        frame: number of the frame; -1 is the last one.
        model: set by ``weft.Adjoint``.
    """

    name: str | None = None
    frame: int = -1
    model: Any = None

    def of(self, model: Model) -> "EnergyLoss":
        """Return this loss for a model.

        Raises:
            SceneError: a name that no energy has; points that are not vertices.
        """
        from weft.base.errors import check_known

        if model.embedding is not None:
            raise SceneError("loss EnergyLoss", got="splines", expected="triangles")
        if self.name is not None:
            check_known(self.name, [b.name for b in model.assembly.bound], "energy", SceneError)
        return EnergyLoss(self.name, self.frame, model)

    def __call__(self, x: Floats, v: Floats, t: Floats) -> Answer:
        """Return the value and the derivative by x."""
        by, value = np.zeros_like(x), 0.0
        at = kernel.points(x[self.frame])
        self.model.assembly.take(float(t[self.frame]))
        still = self.model.step(_State(x[self.frame], t[self.frame]), 0.0)
        asked = [b for b in self.model.assembly.bound if self.name in (None, b.name)]
        for bound in asked:
            bound.freeze(still)
            value += bound.value(at)
        by[self.frame] = sum_gradients(asked, at)
        return value, by


@checked(SceneError, unchecked=UNCHECKED)
@dataclass(frozen=True, eq=False)
class Strain:
    """Stretch of the cloth beyond a limit, as a mean over faces.

    The value is the mean of the squares of the amounts by which both principal strains exceed the
    limit, and zero if all strains are below it. It is defined for triangles only.

    Args:
        limit: largest strain without penalty, 0.03 for 3 %.
        frame: number of the frame; -1 is the last one.
        model: set by ``weft.Adjoint``.
    """

    limit: float = 0.03
    frame: int = -1
    model: Any = None

    def of(self, model: Model) -> "Strain":
        """Return this loss for a model.

        Raises:
            SceneError: points that are not vertices.
        """
        if model.embedding is not None:
            raise SceneError("loss Strain", got="splines", expected="triangles")
        return Strain(self.limit, self.frame, model)

    def __call__(self, x: Floats, v: Floats, t: Floats) -> Answer:
        """Return the value and the derivative by x."""
        by, total, count = np.zeros_like(x), 0.0, 0
        for s in self._samples:
            excess, G = self._slope(s, x[self.frame])
            total, count = total + float((excess**2).sum()), count + len(G)
            np.add.at(by[self.frame], s.stencil, np.einsum("qij,qaj->qai", G, s.gradient))
        return total / count, by / count

    def by_corner(self, x: Floats, v: Floats, t: Floats) -> Floats:
        """Return the derivative (m,3,2) by the material coordinates of every face's corners.

        Faces are in the order of the membranes. With the edges Dm of a face, F = Ds Dm^-1 changes
        by -F dDm Dm^-1.
        """
        found = []
        for s in self._samples:
            _, G = self._slope(s, x[self.frame])
            F = s.deformation_gradient(np.asarray(x[self.frame]))
            inverse_t = np.swapaxes(s.gradient[:, 1:, :], 1, 2)
            by_Dm = -np.einsum("qki,qkj,qjl->qil", F, G, inverse_t)
            one, two = by_Dm[:, :, 0], by_Dm[:, :, 1]
            found.append(np.stack([-one - two, one, two], axis=1))
        every = np.concatenate(found)
        return every / len(every)

    def principal(self, x: Positions) -> Floats:
        """Return the principal strains (m,2) of every face at positions (n,3), larger one first."""
        found = [
            np.linalg.svd(s.deformation_gradient(np.asarray(x)), compute_uv=False)
            for s in self._samples
        ]
        return np.concatenate(found) - 1.0

    @property
    def _samples(self) -> list[Samples]:
        found = membrane_samples(self.model)
        if not found:
            raise SceneError("loss Strain", got="no membrane", expected="cloth that stretches")
        return found

    def _slope(self, s: Samples, x: Positions) -> tuple[Floats, Floats]:
        """Return excess strains (q,2), and the derivative (q,3,2) of their squares' sum by F."""
        U, size, Vt = np.linalg.svd(s.deformation_gradient(np.asarray(x)), full_matrices=False)
        excess = np.maximum(size - 1.0 - self.limit, 0.0)
        return excess, np.asarray(np.einsum("qik,qk,qkj->qij", U, 2 * excess, Vt))


def membrane_samples(model: Model) -> list[Samples]:
    """Return the samples of all membranes of a model in turn."""
    both = zip(model.energies, model.assembly.bound)
    return [e.samples for e, term in both if term.is_elastic and hasattr(e, "samples")]


def _State(x: Positions, t: float) -> State:
    return State(np.array(x), np.zeros_like(x), float(t))


@checked(SceneError, unchecked=UNCHECKED)
@dataclass(frozen=True, eq=False)
class Sum:
    """Weighted sum of losses.

    Args:
        terms: pairs of a weight and a loss.
    """

    terms: Sequence[tuple[float, Loss]]

    def of(self, model: Model) -> "Sum":
        """Return this sum with every loss bound to the model if it has a method ``of``."""
        return Sum([(w, loss.of(model) if hasattr(loss, "of") else loss) for w, loss in self.terms])

    def __call__(self, x: Floats, v: Floats, t: Floats) -> Answer:
        """Return the value and the derivatives by x and v."""
        value, by_x, by_v = 0.0, np.zeros_like(x), np.zeros_like(v)
        for weight, loss in self.terms:
            one, gx, gv = check_answer(loss(x, v, t), x)
            value, by_x, by_v = value + weight * one, by_x + weight * gx, by_v + weight * gv
        return value, by_x, by_v

    def by_corner(self, x: Floats, v: Floats, t: Floats) -> Floats:
        """Return the sum of the terms' derivatives by the rest shape, (m,3,2).

        It is the number 0 if no term knows the model.

        Raises:
            SceneError: a term that knows the model and has no ``by_corner``.
        """
        total: Any = 0.0
        for weight, loss in self.terms:
            total = total + weight * by_corner(loss, x, v, t)
        return np.asarray(total)


def by_corner(loss: object, x: Floats, v: Floats, t: Floats) -> Floats:
    """Return the derivative (m,3,2) of a loss by the rest shape at the same positions.

    It is the number 0 for a loss that does not know the model.

    Raises:
        SceneError: a loss that knows the model and has no ``by_corner``.
    """
    if hasattr(loss, "by_corner"):
        return np.asarray(loss.by_corner(x, v, t))
    if not hasattr(loss, "of"):
        return np.zeros(())
    raise SceneError(
        f"loss {type(loss).__name__} and parameter rest",
        got="a loss that needs the model",
        expected="a loss with by_corner(x, v, t), the derivative by the rest shape",
    )


def check_answer(answer: Any, x: Floats) -> tuple[float, Floats, Floats]:
    """Return the answer of a loss as value and both derivatives, after checking it.

    Raises:
        SceneError: another shape, or numbers that are not finite.
    """
    if not isinstance(answer, tuple | list) or len(answer) not in (2, 3):
        raise SceneError(
            "loss",
            got=f"{type(answer).__name__}",
            expected="(value, derivative by x), or with the derivative by v as a third",
        )
    value = np.asarray(answer[0], dtype=np.float64)
    if value.shape != () or not np.isfinite(value):
        raise SceneError("loss value", got=answer[0], expected="one finite number")
    slopes = []
    for name, by in zip(("x", "v"), answer[1:]):
        by = np.asarray(by, dtype=np.float64)
        if by.shape != x.shape:
            raise SceneError(
                f"loss derivative by {name}",
                got=f"shape {by.shape}",
                expected=f"{x.shape}: of every frame, vertex and axis",
            )
        if not np.isfinite(by).all():
            raise SceneError(
                f"loss derivative by {name}",
                got="numbers that are not finite",
                expected="finite ones",
                hint="a distance has no derivative at zero: use its square",
            )
        slopes.append(by)
    return float(value), slopes[0], slopes[1] if len(slopes) > 1 else np.zeros_like(x)


def _ids(vertices: VertexIds | None, n: int) -> Ints:
    """Return the ids of a loss, of n vertices.

    Raises:
        SceneError: an id that no vertex has.
    """
    ids = np.arange(n, dtype=np.int32) if vertices is None else np.asarray(vertices)
    if len(ids) and ids.max() >= n:
        raise SceneError("loss.vertices", got=int(ids.max()), expected=f"ids from 0 to {n - 1}")
    return ids
