"""Folds that a scene can make, against the edges of its mesh and the room of its contact."""

import numpy as np
import pytest

import weft
from weft.bodies.motion.pins import Keyframe, Path, Pin
from weft.contact.settings import SelfContact
from weft.fabric.fabric import Fabric
from weft.fabric.folds import RESOLVED
from weft.run.quality import Quality
from weft.run.resolution import fold_facts, scene_folds
from weft.scene.build import load_scene

NO_WEIGHT = (0.0, 0.0, 0.0)


@pytest.mark.parametrize(
    "cells, fields, warned",
    [
        (6, {}, True),  # edges of 20 cm; folds of 15 cm
        (26, {}, False),
        (6, {"gravity": NO_WEIGHT}, False),
        (6, {"pins": ()}, False),  # it falls
    ],
)
def test_cloth_that_is_too_coarse_for_its_own_weight(cells, fields, warned):
    """The longest folds: 2 sqrt(pi) (2 B L / (rho g))^(1/4) with the length L of the cloth."""
    cloth = weft.sheet(cells, cells, 1.0, 1.0, fabric="silk")
    scene = weft.Scene(cloth, **{"pins": [Pin(cloth.corners())], **fields})
    said = fold_facts(scene)[1]
    assert bool(said) == warned
    if warned:
        made = cloth.fabrics[0]
        fold = (2 * made.bending_weft / (9.81 * made.density)) ** 0.25 * 2 * np.sqrt(np.pi)
        assert f"{1e3 * fold:.0f} mm" in said[0] and "this mesh has 200 mm" in said[0]


def isotropic(stretch=2000.0, shear=1000.0, bending=(1e-6, 1e-6)):
    return Fabric(0.1, stretch, stretch, shear, *bending)


def pulled(cloth, move, **fields):
    """A scene whose cloth is held at the left and moved at the right by ``move`` [m]."""
    path = Path([Keyframe(0.0), Keyframe(1.0, move)], hold=True)
    pins = [Pin(cloth.border("left")), Pin(cloth.border("right"), path=path)]
    return weft.Scene(cloth, pins=pins, gravity=NO_WEIGHT, **fields)


def test_a_sheet_that_is_stretched_folds_with_the_wavelength_of_cerda_and_mahadevan():
    cloth = weft.sheet(41, 17, 0.4, 0.1, fabric=isotropic(bending=(3e-6, 1e-6)))
    (found,) = scene_folds(pulled(cloth, (0.02, 0, 0)))
    expected = 2 * np.sqrt(np.pi * 0.4) * (1e-6 / (2000 * 0.05)) ** 0.25
    assert found.fold.length == pytest.approx(expected, rel=1e-6), "they bend the weft alone"
    np.testing.assert_allclose(np.abs(found.fold.across), (0, 1), atol=1e-9)
    assert found.edge == pytest.approx(0.1 / 16), "across the folds, not along them"


def test_a_sheet_that_is_sheared_folds_with_the_wavelength_of_wong_and_pellegrino():
    """Half of it is sqrt(pi H t)/(3 (1 - nu^2) g)^(1/4), nu = 0 here."""
    thickness, young, height, angle = 1e-3, 2e6, 0.1, 0.02
    stretch, bending = young * thickness, young * thickness**3 / 12
    cloth = weft.sheet(11, 46, height, 0.45, fabric=isotropic(stretch, stretch / 2, 2 * (bending,)))
    (found,) = scene_folds(pulled(cloth, (0, 0, angle * height)))
    half = np.sqrt(np.pi * height * thickness) / (3 * angle) ** 0.25
    assert found.fold.length == pytest.approx(2 * half, rel=0.02)
    np.testing.assert_allclose(np.abs(found.fold.across), np.sqrt([0.5, 0.5]), atol=0.05)


