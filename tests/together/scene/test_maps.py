"""Painted maps: numbers of fabrics, friction and attachments that change over the cloth."""

import dataclasses
from functools import partial

import numpy as np
import pytest
from PIL import Image

import weft
from tests.command import call_weft
from tests.engine.adjoint.cases import compared
from tests.refusals import refused
from tests.stepping import stepped
from weft import kernel
from weft.base.errors import FabricError, MeshError, SceneError, SceneProblems
from weft.discretization.quadrature import bending_points
from weft.fabric.fabric import FabricMap
from weft.io.animation import Fields
from weft.io.ply import write_ply
from weft.scene.build import load_scene
from weft.scene.build_energies import build_elastic
from weft.scene.identity import identity
from weft.scene.law import law_of_fabric
from weft.scene.membrane_law import laws_of
from weft.scene.points import attached_points
from weft.scene.prepare import prepare
from weft.solve.sparse.block_csr import BlockPattern

NEO_HOOKEAN = partial(law_of_fabric, name="neo_hookean")
ENDS = {
    "density": 0.4,
    "stretch_warp": 900.0,
    "stretch_weft": 700.0,
    "shear": 90.0,
    "bending_warp": 1e-4,
    "bending_weft": 2e-5,
    "rest_stretch_warp": 1.1,
    "rest_stretch_weft": 0.95,
}
TIGHT = weft.StepSettings(tolerance=1e-10)


def painted(maps, weights=None, n=5, make=weft.sheet, **more):
    """A sheet whose weight w goes from 0 to 1 along the warp."""
    cloth = make(n, n, 0.4, 0.4, fabric=weft.Fabric.of("cotton"))
    x = cloth.vertices[:, 0]
    w = (x - x.min()) / np.ptp(x) if weights is None else np.full(len(x), weights)
    mesh = dataclasses.replace(cloth.mesh, weights={"w": w})
    given = {name: FabricMap("w", to) for name, to in maps.items()}
    fabric = dataclasses.replace(cloth.fabric, maps=given, **more)
    return dataclasses.replace(cloth, mesh=mesh, fabric=fabric)


def crumpled(cloth, seed=0):
    rng = np.random.default_rng(seed)
    return cloth.points + 0.02 * rng.normal(size=cloth.points.shape)


BOTH = ("bending_warp", "bending_weft")


@pytest.mark.parametrize(
    "names, settings",
    [
        *(((n,), {"law": law}) for n in ENDS if n != "density" for law in (None, NEO_HOOKEAN)),
        *((BOTH, {"bending": kind}) for kind in ("hinges", "quadratic", "fitted", "pairs")),
        (("stretch_warp", "shear"), {"damping": 0.01}),
        (("bending_hysteresis_warp", "shear_hysteresis"), {}),
    ],
)
def test_every_element_has_its_number(names, settings):
    """The energies are those of uniform fabrics with the numbers of each element."""
    start = {n: 1e-3 for n in names if n.endswith(("hysteresis", "hysteresis_warp"))}
    like = dataclasses.replace(weft.Fabric.of("cotton"), **start)
    ends = {n: ENDS.get(n, 4e-3) if names != BOTH else 8 * getattr(like, n) for n in names}
    cloth = painted(ends, **start)
    x = crumpled(cloth)
    found = build_elastic(weft.Scene(cloth, **settings))
    for k, energy in enumerate(found):
        w = cloth.mesh.weights["w"][energy.stencil].mean(1)
        for e in np.linspace(0, len(w) - 1, 7).astype(int):
            here = {n: (1 - w[e]) * getattr(like, n) + w[e] * to for n, to in ends.items()}
            plain = dataclasses.replace(cloth.fabric, maps=None, **here)
            scene = weft.Scene(weft.Cloth(cloth.mesh, plain), **settings)
            expected = build_elastic(scene)[k].value(x)[e]
            assert energy.value(x)[e] == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("bending", ["plate", "mean"])
