"""Fabrics: presets with sources, files with units, and what is refused."""

import math

import pytest

from tests.refusals import refused
from weft.base.errors import FabricError, UnitError
from weft.fabric.fabric import ORIGINS, UNITS, fabric, preset_names
from weft.run.plausibility import about_fabrics

pytestmark = pytest.mark.quick


def cotton(**changes):
    return {"preset": "cotton", **changes}


@pytest.mark.parametrize("name", preset_names())
def test_preset(name):
    """Every number has a source, and lies where textiles do."""
    f = fabric(name)
    given = [k for k in UNITS if k in f.sources]
    assert {*list(UNITS)[:7], "damping"} <= set(given)
    assert all(len(f.sources[k]) >= 9 and f.origin(k) in ORIGINS for k in given)
    assert f.title and f.name == name
    assert 0.01 < f.density < 1 and 5e-5 < f.thickness < 5e-3
    assert all(50 < k < 3e4 for k in (f.stretch_warp, f.stretch_weft))
    assert all(1e-7 < D < 1e-3 for D in (f.bending_warp, f.bending_weft))


def test_shorthands_and_preset_base():
    more = {"bending": "0.1 gf*cm^2/cm", "shear": "0.6 gf/(cm*deg)"}
    f = fabric(cotton(stretch=["5 kN/m", "4 kN/m"], **more))
    assert (f.stretch_warp, f.stretch_weft) == (5000.0, 4000.0)
    assert f.bending_warp == f.bending_weft == pytest.approx(0.1 * 9.80665e-5)
    assert f.shear == pytest.approx(33.71, abs=0.01) and f.density == fabric("cotton").density


