"""A simulated drape that a fit follows: exact derivatives, whatever it turns or shifts; and the
drape's block of a fit file.
"""

import dataclasses

import numpy as np
import pytest

from tests.plugins.lab.fitting.differences import difference_jacobian
from tests.plugins.lab.fitting.drawn import drawn, saved
from tests.plugins.lab.fitting.files import fit_file
from tests.plugins.lab.fitting.make_photograph import (
    ASIDE,
    HEIGHT,
    PATH,
)
from tests.refusals import refused
from weft.base.errors import FabricError
from weft.fabric.fabric import fabric
from weft.integrators.quasi_static import QuasiStaticSettings
from weft.plugins.lab.fitting.drape import DrapeSettings, build_drape
from weft.plugins.lab.fitting.drape_equilibrium import (
    FIELDS,
    DrapeContinuation,
    DrapeTester,
    Eye,
)
from weft.plugins.lab.fitting.file import read_fit
from weft.plugins.lab.fitting.fit import fit
from weft.plugins.lab.fitting.measurement import Measurement, scale_field
from weft.plugins.lab.fitting.outline import RadialOutline
from weft.plugins.lab.fitting.photograph import measure_outline
from weft.plugins.lab.fitting.picture import segment_cloth
from weft.plugins.lab.laboratory.shadow import ray_angles, shadow

COARSE = 15e-3  # [m]
EXACT = QuasiStaticSettings(1e-8, 1e-9, max_iterations=3000)
SIX = RadialOutline(0.12 + 0.01 * np.cos(6 * ray_angles()) + 0.003 * np.cos(2 * ray_angles()))
EYE = Eye(0.8, 0.01, -0.02)


@pytest.fixture(scope="module")
def seen():
    """A measurement of six folds, on a coarse mesh, at rest to many digits."""
    one = build_drape(
        DrapeSettings(kind="drape", warp=[0.0], size=COARSE, drapings=1), [SIX], [EYE]
    )
    tester = dataclasses.replace(one.following.tester, settings=EXACT)
    return dataclasses.replace(one, following=DrapeContinuation(tester, 1))


def test_jacobian_is_that_of_differences(seen):
    """The implicit function theorem against drapes that go on to fabrics nearby."""
    near = seen.near(fabric("cotton"))
    assert isinstance(near, Measurement)
    exact = near.jacobian(fabric("cotton"), FIELDS)
    other = difference_jacobian(near, fabric("cotton"), FIELDS, 3e-4)
    assert exact == pytest.approx(other, rel=1e-3, abs=1e-3 * np.abs(exact).max())
    # Weight and all stiffness twice as large: the same drape.
    assert exact.sum(1) == pytest.approx(np.zeros(4), abs=1e-3 * np.abs(exact).max())
    assert (near.jacobian(fabric("cotton"), ["thickness"]) == 0).all()


def test_outline_is_the_shadow(seen):
    """Area and folds as the laboratory's exact union of triangles has them."""
    drape = seen.following.drapes(fabric("cotton"))[0]
    other = shadow(drape.x, drape.mesh.faces, drape.mesh.groups["rim"], 0.09)
    got = drape.outline(Eye())
    assert got.area == pytest.approx(other.area, rel=5e-4)
    assert got.nodes == other.nodes
    assert drape.outline(EYE).area < got.area  # what hangs is farther away


@pytest.mark.parametrize("turn", [0.4, 2.0])
def test_turned_specimen(seen, turn):
    drape = seen.following.drapes(fabric("cotton"))[0]
    c, s = np.cos(turn), np.sin(turn)
    x = drape.x @ np.array([[c, 0, -s], [0, 1, 0], [s, 0, c]])
    turned, straight = dataclasses.replace(drape, x=x), drape.outline(Eye())
    back = turned.outline(Eye()).rotate(-turn)  # where it is said how warp lies
    assert back.numbers == pytest.approx(straight.numbers, rel=1e-3, abs=2e-5)
    assert back.radius == pytest.approx(straight.radius, abs=5e-4)
    back = turned.outline(EYE).rotate(-turn)
    assert back.numbers == pytest.approx(drape.outline(EYE.rotate(-turn)).numbers, rel=1e-3)


def test_goes_on_or_drapes_anew():
    """Near a fabric the drape goes on, and comes back; far from it the shelf goes down."""
    cotton, following = fabric("cotton"), DrapeContinuation(DrapeTester.of(COARSE), 1)
    view = [lambda drape, shift: drape.outline(Eye(), shift).numbers]
    first = following.numbers(cotton, view)
    following.numbers(scale_field(cotton, "bending_warp", 1.1), view)
    assert following.restarts == 1
    assert following.numbers(cotton, view) == pytest.approx(first, abs=0)  # remembered
    stiff = dataclasses.replace(cotton, bending_warp=5e-5, bending_weft=5e-5)
    assert following.numbers(stiff, view)[0] > first[0] + 0.1
    assert following.restarts == 2
    assert 4 <= following.outlines(cotton, [Eye()])[0].nodes <= 8


def test_block(tmp_path):
    saved(tmp_path / "p.png", drawn())
    block = "kind: drape, picture: p.png, camera: 1.2 m, size: 15 mm, drapings: 2, scatter: 3 %"
    (one,) = read_fit(fit_file(tmp_path, block)).measurements
    assert one.eyes[0].height == 1.2 and one.following.count == 2
    assert one.sigma == pytest.approx(
        np.sqrt(1 + 1 / 2) * np.array([0.03, *(0.12 * one.numbers[1:3])])
    )
    assert [o.nodes for o in one.seen] == [6]


def test_ratio(tmp_path):
    ratio = "kind: ratio, fields: [bending_warp, bending_weft], value: 1.5"
    read = read_fit(
        fit_file(tmp_path, "kind: value, field: bending_warp, value: 9 uN*m", ratio, head="")
    )
    found = fit(read.measurements, read.start)
    assert found.fabric.bending_weft == pytest.approx(6e-6, rel=1e-4)
    assert found.relative["bending_weft"] == pytest.approx(np.hypot(np.log(1.2), 0.05), rel=0.02)
    ratio = read.measurements[1]
    fields = ["bending_weft", "bending_warp", "shear"]
    exact = ratio.jacobian(found.fabric, fields)
    assert exact == pytest.approx(difference_jacobian(ratio, found.fabric, fields), abs=1e-6)
    with refused(FabricError, "measurements.0.fields"):
        read_fit(fit_file(tmp_path, "kind: ratio, fields: [density, shear], value: 1"))


def test_photograph_of_the_example():
    """What is found in the picture is what its camera saw of the drape it was made of: the
    coefficient to half a point.
    """
    outline, eye = measure_outline(segment_cloth(PATH), height=HEIGHT)
    assert (eye.x, eye.y) == pytest.approx(ASIDE, abs=2e-4)
    assert outline.coefficient == pytest.approx(0.457, abs=5e-3)
    assert outline.nodes == 6
