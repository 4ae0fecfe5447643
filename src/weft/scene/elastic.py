"""Elastic energies of a scene's cloth, by the discretization of its surfaces.

A new kind of surface is one line of ``BENT``. Bending energies of triangles are registered by name
(``weft.extensions``, kind ``bending``): functions of a scene, a fabric and a mesh.
"""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from weft import extensions
from weft.base.arrays import Floats, Ints, Positions
from weft.base.errors import SceneError
from weft.bodies.rigid.energies import ONE_SOLVE
from weft.cloth.rod import rod_energies
from weft.discretization.mesh import TriangleMesh
from weft.discretization.quadrature import bending_points
from weft.discretization.rod import Rod
from weft.discretization.samples import Samples
from weft.discretization.spline_surface import SplineSurface
from weft.discretization.surface import Surface
from weft.discretization.triangles import Triangles
from weft.energies.elastic.bend_condition import FrozenLengthBending
from weft.energies.elastic.buckling_bending import BucklingBending, BucklingForm
from weft.energies.elastic.condition import (
    ConditionForm,
    Conditions,
    condition_energies,
    condition_membranes,
)
from weft.energies.elastic.creases import Creases
from weft.energies.elastic.curvature_damping import CurvatureDamping
from weft.energies.elastic.fitted_bending import FittedBending
from weft.energies.elastic.hinge_bending import HingeBending, dihedral_angles, rest_angles
from weft.energies.elastic.internal_friction import HingeFriction, ShearFriction
from weft.energies.elastic.measured_bending import MeasuredBending
from weft.energies.elastic.membrane import Membrane
from weft.energies.elastic.permanent_stretch import PermanentStretch
from weft.energies.elastic.plasticity import Plasticity
from weft.energies.elastic.pressed_lines import Pressed, press_angles
from weft.energies.elastic.quadratic_bending import QuadraticBending
from weft.energies.elastic.quadratic_form import QuadraticForm
from weft.energies.elastic.strain_limit import StrainLimits
from weft.energies.element_energy import ElementEnergy
from weft.energies.energy import Energy
from weft.fabric.fabric import Fabric
from weft.fabric.hysteresis import bending_friction, slipping_shear
from weft.laws import ImmediateBuckling, Law, StrainLimit
from weft.scene.membrane_law import membrane_law
from weft.scene.painted import paint_energy, paint_law
from weft.scene.scene import Scene

TIE = 100.0  # stiffness of tied seams, over the fabric's stretch stiffness
SOFT = 1e-2  # barrier of shear over stretch stiffness, of fabrics that shear freely
Made = tuple[Energy, ...]
Weights = Callable[[str], Floats]  # returns painted weights of elements by their name


def elastic_energies(
    scene: Scene, fabric: Fabric, surface: Surface, number: str, t: float = 0.0
) -> Made:
    """Build membrane, strain limits, bending and seams of one surface, with their damping.

    Args:
        scene: laws, forms and damping.
        fabric: of the surface.
        surface: triangles, splines or a rod.
        number: suffix of the energies' names, which tells several surfaces apart.

    Raises:
        SceneError: a fabric or bending energy that the integrator cannot minimize.
    """
    energies = (*_membranes(scene, fabric, surface), *BENT[type(surface)](scene, fabric, surface))
    return tuple(dataclasses.replace(e, name=e.name + number) for e in energies)  # type: ignore[type-var]


def _membranes(scene: Scene, fabric: Fabric, surface: Surface) -> Made:
    """Build the membrane and strain limits of a surface; a rod has none."""
    if isinstance(surface, Rod):
        return ()
    form, samples = _form(scene), surface.samples()
    weights = partial(scene.cloth.element_weights, stencil=samples.stencil, shares=samples.value)
    if form is None:
        beta = damping_of(scene, fabric)
        law = paint_law(fabric, partial(membrane_law, scene), len(samples.stencil), weights)
        membranes: Made = (membrane_of(fabric, samples, law, beta, weights),)
    else:
        if fabric.remembers:
            raise SceneError(
                f"fabric {fabric.name}",
                got="creases, yield or internal friction, with the conditions of 1998",
                expected="another integrator, or the fabric without crease_yield, yield and "
                "hysteresis",
            )
        if fabric.maps:
            raise SceneError(
                f"fabric {fabric.name}.{next(iter(fabric.maps))}",
                got="a map, with the conditions of 1998",
                expected="another integrator, or a number",
            )
        membranes = condition_membranes(samples, _conditions(scene, fabric, form))
        if fabric.is_measured:
            raise SceneError(
                f"fabric {fabric.name}",
                got="a curve, with the conditions of 1998",
                expected="another integrator, or the fabric without its curves",
            )
    friction: Made = ()
    if fabric.shear_hysteresis is not None:
        shear = paint_law(fabric, slipping_shear, len(samples.stencil), weights)
        friction = (ShearFriction(samples, shear),)
    return (*membranes, *friction, *limits_of(fabric, samples, weights))


