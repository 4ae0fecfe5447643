"""Every energy that weft has says how its forces change with its constants, or here is why not."""

import dataclasses
import importlib
import inspect
import pkgutil

import numpy as np
import pytest
import warp as wp

import weft.bodies
import weft.energies
from tests.checks import InStep
from tests.engine.energies.test_energies import SKEW, crumple, two_patches
from tests.refusals import refused
from weft.base.equality import are_equal
from weft.base.errors import LawError
from weft.bodies.rigid.rigidity import Rigidity
from weft.discretization.bspline import Patch, rectangle
from weft.discretization.linear_triangle import linear_triangle
from weft.discretization.mesh import grid
from weft.discretization.spline_surface import SplineSurface
from weft.energies.air.lift_and_drag import AirForce
from weft.energies.air.wind import Wind
from weft.energies.by_constants import along_constants, by_constants
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
from weft.energies.seams.patch_seams import hinges_of_patches
from weft.energies.seams.seam_hinges import SeamHinges
from weft.energies.seams.sewing import SeamPanels
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

MESH = grid(4, 4, 1.0, 0.8, "random", seed=4)
LARGE = grid(6, 5, 1.0, 0.8, "random", seed=4)
FABRIC = {"warp": 500.0, "weft": 300.0, "shear": 80.0, "rest": 0.97, "damping": 0.02}
BENT = {"warp": 2e-2, "weft": 1e-2, "damping": 0.03}
CENTER = (0.0, -1.0, 0.0)  # the cone over the sheet has a volume
CURVE = np.array([(0.11, 30.0), (0.32, 180.0), (0.53, 400.0), (1.2, 1300.0)])


def law_of(v):
    return BaraffWitkin((v["warp"], v["weft"]), v["shear"], (v["rest"], 1.02))


def membrane(v):
    return Membrane(linear_triangle(MESH), law_of(v), damping=v["damping"])


def several_laws(v):
    law = NeoHookean(v["mu"], 50.0) + StvkShear(v["shear"])
    return Membrane(linear_triangle(MESH), law, damping=v["damping"])


def measured(v):
    curve = CURVE * [1.0, v["force"]]
    law = Measured((curve, CURVE), v["shear"], rest_stretch=(v["rest"], 1.0))
    return Membrane(linear_triangle(MESH), law, damping=v["damping"])


def drawn_out(v):
    return PermanentStretch(
        linear_triangle(MESH), law_of(v), damping=v["damping"], limits=(0.02, 0.03)
    )


def limits(v):
    law = StrainLimit((v["most"], 8.0), 1.57, (50.0, v["weft"], 5.0), v["onset"])
    return StrainLimits(linear_triangle(MESH), law)


def hinges(v):
    rest = v["rest"] * np.ones(len(MESH.hinges))
    return HingeBending.of(MESH, (v["warp"], v["weft"]), rest, v["damping"])


def measured_hinges(v):
    table = np.array([[v["weft"]], [0.01], [v["warp"]]]) * [1.0, v["bent"], 0.7, 0.6, 0.5]
    return MeasuredBending.of_table(MESH, table, "flat", v["damping"])


def creases(v):
    stiffness = (v["warp"], v["weft"])
    return Creases.yielding(MESH, stiffness, 5.0, Plasticity(0.5), damping=v["damping"])


def rubbing(v):
    return HingeFriction.from_hysteresis(MESH, (v["warp"], v["weft"]), 0.3, "as-given")


def rubbing_in_shear(v):
    return ShearFriction(linear_triangle(MESH), DotShear(v["stiffness"], 0.05))


def of_seams(v):
    h = hinges(v | {"rest": 0.2})
    return SeamHinges(h.hinges, h.weight, h.rest_angle, h.n_vertices, "seams", h.damping, 0.01)


def folds(v):
    h = hinges(v | {"rest": 0.2})
    return FrozenLengthBending(h.hinges, h.weight, h.rest_angle, h.n_vertices, damping=h.damping)


def quadratic(v):
    return QuadraticBending.of(MESH, (v["warp"], v["weft"]), damping=v["damping"])


