"""Painted maps: numbers of fabrics, friction and attachments that change over the cloth."""

import dataclasses
from functools import partial

import numpy as np
import pytest
from PIL import Image

import weft
from tests.adjoint.cases import noise
from tests.command import weft as command
from tests.refusals import refused
from tests.stepping import stepped
from weft.adjoint import Adjoint
from weft.base.errors import FabricError, MeshError, SceneError, SceneProblems, UnitError
from weft.fabric.fabric import FabricMap
from weft.io.animation import Fields
from weft.io.ply import write_ply
from weft.scene.build import load_scene
from weft.scene.build_energies import build_elastic
from weft.scene.law import law_of_fabric
from weft.scene.regions import laws_of

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


def painted(maps, weights=None, n=5, **more):
    """A sheet whose weight w goes from 0 to 1 along the warp."""
    cloth = weft.sheet(n, n, 0.4, 0.4, fabric=weft.Fabric.of("cotton"))
    x = cloth.vertices[:, 0]
    w = (x - x.min()) / np.ptp(x) if weights is None else np.full(len(x), weights)
    mesh = dataclasses.replace(cloth.mesh, weights={"w": w})
    given = {name: FabricMap("w", to) for name, to in maps.items()}
    fabric = dataclasses.replace(cloth.fabric, maps=given, **more)
    return weft.Cloth(mesh, fabric)


def crumpled(cloth, seed=0):
    rng = np.random.default_rng(seed)
    return cloth.vertices + 0.02 * rng.normal(size=cloth.vertices.shape)


BOTH = ("bending_warp", "bending_weft")


@pytest.mark.parametrize(
    "names, settings",
    [
        *(((n,), {"law": law}) for n in ENDS if n != "density" for law in (None, NEO_HOOKEAN)),
        *((BOTH, {"bending": kind}) for kind in ("hinges", "quadratic", "pairs")),
        (("stretch_warp", "shear"), {"damping": 0.01}),
    ],
)
def test_every_element_has_its_number(names, settings):
    """The energies are those of uniform fabrics with the numbers of each element."""
    like = weft.Fabric.of("cotton")
    ends = {n: 8 * getattr(like, n) if names == BOTH else ENDS[n] for n in names}
    cloth = painted(ends)
    x = crumpled(cloth)
    found = build_elastic(weft.Scene(cloth, **settings))
    for k, energy in enumerate(found):
        w = cloth.mesh.weights["w"][energy.stencil].mean(1)
        expected = np.zeros(len(w))
        for e in np.linspace(0, len(w) - 1, 7).astype(int):
            here = {n: (1 - w[e]) * getattr(like, n) + w[e] * to for n, to in ends.items()}
            plain = dataclasses.replace(cloth.fabric, maps=None, **here)
            scene = weft.Scene(weft.Cloth(cloth.mesh, plain), **settings)
            expected[e] = build_elastic(scene)[k].value(x)[e]
            assert energy.value(x)[e] == pytest.approx(expected[e], rel=1e-10)


def test_masses_and_thickness_are_those_of_vertices():
    cloth = painted({"density": 0.4, "thickness": 2e-3})
    w, area = cloth.mesh.weights["w"], cloth.mesh.vertex_area
    low = cloth.fabric.density
    rho = low + w * (0.4 - low)
    np.testing.assert_allclose(cloth.mass, rho * area, rtol=1e-13)
    np.testing.assert_allclose(cloth.vertex_mass, rho * area, rtol=1e-13)
    part = dataclasses.replace(cloth.parts[0], thickness="fabric")
    scene = weft.Scene(dataclasses.replace(cloth, given=(part,)), contact=weft.SelfContact())
    t = cloth.fabric.thickness
    sides = scene.model().contact.mesh.sides
    np.testing.assert_allclose(sides.thickness, t + w * (2e-3 - t), rtol=1e-13)


