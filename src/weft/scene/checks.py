"""What is handed to a scene in Python: that attachments and energies are ones, and can be."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from weft.attachments.attachment import KINDS
from weft.cloth import Cloth
from weft.contact.body import Body
from weft.contact.contact import SelfContact
from weft.energies.base import Energy
from weft.energies.buckling_bending import BucklingForm
from weft.energies.condition import ConditionForm
from weft.energies.pressed import Pressed
from weft.energies.pressure import Gas
from weft.energies.ties import Ties
from weft.errors import SceneError
from weft.given import check_kind
from weft.integrators.adaptive import AdaptiveSettings
from weft.keys import Keys
from weft.pins import Pin

FIELDS: Mapping[str, Any] = {  # of fields that nothing else looks at before they are used
    "cloth": Cloth, "pins": Sequence[Pin], "bodies": Sequence[Body], "step": float,
    "damping": float | None, "attachments": Sequence[Any], "energies": Sequence[Any],
    "pressed": Sequence[Pressed], "contact": SelfContact | None, "pressure": float | Gas | None,
    "integrator": str, "bending": str | None, "buckling": BucklingForm | None,
    "conditions": ConditionForm | None, "adaptive": AdaptiveSettings | None,
    "gravity": tuple[float, float, float], "record": Sequence[str], "keyed": Mapping[str, Keys],
}  # fmt: skip


def check_attachments(attachments: Sequence[Any], integrator: str) -> None:
    """Of their kinds, and with what the integrator can release."""
    for k, given in enumerate(attachments):
        what = f"scene.attachments {k}"
        if not isinstance(given, KINDS):
            kinds = ", ".join(f"weft.{kind.__name__}" for kind in KINDS)
            raise SceneError(what, got=type(given).__name__, expected=f"one of {kinds}")
        if given.release.depends and integrator == "quasi_static":
            raise SceneError(
                f"{given.name or what}.release",
                got="a force or a function, with quasi_static",
                expected="a time (`at`), or backward_euler or bdf2",
                hint="equilibria are no states in time",
            )


def check_energies(
    energies: Sequence[Energy], taken: Sequence[str], n: int, field: str = "energies"
) -> None:
    """That additional energies have names of their own, and only vertices that there are."""
    names = list(taken)
    for k, energy in enumerate(energies):
        what = f"scene.{field} {k}"
        if energy.name in names:
            raise SceneError(
                f"{what}.name", got=repr(energy.name), expected="one that no other energy has"
            )
        names.append(energy.name)
        ids = np.asarray(energy.stencil)
        if ids.size and not 0 <= ids.min() <= ids.max() < n:
            raise SceneError(
                f"{what}.stencil",
                got=f"{ids.min()} to {ids.max()}",
                expected=f"vertices from 0 to {n - 1}",
            )


def check_ropes(energies: Sequence[Energy], taken: Sequence[str]) -> None:
    """That ropes and springs of rigid bodies are not called as other energies are: metrics would
    add the two.
    """
    for energy in energies:
        if isinstance(energy, Ties) and energy.name in taken:
            raise SceneError(
                "name of a joint", got=repr(energy.name), expected="one that no energy has",
                hint=f"not {', '.join(dict.fromkeys(taken))}",
            )  # fmt: skip


def check_kinds(scene: Any) -> None:
    """That the fields of a scene are of the kinds that they should be.

    Raises:
        SceneError: the first that is not.
    """
    for name, kind in FIELDS.items():
        check_kind(getattr(scene, name), kind, f"scene.{name}", SceneError)