def test_no_pull_no_folds():
    cloth = weft.sheet(21, 9, 0.4, 0.1, fabric=isotropic())
    assert not list(scene_folds(pulled(cloth, (-0.1, 0, 0)))), "moved together"
    narrow = weft.sheet(81, 3, 1.0, 0.02, fabric="silk")
    scene = weft.Scene(narrow, pins=[Pin(narrow.border("left"))])
    assert not list(scene_folds(scene)), "a ribbon has no room for a fold"


def test_a_pull_counts_until_it_is_let_go():
    """A pin that lets go at 0.5 s is never where its keyframe of 1 s says."""
    cloth = weft.sheet(21, 9, 0.4, 0.1, fabric=isotropic())
    path = Path([Keyframe(0.0), Keyframe(1.0, (0.08, 0, 0))], "linear", hold=True)
    pins = [Pin(cloth.border("left")), Pin(cloth.border("right"), path=path, until=0.5)]
    (found,) = scene_folds(weft.Scene(cloth, pins=pins, gravity=NO_WEIGHT))
    assert "10 %" in found.fold.cause


def test_folds_that_contact_has_no_room_for():
    cloth = weft.sheet(101, 21, 0.5, 0.1, fabric=isotropic(2e4, 1e4, (1e-9, 1e-9)))
    scene = pulled(cloth, (0.05, 0, 0), contact=SelfContact(gap=1e-3, thickness=3e-3))
    (found,) = scene_folds(scene)
    assert found.room == pytest.approx(4e-3) and found.fold.length < 8e-3
    assert any("4.0 mm apart" in text for text in fold_facts(scene)[1])
    thin = pulled(cloth, (0.05, 0, 0), contact=SelfContact(gap=1e-3))
    assert not any("apart" in text for text in fold_facts(thin)[1])


def test_the_cells_of_splines_are_between_control_points():
    cloth = weft.spline_sheet(12, 22, 1.0, 1.0, fabric="silk")
    (found,) = scene_folds(weft.Scene(cloth, pins=[Pin(cloth.border("top"))]))
    assert found.edge == pytest.approx(1 / 20 if found.fold.across[1] else 1 / 10)


def arch(n, out):
    """A run of a level strip whose ends are pushed together until it stands up in an arch."""
    cloth = weft.sheet(n, 5, 0.4, 0.1, fabric="cotton")
    x = np.array(cloth.vertices)
    x[:, 1] = 0.01 * np.cos(np.pi * x[:, 0] / 0.4)
    path = Path([Keyframe(0.0), Keyframe(0.3, (-0.3, 0, 0))], hold=True)
    pins = [Pin(cloth.border("left")), Pin(cloth.border("right"), path=path)]
    scene = weft.Scene(cloth.with_points(x), pins=pins, gravity=NO_WEIGHT)
    return Quality(weft.simulate(scene, frames=10, fps=30, out=out, progress=False))


def test_a_finer_mesh_of_the_same_fold_has_a_better_number(tmp_path):
    coarse, fine = (arch(n, tmp_path / str(n)).measure_frame(-1)["parts"]["cloth"] for n in (7, 25))
    assert fine["coarse"] < 0.15 < 0.3 < coarse["coarse"]
    assert fine["turn"]["p50"] < 0.5 * coarse["turn"]["p50"]


def loaded(tmp_path, cloth):
    (tmp_path / "scene.yaml").write_text(f"cloths: [{cloth}]\npins: [{{corners: top}}]\n")
    return load_scene(tmp_path / "scene.yaml")


@pytest.mark.parametrize(
    "cloth",
    [
        "{sheet: {size: auto, height: 70 cm}, fabric: silk}",
        "{panel: {outline: [[0, 0], [1, 0], [1, 1], [0, 1]], size: auto}, fabric: felt}",
        "{sheet: {size: auto}, fabric: silk, discretization: bspline}",
    ],
)
def test_an_automatic_size_resolves_the_folds_that_check_finds(tmp_path, cloth):
    scene = loaded(tmp_path, cloth)
    (found,) = scene_folds(scene.scene)
    assert 0.8 * RESOLVED < found.edges < 1.3 * RESOLVED
    assert "size: auto is" in scene.notes[0]