def test_splines_have_it_at_their_samples(bending):
    """Weights that are linear are so on splines; masses are those of the control points."""
    make = partial(weft.spline_sheet, bending=bending)
    maps = {n: ENDS[n] for n in ("density", "stretch_warp", "shear", *BOTH)}
    cloth = painted(maps, n=6, make=make)
    u, half = cloth.points[:, 0], 0.2
    np.testing.assert_allclose(cloth.point_weights("w"), (u + half) / 0.4, atol=1e-12)
    x, like = crumpled(cloth), weft.Fabric.of("cotton")
    found = build_elastic(weft.Scene(cloth))
    for k, energy in enumerate(found):
        at = energy.samples if k == 0 else cloth.surfaces.pieces[0].samples(bending_points)
        place = (at.shares * u[at.stencil]).sum(1)
        for e in np.linspace(0, len(place) - 1, 5).astype(int):
            w = (place[e] + half) / 0.4
            here = {n: (1 - w) * getattr(like, n) + w * to for n, to in maps.items()}
            plain = dataclasses.replace(cloth, fabric=dataclasses.replace(like, **here))
            expected = build_elastic(weft.Scene(plain))[k].value(x)
            rows = np.arange(len(place)) == e
            if len(expected) != len(rows):  # three terms of a plate at each point
                rows = np.tile(rows, 3)
            np.testing.assert_allclose(energy.value(x)[rows], expected[rows], rtol=1e-9)
    low = like.density
    lumped = make(6, 6, 0.4, 0.4, fabric=like).mass / low
    np.testing.assert_allclose(cloth.mass, lumped * (low + cloth.point_weights("w") * (0.4 - low)))


KEPT = {
    "limit_warp": (0.02, 0.1),
    "limit_weft": (0.03, 0.05),
    "limit_shear": (0.2, 0.6),
    "yield_warp": (0.0005, 0.002),
    "yield_hardening": (1.0, 3.0),
    "crease_yield": (0.5, 1.5),
    "crease_hardening": (0.5, 2.0),
    "crease_recovery": (0.1, 2.0),
    "crease_lasting": (0.2, 0.7),
}


def test_every_element_keeps_its_limit():
    """Of strain, of curvature before it creases, and of a fiber before it yields."""
    maps = {n: b for n, (_, b) in KEPT.items()}
    cloth = painted(maps, **{n: a for n, (a, _) in KEPT.items()})
    membrane, limits, bending = build_elastic(weft.Scene(cloth))
    w, hinge = (cloth.mesh.weights["w"][e.stencil].mean(1) for e in (limits, bending))

    def number(name, w):
        low, high = KEPT[name]
        return low + w * (high - low)

    (records,) = limits.records()
    np.testing.assert_allclose(records["most_warp"], 1 + number("limit_warp", w))
    np.testing.assert_allclose(records["most_weft"], 1 + number("limit_weft", w))
    sine = np.sin(KEPT["limit_shear"])
    np.testing.assert_allclose(records["most_shear"], sine[0] + w * (sine[1] - sine[0]))
    np.testing.assert_allclose(membrane.limits[0], number("yield_warp", w))
    np.testing.assert_allclose(membrane.plasticity.hardening, number("yield_hardening", w))
    assert membrane.limits[1] == np.inf
    like = dataclasses.replace(cloth.fabric, maps=None, crease_yield=1.0)
    unit = build_elastic(weft.Scene(cloth.with_fabrics([like])))[2].limit
    np.testing.assert_allclose(bending.limit / unit, number("crease_yield", hinge))
    for field in ("hardening", "recovery", "lasting"):
        got = getattr(bending.plasticity, field)
        np.testing.assert_allclose(got, number(f"crease_{field}", hinge))
    # A step along a stretch is bounded by the first element that reaches its limit.
    bound = limits.bind(BlockPattern.of(cloth.n_vertices, [limits.stencil]))
    x = cloth.vertices
    reach = bound.reaches(kernel.points(x), kernel.points(x * [1.0, 0.0, 0.0])).numpy()
    np.testing.assert_allclose(reach, number("limit_warp", w), rtol=1e-9)


