"""GarmentCode files: geometry against closed forms, stitches, and what is refused."""

import copy
import json
import re
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from tests.plugins.garments.patterns.mutations import count_readable
from tests.plugins.garments.patterns.patterns import seam
from tests.refusals import refused
from weft.base.errors import PatternError
from weft.plugins.garments.patterns.check import check_pattern
from weft.plugins.garments.patterns.curves import edge_length
from weft.plugins.garments.patterns.cutting import cut
from weft.plugins.garments.patterns.formats import read_pattern
from weft.plugins.garments.patterns.placement import place_points
from weft.plugins.garments.patterns.topology import sewn_topology

FILE = Path(__file__).parent / "files" / "every_edge.json"
DATA = json.loads(FILE.read_text())


def read(tmp_path, data, name="shape.json"):
    path = tmp_path / name
    path.write_text(data if isinstance(data, str) else json.dumps(data))
    return read_pattern(path)


def changed(path, value):
    """The fixture with one value changed, such as ``panels.front.edges.0`` of the pattern."""
    data = copy.deepcopy(DATA)
    place, *keys = data["pattern"], *(int(k) if k.isdigit() else k for k in path.split("."))
    for key in keys[:-1]:
        place = place[key]
    place[keys[-1]] = value
    return data


def one_edge(kind, params, a=(1, 2), b=(7, 10)):
    """A panel whose edge 0 goes from a to b, to the right of a corner far to the left."""
    edges = [{"endpoints": [i, (i + 1) % 3]} for i in range(3)]
    edges[0]["curvature"] = {"type": kind, "params": params}
    panel = {"vertices": [a, b, [-100, 80]], "edges": edges}
    return {"pattern": {"panels": {"p": panel}}, "properties": {"units_in_meter": 100}}


def test_what_the_file_says():
    pattern = read_pattern(FILE)
    assert (pattern.name, [p.name for p in pattern.panels]) == ("every_edge", ["front", "back"])
    front, back = pattern.panels
    kinds = "QUADRATIC CUBIC LINE LINE LINE QUADRATIC ARC"
    assert [e.curve.name for e in front.edges] == kinds.split()
    assert [e.curve.name for e in back.edges] == ["ARC", "LINE", "LINE", "LINE"]
    assert [e.name for e in front.edges] == ["hem"] + 6 * [""]
    assert [e.name for e in back.edges] == ["", "", "side", "side"]
    vertices = np.array(DATA["pattern"]["panels"]["front"]["vertices"])
    np.testing.assert_allclose(front.corners, vertices / 100)


def test_stitches():
    assert list(read_pattern(FILE).seams) == [
        seam("stitch 0", ("front", 6), ("back", 2), flip=True),
        seam("stitch 1", ("front", 1), ("back", 0), flip=False),
        seam("stitch 2", ("front", 3), ("front", 4), flip=True),
        seam("stitch 3", ("back", 1), [("front", 2), ("front", 5)]),
    ]


def test_a_clockwise_panel_shows_its_outer_side_to_minus_z():
    """Corners start where the file puts them, counter-clockwise as seen from the outer side, with
    the rotation as Rz Ry Rx.
    """
    back, data = read_pattern(FILE).panel("back"), DATA["pattern"]["panels"]["back"]
    turn = Rotation.from_euler("ZYX", data["rotation"][::-1], degrees=True)
    flat = np.column_stack([data["vertices"], np.zeros(4)])
    wanted = (turn.apply(flat) + data["translation"]) / 100
    np.testing.assert_allclose(place_points(back, back.corners), wanted, atol=1e-12)
    normal = np.cross(wanted[1] - wanted[0], wanted[2] - wanted[1])  # of the loop: outwards
    origin, right, up = place_points(back, np.array([[0, 0], [1, 0], [0, 1]]))
    outer = np.cross(right - origin, up - origin)
    np.testing.assert_allclose(outer, normal / np.linalg.norm(normal), atol=1e-12)
    assert outer[2] < 0 and data["translation"][2] < 0


def test_a_skirt_is_sewn_right_sides_out():
    """Places in space confirm both stitches; sewn, its right side looks outward."""
    pattern = read_pattern(FILE.parent / "skirt.json")
    report = check_pattern(pattern)
    assert report.warnings == []
    found = [(m.orientation.flip, m.orientation.confirmed) for m in report.seams]
    assert found == 2 * [(True, True)]
    garment = cut(pattern, 0.1)
    assert sewn_topology(garment).orientable
    a, b, c = np.moveaxis(garment.mesh.vertices[garment.mesh.faces], 1, 0)
    normal = np.cross(b - a, c - a)
    assert (normal[:, 2] * (a + b + c)[:, 2] > 0).all()  # of the front +z, of the back -z


@pytest.mark.parametrize("large", [0, 1])
@pytest.mark.parametrize("right", [0, 1])
def test_a_circle_of_each_flag(tmp_path, large, right):
    """Length r alpha, with the middle on the side that ``right`` says."""
    half, radius = 5.0, 13.0
    panel = read(tmp_path, one_edge("circle", [radius, large, right])).panels[0]
    angle = 2 * np.arcsin(half / radius)
    angle = 2 * np.pi - angle if large else angle
    assert edge_length(panel, 0) == pytest.approx(radius * angle / 100, rel=1e-12)
    start, end = panel.corners[:2]
    middle = panel.edges[0].controls[0]
    left = np.array([-(end - start)[1], (end - start)[0]])
    assert ((middle - start) @ left > 0) == (not right)


