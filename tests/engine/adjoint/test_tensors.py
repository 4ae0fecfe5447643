"""``weft.torch`` and ``weft.jax``, where PyTorch and JAX are installed."""

import sys
import warnings

import numpy as np
import pytest

import weft
import weft.jax
import weft.torch
from tests.engine.adjoint.cases import hung
from tests.refusals import refused
from weft.adjoint import EnergyLoss, Rollout
from weft.adjoint.host_function import HostFunction
from weft.adjoint.rollout import Trajectory
from weft.base.errors import SceneError

RUN = {"frames": 2, "fps": 100.0}
NAMES = ["gravity", "fabric.shear", "positions"]


@pytest.fixture(scope="module")
def scene():
    return hung()


@pytest.fixture
def torch():
    return pytest.importorskip("torch", reason="PyTorch is not installed")


@pytest.fixture
def jax():
    return pytest.importorskip("jax", reason="JAX is not installed")


def loss_of(x, v):
    """A loss of the positions and velocities of all frames, of NumPy, PyTorch or JAX."""
    return (x**3).sum() + 0.1 * (x[1:] * v[:-1]).sum()


def numpy_loss(x, v, t):
    by_x, by_v = 3 * x**2, np.zeros_like(v)
    by_x[1:] += 0.1 * v[:-1]
    by_v[:-1] = 0.1 * x[1:]
    return float(loss_of(x, v)), by_x, by_v


@pytest.fixture(scope="module")
def known(scene):
    """Values of the parameters, and loss and gradient as ``weft.Adjoint`` has them."""
    adjoint = weft.Adjoint(scene, numpy_loss, NAMES, **RUN)
    found = adjoint()
    return {n: adjoint.parameter(n).value for n in NAMES}, found.value, found.gradient


@pytest.mark.parametrize("name", ["torch", "jax"])
def test_bad_arguments_are_named(name, scene):
    rollout, gravity = getattr(weft, name).rollout, {"gravity": (0.0, -9.81, 0.0)}
    for given, run, what in (
        ({}, RUN, f"parameters of weft.{name}"),
        (gravity, {"frames": 0}, "rollout.frames"),
        (gravity, {**RUN, "processes": 0}, "rollout.processes"),
    ):
        with refused(SceneError, what):
            rollout(scene, given, **run)
    with refused(SceneError, "rollout.scene", got="scene.yaml"):
        rollout("scene.yaml", gravity, **RUN)


@pytest.mark.parametrize("name", ["torch", "jax"])
def test_what_is_not_installed_is_named(name, scene, monkeypatch):
    monkeypatch.setitem(sys.modules, name, None)
    with refused(SceneError, f"weft.{name}", hint=f"weft[{name}]"):
        getattr(weft, name).rollout(scene, {"gravity": (0.0, -9.81, 0.0)}, **RUN)


def test_torch_rollout(torch, scene, known):
    """Through layers before and after; results have the widest type of the values."""
    values, value, gradient = known
    given = {n: torch.tensor(a, dtype=torch.float64, requires_grad=True) for n, a in values.items()}
    x, v = weft.torch.rollout(scene, given, **RUN)
    assert x.shape == v.shape == (3, 16, 3) and x.dtype == torch.float64
    out = loss_of(x, v)
    (2 * out).backward()
    assert out.item() == pytest.approx(value, rel=1e-12)
    for name, tensor in given.items():
        np.testing.assert_allclose(tensor.grad.numpy(), 2 * gradient[name], rtol=1e-9, atol=1e-12)
    half = {n: t.detach().float().requires_grad_() for n, t in given.items()}
    x, v = weft.torch.rollout(scene, half, **RUN)
    loss_of(x, v).backward()
    assert x.dtype == half["positions"].grad.dtype == torch.float32
    assert half["fabric.shear"].grad.item() == pytest.approx(float(gradient["fabric.shear"]), 1e-3)


