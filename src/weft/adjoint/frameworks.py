"""Adapters to optimizers: a loss of one vector, for SciPy, PyTorch and JAX.

``Flat`` is a loss of all numbers of some parameters as one vector in units of their sizes, as
optimizers take it. The adapters import PyTorch and JAX when they are called.
"""

import pickle
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context
from typing import Any

import numpy as np

from weft.adjoint.adjoint import Adjoint, Derivative
from weft.base.arrays import Floats
from weft.base.errors import SceneError, SimulationError
from weft.base.runtime_types import checked
from weft.io.extra import optional


@checked(SceneError, "flat")
@dataclass(frozen=True, eq=False)
class Flat:
    """A loss as a function of one vector of parameters.

    Args:
        adjoint: loss and parameters; ``targets`` of pins cannot be among them.
        scaled: numbers are in units of ``Parameter.size``, so that all have a similar scale.
        penalty: value of the loss if a step does not converge (``BLOCKED``, ...), so that an
            optimizer turns back; None: the SimulationError of the step is raised. The penalty
            should be larger than any value of a run that ends. The gradient there leads back to the
            last vector whose run ended; if none has ended yet, the error is raised all the same.

    Attributes:
        notes: messages of the steps that failed, one for each vector that got the penalty.
    """

    adjoint: Adjoint
    scaled: bool = True
    penalty: float | None = None
    notes: list[str] = field(default_factory=list, init=False, repr=False)
    _last: list[tuple[Floats, float]] = field(default_factory=list, init=False, repr=False)

    def __post_init__(self) -> None:
        if self.penalty is not None and not np.isfinite(self.penalty):
            raise SceneError("Flat.penalty", got=self.penalty, expected="a finite number")

    @property
    def start(self) -> Floats:
        """The values of the scene itself as a vector."""
        a = self.adjoint
        return self.pack({n: a.parameter(n).value for n in a.parameters})

    def pack(self, values: Mapping[str, Floats]) -> Floats:
        """Return values by name as one vector."""
        return np.concatenate(
            [
                np.asarray(values[n], dtype=np.float64).reshape(-1) / self._size(n)
                for n in self.adjoint.parameters
            ]
        )

    def unpack(self, q: Floats) -> dict[str, Floats]:
        """Return a vector as values by name.

        Raises:
            SceneError: a vector of another length.
        """
        q = np.asarray(q, dtype=np.float64).reshape(-1)
        if len(q) != len(self.start):
            raise SceneError("parameters", got=f"{len(q)} numbers", expected=str(len(self.start)))
        found, first = {}, 0
        for n in self.adjoint.parameters:
            p = self.adjoint.parameter(n)
            last = first + p.value.size
            found[n] = (q[first:last] * self._size(n)).reshape(p.value.shape)
            first = last
        return found

    def derivative(self, q: Floats) -> Derivative:
        """Return the ``Derivative`` of ``Adjoint`` at the vector q."""
        return self.adjoint.with_values(self.unpack(q))()

    def __call__(self, q: Floats) -> tuple[float, Floats]:
        """Return value and gradient at q, as ``scipy.optimize.minimize`` with ``jac=True`` expects.

        Raises:
            SimulationError: a step that does not converge, without a penalty.
        """
        try:
            found = self.derivative(q)
        except SimulationError as error:
            return self._penalize(q, error)
        pieces = [found.gradient[n].reshape(-1) * self._size(n) for n in self.adjoint.parameters]
        self._last[:] = [(np.array(q, dtype=np.float64).reshape(-1), found.value)]
        return found.value, np.concatenate(pieces)

    def value(self, q: Floats) -> float:
        """Return the loss at q, without the pass backwards in time.

        Raises:
            SimulationError: a step that does not converge, without a penalty.
        """
        try:
            value = self.adjoint.with_values(self.unpack(q)).value()
        except SimulationError as error:
            return self._penalize(q, error)[0]
        self._last[:] = [(np.array(q, dtype=np.float64).reshape(-1), value)]
        return value

    def _penalize(self, q: Floats, error: SimulationError) -> tuple[float, Floats]:
        """Return the penalty, and the slope of a straight line to it from the last value."""
        if self.penalty is None or not self._last:
            raise error
        before, value = self._last[0]
        away = np.asarray(q, dtype=np.float64).reshape(-1) - before
        most = max(self.penalty, value)
        self.notes.append(f"{error}: the penalty {most:g} stands for the loss")
        return most, (most - value) * away / max(float(away @ away), 1e-300)

    def _size(self, name: str) -> float:
        return self.adjoint.parameter(name).size if self.scaled else 1.0


