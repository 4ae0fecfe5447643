"""Arguments are checked against annotations: kinds, shapes, units, and what errors name."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
import pytest

import weft
from tests.refusals import refused
from weft.base.arrays import Bools, Ints, Positions, VertexIds
from weft.base.errors import MeshError, SceneError, UnitError, WeftError
from weft.base.runtime_types import check_value, checked
from weft.base.settings import Size
from weft.bodies.shapes import primitives as shapes

SHEET = weft.sheet(4, 3)
X, F, UV = (np.array(a) for a in (SHEET.mesh.vertices, SHEET.mesh.faces, SHEET.mesh.corner_uv))


@pytest.mark.parametrize(
    "x, faces, uv, match",
    [
        (X[:, :2], F, UV, ("vertices", "12, 2", "3")),
        (X, F + 0.5, UV, ("faces", "0.5")),
        (X, F.astype(np.int64) + 2**40, UV, ("mesh.faces", "int32")),
        (X + 1j, F, UV, ("mesh.vertices", "complex128")),
        (np.ma.masked_array(X, mask=X > 0), F, UV, ("mesh.vertices", "masked")),
        ([[0, 0, 0], [1, 0]], F, UV, "mesh.vertices"),
        (X, F, UV[0], "corner_uv"),
        ("text", F, UV, ("vertices", "text")),
    ],
)
def test_arrays_of_a_mesh(x, faces, uv, match):
    with refused(MeshError, match):
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


@pytest.mark.parametrize(
    "value, hint, fine",
    [
        (True, float, False),
        (np.nan, float, False),
        ((1, 2.0), tuple[float, float], True),
        ("ab", Sequence[str], False),
        ("x", Literal["y"], False),
        ({"a": "x"}, dict[str, int], False),
        (weft.Pin, weft.Pin, False),
        (len, WeftError, False),
        (np.eye(3, dtype=bool), Positions, False),
        ([[0, 0, np.inf]], Positions, False),
        ([["1 kg", 0, 0]], Positions, False),
        (3, VertexIds, True),
        ([True], Bools, True),
        ([], Ints, True),
    ],
)
def test_kinds(value, hint, fine):
    if fine:
        check_value(value, hint, "a", SceneError)
    else:
        with pytest.raises(WeftError) as caught:
            check_value(value, hint, "a", SceneError)
        assert "a" in (caught.value.what, str(caught.value.where)) or "a[" in str(caught.value)


def test_what_is_right_is_passed_on_as_it_is():
    """Arrays and lists of the right kind are the same objects; others are converted exactly."""
    points, names = np.zeros((4, 3)), ["a", "b"]
    assert check_value(points, Positions, "x", SceneError) is points
    assert check_value(names, Sequence[str], "x", SceneError) is names
    ids = check_value([1.0, 2.0], Ints, "x", SceneError)
    assert ids.dtype == np.int32 and ids.tolist() == [1, 2]
    moved = check_value([("1 cm", 0, 2)], Positions, "x", SceneError)
    assert moved.dtype == np.float64 and moved.tolist() == [[0.01, 0.0, 2.0]]
    assert type(check_value(np.int64(3), int, "x", SceneError)) is int


@checked(SceneError)
def example(a: int, b: Size = 1.0, *, c: Sequence[weft.Pin] = (), **more: float):
    return a, b, c, more


@pytest.mark.parametrize(
    "args, kwargs, error, text",
    [
        ((), {}, SceneError, "example.a = nothing: expected a whole number"),
        ((1, 2, 3), {}, SceneError, "arguments of example = 3 by position: expected at most 2"),
        ((1,), {"a": 2}, SceneError, "example.a = two values"),
        ((1,), {"b": "3 kg"}, UnitError, "(example.b): expected a length"),
        ((1,), {"c": weft.Pin([0])}, SceneError, "put the value into a list"),
        ((1,), {"c": [weft.Pin]}, SceneError, "example.c[0] = the class Pin"),
        ((1,), {"d": "x"}, SceneError, "example.d = 'x', str: expected a number"),
    ],
)
def test_errors_name_the_argument(args, kwargs, error, text):
    with pytest.raises(error) as caught:
        example(*args, **kwargs)
    assert text in str(caught.value)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_arguments_arrive_in_si():
    assert example(2.0, "3 cm", d=1) == (2, 0.03, (), {"d": 1})


@pytest.mark.parametrize(
    "make, named",
    [
        (lambda: SHEET.move(None), ("", "translation")),
        (lambda: weft.StepSettings(tolerance=None), "StepSettings.tolerance"),
        (lambda: weft.Scene(SHEET, [1]), "scene.pins"),
        (lambda: weft.Scene(SHEET, contact=True), "scene.contact"),
        (lambda: weft.Pin([[0], [1, 2]]), "pin.vertices"),
        (lambda: weft.sheet("x", 3), ("sheet.nx", "'x'")),
        (lambda: weft.join([SHEET, None]), "join.cloths"),
        (lambda: weft.triangulate([[0, 0], [1]]), "outline"),
        (lambda: weft.Keys([(0, "x")]), "keys"),
        (lambda: weft.Slide([0], along=[[0, 0, 0], [1]]), "slide.along"),
        (lambda: shapes.box((1, 2)), "box.size"),
        (lambda: weft.Cloth(SHEET.mesh, "coton"), ("cloth.fabric", "'cotton'")),
    ],
)
def test_arguments_of_functions(make, named):
    with refused(WeftError, named) as caught:
        make()
    assert caught.value.expected
