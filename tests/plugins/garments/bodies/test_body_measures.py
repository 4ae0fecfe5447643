"""The vocabulary of measures: names of ISO 8559-1, GarmentCode, mannequin and patterns."""

import json
import math

import pytest
from typer.testing import CliRunner

from weft.base.errors import PatternError
from weft.base.yaml_lines import read_yaml
from weft.cli.commands import app
from weft.plugins.garments.bodies.body_measures import TABLE, levels_of, measures_by_name, read_body
from weft.plugins.garments.mannequin import mannequin
from weft.plugins.garments.mannequin.joints import Levels
from weft.plugins.garments.mannequin.measures import LENGTHS, measures_of
from weft.plugins.garments.patterns.formats import read_pattern
from weft.plugins.garments.patterns.yaml_pattern import parse_yaml_pattern

# As of a body file of GarmentCode: centimeters and degrees.
FILE = """body:
  height: 172
  head_l: 26.3
  waist_line: 36.9
  hips_line: 23.5
  crotch_hip_diff: 8.8
  vert_bust_line: 21.1
  bust: 100
  leg_circ: 60.2
  shoulder_incl: 21.7
  shoulder_w: 36.5
  neck_w: 18.9
  back_width: 47.7
"""
SQUARE = {"vertices": [[0, 0], [20, 0], [20, 20], [0, 20]]}
SQUARE["edges"] = [{"endpoints": [i, (i + 1) % 4]} for i in range(4)]


def test_names_are_of_one_measure_each():
    known = measures_by_name()
    table = read_yaml(TABLE, "table", PatternError).value
    assert len(known) == sum(1 + len(row.get("names", ())) for row in table.values())
    assert set(LENGTHS) <= set(known)
    measured = vars(mannequin("woman").measurements)
    assert {n for n, v in measured.items() if isinstance(v, float)} - set(known) == {
        *("high_hip", "elbow", "ankle", "upper_arm_length", "crotch_depth")
    }


def test_levels_of_a_garmentcode_body(tmp_path):
    (tmp_path / "body.yaml").write_text(FILE)
    body = read_body("body.yaml", tmp_path)
    assert body["thigh"] == pytest.approx(0.602) and body["chest"] == pytest.approx(1.0)
    levels = levels_of(body)
    expected = {"neck_back": 1.457, "waist": 1.088, "hip": 0.853, "crotch": 0.765, "bust": 1.246}
    assert {n: levels[n] for n in expected} == pytest.approx(expected)
    drop = 0.5 * (0.365 - 0.189) * math.tan(math.radians(21.7))
    assert levels["shoulder"] == pytest.approx(1.457 - drop)


def test_levels_that_are_not_stated_are_those_of_the_mannequin():
    levels, at = levels_of({"height": 1.8}), Levels(measures_of("man", height=1.8))
    for name, own in {"neck_back": "neck", "waist": "waist", "hip": "hips", "knee": "knee"}.items():
        assert levels[name] == pytest.approx(at[own], abs=1e-9)
    assert levels["bust"] == pytest.approx(at["chest"], abs=0.01)


@pytest.mark.parametrize("name", ["dress_body_measurements.yaml", "dress.body.yaml", None])
def test_a_json_pattern_declares_its_body(tmp_path, name):
    (tmp_path / (name or "anna.yaml")).write_text(FILE)
    tree = {"pattern": {"panels": {"a": SQUARE}}, "properties": {"units_in_meter": 100}}
    if name is None:
        tree["properties"]["body"] = "anna.yaml"
    (tmp_path / "dress_specification.json").write_text(json.dumps(tree))
    pattern = read_pattern(tmp_path / "dress_specification.json")
    assert levels_of(pattern.body)["waist"] == pytest.approx(1.088)


PATTERN = "panels: {a: {outline: [[0, 0], [1 cm, 0], [0, 1 cm]]}}\n"


@pytest.mark.parametrize("body", ["{waist: 72}", "{wiast: 72 cm}", "none.yaml", "[1, 2]"])
def test_a_body_that_cannot_be_read_is_refused(body):
    with pytest.raises(PatternError):
        parse_yaml_pattern(PATTERN + f"body: {body}")


def test_a_yaml_pattern_declares_its_body():
    body = parse_yaml_pattern(PATTERN + "body: {height: 168 cm, waist_height: 1.05 m}").body
    levels = levels_of(body)
    assert levels["waist"] == 1.05 and levels["top"] == 1.68


def test_a_mannequin_of_a_body_file(tmp_path):
    (tmp_path / "body.yaml").write_text(FILE + "  waist: 84\n  hips: 103.5\n")
    made = CliRunner().invoke(app, ["mannequin", "--body", str(tmp_path / "body.yaml"), "--json"])
    assert made.exit_code == 0, made.output
    measured = json.loads(made.output)
    assert measured["waist"] == pytest.approx(0.84, abs=0.01)
    assert measured["height"] == pytest.approx(1.72)
