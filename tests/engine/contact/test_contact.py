"""Contact of a mesh: directions pass through nothing, and what is refused at the start."""

import ipctk
import numpy as np
import pytest

import weft
from tests.checks import touching
from tests.engine.contact.test_barrier import sheets
from tests.refusals import refused
from weft import kernel
from weft.base.errors import SceneError
from weft.contact import Between, plate
from weft.contact.contact import Contact
from weft.contact.contact_forces import contact_loads
from weft.contact.settings import SelfContact
from weft.discretization.mesh import TriangleMesh
from weft.scene.prepare import prepare
from weft.scene.scene import Scene


def check_directions(term, x, d, vertices_of, faces):
    """What ``max_step`` allows of a direction, and what ``truncate`` gives, passes through nothing;
    return the part that is allowed and the direction that is given.
    """
    at, along, start = kernel.points(x), kernel.points(d), vertices_of(x)
    rest = np.asfortranarray(term.workspace.contact.mesh.rest[: len(start)])
    oracle = ipctk.CollisionMesh(rest, ipctk.edges(faces), faces)
    part, held = term.max_step(at, along), np.array(kernel.numpy(term.truncate(at, along)))
    assert 0 < part < 1
    for way in (part * d, held):
        assert ipctk.is_step_collision_free(oracle, start, vertices_of(x + way))
    length = np.linalg.norm(held, axis=1) / np.linalg.norm(d, axis=1)
    assert (length <= 1 + 1e-12).all() and length.min() > 0
    return part, held


@pytest.mark.parametrize("seed", range(3))
def test_directions_of_a_search(seed, device):
    x, X, faces = sheets(seed, apart=0.05, noise=0.004)
    mesh = TriangleMesh(x, faces, X[faces][:, :, [0, 2]])
    term = touching(Contact.of(mesh, np.ones(len(x)), SelfContact(0.01)), x)
    d = 0.1 * np.random.default_rng(seed).normal(size=x.shape)
    part, held = check_directions(term, x, d, np.asarray, faces)
    length = np.linalg.norm(held, axis=1)
    assert (length / np.linalg.norm(d, axis=1)).mean() > part
    assert term.max_step(kernel.points(x), kernel.points(held)) == 1.0
    cosine = (held * d).sum(1) / length / np.linalg.norm(d, axis=1)
    np.testing.assert_allclose(cosine, 1.0, atol=1e-9)


REFUSED = {  # settings of contact, of a sheet above a table, and what is wrong
    "gap of many edges": (
        {"gap": 0.02},
        ("contact.gap", "0.02 m", "0.01909 m"),
    ),
    "thickness of one": ({"thickness": 6e-3}, ("contact.thickness", "0.006 m", "0.005 m")),
    "too near": ({"thickness": 3e-3}, ("cloth at the start", "cloth and table", "resolve: true")),
    "no such name": (
        {"pairs": [Between(("cloth", "tabel"), ignore=True)]},
        ("contact.pairs", "'tabel'", "'table'"),
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case):
    settings, said = REFUSED[case]
    cloth, table = weft.sheet(12, 12, 0.055, 0.055).move((0, 2e-3, 0)), plate(1, 1, name="table")
    with refused(SceneError, said):
        prepare(Scene(cloth, bodies=[table], contact=SelfContact(**settings)))


def test_a_start_that_intersects_is_refused():
    lower = weft.sheet(9, 9, 0.3, 0.3)
    cloth = weft.join([lower, lower.move((0.01, 0.01, 0.02), (20, 0, 0))], ["lower", "upper"])
    with refused(SceneError, "cloth at the start", got="lower and upper", hint="`weft check`"):
        prepare(Scene(cloth, contact=SelfContact(4e-3)))
    with refused(SceneError, "contact.pairs a, b"):
        Between(("a", "b"))


def test_the_pressure_on_cloth_is_the_resultant_of_its_contact():
    """Cloth on one plate has the plate's push; between two plates, the pushes cancel."""
    cloth = weft.sheet(6, 6, 0.05, 0.05).move((0, 2e-3, 0))
    plates = [plate(0.2, 0.2, name="low"), plate(0.2, 0.2, name="high").move((0, 4e-3, 0))]
    pressures = []
    for bodies in (plates[:1], plates):
        model = prepare(Scene(cloth, bodies=bodies, contact=SelfContact(3e-3))).model
        loads = contact_loads(model.contact, cloth.vertices, 0.0, cloth.mesh.vertex_area)
        assert loads["contact_forces"].min() > 0
        pressures.append(loads["pressure"])
    area = cloth.mesh.vertex_area
    one = loads["contact_forces"].sum() / 2
    assert pressures[0] @ area == pytest.approx(one, rel=1e-6)
    assert pressures[1].max() < 1e-6 * pressures[0].max()
