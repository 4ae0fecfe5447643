"""Patterns written as SVG and read again are the same."""

import dataclasses
import warnings
from pathlib import Path

import numpy as np
import pytest

from tests.command import call_weft
from tests.plugins.garments.patterns.dxf_writer import drawing
from tests.plugins.garments.patterns.patterns import assert_alike, seam
from tests.plugins.garments.patterns.test_dxf import back, front
from weft.fabric.appearance import Appearance
from weft.plugins.garments.patterns import read_pattern
from weft.plugins.garments.patterns.pattern import (
    BorderCurve,
    Closing,
    Edge,
    Elastic,
    Panel,
    Pattern,
    Placement,
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


def test_garmentcode_to_svg(tmp_path):
    """All kinds of edges, both sides out, rotations; chains of the 2021 stitch listed in order."""
    pattern = read_pattern(FILES / "every_edge.json")
    pattern = dataclasses.replace(pattern, seams=pattern.seams[:3])
    assert_alike(pattern, again(tmp_path, pattern), 1e-8)


def test_dxf_to_svg(tmp_path):
    """Polylines stay one edge, holes and lines stay where they are."""
    (tmp_path / "shape.dxf").write_text(drawing([front(), back()]))
    (tmp_path / "shape.seams.yaml").write_text("seams: []")  # nothing is guessed
    with pytest.warns(UserWarning, match="has 2 copies"):
        pattern = read_pattern(tmp_path / "shape.dxf")
    assert pattern.panels[0].edges[4].curve is BorderCurve.POLYLINE
    assert_alike(pattern, again(tmp_path, pattern), 1e-8)


def test_everything_that_a_pattern_can_say(tmp_path):
    half = Edge(BorderCurve.ARC, np.array([[0.35, 0.1]]), "round")
    bent = Edge(BorderCurve.ARC, np.array([[-0.2, 0.1]]))  # more than half of a circle
    left = Panel(
        "left sleeve",
        np.array([[0.1, 0.0], [0.3, 0.0], [0.3, 0.2], [0.1, 0.2]]),
        [Edge(name="hem line"), half, Edge(), bent],
        grain=0.3,
        lines=[np.array([[0.15, 0.1], [0.2, 0.15]])],
        line_names=["mark"],
        fabric="silk",
        thickness=0.001,
        layer=2,
        placement=Placement((0.1, 1.0, 0.2), (10.0, 20.0, 30.0), Wrap((0.0, 1.2, 0.1), 0.11)),
        surface=Appearance(color="ff0000", back="000080"),
    )
    right = dataclasses.replace(left, name="right sleeve", placement=Placement(), layer=0)
    sewn = {"closing": Closing.ZIP, "open_at": 1.0, "flip": False, "strength": 900.0, "angle": 0.5}
    seams = [
        seam("zip", (left.name, 0), (right.name, 0, True), topstitch=0.005, **sewn),
        seam("side", (left.name, 2), (right.name, 2), closing=Closing.BUTTONS, buttons=3),
        seam("end", (left.name, 3), (right.name, 3), window=(0.1, 0.6), fold_stiffness=0.01),
        seam("line", (left.name, 4), (right.name, 1), notched=True),
    ]
    elastics = [Elastic("cuff", [SeamSide(left.name, 1)], 0.7, 25.0)]
    pattern = Pattern("all", [left, right], seams, elastics, "denim", hems={"right sleeve.2": 0.01})
    found = again(tmp_path, pattern)
    assert_alike(pattern, found, 1e-8)
    assert [e.name for e in found.panels[0].edges] == ["hem_line", "round", "", ""]
    assert found.panels[0].line_names == ["mark"]


def test_from_the_command_line(tmp_path, monkeypatch, capsys):
    """Exported and checked again, with a reader's warnings; what is no drawing is named."""

    def run(*arguments):
        status, out, err = call_weft(monkeypatch, capsys, *arguments)
        return status, out + err

    status, said = run("export", FILES / "skirt.json", tmp_path / "skirt.svg")
    assert status == 0 and "wrote" in said and "to scale" in said
    assert_alike(read_pattern(FILES / "skirt.json"), read_pattern(tmp_path / "skirt.svg"), 1e-8)
    status, said = run("export", FILES / "skirt.json", tmp_path / "skirt.obj")
    assert status and ".svg of a pattern" in said
    status, said = run("export", FILES / "every_edge.json", tmp_path / "skirt.svg")
    assert status and "belong together" in said  # its seams cannot be sewn
    status, said = run("check", FILES / "two_pieces.svg", "--picture", tmp_path / "a.png")
    assert status == 0 and "warning  two_pieces.svg: 1 shapes without a class" in said
