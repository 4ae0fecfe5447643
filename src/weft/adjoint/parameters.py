"""Parameters: places in a scene, their values, and the scene with other values there.

Every number of a scene can be a parameter: those that ``scene_parameters`` names, and your own,
such as a constant of a law, the width of a hoop, an angle of a path. The numbers of a parameter are
differentiated one by one (``parameter_directions``), or all together in closed form
(``ParameterDerivative``).
"""

import dataclasses
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from weft.adjoint.reverse_step import ReverseStep
from weft.base.arrays import ArrayOf, Floats
from weft.base.errors import SceneError, check_known
from weft.base.runtime_types import checked
from weft.base.settings import settings_by_field
from weft.cloth.cloth import Cloth
from weft.energies.state import StateDerivatives


class ParameterDerivative:
    """The derivative of a loss by one parameter, added up on the pass backwards."""

    differences: Sequence[str] = ()  # names of terms that are differentiated by differences

    @property
    def matters(self) -> bool:
        """True if the run depends on the parameter."""
        return True

    def add(self, back: ReverseStep) -> None:
        """Add the contribution of one step."""

    def add_start(self, back: StateDerivatives) -> None:
        """Add the contribution of the state at the start of the run, after all steps."""

    def add_explicit(self, loss: Any, x: Floats, v: Floats, t: Floats) -> None:
        """Add the direct dependence of a loss that knows the model, after all steps.

        Args:
            loss: a loss that a method ``of`` binds to a model.
            x: (frames+1,n,3) [m] positions.
            v: (frames+1,n,3) [m/s] velocities.
            t: (frames+1,) [s] times.
        """

    def result(self) -> Floats:
        """Return the derivative by the parameter's value."""
        raise NotImplementedError


@checked(SceneError, "parameter", unchecked=("at",))
@dataclass(frozen=True, eq=False)
class Parameter:
    """Numbers of a scene that derivatives are taken by.

    Args:
        name: name of the parameter and of its gradient.
        value: a number, or an array of any shape.
        apply: ``apply(scene, value)`` returns the scene with that value.
        unit: unit of the value, for messages.
        scale: a change of the value that is not small; None: the largest of its numbers, or 1.
        linear: whether forces are linear in it; then difference quotients use a large step and are
            exact.
        near: a change of the value that is small; None: a thousandth of its numbers.
        closed_form: ``closed_form(scene, run)`` returns the ``ParameterDerivative`` of a scene and
            its ``RecordedRun``; None: it follows from scenes with values nearby.
        doubt: why the derivative at this value is one of several, for a warning; empty: it is not.

    Raises:
        SceneError: a value that is not finite.
    """

    name: str
    value: Annotated[Any, ArrayOf("numbers")]
    apply: Callable[[Any, Any], Any]
    unit: str = ""
    scale: float | None = None
    linear: bool = False
    near: float | None = None
    closed_form: Callable[[Any, Any], ParameterDerivative] | None = None
    doubt: str = ""

    def at(self, scene: Any, value: Floats) -> Any:
        """Return the scene with a value of the same shape."""
        plain: Any = float(value) if np.ndim(value) == 0 else np.asarray(value)
        return self.apply(scene, plain)

    @property
    def size(self) -> float:
        """A change of the value that is not small, in its unit."""
        return self.scale or float(np.abs(self.value).max(initial=0.0)) or 1.0


def plain(old: Any, value: Any) -> Any:
    """Return a value as scenes have it: one number, or a tuple of numbers."""
    return float(value) if np.ndim(value) == 0 else tuple(float(a) for a in value)


@dataclass(frozen=True)
class Place:
    """A place in a scene, as ``Parameter.apply``: returns the scene with another value there.

    Args:
        path: names of fields, keys of dictionaries and indices of sequences, from the scene on.
        change: returns the object at the place, from the old one and a value of the parameter.
    """

    path: tuple[str | int, ...]
    change: Callable[[Any, Any], Any] = plain

    def of(self, scene: Any) -> Any:
        """Return the object at the place."""
        return object_at(scene, self.path)

    def unit_in(self, scene: Any) -> str:
        """Return the unit that is declared with the field at the place; 1: it has none."""
        *owner, field = self.path
        declared = settings_by_field(type(object_at(scene, owner)))
        return declared[str(field)].unit or "1"

    def __call__(self, scene: Any, value: Any) -> Any:
        """Return the scene with another value."""
        first, *rest = self.path
        new = _replace_at(getattr(scene, str(first)), rest, lambda old: self.change(old, value))
        return scene.with_(**{str(first): new})


def object_at(thing: Any, path: Sequence[str | int]) -> Any:
    """Return the object at a path that begins at another one."""
    for name in path:
        thing = getattr(thing, str(name)) if dataclasses.is_dataclass(thing) else thing[name]
    return thing


def _replace_at(thing: Any, path: Sequence[str | int], change: Callable[[Any], Any]) -> Any:
    """Return a copy of an object in which the one at a path has changed."""
    if not path:
        return change(thing)
    name, *rest = path
    if isinstance(thing, Mapping):
        return {**thing, name: _replace_at(thing[name], rest, change)}
    if isinstance(thing, Sequence):
        return [_replace_at(v, rest, change) if k == name else v for k, v in enumerate(thing)]
    new = _replace_at(getattr(thing, str(name)), rest, change)
    if isinstance(thing, Cloth) and name == "fabrics":  # its parts and regions have them
        return thing.with_fabrics(new)
    return dataclasses.replace(thing, **{str(name): new})


def check_names(asked: Collection[str], known: Sequence[str]) -> None:
    """Raise a SceneError with all known names for one that is not.

    Raises:
        SceneError: an unknown name.
    """
    for name in asked:
        check_known(name, known, "parameter", SceneError)
