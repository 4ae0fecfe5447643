"""Runs as functions of JAX arrays, with gradients for ``grad``, ``jit`` and ``vmap``.

JAX is imported by the first call (``pip install 'weft[jax]'``). Runs are calls of the host.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from weft.adjoint.host_function import HostFunction
from weft.adjoint.rollout import MOST, Rollout
from weft.base.errors import SceneError
from weft.base.runtime_types import checked
from weft.base.settings import Count, Rate
from weft.io.extra import optional

Array = Any  # jax.Array


@checked(SceneError)
def rollout(
    scene: Any,
    parameters: Mapping[Any, Array],
    *,
    frames: Count,
    fps: Rate = 30.0,
    memory: float = MOST,
    processes: Count = 1,
) -> tuple[Array, Array]:
    """Run a scene, or several scenes side by side, with values of parameters from arrays.

    Runs are computed in double precision; arguments and results have single precision unless
    ``jax_enable_x64`` is set.

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
        SceneError: JAX is not installed; an unknown parameter, or a value of another shape or type;
            a second derivative.
    """

    def make(scene: Any) -> Rollout:
        return Rollout(scene, list(parameters), frames=frames, fps=fps, memory=memory)

    x, v = _call(HostFunction(scene, make, processes), parameters)
    return x, v


@checked(SceneError)
def loss(adjoint: Any, parameters: Mapping[Any, Array], *, processes: Count = 1) -> Array:
    """Return the loss of a run with values of parameters from arrays.

    Args:
        adjoint: a ``weft.Adjoint``, or a list of N.
        parameters: see ``rollout``; they replace the parameters of the adjoint.
        processes: see ``rollout``.

    Returns:
        The loss, or N losses.

    Raises:
        SceneError: see ``rollout``.
    """
    (found,) = _call(HostFunction(adjoint, lambda a: a.by(list(parameters)), processes), parameters)
    return found


def _call(host: HostFunction, parameters: Mapping[Any, Array]) -> list[Array]:
    """Return the results of a host function at the values of parameters."""
    jax: Any = optional("jax", "jax", "weft.jax", SceneError)
    jnp = jax.numpy
    values, worlds = [], len(host.each)
    for name, given in zip(host.names, parameters.values(), strict=True):
        value = jnp.asarray(given)
        if not jnp.issubdtype(value.dtype, jnp.floating):
            expected = "an array of floating-point numbers"
            raise SceneError(f"parameter {name}", got=str(value.dtype), expected=expected)
        shared = host.is_shared(name, value.shape)
        values.append(jnp.broadcast_to(value, (worlds, *value.shape)) if shared else value)
    kind = jnp.result_type(*values)
    results = [jax.ShapeDtypeStruct((worlds, *shape), kind) for shape in host.results]

    def on_host(function: Any, kinds: Any, *arrays: Array) -> tuple[Array, ...]:
        """Call a function of rows; the axes of ``vmap`` before the rows become rows as well."""
        plain = [a.ndim for a in arrays]

        def call(*batched: Any) -> Any:
            lead = np.ndim(batched[0]) - plain[0]
            axes = np.shape(batched[0])[:lead]
            rows = [np.asarray(a) for a in batched]
            found = function(*(a.reshape(-1, *a.shape[lead + 1 :]) for a in rows))
            return tuple(a.astype(k.dtype).reshape(*axes, *k.shape) for a, k in zip(found, kinds))

        @jax.custom_jvp  # type: ignore[untyped-decorator]
        def called(*arrays: Array) -> Any:
            return jax.pure_callback(call, tuple(kinds), *arrays, vmap_method="broadcast_all")

        called.defjvp(refuse)
        return tuple(called(*arrays))

    def refuse(*_: Any) -> Any:
        raise SceneError(
            "second derivative of a run",
            got="asked for by JAX",
            expected="first derivatives: weft knows no others",
            hint="leave out terms that have gradients in the loss",
        )

    @jax.custom_vjp  # type: ignore[untyped-decorator]
    def function(*values: Array) -> tuple[Array, ...]:
        return on_host(lambda *arrays: host.run(False, *arrays), results, *values)

    def ahead(*values: Array) -> Any:
        return on_host(lambda *arrays: host.run(True, *arrays), results, *values), values

    def back(values: Any, by: Any) -> Any:
        kinds = [jax.ShapeDtypeStruct(a.shape, a.dtype) for a in values]
        return on_host(host.pull_back, kinds, *values, *by)

    function.defvjp(ahead, back)
    found = function(*values)
    return list(found) if host.many else [each[0] for each in found]
