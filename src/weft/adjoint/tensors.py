"""Rollouts and losses as functions of tensors: what ``weft.torch`` and ``weft.jax`` share."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from weft.adjoint.adjoint import Adjoint
from weft.adjoint.host_function import HostFunction
from weft.adjoint.parameters import Parameter
from weft.adjoint.rollout import MOST, Rollout
from weft.base.errors import SceneError
from weft.base.runtime_types import checked
from weft.base.settings import Count, Rate
from weft.io.extra import optional
from weft.scene.prepare import Simulation
from weft.scene.scene import Scene

Tensor = Any  # a tensor or an array of the framework
Values = Mapping[str | Parameter, Tensor]


class Framework(ABC):
    """A package of tensors with gradients; a subclass calls a ``HostFunction`` by its means."""

    package: ClassVar[str]
    module: ClassVar[str]  # that has ``broadcast_to``

    @checked(SceneError)
    def rollout(
        self,
        scene: Scene | Simulation | Sequence[Scene | Simulation],
        parameters: Values,
        *,
        frames: Count,
        fps: Rate = 30.0,
        memory: float = MOST,
        processes: Count = 1,
        check: bool = False,
    ) -> tuple[Tensor, Tensor]:
        """Run a scene, or several scenes side by side, with values of parameters from tensors.

        Runs are computed in double precision. Results have the widest type of the values, with
        PyTorch on the device of the first one; with JAX it is single precision unless
        ``jax_enable_x64`` is set.

        Args:
            scene: a ``weft.Scene``, or a list of N scenes with the same number of vertices.
            parameters: values by name (``weft.adjoint.Rollout.names``) or ``weft.Parameter``. With
                N scenes, a value with a leading axis of N has one for each scene, any other is
                shared.
            frames: number of the last frame.
            fps: frames per second.
            memory: [B] that states of all runs may take until the pass backwards; those that do not
                fit are computed again, bitwise equal.
            processes: number of processes that scenes, and the rows of ``vmap``, are divided among.
            check: compare every gradient with one more run of its scene, in which all parameters
                (but ``targets`` of pins) are changed a little along the gradient. A warning is
                given if that run does not confirm the gradient.

        Returns:
            Positions [m] and velocities [m/s] of the vertices, (frames+1,n,3), or
            (N,frames+1,n,3).

        Raises:
            SceneError: the package is not installed; an unknown parameter, or a value of another
                shape or type; a second derivative; what cannot be sent to another process.
            SimulationError: a step that does not converge. JAX raises errors of a run as a
                ``JaxRuntimeError`` whose text ends with the message.
        """

        def make(scene: Scene | Simulation) -> Rollout:
            return Rollout(scene, list(parameters), frames=frames, fps=fps, memory=memory)

        x, v = self._call(HostFunction(scene, make, processes, check), parameters)
        return x, v

    @checked(SceneError)
    def loss(
        self,
        adjoint: Adjoint | Sequence[Adjoint],
        parameters: Values,
        *,
        processes: Count = 1,
        check: bool = False,
    ) -> Tensor:
        """Return the loss of a run with values of parameters from tensors.

        Args:
            adjoint: a ``weft.Adjoint``, or a list of N.
            parameters: see ``rollout``; they replace the parameters of the adjoint.
            processes, check: see ``rollout``.

        Returns:
            The loss, or N losses.

        Raises:
            SceneError: see ``rollout``.
            SimulationError: a step that does not converge.
        """
        host = HostFunction(adjoint, lambda a: a.again(a.scene, list(parameters)), processes, check)
        return self._call(host, parameters)[0]

    def _call(self, host: HostFunction, parameters: Values) -> list[Tensor]:
        """Return the results of a host function at the values of parameters."""
        what = f"weft.{self.package}"
        if not parameters:
            raise SceneError(f"parameters of {what}", got="none", expected="at least one")
        library = optional(self.module, self.package, what, SceneError)
        values, worlds = [], len(host.each)
        for name, given in zip(host.names, parameters.values(), strict=True):
            try:
                value = self.tensor(library, given)
            except (TypeError, ValueError, RuntimeError) as error:  # as the package says it
                what, hint = f"parameter {name}", str(error)
                raise SceneError(what, got=given, expected="numbers", hint=hint) from None
            if "float" not in str(value.dtype):
                expected = "floating-point numbers"
                raise SceneError(f"parameter {name}", got=str(value.dtype), expected=expected)
            shape = tuple(value.shape)
            shared = host.is_shared(name, shape)
            values.append(library.broadcast_to(value, (worlds, *shape)) if shared else value)
        found = self.apply(host, values)
        return list(found) if host.many else [each[0] for each in found]

    @abstractmethod
    def tensor(self, library: Any, given: Any) -> Tensor:
        """Return a value as a tensor."""

    @abstractmethod
    def apply(self, host: HostFunction, values: Sequence[Tensor]) -> Sequence[Tensor]:
        """Return the results of a host function, with gradients by the values."""


def refuse_second_derivative(*_: object) -> Any:
    """Refuse a derivative of the vector-Jacobian product.

    Raises:
        SceneError: always.
    """
    raise SceneError(
        "second derivative of a run",
        got="asked for",
        expected="first derivatives, because weft has no others",
        hint="leave out create_graph=True, or a term that has gradients in the loss",
    )
