"""Patterns written as SVG and read again are the same."""

import dataclasses
import warnings
from pathlib import Path

import numpy as np
import pytest

from tests.command import call_weft
from tests.plugins.garments.patterns.dxf_writer import drawing
from tests.plugins.garments.patterns.test_dxf import back, front
from weft.plugins.garments.patterns import read_pattern
from weft.plugins.garments.patterns.curves import edge_length
from weft.plugins.garments.patterns.pattern import (
    BorderCurve,
    Closing,
    Edge,
    Elastic,
    Panel,
    Pattern,
    Placement,
    Seam,
    SeamSide,
    Wrap,
)
from weft.plugins.garments.sheets.svg_writer import write_svg

FILES = Path(__file__).parent / "files"


def again(tmp_path, pattern):
    written = write_svg(tmp_path / "again.svg", pattern)
    assert [p.name for p in written] == ["again.svg", "again.seams.yaml"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return read_pattern(written[0])


def same(one, two):
    """To what the files' digits hold."""
    assert [p.name for p in one.panels] == [p.name for p in two.panels]
    for a, b in zip(one.panels, two.panels):
        np.testing.assert_allclose(a.corners, b.corners, atol=2e-9)
        assert [e.curve for e in a.edges] == [e.curve for e in b.edges]
        for i in range(len(a.edges)):
            assert edge_length(a, i) == pytest.approx(edge_length(b, i), abs=1e-8)
        for key in ("fabric", "thickness", "layer"):
            assert getattr(a, key) == getattr(b, key)
        assert a.placement.translation == b.placement.translation
        assert a.placement.wrap == b.placement.wrap
        np.testing.assert_allclose(a.placement.rotation, b.placement.rotation, atol=1e-12)
        assert np.exp(1j * a.grain) == pytest.approx(np.exp(1j * b.grain), abs=1e-7)
        for key in ("holes", "lines"):
            for p, q in zip(getattr(a, key), getattr(b, key), strict=True):
                np.testing.assert_allclose(p, q, atol=2e-9)
    for a, b in zip(one.seams, two.seams, strict=True):
        assert dataclasses.replace(a, first=list(a.first), second=list(a.second), angle=0) == (
            dataclasses.replace(b, first=list(b.first), second=list(b.second), angle=0)
        )
        assert a.angle == pytest.approx(b.angle)
    for a, b in zip(one.elastics, two.elastics, strict=True):
        assert dataclasses.replace(a, chain=list(a.chain)) == (
            dataclasses.replace(b, chain=list(b.chain))
        )


def test_garmentcode_to_svg(tmp_path):
    """All kinds of edges, both sides out, rotations; chains of the 2021 stitch listed in order."""
    pattern = read_pattern(FILES / "every_edge.json")
    pattern = dataclasses.replace(pattern, seams=pattern.seams[:3])
    same(pattern, again(tmp_path, pattern))


def test_dxf_to_svg(tmp_path):
    """Polylines stay one edge, holes and lines stay where they are."""
    (tmp_path / "shape.dxf").write_text(drawing([front(), back()]))
    with pytest.warns(UserWarning, match="cut 2 times"):
        pattern = read_pattern(tmp_path / "shape.dxf")
    assert pattern.panels[0].edges[4].curve is BorderCurve.POLYLINE
    same(pattern, again(tmp_path, pattern))


def test_everything_that_a_pattern_can_say(tmp_path):
    half = Edge(BorderCurve.ARC, np.array([[0.35, 0.1]]), "round")
    bent = Edge(BorderCurve.ARC, np.array([[-0.1, 0.3]]))  # more than half of a circle
    panel = Panel(
        "left sleeve",
        np.array([[0.1, 0.0], [0.3, 0.0], [0.3, 0.2], [0.1, 0.2]]),
        [Edge(name="hem line"), half, Edge(), bent],
        grain=0.3,
        fabric="silk",
        thickness=0.001,
        layer=2,
        placement=Placement((0.1, 1.0, 0.2), (10.0, 20.0, 30.0), Wrap((0.0, 1.2, 0.1), 0.11)),
    )
    other = dataclasses.replace(panel, name="right sleeve", placement=Placement(), layer=0)
    seams = [
        Seam(
            "zip",
            [SeamSide(panel.name, 0)],
            [SeamSide(other.name, 0, True)],
            flip=False,
            closing=Closing.ZIP,
            open_at=1.0,
            strength=900.0,
            angle=0.5,
        ),
        Seam(
            "side",
            [SeamSide(panel.name, 2)],
            [SeamSide(other.name, 2)],
            flip=None,
            closing=Closing.BUTTONS,
            buttons=3,
            fold_stiffness=0.01,
            window=(0.1, 0.6),
            notched=True,
        ),
    ]
    elastics = [Elastic("cuff", [SeamSide(panel.name, 1)], 0.7, 25.0)]
    pattern = Pattern("all", [panel, other], seams, elastics, "denim")
    found = again(tmp_path, pattern)
    same(pattern, found)
    assert found.fabric == "denim"
    assert [e.name for e in found.panels[0].edges] == ["hem_line", "round", "", ""]


@pytest.fixture
def run(monkeypatch, capsys):
    """A command in this process: exit status, standard output."""

    def invoke(*arguments):
        status, out, err = call_weft(monkeypatch, capsys, *arguments)
        return status, out + err

    return invoke


def test_from_the_command_line(tmp_path, run):
    """Exported and checked again; what is no pattern or no drawing is named."""
    status, said = run("export", FILES / "skirt.json", tmp_path / "skirt.svg")
    assert status == 0 and "wrote" in said and "to scale" in said
    same(read_pattern(FILES / "skirt.json"), read_pattern(tmp_path / "skirt.svg"))
    status, said = run("check", tmp_path / "skirt.svg")
    assert status == 0 and "2 openings" in said and "no problems" in said
    assert (tmp_path / "skirt.check.png").exists()
    status, said = run("export", FILES / "skirt.json", tmp_path / "skirt.obj")
    assert status and ".svg of a pattern" in said
    status, said = run("export", FILES / "every_edge.json", tmp_path / "skirt.svg")
    assert status and "belong together" in said  # its seams cannot be sewn


def test_a_reader_s_warnings_and_errors_on_the_command_line(tmp_path, run):
    status, said = run("check", FILES / "two_pieces.svg", "--picture", tmp_path / "a.png")
    assert status == 0 and "warning  two_pieces.svg: 1 shapes without a class" in said
    broken = tmp_path / "broken.json"
    broken.write_text('{"pattern": {"panels": {"a": {}}}}')
    status, said = run("check", broken)
    assert status == 1 and "error    pattern.panels.a.vertices" in said
