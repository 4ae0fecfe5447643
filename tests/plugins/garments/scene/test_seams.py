"""What sews: bonds, hinges across seams, drag; gravity that begins later; who does not meet."""

import dataclasses

import numpy as np
import pytest

import weft
from tests.checks import scatter
from tests.plugins.garments.builders import simulated
from tests.refusals import refused
from weft import kernel
from weft.base.errors import SceneError
from weft.cloth.cloth import Cloth
from weft.contact.settings import SelfContact
from weft.discretization.mesh import TriangleMesh, grid
from weft.energies.elastic.hinge_bending import HingeBending
from weft.energies.loads.gravity import Gravity
from weft.energies.loads.settling_drag import Drag
from weft.energies.seams.sewing import SeamPanels, SeamRows
from weft.energies.springs.bonds import Bonds
from weft.energies.state import State
from weft.fabric.fabric import fabric
from weft.integrators.base import StepSettings
from weft.integrators.model import Model
from weft.plugins.garments.patterns.garment import representatives
from weft.scene.prepare import prepare
from weft.scene.scene import Scene
from weft.solve.newton.psd import Psd
from weft.solve.sparse.block_csr import BlockCsr, BlockPattern

RIGIDITY = (2e-2, 1e-2)


def cut(nx=7, ny=6):
    """A sheet, the same cut in two along its middle, and (k,2) pairs across the cut."""
    whole = grid(nx, ny, 1.0, 0.8, "random", seed=3)
    middle = (nx - 1) // 2
    column = np.arange(nx * ny) % nx
    right = (column[whole.faces] >= middle).all(1)
    seam = np.flatnonzero(column == middle)
    new = np.arange(nx * ny, nx * ny + len(seam))
    faces = whole.faces.copy()
    table = np.arange(nx * ny)
    table[seam] = new
    faces[right] = table[faces[right]]
    x = np.concatenate([whole.vertices, whole.vertices[seam]])
    mesh = TriangleMesh(x, faces, whole.corner_uv)
    return whole, mesh, np.stack([seam, new], axis=1).astype(np.int32)


def sides(mesh):
    m, n = len(mesh.faces), mesh.n_vertices
    return SeamPanels(mesh, np.full(n, 500.0), np.tile(RIGIDITY, (m, 1)))


def two_points(**about):
    given = {"first": 0.5, "last": 0.1, "closing": (1.0, 2.0)} | about
    return Bonds(np.array([[0, 1]]), np.array([30.0]), 2, **given)


@pytest.mark.parametrize("order", [np.s_[:, :], np.s_[::-1], np.s_[:, ::-1]])
def test_hinges_across_a_seam_are_those_of_the_uncut_sheet(rng, order):
    """Cut and sewn, a sheet bends with the same energy and forces as if it had never been cut,
    whichever end and side of the seam is first.
    """
    whole, mesh, pairs = cut()
    seam = sides(mesh).hinges([SeamRows(pairs[order])], 0.0)
    inner = HingeBending.of(mesh, RIGIDITY)
    bent = whole.vertices + 0.05 * rng.normal(size=whole.vertices.shape)
    x = np.concatenate([bent, bent[pairs[:, 0]]])
    expected = HingeBending.of(whole, RIGIDITY)
    total = inner.value(x).sum() + seam.value(x).sum()
    np.testing.assert_allclose(total, expected.value(bent).sum(), rtol=1e-12)
    force = scatter(inner, x) + scatter(seam, x)
    np.add.at(force, pairs[:, 0], force[pairs[:, 1]])
    np.testing.assert_allclose(force[: len(bent)], scatter(expected, bent), rtol=0, atol=1e-12)


def test_a_fold_has_its_own_stiffness_and_angle():
    """A moment of fold_stiffness times the angle, per length: 1/2 kappa L (theta - angle)^2."""
    _, mesh, pairs = cut()
    joint = SeamRows(pairs, angle=0.4, fold_stiffness=0.03)
    value = sides(mesh).hinges([joint], 0.0).value(mesh.vertices).sum()
    length = np.linalg.norm(np.diff(mesh.vertices[pairs[:, 0]], axis=0), axis=1).sum()
    np.testing.assert_allclose(value, 0.5 * 0.03 * length * 0.4**2, rtol=1e-12)


def test_a_seam_closes_from_one_end():
    """One end closes in the first part of the window, the other one in the last part."""
    seam = SeamRows(np.array([[0, 1], [2, 3], [4, 5]]), window=(0.5, 1.0), closes_from="start")
    found = seam.windows()
    np.testing.assert_allclose(found[:, 0], 0.5 + 0.3 * np.array([0.0, 0.5, 1.0]))
    np.testing.assert_allclose(found[:, 1] - found[:, 0], 0.2)
    other = dataclasses.replace(seam, closes_from="end").windows()
    np.testing.assert_allclose(other, found[::-1])
    at_once = dataclasses.replace(seam, closes_from="").windows()
    np.testing.assert_array_equal(at_once, [[0.5, 1.0]] * 3)


def test_bonds_close_in_time_and_only_pull():
    bond = two_points()
    lengths = [float(bond.lengths(t)[0]) for t in (0.0, 1.0, 1.5, 2.0, 9.0)]
    np.testing.assert_allclose(lengths, [0.5, 0.5, 0.3, 0.1, 0.1])
    released = two_points(life=(0.5, 1.0))
    assert [bool(released.acting(t)[0]) for t in (0.4, 0.5, 0.99, 1.0)] == [0, 1, 1, 0]
    assert not bond.gradient(np.array([[0.0, 0, 0], [0.09, 0, 0]])).any()


