"""Runs for film: samples of the shutter, velocities of bodies, rates, runs onto their assets."""

import shutil

import numpy as np
import pytest

import weft
from tests import command
from tests.plugins.film.film_assets import CAPE, FIRST, FPS, write_assets
from tests.plugins.film.test_over import contents, opened, world
from tests.refusals import refused
from weft.base.errors import RunError
from weft.run.frame_selection import Shutter
from weft.scene.build import load_scene

SCENE = """
cloth:
  mesh: {file: cape.usda, warp: [0, 1, 0]}
pins: [{weights: collar, above: 0.5}]
bodies:
- {name: dancer, mesh: {file: dancer.usda, hold: true}}
- name: ball
  sphere: {radius: 8 cm, size: 8 cm}
  translation: [0, 0.6, 0.6]
  path: {hold: true, keyframes: [{time: 0, translation: [0, 0, 0]},
    {time: 0.25, translation: [0, 0, -10 cm]}]}
contact: {thickness: 2 mm}
seconds: 0.25 s
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Assets, their cape as a run of 24 frames a second, and the same as one of 96."""
    folder = tmp_path_factory.mktemp("shot")
    assets = write_assets(folder)
    (folder / "scene.yaml").write_text(f"{SCENE}step: {1 / 96}\nfps: 24")
    loaded = load_scene(folder / "scene.yaml")
    run = weft.simulate(loaded.scene, frames=6, fps=24, out=folder / "run", progress=False)
    fine = weft.simulate(loaded.scene, frames=24, fps=96, out=folder / "fine", progress=False)
    return assets, loaded.scene, run, fine


