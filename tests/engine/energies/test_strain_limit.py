"""Limits of strain on cloth: never passed, by any step; how far a step may go; what is refused."""

import numpy as np
import pytest

import weft
from tests.refusals import refused
from tests.stepping import steps as advance
from weft import kernel
from weft.base.errors import SceneError
from weft.discretization.linear_triangle import linear_triangle
from weft.discretization.mesh import grid
from weft.energies.barrier import PART
from weft.energies.elastic.strain_limit import StrainLimits
from weft.kernel import vec3
from weft.laws import StrainLimit
from weft.scene.prepare import prepare
from weft.solve.linear.solver import Outcome
from weft.solve.sparse.block_csr import BlockPattern

pytestmark = [pytest.mark.quick, pytest.mark.filterwarnings("ignore:fabric")]
SOFT = {"preset": "jersey", "stretch": ["12 N/m", "8 N/m"], "shear": "2 N/m"}
LIMITED = {**SOFT, "limit": ["10 %", "15 %"], "limit_shear": "20 deg"}
MOST = np.array([1.1, 1.15, np.sin(np.radians(20))])


def limit_of(scene):
    return next(e for e in prepare(scene).model.energies if isinstance(e, StrainLimits))


def hung(integrator, fabric=LIMITED, kind="triangles", steps=25, **more):
    cloth = weft.sheet(8, 8, fabric=fabric)
    if kind == "splines":
        cloth = weft.spline_sheet(7, 7, fabric=fabric)
    pins = [weft.Pin(cloth.corners("top"))]
    scene = weft.Scene(cloth, pins, integrator=integrator, step=0.02, **more)
    found = list(advance(scene, steps if integrator != "quasi_static" else 1))
    return scene, [state.x for state, _, _ in found], found[-1][-1]


@pytest.mark.parametrize(
    "integrator, kind",
    [
        ("backward_euler", "triangles"),
        ("backward_euler", "splines"),
        ("bdf2", "triangles"),
        ("quasi_static", "splines"),
    ],
)
def test_no_step_passes_a_limit(integrator, kind):
    """Of warp, weft and shear, in a sheet that would stretch and shear much farther."""
    scene, states, report = hung(integrator, kind=kind)
    limit = limit_of(scene)
    found = np.max([limit.measure_strain(x).max(0) for x in states], axis=0)
    assert (found < MOST).all() and (found > 0.7 * MOST).all()
    assert report.terms["strain limit"] > 0
    _, free, _ = hung(integrator, SOFT, kind)
    assert (np.max([limit.measure_strain(x).max(0) for x in free], axis=0) > 1.1 * MOST).any()


def test_adaptive_and_moving_pins():
    """A pole that runs away with the cloth: what is beyond a limit is carried along."""
    cloth = weft.sheet(8, 8, fabric=LIMITED)
    keys = [weft.Keyframe(0.0), weft.Keyframe(0.3, (1.5, 0, 0))]
    pins = [weft.Pin(cloth.border("left"), path=weft.Path(keys, hold=True))]
    scene = weft.Scene(cloth, pins, step=0.02, adaptive=weft.AdaptiveSettings())
    limit = limit_of(scene)
    for state, _, _ in advance(scene, 25):
        assert (limit.measure_strain(state.x).max(0) < MOST).all()


@pytest.mark.parametrize("integrator", ["bdf2_semi_implicit", "baraff_witkin_1998"])
def test_one_linear_solve_refuses_limits(integrator):
    with refused(SceneError, "energy strain limit", expected="backward_euler"):
        hung(integrator)


@pytest.mark.parametrize("size", [0.05, 0.4])
def test_how_far_a_step_may_go(size, rng, device):
    """Nine tenths of the way to the first limit, looked for in NumPy."""
    mesh = grid(5, 4, 1.0, 0.8, "random", seed=1)
    x, d = np.array(mesh.vertices) * 0.98, size * rng.normal(size=mesh.vertices.shape)
    energy = StrainLimits(linear_triangle(mesh), StrainLimit((1.1, 1.2), 0.5, (50.0, 60.0, 7.0)))
    bound = energy.bind(BlockPattern.of(len(x), [energy.stencil]))
    step = bound.max_step(kernel.array(x, vec3), kernel.array(d, vec3))
    least = step / PART
    limits = np.array([1.1, 1.2, np.sin(0.5)])
    for t, inside in ((0.0, True), (least * (1 - 1e-9), True), (least / 0.85, False)):
        assert (energy.measure_strain(x + t * d) < limits).all() == inside
    assert np.isfinite(energy.value(x + step * d)).all()


def test_settled_looks_at_limits():
    """A direction that is short beside the cloth, but long beside what is left to a limit."""
    mesh = grid(4, 4, 1.0, 1.0)
    energy = StrainLimits(linear_triangle(mesh), StrainLimit((1.1, None)))
    bound = energy.bind(BlockPattern.of(16, [energy.stencil]))
    x = np.array(mesh.vertices) * [1.0999, 1, 1]
    d = 1e-4 * np.array(mesh.vertices) * [1, 0, 0]
    for length, small in ((1.0, False), (1e-2, True)):
        asked = kernel.array(x, vec3), kernel.array(length * d, vec3)
        assert bound.is_settled(*asked) == small


def test_a_start_beyond_a_limit_is_refused():
    cloth = weft.sheet(4, 4, fabric=LIMITED)
    stretched = cloth.with_points(np.array(cloth.points) * [1.12, 1, 1])
    with refused(SceneError, "start of the cloth", got="1.12", expected="strain limit"):
        prepare(weft.Scene(stretched))


def test_pins_that_pull_past_a_limit_are_told_so():
    """A step without room names the limit and the place."""
    cloth = weft.sheet(8, 8, fabric=LIMITED)
    low, high = cloth.border("bottom"), cloth.border("top")
    way = cloth.vertices[high].mean(0) - cloth.vertices[low].mean(0)
    path = weft.Path([weft.Keyframe(0.0), weft.Keyframe(0.1, tuple(way))])
    pins = [weft.Pin(low), weft.Pin(high, path=path)]
    scene = weft.Scene(cloth, pins, step=0.1)
    ready = prepare(scene)
    model, stepper, state = ready.model, ready.stepper, ready.state
    report = stepper.step(model, state, stepper.init(model, state), 0.1)[-1]
    assert report.outcome is Outcome.BLOCKED
    assert "strain limit would be exceeded at (" in report.failure


BAD = {
    ("limit_warp", "0.05"): {"limit": "4 %", "rest_stretch": 1.05},
    ("limit_shear", "0.3"): {"limit_shear": 0.3},
    ("limit_shear", "'95 deg'"): {"limit_shear": "95 deg"},
}


@pytest.mark.parametrize("said", BAD)
def test_errors(said):
    with refused(weft.WeftError, said):
        weft.Fabric.of({"preset": "cotton", **BAD[said]})
