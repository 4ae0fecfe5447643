"""PyTorch and JAX, where they are installed: gradients of weft inside theirs."""

import importlib.util

import numpy as np
import pytest

import weft
from tests.adjoint.cases import hung
from weft.adjoint import Flat, Mean, jax_function, torch_function
from weft.errors import SceneError


@pytest.fixture
def flat():
    return Flat(weft.Adjoint(hung(), Mean(), ["fabric.shear", "gravity"], frames=1, fps=100))


@pytest.mark.parametrize("make, name", [(torch_function, "torch"), (jax_function, "jax")])
def test_what_is_not_installed_is_named(make, name, flat):
    if importlib.util.find_spec(name) is not None:
        pytest.skip(f"{name} is installed")
    with pytest.raises(SceneError, match=rf"pip install 'weft\[{name}\]'"):
        make(flat)


def test_torch(flat):
    """Through layers before and after, in double and single precision; twice is refused."""
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    f, (value, gradient) = torch_function(flat), flat(flat.start)
    for kind, rtol in ((torch.float64, 1e-12), (torch.float32, 1e-5)):
        half = torch.tensor(flat.start / 2, dtype=kind, requires_grad=True)
        out = f(2 * half) ** 2
        out.backward()
        assert out.dtype == kind and out.item() == pytest.approx(value**2, rel=rtol)
        np.testing.assert_allclose(half.grad.numpy(), 4 * value * gradient, rtol=rtol)
    q = torch.tensor(flat.start, requires_grad=True)
    assert torch.autograd.gradcheck(f, (q,), eps=1e-4, atol=0, rtol=1e-5)
    with torch.no_grad():
        assert not f(q).requires_grad
    (slope,) = torch.autograd.grad(f(q) ** 2, q, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        slope.sum().backward()


def test_jax(flat):
    """Under grad, jit and vmap; with 64 bits, to the last digits."""
    jax = pytest.importorskip("jax", reason="JAX is not installed")
    value, gradient = flat(flat.start)
    before = jax.config.jax_enable_x64
    try:
        for wide, rtol in ((False, 1e-5), (True, 1e-12)):
            jax.config.update("jax_enable_x64", wide)
            f, start = jax_function(flat), jax.numpy.asarray(flat.start)
            found = jax.value_and_grad(lambda q, f=f: f(2 * q) ** 2)(start / 2)
            assert float(found[0]) == pytest.approx(value**2, rel=rtol)
            np.testing.assert_allclose(found[1], 4 * value * gradient, rtol=rtol)
            np.testing.assert_allclose(jax.jit(jax.grad(f))(start), gradient, rtol=rtol)
            two = jax.vmap(jax.grad(f))(jax.numpy.stack([start, start]))
            np.testing.assert_allclose(two, [gradient, gradient], rtol=rtol)
    finally:
        jax.config.update("jax_enable_x64", before)
