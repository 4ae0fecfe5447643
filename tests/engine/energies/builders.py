"""Every energy of weft, made from a mesh; its numbers are keywords with their values."""

import dataclasses
import inspect

import numpy as np
import warp as wp

from weft.bodies.joints.anchors import FixedAnchor
from weft.bodies.rigid.rigidity import Rigidity
from weft.discretization.bspline import Patch, rectangle
from weft.discretization.linear_triangle import linear_triangle
from weft.discretization.mesh import grid
from weft.discretization.patch_triangulation import PatchTriangulation
from weft.discretization.polygon import arc_lengths
from weft.discretization.spline_surface import SplineSurface, grid_faces
from weft.discretization.surface import Tessellation
from weft.energies.air.lift_and_drag import AirForce
from weft.energies.air.wind import Wind
from weft.energies.elastic.bend_condition import FrozenLengthBending
from weft.energies.elastic.buckling_bending import BucklingBending
from weft.energies.elastic.creases import Creases
from weft.energies.elastic.curvature_damping import CurvatureDamping
from weft.energies.elastic.fitted_bending import FittedBending
from weft.energies.elastic.hinge_bending import HingeBending
from weft.energies.elastic.internal_friction import HingeFriction, ShearFriction
from weft.energies.elastic.measured_bending import MeasuredBending
from weft.energies.elastic.membrane import Membrane
from weft.energies.elastic.permanent_stretch import PermanentStretch
from weft.energies.elastic.plasticity import Plasticity
from weft.energies.elastic.quadratic_bending import QuadraticBending
from weft.energies.elastic.quadratic_form import QuadraticForm
from weft.energies.elastic.strain_limit import StrainLimits
from weft.energies.embedded import EmbeddedEnergy
from weft.energies.loads.gravity import Gravity
from weft.energies.loads.pressure import Gas, Pressure
from weft.energies.loads.settling_drag import Drag
from weft.energies.seams.patch_seams import PatchedPart, hinges_of_patches
from weft.energies.seams.seam_hinges import SeamHinges
from weft.energies.seams.sewing import SeamPanels, SeamRows
from weft.energies.springs.bonds import Bonds
from weft.energies.springs.goals import Goals
from weft.energies.springs.joint_coordinates import BilinearForm, JointCoordinates
from weft.energies.springs.joint_springs import Guides, JointLimits, Motors
from weft.energies.springs.point_springs import PointSprings
from weft.energies.springs.ring_spacing import RingSpacing
from weft.energies.state import State
from weft.energies.step import Step
from weft.kernel import Scalar, mat32, vec3
from weft.laws import (
    BaraffWitkin,
    DotShear,
    Measured,
    NeoHookean,
    OwnLaw,
    StrainLimit,
    StvkShear,
)

MESH = grid(6, 5, 1.0, 0.8, "random", seed=4)
CURVE = np.array([(0.11, 30.0), (0.32, 180.0), (0.53, 400.0), (1.2, 1300.0)])
CENTER = (0.0, -1.0, 0.0)  # the cone over the sheet has a volume


def crumple(x, seed, size=0.06):
    """Positions moved at random: stretched, compressed, sheared and folded all at once."""
    return np.array(x) + size * np.random.default_rng(seed).normal(size=x.shape)


def numbers(make):
    """The numbers of an energy by name."""
    keywords = inspect.signature(make).parameters.items()
    return {name: k.default for name, k in keywords if k.default is not k.empty}


def membrane(mesh, warp=500.0, weft=300.0, shear=80.0, rest=0.97, damping=0.02):
    law = BaraffWitkin((warp, weft), shear, (rest, 1.0))
    return Membrane(linear_triangle(mesh), law, damping=damping)


def several_laws(mesh, mu=200.0, shear=80.0, damping=0.02):
    law = NeoHookean(mu, 50.0) + StvkShear(shear)
    return Membrane(linear_triangle(mesh), law, damping=damping)


