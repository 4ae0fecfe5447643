"""Several fabrics on one mesh: as one where they are alike, each its own where they differ."""

import dataclasses

import numpy as np
import pytest

import weft
from tests.refusals import refused
from tests.resuming import whole_and_resumed
from weft.base.errors import MeshError, SceneProblems
from weft.cloth import fields
from weft.cloth.create import as_splines, join, with_regions
from weft.cloth.regions import assign_vertices, fabric_regions
from weft.discretization.mesh import grid
from weft.fabric.fabric import fabric
from weft.io.obj import write_obj
from weft.plugins.film.usd.usd_read import usd_contents
from weft.run.check_scene import check
from weft.scene.build import load_scene
from weft.scene.membrane_law import membrane_law
from weft.scene.prepare import prepare
from weft.scene.regions import pieces_of

pytestmark = pytest.mark.quick

HOW = {"progress": False, "fsync": False}
BASE = fabric("silk")
FILE = """
cloth:
  mesh: {file: a.obj}
  fabrics: {near: silk, far: {preset: denim, density: 500 gsm}, tip: wool}
  thickness: fabric
pins: [{border: top}]
contact: {pairs: [{between: [tip, ball], friction: 0.7}]}
bodies: [{name: ball, sphere: {radius: 6 cm, size: 4 cm}, translation: [0, -8 cm, 0]}]
record: [stress]
seconds: 0.2 s
"""


def regions_of(mesh, own):
    """The mesh with regions; ``own`` says of each face of the mesh whether it is of the region."""
    found = {name: np.flatnonzero(of).astype(np.int32) for name, of in own.items()}
    return dataclasses.replace(mesh, regions=found)


def irregular():
    """Irregular triangles in three regions that meet in a point."""
    flat = grid(7, 6, 0.4, 0.3, "random", 3)
    u, v = flat.corner_uv.mean(1).T
    left = u < 0.2
    return regions_of(flat, {"near": left, "far": ~left & (v > 0.15), "tip": ~left & (v <= 0.15)})


@pytest.fixture
def mesh():
    return irregular()


@pytest.fixture
def file(tmp_path, mesh):
    """The mesh as an OBJ with materials, and a scene of it."""
    path, order = tmp_path / "a.obj", np.concatenate(list(mesh.regions.values()))
    write_obj(path, mesh.vertices, mesh.faces[order], mesh.corner_uv[order])
    lines = path.read_text().splitlines()
    first = next(k for k, line in enumerate(lines) if line.startswith("f "))
    for name, faces in mesh.regions.items():
        lines.insert(first, f"usemtl {name}")
        first += 1 + len(faces)
    path.write_text("\n".join(lines) + "\n")
    (tmp_path / "s.yaml").write_text(FILE)
    return tmp_path / "s.yaml"


def alike(mesh):
    """Cloth of one fabric, and of one fabric a region that are alike."""
    fabrics = {name: dataclasses.replace(BASE, name=name) for name in mesh.regions}
    return weft.Cloth(mesh, BASE), with_regions(mesh, fabrics)


def forces(scene, x):
    """Energies [J] in all, and forces (n,3) [N], by their NumPy faces."""
    g, total = np.zeros_like(x), 0.0
    for energy in prepare(scene).model.energies:
        part = np.asarray(energy.gradient(x))
        total += float(np.sum(energy.value(x)))
        if part.shape == x.shape:
            g += part
        else:
            np.add.at(g, np.asarray(energy.stencil), part)
    return total, g


def test_regions_of_quadrics_bend_by_edges_at_their_borders(mesh):
    """Planes cost nothing, and a fold at the border as much as with quadratic bending."""
    _, cloth = alike(mesh)
    x = np.array(mesh.vertices)
    energies = {}
    for bending in ("quadratic", "fitted"):
        found = prepare(weft.Scene(cloth, bending=bending)).model.energies
        energies[bending] = {e.name: e for e in found if e.name.startswith("bending")}
    assert energies["fitted"].keys() == energies["quadratic"].keys()
    for energy in energies["fitted"].values():
        assert energy.value(x @ [[1, 0.2, 0], [0, 1, 0.3], [0.5, 0, 1]]).sum() < 1e-20
    crumpled = x + 0.01 * np.random.default_rng(0).standard_normal(x.shape)
    name = "bending between regions"
    expected = energies["quadratic"][name].value(crumpled)
    np.testing.assert_array_equal(energies["fitted"][name].value(crumpled), expected)