def quadrics(v):
    return FittedBending.of(MESH, (v["warp"], v["weft"]), damping=v["damping"])


def pairs(v):
    stiffness = (v["warp"], v["weft"])
    return BucklingBending.of(MESH, stiffness, v["spring"], damping=v["damping"])


def on_splines(v):
    surface = SplineSurface.of([Patch(rectangle(6, 5, 1.0, 0.8).rest + SKEW)])
    surface = dataclasses.replace(surface, ids=[np.arange(30).reshape(5, 6).T])
    at = surface.laplacians(v["warp"], v["weft"])
    return QuadraticForm(at.stencil, at.coefficient, at.weight, damping=v["damping"]), at


def spline_bending(v):
    return on_splines(v)[0]


def spline_damping(v):
    form, at = on_splines(v)
    return CurvatureDamping(form, at.gradient, v["damping"], 30)


def bonds(v):
    ends = np.array([[0, 5], [1, 9], [2, 15], [3, 12]], np.int32)
    return Bonds(
        ends,
        v["stiffness"] * np.arange(1.0, 5.0),
        MESH.n_vertices,
        v["first"],
        v["last"],
        closing=(0.0, 0.4),
    )


def spline_seams(v):
    parts, shown, joint = two_patches(LARGE)
    flat = shown.mesh(np.asarray(LARGE.vertices), "patches")
    n, m = len(shown.embedding), len(shown.faces)
    sides = SeamPanels(flat, np.full(n, 500.0), np.tile([2e-2, 1e-2], (m, 1)))
    joint = dataclasses.replace(joint, angle=v["angle"], fold_stiffness=v["fold"])
    made = hinges_of_patches(sides, parts, shown.embedding, [joint], 0.0, v["damping"])
    return EmbeddedEnergy(*made)


def gravity(v):
    return Gravity(v["density"] * MESH.vertex_area, (0.3, v["down"], 0.1), (0.0, 0.4))


def drag(v):
    return Drag(v["density"] * MESH.vertex_area, v["rate"])


def gas(v):
    return Pressure(MESH.faces, Gas(v["pressure"], v["volume"], v["ambient"]), 16, CENTER)


def pressure(v):
    return Pressure(MESH.faces, v["pressure"], MESH.n_vertices, CENTER)


def wind(v):
    blows = Wind((1.0, v["up"], 0.4), v["density"], v["drag"], v["lift"])
    return AirForce(linear_triangle(MESH), blows)


def crossflow(v):
    blows = Wind((1.0, v["up"], 0.4), v["density"], v["drag"], v["lift"], crossflow=True)
    return AirForce(linear_triangle(MESH), blows)


def rigid(v):
    four = np.arange(8, dtype=np.int32).reshape(2, 4)
    g = np.random.default_rng(2).normal(size=(2, 4, 3))
    return Rigidity(four, g, v["stiffness"] * np.array([1.0, 2.0]))


def coordinates():
    """How far two bodies have gone along an axis, and an angle."""
    rng = np.random.default_rng(12)
    stencil = np.arange(16, dtype=np.int32).reshape(2, 8)
    w, u, p, q = (a - a.mean(1, keepdims=True) for a in rng.normal(size=(4, 2, 8)))
    zero = np.zeros((2, 3))
    return JointCoordinates(stencil, BilinearForm(w, zero, u, zero), BilinearForm(p, zero, q, zero))


def stops(v):
    joints = coordinates()
    q = JointLimits(joints, *np.zeros((4, 2))).coordinate(points_of(stops))
    high = np.array([q[0] + v["room"], np.inf])
    low = np.array([-np.inf, q[1] - v["under"]])
    return JointLimits(joints, low, high, np.full(2, v["margin"]), np.array([v["stiffness"], 2.0]))


def motors(v):
    """The second one pulls as hard as it may."""
    one = np.array([1.0, 0.0])
    return Motors(
        coordinates(),
        one * v["target"],
        one * v["stiffness"],
        one * v["damping"],
        (1 - one) * v["speed"],
        (1 - one) * v["resistance"],
        np.array([np.inf, np.inf]),
        ("a", "b"),
    )


