"""Runs as functions of JAX arrays, with gradients for ``grad``, ``jit`` and ``vmap``.

JAX is imported by the first call (``pip install 'weft[jax]'``). Runs are calls of the host.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from weft.adjoint.host_function import HostFunction
from weft.adjoint.tensors import Framework, Tensor, refuse_second_derivative


class _Jax(Framework):
    package, module = "jax", "jax.numpy"

    def tensor(self, library: Any, given: Any) -> Tensor:
        return library.asarray(given)

    def apply(self, host: HostFunction, values: Sequence[Tensor]) -> Sequence[Tensor]:
        return _apply(host, values)


rollout, loss = _Jax().rollout, _Jax().loss


def _apply(host: HostFunction, values: Sequence[Tensor]) -> Sequence[Tensor]:
    """Return the results of a host function, with a custom derivative."""
    import jax

    worlds = len(host.each)
    kind = jax.numpy.result_type(*values)
    results = [jax.ShapeDtypeStruct((worlds, *shape), kind) for shape in host.results]

    def on_host(function: Any, kinds: Any, *arrays: Tensor) -> tuple[Tensor, ...]:
        """Call a function of rows; the axes of ``vmap`` before the rows become rows as well."""
        plain = [a.ndim for a in arrays]

        def call(*batched: Any) -> Any:
            lead = np.ndim(batched[0]) - plain[0]
            axes = np.shape(batched[0])[:lead]
            rows = [np.asarray(a) for a in batched]
            found = function(*(a.reshape(-1, *a.shape[lead + 1 :]) for a in rows))
            return tuple(a.astype(k.dtype).reshape(*axes, *k.shape) for a, k in zip(found, kinds))

        @jax.custom_jvp  # type: ignore[untyped-decorator]
        def called(*arrays: Tensor) -> Any:
            return jax.pure_callback(call, tuple(kinds), *arrays, vmap_method="broadcast_all")

        called.defjvp(refuse_second_derivative)
        return tuple(called(*arrays))

    @jax.custom_vjp  # type: ignore[untyped-decorator]
    def function(*values: Tensor) -> tuple[Tensor, ...]:
        return on_host(lambda *arrays: host.run(False, *arrays), results, *values)

    def ahead(*values: Tensor) -> Any:
        return on_host(lambda *arrays: host.run(True, *arrays), results, *values), values

    def pull_back(*arrays: Any) -> Any:
        found = host.pull_back(*arrays)
        host.forget()  # JAX keeps functions that it called in its caches
        return found

    def back(values: Any, by: Any) -> Any:
        kinds = [jax.ShapeDtypeStruct(a.shape, a.dtype) for a in values]
        return on_host(pull_back, kinds, *values, *by)

    function.defvjp(ahead, back)
    found: Sequence[Tensor] = function(*values)
    return found
