"""Wrong kinds, shapes and numbers from Python are named where they are given."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
import pytest

import weft
from weft.contact import shapes
from weft.errors import MeshError, WeftError
from weft.given import fits, is_file, numbers, whole

SHEET = weft.sheet(4, 3)
X, F, UV = (np.array(a) for a in (SHEET.mesh.vertices, SHEET.mesh.faces, SHEET.mesh.corner_uv))


@pytest.mark.parametrize(
    "x, faces, uv, match",
    [
        (X[:, :2], F, UV, r"positions.*shape \(12, 2\).*\(n, 3\)"),
        (X, F + 0.5, UV, r"faces = .*0.5.*whole numbers"),
        (X, F.astype(float) * np.nan, UV, "faces = nan"),
        (X, F.astype(np.int64) + 2**40, UV, "int32"),
        (X.astype(str), F, UV, "positions.*an array of <U"),
        (X + 1j, F, UV, "complex"),
        (np.ma.masked_array(X, mask=X > 0), F, UV, "masked entries.*fill them"),
        ([[0, 0, 0], [1, 0]], F, UV, "rows of different lengths|an array of"),
        (X, F, UV[0], "material coordinates.*shape"),
        (None, F, UV, "positions.*NoneType"),
        (X, {}, UV, "faces.*dict"),
        ("text", F, UV, "positions.*str"),
    ],
)
def test_arrays_of_a_mesh(x, faces, uv, match):
    with pytest.raises(MeshError, match=match):
        weft.TriangleMesh(x, faces, uv)


@pytest.mark.parametrize(
    "x, faces",
    [
        (X.astype(np.float32).astype(">f4"), F.astype(np.uint8)),
        (np.asfortranarray(X), np.asfortranarray(F.astype(">i8"))),
        (X[::-1][::-1].tolist(), F.astype(float).tolist()),
    ],
)
def test_other_types_and_orders_are_the_same_mesh(x, faces):
    made = weft.TriangleMesh(x, faces, UV)
    assert np.allclose(made.vertices, X, atol=1e-7) and np.array_equal(made.faces, F)


@pytest.mark.parametrize("by", [1.0, True, [1, 2], np.zeros((2, 2)), {}, None])
def test_a_translation_is_three_numbers(by):
    with pytest.raises(WeftError, match="translation"):
        SHEET.moved(by)


@pytest.mark.parametrize(
    "make",
    [
        lambda: weft.Keyframe(np.zeros(3)),
        lambda: weft.Path([weft.Keyframe(0.0)], axis=None),
        lambda: weft.Path([1]),
        lambda: weft.Gusts([]),
        lambda: weft.Gusts(0.1, seed=0.5),
        lambda: weft.Gusts(0.1, bands=True),
        lambda: weft.SelfContact(gap=np.zeros(3)),
        lambda: weft.SelfContact(pairs=5),
        lambda: weft.Release(force={}),
        lambda: weft.StepSettings(max_iterations=2.5),
        lambda: weft.StepSettings(tolerance=None),
        lambda: weft.Pressed([[0, 0], [1, 0]], None),
    ],
)
def test_settings_of_another_kind(make):
    with pytest.raises(WeftError) as caught:
        make()
    assert caught.value.expected


@pytest.mark.parametrize(
    "value, hint, fine",
    [
        (np.float32(1), float, True), (True, float, False), (1, float, True), ("1", float, False),
        (1.5, int, False), (np.int64(3), int, True), (np.bool_(True), bool, True),
        ((1, 2.0), tuple[float, float], True), (np.zeros(2), tuple[float, float], True),
        ([1.0], tuple[float, float], False), ("ab", Sequence[str], False),
        (["a"], Sequence[str], True), (None, float | None, True), (None, float, False),
        ("x", Literal["y"], True), ({}, Sequence[int], False),
    ],
)  # fmt: skip
def test_kinds(value, hint, fine):
    assert fits(value, hint) == fine


def test_names_that_no_file_can_have(tmp_path):
    for name in ("x" * 3000, "a\0b", "nothing"):
        assert not is_file(tmp_path / name)
    (tmp_path / "a").touch()
    assert is_file(tmp_path / "a")


def test_arrays():
    assert numbers([], (None,), "a", WeftError).shape == (0,)
    assert whole([1.0, 2.0], (2,), "a", WeftError).dtype == np.int32
    with pytest.raises(WeftError, match=r"a = shape \(3,\): expected an array of numbers, shape"):
        numbers([1, 2, 3], (2,), "a", WeftError)


@pytest.mark.parametrize(
    "field, value",
    [
        ("cloth", None), ("pins", 5), ("pins", [1]), ("bodies", [None]), ("step", []),
        ("damping", "x"), ("gravity", None), ("gravity", 9.81), ("integrator", None),
        ("contact", True), ("attachments", None), ("energies", 1), ("pressed", [1]),
        ("record", None), ("bending", 1), ("keyed", []), ("pressure", {}), ("adaptive", True),
    ],
)  # fmt: skip
def test_fields_of_a_scene(field, value):
    given = {"cloth": SHEET, field: value}
    with pytest.raises(WeftError, match=field):
        weft.Scene(**given)


@pytest.mark.parametrize("vertices", [None, "x", [0.5], [[0], [1, 2]], [2**40], {}])
def test_vertices_of_a_pin(vertices):
    with pytest.raises(WeftError, match="pin.vertices"):
        weft.Pin(vertices)


@pytest.mark.parametrize(
    "make, named",
    [
        (lambda: weft.sheet("x", 3), "sheet.nx = 'x', str: expected a whole number"),
        (lambda: weft.sheet(4.0, 3), "sheet.nx"),
        (lambda: weft.sheet(None, 3), "sheet.nx = nothing"),
        (lambda: weft.sheet(4, 3, None), "sheet.width"),
        (lambda: weft.sheet(4, 3, seed=0.5), "sheet.seed"),
        (lambda: weft.sheet(4, 3, fabric=5), "fabric"),
        (lambda: weft.spline_sheet([4], 3), "spline_sheet.n1"),
        (lambda: weft.spline_sheet(4, 3, density="2"), "spline_sheet.density"),
        (lambda: weft.load(5), "load.path"),
        (lambda: weft.load(None), "load.path"),
        (lambda: weft.load("a.obj", warp=1), "load.warp"),
        (lambda: weft.load("a.obj", fabrics=["cotton"]), "load.fabrics"),
        (lambda: weft.joined(SHEET), "joined.cloths"),
        (lambda: weft.joined([SHEET, None]), "joined.cloths"),
        (lambda: weft.joined([SHEET], names="cloth"), "joined.names"),
        (lambda: weft.joined([SHEET], thickness=0.1), "joined.thickness"),
        (lambda: weft.as_splines(None, spans=2), "as_splines.cloth"),
        (lambda: weft.as_splines(SHEET, spans=2.5), "as_splines.spans"),
        (lambda: weft.as_splines(SHEET, spans=2, corners=4), "as_splines.corners"),
        (lambda: weft.triangulate(None), "outline"),
        (lambda: weft.triangulate([[0, 0], [1]]), "outline"),
        (lambda: weft.triangulate([[0, 0], [1, 0], [0, 1]], holes=3), "triangulate.holes"),
        (lambda: weft.triangulate([[0, 0], [1, 0], [0, 1]], divide=2), "triangulate.divide"),
        (lambda: weft.WindGrid.load(None), "load.path"),
        (lambda: weft.Keys(None), "keys"),
        (lambda: weft.Keys(5), "keys"),
        (lambda: weft.Keys([1, 2]), "keys"),
        (lambda: weft.Keys([(0, "x")]), "keys"),
        (lambda: weft.Rope([0], at="x"), "rope.at"),
        (lambda: weft.Rope([0], at=5), "rope.at"),
        (lambda: weft.Rope([[0], [1, 2]], at=(0, 0, 0)), "rope.vertices"),
        (lambda: weft.Slide([0], along=None), "slide.along"),
        (lambda: weft.Slide([0], along=[[0, 0, 0], [1]]), "slide.along"),
        (lambda: weft.Slide([0], along={}), "slide.along"),
        (lambda: shapes.sphere(None, 0.1), "sphere.radius"),
        (lambda: shapes.sphere([1], 0.1), "sphere.radius"),
        (lambda: shapes.sphere(1, 0.1, name=3), "sphere.name"),
        (lambda: shapes.box(1.0), "box.size"),
        (lambda: shapes.box((1, 2)), "box.size"),
        (lambda: shapes.plate({}, 1.0), "plate.width"),
        (lambda: weft.Wind(velocity=None), "wind.velocity"),
        (lambda: weft.Wind(velocity=3.0), "wind.velocity"),
        (lambda: weft.Cloth(SHEET.mesh, 5), "cloth.fabric"),
        (lambda: weft.Cloth(SHEET.mesh, "coton"), "cloth.fabric.*did you mean 'cotton'"),
        (lambda: weft.Cloth(None, "cotton"), "cloth.mesh"),
    ],
)
def test_arguments_of_functions(make, named):
    with pytest.raises(WeftError, match=named):
        make()


def test_other_spellings_of_the_same_arguments():
    made = weft.sheet(np.int64(4), 3, np.float32(1.0), np.float64(1.0))
    assert np.array_equal(made.mesh.vertices, X)
    assert np.array_equal(shapes.box(np.ones(3)).faces, shapes.box(("1 m", 1, 1.0)).faces)
    assert weft.Keys(np.array([[0, 1], [1, 2]])).points == ((0.0, 1.0), (1.0, 2.0))
    assert weft.Cloth(SHEET.mesh, "cotton").mass.sum() == SHEET.mass.sum()
