"""The fit: what it finds, how well it says it knows that, and what it says it does not know."""

import dataclasses

import numpy as np
import pytest

from tests.refusals import refused
from weft.base.errors import FabricError
from weft.fabric.fabric import fabric
from weft.plugins.lab.fitting.cantilever import CantileverTest
from weft.plugins.lab.fitting.drape import CusickTest
from weft.plugins.lab.fitting.drape_equilibrium import DrapeContinuation, DrapeTester
from weft.plugins.lab.fitting.fit import fit
from weft.plugins.lab.fitting.measurement import Measurement
from weft.plugins.lab.fitting.slopes import SlopeData
from weft.plugins.lab.fitting.value import Value
from weft.plugins.lab.validate.fitting import Trial, draws

X = np.array([1.0, 2.0, 4.0])
LABELS = ("x", "y")


def line(field="shear", k=30.0, size=0.05, constant=0.0, hysteresis=False):
    data = k * X + constant
    return SlopeData(field, field, X, X, data, size * k * X, hysteresis, LABELS)


def test_a_line_and_its_standard_deviation():
    """One field, a straight model: sigma(log k)^2 = 1/sum((k x/sigma)^2) = 0.05^2/3."""
    found = fit([line()], fabric("cotton"))
    assert found.fields == ("shear",)
    assert found.fabric.shear == pytest.approx(30.0, rel=1e-8)
    assert found.relative["shear"] == pytest.approx(0.05 / np.sqrt(3), rel=1e-6)
    assert found.freedom == 2 and found.squares == pytest.approx(0.0, abs=1e-12)
    assert found.scale == 1.0 and found.shares("shear") == {"shear": pytest.approx(1.0)}


def test_a_density_is_from_the_balance_and_a_rigidity_from_its_cantilever():
    """Two cantilevers and a weight for three fields: the cantilevers cannot say the density."""
    strips = [CantileverTest(way, way, 0.015, 1e-3) for way in ("warp", "weft")]
    balance = Value("balance", "density", 0.12, 0.006)
    found = fit([*strips, balance], fabric("cotton"))
    assert found.freedom == 0
    assert found.shares("density") == {"balance": pytest.approx(1.0)}
    warp = found.shares("bending_warp")
    assert set(warp) == {"warp", "balance"}
    # bending = density c^3: variances 3^2 (1/15)^2 and (1/20)^2
    assert warp["warp"] == pytest.approx(0.04 / (0.04 + 0.0025), rel=1e-3)


def test_hysteresis():
    """A constant beside the line misleads the fit unless it may be there; it takes a freedom."""
    plain = fit([line(constant=6.0)], fabric("cotton"))
    told = fit([line(constant=6.0, hysteresis=True)], fabric("cotton"))
    assert plain.fabric.shear > 32.0
    assert told.fabric.shear == pytest.approx(30.0, rel=1e-8)
    assert (plain.freedom, told.freedom) == (2, 1)
    assert told.relative["shear"] > plain.relative["shear"]


def test_a_cantilever_says_rigidity_over_density():
    """Density is held, the rigidity found beside it, and the direction is named."""
    cotton = fabric("cotton")
    strips = [CantileverTest(way, way, 0.015, 1e-4) for way in ("warp", "weft")]
    found = fit(strips, cotton)
    assert found.fields == ("bending_warp", "bending_weft")
    assert found.fabric.density == cotton.density
    assert strips[0].model(found.fabric) == pytest.approx(0.015, rel=1e-6)
    (held,) = found.open
    assert held.field == "density" and held.factor == np.inf
    assert dict(held.others) == {"bending_warp": 1.0, "bending_weft": 1.0}
    assert "density x r, bending_warp x r, bending_weft x r" in held.text
    weighed = fit([*strips, Value("weight", "density", 0.2, 2e-3)], cotton)
    assert not weighed.open and weighed.fabric.density == pytest.approx(0.2)
    assert weighed.correlation[0, 1] == pytest.approx(0.01 / np.hypot(0.01, 0.02), rel=1e-3)


