"""Areas of shadows against closed forms; folds of outlines."""

import numpy as np
import pytest

from weft.plugins.lab.laboratory.cusick import DISK, SPECIMEN, drape_coefficient, specimen
from weft.plugins.lab.laboratory.shadow import area, count_folds, radii, shadow


def disk_mesh(radius, k=720):
    turn = 2 * np.pi * np.arange(k) / k
    points = np.append(radius * np.stack([np.cos(turn), np.sin(turn)], 1), [[0.0, 0.0]], axis=0)
    ids = np.arange(k)
    return points, np.stack([ids, np.roll(ids, -1), np.full(k, k)], axis=1)


def test_what_is_covered_twice_counts_once():
    """Two circles that overlap: the area of their union is known."""
    r, d = 0.1, 0.08
    one, faces = disk_mesh(r)
    two = one + [d, 0.0]
    lens = 2 * r**2 * np.arccos(d / (2 * r)) - d / 2 * np.sqrt(4 * r**2 - d**2)
    got = area(np.concatenate([one, two]), np.concatenate([faces, faces + len(one)]))
    assert got == pytest.approx(2 * np.pi * r**2 - lens, rel=5e-5)


def test_disk_and_cloth_together():
    points, faces = disk_mesh(0.15)
    for way in (1, -1):  # either way round
        assert area(points, faces[:, ::way], 0.09) == pytest.approx(np.pi * 0.15**2, rel=5e-5)
    assert area(0.2 * points, faces, 0.09) == pytest.approx(np.pi * 0.09**2, rel=1e-4)
    assert area(points[:0], faces[:0], 0.09) == pytest.approx(np.pi * 0.09**2, rel=1e-4)


@pytest.mark.parametrize("slope", [0.0, 0.5, 1.2])
def test_a_cone(slope):
    """A ring that hangs as a cone of some slope throws a round shadow."""
    mesh, _, _ = specimen(6e-3, 0)
    x = np.array(mesh.vertices)
    r = np.hypot(x[:, 0], x[:, 2])
    out = np.where(r > DISK, DISK + (r - DISK) * np.cos(slope), r)
    x[:, 0] *= out / r
    x[:, 2] *= out / r
    x[:, 1] -= np.maximum(r - DISK, 0) * np.sin(slope)
    seen = shadow(x, mesh.faces, mesh.groups["rim"], DISK)
    rim = DISK + (SPECIMEN - DISK) * np.cos(slope)
    expected = (rim**2 - DISK**2) / (SPECIMEN**2 - DISK**2)
    assert drape_coefficient(seen.area) == pytest.approx(expected, abs=1e-3)
    assert seen.nodes == 0


@pytest.mark.parametrize("folds", [3, 5, 8])
def test_folds_are_counted(folds):
    turn = 2 * np.pi * np.arange(300) / 300
    radius = 0.12 + 0.01 * np.cos(folds * turn + 0.3) + 2e-4 * np.cos(60 * turn)
    rim = radius[:, None] * np.stack([np.cos(turn), np.sin(turn)], axis=1)
    after = np.roll(rim, -1, axis=0)
    assert count_folds(radii(rim, after, DISK)) == folds
    assert radii(rim, after, DISK).max() == pytest.approx(radius.max(), rel=1e-3)
    assert radii(rim, after, 0.125).min() == 0.125
