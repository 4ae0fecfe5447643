"""``examples/essence.py`` and weft have the same energies and take the same steps."""

import runpy
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import weft
from weft.contact.exact.intersections import intersections
from weft.scene.prepare import prepare

essence = SimpleNamespace(
    **runpy.run_path(str(Path(__file__).parents[1] / "examples" / "essence.py"))
)
N, SIDE, PIN, GAP, STEP = 9, 0.3, [30], 8e-3, 0.02
ALONE = 1e-9  # [m] gap at which nothing of a hanging sheet touches
FABRIC = essence.Fabric()


def sheet(gap=GAP):
    """Positions and cloth of the small sheet in NumPy."""
    return essence.sheet(N, N, SIDE, SIDE, pinned=PIN, gap=gap, fabric=FABRIC)


class Weft:
    """The same sheet in weft, one step after another."""

    def __init__(self, tolerance, contact):
        fields = {
            "density": f"{FABRIC.density} kg/m^2",
            "stretch": [f"{k} N/m" for k in FABRIC.stretch],
            "shear": f"{FABRIC.shear} N/m",
            "bending": [f"{D} N*m" for D in FABRIC.bending],
        }
        self.scene = weft.Scene(
            weft.sheet(N, N, SIDE, SIDE, fabric=fields),
            pins=[weft.Pin(PIN)],
            damping=0.0,
            step=STEP,
            settings=weft.StepSettings(tolerance=tolerance, max_iterations=1000),
            contact=weft.SelfContact(gap=GAP) if contact else None,
        )
        ready = prepare(self.scene)
        self.model, self.stepper, self.state = ready.model, ready.stepper, ready.state
        self.memory = self.stepper.init(self.model, self.state)

    def step(self):
        done = self.stepper.step(self.model, self.state, self.memory, STEP)
        self.state, self.memory, report = done
        assert report.outcome.ok
        return report

    def potential(self):
        return self.stepper.potential(self.model, self.state, self.memory, STEP)


def folded(rng):
    """Positions (n,3) [m] of the sheet folded in half, two layers at three quarters of the gap: a
    regular mesh on itself has many nearly parallel edges.
    """
    x, cloth = sheet()
    u, v = cloth.uv.T
    upper = u > SIDE / 2
    x = np.stack([np.where(upper, SIDE - u + 3e-3, u), 0.75 * GAP * upper, v], axis=1)
    return x + rng.uniform(-1e-4, 1e-4, x.shape), cloth


def test_energies_and_forces_of_a_folded_sheet(rng):
    """Every term, and the gradient of their sum, is weft's to round-off."""
    x, cloth = folded(rng)
    weft_sheet = Weft(1e-2, contact=True)
    phi, start = weft_sheet.potential(), weft_sheet.state.x
    x[PIN] = start[PIN]
    pairs = essence.candidate_pairs(cloth, x, 0 * x)
    expected = phi.terms(x)
    stencil, contact, _, _ = essence.barrier(cloth, x, pairs)
    is_edge = np.array([tuple(s) in {tuple(p) for p in pairs[0][pairs[1]]} for s in stencil])
    assert is_edge.sum() > 20 and (~is_edge).sum() > 20
    assert contact.sum() == pytest.approx(expected["contact"], rel=1e-10)
    assert essence.membrane(cloth, x)[1].sum() == pytest.approx(expected["membrane"], rel=1e-12)
    assert essence.bending(cloth, x)[1].sum() == pytest.approx(expected["bending"], rel=1e-12)
    value, gradient, _ = essence.potential(cloth, x, start, STEP, pairs)
    assert value == pytest.approx(phi.value(x), rel=1e-12)
    gradient, forces = gradient.reshape(-1, 3)[~cloth.pinned], phi.gradient(x)[~cloth.pinned]
    np.testing.assert_allclose(gradient, forces, rtol=0, atol=1e-10 * np.abs(forces).max())


def test_hessians(rng):
    """The membrane's Hessian is weft's projected one, and no term's has a negative
    eigenvalue.
    """
    x, cloth = folded(rng)
    x += rng.uniform(-3e-3, 3e-3, x.shape)  # compressed and sheared
    pairs = essence.candidate_pairs(cloth, x, 0 * x)
    for energy, of in ((essence.membrane, ()), (essence.bending, ()), (essence.barrier, (pairs,))):
        hessian = energy(cloth, x, *of)[3]
        assert np.linalg.eigvalsh(hessian).min() > -1e-9 * np.abs(hessian).max()
    other = Weft(1e-2, contact=False)
    phi, x[PIN] = other.potential(), other.state.x[PIN]
    expected = phi.hessian(x, weft.Psd.PROJECTED)
    _, _, found = essence.potential(cloth, x, x, STEP, (pairs[0][:0], pairs[1][:0]))
    free = np.repeat(~cloth.pinned, 3)
    apart = abs(found[free][:, free] - expected[free][:, free]).max()
    assert apart < 1e-12 * abs(expected).max()


@pytest.mark.parametrize("contact", [False, pytest.param(True, marks=pytest.mark.campaign)])
def test_steps_are_those_of_weft(contact):
    """Without contact positions agree to 1e-8 m: both solve steps to increments of 2e-10 m. With
    contact both have the same folds, and nothing intersects.

    The tolerance of folds is 1e-6 m, because round-off of other machines is amplified where the
    sheet buckles. It cannot hold for every scene: where a sheet buckles under contact a step has
    several minima, and descents that differ (weft truncates directions) may end in different ones.
    Both have the same stiffness of contact as long as weft does not raise it (``stiffness``).
    """
    tolerance, near, n = (1e-7, 1e-6, 12) if contact else (1e-8, 1e-8, 6)
    (x, cloth), other = sheet(GAP if contact else ALONE), Weft(tolerance, contact)
    expected = other.scene.cloth
    assert np.array_equal(x, expected.vertices) and np.array_equal(cloth.faces, expected.faces)
    np.testing.assert_allclose(cloth.mass, expected.mass, rtol=1e-14)
    v, touched = np.zeros_like(x), 0
    for _ in range(n):
        x, v = essence.step(cloth, x, v, STEP, tolerance)
        report = other.step()
        assert np.abs(x - other.state.x).max() < near
        if contact:
            touched = max(touched, report.contact["count"])
            assert np.array_equal(other.memory["stiffness"], [1.0, 1.0])
            for positions in (x, other.state.x):
                assert len(intersections(positions, cloth.faces)) == 0
    assert x[:, 1].min() < -0.05 and (touched > 30 or not contact)
