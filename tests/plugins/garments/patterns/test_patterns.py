"""The patterns among the examples: they can be cut, sewn and graded."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from tests.plugins.garments.patterns.test_cutting import assert_seams_meet
from weft.contact.exact.intersections import intersections
from weft.plugins.garments.patterns.cutting import cut
from weft.plugins.garments.patterns.pattern import Closing
from weft.plugins.garments.patterns.topology import sewn_topology
from weft.plugins.garments.patterns.yaml_pattern import read_yaml_pattern

FOLDER = Path(__file__).parents[4] / "examples" / "garments" / "patterns"
NAMES = sorted(p.stem for p in FOLDER.glob("*.yaml"))
OPENINGS = {"skirt": 2, "top": 4, "trousers": 5}  # waist, neck, hems, armholes, mouths of pockets
# Of what buttons in front, the neckline, the front's edges and the hem are one opening.
OPENINGS |= {"shirt": 3, "jacket": 3}
MOUTHS = {"trousers": 2}  # openings of pockets, which leave the Euler characteristic as it is
SLEEVED = ("shirt", "jacket")


@cache
def garment(name, size=0.04):
    return cut(read_yaml_pattern(FOLDER / f"{name}.yaml"), size)


@pytest.mark.parametrize("name", NAMES)
def test_a_pattern_is_cut_without_warnings(name):
    made = garment(name)
    assert list(made.warnings) == []
    assert name in SLEEVED or all(abs(s.match.ratio - 1) < 0.012 for s in made.seams)
    assert_seams_meet(made)
    assert all(len(line.pairs) >= 2 for line in made.seams)


@pytest.mark.parametrize("size", [0.04, 0.025])
@pytest.mark.parametrize("name", NAMES)
def test_a_pattern_is_one_surface_of_two_sides_once_sewn(name, size):
    made = garment(name, size)
    shape = sewn_topology(made)
    assert (shape.pieces, shape.orientable, list(shape.warnings)) == (1, True, [])
    assert name not in OPENINGS or shape.openings == OPENINGS[name]
    mesh, _ = made.weld(made.mesh.vertices)
    on_lines = [line for line in made.seams if line.match.on_line]
    assert len(mesh.non_manifold_edges) == sum(len(line.segments) for line in on_lines)
    assert (mesh.signed_material_area > 0).all()


@pytest.mark.parametrize("name", ["skirt", "top", "trousers"])
@pytest.mark.parametrize("measures", [{"hips": "110 cm", "waist": "88 cm"}, {"hips": "88 cm"}])
def test_a_pattern_is_drafted_for_other_measures(name, measures):
    """Without a warning, and with seams within 1 %."""
    made = cut(read_yaml_pattern(FOLDER / f"{name}.yaml", measures), 0.05)
    assert list(made.warnings) == []
    assert all(abs(s.match.ratio - 1) < 0.012 for s in made.seams)
    shape = sewn_topology(made)
    euler = 2 - OPENINGS[name] + MOUTHS.get(name, 0)
    assert (shape.openings, shape.euler, list(shape.warnings)) == (OPENINGS[name], euler, [])


@pytest.mark.parametrize("name", NAMES)
def test_panels_start_apart(name):
    """No two triangles of the panels meet, and none comes near the axis of the body, or of legs."""
    mesh = garment(name).mesh
    assert len(intersections(mesh.vertices, mesh.faces)) == 0
    if name in ("skirt", "top", "trousers"):
        x, _, z = mesh.vertices.T
        out = np.abs(x) - 0.115 if name == "trousers" else x
        assert np.hypot(out, z).min() > 0.075


@pytest.mark.parametrize("name", SLEEVED)
def test_buttons_leave_the_front_open_on_the_mesh(name):
    made = garment(name)
    front = made.seam("front")
    assert front.seam.closing is Closing.BUTTONS
    assert (made.weld_ids[front.pairs[:, 0]] != made.weld_ids[front.pairs[:, 1]]).all()