def membrane_of(
    fabric: Fabric, samples: Samples, law: Law, damping: float, weights: Weights
) -> Membrane:
    """Build the membrane of a fabric, with permanent stretch if the fabric has a yield strain."""
    if not fabric.has_yield_strain:
        return Membrane(samples, law, damping=damping)
    warp, weft = (fabric.number(f"yield_{yarn}", weights, np.inf) for yarn in ("warp", "weft"))
    hardening = fabric.number("yield_hardening", weights)
    return PermanentStretch(samples, law, damping=damping, limits=(warp, weft), hardening=hardening)


def limits_of(fabric: Fabric, samples: Samples, weights: Weights) -> Made:
    """Build the barriers of a fabric that has strain limits, as stiff as the fabric itself."""
    if not fabric.is_limited:
        return ()
    return (StrainLimits(samples, paint_law(fabric, _limit, len(samples.stencil), weights)),)


def _limit(fabric: Fabric) -> StrainLimit:
    """Return the law of a fabric's strain limits."""
    warp, weft = (None if e is None else 1 + e for e in (fabric.limit_warp, fabric.limit_weft))
    k = fabric.stretch_warp, fabric.stretch_weft
    stiffness = (*k, fabric.shear or SOFT * min(k))
    rest = (fabric.rest_stretch_warp, fabric.rest_stretch_weft)
    return StrainLimit((warp, weft), fabric.limit_shear, stiffness, rest=rest)


def check_start(energies: Made, x: Positions) -> None:
    """Check that points x (n,3) [m] are within the strain limits.

    Raises:
        SceneError: the cloth is stretched or sheared beyond a limit.
    """
    for energy in energies:
        if isinstance(energy, StrainLimits) and not np.isfinite(energy.value(x)).all():
            warp, weft, sine = energy.measure_strain(x).max(0)
            angle = float(np.degrees(np.arcsin(min(sine, 1.0))))
            raise SceneError(
                "start of the cloth",
                got=f"stretches {warp:.4g} and {weft:.4g}, shear {angle:.3g} deg",
                expected=f"cloth within its {energy.name}",
                hint="change the positions or the material coordinates, or raise the limits",
            )


def damping_of(scene: Scene, fabric: Fabric) -> float:
    """Return the damping [s] of the scene, or else that of the fabric."""
    return fabric.damping if scene.damping is None else scene.damping


def rigidity_of(fabric: Fabric) -> tuple[float, float]:
    """Return the bending rigidities [N m] along warp and weft."""
    return fabric.bending_warp, fabric.bending_weft


def hinge_bending(scene: Scene, fabric: Fabric, mesh: TriangleMesh) -> ElementEnergy:
    """Return the bending energy of hinges, of ARCSim's tables, or of creases."""
    beta, rest = damping_of(scene, fabric), rest_of(scene, mesh)
    if fabric.arcsim is not None:
        table = fabric.arcsim.rigidities(rigidity_of(fabric))
        return MeasuredBending.of_table(mesh, table, rest, beta)
    if fabric.crease_yield is None:
        return HingeBending.of(mesh, rigidity_of(fabric), rest, beta)
    number = partial(
        fabric.number, weights=partial(scene.cloth.element_weights, stencil=mesh.hinges)
    )
    recovery = number("crease_recovery", otherwise=np.inf)
    memory = Plasticity(number("crease_hardening"), recovery, number("crease_lasting"))
    return Creases.yielding(mesh, rigidity_of(fabric), number("crease_yield"), memory, rest, beta)


