"""Checks of objects that are given to a scene in Python: attachments, energies."""

from collections.abc import Collection, Sequence

import numpy as np

from weft.base.errors import SceneError
from weft.bodies.motion.pins import Pin
from weft.cloth.attachments import Attachment
from weft.cloth.attachments.build import name_of
from weft.energies.energy import Energy
from weft.energies.springs.hand import Hand
from weft.energies.springs.point_springs import PointSprings


def check_attachments(attachments: Sequence[Attachment], integrator: str) -> None:
    """Raise unless the integrator can release the attachments.

    Raises:
        SceneError: release by force, or by a function, with ``quasi_static``.
    """
    for k, given in enumerate(attachments):
        what = f"scene.attachments {k}"
        if given.release.depends and integrator == "quasi_static":
            raise SceneError(
                f"{given.name or what}.release",
                got="a force or a function, with quasi_static",
                expected="a time (`at`), or backward_euler or bdf2",
                hint="an equilibrium has no time",
            )


def check_vertices(pins: Sequence[Pin], attachments: Sequence[Attachment], n: int) -> None:
    """Raise a SceneError if a pin or an attachment holds vertices that none of n is."""
    held = [(f"{pin.name}.vertices", pin.vertices) for pin in pins]
    for k, given in enumerate(attachments):
        name = name_of(given, k)
        ends = ((end, getattr(given, end, None)) for end in ("vertices", "to"))
        held += [(f"{name}.{end}", ids) for end, ids in ends if ids is not None]
    for what, ids in held:
        wrong = np.asarray(ids)[(np.asarray(ids) < 0) | (np.asarray(ids) >= n)]
        if len(wrong):
            raise SceneError(what, got=int(wrong[0]), expected=f"ids from 0 to {n - 1}")


def check_names(energies: Sequence[Energy], changed: Collection[str]) -> None:
    """Check that each name of the energies that change in time stands for one energy.

    Raises:
        SceneError: two energies of one name.
    """
    names = [e.name for e in energies]
    twice = sorted(name for name in changed if names.count(name) > 1)
    if twice:
        raise SceneError(
            "scene.keyed",
            got=f"two energies called {twice[0]!r}",
            expected="energies with different names, because keyframes need the names",
        )


def check_energies(
    energies: Sequence[Energy], taken: Sequence[str], n: int, field: str = "energies"
) -> None:
    """Raise unless additional energies have names of their own and stencils of existing vertices.

    Args:
        energies: additional ones.
        taken: names of the others.
        n: number of points.
        field: of the scene, for messages.

    Raises:
        SceneError: a name that is taken, or a vertex out of range.
    """
    names = list(taken)
    for k, energy in enumerate(energies):
        what = f"scene.{field} {k}"
        if energy.name in names:
            raise SceneError(
                f"{what}.name", got=repr(energy.name), expected="a name that no other energy has"
            )
        names.append(energy.name)
        ids = np.asarray(energy.stencil)
        if ids.size and not 0 <= ids.min() <= ids.max() < n:
            raise SceneError(
                f"{what}.stencil",
                got=f"{ids.min()} to {ids.max()}",
                expected=f"vertices from 0 to {n - 1}",
            )


def check_hands(hands: Sequence[Hand], n: int) -> None:
    """Raise a SceneError if a hand holds points that do not exist; n is the number of points."""
    for k, hand in enumerate(hands):
        if not 0 <= min(hand.points) <= max(hand.points) < n:
            got, wanted = list(hand.points), f"points from 0 to {n - 1}"
            raise SceneError(f"scene.hand.{k}.points", got=got, expected=wanted)


def check_ropes(energies: Sequence[Energy], taken: Sequence[str]) -> None:
    """Raise unless ropes and springs of rigid bodies have names that no other energy has.

    The metrics of a run are by name, so that two energies of one name would be added.
    """
    for energy in energies:
        if isinstance(energy, PointSprings) and energy.strand and energy.name in taken:
            raise SceneError(
                "name of a joint",
                got=repr(energy.name),
                expected="a name that no energy has",
                hint=f"not {', '.join(dict.fromkeys(taken))}",
            )