TWO = np.array([[0.0, -9.81, 0.0], [1.0, -5.0, 0.5]])


@pytest.fixture(scope="module")
def singles(scene):
    """Losses and gradients of two runs with other gravities, and the tangent of a place."""
    found = [
        weft.Adjoint(scene.with_(gravity=tuple(g)), numpy_loss, ["gravity"], **RUN)() for g in TWO
    ]
    tangent, _ = Rollout(scene, ["gravity"], **RUN).tangent("gravity")
    return [a.value for a in found], [a.gradient["gravity"] for a in found], tangent[-1, 15]


def test_torch_func(torch, scene, singles):
    """grad, jacrev and vmap, in every order, against the derivatives of one run after another."""
    q, (values, gradients, tangent) = torch.tensor(TWO), singles

    def f(g):
        return loss_of(*weft.torch.rollout(scene, {"gravity": g}, **RUN))

    grad, jacrev, vmap = torch.func.grad, torch.func.jacrev, torch.func.vmap
    close = {"rtol": 1e-9, "atol": 1e-14}
    np.testing.assert_allclose(vmap(grad(f))(q), gradients, **close)
    np.testing.assert_allclose(grad(lambda t: vmap(f)(t).sum())(q), gradients, **close)
    np.testing.assert_allclose(vmap(f, in_dims=1)(q.T), values, rtol=1e-12)
    np.testing.assert_allclose(vmap(vmap(f))(q[None])[0], values, rtol=1e-12)
    place = jacrev(lambda g: weft.torch.rollout(scene, {"gravity": g}, **RUN)[0][-1, 15])
    np.testing.assert_allclose(place(q[0]), tangent, rtol=1e-6, atol=1e-12)


def test_torch_batches(torch):
    """A value for each scene, one for all, and a parameter of my own that is no tensor."""
    scenes = [hung(), hung(bend=0.02)]
    own = weft.Parameter("drop", 9.81, lambda scene, g: scene.with_(gravity=(0.0, -g, 0.0)))
    shear = torch.tensor([30.0, 40.0], dtype=torch.float64, requires_grad=True)
    speed = torch.zeros(16, 3, dtype=torch.float64, requires_grad=True)

    def gradients(scene, shear):
        given = {"fabric.shear": shear, "velocities": speed, own: 9.0}
        x, _ = weft.torch.rollout(scene, given, **RUN)
        return x, torch.autograd.grad((x**2).sum(), (shear, speed))

    x, (by_shear, by_speed) = gradients(scenes, shear)
    alone = [gradients(scenes[k], shear[k]) for k in (0, 1)]
    for k, (one, (by, _)) in enumerate(alone):
        assert torch.equal(x[k], one) and torch.equal(by_shear[k], by)
    total = sum(by for _, (_, by) in alone)
    np.testing.assert_allclose(by_speed, total, rtol=1e-12)


def test_torch_refuses(torch, scene):
    gravity = torch.tensor([0.0, -9.81, 0.0], dtype=torch.float64, requires_grad=True)

    def f(g):
        return loss_of(*weft.torch.rollout(scene, {"gravity": g}, **RUN))

    (slope,) = torch.autograd.grad(f(gravity), gravity, create_graph=True)
    with refused(SceneError, "second derivative of a run"):
        (slope**2).sum().backward()
    for value, got in ((torch.zeros(2).double(), "(2,)"), (torch.zeros(3).int(), "int32")):
        with refused(SceneError, "parameter gravity", got=got):
            f(value)
    with refused(SceneError, "parameter gravity", got="down"):
        f("down")


def test_losses_of_weft(torch, scene):
    """A loss that knows the model, in PyTorch, with its dependence on the stiffness itself."""
    name = "fabric.bending_warp"
    adjoint = weft.Adjoint(scene, EnergyLoss("bending"), [name], **RUN)
    found, start = adjoint(), float(adjoint.parameter(name).value)
    stiff = torch.tensor([start, start], dtype=torch.float64, requires_grad=True)
    values = weft.torch.loss([adjoint, adjoint], {name: stiff})
    (values * torch.tensor([1.0, 3.0])).sum().backward()
    assert values.tolist() == [found.value, found.value]
    np.testing.assert_allclose(stiff.grad, np.array([1, 3]) * found.gradient[name], rtol=1e-12)