def rest_of(scene: Scene, mesh: TriangleMesh) -> str | Floats:
    """Return the rest angles of the mesh of one fabric: those of the scene, with pressed lines.

    The result is (h,) [rad], or the scene's word if no line is pressed into this mesh.
    """
    given = scene.rest_angles
    rest = given if isinstance(given, str) else dihedral_angles(np.asarray(given), mesh.hinges)
    own, regions = [], False
    for line in scene.pressed:
        part = scene.cloth.parts[0] if line.cloth is None else scene.cloth.part(line.cloth)
        if np.isin(mesh.faces[:, 0], part.vertices).any():
            own.append((line, part.vertices))
            regions = regions or bool(part.regions)
    angles = rest_angles(mesh, rest)
    if not own:
        return rest
    if regions:  # a line may cross several regions, so it is searched in the mesh of all cloth
        return _find_angles(scene.cloth.mesh, own, mesh, angles)
    return press_angles(mesh, angles, own)


def _find_angles(
    whole: TriangleMesh, own: Sequence[tuple[Pressed, Ints]], mesh: TriangleMesh, angles: Floats
) -> Floats:
    """Return (h,) [rad] rest angles of ``mesh``, for lines that are pressed into the ``whole``
    mesh.

    Hinges that no line crosses keep ``angles``.
    """
    pressed = press_angles(whole, np.full(len(whole.hinges), np.nan), own)
    at = {
        edge: angle
        for edge, angle in zip(map(tuple, whole.hinges[:, :2].tolist()), pressed)
        if not np.isnan(angle)
    }
    edges = map(tuple, mesh.hinges[:, :2].tolist())
    return np.array([at.get(edge, angle) for edge, angle in zip(edges, angles)])


def refuse_memory(scene: Scene, fabric: Fabric, other: str) -> None:
    """Refuse creases and pressed lines if the bending energy is not that of hinges.

    Raises:
        SceneError: the fabric keeps creases, or the scene presses lines or gives rest angles.
    """
    if fabric.crease_yield is not None:
        raise SceneError(
            f"fabric {fabric.name}.crease_yield",
            got=f"with {other}",
            expected="triangles with `bending: hinges`",
            hint="only hinges keep creases",
        )
    if scene.pressed or not isinstance(scene.rest_angles, str):
        raise SceneError(
            "scene.pressed" if scene.pressed else "scene.rest_angles",
            got=f"with {other}",
            expected="triangles with `bending: hinges`",
        )


def quadratic_bending(
    scene: Scene,
    fabric: Fabric,
    mesh: TriangleMesh,
    kind: type[QuadraticBending] = QuadraticBending,
) -> Energy:
    """Return the quadratic bending energy of hinges, or that of another kind."""
    beta = damping_of(scene, fabric)
    return kind.of(mesh, rigidity_of(fabric), scene.rest_angles, beta)


def fitted_bending(scene: Scene, fabric: Fabric, mesh: TriangleMesh) -> Energy:
    """Return the quadratic bending energy of fitted quadrics."""
    return quadratic_bending(scene, fabric, mesh, FittedBending)


def pair_bending(scene: Scene, fabric: Fabric, mesh: TriangleMesh) -> ElementEnergy:
    """Return the bending energy of pairs of edges, which buckle (Choi & Ko 2003)."""
    form, beta = scene.buckling or BucklingForm(), damping_of(scene, fabric)
    spring = form.compression
    if spring is None:
        spring = (fabric.stretch_warp + fabric.stretch_weft) / 2
    return BucklingBending.of(
        mesh, rigidity_of(fabric), spring, scene.rest_angles, form.calibrate, beta
    )


def bending_name(scene: Scene, fabric: Fabric) -> str:
    """Return the scene's bending energy; without one, ``pairs`` with buckling, else ``hinges``."""
    if scene.bending is not None:
        return scene.bending
    law = membrane_law(scene, fabric)
    buckles = any(isinstance(part, ImmediateBuckling) for part in law.parts)
    return "pairs" if scene.buckling is not None or buckles else "hinges"


def _form(scene: Scene) -> ConditionForm | None:
    """Return the form of the conditions of 1998, or None if the scene does not use them."""
    return scene.conditions or (ConditionForm() if scene.is_1998 else None)


def _conditions(scene: Scene, fabric: Fabric, form: ConditionForm) -> Conditions:
    stretch = (fabric.stretch_warp, fabric.stretch_weft)
    rest = (fabric.rest_stretch_warp, fabric.rest_stretch_weft)
    beta = damping_of(scene, fabric)
    damping = (beta, beta, beta) if form.damping is None else form.damping
    return Conditions(
        stretch, fabric.shear, form.bend or (0, 0), rest, form.p, form.variant, damping
    )


