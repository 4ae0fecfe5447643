"""`weft validate derivatives`: it finds what is wrong, and says what to do about bad shapes."""

import dataclasses

import numpy as np
import pytest

import weft
from tests.engine.energies.test_energies import MESH, crumple
from tests.refusals import refused
from weft.adjoint.differences import check_derivatives
from weft.base.errors import WeftError
from weft.energies.elastic.bend_condition import FrozenLengthBending
from weft.energies.elastic.hinge_bending import HingeBending
from weft.laws import Psd
from weft.plugins.lab.validate.runner import run

X = crumple(MESH.vertices, 1)


def test_all_of_weft():
    checks = run(["derivatives"])
    assert len(checks) >= 50
    for check in checks:
        assert check.ok, check
        assert "slope 2.0" in check.note or "slope 1.9" in check.note or "round-off" in check.note


class Springs:
    """A user's own energy, in NumPy: 1/2 k (|x1 - x0| - l)^2 of the edges."""

    name = "springs"

    def __init__(self, factor=1.0, wrong_element=None, transverse=1.0):
        self.stencil = np.array(MESH.edges)
        self.factor, self.wrong, self.transverse = factor, wrong_element, transverse
        e = np.array(MESH.vertices)[self.stencil]
        self.length = np.linalg.norm(e[:, 1] - e[:, 0], axis=1)

    def _edge(self, x):
        d = x[self.stencil[:, 1]] - x[self.stencil[:, 0]]
        r = np.linalg.norm(d, axis=1)
        return d / r[:, None], r

    def value(self, x):
        return 0.5 * 7.0 * (self._edge(x)[1] - self.length) ** 2

    def gradient(self, x):
        n, r = self._edge(x)
        f = 7.0 * self.factor * (r - self.length)[:, None] * n
        if self.wrong is not None:
            f[self.wrong] *= 1.5
        return np.stack([-f, f], axis=1)

    def hessian(self, x, psd):
        n, r = self._edge(x)
        nn = np.einsum("mi,mj->mij", n, n)
        across = 7.0 * self.transverse * (1 - self.length / r)[:, None, None] * (np.eye(3) - nn)
        K = 7.0 * nn + across
        return np.stack([np.stack([K, -K], axis=1), np.stack([-K, K], axis=1)], axis=1)


def test_an_own_energy():
    gradient, hessian = weft.check_derivatives(Springs(), X)
    assert gradient.ok and hessian.ok
    assert gradient.error < 1e-8 and gradient.slope == pytest.approx(2, abs=0.1)


@pytest.mark.parametrize(
    "wrong, failing",
    [
        ({"factor": 1.001}, {"gradient", "hessian"}),
        ({"wrong_element": 3}, {"gradient", "hessian"}),
        ({"transverse": 0.0}, {"hessian"}),
        ({"transverse": -1.0}, {"hessian"}),
    ],
)
def test_what_is_wrong_is_found(wrong, failing):
    found = check_derivatives(Springs(**wrong), X)
    assert {d.name for d in found if not d.ok} == failing


def test_frozen_bend_is_no_derivative_of_its_energy():
    exact = HingeBending(
        MESH.hinges, np.ones(len(MESH.hinges)), np.zeros(len(MESH.hinges)), MESH.n_vertices
    )
    frozen = FrozenLengthBending(exact.hinges, exact.weight, exact.rest_angle, MESH.n_vertices)
    assert all(d.ok for d in check_derivatives(exact, X))
    assert not check_derivatives(frozen, X)[0].ok


def test_wrong_shapes_are_named():
    class Flat(Springs):
        def gradient(self, x):
            return super().gradient(x).reshape(-1, 6)

    with refused(WeftError, "springs.gradient", expected="69, 2, 3"):
        check_derivatives(Flat(), X)
    empty = dataclasses.replace(
        HingeBending(MESH.hinges[:0], np.zeros(0), np.zeros(0), MESH.n_vertices)
    )
    with refused(WeftError, "bending.stencil"):
        check_derivatives(empty, X)


def test_the_exact_hessian_is_what_is_checked():
    """A projection that clamps all to zero is no fault; an exact Hessian that is zero is one."""

    class Clamped(Springs):
        zero = Psd.PROJECTED

        def hessian(self, x, psd):
            return super().hessian(x, psd) * (psd is not self.zero)

    assert all(d.ok for d in check_derivatives(Clamped(), X))
    Clamped.zero = Psd.EXACT
    assert [d.ok for d in check_derivatives(Clamped(), X)] == [True, False]


def test_a_wrong_law_is_found():
    class Twice(weft.laws.StVK):
        def stress(self, F):
            return 2 * super().stress(F)

    right = weft.check_derivatives(weft.laws.StVK(200.0, 150.0))
    assert [(d.name, d.ok) for d in right] == [("stress", True), ("hessian", True)]
    stress, hessian = weft.check_derivatives(Twice(200.0, 150.0))
    assert not stress.ok and not hessian.ok and "WRONG" in str(stress)


def test_what_is_missing_is_named():
    with refused(WeftError, "x", expected="(n,3)"):
        weft.check_derivatives(Springs())
    with refused(WeftError, "F", expected="(n,3,2)"):
        weft.check_derivatives(weft.laws.Arap(1.0), np.zeros((4, 3)))