@pytest.mark.parametrize("wrong", [{"closing": (2.0, 1.0)}, {"life": (2.0, 1.0)}, {"last": -0.1}])
def test_bonds_refuse_numbers_that_mean_nothing(wrong):
    with refused(SceneError, f"bonds.{next(iter(wrong))}"):
        two_points(**wrong)


def falling(cloth, energies, **about):
    return Scene(cloth, energies=energies, step=0.01, settings=StepSettings(), **about)


@pytest.mark.parametrize("part, low, high", [(1.0, -0.1, 0.0), (0.01, -np.inf, -0.5)])
def test_a_bond_tears_at_its_strength_and_stays_torn(tmp_path, part, low, high):
    """Two sheets, the upper one held: the bonds carry the weight of the lower one, or tear."""
    sheets = weft.sheet(3, 3, 0.1, 0.1), weft.sheet(3, 3, 0.1, 0.1).move((0, -0.05, 0))
    pairs = np.array([[i, i + 9] for i in range(9)], dtype=np.int32)
    about = {"first": 0.05, "last": 0.05, "strength": part * 9.81 * sheets[1].mass.sum()}
    bonds = Bonds(pairs, np.full(9, 50.0), 18, **about)
    scene = falling(weft.join(sheets), [bonds], pins=[weft.Pin(np.arange(9))])
    run = simulated(scene, 20, tmp_path, 50)
    assert low < run.positions(-1)[9:, 1].mean() < high


def test_drag_lets_velocity_die_at_its_rate(tmp_path):
    """Without gravity v = v_0 exp(-c t), to the first order of backward Euler: 1/(1 + c h)^n."""
    cloth = weft.sheet(3, 3)
    drag = Drag(cloth.mass, 4.0)
    scene = falling(cloth, [drag], gravity=(0, 0, 0), velocity=(1.0, 0, 0))
    run = simulated(scene, 10, tmp_path, 100)
    v = (run.positions(10) - run.positions(9)) * 100
    np.testing.assert_allclose(v[:, 0], (1 + 4.0 * 0.01) ** -10, rtol=1e-6)


def test_gravity_that_begins_later_falls_later(tmp_path):
    scene = Scene(weft.sheet(3, 3), step=0.01, gravity_from=(0.1, 0.1))
    run = simulated(scene, 20, tmp_path, 100)
    np.testing.assert_allclose(run.positions(9), scene.cloth.vertices, atol=1e-12)
    n = 10  # steps with gravity: those that begin at 0.10 s or later
    fallen = 9.81 * 0.01**2 * n * (n + 1) / 2
    np.testing.assert_allclose(run.positions(20)[:, 1], -fallen, rtol=1e-6)
    ramp = Gravity(scene.cloth.mass, onset=(1.0, 2.0))
    assert [ramp.part(t) for t in (0.5, 1.25, 3.0)] == [0.0, 0.25, 1.0]


def test_what_is_sewn_meets_at_its_seam_and_nowhere_else():
    _, mesh, pairs = cut()
    cloth = Cloth(mesh, fabric("cotton"))
    with refused(SceneError, "cloth at the start", got="faces"):
        prepare(Scene(cloth, contact=SelfContact(gap=1e-3)))
    sewn = dataclasses.replace(cloth, sewn=representatives(mesh.n_vertices, [pairs]))
    contact, x = prepare(Scene(sewn, contact=SelfContact(gap=1e-3))).model.contact, mesh.vertices
    assert len(contact.crossings(np.array(x))) == 0
    assert contact.least_distance(np.array(x)) > 0.05  # no pair at the seam
    folded = np.array(x)
    right = folded[:, 0] > 1e-9
    folded[right, 0] *= -1
    folded[right, 1] += 1e-4 * (1 - 2 * np.abs(folded[right, 2]))
    assert contact.least_distance(folded) < 2e-4
    folded[np.flatnonzero(right)[1::2], 1] *= -1
    assert len(contact.crossings(folded)) > 0


def test_an_open_seam_has_no_energy_and_stiffens_no_step_of_1998():
    """Hinges across a seam act only once it is closed: by forces, and in the matrix of
    conditions.
    """
    _, mesh, pairs = cut()
    hinges = sides(mesh).hinges([SeamRows(pairs)], 1.0)
    model = Model(mesh.vertex_area, [hinges])
    pattern = BlockPattern.of(mesh.n_vertices, [hinges.stencil])
    bent = mesh.vertices + 0.05 * np.random.default_rng(2).normal(size=mesh.vertices.shape)
    bound, x = hinges.bind(pattern), kernel.points(bent)
    for t, acts in ((0.5, False), (1.5, True)):
        step, A = model.step(State(bent, np.zeros_like(bent), t), 0.01), BlockCsr.zeros(pattern)
        bound.freeze(step)
        bound.add_condition_hessian(x, step, 0.0, Psd.PROJECTED, A)
        assert (bound.value(x) > 0) == acts, t
        assert (np.abs(A.finish().to_scipy()).max() > 1e-6) == acts, t