def measured(mesh, force=1.0, shear=40.0, rest=0.98, damping=0.02):
    law = Measured((CURVE * [1.0, force], CURVE), shear, rest_stretch=(rest, 1.0))
    return Membrane(linear_triangle(mesh), law, damping=damping)


def drawn_out(mesh, warp=500.0, weft=300.0, shear=80.0, rest=0.97, damping=0.02):
    law = BaraffWitkin((warp, weft), shear, (rest, 1.0))
    return PermanentStretch(linear_triangle(mesh), law, damping=damping, limits=(0.02, 0.03))


def limits(mesh, most=9.0, weft=30.0, onset=0.001):
    """So wide that all states are within, and at work in all of them."""
    law = StrainLimit((most, 8.0), 1.57, (50.0, weft, 5.0), onset)
    return StrainLimits(linear_triangle(mesh), law)


@wp.struct
class Stiffening:
    stiffness: Scalar
    power: Scalar
    rest: Scalar
    shear: Scalar


@wp.func
def stiffening(F: mat32, p: Stiffening):
    """A law that is in no file: linear in none but its stiffness."""
    f0 = vec3(F[0, 0], F[1, 0], F[2, 0])
    f1 = vec3(F[0, 1], F[1, 1], F[2, 1])
    e = wp.dot(f0, f0) + wp.dot(f1, f1) - Scalar(2.0) * p.rest
    dot = wp.dot(f0, f1)
    return p.stiffness * (wp.exp(p.power * e) - p.power * e) + p.shear * p.shear * dot * dot


def own(mesh, stiffness=60.0, power=0.7, rest=0.9, shear=6.0):
    """psi alone: its mixed derivatives are generated."""
    values = {"stiffness": stiffness, "power": power, "rest": rest, "shear": shear}
    return Membrane(linear_triangle(mesh), OwnLaw("mixed_own", Stiffening, stiffening, values))


def own_damped(mesh, stiffness=60.0, damping=0.02):
    """With damping, which is of a Hessian that is generated as well."""
    return dataclasses.replace(own(mesh, stiffness), damping=damping)


def bending(mesh, warp=2e-2, weft=1e-2, rest=0.2, damping=0.03):
    angles = rest * np.ones(len(mesh.hinges))
    return HingeBending.of(mesh, (warp, weft), angles, damping)


def measured_bending(mesh, warp=2e-2, weft=1e-2, bent=0.9, damping=0.03):
    table = np.array([[weft], [0.01], [warp]]) * [1.0, bent, 0.8, 0.7, 0.6]
    return MeasuredBending.of_table(mesh, table, 0.2 * np.ones(len(mesh.hinges)), damping)


def creases(mesh, warp=2e-2, weft=1e-2, damping=0.03):
    return Creases.yielding(mesh, (warp, weft), 5.0, Plasticity(0.5), damping=damping)


def rubbing(mesh, warp=2e-2, weft=1e-2):
    return HingeFriction.from_hysteresis(mesh, (warp, weft), 0.3, "as-given")


def rubbing_in_shear(mesh, stiffness=60.0):
    return ShearFriction(linear_triangle(mesh), DotShear(stiffness, 0.05))


def of_seams(mesh, warp=2e-2, weft=1e-2, damping=0.03):
    h = bending(mesh, warp, weft, 0.2, damping)
    return SeamHinges(h.hinges, h.weight, h.rest_angle, h.n_vertices, "seams", h.damping, 0.01)


def folds(mesh, warp=2e-2, weft=1e-2, damping=0.03):
    h = bending(mesh, warp, weft, 0.2, damping)
    return FrozenLengthBending(h.hinges, h.weight, h.rest_angle, h.n_vertices, damping=h.damping)


def quadratic(mesh, warp=2e-2, weft=1e-2, damping=0.03):
    return QuadraticBending.of(mesh, (warp, weft), damping=damping)


def quadrics(mesh, warp=2e-2, weft=1e-2, damping=0.03):
    return FittedBending.of(mesh, (warp, weft), damping=damping)