def cut_motors(v):
    one = np.ones(2)
    return Motors(
        coordinates(), 9 * one, 50 * one, 0 * one, 0 * one, 0 * one, one * v["most"], ("a", "b")
    )


def guides(v):
    rng = np.random.default_rng(3)
    w, u = (a - a.mean(1, keepdims=True) for a in rng.normal(size=(2, 2, 8)))
    rows = np.arange(16, dtype=np.int32).reshape(2, 8)
    zero = np.zeros((2, 3))
    coordinates = JointCoordinates(rows, BilinearForm(w, zero, u, zero))
    return Guides(coordinates, v["stiffness"] * np.array([1.0, 2.0]))


def joints(v):
    """Two rows hold a place, two a line."""
    rng = np.random.default_rng(4)
    rows = np.arange(16, dtype=np.int32).reshape(4, 4)
    place = v["place"] * rng.normal(size=(4, 3))
    axis = rng.normal(size=(4, 3)) * np.array([0.0, 0.0, 1.0, 1.0])[:, None]
    axis /= np.maximum(np.linalg.norm(axis, axis=1), 1e-300)[:, None]
    weight, k = rng.normal(size=(4, 4)), v["stiffness"] * np.arange(1.0, 5.0)
    return PointSprings(rows, weight, k, place=place, axis=axis)


@dataclasses.dataclass(frozen=True)
class Still:
    """Places that stay."""

    start: np.ndarray

    def at(self, bodies, t):
        return self.start


RAIL = Still(np.array([[-1.0, 0.1, -1.0], [0.1, 0.15, 0.2], [1.5, 0.0, 1.2]]))
ALONG = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(RAIL.start, axis=0), axis=1))])
FOUR = np.arange(16, dtype=np.int32).reshape(8, 2)
HALVES = np.tile([0.4, 0.6], (8, 1))


def ropes(v):
    return PointSprings(
        FOUR,
        HALVES,
        v["stiffness"] * np.arange(1.0, 9.0),
        length=v["length"],
        first=np.full(8, v["first"]),
        closing=0.4,
        pulls=True,
        onset=v["onset"],
        damping=v["damping"],
        place=Still(np.full((8, 3), 0.3)),
    )


def goals(v):
    c = v["stiffness"], np.arange(1.0, 9.0)
    return Goals(FOUR, HALVES, *c, Still(np.full((8, 3), 0.3)), v["damping"])


def rings(v):
    return PointSprings(
        FOUR,
        HALVES,
        v["stiffness"] * np.arange(1.0, 9.0),
        length=v["length"],
        rail=RAIL,
        along=ALONG,
        friction=v["friction"],
        slip=v["slip"],
    )


def spacing(v):
    some = rings({"stiffness": 10.0, "length": 0.0, "friction": 0.0, "slip": 1e-3})
    pairs = np.stack([np.arange(7), np.arange(1, 8)], axis=1).astype(np.int32)
    return RingSpacing(some, pairs, v["apart"], v["stiffness"] * np.arange(1.0, 8.0))


def on_a_pole(v):
    body = np.array([12, 13, 14, 15], np.int32)
    nodes = np.array([[1.0, 0, 0, 0], [0.1, 0.5, 0.4, 0], [0, 0, 0, 1.0]])
    return PointSprings(
        np.concatenate([FOUR[:6], np.broadcast_to(body, (6, 4))], axis=1),
        HALVES[:6],
        v["stiffness"] * np.arange(1.0, 7.0),
        length=v["length"],
        nodes=nodes,
        along=np.array([0.0, 0.6, 1.3]),
        friction=v["friction"],
        slip=v["slip"],
    )


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


def own(v):
    """psi alone: its mixed derivatives are generated."""
    return Membrane(linear_triangle(MESH), OwnLaw("mixed_own", Stiffening, stiffening, v))


def own_damped(v):
    """With damping, which is of a Hessian that is generated as well."""
    law = OwnLaw("mixed_own", Stiffening, stiffening, OWN | {"stiffness": v["stiffness"]})
    return Membrane(linear_triangle(MESH), law, damping=v["damping"])