def test_masses_and_thickness_are_those_of_vertices():
    cloth = painted({"density": 0.4, "thickness": 2e-3})
    w, area = cloth.mesh.weights["w"], cloth.mesh.vertex_area
    low = cloth.fabric.density
    rho = low + w * (0.4 - low)
    np.testing.assert_allclose(cloth.mass, rho * area, rtol=1e-13)
    part = dataclasses.replace(cloth.parts[0], thickness="fabric")
    scene = weft.Scene(dataclasses.replace(cloth, given=(part,)), contact=weft.SelfContact())
    t = cloth.fabric.thickness
    sides = prepare(scene).model.contact.mesh.sides
    np.testing.assert_allclose(sides.thickness, t + w * (2e-3 - t), rtol=1e-13)


def test_stress_is_recorded_with_the_number():
    maps = {n: ENDS[n] for n in ("stretch_warp", "shear")}
    cloth = painted(maps, 1.0)
    plain = dataclasses.replace(cloth.fabric, maps=None, **maps)
    F = np.random.default_rng(1).normal(size=(32, 3, 2))
    (a, _), (b, _) = (laws_of(weft.Scene(c))[0] for c in (cloth, weft.Cloth(cloth.mesh, plain)))
    np.testing.assert_allclose(a.stress(F), b.stress(F), rtol=1e-12)


MAPPED = ("stretch_warp", "bending_weft", "density")


def mapped():
    cloth = painted({n: ENDS[n] for n in MAPPED}, n=4)
    return weft.Scene(cloth, [weft.Pin(cloth.corners("top"))], settings=TIGHT, step=0.01)


@pytest.mark.parametrize("name", [f"fabric.{n}{end}" for n in MAPPED for end in ("", ".to")])
def test_both_ends_of_a_map_are_parameters(name):
    """Against differences of runs."""
    got, expected, _ = compared(mapped(), [name], frames=3)
    assert got == pytest.approx(expected, rel=2e-4)


def test_rest_shapes_of_maps_are_refused():
    with refused(SceneError, "parameter rest", got="maps"):
        compared(mapped(), ["rest"], frames=1)


def slide(friction, weights=1.0):
    """How far (n,) a sheet has slid on a table."""
    cloth = weft.sheet(4, 4, 0.12, 0.12, fabric="cotton").move((0, 0.0021, 0), (0, 17, 0))
    mesh = dataclasses.replace(cloth.mesh, weights={"w": np.full(cloth.n_vertices, weights)})
    cloth = weft.Cloth(mesh, cloth.fabric)
    table = weft.contact.plate(0.8, 0.6, size=0.3, name="table")
    contact = weft.SelfContact(gap=0.003, friction=friction)
    scene = weft.Scene(
        cloth, bodies=[table], contact=contact, velocity=(0.3, 0, 0), step=0.005, settings=TIGHT
    )
    return stepped(scene, 10)[1].x[:, 0] - cloth.vertices[:, 0]


def test_friction_has_a_map():
    """Weights of 1 are no map; those of 0 have the part `low`; between them cloth turns."""
    Friction = weft.contact.Friction
    rough = slide(Friction(0.4))
    np.testing.assert_array_equal(slide(Friction(0.4, map="w")), rough)
    smooth = slide(Friction(0.4, map="w"), 0.0)
    np.testing.assert_allclose(smooth, slide(Friction(0.0)), atol=1e-9)
    assert smooth.min() > rough.max() + 0.002
    half = slide(Friction(0.4, map="w", low=0.5), 0.0)
    np.testing.assert_allclose(half, slide(Friction(0.2)), atol=1e-9)
    with refused(MeshError, "contact.friction.map", got="'u'", expected="w"):
        slide(Friction(0.4, map="u"))
    with refused(MeshError, "contact.friction.map", got="2"):
        slide(Friction(0.4, map="w"), 2.0)


SCENE = """
cloth:
  mesh: {file: sheet.ply}
  fabric:
    preset: cotton
    stretch_warp: {map: red, from: 100 N/m, to: 900 N/m, source: "estimated: by eye"}
    bending: {map: image, from: 1e-6 N*m, to: 1e-5 N*m}
  paint: {image: ramp.png, hem: hem.npy}
  fabrics: {}
seconds: 0.1
contact: {friction: {static: 0.5, map: red, low: 0.2}}
attachments:
  - {kind: goal, name: soft, stiffness_per_area: 100 N/m^3, weight: {map: hem}}
  - {kind: spring, name: spring, vertices: [0, 4], at: [0, 1, 0], stiffness: 9 N/m,
     weight: {map: red}}
"""


