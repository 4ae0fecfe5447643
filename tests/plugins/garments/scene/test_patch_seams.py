"""How seams of spline patches fold, and energies of vertices on control points."""

import dataclasses

import numpy as np
import pytest

from tests.engine.energies.builders import MESH, crumple, two_patches
from tests.plugins.garments.builders import folded, garment_of, outfit_of
from weft import kernel
from weft.discretization.bspline import rectangle
from weft.discretization.spline_surface import SharedSide as Joined
from weft.discretization.spline_surface import SplineSurface
from weft.energies.elastic.hinge_bending import HingeBending
from weft.energies.elastic.quadratic_form import QuadraticForm
from weft.energies.embedded import EmbeddedEnergy
from weft.energies.seams.sewing import Sewing
from weft.energies.state import State
from weft.fabric.fabric import fabric
from weft.integrators.model import Model
from weft.kernel import vec3
from weft.plugins.garments.patterns.spline_panels import FEWEST, fit_patches
from weft.solve.newton.psd import Psd
from weft.solve.sparse.block_csr import BlockCsr, BlockPattern

TWO = """
fabric: cotton
panels:
  left: {outline: [[-10 cm, 0], {at: [0, 0], edge: in}, [0, 20 cm], [-10 cm, 20 cm]]}
  right:
    outline: [[0, 0], [10 cm, 0], [10 cm, 20 cm], {at: [0, 20 cm], edge: in}]
seams:
  middle: {join: [left.in, right.in], flip: trueMORE}
"""
RIGIDITY = 1e-4


def sewn(more="", triangles=False):
    """Two panels of 10 x 20 cm in one plane, and what folds across their seam."""
    garment = garment_of(TWO.replace("MORE", more), 0.02, fewest=FEWEST)
    stiff = dataclasses.replace(fabric("cotton"), bending_warp=RIGIDITY, bending_weft=RIGIDITY)
    outfit = outfit_of(garment if triangles else fit_patches(garment, 0.03), stiff)
    (fold,) = [e for e in outfit.energies(Sewing()) if e.name == "seams"]
    return outfit.cloth, fold


def test_a_seam_of_patches_keeps_its_angle_with_its_stiffness():
    """1/2 kappa L (theta - angle)^2; a positive angle is a mountain on the right side."""
    cloth, fold = sewn(", angle: 60 deg, fold_stiffness: 0.03")
    assert len(fold.stencil) == 10
    for degrees in (-40, 0, 30, 60, 95):
        value = fold.value(folded(cloth.points, np.radians(degrees))).sum()
        expected = 0.5 * 0.03 * 0.2 * np.radians(degrees - 60) ** 2
        np.testing.assert_allclose(value, expected, rtol=1e-4, atol=1e-9)


def rolled(x, radius):
    """Points of the plane z = 0 on a cylinder around the y axis."""
    a = x[:, 0] / radius
    return np.stack([radius * np.sin(a), x[:, 1], radius * (np.cos(a) - 1)], axis=1)


def test_a_smooth_bend_across_a_seam_costs_nothing():
    """Tangents agree on a cylinder, so the bending of patches is not counted twice; hinges of
    triangles have their share of it.
    """
    R, area = 0.08, 0.04
    bending = 0.5 * RIGIDITY / R**2 * area
    cloth, fold = sewn()
    W = cloth.embedding.matrix.toarray()
    around = np.linalg.lstsq(W, rolled(np.array(cloth.vertices), R), rcond=None)[0]
    assert fold.value(around).sum() < 5e-3 * bending
    cloth, fold = sewn(triangles=True)
    assert fold.value(rolled(np.array(cloth.points), R)).sum() > 0.05 * bending


def test_a_kink_costs_what_it_costs_between_joined_patches():
    """As the penalty of two patches that share their sides, of the same spans, for small angles."""
    cloth, fold = sewn()
    shapes = [s.patches[0].shape for _, s in cloth.pieces]
    assert shapes[0] == shapes[1]
    n1, n2 = shapes[0]  # the warp, along y, is u
    one = rectangle(n1, n2, 0.2, 0.1)
    joint = Joined((0, "bottom"), (1, "top"), smooth=True)
    both = SplineSurface.of([one, one], [joint])
    (jump,) = both.seams(RIGIDITY, RIGIDITY)
    form = QuadraticForm(jump.stencil, jump.coefficient, jump.weight)
    x = np.zeros((both.n_points, 3))
    for ids, shift in zip(both.ids, (0.0, -0.1)):
        x[ids.reshape(-1), 1] = one.rest[..., 0].reshape(-1)
        x[ids.reshape(-1), 0] = one.rest[..., 1].reshape(-1) + shift
    expected = form.value(folded(x, 0.01)).sum()
    assert expected > 1e-9
    np.testing.assert_allclose(fold.value(folded(cloth.points, 0.01)).sum(), expected, rtol=1e-3)


def test_damping_and_conditions_are_those_of_the_vertices():
    """In a step: values with damping as they are, Hessians of conditions W^T H W."""
    _, shown, _ = two_patches(MESH)
    W = shown.embedding.matrix.toarray()
    n = W.shape[1]
    source = HingeBending.of(shown.mesh(MESH.vertices, "patches"), (2e-2, 1e-2), damping=0.05)
    energy = EmbeddedEnergy(source, shown.embedding)
    x, v = crumple(MESH.vertices, 1), crumple(np.zeros((n, 3)), 2)
    start, found = crumple(MESH.vertices, 7), []
    for e, A in ((energy, np.eye(n)), (source, W)):
        before = State(A @ start, A @ v, 0.0)
        step = Model(np.ones(len(A)), []).step(before, 0.01, rate=(before.x, 0.01))
        pattern, here = BlockPattern.of(len(A), [e.stencil]), kernel.array(A @ x, vec3)
        bound, H = e.bind(pattern), BlockCsr.zeros(pattern)
        bound.freeze(step)
        bound.add_condition_hessian(here, step, 0.02, Psd.PROJECTED, H)
        found.append((dict(bound.terms(here)), H.to_scipy().toarray()))
    (terms, H), (of_vertices, inner) = found
    assert terms == pytest.approx(of_vertices, rel=1e-12)
    y_of = np.kron(W, np.eye(3))
    np.testing.assert_allclose(H, y_of.T @ inner @ y_of, atol=1e-9)