def test_file(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text(
        "{density: 120 g/m^2, stretch: 3000 N/m, shear: 30 N/m, "
        "bending: {value: 1e-5 N*m, source: cantilever test}}"
    )
    f = fabric(path)
    assert f.name == "mine" and f.density == pytest.approx(0.12)
    assert f.sources["bending_warp"] == "cantilever test"


@pytest.mark.parametrize(
    "value, error, match",
    [
        ("cottn", FabricError, ("fabric", "'cottn'", "'cotton'")),
        (cotton(densty="1 kg/m^2"), FabricError, ("field fabric.densty", "'density'")),
        (cotton(density=0.1), UnitError, "fabric.density"),
        (cotton(density="0.1 kg"), UnitError, ("fabric.density", "'0.1 kg'")),
        (cotton(density="0 g/m^2"), FabricError, "fabric.density"),
        (cotton(stretch="0 N/m"), FabricError, "fabric.stretch_warp"),
        (cotton(bending="-1 N*m"), FabricError, ("fabric.bending_warp", "'-1 N*m'")),
        (cotton(shear="0.6 gf/cm*deg"), UnitError, ("fabric.shear", "gf/(cm*deg)")),
        (cotton(stretch="4000 N/(m*rad)"), UnitError, ("fabric.stretch_warp", "angle")),
        ({"density": "1 kg/m^2"}, FabricError, "missing stretch_warp"),
        ("nowhere.yaml", FabricError, ("fabric file", "nowhere.yaml")),
    ],
)
def test_refused(value, error, match):
    with refused(error, match):
        fabric(value)


def test_a_quiet_fabric_may_have_neither_shear_nor_bending(recwarn):
    f = fabric(cotton(density="120 gsm", shear="0 N/m", bending="0 N*m"))
    assert f.shear == f.bending_warp == 0 and not recwarn.list
    with pytest.warns(UserWarning, match=r"shear = 0.0103 N/m, 1.*e\+03 times below"):
        fabric(cotton(shear="0.0103 N/m"))


@pytest.mark.parametrize(
    "fields, error, line",
    [
        ("densty: 1 kg/m^2", FabricError, 2),
        ("shear: 30", UnitError, 2),
        ("stretch: [3 kN/m, 3 kg]", UnitError, 2),
        ("bending: [1e-5 N*m]", FabricError, 2),
        ("density: {value: 1 kg/m^2, sorce: balance}", FabricError, 2),
        ("title: x\nlimit: 2 %\nrest_stretch: 1.1", FabricError, 3),
        ("curve_warp: [[1 %, 2 N/m], [2 %, 1 N/m]]", FabricError, 2),
    ],
)
def test_errors_of_a_file_name_the_line(tmp_path, fields, error, line):
    path = tmp_path / "mine.yaml"
    path.write_text(f"preset: cotton\n{fields}\n")
    with pytest.raises(error) as caught:
        fabric(path)
    assert caught.value.where == f"mine.yaml:{line}"


def test_odd_numbers_of_a_fabric_are_one_warning(tmp_path):
    """With both directions, sourced numbers and ends of maps; scenes do not repeat them."""
    (tmp_path / "mine.yaml").write_text(
        "{preset: cotton, stretch: 1e8 N/m, density: {value: 12 kg/m^2, source: mine}, "
        "shear: {map: hem, from: 40 N/m, to: 4e6 N/m}, bending: 0 N*m, thickness: 0.3 mm}"
    )
    with pytest.warns(UserWarning) as caught:
        odd = fabric(tmp_path / "mine.yaml")
    (text,) = [str(w.message) for w in caught]
    assert "mine.yaml is unlike all fabrics" in text and text.endswith("check the units")
    found = ["density = 12 kg/m^2", "stretch_warp", "stretch_weft", "shear = 4e+06 N/m"]
    assert all(word in text for word in found) and "thickness" not in text
    (zeros,) = about_fabrics([odd])
    assert "bending_warp" in zeros and "bending_weft" in zeros and "stretch" not in zeros


@pytest.mark.parametrize(
    "given, field, origin",
    [
        ("cotton", "density", "measured"),
        ("cotton", "shear", "estimated"),
        ("freecloth", "shear", "published"),
        ("cotton", "rest_stretch_warp", "default"),
        (cotton(shear="40 N/m"), "shear", "given"),
    ],
)
def test_presets_say_what_was_measured(given, field, origin):
    assert fabric(given).origin(field) == origin


# As published: width and load per width [cm, gf/cm] of a strip, of the bias strip; length between
# the clamps [cm] and two readings (cm, gf) around the load; length between the clamps [m] and loads
# [gf] by which a strip buckles, from where it begins to bend to its most.
READINGS = {
    "cupro": (
        5.0,
        (100, 100, 5),
        (8.127973556518555, (8.438508987, 468.153839111), (8.449933052, 518.172973633)),
        (8.143314361572266, (8.300102234, 487.860504150), (8.320457458, 577.629821777)),
        (8.17609977722168, (9.029868126, 24.223327637), (9.038309097, 25.932777405)),
        ((2.0833e-2, 1.396, 2.404), (2.0907e-2, 1.568, 3.030)),
    ),
    "cotton-knit": (
        4.0,
        (20, 20, 20),
        (8.006759643554688, (9.616790771, 79.739921570), (9.637937546, 80.908065796)),
        (8.136427879333496, (10.372969627, 79.753890991), (10.403644562, 80.744079590)),
        (8.126903533935547, (10.428536415, 79.45047), (10.450216293, 80.462715149)),
        ((2.0992e-2, 0.53, 1.7), (2.0992e-2, 0.34, 0.89)),
    ),
}


@pytest.mark.parametrize("name", READINGS)
def test_fabrics_follow_from_the_published_readings(name):
    """Chords at a load, between two readings; what the analyzer fitted is what strips buckle with.
    Of cupro FAST's G = 123/EB5; the law of the knit's numbers has the bias strip's chord again.
    """
    f, (width, loads, *strips, buckled), gf = fabric(name), READINGS[name], 9.80665e-3
    extensions = []
    for load, (length, (a, below), (b, above)) in zip(loads, strips):
        assert below < load * width < above
        at = a + (load * width - below) / (above - below) * (b - a)
        extensions.append(at / length - 1)
    warp, weft, bias = extensions
    load = loads[0] * gf / 1e-2
    assert f.stretch_warp == pytest.approx(load / warp, rel=1e-3)
    assert f.stretch_weft == pytest.approx(load / weft, rel=1e-3)
    shear = 123 / (100 * bias) if name == "cupro" else load / (4 * bias - warp - weft)
    assert f.shear == pytest.approx(shear, rel=1e-3)
    for D, (length, least, most) in zip((f.bending_warp, f.bending_weft), buckled):
        assert least < 4 * math.pi**2 * D * width * 1e-2 / length**2 / gf < most


# As published: k11, k12, k22, G12, thickness [mm]; (mu, alpha) of the warp and of the weft
CLYDE = {
    "canvas-294": (
        (5.366, 2.683, 19.804, 2.009, 0.37),
        ((1881.386, 22.619), (-1880.386, 22.082)),
        ((-27.627, 212.682), (70.532, 149.080), (-41.905, 69.532)),
    ),
    "cotton-104": (
        (15.557, 7.779, 25.004, 1.076, 0.253),
        ((-352.871, -63.206), (4.952, -550.784), (348.919, -54.525)),
        ((-2587.08, 109.194), (-285.733, 102.720), (2873.813, 108.583)),
    ),
    "silk-83": (
        (4.3, 4.971, 9.942, 0.57, 0.239),
        ((61.769, -2.23), (-60.769, -115.578)),
        ((13.46, -2.612), (-12.46, -195.533)),
    ),
}


@pytest.mark.parametrize("name", CLYDE)
def test_clydes_fabrics_follow_from_the_published_constants(name):
    """Chords at FAST's load of a strip that is free to narrow, and a shell's bending."""
    f, ((k11, k12, k22, G, mm), warp, weft) = fabric(name), CLYDE[name]
    h, MPa, load = mm * 1e-3, 1e6, 9.80665 * 10
    assert f.thickness == pytest.approx(h)
    for k, across, terms, given, bending in (
        (k11, k22, warp, f.stretch_warp, f.bending_warp),
        (k22, k11, weft, f.stretch_weft, f.bending_weft),
    ):
        strain = load / given + (load / given) ** 2 / 2
        slope = sum(mu * (1 + strain**2) ** (alpha - 1) for mu, alpha in terms)
        pull = (k * slope - k12**2 / across) * MPa * strain * (1 + load / given) * h
        assert pull == pytest.approx(load, rel=2e-3)
        assert bending == pytest.approx(k * MPa * h**3 / 12, rel=1e-3)
    assert f.shear == pytest.approx(G * MPa * h / 2, rel=1e-3)


@pytest.mark.parametrize(
    "name, Ex, Ey, E45, nu45",
    [("wool", 21.860, 8.149, 0.170, 1.377), ("polyester", 5.152, 11.674, 0.478, 1.366)],
)
def test_penavas_fabrics_follow_from_the_published_moduli(name, Ex, Ey, E45, nu45):
    """Moduli [MPa] times thickness."""
    f = fabric(name)
    h = f.thickness * 1e6
    assert f.stretch_warp == pytest.approx(Ex * h, rel=1e-3)
    assert f.stretch_weft == pytest.approx(Ey * h, rel=1e-3)
    assert f.shear == pytest.approx(E45 / (2 * (1 + nu45)) * h, rel=1e-3)
