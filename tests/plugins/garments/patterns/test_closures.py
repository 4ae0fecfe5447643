"""Zips and buttons whose sides are drawn on one line."""

import numpy as np
import pytest

from tests.plugins.garments.builders import garment_of, scene_of
from weft.base.errors import WeftError
from weft.contact import intersections
from weft.plugins.garments.patterns.panel_appearance import panel_appearances

FRONTS = """
panels:
  right:
    outline: [{at: [-30 cm, 0]}, {at: [0, 0], edge: center}, {at: [SHIFT, 40 cm]},
              {at: [-30 cm, 40 cm]}]
    placement: {translation: [0, 1 m, 0]}
  left:
    outline: [{at: [0, 0]}, {at: [30 cm, 0]}, {at: [30 cm, 40 cm]},
              {at: [SHIFT, 40 cm], edge: center}]
    placement: {translation: [0, 1 m, 0]}
seams:
  front: {join: [right.center, left.center], closing: HOW}
"""
TUBE = """
panels:
  skirt:
    outline: [{at: [-31.4 cm, 0]}, {at: [31.4 cm, 0], edge: left}, {at: [31.4 cm, 40 cm]},
              {at: [-31.4 cm, 40 cm], edge: right}]
    placement: {wrap: {center: [0, 1 m, 0], radius: 31.4/pi * 1 cm}}
seams:
  side: {join: [skirt.left, skirt.right], closing: HOW}
"""
SCENE = """
cloth: {garment: {pattern: it.yaml, size: 4 cm}}
contact: {gap: 2 mm, thickness: 1 mm}
seconds: 0.1
"""


@pytest.mark.parametrize("how", ["zip", "buttons", "hooks"])
@pytest.mark.parametrize("text", [FRONTS.replace("SHIFT", "0"), FRONTS, TUBE])
def test_sides_on_one_line_start_apart_by_the_gap(text, how, tmp_path):
    text = text.replace("HOW", how).replace("SHIFT", "6 cm")
    cloth = scene_of(tmp_path, SCENE, it=text).cloth
    x, (_, pairs) = cloth.vertices, cloth.seams[0]
    apart = np.linalg.norm(x[pairs[:, 0]] - x[pairs[:, 1]], axis=1)
    assert apart == pytest.approx(0.003, abs=2e-5)
    assert len(intersections(x, cloth.faces)) == 0


def test_a_zip_that_starts_open_stays_where_it_is(tmp_path):
    text = FRONTS.replace("HOW", "zip").replace("SHIFT", "0")
    text = text.replace("[0, 1 m, 0]", "[2 cm, 1 m, 0]")
    text = text.replace("[2 cm, 1 m, 0]", "[-2 cm, 1 m, 0]", 1)
    cloth = scene_of(tmp_path, SCENE, it=text).cloth
    x, (_, pairs) = cloth.vertices, cloth.seams[0]
    assert (x[pairs[:, 1]] - x[pairs[:, 0]])[:, 0] == pytest.approx(0.04)


def test_a_start_that_intersects_names_the_pieces_and_the_cure(tmp_path):
    text = FRONTS.replace("HOW", "zip").replace("SHIFT", "0")
    crossed = text.replace(
        "placement: {translation: [0, 1 m, 0]}",
        "placement: {translation: [-10 cm, 1 m, 0], rotation: [0, 30, 0]}",
    ).replace("[-10 cm, 1 m, 0], rotation: [0, 30, 0]", "[0, 1 m, 0]", 1)
    with pytest.raises(WeftError, match="left and right \\(") as caught:
        scene_of(tmp_path, SCENE, it=crossed)
    assert "move these pieces apart" in str(caught.value) or "resolve: true" in str(caught.value)


def test_pictures_show_tape_and_teeth_of_a_zip():
    """On both sides: one line along the tape, and a tooth every 4 mm of 40 cm."""
    zipped = FRONTS.replace("HOW", "zip").replace("SHIFT", "0")
    looks = panel_appearances(garment_of("surface: {color: navy}" + zipped))
    assert set(looks) == {"right", "left"}
    for look in looks.values():
        tape, *teeth = (np.array(line) for line in look.stitches)
        assert np.ptp(tape, axis=0).max() == pytest.approx(0.4)
        assert len(teeth) == 99
        assert np.linalg.norm(np.diff(teeth, axis=1), axis=2) == pytest.approx(0.004)
    hooked = garment_of("surface: {color: navy}" + zipped.replace("zip", "hooks"))
    assert not any(look.stitches for look in panel_appearances(hooked).values())


@pytest.mark.parametrize("edge", ["right.center", "-left.center"])
def test_pictures_show_buttons_as_discs_on_the_first_side(edge):
    """Three discs of 11 mm, 3 mm from the edge, at quarters of its 40 cm."""
    other = {"right.center": "left.center", "-left.center": "-right.center"}[edge]
    text = FRONTS.replace("HOW", "buttons, buttons: 3").replace("SHIFT", "0")
    text = text.replace("[right.center, left.center]", f"[{edge}, {other}]")
    looks = panel_appearances(garment_of("surface: {color: navy}" + text))
    name = edge.strip("-").split(".")[0]
    assert [n for n, look in looks.items() if look.stitches] == [name]
    lines = np.array(looks[name].stitches)
    assert np.linalg.norm(np.diff(lines, axis=1), axis=2).max() <= 0.004 + 1e-9
    x, y = sorted(lines.reshape(-1, 2).T, key=np.ptp)  # across the edge, and along it
    heights = y - y.mean()
    for middle in (-0.1, 0.0, 0.1):
        near = np.abs(heights - middle) < 0.01
        assert np.ptp(x[near]) == pytest.approx(0.011, abs=1e-3)
        assert np.ptp(heights[near]) == pytest.approx(0.011, abs=1e-3)
    assert np.abs(heights[np.abs(np.abs(heights) - 0.05) < 0.03]).size == 0


def test_hooks_hold_at_points_as_buttons_do(tmp_path):
    held = []
    for how in ("buttons", "hooks"):
        text = FRONTS.replace("HOW", f"{how}, buttons: 3").replace("SHIFT", "0")
        scene = scene_of(tmp_path, SCENE, it=text)
        held.append([len(e.pairs) for e in scene.energies if hasattr(e, "pairs")])
    assert held[0] == held[1] and held[0]
