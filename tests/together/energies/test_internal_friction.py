"""Internal friction: on every integrator, with other memories, what resumes, what is refused."""

from functools import partial
from itertools import pairwise

import numpy as np
import pytest

import weft
from tests.checks import InStep, still
from tests.engine.adjoint.cases import compared, hung
from tests.plugins.robots.batch.scenes import alone
from tests.refusals import refused
from tests.resuming import whole_and_resumed
from tests.stepping import steps as advance
from weft import kernel
from weft.base.errors import FabricError, SceneError
from weft.discretization.linear_triangle import linear_triangle
from weft.discretization.mesh import grid
from weft.energies.elastic.hinge_bending import dihedral_angles
from weft.energies.elastic.internal_friction import HingeFriction, ShearFriction
from weft.fabric.fabric import fabric as as_fabric
from weft.laws import DotShear
from weft.plugins.lab.validate.creases import HingedPair
from weft.scene.prepare import prepare

pytestmark = pytest.mark.quick

BENT = {"preset": "cotton", "bending_hysteresis": "0.2 gf*cm/cm"}
SHEARED = {"shear": "2 N/m", "shear_hysteresis": "0.02 gf/cm", "shear_slip": "0.05 deg"}
RUBS = BENT | SHEARED
INTEGRATORS = ["backward_euler", "bdf2", "bdf2_semi_implicit", "quasi_static"]


def hanging(fabric=RUBS, **changes):
    """A sheet that is clamped at one side and sags."""
    cloth = weft.sheet(9, 5, 0.06, 0.03, fabric=fabric)
    clamp = np.flatnonzero(cloth.vertices[:, 0] < cloth.vertices[:, 0].min() + 0.01)
    how = {"damping": 0.2, "step": 0.01, "gravity": (0.0, -9.81, 3.0)}
    return weft.Scene(cloth, [weft.Pin(clamp)], **{**how, **changes})


def run(scene, steps, dt=0.01):
    *_, (state, memory, _) = advance(scene, steps, dt)
    return state, memory


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_it_holds_cloth_up(integrator):
    """Cloth that rubs in itself sags less, and what sliders kept is within the slip."""
    scene = hanging(integrator=integrator)
    steps = 2 if integrator == "quasi_static" else 60
    state, memory = run(scene, steps)
    plain, none = run(hanging({"preset": "cotton", "shear": "2 N/m"}, integrator=integrator), steps)
    assert state.x[:, 1].min() > plain.x[:, 1].min() + 3e-3
    assert not any("slider" in name for name in none)
    (energy,) = (e for e in prepare(scene).model.energies if e.name == "bending friction")
    held = dihedral_angles(state.x, energy.hinges) - memory["bending friction.slider"]
    assert (np.abs(held) <= energy.slip * (1 + 1e-12)).all()
    assert np.abs(memory["bending friction.slider"]).max() > 0.05
    assert np.abs(memory["shear friction.slider"]).max() > 1e-4


def test_nothing_drifts_under_a_held_load():
    """At rest, equilibrium after equilibrium is the same, and sliders do not creep."""
    (one, before, _), *_, (ten, after, _) = advance(hanging(integrator="quasi_static"), 10)
    assert np.abs(ten.x - one.x).max() < 1e-6
    name = "bending friction.slider"
    assert np.abs(after[name] - before[name]).max() < 1e-5


def test_the_path_does_not_depend_on_the_rate():
    """Turned there in one step or in nine, of any length, a hinge has the same moment."""
    make = partial(HingeFriction.from_hysteresis, hysteresis=(1e-3, 2e-3))
    way, moments = [0.0, 1.4, -0.9, -0.7, 0.3, -1.3], []
    for parts, dt in ((1, 10.0), (9, 1e-3)):
        pair = HingedPair(make)
        moments.append([])
        for a, b in pairwise(way):
            for theta in np.linspace(a, b, parts + 1)[1:]:
                pair.turn(float(theta), dt)
            moments[-1].append(pair.moment())
    np.testing.assert_allclose(*moments, rtol=1e-10)


def test_sliders_follow_a_large_shear():
    """Shear is the dot product of the fibers, which has no period, as angles have."""
    mesh, slip = grid(3, 3, 1.0, 1.0), 0.05
    energy = ShearFriction(linear_triangle(mesh), DotShear(1.0, slip))
    rest = np.array(mesh.vertices)
    sheared = rest + 0.7 * rest[:, 2:] * [1, 0, 0]
    bound = InStep(energy, len(rest), still(rest, dt=0.01)).bound
    (places,) = bound.remember(kernel.points(sheared)).values()
    np.testing.assert_allclose(np.abs(places), 0.7 - slip, atol=1e-12)


