"""Every tutorial runs from top to bottom, with smaller sizes, and makes the pictures it shows."""

from importlib.util import find_spec

import pytest
from PIL import Image

from tests.tutorials import BLENDER, DOCS, PAGES, images, run

PICTURES = DOCS / "images" / "tutorials"
SMALLER = {  # in place of what the page says: fewer vertices, shorter, smaller pictures
    "first-drape": {
        "nx: 31, ny: 31": "nx: 9, ny: 9",
        "sheet(31, 31": "sheet(9, 9",
        "seconds: 1.5 s": "seconds: 0.2 s",
        "seconds=1.5": "seconds=0.2",
        "sheet.nx=21": "sheet.nx=8",
    },
    "by-hand": {"nx: 21, ny: 21": "nx: 9, ny: 9", "seconds: 1.2 s": "seconds: 1 s"},
    "your-own-mesh": {
        "rings, around = 18, 60": "rings, around = 10, 12",
        "seconds: 1 s": "seconds: 0.1 s",
    },
    "your-own-law": {"sheet(25, 25": "sheet(7, 7", "seconds=1.0": "seconds=0.3"},
    "garment": {"size: 3 cm": "size: 5 cm"},
    "contact": {
        "nx: 27, ny: 27": "nx: 11, ny: 11",
        "size: 5 cm": "size: 10 cm",
        "42 cm, 1 cm": "39 cm, 1 cm",
        "seconds: 0.8 s": "seconds: 0.1 s",
        "nx: 9, ny: 9": "nx: 4, ny: 4",
        "time: 0.5 s": "time: 0.1 s",
        "[10 cm, 0, 0]": "[1 cm, 0, 0]",
        "seconds: 0.6 s": "seconds: 0.1 s",
    },
    "b-splines": {
        "nx: 16, ny: 16": "nx: 8, ny: 8",
        "size: 4 cm}, tr": "size: 9 cm}, tr",
        "seconds: 0.5 s": "seconds: 0.1 s",
        "span_size=0.05": "span_size=0.1",
    },
    "usd-to-blender": {
        "n = 31": "n = 9",
        "seconds: 0.8 s": "seconds: 0.1 s",
        "= 800, 500, 32": "= 160, 100, 1",
    },
    "sweep": {"nx: 13, ny: 13": "nx: 7, ny: 7", "seconds: 0.6 s": "seconds: 0.1 s"},
}
LONG = {"garment", "sweep"}  # a body of 21 000 faces; processes of its own


def marked(name):
    marks = [pytest.mark.slow] if name in LONG else []
    if BLENDER in (DOCS / "tutorials" / f"{name}.md").read_text():
        why = "no bpy, or no usd-core"
        missing = find_spec("bpy") is None or find_spec("pxr") is None
        marks += [pytest.mark.blender, pytest.mark.skipif(missing, reason=why)]
    return pytest.param(name, marks=marks)


def test_every_tutorial_is_listed():
    assert {p.stem for p in PAGES} == SMALLER.keys()
    index = (DOCS / "tutorials" / "index.md").read_text()
    assert all(f"\n{name}\n" in index for name in SMALLER)


@pytest.mark.parametrize("name", [marked(name) for name in SMALLER])
def test_tutorial(name, tmp_path, capsys):
    """Its own assertions hold, and every picture that it shows is one that it makes."""
    text = (DOCS / "tutorials" / f"{name}.md").read_text()
    for said, smaller in SMALLER[name].items():
        assert said in text, f"{name} does not say {said!r} any more"
        text = text.replace(said, smaller)
    run(text, tmp_path)
    shown = images(text)
    assert shown
    for picture in shown:
        with Image.open(tmp_path / picture) as image:
            assert image.size[0] >= 64


def test_pictures():
    """Small files, each shown by a tutorial."""
    shown = {name for page in PAGES for name in images(page.read_text())}
    assert {p.name for p in PICTURES.iterdir()} == shown
    for picture in PICTURES.iterdir():
        assert picture.stat().st_size < 150_000, picture.name
        with Image.open(picture) as image:
            assert image.size[0] >= 600
