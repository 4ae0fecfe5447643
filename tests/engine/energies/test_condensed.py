"""Energy per particle: shares of triangles and pairs, by hand."""

import numpy as np
import pytest

from tests.engine.energies.builders import MESH, bending, crumple, membrane, pairs
from weft.energies.energy_per_vertex import face_energy, vertex_energy

pytestmark = pytest.mark.quick

X = crumple(MESH.vertices, 1)


@pytest.mark.parametrize("make", [membrane, bending, pairs])
def test_sums_to_the_energy(make):
    energy = make(MESH)
    total = energy.value(X).sum()
    assert face_energy(energy, MESH, X).sum() == pytest.approx(total, rel=1e-12)
    assert vertex_energy(energy, MESH, X).sum() == pytest.approx(total, rel=1e-12)


def test_equation_5():
    """A third of every triangle around a vertex, in a loop."""
    energy = membrane(MESH)
    value = energy.value(X)
    for v in (0, 7, 12):
        around = [t for t, face in enumerate(MESH.faces) if v in face]
        expected = sum(value[t] for t in around) / 3
        assert vertex_energy(energy, MESH, X)[v] == pytest.approx(expected, rel=1e-12)


def test_a_pair_is_shared_by_area():
    energy = pairs(MESH)
    value, expected = energy.value(X), np.zeros(len(MESH.faces))
    for h, (left, right) in enumerate(MESH.hinge_faces):
        areas = MESH.rest_area[[left, right]]
        expected[[left, right]] += value[h] * areas / areas.sum()
    np.testing.assert_allclose(face_energy(energy, MESH, X), expected, rtol=1e-12)
