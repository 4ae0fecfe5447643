"""What is handed to a scene in Python: that attachments and energies are ones, and can be."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from weft.attachments.attachment import KINDS
from weft.energies.base import Energy
from weft.energies.ties import Ties
from weft.errors import SceneError


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