def draw_ramp(path):
    """An image whose brightness goes from 0 to 1 along the warp."""
    Image.fromarray(np.tile(np.arange(256, dtype=np.uint8), (256, 1))).save(path)


def write(folder, change=("", "")):
    cloth = weft.sheet(5, 5, 1.0, 1.0)
    w = np.linspace(0, 1, 25)
    fields = Fields({"red": w, "twice": 2 * w}, {})
    for name, uv in (("sheet", cloth.corner_uv), ("bare", None)):
        write_ply(folder / f"{name}.ply", np.asarray(cloth.vertices), cloth.faces, uv, fields)
    draw_ramp(folder / "ramp.png")
    np.save(folder / "hem.npy", 1 - w)
    np.save(folder / "short.npy", np.zeros(7))
    (folder / "scene.yaml").write_text(SCENE.replace(*change))
    return folder / "scene.yaml"


def assert_ramp(cloth):
    """The weights "image" of a square of 1 m go from 0 to 1 along the warp."""
    u = cloth.vertices[:, 0] + 0.5
    inside = (u > 0.1) & (u < 0.9)
    np.testing.assert_allclose(cloth.mesh.weights["image"][inside], u[inside], atol=0.005)


def test_a_file_paints_its_cloth(tmp_path):
    scene = load_scene(write(tmp_path)).scene
    cloth, w = scene.cloth, np.linspace(0, 1, 25)
    fabric = cloth.fabric
    assert (fabric.stretch_warp, fabric.origin("stretch_warp")) == (100.0, "estimated")
    np.testing.assert_allclose(cloth.number(fabric, "stretch_warp"), 100 + 800 * w, rtol=1e-6)
    assert_ramp(cloth)
    assert fabric.maps["bending_weft"] == FabricMap("image", 1e-5)
    soft, spring = scene.attachments
    np.testing.assert_allclose(soft.weight, 1 - w, rtol=1e-6)
    soft_energy, spring_energy = attached_points(scene).energies
    np.testing.assert_allclose(spring_energy.stiffness, 9 * spring.weight)
    np.testing.assert_allclose(soft_energy.place.start, cloth.vertices[:-1])
    assert len(prepare(scene).model.contact.mesh.sides.friction_factor) == 25
    stepped(scene, 2)


def test_other_maps_are_another_scene(tmp_path):
    own = identity(load_scene(write(tmp_path)).scene)
    number = load_scene(write(tmp_path, ("to: 900 N/m", "to: 800 N/m"))).scene
    path = write(tmp_path)
    Image.fromarray(np.full((8, 8), 99, np.uint8)).save(tmp_path / "ramp.png")
    assert identity(number) != own and identity(load_scene(path).scene) != own


