"""PyTorch and JAX, where they are installed: gradients of weft inside theirs."""

import importlib.util

import numpy as np
import pytest
from scipy.optimize import minimize

import weft
from tests.adjoint.cases import hung
from tests.refusals import refused
from weft.adjoint import Flat, Mean, jax_function, torch_function
from weft.adjoint.adjoint import AdjointReport, Derivative
from weft.base.errors import SceneError, SimulationError


@pytest.fixture
def flat():
    return Flat(weft.Adjoint(hung(), Mean(), ["fabric.shear", "gravity"], frames=1, fps=100))


@pytest.mark.parametrize("make, name", [(torch_function, "torch"), (jax_function, "jax")])
def test_what_is_not_installed_is_named(make, name, flat):
    if importlib.util.find_spec(name) is not None:
        pytest.skip(f"{name} is installed")
    with refused(SceneError, f"adapter for {name}", hint=f"weft[{name}]"):
        make(flat)


def test_torch(flat):
    """Through layers before and after, in double and single precision."""
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


def test_second_derivatives_of_torch_are_refused(flat):
    """Also where the factor in front of the gradient is a number: they were zero in silence."""
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    f, q = torch_function(flat), torch.tensor(flat.start, requires_grad=True)
    for power in (1, 2):
        (slope,) = torch.autograd.grad(f(q) ** power, q, create_graph=True)
        with refused(SceneError, "second derivative of a run"):
            (f(q) + (slope**2).sum()).backward()
    with refused(SceneError, "second derivative of a run"):
        torch.func.grad(lambda p: torch.func.grad(f)(p).sum())(q.detach())


def test_torch_func(flat):
    """grad, jacrev and vmap, in every order."""
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    f, q = torch_function(flat), torch.tensor(flat.start)
    two = torch.stack([q, 1.1 * q])
    values, gradients = zip(*(flat(row.numpy()) for row in two))
    grad, vmap = torch.func.grad, torch.func.vmap
    np.testing.assert_allclose(grad(f)(q), gradients[0], rtol=1e-12)
    np.testing.assert_allclose(torch.func.jacrev(f)(q), gradients[0], rtol=1e-12)
    np.testing.assert_allclose(vmap(f)(two), values, rtol=1e-12)
    np.testing.assert_allclose(vmap(grad(f))(two), gradients, rtol=1e-12)
    np.testing.assert_allclose(grad(lambda t: vmap(f)(t).sum())(two), gradients, rtol=1e-12)


def test_torch_without_gradients_takes_no_run_back(flat, monkeypatch):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    value, _ = flat(flat.start)
    monkeypatch.setattr(weft.Adjoint, "__call__", lambda _: pytest.fail("a run was taken back"))
    f, q = torch_function(flat), torch.tensor(flat.start, requires_grad=True)
    with torch.no_grad():
        assert f(q).item() == pytest.approx(value, rel=1e-12)
        assert torch.func.vmap(f)(q[None]).tolist() == pytest.approx([value], rel=1e-12)


class Steep(weft.Adjoint):
    """An Adjoint whose runs do not end beyond x = 1: (x - 3)^2."""

    parameters = ("x",)

    def __init__(self, x=0.0):
        self.x = x

    def parameter(self, name):
        return weft.Parameter(name, np.array([self.x]), lambda scene, value: scene, scale=1.0)

    def with_values(self, values):
        return Steep(float(values["x"][0]))

    def value(self):
        if self.x > 1:
            raise SimulationError("step 3 at t = 0.1 s", got="BLOCKED")
        return (self.x - 3) ** 2

    def __call__(self):
        return Derivative(self.value(), {"x": np.array([2 * (self.x - 3)])}, AdjointReport())


def test_an_optimizer_goes_on_after_a_run_that_is_blocked():
    """Where a penalty is asked for: it turns back and ends at the border, with a note of each."""
    bold = {"jac": True, "method": "L-BFGS-B"}
    with refused(SimulationError, "step 3", got="BLOCKED"):
        minimize(Flat(Steep()), np.zeros(1), **bold)
    flat = Flat(Steep(), penalty=100.0)
    found = minimize(flat, np.zeros(1), **bold)
    assert 0.5 < found.x[0] <= 1 and found.fun < 6.5 and flat.notes
    assert "BLOCKED" in flat.notes[0] and "100" in flat.notes[0]
    value, slope = flat(np.array([2.0]))
    assert value == flat.value(np.array([2.0])) == 100 and slope[0] > 0
    with pytest.raises(SimulationError):  # nothing to turn back to
        Flat(Steep(), penalty=100.0)(np.array([2.0]))
    with refused(SceneError, "penalty"):
        Flat(Steep(), penalty=float("nan"))


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
