"""Energies of rigid bodies: rigidity, joints, limits and motors."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np

from weft.base.errors import SceneError
from weft.bodies.body import Body
from weft.bodies.joints.energies import joint_energies
from weft.bodies.rigid.rigid_bodies import RigidBodies
from weft.bodies.rigid.rigidity import Rigidity
from weft.energies.energy import Energy

# Integrators that take one linear solve per step: a turning body grows with them, because a
# rotation is not linear in the positions.
ONE_SOLVE = ("bdf2_semi_implicit", "baraff_witkin_1998")


def rigid_energies(
    rigid_bodies: RigidBodies, still: Sequence[Body] = (), *, starts: bool = True
) -> tuple[Energy, ...]:
    """Return the energies of all rigid bodies; empty if there are none.

    Args:
        rigid_bodies: the rigid bodies.
        still: bodies that are not rigid, to which joints may connect.
        starts: check that the numbers of joints fit the bodies at the start.

    Raises:
        SceneError: a joint connects to no body, to several of one name, or to the body itself.
    """
    if not len(rigid_bodies):
        return ()
    stencil = np.array(
        [np.arange(a.first, a.first + 4) for a in rigid_bodies.affine], dtype=np.int32
    )
    gradients = np.array([a.gradients for a in rigid_bodies.affine])
    stiffness = np.array([a.rigid.stiffness * a.solid.volume for a in rigid_bodies.affine])
    return (
        Rigidity(stencil, gradients, stiffness),
        *_numbered(joint_energies(rigid_bodies, still, starts=starts)),
    )


def _numbered(energies: Iterable[Energy]) -> Iterator[Energy]:
    """Yield the energies with different names, by which keyframes find them: joints, joints 2."""
    count = Counter[str]()
    for energy in energies:
        count[energy.name] += 1
        number = count[energy.name]
        name = f"{energy.name} {number}"
        yield energy if number == 1 else replace(cast(Any, energy), name=name)


def check_rigid(rigid_bodies: RigidBodies, integrator: str, *, airless: bool = False) -> None:
    """Check that an integrator can move the rigid bodies, and that the scene has what they need.

    Args:
        rigid_bodies: the rigid bodies.
        integrator: name of the integrator.
        airless: True if the scene has no wind.

    Raises:
        SceneError: the integrator takes one linear solve per step; equilibria are combined with a
            motor of given speed or with a rope that is released at a force; or air acts on a body
            in a scene without wind.
    """
    if len(rigid_bodies) and integrator in ONE_SOLVE:
        raise SceneError(
            f"{rigid_bodies.bodies[0].name}.rigid",
            got=f"a rigid body, with integrator {integrator}",
            expected="backward_euler, bdf2 or quasi_static",
            hint="one linear solve per step would enlarge a body that turns",
        )
    for body in rigid_bodies.affine:
        if body.rigid.air and airless:
            raise SceneError(
                f"{body.body.name}.rigid.air",
                got="true, but the scene has no wind",
                expected="a scene with `wind`",
                hint="`wind: {}` is air that stands still",
            )
        for k, joint in enumerate(body.rigid.joints):
            for name in ("motor", "drive"):
                how = getattr(joint, name)
                if how is not None and how.speed is not None and integrator == "quasi_static":
                    raise SceneError(
                        f"{body.body.name}.rigid.joints {k}.{name}.speed",
                        got="a speed, with quasi_static",
                        expected="backward_euler or bdf2",
                        hint="an equilibrium has no speed",
                    )
            if joint.release.depends and integrator == "quasi_static":
                raise SceneError(
                    f"{body.body.name}.rigid.joints {k}.release",
                    got="a force or a function, with quasi_static",
                    expected="a time (`at`), or backward_euler or bdf2",
                    hint="an equilibrium has no time",
                )
