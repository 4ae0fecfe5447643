"""Princess seams: shape from seams whose two sides curve differently."""

import numpy as np
import pytest

from tests.plugins.garments.builders import garment_of, outfit_of, simulated
from weft.energies.seams.sewing import Sewing
from weft.plugins.garments.patterns.check import check_pattern
from weft.plugins.garments.patterns.topology import sewn_topology
from weft.plugins.garments.patterns.yaml_pattern import parse_yaml_pattern
from weft.scene.scene import Scene

# The side panel's edge bows out where the bust is; the front's is nearly straight, and shorter.
PRINCESS = """
fabric: cotton
panels:
  front:
    outline:
      - {at: [0, 0], edge: hem}
      - {at: [10 cm, 0], edge: low, quadratic: [9 cm, 10 cm]}
      - {at: [10 cm, 20 cm], edge: high, quadratic: [10.5 cm, 30 cm]}
      - {at: [8 cm, 40 cm], edge: shoulder}
      - {at: [0, 40 cm], edge: center}
  side:
    outline:
      - {at: [11 cm, 0], edge: hem}
      - {at: [24 cm, 0], edge: side}
      - {at: [24 cm, 40 cm], edge: shoulder}
      - {at: [13 cm, 40 cm], edge: high, quadratic: [9.5 cm, 28 cm]}
      - {at: [10.2 cm, 20 cm], edge: low, quadratic: [10.2 cm, 12 cm]}
    placement: {rotation: [0, -40, 0]}
seams:
  princess: [[front.low, front.high], [-side.low, -side.high]]
"""


def defects(x, faces, seam):
    """(k,) [rad] by which the angles around vertices fall short of a full turn: x (n,2) or (n,3),
    or (m,3,2) corners of faces.
    """
    corners = x if x.ndim == 3 else x[faces]
    u = np.roll(corners, -1, axis=1) - corners
    w = np.roll(corners, 1, axis=1) - corners
    size = np.linalg.norm(u, axis=2) * np.linalg.norm(w, axis=2)
    angle = np.arccos(np.clip((u * w).sum(2) / size, -1, 1))
    total = np.bincount(faces.reshape(-1), angle.reshape(-1))
    return 2 * np.pi - total[seam]


def test_a_princess_seam_makes_room(tmp_path):
    """One piece with one border once sewn; sides of unequal length meet at equal fractions, with a
    vertex at the corner of either. On paper, angles around the seam fall short of full turns by
    what both edges turn (Gauss and Bonnet); so do those of the sewn cloth, which is no plane then.
    """
    (match,) = check_pattern(parse_yaml_pattern(PRINCESS)).seams
    assert 1.002 < max(match.ratio, 1 / match.ratio) < 1.1
    garment = garment_of(PRINCESS, 0.02)
    outfit = outfit_of(garment)
    energies = outfit.energies(Sewing(closing=0.3))
    scene = Scene(outfit.cloth, energies=energies, gravity=(0, 0, 0), step=0.02)
    x = simulated(scene, 10, tmp_path, 20).positions(-1)
    assert sewn_topology(garment).euler == 1
    pairs = garment.seam("princess").pairs
    corner = garment.outline["front", 2][0], garment.outline["side", 4][0]
    assert set(corner) <= set(pairs.reshape(-1).tolist())
    assert np.linalg.norm(x[pairs[:, 0]] - x[pairs[:, 1]], axis=1).max() < 1e-4
    mesh, new = garment.weld(x)
    seam = np.unique(new[pairs])
    ends = new[pairs[[0, -1]].reshape(-1)]
    inner = np.setdiff1d(seam, ends)
    paper = defects(outfit.cloth.corner_uv, mesh.faces, inner).sum()
    ways = np.array([[-1, 10], [-2.5, 10], [-3.5, -12], [0.8, -12]])  # tangents at the ends
    a, b, c, d = np.arctan2(ways[:, 1], ways[:, 0])
    assert paper == pytest.approx((b - a) + (d - c), abs=0.05)
    space = defects(mesh.vertices, mesh.faces, inner).sum()
    assert space == pytest.approx(paper, rel=0.25)
