"""Seams that a pattern lacks on both sides are named, and openings are not."""

from dataclasses import replace
from pathlib import Path

import pytest

from weft.plugins.garments.patterns.formats import read_pattern
from weft.plugins.garments.patterns.missing_seams import find_missing_seams
from weft.plugins.garments.patterns.start_positions import fit_start

FOLDER = Path(__file__).parents[4] / "examples/garments"
FILES = sorted(FOLDER.glob("garmentcode/*_specification.json"))


def missing(path, figure, without=()):
    pattern = read_pattern(path)
    kept = [seam for seam in pattern.seams if seam.name not in without]
    assert len(kept) == len(pattern.seams) - len(without)
    return list(find_missing_seams(*fit_start(replace(pattern, seams=kept), figure), figure))


@pytest.mark.parametrize("path", FILES, ids=[p.stem.partition("_spec")[0] for p in FILES])
def test_the_openings_of_garments_are_no_missing_seams(path, figure):
    """Neck, hems, sleeves, armholes without sleeves, open fronts."""
    assert missing(path, figure) == []


@pytest.mark.parametrize(
    "name, without, panels",
    [
        ("tee", (2, 3), "left_ftorso left_btorso"),  # both side seams
        ("tee", (5,), "left_btorso right_btorso"),  # the middle of the back
        ("hoody", (2, 3), "left_ftorso left_btorso"),
        ("trousers", (6, 10), "pant_f_l pant_b_l"),  # both inseams
        ("strapless_dress", (10, 11), "skirt_front skirt_back"),
    ],
)
def test_a_seam_that_lacks_on_both_sides_is_named(name, without, panels, figure):
    path = FOLDER / f"garmentcode/{name}_specification.json"
    said = missing(path, figure, [f"stitch {k}" for k in without])
    assert len(said) == len(without)
    assert any(all(panel in text for panel in panels.split()) for text in said)


def test_a_slit_is_no_missing_seam(figure):
    """A side seam in two parts, of which the lower ones are open."""
    path = FOLDER / "garmentcode/pencil_skirt_specification.json"
    ways = [w for w in fit_start(read_pattern(path), figure)[1] if w.encloses]
    names = [w.match.seam.name for w in sorted(ways, key=lambda w: w.middle[1])]
    assert len(missing(path, figure, names)) == 4
    assert missing(path, figure, names[:2]) == []
