"""The elastic energies of a scene's cloth, by what it is made of: triangles or splines."""

import dataclasses
from typing import TYPE_CHECKING

from weft.discretization.linear_triangle import linear_triangle
from weft.discretization.spline_surface import SplineSurface
from weft.energies.base import Energy, StepTerm
from weft.energies.bend_condition import FrozenBend
from weft.energies.buckling_bending import BucklingBending, BucklingForm, PairDamping
from weft.energies.condition import (
    ConditionForm,
    Conditions,
    condition_energies,
    condition_membranes,
)
from weft.energies.curvature_damping import CurvatureDamping
from weft.energies.damping import HingeDamping, MembraneDamping
from weft.energies.hinge_bending import HingeBending
from weft.energies.membrane import Membrane
from weft.energies.quadratic_form import QuadraticForm
from weft.errors import SceneError
from weft.fabric import Fabric
from weft.laws import ImmediateBuckling
from weft.laws.base import Law
from weft.mesh import TriangleMesh

if TYPE_CHECKING:
    from weft.scene.scene import Scene

TIE = 100.0  # stiffness of tied seams, over the fabric's stretch stiffness

Made = tuple[tuple[Energy, ...], tuple[StepTerm, ...]]


def elastic_energies(
    scene: "Scene", fabric: Fabric, element: TriangleMesh | SplineSurface, number: str
) -> Made:
    """Energies of the cloth of one fabric, and their damping where the integrator has none of its
    own; ``number`` ends their names.

    Raises:
        SceneError: what the element does not have, or the integrator cannot minimize.
    """
    if isinstance(element, SplineSurface):
        return _of_splines(scene, fabric, element, number)
    return _of_triangles(scene, fabric, element, number)


def _form(scene: "Scene") -> ConditionForm | None:
    """The conditions of 1998, where these are asked for."""
    return scene.conditions or (ConditionForm() if scene.is_1998 else None)


def _conditions(fabric: Fabric, form: ConditionForm) -> Conditions:
    stretch = (fabric.stretch_warp, fabric.stretch_weft)
    rest = (fabric.rest_stretch_warp, fabric.rest_stretch_weft)
    return Conditions(stretch, fabric.shear, form.bend or (0, 0), rest, form.p, form.variant)


def _damping(scene: "Scene", fabric: Fabric) -> float:
    """[s] of the energies; 0 where the integrator has its own, or no time."""
    if scene.is_1998 or scene.integrator == "quasi_static":
        return 0.0
    return fabric.damping if scene.damping is None else scene.damping


def _of_triangles(scene: "Scene", fabric: Fabric, mesh: TriangleMesh, number: str) -> Made:
    rigidity = (fabric.bending_warp, fabric.bending_weft)
    form = _form(scene)
    bend: HingeBending | BucklingBending | FrozenBend
    if form is None:
        law = scene.law_of(fabric)
        membranes: tuple[Membrane, ...] = (Membrane(linear_triangle(mesh), law),)
        bend = _bending(scene, law, fabric, mesh)
    else:
        bending = HingeBending.of(mesh, rigidity, scene.rest_angles)
        weight = bending.weight if form.bend is None else None
        *membranes_, bend = condition_energies(
            mesh, _conditions(fabric, form), weight, bending.rest_angle
        )
        membranes = tuple(m for m in membranes_ if isinstance(m, Membrane))
    membranes = tuple(dataclasses.replace(m, name=m.name + number) for m in membranes)
    bend = dataclasses.replace(bend, name=bend.name + number)
    energies: tuple[Energy, ...] = (*membranes, bend)
    if scene.is_1998:
        return energies, ()
    if isinstance(bend, FrozenBend):
        raise SceneError(
            "scene.conditions.variant",
            got="body",
            expected=f"exact, with integrator {scene.integrator}",
            hint="the bend forces of the body are no energy's derivative: nothing to minimize",
        )
    beta = _damping(scene, fabric)
    if beta == 0:
        return energies, ()
    damped = (MembraneDamping(m, beta, f"{m.name} damping") for m in membranes)
    if isinstance(bend, BucklingBending):
        return energies, (*damped, PairDamping(bend, beta, f"bending damping{number}"))
    return energies, (*damped, HingeDamping(bend, beta, f"bending damping{number}"))


def _bending(
    scene: "Scene", law: Law, fabric: Fabric, mesh: TriangleMesh
) -> HingeBending | BucklingBending:
    """Hinges, or buckled pairs where asked for, and by themselves with immediate buckling."""
    form = scene.buckling
    rigidity = (fabric.bending_warp, fabric.bending_weft)
    if form is None and any(isinstance(part, ImmediateBuckling) for part in law.parts):
        form = BucklingForm()
    if form is None:
        return HingeBending.of(mesh, rigidity, scene.rest_angles)
    spring = form.compression
    if spring is None:
        spring = (fabric.stretch_warp + fabric.stretch_weft) / 2
    return BucklingBending.of(mesh, rigidity, spring, scene.rest_angles, form.calibrate)


def _of_splines(scene: "Scene", fabric: Fabric, surface: SplineSurface, number: str) -> Made:
    for name, given in (
        ("buckling", scene.buckling is not None),
        ("rest_angles", scene.rest_angles != "flat"),
        ("conditions.bend", scene.conditions is not None and scene.conditions.bend is not None),
    ):
        if given:
            raise SceneError(
                f"scene.{name}", got="with splines", expected="nothing: it is made for triangles",
                hint="leave it out, or say `discretization: triangles`",
            )  # fmt: skip
    form, samples = _form(scene), surface.samples()
    if form is None:
        membranes: tuple[Membrane, ...] = (Membrane(samples, scene.law_of(fabric)),)
    else:
        membranes = condition_membranes(samples, _conditions(fabric, form))
    membranes = tuple(dataclasses.replace(m, name=m.name + number) for m in membranes)
    at = surface.laplacians(fabric.bending_warp, fabric.bending_weft)
    bend = QuadraticForm(at.stencil, at.coefficient, at.weight, f"bending{number}")
    seams = tuple(
        QuadraticForm(jump.stencil, jump.coefficient, jump.weight, f"seam {k + 1}{number}")
        for k, jump in enumerate(surface.seams(fabric.bending_warp, fabric.bending_weft))
    )
    if surface.ties is not None:
        stiff = TIE * max(fabric.stretch_warp, fabric.stretch_weft) * surface.ties.weight
        tied = QuadraticForm(
            surface.ties.stencil, surface.ties.coefficient, stiff, f"seam ties{number}"
        )
        seams = (*seams, tied)
    energies: tuple[Energy, ...] = (*membranes, bend, *seams)
    beta = _damping(scene, fabric)
    if beta == 0:
        return energies, ()
    damped = (MembraneDamping(m, beta, f"{m.name} damping") for m in membranes)
    return energies, (
        *damped, CurvatureDamping(bend, at.gradient, beta, f"bending damping{number}")
    )  # fmt: skip
