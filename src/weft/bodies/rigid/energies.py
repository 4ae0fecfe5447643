"""What rigid bodies add to a potential: that they keep their shape, and what holds them."""

from collections.abc import Sequence

import numpy as np

from weft.base.errors import SceneError
from weft.bodies.body import Body
from weft.bodies.joints.energies import joint_energies
from weft.bodies.rigid.rigid_bodies import RigidBodies
from weft.bodies.rigid.rigidity import Rigidity
from weft.energies.base import Energy

ONE_SOLVE = ("bdf2_semi_implicit", "baraff_witkin_1998")  # integrators that cannot turn a body


def rigid_energies(
    loose: RigidBodies, still: Sequence[Body] = (), *, starts: bool = True
) -> tuple[Energy, ...]:
    """Of all rigid bodies; none where there are none.

    Args:
        loose: the rigid bodies.
        still: bodies that nothing moves, to which they may be jointed.
        starts: with the numbers of the start, which have to fit where bodies start.

    Raises:
        SceneError: a joint to no body, to several, or to the body itself.
    """
    if not len(loose):
        return ()
    stencil = np.array([np.arange(a.first, a.first + 4) for a in loose.affine], dtype=np.int32)
    gradients = np.array([a.gradients for a in loose.affine])
    stiffness = np.array([a.rigid.stiffness * a.solid.volume for a in loose.affine])
    return (Rigidity(stencil, gradients, stiffness), *joint_energies(loose, still, starts=starts))


def check_rigid(loose: RigidBodies, integrator: str, *, airless: bool = False) -> None:
    """That an integrator can move rigid bodies, and that what acts on them is there.

    Raises:
        SceneError: one that takes one linear solve a step; equilibria with a rope that lets go at a
            force; air without a wind.
    """
    if len(loose) and integrator in ONE_SOLVE:
        raise SceneError(
            f"{loose.bodies[0].name}.rigid",
            got=f"a rigid body, with integrator {integrator}",
            expected="backward_euler, bdf2 or quasi_static",
            hint="in one linear solve a step, what turns swells",
        )
    for body in loose.affine:
        if body.rigid.air and airless:
            raise SceneError(
                f"{body.body.name}.rigid.air",
                got="true, in a scene without air",
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
                        hint="nothing moves in an equilibrium",
                    )
            if joint.release.depends and integrator == "quasi_static":
                raise SceneError(
                    f"{body.body.name}.rigid.joints {k}.release",
                    got="a force or a function, with quasi_static",
                    expected="a time (`at`), or backward_euler or bdf2",
                    hint="equilibria are no states in time",
                )