def test_jax(jax, scene, known):
    """Loss and gradients, compiled, with 64 bits to the last digits."""
    values, value, gradient = known
    with jax.enable_x64(True):
        given = {n: jax.numpy.asarray(a, dtype=float) for n, a in values.items()}

        def f(given):
            return loss_of(*weft.jax.rollout(scene, given, **RUN))

        out, slopes = jax.jit(jax.value_and_grad(f))(given)
        assert float(out) == pytest.approx(value, rel=1e-12)
        for name in NAMES:
            size = np.abs(gradient[name]).max()
            np.testing.assert_allclose(slopes[name], gradient[name], rtol=1e-9, atol=1e-9 * size)


def test_jax_batches(jax, scene, singles):
    """vmap over gradients, jacrev, and a list of scenes."""
    values, gradients, tangent = singles
    with jax.enable_x64(True):
        q = jax.numpy.array(TWO)

        def f(g):
            return loss_of(*weft.jax.rollout(scene, {"gravity": g}, **RUN))

        np.testing.assert_allclose(jax.vmap(f)(q), values, rtol=1e-12)
        both = jax.jit(jax.vmap(jax.vmap(jax.grad(f))))(q[None])[0]
        np.testing.assert_allclose(both, gradients, rtol=1e-9, atol=1e-14)
        place = jax.jacrev(lambda g: weft.jax.rollout(scene, {"gravity": g}, **RUN)[0][-1, 15])
        np.testing.assert_allclose(place(q[0]), tangent, rtol=1e-6, atol=1e-12)
        x, _ = weft.jax.rollout([scene, scene], {"gravity": q}, **RUN)
        assert x.shape == (2, 3, 16, 3)


def test_jax_refuses(jax, scene):
    def f(g):
        return loss_of(*weft.jax.rollout(scene, {"gravity": g}, **RUN))

    gravity = jax.numpy.array([0.0, -9.81, 0.0])
    with refused(SceneError, "second derivative of a run"):
        jax.grad(lambda g: jax.grad(f)(g).sum())(gravity)
    with refused(SceneError, "parameter gravity", got="(2,)"):
        f(gravity[:2])
    with pytest.raises(Exception, match="fabric.shear = -1"):  # JAX has a class of its own for it
        weft.jax.rollout(scene, {"fabric.shear": -1.0}, **RUN)[0].block_until_ready()


def doubled(monkeypatch):
    """Let every gradient be twice what it is."""
    right = Trajectory.pull_back

    def wrong(self, *args, **kwargs):
        gradient, notes = right(self, *args, **kwargs)
        return {name: 2 * g for name, g in gradient.items()}, notes

    monkeypatch.setattr(Trajectory, "pull_back", wrong)


@pytest.mark.parametrize("wrong", [False, True])
def test_a_gradient_is_checked_by_one_more_run(scene, monkeypatch, wrong):
    """What ``check=True`` of both packages calls, of a rollout and of a loss."""
    adjoint = weft.Adjoint(scene, numpy_loss, NAMES, **RUN)
    values = [adjoint.parameter(n).value[None] for n in NAMES]
    made = lambda _: Rollout(scene, NAMES, **RUN)  # noqa: E731
    for host in (HostFunction(scene, made, 1, True), HostFunction(adjoint, lambda a: a, 1, True)):
        with monkeypatch.context() as patch, warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            if wrong:
                doubled(patch)
            found = host.run(True, *values)
            host.pull_back(*values, *(np.ones_like(a) for a in found))
        assert [str(w.message).startswith("gradient NOT CONFIRMED") for w in caught] == [
            True
        ] * wrong
