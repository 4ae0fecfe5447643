"""Runs as functions of PyTorch tensors, with gradients for autograd and ``torch.func``.

PyTorch is imported by the first call (``pip install 'weft[torch]'``).
"""

from collections.abc import Sequence
from functools import cache, partial, reduce
from typing import Any

from weft.adjoint.host_function import HostFunction
from weft.adjoint.tensors import Framework, Tensor, refuse_second_derivative


class _Torch(Framework):
    package = module = "torch"

    def tensor(self, library: Any, given: Any) -> Tensor:
        is_tensor = isinstance(given, library.Tensor)
        return given if is_tensor else library.as_tensor(given, dtype=library.float64)

    def apply(self, host: HostFunction, values: Sequence[Tensor]) -> Sequence[Tensor]:
        import torch

        call, own = _autograd_function().apply, [(v.dtype, v.device) for v in values]
        widest = reduce(torch.promote_types, (v.dtype for v in values))
        kinds = [(widest, values[0].device)] * len(host.results)
        back = partial(call, host.pull_back, refuse_second_derivative, own)
        found: Sequence[Tensor] = call(
            partial(host.run, torch.is_grad_enabled()), back, kinds, *values
        )
        return found


rollout, loss = _Torch().rollout, _Torch().loss


@cache
def _autograd_function() -> Any:
    """Return the autograd function that calls a function of arrays on the host."""
    import torch

    class Call(torch.autograd.Function):  # type: ignore[misc]
        """A function of arrays.

        Its arguments are the function; ``back``, which returns its vector-Jacobian product from the
        tensors and the derivatives by the results; types and devices of results; and the tensors.
        """

        @staticmethod
        def forward(function: Any, back: Any, kinds: Any, *tensors: Tensor) -> Any:
            found = function(*(t.detach().cpu().double().numpy() for t in tensors))
            pairs = zip(found, kinds, strict=True)
            return tuple(torch.as_tensor(a, dtype=kind, device=at) for a, (kind, at) in pairs)

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            _, ctx.back, _, *tensors = inputs
            ctx.save_for_backward(*tensors)

        @staticmethod
        def backward(ctx: Any, *by: Tensor) -> Any:
            return None, None, None, *ctx.back(*ctx.saved_tensors, *by)

        @staticmethod
        def vmap(info: Any, in_dims: Any, *inputs: Any) -> Any:
            """Add the members of a batch to the rows, which are run side by side."""
            size, rows = info.batch_size, []
            for t, dim in zip(inputs[3:], in_dims[3:], strict=True):
                every = t.expand(size, *t.shape) if dim is None else t.movedim(dim, 0)
                rows.append(every.flatten(0, 1))
            found = Call.apply(*inputs[:3], *rows)
            return tuple(t.unflatten(0, (size, -1)) for t in found), (0,) * len(found)

    return Call
