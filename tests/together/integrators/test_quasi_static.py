"""Equilibria: closed forms, what converged means, buckling by a seeded imperfection, load steps."""

from itertools import pairwise

import numpy as np
import pytest

import weft
from tests.refusals import refused
from tests.stepping import steps
from weft.base.errors import SceneError
from weft.integrators.quasi_static import QuasiStatic, QuasiStaticSettings
from weft.laws import Psd
from weft.plugins.lab.validate.strip import rest
from weft.scene.law import LAWS, law_of_fabric
from weft.scene.prepare import prepare
from weft.solve.linear.solver import Outcome

pytestmark = pytest.mark.quick

TIGHT = {"tolerance": 1e-9, "force_tolerance": 1e-8}


def scene(n=12, fabric="freecloth", tilt=90, pins="top", **changes):
    cloth = weft.sheet(n, n, fabric=fabric).move((0, 0, 0), (tilt, 0, 0))
    held = [weft.Pin(cloth.mesh.groups[pins])] if pins else []
    return weft.Scene(cloth, held, integrator="quasi_static", **changes)


@pytest.mark.parametrize("linear", ["splu", "multigrid"])
def test_hanging_sheet(linear):
    """rho g L^2/(2 k) of a sheet that hangs by its top edge; force and increment both small."""
    s = scene()
    found = QuasiStatic(QuasiStaticSettings(linear=linear, **TIGHT)).solve(
        prepare(s).model, s.cloth.vertices
    )
    assert found.outcome is Outcome.CONVERGED
    bottom = s.cloth.mesh.groups["bottom"]
    sag = (s.cloth.vertices[bottom, 1] - found.x[bottom, 1]).mean()
    assert sag == pytest.approx(0.1 * 9.81 / (2 * 5000), rel=1e-4)


def perturbed(quasi, s):
    """What a solver finds from the start of a scene, a little perturbed."""
    model = prepare(s).model
    return quasi.solve(model, quasi.perturb(model, s.cloth.vertices))


def test_is_the_minimum_that_proximal_steps_find():
    """Against the certificate's own search, on a folded strip."""
    s = scene(8, "linen", 60, damping=0.0)
    s = s.with_(pins=[weft.Pin(s.cloth.corners("top"))])
    found = perturbed(QuasiStatic(QuasiStaticSettings(**{**TIGHT, "max_iterations": 3000})), s)
    assert found.outcome.ok
    again = rest(prepare(s).model, found.x, tolerance=1e-9).start
    np.testing.assert_allclose(again, found.x, atol=1e-5)


def test_energy_never_grows():
    s = scene(10, "linen", 40)
    found = perturbed(QuasiStatic(), s)
    energies = [i.energy for i in found.history]
    assert all(b <= a + 1e-12 * abs(a) for a, b in pairwise(energies))
    assert all(0 < i.step <= 1 and i.mu > 0 for i in found.history)


def clamped(imperfection, seed=0):
    """A sheet that wants to be 5 % larger than its clamped border."""
    fabric = {"preset": "freecloth", "rest_stretch_warp": 1.05, "rest_stretch_weft": 1.05}
    cloth = weft.sheet(9, 9, fabric=fabric, pattern="alternating")
    border = np.unique(
        np.concatenate([cloth.border(b) for b in ("top", "bottom", "left", "right")])
    )
    s = weft.Scene(cloth, [weft.Pin(border)], gravity=(0, 0, 0), integrator="quasi_static")
    return perturbed(QuasiStatic(QuasiStaticSettings(imperfection=imperfection, seed=seed)), s)


def test_flat_cloth_buckles_with_an_imperfection_and_stays_flat_without():
    assert np.ptp(clamped(0.0).x[:, 1]) == 0.0
    bumped = clamped(1e-3)
    assert bumped.outcome.ok and np.ptp(bumped.x[:, 1]) > 0.03
    np.testing.assert_array_equal(bumped.x, clamped(1e-3).x)
    assert np.abs(bumped.x - clamped(1e-3, seed=1).x).max() > 1e-3


def test_outcome_is_honest():
    s = scene(10, "linen", 40)
    found = perturbed(QuasiStatic(QuasiStaticSettings(max_iterations=3)), s)
    assert found.outcome is Outcome.MAX_ITERATIONS and len(found.history) == 3
    exact = QuasiStatic(QuasiStaticSettings(psd=Psd.EXACT, linear="splu"))
    squeezed = s.cloth.vertices * [0.3, 0.3, 1.0]
    settled = exact.solve(prepare(s).model, squeezed)  # indefinite at first: the safeguard grows
    assert settled.outcome.ok and max(i.mu for i in settled.history) > 1.0
    force = np.abs(settled.phi.gradient(settled.x)).max()
    assert force <= 1e-3 * np.abs(settled.phi.reaction(settled.x)).max()


def test_steps_follow_the_pins_in_parts():
    """A pulled edge: parts of a step end where the whole does, at rest."""
    base = scene(8, pins=None)
    mesh = base.cloth.mesh
    path = weft.Path([weft.Keyframe(0.0), weft.Keyframe(1.0, (0.2, 0.0, 0.0))], "linear")
    pins = [weft.Pin(mesh.groups["left"]), weft.Pin(mesh.groups["right"], path=path)]
    ends = []
    for parts in (1, 4):
        settings = QuasiStaticSettings(load_steps=parts, **TIGHT)
        s = base.with_(pins=pins, settings=settings, gravity=(0, 0, 0))
        ((state, *_),) = steps(s, 1, 1.0)
        assert not state.v.any() and state.t == 1.0
        ends.append(state.x)
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-6)
    right = mesh.groups["right"]
    np.testing.assert_allclose(ends[0][right, 0], mesh.vertices[right, 0] + 0.2, atol=1e-12)


@pytest.mark.parametrize("name", LAWS)
def test_every_law_settles(name):
    """Each law of a scene finds an equilibrium of a sheet at two corners."""
    s = scene(8, "linen", 50)
    s = s.with_(pins=[weft.Pin(s.cloth.corners("top"))])
    found = perturbed(QuasiStatic(), s.with_(law=law_of_fabric(s.cloth.fabric, name)))
    assert found.outcome.ok, found.outcome
    assert found.x[:, 1].min() < -0.5


def test_refused():
    with refused(SceneError, "tolerance"):
        QuasiStaticSettings(tolerance=0.0)
    with refused(SceneError, "scene.law"):
        scene(law=weft.laws.Arap(1.0)).with_(integrator="baraff_witkin_1998")
