"""``weft check`` of patterns: a table, a picture, every problem."""

import pytest
from PIL import Image

from tests.command import call_weft

PATTERN = """
measures: {w: 40 cm, h: 50 cm}
panels:
  front: {outline: [{at: [0, 0], edge: hem}, {at: [w, 0], edge: side}, [w, h], [0, h]]}
  back: {copy: front}
seams: {side: {join: [front.side, back.3], flip: true}}
elastics: {band: {edges: [front.2], ratio: 0.8, stiffness: 20 N}}
"""


@pytest.fixture
def check(monkeypatch, capsys):
    def run(*args):
        status, out, err = call_weft(monkeypatch, capsys, "check", *args)
        return status, out + err

    return run


def test_table_and_picture(check, tmp_path):
    path = tmp_path / "p.yaml"
    path.write_text(PATTERN)
    code, out = check(path)
    assert code == 0, out
    assert "front: 40.0 x 50.0 cm, 2000 cm^2, layer 0" in out
    assert "1 side                 line         50.0 cm  side" in out
    assert "+0.0 %  front.side | back.3" in out
    assert "elastic band: 40.0 cm to 32.0 cm" in out and "2 panels, 0.4 m^2" in out
    assert "1 piece, 1 opening, Euler characteristic 1, two-sided" in out
    with Image.open(tmp_path / "p.check.png") as image:
        assert image.width > 500
    code, out = check(path, "--set", "measures.w=20 cm", "--picture", tmp_path / "q.png")
    assert code == 0 and "front: 20.0 x 50.0 cm" in out and (tmp_path / "q.png").exists()
    fields = ("cloth.garment.measures.w=20 cm", "cloth.garment.size=7 cm", "fps=20")
    code, out = check(path, *(word for field in fields for word in ("--set", field)))
    assert code == 0 and "front: 20.0 x 50.0 cm" in out and "edge length of 7 cm" in out
    assert out.count("--set") == 1 and "--set fps=20: of the worn garment" in out


def test_problems_are_listed_and_drawn(check, tmp_path):
    path = tmp_path / "p.yaml"
    path.write_text(PATTERN.replace("[w, h]", "[-0.2 m, 0.2 m]"))
    code, out = check(path)
    assert code == 1 and out.count("cross or touch") == 2 and "p.yaml:4" in out
    assert (tmp_path / "p.check.png").exists()
    code, out = check(path, "--set", "width=3")
    assert code == 1 and "--set width" in out and "one of description" in out