def pairs(mesh, warp=2e-2, weft=1e-2, spring=30.0, damping=0.03):
    return BucklingBending.of(mesh, (warp, weft), spring, damping=damping)


SKEW = 0.02 * np.sin(9 * np.arange(60).reshape(6, 5, 2))


def on_splines(mesh):
    """As many control points as the mesh has vertices, wherever these are."""
    ids = np.arange(30).reshape(5, 6).T  # the mesh counts along the warp first
    assert mesh.n_vertices == ids.size
    patch = Patch(rectangle(6, 5, 1.0, 0.8).rest + SKEW)
    return dataclasses.replace(SplineSurface.of([patch]), ids=[ids])


def spline_membrane(mesh):
    return Membrane(on_splines(mesh).samples(), BaraffWitkin((500.0, 300.0), 80.0, (1.0, 0.97)))


def spline_bending(mesh, warp=2e-2, weft=1e-2, damping=0.03):
    at = on_splines(mesh).laplacians(warp, weft)
    return QuadraticForm(at.stencil, at.coefficient, at.weight, damping=damping)


def spline_damping(mesh, warp=2e-2, weft=1e-2, damping=0.03):
    at = on_splines(mesh).laplacians(warp, weft)
    return CurvatureDamping(spline_bending(mesh, warp, weft), at.gradient, damping, 30)


def two_patches(mesh):
    """Control points of the mesh as two patches side by side, with triangles of their own, and the
    joint of their middle sides.
    """
    uv = np.stack(np.meshgrid([0.0, 0.5, 1.0], np.linspace(0, 3, 6), indexing="ij"), axis=2)
    faces, uv = grid_faces(3, 6), uv.reshape(-1, 2)
    rest = rectangle(3, 5, 0.4, 0.8).rest
    skew = np.concatenate([rest + SKEW[:3], rest + SKEW[3:] + (0.45, 0.0)])
    ids = np.arange(30).reshape(5, 6).T
    parts, n = [], len(uv)
    for k in (0, 1):
        patch = Patch(skew[3 * k : 3 * k + 3])
        surface = SplineSurface([patch], [ids[3 * k : 3 * k + 3]], mesh.n_vertices)
        surface = dataclasses.replace(surface, touched=PatchTriangulation(uv, faces))
        parts.append(PatchedPart(surface, k * n, (2e-2, 1e-2)))
    shown = Tessellation.concatenate([p.surface.shown for p in parts], mesh.n_vertices)
    joint = SeamRows(np.stack([12 + np.arange(6), n + np.arange(6)], axis=1))
    return parts, shown, joint


def spline_seam_bonds(mesh, stiffness=20.0):
    _, shown, joint = two_patches(mesh)
    each = stiffness * np.linspace(1.0, 2.0, 6)
    return EmbeddedEnergy(
        Bonds(joint.pairs, each, len(shown.embedding), last=1e-3), shown.embedding
    )


def spline_seam_folds(mesh, angle=0.3, fold=0.05, damping=0.02):
    parts, shown, joint = two_patches(mesh)
    n, m = len(shown.embedding), len(shown.faces)
    flat = shown.mesh(np.asarray(mesh.vertices), "patches")
    sides = SeamPanels(flat, np.full(n, 500.0), np.tile([2e-2, 1e-2], (m, 1)))
    joint = dataclasses.replace(joint, angle=angle, fold_stiffness=fold)
    made = hinges_of_patches(sides, parts, shown.embedding, [joint], 0.0, damping)
    return EmbeddedEnergy(*made)


def bonds(mesh, stiffness=20.0, first=0.2, last=0.1):
    ends = np.array([[0, 7], [1, 9], [2, 15], [3, 12]], np.int32)
    each = stiffness * np.arange(1.0, 5.0)
    return Bonds(ends, each, mesh.n_vertices, first, last, closing=(0.0, 0.4))


def gravity(mesh, density=0.2, down=-9.81):
    return Gravity(density * mesh.vertex_area, (0.3, down, 0.1), (0.0, 0.4))


