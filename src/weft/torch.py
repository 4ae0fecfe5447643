"""Runs as functions of PyTorch tensors, with gradients for autograd and ``torch.func``.

PyTorch is imported by the first call (``pip install 'weft[torch]'``).
"""

from collections.abc import Mapping
from functools import cache, reduce
from typing import Any

from weft.adjoint.host_function import HostFunction
from weft.adjoint.rollout import MOST, Rollout
from weft.base.errors import SceneError
from weft.base.runtime_types import checked
from weft.base.settings import Count, Rate
from weft.io.extra import optional

Tensor = Any  # torch.Tensor


@checked(SceneError)
def rollout(
    scene: Any,
    parameters: Mapping[Any, Tensor],
    *,
    frames: Count,
    fps: Rate = 30.0,
    memory: float = MOST,
    processes: Count = 1,
) -> tuple[Tensor, Tensor]:
    """Run a scene, or several scenes side by side, with values of parameters from tensors.

    Runs are computed in double precision. Results have the widest type of the values, and the
    device of the first one.

    Args:
        scene: a ``weft.Scene``, or a list of N scenes with the same number of vertices.
        parameters: values by name (``weft.adjoint.Rollout.names``) or ``weft.Parameter``. With N
            scenes, a value with a leading axis of N has one for each scene, any other is shared.
        frames: number of the last frame.
        fps: frames per second.
        memory: [B] that states of all runs may take until the pass backwards.
        processes: number of processes that scenes, and the rows of ``vmap``, are divided among.

    Returns:
        Positions [m] and velocities [m/s] of the vertices, (frames+1,n,3), or (N,frames+1,n,3).

    Raises:
        SceneError: PyTorch is not installed; an unknown parameter, or a value of another shape or
            type; a second derivative; what cannot be sent to another process.
        SimulationError: a step that does not converge.
    """

    def make(scene: Any) -> Rollout:
        return Rollout(scene, list(parameters), frames=frames, fps=fps, memory=memory)

    x, v = _call(HostFunction(scene, make, processes), parameters)
    return x, v


@checked(SceneError)
def loss(adjoint: Any, parameters: Mapping[Any, Tensor], *, processes: Count = 1) -> Tensor:
    """Return the loss of a run with values of parameters from tensors.

    Args:
        adjoint: a ``weft.Adjoint``, or a list of N.
        parameters: see ``rollout``; they replace the parameters of the adjoint.
        processes: see ``rollout``.

    Returns:
        The loss, or N losses.

    Raises:
        SceneError: see ``rollout``.
        SimulationError: a step that does not converge.
    """
    (found,) = _call(HostFunction(adjoint, lambda a: a.by(list(parameters)), processes), parameters)
    return found


def _call(host: HostFunction, parameters: Mapping[Any, Tensor]) -> list[Tensor]:
    """Return the results of a host function at the values of parameters."""
    torch: Any = optional("torch", "torch", "weft.torch", SceneError)
    values = []
    for name, given in zip(host.names, parameters.values(), strict=True):
        is_tensor = isinstance(given, torch.Tensor)
        value = given if is_tensor else torch.as_tensor(given, dtype=torch.float64)
        if not value.is_floating_point():
            expected = "a tensor of floating-point numbers"
            raise SceneError(f"parameter {name}", got=str(value.dtype), expected=expected)
        shared = host.is_shared(name, tuple(value.shape))
        values.append(value.expand(len(host.each), *value.shape) if shared else value)
    function, _ = _functions()
    found = function.apply(host, torch.is_grad_enabled(), *values)
    return list(found) if host.many else [each[0] for each in found]


@cache
def _functions() -> tuple[Any, Any]:
    """Return the autograd functions of a host function and of its vector-Jacobian product."""
    torch: Any = optional("torch", "torch", "weft.torch", SceneError)

    def on_host(function: Any, kinds: Any, *tensors: Tensor) -> tuple[Tensor, ...]:
        """Return results of a function of arrays as tensors of the given types and devices."""
        found = function(*(t.detach().cpu().double().numpy() for t in tensors))
        return tuple(torch.as_tensor(a, dtype=d, device=at) for a, (d, at) in zip(found, kinds))

    def fold(apply: Any, size: int, in_dims: Any, *tensors: Tensor) -> Any:
        """Apply a function to the rows of all members of a batch, side by side."""
        full = [
            t.expand(size, *t.shape) if dim is None else t.movedim(dim, 0)
            for t, dim in zip(tensors, in_dims)
        ]
        found = apply(*(t.flatten(0, 1) for t in full))
        return tuple(t.unflatten(0, (size, -1)) for t in found), (0,) * len(found)

    class Function(torch.autograd.Function):  # type: ignore[misc]
        """A host function."""

        @staticmethod
        def forward(host: HostFunction, keep: bool, *values: Tensor) -> Any:
            widest = reduce(torch.promote_types, (v.dtype for v in values))
            kinds = [(widest, values[0].device)] * len(host.results)
            return on_host(lambda *arrays: host.run(keep, *arrays), kinds, *values)

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            host, _, *values = inputs
            ctx.host = host
            ctx.save_for_backward(*values)

        @staticmethod
        def backward(ctx: Any, *by: Tensor) -> Any:
            return None, None, *Product.apply(ctx.host, *ctx.saved_tensors, *by)

        @staticmethod
        def vmap(info: Any, in_dims: Any, host: HostFunction, keep: bool, *values: Tensor) -> Any:
            apply = lambda *rows: Function.apply(host, keep, *rows)  # noqa: E731
            return fold(apply, info.batch_size, in_dims[2:], *values)

    class Product(torch.autograd.Function):  # type: ignore[misc]
        """The vector-Jacobian product of a host function, which refuses a derivative."""

        @staticmethod
        def forward(host: HostFunction, *tensors: Tensor) -> Any:
            kinds = [(t.dtype, t.device) for t in tensors[: len(host.names)]]
            return on_host(host.pull_back, kinds, *tensors)

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            pass

        @staticmethod
        def backward(ctx: Any, *by: Tensor) -> Any:
            raise SceneError(
                "second derivative of a run",
                got="asked for by PyTorch",
                expected="first derivatives: weft knows no others",
                hint="leave out create_graph=True, or a term that has gradients in the loss",
            )

        @staticmethod
        def vmap(info: Any, in_dims: Any, host: HostFunction, *tensors: Tensor) -> Any:
            apply = lambda *rows: Product.apply(host, *rows)  # noqa: E731
            return fold(apply, info.batch_size, in_dims[1:], *tensors)

    return Function, Product
