"""Doors: one vector of parameters in and out, for SciPy, PyTorch and JAX.

``Flat`` is a loss of all numbers of some parameters as one vector, in units of their sizes, which
is what optimizers take. The adapters of PyTorch and JAX import these when they are made.
"""

from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Any

import numpy as np

from weft.adjoint.adjoint import Adjoint, Derivative
from weft.arrays import Floats
from weft.errors import SceneError


@dataclass(frozen=True, eq=False)
class Flat:
    """A loss of one vector.

    Args:
        adjoint: with parameters that are numbers of the scene.
        scaled: numbers are in units of ``Parameter.size``, so that all count alike.
    """

    adjoint: Adjoint
    scaled: bool = True

    @property
    def start(self) -> Floats:
        """The scene's own values."""
        a = self.adjoint
        return self.packed({n: a.parameter(n).value for n in a.parameters})

    def packed(self, values: Mapping[str, Floats]) -> Floats:
        """Values by name as one vector."""
        return np.concatenate([
            np.asarray(values[n], dtype=np.float64).reshape(-1) / self._size(n)
            for n in self.adjoint.parameters
        ])  # fmt: skip

    def unpacked(self, q: Floats) -> dict[str, Floats]:
        """One vector as values by name.

        Raises:
            SceneError: another number of numbers.
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
        """All that ``Adjoint`` says at q."""
        return self.adjoint.with_values(self.unpacked(q))()

    def __call__(self, q: Floats) -> tuple[float, Floats]:
        """Value and gradient, as ``scipy.optimize.minimize(flat, flat.start, jac=True)`` wants."""
        found = self.derivative(q)
        pieces = [found.gradient[n].reshape(-1) * self._size(n) for n in self.adjoint.parameters]
        return found.value, np.concatenate(pieces)

    def _size(self, name: str) -> float:
        return self.adjoint.parameter(name).size if self.scaled else 1.0


def batched(losses: Sequence[Adjoint], processes: int = 1) -> list[Derivative]:
    """Several runs and their derivatives, in parallel processes: each with one thread.

    Scenes and losses have to be picklable: no functions made on the spot, with more than one
    process.

    Raises:
        SceneError: what cannot be sent to another process.
    """
    if processes == 1:
        return [a() for a in losses]
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        try:
            return list(pool.map(_run, losses))
        except (AttributeError, TypeError) as error:
            raise SceneError(
                "batched", got=f"what cannot be sent to another process: {error}",
                expected="losses and parameters that are named functions of modules",
                hint="processes=1 takes any",
            ) from None  # fmt: skip


def _run(adjoint: Adjoint) -> Derivative:
    return adjoint()


def torch_function(flat: Flat) -> Any:
    """A function of a PyTorch vector, whose gradient autograd knows, and no second derivative.

    Raises:
        SceneError: PyTorch is not installed.
    """
    try:
        import torch  # type: ignore[import-not-found]
        from torch.autograd.function import once_differentiable  # type: ignore[import-not-found]
    except ImportError:
        raise _missing("torch") from None

    class Loss(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, q: Any) -> Any:
            value, gradient = flat(q.detach().cpu().numpy())
            ctx.save_for_backward(torch.as_tensor(gradient, dtype=q.dtype, device=q.device))
            return torch.as_tensor(value, dtype=q.dtype, device=q.device)

        @staticmethod
        @once_differentiable  # type: ignore[untyped-decorator]
        def backward(ctx: Any, by: Any) -> Any:
            (gradient,) = ctx.saved_tensors
            return by * gradient

    return Loss.apply


def jax_function(flat: Flat) -> Any:
    """A function of a JAX vector with a derivative of its own; the run is a call of the host, one
    after another under ``vmap``.

    Raises:
        SceneError: JAX is not installed.
    """
    try:
        import jax  # type: ignore[import-not-found]
        import jax.numpy as jnp  # type: ignore[import-not-found]
    except ImportError:
        raise _missing("jax") from None
    size = len(flat.start)

    def called(q: Any) -> Any:
        shape = jax.ShapeDtypeStruct((size + 1,), jnp.result_type(float))

        def host(values: Any) -> Any:
            value, gradient = flat(np.asarray(values))
            return np.concatenate([[value], gradient]).astype(shape.dtype)

        return jax.pure_callback(host, shape, q, vmap_method="sequential")

    @jax.custom_vjp  # type: ignore[untyped-decorator]
    def loss(q: Any) -> Any:
        return called(q)[0]

    def ahead(q: Any) -> Any:
        both = called(q)
        return both[0], both[1:]

    loss.defvjp(ahead, lambda gradient, by: (by * gradient,))
    return loss


def _missing(name: str) -> SceneError:
    return SceneError(f"adapter for {name}", got="not installed", expected=name,
                      hint=f"pip install 'weft[{name}]'")  # fmt: skip