@pytest.fixture
def export(made, monkeypatch, capsys, tmp_path):
    """A function: status and what is said of ``weft export RUN ...``."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        words = ("export", made[2].path, *arguments)
        status, out, err = command.call_weft(monkeypatch, capsys, *words)
        return status, " ".join((out + err).split())

    return call


def test_samples_are_the_steps_of_the_run(made):
    _, scene, run, fine = made
    film = run.animation(shutter=Shutter(-0.25, 0.25, 3, scene))
    assert film.numbers == [k + d for k in range(7) for d in (-0.25, 0, 0.25) if 0 <= k + d <= 6]
    assert film.last == 6
    for number, moment in zip(film.numbers, film):
        k = round(4 * number)
        np.testing.assert_allclose(moment.positions[0], fine.positions(k), atol=1e-12)
        np.testing.assert_allclose(moment.velocities, fine.velocities(k), atol=1e-9)
        bodies = np.concatenate(moment.positions[1:])
        np.testing.assert_allclose(bodies, fine.body_positions(k), atol=1e-12)
        if 0 < k < 24:
            slope = 48 * (fine.body_positions(k + 1) - fine.body_positions(k - 1))
            got = np.concatenate(moment.body_velocities())
            np.testing.assert_allclose(got, slope, atol=1e-9)
    # Between frames alone the cubic is another curve: steps are finer than frames.
    guess = run.animation(shutter=Shutter(-0.25, 0.25, 3)).moment(1).positions[0]
    assert 1e-12 < np.abs(guess - fine.positions(1)).max() < 1e-3
    # Samples between steps are those of the cubic through the steps.
    third = run.animation(shutter=Shutter(0, 0.125, 2, scene)).moment(1)
    p, q, v, w = (a(k) for a in (fine.positions, fine.velocities) for k in (0, 1))
    middle = (p + q) / 2 + (v - w) / 96 / 8
    np.testing.assert_allclose(third.positions[0], middle, atol=1e-12)


def test_steps_that_are_others_are_named(made):
    _, _, run, _ = made
    other = load_scene(run.path.with_name("scene.yaml"), ["gravity.1=-5"]).scene
    film = run.animation(shutter=Shutter(-0.25, 0.25, 3, other))
    with refused(RunError, "steps between frames"):
        film.moment(1)


@pytest.mark.parametrize("rate", [48.0, 10.0])
def test_another_rate_does_not_stretch_time(made, export, tmp_path, rate):
    assets, _, run, _ = made
    for name, more in (("a.usda", ()), ("over.usda", ("--onto", assets.cape))):
        assert export(name, "--fps", rate, *more)[0] == 0
    times = np.arange(int(0.25 * rate) + 1) / rate
    stage = opened(tmp_path / "a.usda")
    points = stage.GetAttributeAtPath("/weft/cloth.points")
    seconds = np.array(points.GetTimeSamples()) / stage.GetTimeCodesPerSecond()
    np.testing.assert_allclose(seconds, times, atol=1e-12)
    over = opened(tmp_path / "over_stage.usda")
    codes = over.GetAttributeAtPath(f"{CAPE}.points").GetTimeSamples()
    np.testing.assert_allclose((np.array(codes) - FIRST) / FPS, times, atol=1e-6)
    x = run.animation(fps=rate).moment(len(times) - 1).positions[0]
    np.testing.assert_allclose(world(over, CAPE, codes[-1]), x, atol=1e-6)


def test_a_run_goes_onto_its_asset(made, export, tmp_path):
    """Also onto a shot that refers to it."""
    assets, _, run, _ = made
    shot = "/shot/cape/geo/cape"
    samples = "--shutter", "-0.25", "0.25"
    for name, asset, prim, more in (
        ("own", assets.cape, CAPE, ()),
        ("shot", assets.shot, shot, ("--prim", shot)),
    ):
        status, said = export(f"{name}.usdc", "--onto", asset, *samples, *more)
        assert status == 0 and f"{name}_stage.usda is the layer over" in said, said
        stage, source = opened(tmp_path / f"{name}_stage.usda"), opened(asset)
        assert contents(stage, [prim]) == contents(source, [prim])
        for k in range(7):
            got = world(stage, prim, FIRST + k)
            np.testing.assert_allclose(got, run.positions(k), atol=1e-7)
        codes = stage.GetAttributeAtPath(f"{prim}.points").GetTimeSamples()
        assert codes[:3] == [FIRST, FIRST + 0.25, FIRST + 0.75] and len(codes) == 19
    assert export("late.usda", "--onto", assets.cape, "--frames", "2:4", "--first", "1004")[0] == 0
    late = opened(tmp_path / "late_stage.usda")
    assert late.GetAttributeAtPath(f"{CAPE}.points").GetTimeSamples() == [1004, 1005, 1006]
    np.testing.assert_allclose(world(late, CAPE, 1004), run.positions(2), atol=1e-7)


def test_what_a_user_gets_wrong(made, export, tmp_path):
    assets = made[0]
    for arguments, expected in (
        (("--onto", assets.cape, "--units", "cm"), "none of --up"),
        (("--onto", assets.shot), "mesh"),
        (("--onto", assets.shot, "--prim", "/shot/nobody"), "/shot/nobody"),
        (("--onto", assets.shot, "--prim", "/shot/stand/geo/low"), "/shot/stand/geo/low"),
        (("--onto", assets.cape, "--prim", "a,b"), "onto, prim"),
        (("--onto", assets.cape, "--first", "1010"), "time codes"),
        (("--shutter", "0.5", "0.25"), "in order"),
    ):
        status, said = export("over.usda", *arguments)
        assert status == 2 and expected in said, said
    assert list(tmp_path.iterdir()) == []
    for name in ("a.pc2", "a.##.obj", "a.obj"):
        assert "shutter" in export(name, "--shutter", "-0.25", "0.25")[1]


def test_an_asset_that_has_changed_is_named(made, export, tmp_path):
    asset = shutil.copy(made[0].stand.with_name("stand_geo.usda"), tmp_path / "cape.usda")
    status, said = export("over.usda", "--onto", asset)
    assert status == 2 and "cape.usda" in said