def drag(mesh, density=0.2, rate=5.0):
    return Drag(density * mesh.vertex_area, rate)


def gas(mesh, pressure=500.0, volume=0.3, ambient=1e5):
    return Pressure(mesh.faces, Gas(pressure, volume, ambient), mesh.n_vertices, CENTER)


def pressure(mesh, pressure=500.0):
    return Pressure(mesh.faces, pressure, mesh.n_vertices, CENTER)


def wind(mesh, up=0.3, density=1.2, drag=1.17, lift=1.0):
    return AirForce(linear_triangle(mesh), Wind((1.0, up, 0.4), density, drag, lift))


def crossflow(mesh, up=0.3, density=1.2, drag=1.17, lift=1.0):
    blows = Wind((1.0, up, 0.4), density, drag, lift, crossflow=True)
    return AirForce(linear_triangle(mesh), blows)


def rigid(mesh, stiffness=100.0):
    four = np.arange(8, dtype=np.int32).reshape(2, 4)
    g = np.random.default_rng(2).normal(size=(2, 4, 3))
    g -= g.mean(1, keepdims=True)
    return Rigidity(four, g, stiffness * np.array([1.0, 2.0]))


def coordinates():
    """How far two bodies have gone along an axis, and an angle."""
    stencil = np.arange(16, dtype=np.int32).reshape(2, 8)
    rows = np.random.default_rng(12).normal(size=(4, 2, 8))
    w, u, p, q = (a - a.mean(1, keepdims=True) for a in rows)
    zero = np.zeros((2, 3))
    return JointCoordinates(stencil, BilinearForm(w, zero, u, zero), BilinearForm(p, zero, q, zero))


def stops(mesh, stiffness=1.5, margin=0.3, room=0.11, under=0.17):
    joints = coordinates()
    q = JointLimits(joints, *np.zeros((4, 2))).coordinate(crumple(mesh.vertices, 1))
    high = np.array([q[0] + room, np.inf])
    low = np.array([-np.inf, q[1] - under])
    return JointLimits(joints, low, high, np.full(2, margin), np.array([stiffness, 2.0]))


def motors(mesh, target=0.4, stiffness=3.0, damping=0.02, speed=1.5, resistance=0.3):
    """One by an angle, the other one by a speed."""
    one = np.array([1.0, 0.0])
    return Motors(
        coordinates(),
        one * target,
        one * stiffness,
        one * damping,
        (1 - one) * speed,
        (1 - one) * resistance,
        np.array([np.inf, np.inf]),
        ("a", "b"),
    )


def cut_motors(mesh, most=0.7):
    """They pull as hard as they may."""
    one = np.ones(2)
    none = 0 * one
    return Motors(coordinates(), 9 * one, 50 * one, none, none, none, one * most, ("a", "b"))


def guides(mesh, stiffness=100.0):
    joints = dataclasses.replace(coordinates(), second=None)
    return Guides(joints, stiffness * np.array([1.0, 2.0]))


def joints(mesh, stiffness=100.0, place=0.2):
    """Two rows hold a place, two a line."""
    rng = np.random.default_rng(4)
    rows = np.arange(16, dtype=np.int32).reshape(4, 4)
    places = place * rng.normal(size=(4, 3))
    axis = rng.normal(size=(4, 3)) * np.array([0.0, 0.0, 1.0, 1.0])[:, None]
    axis /= np.maximum(np.linalg.norm(axis, axis=1), 1e-300)[:, None]
    weight, k = rng.normal(size=(4, 4)), stiffness * np.arange(1.0, 5.0)
    return PointSprings(rows, weight, k, place=places, axis=axis)


RAIL = FixedAnchor(np.array([[-1.0, 0.1, -1.0], [0.1, 0.15, 0.2], [1.5, 0.0, 1.2]]))
TWO = np.arange(16, dtype=np.int32).reshape(8, 2)
HALVES, EACH = np.tile([0.4, 0.6], (8, 1)), np.arange(1.0, 9.0)
PLACES = FixedAnchor(np.full((8, 3), 0.3))