OWN = {"stiffness": 60.0, "power": 0.7, "rest": 0.9, "shear": 6.0}
CLOSE = {own_damped: 1e-6}  # what is compared with has a Hessian of differences
ENERGIES = {
    membrane: FABRIC,
    own: OWN,
    own_damped: {"stiffness": 60.0, "damping": 0.02},
    several_laws: {"mu": 200.0, "shear": 80.0, "damping": 0.02},
    measured: {"force": 1.0, "shear": 40.0, "rest": 0.98, "damping": 0.02},
    drawn_out: FABRIC,
    limits: {"most": 9.0, "weft": 30.0, "onset": 0.001},
    hinges: {**BENT, "rest": 0.2},
    measured_hinges: {**BENT, "bent": 0.6},
    creases: BENT,
    rubbing: {"warp": 2e-2, "weft": 1e-2},
    rubbing_in_shear: {"stiffness": 60.0},
    of_seams: BENT,
    folds: BENT,
    quadratic: BENT,
    quadrics: BENT,
    pairs: {**BENT, "spring": 30.0},
    spline_bending: BENT,
    spline_damping: BENT,
    bonds: {"stiffness": 20.0, "first": 0.2, "last": 0.1},
    spline_seams: {"angle": 0.3, "fold": 0.05, "damping": 0.02},
    gravity: {"density": 0.2, "down": -9.81},
    drag: {"density": 0.2, "rate": 5.0},
    gas: {"pressure": 500.0, "volume": 0.3, "ambient": 1e5},
    pressure: {"pressure": 500.0},
    wind: {"up": 0.3, "density": 1.2, "drag": 1.17, "lift": 1.0},
    crossflow: {"up": 0.3, "density": 1.2, "drag": 1.17, "lift": 1.0},
    rigid: {"stiffness": 100.0},
    guides: {"stiffness": 100.0},
    stops: {"stiffness": 1.5, "margin": 0.3, "room": 0.11, "under": 0.17},
    motors: {
        "target": 0.4,
        "stiffness": 3.0,
        "damping": 0.02,
        "speed": 1.5,
        "resistance": 0.3,
    },
    cut_motors: {"most": 0.7},
    joints: {"stiffness": 100.0, "place": 0.2},
    ropes: {"stiffness": 20.0, "length": 0.2, "first": 0.25, "onset": 0.3, "damping": 0.02},
    goals: {"stiffness": 20.0, "damping": 0.02},
    rings: {"stiffness": 20.0, "length": 0.05, "friction": 0.3, "slip": 0.02},
    spacing: {"stiffness": 20.0, "apart": 0.4},
    on_a_pole: {"stiffness": 20.0, "length": 0.02, "friction": 0.3, "slip": 0.02},
}
WITHOUT = {
    "ElementEnergy": "abstract: what energies of kernels have in common",
    "SpringEnergy": "abstract: what springs have in common",
    "JointSpring": "abstract: what springs of joints have in common",
    "StepEnergy": "abstract: what energies have in common that act in a step only",
    "MassEnergy": "abstract: what energies of masses have in common",
    "Hands": "act in a step only, by springs between points: tests/engine/live/test_session.py",
    "Masses": "of inertia, which has a step: tests/engine/adjoint asks it",
    "Energy": "a protocol",
    "FastEnergy": "a protocol",
}