def test_a_half_circle_whose_radius_was_rounded(tmp_path):
    panel = read(tmp_path, one_edge("circle", [4.9999, 0, 1])).panels[0]
    assert edge_length(panel, 0) == pytest.approx(np.pi * 0.05, rel=1e-6)


@pytest.mark.parametrize(
    "kind, params", [("quadratic", [[0.5, 0.3]]), ("cubic", [[0.2, -0.1], [0.9, 0.4]])]
)
def test_control_points_of_bezier_edges(tmp_path, kind, params):
    """Along the edge, and to its left."""
    panel = read(tmp_path, one_edge(kind, params)).panels[0]
    along, left = np.array([6, 8]) / 100, np.array([-8, 6]) / 100
    wanted = [np.array([1, 2]) / 100 + x * along + y * left for x, y in params]
    np.testing.assert_allclose(panel.edges[0].controls, wanted, atol=1e-15)


def test_absolute_control_points_and_millimeters(tmp_path):
    """The same curve three ways; panels moved to the mean of their vertices start in one place."""
    absolute = one_edge("quadratic", [[0.0, 9.0]])
    absolute["properties"]["curvature_coords"] = "absolute"
    moved = copy.deepcopy(absolute)
    moved["properties"]["normalize_panel_translation"] = True
    relative = one_edge("quadratic", [[0.5, 0.5]])
    panels = [read(tmp_path, data).panels[0] for data in (relative, absolute, moved)]
    np.testing.assert_allclose(panels[2].corners.mean(0), 0, atol=1e-15)
    for points in ([p.corners for p in panels], [p.edges[0].controls for p in panels]):
        np.testing.assert_allclose(points[0], points[1], atol=1e-15)
        one, two = (place_points(panels[k], points[k]) for k in (0, 2))
        np.testing.assert_allclose(one, two, atol=1e-15)
    circle = one_edge("circle", [13, 0, 1])
    circle["properties"]["units_in_meter"] = 1000
    length = edge_length(read(tmp_path, circle).panels[0], 0)
    assert length == pytest.approx(0.013 * 2 * np.arcsin(5 / 13), rel=1e-12)


def test_without_units_it_is_centimeters(tmp_path):
    data = DATA | {"properties": {}}
    with pytest.warns(UserWarning, match="no properties.units_in_meter: taken in centimeters"):
        pattern = read(tmp_path, data)
    np.testing.assert_array_equal(pattern.panels[0].corners, read_pattern(FILE).panels[0].corners)


def test_names_of_patterns(tmp_path):
    folder = tmp_path / "rand_X"
    folder.mkdir()
    assert read(folder, DATA, "specification.json").name == "rand_X"
    assert read(folder, DATA, "dress_specification.json").name == "dress"


REFUSED = [
    (
        changed("panels.front.edges.0.curvature.type", "spline"),
        r"front.edges.0.curvature.* \(x.json\): .*'quadratic', 'cubic', 'circle'",
    ),
    (
        changed("panels.front.edges.1.endpoints", [2, 1]),
        r"endpoints = \[2, 1\].*to begin at vertex 1, .*outline of panel 'front' is open",
    ),
    (changed("panels.front.edges.1.endpoints", [1, 99]), "endpoints.1 = 99 .*from 0 to 6: there"),
    (changed("panels.front.vertices.3", [1e300, 0]), r"vertices.3.0 = 1e\+300 .*<= 1000000"),
    (changed("panels.front.edges.6.curvature.params", [20, 0, 1]), r"\[20.* .*at least 30, half"),
    (changed("stitches.0.1.edge", 4), "edge = 4 .*from 0 to 3: there are 4 edges of panel 'back'"),
    (changed("stitches.0.1.panel", "bak"), r"stitches.0.1.panel = 'bak' .*did you mean 'back'"),
    (changed("panels", {}), "pattern.panels = none .*at least one panel"),
    ([], "pattern = no such field"),
    ("// comment\n{}", r"JSON .*x.json:1.*JSON has no comments"),
    ('{"pattern": NaN}', "number = NaN .*finite numbers"),
    ('{"a": 1, "a": 2}', "'a' = twice in the same object"),
    ("[" * 100000, "JSON = nested too deeply"),
    ('{"a": ' + "9" * 5000 + "}", "JSON = "),
]


@pytest.mark.parametrize("data, message", REFUSED, ids=range(len(REFUSED)))
def test_what_is_refused(tmp_path, data, message):
    with pytest.raises(PatternError) as caught:
        read(tmp_path, data, "x.json")
    assert re.search(message, str(caught.value)), str(caught.value)


def test_files_that_are_none(tmp_path):
    (tmp_path / "folder.json").mkdir()
    with (tmp_path / "large.json").open("wb") as file:
        file.truncate(33 << 20)
    for name, said in (("none", {}), ("folder", {}), ("large", {"got": "32 MiB"})):
        with refused(PatternError, "pattern file", where=f"{name}.json", **said):
            read_pattern(tmp_path / f"{name}.json")
    with refused(PatternError, "pattern file", got="x.pdf", expected=".svg"):
        read_pattern(tmp_path / "x.pdf")


def test_damaged_files_never_end_in_anything_but_a_named_error(tmp_path):
    """Some damage is harmless, most is not."""
    assert 10 < count_readable(tmp_path / "damaged.json", FILE.read_bytes(), 300) < 290
