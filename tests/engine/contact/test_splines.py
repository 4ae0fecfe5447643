"""Contact of splines, through the triangles between their samples."""

import dataclasses

import numpy as np
import pytest
import scipy.sparse as sp

import weft
from tests.checks import touching
from tests.engine.contact.test_contact import check_directions
from weft import kernel
from weft.kernel import vec3
from weft.laws import Psd
from weft.scene.prepare import prepare

GAP = 0.03


def near_itself(density=1):
    """A model of a folded sheet whose two halves lie half a gap apart."""
    cloth = weft.spline_sheet(12, 9, 1.0, 0.6, density=density)
    x = np.array(cloth.points)
    s, r = x[:, 0], 0.4 * GAP
    turn = np.clip(s / r, -np.pi / 2, np.pi / 2)
    beyond = s - turn * r
    x[:, 0] = r * np.cos(turn) - np.abs(beyond)
    x[:, 1] = r * np.sin(turn)
    x[:, 1] += 0.002 * np.sin(40 * x[:, 2])
    return prepare(
        weft.Scene(cloth.with_points(x), contact=weft.SelfContact(gap=GAP, friction=0.3))
    ).model


@pytest.fixture(params=[1, 2])
def model(request):
    return near_itself(request.param)


def terms(model):
    """Contact of the points, and of the vertices as if they were points."""
    x = model.start
    vertices = dataclasses.replace(model.contact, embedding=None)
    return touching(model.contact, x), touching(vertices, model.embedding.of(x))


def test_everything_is_pulled_back_through_the_samples(model):
    """Energy as it is, gradient W^T g, Hessian A + W^T H W, against SciPy's products."""
    ours, inner = terms(model)
    x, W = model.start, model.embedding.matrix
    device, vertices = kernel.array(x, vec3), kernel.array(W @ x, vec3)
    assert ours.value(device) == pytest.approx(inner.value(vertices), rel=1e-13) and (
        ours.value(device) > 0
    )
    g, local = kernel.zeros(len(x), vec3), kernel.zeros(W.shape[0], vec3)
    ours.add_gradient(device, g)
    inner.add_gradient(vertices, local)
    expected = W.T @ kernel.numpy(local)
    np.testing.assert_allclose(kernel.numpy(g), expected, atol=1e-12 * np.abs(expected).max())
    A = model.assembly.hessian(device, Psd.PROJECTED)
    before = A.to_scipy().tocsr().copy()
    got = ours.add_hessian(device, Psd.PROJECTED, A).to_scipy().tocsr()
    nothing = ours.workspace.embedding.nothing
    H = inner.add_hessian(vertices, Psd.PROJECTED, nothing).to_scipy().tocsr()
    W3 = sp.kron(W, sp.eye(3), format="csr")
    wanted = before + W3.T @ H @ W3
    assert np.abs(got - wanted).max() < 1e-11 * np.abs(wanted).max()
    assert np.abs(wanted - before).max() > 0


def test_directions_of_a_search_pass_through_nothing(model, rng):
    ours, _ = terms(model)
    x, faces = model.start, model.contact.mesh.faces
    _, held = check_directions(ours, x, 0.1 * rng.normal(size=x.shape), model.embedding.of, faces)
    assert np.linalg.norm(held, axis=1).min() > 1e-3 * np.linalg.norm(held, axis=1).max()