def step_of(n, seed=5):
    """A step of two of the past, in which everything has moved."""
    rng = np.random.default_rng(seed)
    mesh = MESH if n == 16 else LARGE
    now, past = (crumple(mesh.vertices, s, 0.04) for s in (11, 12))
    v, fixed = rng.normal(size=(n, 3)), np.arange(n) == 3
    state = State(now, v, 0.2)
    kept = {
        "membrane.set": np.abs(rng.normal(size=(len(mesh.faces), 2, 4))) * 0.02,
        "bending.set": rng.normal(size=(len(mesh.hinges), 4)) * 0.1,
        "bending friction.slider": rng.normal(size=len(mesh.hinges)) * 0.1,
        "shear friction.slider": rng.normal(size=len(mesh.faces)) * 0.02,
    }
    return Step(
        state,
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


def quotient(f, h):
    """df/dp from six points."""
    return sum(w * (f(k * h) - f(-k * h)) for k, w in ((1, 3 / 4), (2, -3 / 20), (3, 1 / 60))) / h


def points_of(make):
    mesh = LARGE if make in (spline_bending, spline_damping, spline_seams) else MESH
    return crumple(mesh.vertices, 1)


@pytest.mark.parametrize("make", ENERGIES, ids=lambda f: f.__name__)
def test_mixed_derivatives(make):
    """Of forces in a step, against differences of these; both contractions."""
    values, x = ENERGIES[make], points_of(make)
    energy, step = make(values), step_of(len(x))
    z = np.random.default_rng(6).normal(size=x.shape)
    contracted = by_constants(energy, x, z, step)
    assert contracted.keys() == energy.constants.keys()
    for name, value in values.items():

        def at(s, name=name, value=value):
            return make(values | {name: value + s})

        h = 2e-4 * abs(value)
        assert are_equal(at(h).structure, energy.structure)
        expected = quotient(lambda s, at=at: InStep(at(s), len(x), step).gradient(x), h)
        change = {
            c: quotient(lambda s, at=at, c=c: np.array(at(s).constants[c]), h)
            for c in energy.constants
        }
        found, scale = along_constants(energy, x, change, step), np.abs(expected).max()
        assert scale > 0, f"nothing depends on {name}"
        atol = CLOSE.get(make, 2e-9) * scale
        np.testing.assert_allclose(found, expected, atol=atol, err_msg=name)
        total = sum(float((contracted[c] * change[c]).sum()) for c in change)
        size = np.abs(z * found).sum()
        assert total == pytest.approx(float((z * found).sum()), abs=1e-11 * size), name


def test_at_rest_they_are_those_of_the_gradient():
    energy, x = membrane(FABRIC), points_of(membrane)
    found = energy.mixed_derivatives(x)
    unit = Membrane(energy.samples, BaraffWitkin((1.0, 1e-300), 0.0, (0.97, 1.02)))
    np.testing.assert_allclose(found["law.stretch_warp"], unit.gradient(x), atol=1e-13)
    assert not found["damping"].any()


def classes():
    """Every class of weft.energies and weft.bodies that has local gradients and Hessians."""
    energies = pkgutil.walk_packages(weft.energies.__path__, "weft.energies.")
    bodies = pkgutil.walk_packages(weft.bodies.__path__, "weft.bodies.")
    for module in (*energies, *bodies):
        made = importlib.import_module(module.name)
        for name, found in inspect.getmembers(made, inspect.isclass):
            fields = {a for kind in found.__mro__ for a in inspect.get_annotations(kind)}
            has = all(hasattr(found, a) or a in fields for a in ("stencil", "gradient", "hessian"))
            if has and found.__module__ == module.name:
                yield name


def test_every_energy_is_here():
    tested = {type(make(values)).__name__ for make, values in ENERGIES.items()}
    assert set(classes()) == tested | set(WITHOUT)


class Springs:
    """An energy in NumPy without constants."""

    name, stencil = "springs", np.array([[0, 1]], np.int32)

    def value(self, x):
        return np.zeros(1)

    def gradient(self, x):
        return np.zeros((1, 2, 3))

    def hessian(self, x, psd):
        return np.zeros((1, 2, 2, 3, 3))


class Wrong(Springs):
    """One whose mixed derivatives have another shape."""

    constants, structure = {"stiffness": np.ones(1)}, ()

    def mixed_derivatives(self, x, step=None):
        return {"stiffness": np.zeros((1, 2))}


@pytest.mark.parametrize(
    "energy, said",
    [
        (Springs(), ("energy springs", "mixed")),
        (Wrong(), ("springs.mixed_derivatives: stiffness", "1, 2", "1, 2, 3")),
    ],
)
def test_what_does_not_know_them_says_so(energy, said):
    with refused(LawError, said):
        by_constants(energy, np.zeros((2, 3)), np.ones((2, 3)))
