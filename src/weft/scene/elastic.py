"""The elastic energies of a scene's cloth, by what it is made of: triangles or splines.

A new bending energy of triangles is one line of ``BENDING``.
"""

import dataclasses
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from weft.discretization.linear_triangle import linear_triangle
from weft.discretization.spline_surface import SplineSurface
from weft.energies.base import Energy
from weft.energies.bend_condition import FrozenBend
from weft.energies.buckling_bending import BucklingBending, BucklingForm
from weft.energies.condition import (
    ConditionForm,
    Conditions,
    condition_energies,
    condition_membranes,
)
from weft.energies.curvature_damping import CurvatureDamping
from weft.energies.hinge_bending import HingeBending
from weft.energies.local import LocalEnergy
from weft.energies.membrane import Membrane
from weft.energies.quadratic_form import QuadraticForm
from weft.errors import SceneError
from weft.fabric import Fabric
from weft.laws import ImmediateBuckling
from weft.mesh import TriangleMesh

if TYPE_CHECKING:
    from weft.scene.scene import Scene

TIE = 100.0  # stiffness of tied seams, over the fabric's stretch stiffness
Made = tuple[Energy, ...]


def elastic_energies(
    scene: "Scene", fabric: Fabric, element: TriangleMesh | SplineSurface, number: str
) -> Made:
    """Energies of the cloth of one fabric, with its damping; ``number`` ends their names.

    Raises:
        SceneError: what the element does not have, or the integrator cannot minimize.
    """
    make = _of_splines if isinstance(element, SplineSurface) else _of_triangles
    energies = make(scene, fabric, element)  # type: ignore[arg-type]
    return tuple(dataclasses.replace(e, name=e.name + number) for e in energies)  # type: ignore[type-var]


def damping_of(scene: "Scene", fabric: Fabric) -> float:
    """[s] the scene's, or the fabric's."""
    return fabric.damping if scene.damping is None else scene.damping


def rigidity_of(fabric: Fabric) -> tuple[float, float]:
    """[N m] of bending warp and weft."""
    return fabric.bending_warp, fabric.bending_weft


def _hinges(scene: "Scene", fabric: Fabric, mesh: TriangleMesh) -> LocalEnergy:
    beta = damping_of(scene, fabric)
    return HingeBending.of(mesh, rigidity_of(fabric), scene.rest_angles, beta)


def _pairs(scene: "Scene", fabric: Fabric, mesh: TriangleMesh) -> LocalEnergy:
    form, beta = scene.buckling or BucklingForm(), damping_of(scene, fabric)
    spring = form.compression
    if spring is None:
        spring = (fabric.stretch_warp + fabric.stretch_weft) / 2
    return BucklingBending.of(
        mesh, rigidity_of(fabric), spring, scene.rest_angles, form.calibrate, beta
    )


BENDING: Mapping[str, Callable[["Scene", Fabric, TriangleMesh], Energy]] = {
    "hinges": _hinges,
    "pairs": _pairs,
}


def bending_name(scene: "Scene", fabric: Fabric) -> str:
    """How triangles bend: pairs where asked for, and by themselves with immediate buckling."""
    law = scene.law_of(fabric)
    buckles = any(isinstance(part, ImmediateBuckling) for part in law.parts)
    return "pairs" if scene.buckling is not None or buckles else "hinges"


def _form(scene: "Scene") -> ConditionForm | None:
    """The conditions of 1998, where these are asked for."""
    return scene.conditions or (ConditionForm() if scene.is_1998 else None)


def _conditions(scene: "Scene", fabric: Fabric, form: ConditionForm) -> Conditions:
    stretch = (fabric.stretch_warp, fabric.stretch_weft)
    rest = (fabric.rest_stretch_warp, fabric.rest_stretch_weft)
    beta = damping_of(scene, fabric)
    damping = (beta, beta, beta) if form.damping is None else form.damping
    return Conditions(
        stretch, fabric.shear, form.bend or (0, 0), rest, form.p, form.variant, damping
    )


def _of_triangles(scene: "Scene", fabric: Fabric, mesh: TriangleMesh) -> Made:
    form = _form(scene)
    if form is None:
        membrane = Membrane(
            linear_triangle(mesh), scene.law_of(fabric), damping=damping_of(scene, fabric)
        )
        return membrane, BENDING[bending_name(scene, fabric)](scene, fabric, mesh)
    hinges = HingeBending.of(mesh, rigidity_of(fabric), scene.rest_angles)
    weight = hinges.weight if form.bend is None else None
    conditions = _conditions(scene, fabric, form)
    energies = condition_energies(mesh, conditions, weight, hinges.rest_angle)
    if not scene.is_1998 and isinstance(energies[-1], FrozenBend):
        raise SceneError(
            "scene.conditions.variant",
            got="body",
            expected=f"exact, with integrator {scene.integrator}",
            hint="the bend forces of the body are no energy's derivative: nothing to minimize",
        )
    return energies


def _of_splines(scene: "Scene", fabric: Fabric, surface: SplineSurface) -> Made:
    for name, given in (
        ("buckling", scene.buckling is not None),
        ("rest_angles", scene.rest_angles != "flat"),
        ("conditions.bend", scene.conditions is not None and scene.conditions.bend is not None),
    ):
        if given:
            raise SceneError(
                f"scene.{name}",
                got="with splines",
                expected="nothing: it is made for triangles",
                hint="leave it out, or say `discretization: triangles`",
            )
    form, samples, beta = _form(scene), surface.samples(), damping_of(scene, fabric)
    if form is None:
        membranes: Made = (Membrane(samples, scene.law_of(fabric), damping=beta),)
    else:
        conditions = _conditions(scene, fabric, form)
        membranes, beta = condition_membranes(samples, conditions), conditions.damping[2]
    at = surface.laplacians(*rigidity_of(fabric))
    bend = QuadraticForm(at.stencil, at.coefficient, at.weight, "bending")
    if scene.is_1998:  # a condition, damped as one
        damped: Made = (dataclasses.replace(bend, damping=beta),)
    elif beta > 0:
        damped = (bend, CurvatureDamping(bend, at.gradient, beta, surface.n_points))
    else:
        damped = (bend,)
    return (*membranes, *damped, *_seams(fabric, surface))


def _seams(fabric: Fabric, surface: SplineSurface) -> Made:
    """What bends across seams, and ties where points are not shared."""
    jumps = surface.seams(*rigidity_of(fabric))
    seams = tuple(
        QuadraticForm(jump.stencil, jump.coefficient, jump.weight, f"seam {k + 1}")
        for k, jump in enumerate(jumps)
    )
    if surface.ties is None:
        return seams
    t = surface.ties
    stiff = TIE * max(fabric.stretch_warp, fabric.stretch_weft) * t.weight
    return (*seams, QuadraticForm(t.stencil, t.coefficient, stiff, "seam ties"))