@pytest.mark.parametrize("weight, field", [(0.0, None), (1.0, "to")])
def test_where_weights_are_alike_a_map_is_a_number(weight, field):
    """Runs have the bits of a fabric with that number, stress is recorded with it."""
    maps = {n: ENDS[n] for n in ("stretch_warp", "shear", "bending_weft", "density")}
    cloth = painted(maps, weight)
    plain = dataclasses.replace(cloth.fabric, maps=None, **(maps if field else {}))
    one, other = (
        weft.Scene(c, [weft.Pin(c.corners("top"))]) for c in (cloth, weft.Cloth(cloth.mesh, plain))
    )
    x, y = (stepped(s, 4)[1].x for s in (one, other))
    np.testing.assert_allclose(x, y, atol=1e-12 if field else 0)
    F = np.random.default_rng(1).normal(size=(32, 3, 2))
    (a, _), (b, _) = laws_of(one)[0], laws_of(other)[0]
    np.testing.assert_allclose(a.stress(F), b.stress(F), rtol=1e-12)


def test_both_ends_of_a_map_are_parameters():
    """Against differences of runs."""
    maps = {n: ENDS[n] for n in ("stretch_warp", "bending_weft", "density")}
    cloth = painted(maps, n=4)
    scene = weft.Scene(cloth, [weft.Pin(cloth.corners("top"))], settings=TIGHT, step=0.01)
    names = [f"fabric.{n}{end}" for n in maps for end in ("", ".to")]
    got = Adjoint(scene, noise(16), names, frames=3, fps=100)().gradient

    def loss(fabric):
        changed = scene.with_(cloth=cloth.with_fabrics([fabric]))
        return Adjoint(changed, noise(16), frames=3, fps=100).value()

    for n in maps:
        fabric, low = cloth.fabric, getattr(cloth.fabric, n)
        for end, value in (("", low), (".to", maps[n])):
            slope = []
            for h in (1e-4 * value, -1e-4 * value):
                new = {n: value + h}
                if end:
                    new = {"maps": {**fabric.maps, n: FabricMap("w", value + h)}}
                slope.append(loss(dataclasses.replace(fabric, **new)))
            expected = (slope[0] - slope[1]) / (2e-4 * value)
            assert float(got[f"fabric.{n}{end}"]) == pytest.approx(expected, rel=2e-4), (n, end)
    with refused(SceneError, "parameter rest", got="maps"):
        Adjoint(scene, noise(16), ["rest"], frames=1, fps=100)()


def slide(friction, weights=1.0, speed=0.3):
    """How far (n,) a sheet has slid on a table."""
    cloth = weft.sheet(4, 4, 0.12, 0.12, fabric="cotton").move((0, 0.0021, 0), (0, 17, 0))
    w = np.broadcast_to(np.asarray(weights, dtype=np.float64), cloth.n_vertices)
    mesh = dataclasses.replace(cloth.mesh, weights={"w": np.array(w)})
    cloth = weft.Cloth(mesh, cloth.fabric)
    table = weft.contact.plate(0.8, 0.6, size=0.3, name="table")
    contact = weft.SelfContact(gap=0.003, friction=friction)
    scene = weft.Scene(
        cloth, bodies=[table], contact=contact, velocity=(speed, 0, 0), step=0.005, settings=TIGHT
    )
    return stepped(scene, 12)[1].x[:, 0] - cloth.vertices[:, 0]


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


def write(folder, change=("", ""), uv=True):
    cloth = weft.sheet(5, 5, 1.0, 1.0)
    u = cloth.corner_uv if uv else None
    n = cloth.n_vertices
    w = np.linspace(0, 1, n)
    fields = Fields({"red": w, "twice": 2 * w}, {})
    write_ply(folder / "sheet.ply", np.asarray(cloth.vertices), cloth.faces, u, fields)
    ramp = np.tile(np.arange(256, dtype=np.uint8), (256, 1))
    Image.fromarray(ramp).save(folder / "ramp.png")
    np.save(folder / "hem.npy", np.linspace(1, 0, n))
    np.save(folder / "short.npy", np.zeros(7))
    (folder / "scene.yaml").write_text(SCENE.replace(*change))
    return folder / "scene.yaml"