@pytest.mark.parametrize("adaptive", [False, True])
def test_resume_is_bitwise(tmp_path, adaptive):
    steps = weft.AdaptiveSettings() if adaptive else None
    scene = hanging({**RUBS, "crease_yield": "15 1/m", "yield": "0.5 %"}, adaptive=steps)
    whole = whole_and_resumed(scene, tmp_path)
    assert np.abs(whole.folder.frame(4)["memory.bending friction.slider"]).max() > 0.01


def swinging(integrator):
    """A sheet that is held by two corners and rubs as it turns."""
    rests = integrator == "quasi_static"
    bending, shear = ("0.3 1/m", "0.02 deg") if rests else ("1 1/m", "0.1 deg")
    slips = {"bending_slip": bending, "shear_slip": shear}
    rubs = {"bending_hysteresis": "0.01 gf*cm/cm", "shear_hysteresis": "0.05 gf/cm", **slips}
    scene = hung(integrator, bend=0.02, damping=0.02)
    return scene.with_(cloth=scene.cloth.with_fabrics([as_fabric({"preset": "cotton", **rubs})]))


NUMBERS = ["bending_hysteresis_warp", "shear_hysteresis"]


@pytest.mark.parametrize("integrator", ["backward_euler", "bdf2", "quasi_static"])
def test_derivatives_are_exact(integrator):
    """By numbers of the friction and by the start, over steps in which sliders move."""
    scene = swinging(integrator)
    for name, h in [*((f"fabric.{n}", 1e-3) for n in NUMBERS), ("positions", 1e-5)]:
        got, expected, _ = compared(scene, [name], frames=3, h=h)
        assert got == pytest.approx(expected, rel=1e-4), name
    _, memory = run(scene, 3)
    assert 0 < (memory["bending friction.slider"] != 0).mean() < 1
    assert (memory["shear friction.slider"] != 0).any()


def test_rest_shapes_are_refused():
    with refused(SceneError, "parameter rest", got="friction"):
        compared(swinging("backward_euler"), ["rest"], frames=1)


def test_a_batch_has_the_bits_of_single_runs():
    scenes = [hanging(fabric) for fabric in (RUBS, {**RUBS, "bending": "0.05 gf*cm^2/cm"})]
    for scene, frames in zip(scenes, weft.batch(scenes, fps=50).run(frames=3), strict=True):
        np.testing.assert_array_equal(frames, alone(scene, 3))


@pytest.mark.parametrize("bending", ["quadratic", "pairs"])
def test_other_bending_has_it(bending):
    _, memory = run(hanging(bending=bending, integrator="quasi_static"), 1)
    assert np.abs(memory["bending friction.slider"]).max() > 0.05


def test_numbers_are_those_of_kawabata():
    """2HB in gf cm/cm, 2HG in gf/cm; both directions in one word, or each its own."""
    found = as_fabric({**RUBS, "bending_hysteresis": ["0.1 gf*cm/cm", "0.2 gf*cm/cm"]})
    assert found.bending_hysteresis_warp == pytest.approx(0.1 * 9.80665e-3)
    assert found.bending_hysteresis_weft == pytest.approx(0.2 * 9.80665e-3)
    assert found.shear_hysteresis == pytest.approx(0.02 * 0.980665)


BAD = {
    "fabric.bending_hysteresis_warp": {"bending_hysteresis": "-1 N"},
    "fabric.bending_slip": {"bending_slip": "10 1/m"},
    "fabric.shear_slip": {"shear_hysteresis": "1 N/m", "shear_slip": "0 deg"},
}


@pytest.mark.parametrize("field", BAD)
def test_bad_numbers(field):
    with refused(FabricError, field):
        as_fabric({"preset": "cotton", **BAD[field]})


@pytest.mark.parametrize(
    "message, cloth, more",
    [
        ("bending_hysteresis", weft.spline_sheet(6, 5, 0.1, 0.1, fabric=BENT), {}),
        (
            ("fabric custom", "internal friction"),
            weft.sheet(4, 4, fabric=RUBS),
            {"integrator": "baraff_witkin_1998"},
        ),
    ],
)
def test_refused_by_name(message, cloth, more):
    with refused(SceneError, message):
        prepare(weft.Scene(cloth, **more))


def test_splines_have_friction_in_shear():
    cloth = weft.spline_sheet(6, 5, 0.1, 0.1, fabric={"preset": "cotton", **SHEARED})
    scene = weft.Scene(cloth, [weft.Pin(cloth.corners("top"))], step=0.01)
    _, memory = run(scene, 8)
    assert (memory["shear friction.slider"] != 0).any()
