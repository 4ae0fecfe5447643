"""Plugins of other packages: the one in examples/plugin, and one that adds something of every kind.

A plugin is a module and the entry points of its package; both are written into a folder here, or
installed into an environment of its own.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import weft

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "examples" / "plugin"


def install(folder, name, module, text, plugin="plugin"):
    """Write a module and the entry points of its package; ``folder`` is a place of packages."""
    about = folder / f"{module}-0.1.dist-info"
    about.mkdir(parents=True)
    (about / "entry_points.txt").write_text(f"[weft.plugins]\n{name} = {module}:{plugin}\n")
    (folder / f"{module}.py").write_text(text)


def python(program, *places, cwd, ok=True):
    """Run a program with packages in some places, and return its output and warnings."""
    found = *places, Path(weft.__file__).parents[1]  # the weft that is tested
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, found))}
    run = [sys.executable, "-c", program]
    done = subprocess.run(run, capture_output=True, text=True, env=env, cwd=cwd, check=False)
    assert (done.returncode == 0) is ok, done.stderr
    return done.stdout, done.stderr


PLUGIN = "from weft.extensions import Plugin\n"
GOOD = "plugin = Plugin('good', '0.1', {'names': {'mine': 'good:plugin'}})"
FAR = "plugin = Plugin('far', '0.1', {'looks': {'far': 'nowhere:LOOK'}})"
BROKEN = {
    "raises": ("raise ValueError('no license')", "no license"),
    "old": ("plugin = Plugin('old', '0.0', {})", "made for weft 0.0"),
    "again": (
        "plugin = Plugin('again', '0.1', {'commands': {'run': 'again:run'}})",
        "a name that weft has",
    ),
    "kind": ("plugin = Plugin('kind', '0.1', {'laws of nature': {}})", "laws of nature"),
    "other": ("plugin = 3", "expected a Plugin"),
    "place": ("plugin = Plugin('place', '0.1', {'looks': {'a': 3}})", "package.module:attribute"),
}


def test_plugins_that_cannot_be_used_are_named_and_left_out(tmp_path):
    """The others work, and so does weft."""
    for name, (text, _) in BROKEN.items():
        install(tmp_path, name, name, PLUGIN + text)
    install(tmp_path, "good", "good", PLUGIN + GOOD)
    program = """
import time
import weft
from weft.extensions import installed_entry_points
times = []
for _ in range(5):
    begin = time.perf_counter()
    list(installed_entry_points())
    times.append(time.perf_counter() - begin)
print(weft.mine.name, len(weft.extensions.names("commands")), min(times))
"""
    out, said = python(program, tmp_path, cwd=tmp_path)
    name, count, seconds = out.split()
    assert name == "good" and int(count) > 15
    assert float(seconds) < 0.03  # 6 ms with 170 packages where nothing else runs
    for name, (_, reason) in BROKEN.items():
        (line,) = (x for x in said.splitlines() if f"plugin {name} (package {name})" in x)
        assert "is left out" in line and reason in line


def test_a_place_that_cannot_be_imported_names_plugin_kind_and_name(tmp_path):
    install(tmp_path, "far", "far", PLUGIN + FAR)
    program = """
import weft
from weft.base.errors import PluginError
try:
    weft.extensions.find("looks", "far")
except PluginError as error:
    print(error)
"""
    out, _ = python(program, tmp_path, cwd=tmp_path)
    assert out.startswith("plugin far, looks: far = nowhere:LOOK (No module named 'nowhere')")


SCENE = """
import json, sys
import numpy as np
import weft
from weft.scene.build import load_scene
from weft.scene.explain import explain
from weft.scene.field_units import json_schema, unit_of
from weft.base.schema.block import fields_of
from weft.scene.schema import SceneFile, scene_block

small = ["cloth.sheet.nx=7", "cloth.sheet.ny=7", "bodies.0.egg.size=4 cm", "seconds=0.2"]
scene = load_scene("scene.yaml", small).scene
run = weft.simulate(scene, frames=6, out="run", progress=False, fsync=False)
run.render("seen.png", look="height")

still = load_scene("scene.yaml", [*small, "magnet.force=3 N/kg"]).scene
(energy,) = (e for e in weft.prepare(still).model.energies if e.name == "magnet")
checks = weft.check_derivatives(energy, weft.prepare(still).state.x)

rng = np.random.default_rng(0)
weight = rng.normal(size=(49, 3))
def loss(x, v, t):
    by_x = np.zeros_like(x)
    by_x[-1] = weight
    return float((by_x * x).sum()), by_x, np.zeros_like(v)
names = ["magnet.force", "magnet.reach", "magnet.place"]
free = still.with_(bodies=(), contact=None, settings=weft.StepSettings(tolerance=1e-9))
adjoint = weft.Adjoint(free, loss, names, frames=3, fps=30.0)
found, quotients = adjoint(), {}
for name in names:
    value, gradient = np.asarray(adjoint.parameter(name).value, float), found.gradient[name]
    way = np.ones(value.shape)
    ends = [adjoint.with_values({name: value + s * 1e-4 * way}).value() for s in (1, -1)]
    quotients[name] = [float((gradient * way).sum()), (ends[0] - ends[1]) / 2e-4]

