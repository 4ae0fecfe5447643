"""Every energy that weft has says how its forces change with its constants, or here is why not."""

import importlib
import inspect
import pkgutil

import numpy as np
import pytest

import weft.bodies
import weft.energies
from tests.checks import InStep
from tests.engine.energies.builders import (
    ENERGIES,
    MESH,
    crumple,
    membrane,
    numbers,
    own_damped,
    step_of,
)
from tests.refusals import refused
from weft.base.equality import are_equal
from weft.base.errors import LawError
from weft.energies.by_constants import along_constants, by_constants
from weft.energies.elastic.membrane import Membrane
from weft.laws import BaraffWitkin

CLOSE = {own_damped: 1e-6}  # what is compared with has a Hessian of differences
X = crumple(MESH.vertices, 1)
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


def quotient(f, h):
    """df/dp from six points."""
    return sum(w * (f(k * h) - f(-k * h)) for k, w in ((1, 3 / 4), (2, -3 / 20), (3, 1 / 60))) / h


@pytest.mark.parametrize("make", ENERGIES, ids=lambda make: make.__name__)
def test_mixed_derivatives(make):
    """Of forces in a step, against differences of these; both contractions."""
    energy, step = make(MESH), step_of()
    z = np.random.default_rng(6).normal(size=X.shape)
    contracted = by_constants(energy, X, z, step)
    assert contracted.keys() == energy.constants.keys()
    for name, value in numbers(make).items():

        def at(s, name=name, value=value):
            return make(MESH, **{name: value + s})

        h = 2e-4 * abs(value)
        assert are_equal(at(h).structure, energy.structure)
        expected = quotient(lambda s, at=at: InStep(at(s), len(X), step).gradient(X), h)
        change = {
            c: quotient(lambda s, at=at, c=c: np.array(at(s).constants[c]), h)
            for c in energy.constants
        }
        found, scale = along_constants(energy, X, change, step), np.abs(expected).max()
        assert scale > 0, f"nothing depends on {name}"
        atol = CLOSE.get(make, 2e-9) * scale
        np.testing.assert_allclose(found, expected, atol=atol, err_msg=name)
        total = sum(float((contracted[c] * change[c]).sum()) for c in change)
        size = np.abs(z * found).sum()
        assert total == pytest.approx(float((z * found).sum()), abs=1e-11 * size), name


def test_at_rest_they_are_those_of_the_gradient():
    energy = membrane(MESH)
    found = energy.mixed_derivatives(X)
    unit = Membrane(energy.samples, BaraffWitkin((1.0, 1e-300), 0.0, (0.97, 1.0)))
    np.testing.assert_allclose(found["law.stretch_warp"], unit.gradient(X), atol=1e-13)
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
    assert set(classes()) == {type(make(MESH)).__name__ for make in ENERGIES} | set(WITHOUT)


class Springs:
    """An energy in NumPy without constants."""

    name, stencil = "springs", np.array([[0, 1]], np.int32)


class Wrong(Springs):
    """One whose mixed derivatives have another shape."""

    constants, structure = {"stiffness": np.ones(1)}, ()

    def gradient(self, x):
        return np.zeros((1, 2, 3))

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