def striped():
    """Three regions one behind the other, and a column of edges through all of them."""
    flat = grid(5, 7, 0.2, 0.3)
    number = (flat.corner_uv.mean(1)[:, 1] // 0.1).astype(int)
    return regions_of(flat, {name: number == k for k, name in enumerate("abc")})


@pytest.mark.parametrize(
    "make, how",
    [
        (irregular, {"bending": "quadratic"}),
        (irregular, {"integrator": "baraff_witkin_1998"}),
        (irregular, {"rest_angles": "as-given"}),
        (irregular, {"law": weft.laws.NeoHookean(30.0)}),
        (striped, {"pressed": [weft.Pressed([(0.1, 0.0), (0.1, 0.3)], 0.5)]}),
    ],
    ids=lambda how: "-".join(map(str, how)) if isinstance(how, dict) else how.__name__,
)
def test_alike_regions_are_one_cloth(make, how):
    """Energy and forces of a crumpled sheet, to rounding: membranes, hinges in regions, and those
    between them.
    """
    mesh = make()
    x = mesh.vertices + 0.01 * np.random.default_rng(0).standard_normal(mesh.vertices.shape)
    one, several = (weft.Scene(cloth, **how) for cloth in alike(mesh))
    (e, f), (e2, f2) = forces(one, x), forces(several, x)
    assert e2 == pytest.approx(e, rel=1e-12)
    np.testing.assert_allclose(f2, f, atol=1e-12 * np.abs(f).max())
    names = [energy.name for energy in prepare(several).model.energies]
    assert "bending between regions" in names and len(names) > len(prepare(one).model.energies)
    np.testing.assert_allclose(several.cloth.mass, one.cloth.mass, rtol=1e-14)
    np.testing.assert_allclose(several.cloth.vertex_mass, one.cloth.vertex_mass, rtol=1e-14)


def test_what_bends_between_is_the_mean():
    """A sheet of two strips, folded where they meet: the moment is that of the mean rigidity."""
    flat = grid(3, 2, 0.2, 0.1)
    right = flat.corner_uv.mean(1)[:, 0] > 0.1
    flat = regions_of(flat, {"a": ~right, "b": right})
    soft, stiff = (fabric({"preset": "silk", "bending": f"{d} N*m"}) for d in ("1e-5", "5e-5"))
    x = np.array(flat.vertices)
    x[x[:, 0] > 0.01, 1] = 0.05

    def folded(*pair):
        scene = weft.Scene(with_regions(flat, dict(zip("ab", pair))))
        (e,) = (e for e in prepare(scene).model.energies if e.name == "bending between regions")
        return float(e.value(x).sum())

    assert folded(soft, stiff) == pytest.approx((folded(soft, soft) + folded(stiff, stiff)) / 2)
    assert folded(stiff, stiff) == pytest.approx(5 * folded(soft, soft))


def test_two_fabrics_in_a_row_stretch_as_springs_in_series(tmp_path):
    """A hanging strip of two fabrics: in every row the force is the weight below it, and the strain
    that over k; masses are those of each fabric.
    """
    flat = grid(2, 9, 0.1, 0.8)
    flat = regions_of(flat, {"lower": flat.corner_uv.mean(1)[:, 1] < 0.4})
    heavy = fabric({"preset": "silk", "density": "500 gsm", "stretch": "60 N/m"})
    light = fabric({"preset": "silk", "density": "100 gsm", "stretch": "20 N/m"})
    cloth = with_regions(flat, {"lower": heavy}, light).move(rotation=(90, 0, 0))
    assert [r.name for r in cloth.regions] == ["lower", "rest"]
    assert cloth.mass.sum() == pytest.approx(0.04 * 0.5 + 0.04 * 0.1)
    scene = weft.Scene(cloth, [weft.Pin(cloth.border("top"))], integrator="quasi_static")
    run = weft.simulate(scene, frames=1, out=tmp_path / "r", **HOW)
    y = run.positions(-1)[:, 1].reshape(9, 2).mean(1)  # rows from the bottom
    weight = 9.81 * np.cumsum(cloth.mass.reshape(9, 2).sum(1))[:-1]
    strain = weight / 0.1 / np.where(np.arange(8) < 4, 60.0, 20.0)
    np.testing.assert_allclose(np.diff(y) / 0.1 - 1, strain, rtol=0.02)
    assert strain[3] < strain[4] / 2


def test_a_scene_of_regions(file, tmp_path):
    """Law, weight, thickness and friction by region; resumed bitwise; exported with its regions."""
    scene = load_scene(file).scene
    cloth = scene.cloth
    assert [f.density for f in cloth.fabrics] == [BASE.density, 0.5, fabric("wool").density]
    sides = prepare(scene).model.contact.mesh.sides
    assert sides.names[:4] == ("near", "far", "tip", "ball")
    assert sides.static[2, 3] == 0.7 and sides.static[0, 3] == 0.0
    near = cloth.regions[0]
    inner = np.setdiff1d(cloth.faces[near.faces], np.delete(cloth.faces, near.faces, axis=0))
    np.testing.assert_array_equal(sides.thickness[inner], near.fabric.thickness)
    whole = whole_and_resumed(scene, tmp_path)
    F = fields.gradients(cloth.mesh, whole.positions(4))
    for region in cloth.regions:
        law = membrane_law(scene, region.fabric)
        want = fields.face_stress(F[region.faces], [(law, len(region.faces))])
        np.testing.assert_allclose(whole.field("stress", 4)[region.faces], want, rtol=1e-12)
    pytest.importorskip("pxr")
    whole.export(tmp_path / "out.usda")
    back = usd_contents(tmp_path / "out.usda", "cloth", one=True)
    assert list(back.regions) == ["near", "far", "tip"]
    for region in cloth.regions:
        np.testing.assert_array_equal(back.regions[region.name], region.faces)


def test_check_lists_regions(file):
    found = check(file)
    text = "\n".join(found.facts)
    assert "tip: region of 15 faces, fabric wool" in text
    assert found.errors == []


@pytest.mark.parametrize(
    ("override", "said"),
    [
        (["cloth.fabrics.ti=wool"], ("region 'ti'", "near, far, tip", "'tip'")),
        (["cloth.fabrics={near: silk, far: silk}"], ("fabrics", "15 faces", "tip")),
        (["cloth.discretization=bspline"], ("cloth", "triangles")),
        (["cloth.mesh=null", "cloth.sheet={}"], ("cloth", "mesh file")),
        (
            ["cloth.fabrics.tip={preset: wool, densty: 3}"],
            ("cloth.fabrics.tip.densty", "'density'", "s.yaml:4"),
        ),
    ],
)
def test_errors_by_name(file, override, said):
    with refused(SceneProblems, said):
        load_scene(file, override)


def test_what_is_left_takes_the_fabric(file):
    override = ["cloth.fabrics={near: silk}", "cloth.fabric=denim", "contact=null", "bodies=[]"]
    cloth = load_scene(file, override).scene.cloth
    assert [(r.name, r.fabric.name) for r in cloth.regions] == [("near", "silk"), ("rest", "denim")]


def test_overlap_and_emptiness(mesh):
    half = np.arange(len(mesh.faces)) < 20
    mesh = regions_of(mesh, {"half": half, "all": half | True, "none": half & False})
    with refused(MeshError, "region 'all'", got="'half'"):
        fabric_regions(mesh, {"half": BASE, "all": BASE})
    with refused(MeshError, "region 'none'", got="no faces"):
        fabric_regions(mesh, {"none": BASE}, BASE)
    with refused(MeshError, "fabrics", hint="`fabric`"):
        fabric_regions(mesh, {"half": BASE})
    cloth = with_regions(mesh, {"half": BASE}, BASE)
    with refused(MeshError, "cloth for splines", got="silk"):
        as_splines(cloth, span_size=0.1)


def test_owners(mesh):
    """Vertices between regions are of the thickest; every vertex of one."""
    regions = fabric_regions(mesh, dict.fromkeys(mesh.regions, BASE))
    found = assign_vertices(mesh, regions, np.array([1.0, 3.0, 2.0]))
    assert len(np.unique(np.concatenate(found))) == sum(map(len, found)) == mesh.n_vertices
    np.testing.assert_array_equal(found[1], np.unique(mesh.faces[mesh.regions["far"]]))


def test_among_other_cloths(mesh):
    """Joined behind another cloth: names, faces and mass go along."""
    cloth = with_regions(mesh, {"near": fabric("denim")}, BASE)
    both = join([weft.sheet(3, 3), cloth], ["flat", "shaped"]).move((0, 1, 0))
    assert [r.name for r in both.regions] == ["flat", "shaped near", "shaped rest"]
    assert both.regions[1].faces[0] == mesh.regions["near"][0] + 8
    assert both.mass.sum() == pytest.approx(cloth.mass.sum() + weft.sheet(3, 3).mass.sum())
    assert [p.name for p in pieces_of(both, 0.0)] == ["flat", "shaped near", "shaped rest"]
    elements = [(f.name, len(s.mesh.faces)) for f, s in both.elements]
    near = len(mesh.regions["near"])
    assert elements == [("cotton", 8), ("denim", near), ("silk", len(mesh.faces) - near)]