wrong = []
for change in ("magnet.reach=-1 cm", "magnet.force=3 m", "magnet.strength=1"):
    try:
        load_scene("scene.yaml", [change])
    except weft.errors.SceneError as error:
        wrong.append(str(error))
_, (row,) = explain("scene.magnet.force")
schema = json.dumps(json_schema())
print(json.dumps({
    "checks": [c.ok for c in checks],
    "quotients": quotients,
    "wrong": wrong,
    "keys": scene.keyed["magnet.force"].values,
    "plugins": run.manifest["plugins"],
    "identity": run.manifest["scene"]["magnet"],
    "explained": [row.meaning, unit_of(fields_of(scene_block(["magnet"]))["force"])],
    "schema": "largest pull on a kilogram of cloth" in schema and "an egg, upright" in schema,
    "pulled": float(run.positions()[:, 0].mean()),
    "documented": "magnet: A magnet that pulls cloth to a place" in weft.Scene.__doc__,
}))
"""


def check_example(told, folder):
    """Check what a program says of the example plugin's scene."""
    assert told["checks"] == [True, True]
    for ours, differences in told["quotients"].values():
        assert ours == pytest.approx(differences, rel=1e-5)
    first, second, third = told["wrong"]
    assert "magnet.reach" in first and "> 0" in first and "--set" in first
    assert "magnet.force" in second and "N/kg" in second
    assert "field magnet.strength" in third and "place, force, reach" in third
    assert told["keys"] == [0.0, 6.0] and told["plugins"] == {"magnet": "0.1.0"}
    assert told["identity"]["reach"] == 0.12 and told["documented"] and told["schema"]
    meaning, unit = told["explained"]
    assert "largest pull" in meaning and "keyframes" in meaning and unit == "N/kg"
    assert told["pulled"] > 1e-4 and (folder / "seen.png").stat().st_size > 1000


@pytest.fixture(scope="module")
def example(tmp_path_factory):
    """A folder where the example plugin's scene was run, and what the program said."""
    folder = tmp_path_factory.mktemp("example")
    module = (EXAMPLE / "weft_magnet.py").read_text()
    install(folder / "packages", "magnet", "weft_magnet", module)
    shutil.copy(EXAMPLE / "scene.yaml", folder)
    out, _ = python(SCENE, folder / "packages", cwd=folder)
    return folder, json.loads(out.splitlines()[-1])


def test_the_example(example):  # 10 s: a process of its own
    """Its scene, its derivatives, its gradient and its picture."""
    folder, told = example
    check_example(told, folder)


def test_without_the_plugin_frames_open_and_the_scene_says_what_it_needs(example):
    folder, _ = example
    program = """
import weft
run = weft.Run("run")
run.render("seen.png")
print(run.positions().shape)
try:
    weft.scene_of(run)
except weft.WeftError as error:
    print(error)
"""
    out, _ = python(program, cwd=folder)
    shape, error = out.splitlines()
    assert shape == "(49, 3)" and error.startswith("plugin = no magnet (run): expected plugin ")
    assert "magnet 0.1.0; install the package that has it" in error


@pytest.mark.slow
def test_the_example_in_an_environment_of_its_own(tmp_path):
    """pip builds and installs it, beside the packages of this environment."""
    place = tmp_path / "packages"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*pip, "--target", str(place), str(EXAMPLE)], check=True)
    (tmp_path / "scene.yaml").write_text((EXAMPLE / "scene.yaml").read_text())
    out, _ = python(SCENE, place, cwd=tmp_path)
    check_example(json.loads(out.splitlines()[-1]), tmp_path)


def test_what_needs_a_plugin_of_weft_that_is_not_installed_says_so(tmp_path):
    """A scene, commands, a file, a public name and an export; the rest works."""
    ignored = shutil.ignore_patterns("__pycache__", "plugins")
    shutil.copytree(ROOT / "src" / "weft", tmp_path / "site" / "weft", ignore=ignored)
    bodies = "bodies: [{mannequin: {figure: woman}}]\n"
    (tmp_path / "scene.yaml").write_text("cloth: {sheet: {nx: 3, ny: 3}}\n" + bodies)
    (tmp_path / "skirt.yaml").write_text("panels: {front: {}}\nseams: {}\n")
    program = """
import weft
from weft.cli.commands import app
from weft.scene.build import load_scene

def command(*words):
    app(words, standalone_mode=False)

scene = weft.Scene(weft.sheet(3, 3))
run = weft.simulate(scene, frames=1, out="run", progress=False, fsync=False)
for ask in (
    lambda: load_scene("scene.yaml"),
    lambda: load_scene("skirt.yaml"),
    lambda: command("validate"),
    lambda: command("fabrics", "test", "cotton"),
    lambda: command("grade", "a.yaml"),
    lambda: weft.load("a.usd"),
    lambda: run.export("a.glb"),
    lambda: weft.robotics,
    lambda: weft.Mannequin,
):
    try:
        ask()
        print("nothing")
    except (weft.WeftError, AttributeError) as error:
        print(str(error).replace("\\n", " "))
"""
    out, _ = python(program, tmp_path / "site", cwd=tmp_path)
    needed = [
        "garments",
        "garments",
        "lab",
        "lab",
        "garments",
        "film",
        "film",
        "robots",
        "garments",
    ]
    for line, plugin in zip(out.splitlines(), needed, strict=True):
        assert f"no plugin {plugin}" in line and "pip install weft" in line, line