@checked(SceneError)
def batched(losses: Sequence[Adjoint], processes: int = 1) -> list[Derivative]:
    """Return the derivatives of several runs, computed in parallel processes with one thread each.

    With more than one process, scenes and losses have to be picklable: no lambdas, no local
    functions.

    Args:
        losses: one adjoint for each run.
        processes: number of processes; 1: the runs take turns in this process.

    Raises:
        SceneError: an object that cannot be sent to another process.
    """
    if processes == 1:
        return [a() for a in losses]
    packed = [_pickle_adjoint(a) for a in losses]
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        return list(pool.map(_run, packed))


def _pickle_adjoint(adjoint: Adjoint) -> bytes:
    """Return a pickled adjoint.

    Raises:
        SceneError: it cannot be pickled.
    """
    try:
        return pickle.dumps(adjoint)
    except (pickle.PicklingError, AttributeError, TypeError) as error:  # as pickle says it
        raise SceneError(
            "batched",
            got=f"what cannot be sent to another process: {error}",
            expected="losses and parameters that are named functions of modules",
            hint="processes=1 takes any",
        ) from None


def _run(packed: bytes) -> Derivative:
    adjoint: Adjoint = pickle.loads(packed)
    return adjoint()


@checked(SceneError)
def torch_function(flat: Flat) -> Any:
    """Return a function of a PyTorch vector with a gradient for autograd and ``torch.func``.

    A second derivative raises a SceneError, because weft knows first derivatives only. If gradients
    are off (``torch.no_grad``), there is no pass backwards in time.

    Raises:
        SceneError: PyTorch is not installed.
    """
    torch: Any = optional("torch", "torch", "adapter for torch", SceneError)
    first_derivative_only = _first_derivative_only(torch)

    def as_tensor(value: Any, q: Any) -> Any:
        return torch.as_tensor(value, dtype=q.dtype, device=q.device)

    class Loss(torch.autograd.Function):  # type: ignore[misc]
        """Value of the loss; if gradients are on, also its gradient, which is kept for backward."""

        @staticmethod
        def forward(q: Any, slopes: bool) -> Any:
            x = q.detach().cpu().numpy()
            value, gradient = flat(x) if slopes else (flat.value(x), np.zeros(0))
            return as_tensor(value, q), as_tensor(gradient, q)

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.mark_non_differentiable(output[1])
            ctx.save_for_backward(inputs[0], output[1])

        @staticmethod
        def backward(ctx: Any, by: Any, _: Any) -> Any:
            return first_derivative_only.apply(*ctx.saved_tensors, by), None

        @staticmethod
        def vmap(info: Any, in_dims: Any, q: Any, slopes: bool) -> Any:
            """Run the batch one after another."""
            rows = [Loss.apply(row, slopes) for row in q.movedim(in_dims[0], 0)]
            return tuple(torch.stack(each) for each in zip(*rows)), (0, 0)

    return lambda q: Loss.apply(q, torch.is_grad_enabled())[0]


def _first_derivative_only(torch: Any) -> Any:
    """Return the autograd function of a gradient times a factor, which refuses a derivative."""

    class FirstDerivativeOnly(torch.autograd.Function):  # type: ignore[misc]
        """The gradient at q times a factor, as a function of q that refuses a derivative."""

        generate_vmap_rule = True

        @staticmethod
        def forward(q: Any, gradient: Any, by: Any) -> Any:
            return by * gradient

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            pass

        @staticmethod
        def backward(ctx: Any, by: Any) -> Any:
            raise SceneError(
                "second derivative of a run",
                got="asked for by PyTorch",
                expected="first derivatives: weft knows no others",
                hint="leave out create_graph=True, or a term that has gradients in the loss",
            )

    return FirstDerivativeOnly


@checked(SceneError)
def jax_function(flat: Flat) -> Any:
    """Return a function of a JAX vector with a custom derivative.

    The run is a callback on the host; under ``vmap`` the runs follow one another. Without ``grad``
    there is no pass backwards in time.

    Raises:
        SceneError: JAX is not installed.
    """
    jax = optional("jax", "jax", "adapter for jax", SceneError)
    jnp = jax.numpy
    size = len(flat.start)

    def called(host: Any, shape: tuple[int, ...], q: Any) -> Any:
        kind = jax.ShapeDtypeStruct(shape, jnp.result_type(float))
        on_host = lambda q: np.asarray(host(np.asarray(q)), dtype=kind.dtype)  # noqa: E731
        return jax.pure_callback(on_host, kind, q, vmap_method="sequential")

    @jax.custom_vjp  # type: ignore[untyped-decorator]
    def loss(q: Any) -> Any:
        return called(flat.value, (), q)

    def ahead(q: Any) -> Any:
        both = called(lambda q: np.hstack(flat(q)), (size + 1,), q)
        return both[0], both[1:]

    loss.defvjp(ahead, lambda gradient, by: (by * gradient,))
    return loss