def ropes(mesh, stiffness=20.0, length=0.2, first=0.25, onset=0.3, damping=0.02):
    return PointSprings(
        TWO,
        HALVES,
        stiffness * EACH,
        length=length,
        first=np.full(8, first),
        closing=0.4,
        pulls=True,
        onset=onset,
        damping=damping,
        place=PLACES,
    )


def springs(mesh, stiffness=20.0, length=0.2, damping=0.02):
    """Between points."""
    apart = np.tile([1.0, -1.0], (8, 1))
    return PointSprings(TWO, apart, stiffness * EACH, length=length, damping=damping)


def goals(mesh, stiffness=20.0, damping=0.02):
    return Goals(TWO, HALVES, stiffness, EACH, PLACES, damping)


def rings(mesh, stiffness=20.0, length=0.05, friction=0.3, slip=0.02):
    how = {"length": length, "friction": friction, "slip": slip}
    rail = {"rail": RAIL, "along": arc_lengths(RAIL.start)}
    return PointSprings(TWO, HALVES, stiffness * EACH, **rail, **how)


def spacing(mesh, stiffness=20.0, apart=0.4):
    some = rings(mesh, 10.0, 0.0, 0.0, 1e-3)
    pairs = np.stack([np.arange(7), np.arange(1, 8)], axis=1).astype(np.int32)
    return RingSpacing(some, pairs, apart, stiffness * EACH[:7])


def on_a_pole(mesh, stiffness=20.0, length=0.02, friction=0.3, slip=0.02):
    body = np.array([12, 13, 14, 15], np.int32)
    nodes = np.array([[1.0, 0, 0, 0], [0.1, 0.5, 0.4, 0], [0, 0, 0, 1.0]])
    return PointSprings(
        np.concatenate([TWO[:5], np.broadcast_to(body, (5, 4))], axis=1),
        HALVES[:5],
        stiffness * EACH[:5],
        length=length,
        nodes=nodes,
        along=np.array([0.0, 0.6, 1.3]),
        friction=friction,
        slip=slip,
    )


ENERGIES = (
    membrane,
    several_laws,
    measured,
    drawn_out,
    limits,
    own,
    own_damped,
    bending,
    measured_bending,
    creases,
    rubbing,
    rubbing_in_shear,
    of_seams,
    folds,
    quadratic,
    quadrics,
    pairs,
    spline_membrane,
    spline_bending,
    spline_damping,
    spline_seam_bonds,
    spline_seam_folds,
    bonds,
    gravity,
    drag,
    gas,
    pressure,
    wind,
    crossflow,
    rigid,
    stops,
    motors,
    cut_motors,
    guides,
    joints,
    ropes,
    springs,
    goals,
    rings,
    spacing,
    on_a_pole,
)


def step_of(seed=5):
    """A step of two of the past, in which everything has moved."""
    rng = np.random.default_rng(seed)
    now, past = (crumple(MESH.vertices, s, 0.04) for s in (11, 12))
    v, fixed = rng.normal(size=now.shape), np.arange(len(now)) == 3
    faces, hinges = len(MESH.faces), len(MESH.hinges)
    kept = {
        "membrane.set": np.abs(rng.normal(size=(faces, 2, 4))) * 0.02,
        "bending.set": rng.normal(size=(hinges, 4)) * 0.1,
        "bending friction.slider": rng.normal(size=hinges) * 0.1,
        "shear friction.slider": rng.normal(size=faces) * 0.02,
    }
    return Step(
        State(now, v, 0.2),
        0.01,
        now + 0.01 * v,
        1e-4,
        now - 0.2 * (past - now),
        0.008,
        fixed,
        np.where(fixed[:, None], now, 0.0),
        (np.zeros((0, 3)),) * 2,
        (past, 0.4),
        kept,
    )