def test_check_draws_every_map(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    status, out, err = call_weft(monkeypatch, capsys, "check", write(tmp_path).name)
    assert status == 0, out + err
    for name in ("stretch_warp", "bending_warp", "soft_weight", "friction_factor"):
        assert (tmp_path / f"scene.check.{name}.png").exists(), name
    assert "100 to 900 N/m" in out


@pytest.mark.parametrize(
    "change, what",
    [
        (
            ("map: red, from: 100", "map: blue, from: 100"),
            ("stretch_warp", "'blue'", "25 painted numbers", "red", "sheet.ply"),
        ),
        (("map: red, from: 100", "map: twice, from: 100"), ("stretch_warp", "0 to 2", "0 to 1")),
        (("hem.npy", "short.npy"), ("paint.hem", "(7,)", "25 numbers", "short.npy")),
        (("hem.npy", "no.npy"), ("paint.hem", "no.npy")),
        (("hem.npy", "hem.gif"), ("paint.hem", "hem.gif")),
        (
            ("{file: sheet.ply}", "{file: bare.ply, warp: [1, 0, 0]}"),
            ("paint.image", "texture coordinates", "32 faces", "bare.ply"),
        ),
        (("to: 900 N/m", "to: -900 N/m"), "stretch_warp"),
        ((", to: 900 N/m", ""), "stretch_warp.to"),
        (
            ("preset: cotton", "preset: cotton\n    damping: {map: red, from: 0 s, to: 1 s}"),
            ("damping", "a map", "one number"),
        ),
        (("weight: {map: hem}", "weight: {map: ham}"), ("soft.weight", "'ham'", "hem")),
        (
            ("seconds: 0.1", "seconds: 0.1\nintegrator: baraff_witkin_1998"),
            ("stretch_warp", "1998"),
        ),
        (("map: red, low: 0.2", "low: 0.2"), ("friction.low", "map")),
        (
            ("preset: cotton", "preset: cotton\n    limit_warp: {map: red, from: null, to: 5 %}"),
            ("limit_warp", "a map"),
        ),
    ],
)
def test_refusals(tmp_path, change, what):
    """Numbers of which a step has one, weights and files that do not fit, a limit that is none."""
    path = write(tmp_path, change)
    with refused((SceneError, FabricError, MeshError, SceneProblems), what):
        load_scene(path)


PATTERN = """
fabric: {preset: cotton, shear: {map: stiff, from: 30 N/m, to: 90 N/m}}
panels:
  front: {outline: [[0, 0], {at: [0.3 m, 0], edge: side}, [0.3 m, 0.2 m], [0, 0.2 m]]}
  back:
    outline: [[0, 0], [0.3 m, 0], [0.3 m, 0.2 m], {at: [0, 0.2 m], edge: side}]
    placement: {translation: [31 cm, 0, 0]}
seams:
  side: {join: [front.side, back.side], flip: true}
"""
WORN = """
cloth:
  garment: {pattern: worn.yaml, size: 2 cm}
  paint: {stiff: stiff.<PANEL>.png}
seconds: 0.1
"""


def garment(folder, change=("", "")):
    """Two panels; the image of the front is a ramp along its warp, which points up."""
    (folder / "worn.yaml").write_text(PATTERN)
    ramp = np.tile(np.linspace(255, 0, 256, dtype=np.uint8)[:, None], (1, 256))
    Image.fromarray(ramp).save(folder / "stiff.front.png")
    Image.fromarray(ramp).save(folder / "stiff.1002.png")
    (folder / "scene.yaml").write_text(WORN.replace(*change))
    return folder / "scene.yaml"


def test_panels_have_images_of_their_own(tmp_path):
    scene = load_scene(garment(tmp_path)).scene
    front, back = scene.cloth.parts
    w = scene.cloth.mesh.weights["stiff"]
    u = np.zeros(len(w))
    u[scene.cloth.faces] = scene.cloth.corner_uv[..., 0]
    size = np.ptp(scene.cloth.corner_uv[front.faces], axis=(0, 1)).max() / 0.96
    inside = u[front.vertices] - u[front.vertices].min()
    np.testing.assert_allclose(w[front.vertices], 0.02 + inside / size, atol=0.004)
    assert (w[back.vertices] == 0).all()
    shear = scene.cloth.number(front.fabric, "shear")
    np.testing.assert_allclose(shear, 30 + 60 * w)
    stepped(scene, 1)


@pytest.mark.parametrize("name, painted", [("<UDIM>", (False, True)), ("front", (True, True))])
def test_tiles_are_those_of_the_export(tmp_path, name, painted):
    """By number, in the pattern's order; one image is that of every panel."""
    cloth = load_scene(garment(tmp_path, ("<PANEL>", name))).scene.cloth
    w = cloth.mesh.weights["stiff"]
    assert tuple(bool(w[part.vertices].any()) for part in cloth.parts) == painted


def test_fitted_splines_have_the_weights_of_their_mesh(tmp_path):
    added = "  discretization: bspline\n  spline: {spans: [4, 4]}"
    scene = load_scene(write(tmp_path, ("  fabrics: {}", added))).scene
    assert_ramp(scene.cloth)
    stepped(scene, 2)