def _triangles(scene: Scene, fabric: Fabric, surface: Triangles) -> Made:
    bending, mesh = bending_of_triangles(scene, fabric, surface), surface.mesh
    if not fabric.has_bending_friction:
        return (bending,)
    rest = rest_of(scene, mesh)

    def make(fabric: Fabric) -> HingeFriction:
        return HingeFriction.from_hysteresis(mesh, *bending_friction(fabric), rest)

    return bending, paint_energy(scene.cloth, fabric, make)


def bending_of_triangles(
    scene: Scene, fabric: Fabric, surface: Triangles, name: str | None = None
) -> Energy:
    """Build the bending energy of the triangles of a fabric.

    ``name`` is a registered one; None: as the scene says.

    Raises:
        SceneError: a bending energy that the integrator cannot minimize.
    """
    form, mesh = _form(scene), surface.mesh
    if form is None:
        name = name or bending_name(scene, fabric)
        if name != "hinges":
            refuse_memory(scene, fabric, f"bending {name}")
        made: Energy = paint_energy(
            scene.cloth, fabric, lambda f: extensions.find("bending", name)(scene, f, mesh)
        )
        return made
    refuse_memory(scene, fabric, "the conditions of 1998")
    hinges = HingeBending.of(mesh, rigidity_of(fabric), scene.rest_angles)
    weight = hinges.weight if form.bend is None else None
    conditions = _conditions(scene, fabric, form)
    *_, bend = condition_energies(mesh, conditions, weight, hinges.rest_angle)
    if not scene.is_1998 and isinstance(bend, FrozenLengthBending):
        raise SceneError(
            "scene.conditions.variant",
            got="body",
            expected=f"exact, with integrator {scene.integrator_name}",
            hint="the form `body` has bend forces that are not the derivative of an energy",
        )
    return bend


def _splines(scene: Scene, fabric: Fabric, surface: SplineSurface) -> Made:
    refuse_memory(scene, fabric, "splines")
    if fabric.has_bending_friction:
        raise SceneError(
            f"fabric {fabric.name}.bending_hysteresis",
            got="with splines",
            expected="triangles, whose hinges have friction",
            hint="leave it out, or use `discretization: triangles`",
        )
    form, beta = _form(scene), damping_of(scene, fabric)
    if form is not None:
        beta = _conditions(scene, fabric, form).damping[2]
    points = surface.samples(bending_points)
    weights = partial(scene.cloth.element_weights, stencil=points.stencil, shares=points.value)
    rigidity = (fabric.number(name, weights) for name in ("bending_warp", "bending_weft"))
    at = surface.laplacians(*rigidity)
    bend = QuadraticForm(at.stencil, at.coefficient, at.weight, "bending")
    damped: Made = (bend,)
    if scene.is_1998:  # bending is a condition there, and is damped as the other conditions are
        damped = (dataclasses.replace(bend, damping=beta),)
    elif beta > 0:
        damped = (bend, CurvatureDamping(bend, at.gradient, beta, surface.n_points))
    return (*damped, *_seams(fabric, surface))


def _seams(fabric: Fabric, surface: SplineSurface) -> Made:
    """Build the bending across seams of a spline surface, and ties if patches share no points."""
    seams = [
        QuadraticForm(jump.stencil, jump.coefficient, jump.weight, f"seam {k + 1}")
        for k, jump in enumerate(surface.seams(*rigidity_of(fabric)))
    ]
    if surface.ties is not None:
        t, stiffness = surface.ties, TIE * max(fabric.stretch_warp, fabric.stretch_weft)
        weight = stiffness * t.weight
        ties = QuadraticForm(t.stencil, t.coefficient, weight, "seam ties", of_rest=False)
        seams.append(ties)
    return tuple(seams)


def _rod(scene: Scene, fabric: Fabric, surface: Rod) -> Made:
    """Build the energies of a rod.

    Raises:
        SceneError: an integrator with one linear solve a step.
    """
    if scene.integrator_name in ONE_SOLVE:
        raise SceneError(
            "cloth.rod",
            got=f"with integrator {scene.integrator_name}",
            expected="backward_euler, bdf2 or quasi_static",
            hint="one linear solve per step would enlarge cloth that turns",
        )
    return rod_energies(fabric, surface)


# bending energies, and seams, of each kind of surface
BENT: Mapping[type[Surface], Callable[[Scene, Fabric, Any], Made]] = {
    Triangles: _triangles,
    SplineSurface: _splines,
    Rod: _rod,
}