def test_a_file_paints_its_cloth(tmp_path):
    scene = load_scene(write(tmp_path)).scene
    cloth, w = scene.cloth, np.linspace(0, 1, 25)
    fabric = cloth.fabric
    assert (fabric.stretch_warp, fabric.origin("stretch_warp")) == (100.0, "estimated")
    np.testing.assert_allclose(cloth.number(fabric, "stretch_warp"), 100 + 800 * w, rtol=1e-6)
    u = cloth.vertices[:, 0] + 0.5
    inside = (u > 0.1) & (u < 0.9)
    image = cloth.mesh.weights["image"]
    np.testing.assert_allclose(image[inside], u[inside], atol=0.005)
    assert fabric.maps["bending_weft"] == FabricMap("image", 1e-5)
    soft, spring = scene.attachments
    np.testing.assert_allclose(soft.weight, 1 - w, rtol=1e-6)
    soft_energy, spring_energy = scene.attached.energies
    np.testing.assert_allclose(spring_energy.stiffness, 9 * spring.weight)
    np.testing.assert_allclose(soft_energy.place.start, cloth.vertices[:-1])
    assert len(scene.model().contact.mesh.sides.grip) == 25
    other = load_scene(write(tmp_path, ("to: 900 N/m", "to: 800 N/m"))).scene
    assert other.identity() != scene.identity()
    path = write(tmp_path)
    np.save(tmp_path / "hem.npy", np.linspace(1, 0, 25) ** 2)
    other = load_scene(path).scene
    assert other.identity() != scene.identity()
    Image.fromarray(np.full((8, 8), 99, np.uint8)).save(tmp_path / "ramp.png")
    assert load_scene(path).scene.identity()["painted"] != other.identity()["painted"]
    stepped(scene, 2)


def test_check_draws_every_map(tmp_path):
    path = write(tmp_path)
    done = command("check", path.name, cwd=tmp_path)
    assert done.status == 0, done.out + done.err
    for name in ("stretch_warp", "bending_warp", "soft_weight", "friction_factor"):
        assert (tmp_path / f"scene.check.{name}.png").exists(), name
    assert "100 to 900 N/m" in done.out


@pytest.mark.parametrize(
    "change, uv, what",
    [
        (
            ("map: red, from: 100", "map: blue, from: 100"),
            True,
            ("stretch_warp", "'blue'", "25 painted numbers", "red", "sheet.ply"),
        ),
        (
            ("map: red, from: 100", "map: twice, from: 100"),
            True,
            ("stretch_warp", "0 to 2", "0 to 1"),
        ),
        (("hem.npy", "short.npy"), True, ("paint.hem", "(7,)", "25 numbers", "short.npy")),
        (("hem.npy", "no.npy"), True, ("paint.hem", "no.npy")),
        (("hem.npy", "hem.gif"), True, ("paint.hem", "hem.gif")),
        (
            ("{file: sheet.ply}", "{file: sheet.ply, warp: [1, 0, 0]}"),
            False,
            ("paint.image", "texture coordinates", "32 faces", "sheet.ply"),
        ),
        (("to: 900 N/m", "to: -900 N/m"), True, "stretch_warp"),
        (("to: 900 N/m", "to: 900 kg"), True, "stretch_warp"),
        ((", to: 900 N/m", ""), True, "stretch_warp.to"),
        (
            ("  fabrics: {}", "  discretization: bspline\n  spline: {spans: [4, 4]}"),
            True,
            ("cloth", "paint"),
        ),
        (
            ("preset: cotton", "preset: cotton\n    damping: {map: red, from: 0 s, to: 1 s}"),
            True,
            ("damping", "a map", "one number"),
        ),
        (
            ("weight: {map: hem}", "weight: {map: ham}"),
            True,
            ("soft.weight", "'ham'", "hem"),
        ),
        (
            ("seconds: 0.1", "seconds: 0.1\nintegrator: baraff_witkin_1998"),
            True,
            ("stretch_warp", "1998"),
        ),
        (("map: red, low: 0.2", "low: 0.2"), True, ("friction.low", "map")),
    ],
)
def test_refusals(tmp_path, change, uv, what):
    path = write(tmp_path, change, uv)
    with refused((SceneError, FabricError, MeshError, SceneProblems, UnitError), what):
        load_scene(path)