def test_what_data_tell_to_a_factor():
    """A reading that is known to 80 % determines nothing; it says so."""
    found = fit([Value("a", "thickness", 1e-3, 8e-4), line()], fabric("cotton"))
    assert found.fields == ("shear",)
    assert found.open[0].field == "thickness" and 1.6 < found.open[0].factor < 20
    assert "only to a factor of" in found.open[0].text
    assert found.fabric.thickness == fabric("cotton").thickness


def test_data_that_scatter_more_than_they_say():
    data = 30.0 * X * np.array([1.3, 0.7, 1.2])
    test = SlopeData("a", "shear", X, X, data, 0.3 * X, False, LABELS)
    found = fit([test], fabric("cotton"))
    assert found.scale > 5 and found.chance < 1e-6
    assert found.relative["shear"] == pytest.approx(
        found.scale * np.sqrt(found.covariance[0, 0]), rel=1e-12
    )


def test_stated_regions_hold_what_they_say():
    """25 draws of one preset; the certificate has 300 and closer bounds."""
    trials = list(draws("wool", 25))
    z = np.concatenate([t.z for t in trials])
    assert 0.8 < np.sqrt((z**2).mean()) < 1.2
    assert all(isinstance(t, Trial) for t in trials) and sum(t.covered for t in trials) >= 21


def test_what_cannot_be_fitted():
    cotton = fabric("cotton")
    with refused(FabricError, "measurements", got="none"):
        fit([], cotton)
    with refused(FabricError, "hold", got="shear"):
        fit([line()], cotton, ["shear"])
    with refused(FabricError, "shear of the starting fabric none", got=0):
        fit([line()], dataclasses.replace(cotton, shear=0.0, name="none"))


@dataclasses.dataclass(frozen=True, eq=False)
class Draped(Measurement):
    """A drape as derivatives have it: its numbers seem to tell warp from weft."""

    tells_ratio = False
    name = "drape"
    depends_on = ("density", "stretch_warp", "stretch_weft", "bending_warp", "bending_weft")
    sigma = 0.1
    data: np.ndarray

    def model(self, fabric):
        d, s, t, a, b = np.log([getattr(fabric, f) for f in self.depends_on])
        return np.array([a + b - 2 * d, a - 0.5 * b + 0.01 * s, 0.7 * b + 0.01 * t])


def test_a_drape_holds_the_ratio_of_warp_and_weft():
    """Of a fabric whose ratio is another one; with a measurement of one direction it is told."""
    start = fabric("denim")
    true = dataclasses.replace(start, bending_warp=6e-5, bending_weft=1e-5)
    data = [Draped(Draped(0).model(true)), Value("weight", "density", true.density, 1e-4)]
    found = fit(data, start)
    assert found.fields == ("density", "bending_warp", "bending_weft")
    ratio = start.bending_warp / start.bending_weft
    assert found.fabric.bending_warp == pytest.approx(ratio * found.fabric.bending_weft, rel=1e-12)
    assert found.relative["bending_warp"] == pytest.approx(found.relative["bending_weft"])
    assert found.correlation[1, 2] == pytest.approx(1.0)
    held = {o.field: o for o in found.open}
    assert held["bending_warp/bending_weft"].value == pytest.approx(ratio)
    assert "only the mean of both" in held["bending_warp/bending_weft"].text
    assert {"stretch_warp", "stretch_weft"} <= {*held}
    assert found.freedom == 4 - 2
    told = fit([*data, Value("warp", "bending_warp", 6e-5, 1e-6)], start)
    assert told.fabric.bending_weft == pytest.approx(1e-5, rel=1e-3)
    assert not any("/" in o.field for o in told.open)


def test_a_drape_alone():
    """A slow measurement that leaves directions open: some numbers are held, one is found."""
    denim = fabric("denim")
    data = CusickTest("drape", 0.72, 0.02, DrapeContinuation(DrapeTester.of(15e-3), 1))
    said = []
    found = fit([data], denim, ["stretch_warp", "stretch_weft", "shear", "density"], said.append)
    assert found.fields == ("bending_warp", "bending_weft")
    assert [o.field for o in found.open] == ["bending_warp/bending_weft"]
    assert any("simulating" in line for line in said)
    assert found.measurements[0].model(found.fabric) == pytest.approx(0.72, abs=0.03)
