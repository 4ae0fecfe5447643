"""Rows of docs/extending.md: a scene field and a preset are added to a copy of weft, all else by a
plugin of another package; each is used.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "weft"


class Added:
    """A copy of weft to which one of each kind is added, and a folder for every program.

    One process runs all programs, because each would spend seconds on imports.
    """

    def __init__(self, place):
        self.place, self.programs, self.entries = place, {}, {}
        shutil.copytree(SOURCE, place / "weft", ignore=shutil.ignore_patterns("__pycache__"))

    def write(self, path, text):
        """Add a file to the package."""
        (self.place / "weft" / path).write_text(text)

    def insert(self, path, text, before):
        """Add text to a file of the package before some of its text."""
        file = self.place / "weft" / path
        old = file.read_text()
        assert old.count(before) == 1
        file.write_text(old.replace(before, text + before))

    def register(self, kind, name, module, attribute, text):
        """Add a module of the plugin, and what it registers."""
        (self.place / f"{module}.py").write_text(text)
        self.entries.setdefault(kind, {})[name] = f"{module}:{attribute}"

    def run(self, name, program, **files):
        """Add a program; ``files`` are YAML files of its folder, by name."""
        self.programs[name] = program
        (self.place / name).mkdir()
        for stem, text in files.items():
            (self.place / name / f"{stem}.yaml").write_text(text)

    def results(self):
        """Return what each program prints as JSON in its last line, or its traceback."""
        plugin = f"plugin = Plugin('mine', '0.1', {self.entries!r})\n"
        (self.place / "mine.py").write_text("from weft.extensions import Plugin\n" + plugin)
        about = self.place / "mine-0.1.dist-info"
        about.mkdir()
        (about / "entry_points.txt").write_text("[weft.plugins]\nmine = mine:plugin\n")
        env = {**os.environ, "PYTHONPATH": str(self.place)}
        run = [sys.executable, "-c", DRIVER, json.dumps(self.programs)]
        done = subprocess.run(
            run, capture_output=True, text=True, env=env, cwd=self.place, check=False
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.splitlines()[-1])


DRIVER = """
import contextlib, io, json, os, sys, traceback
results = {}
for name, program in json.loads(sys.argv[1]).items():
    said = io.StringIO()
    with contextlib.chdir(name), contextlib.redirect_stdout(said):
        try:
            exec(program, {"__name__": name})
            results[name] = json.loads(said.getvalue().splitlines()[-1])
        except Exception:
            results[name] = traceback.format_exc()
print(json.dumps(results))
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    added = Added(tmp_path_factory.mktemp("copy"))
    for add in (
        add_scene_field,
        add_preset,
        add_bending,
        add_linear_solver,
        add_look,
        add_format,
        add_certificate_row,
    ):
        add(added)
    return added.results()


FIELD = """    haze: float = setting(
        0.0, "depth of the fog; 0: none", "m", least=0, keyframes=True
    )
"""
USED = """
import json, weft
from weft.scene.build import load_scene
from weft.scene.explain import explain
from weft.scene.field_units import json_schema, unit_of
from weft.scene.identity import identity
from weft.scene.schema import SceneFile
scene = load_scene("scene.yaml").scene
wrong = []
for make in (lambda: load_scene("wrong.yaml"), lambda: weft.Scene(weft.sheet(3, 3), haze=-1.0)):
    try:
        make()
    except weft.errors.SceneError as error:
        wrong.append(str(error))
made = weft.Scene(weft.sheet(3, 3), haze="2 cm")
_, (row,) = explain("scene.haze")
print(json.dumps({
    "keys": scene.keyed["haze"].values,
    "later": scene.at_keys(0.5).haze,
    "python": made.haze,
    "identity": [identity(s).get("haze") for s in (made, weft.Scene(weft.sheet(3, 3)))],
    "explained": [row.meaning, row.default, unit_of(SceneFile.model_fields["haze"])],
    "schema": json_schema()["properties"]["haze"]["anyOf"],
    "documented": "haze: [m] depth of the fog; 0: none." in weft.Scene.__doc__,
    "wrong": wrong,
}))
"""


def add_scene_field(added):
    added.insert("scene/scene.py", FIELD, "    law: Law | Callable")
    cloth = "cloth: {sheet: {nx: 3, ny: 3}}\nhaze: "
    keys = cloth + "{keys: [[0 s, 1 cm], [1 s, 30 mm]]}\n"
    added.run("field", USED, scene=keys, wrong=cloth + "3 kg\n")


def test_a_scene_field(results):
    """YAML, keyframes, explain, JSON schema, identity and checks follow from its declaration."""
    found = results["field"]
    assert found["keys"] == [0.01, 0.03] and found["later"] == pytest.approx(0.02)
    assert found["python"] == 0.02 and found["identity"] == [0.02, 0.0]
    about = "[m] depth of the fog; 0: none (may have keyframes)"
    assert found["explained"] == [about, "0.0", "m"] and found["documented"]
    number, keyframes = found["schema"]
    assert number == {"type": ["number", "string"], "unit": "m", "minimum": 0}
    assert keyframes == {"$ref": "#/$defs/Keyframes"}
    assert "wrong.yaml:2" in found["wrong"][0] and "haze = '3 kg'" in found["wrong"][0]
    assert "scene.haze = -1.0" in found["wrong"][1] and ">= 0" in found["wrong"][1]


PRESET = """title: Felt of the mill
density: 180 g/m^2
stretch: 3000 N/m
shear: 400 N/m
bending: 2e-5 N*m
thickness: 1 mm
"""
LISTED = """
import json
from weft.fabric.fabric import fabric, known_ranges, preset_names
made = fabric("felt")
print(json.dumps([
    "felt" in preset_names(), made.title, made.stretch_weft, known_ranges()["thickness"][1]
]))
"""


def add_preset(added):
    added.write("fabrics/felt.yaml", PRESET)
    added.run("preset", LISTED)


def test_a_preset(results):
    known, title, stretch, thickest = results["preset"]
    assert known and title == "Felt of the mill" and stretch == 3000.0 and thickest >= 1e-3


BENT = """
import json, weft
from weft.energies.elastic.hinge_bending import HingeBending
from weft.scene.build import load_scene
scene = load_scene("scene.yaml").scene
made = weft.Scene(weft.sheet(3, 3), bending="mine")
bend = [type(weft.prepare(s).model.energies[1]) is HingeBending for s in (scene, made)]
print(json.dumps([*bend, weft.scene.identity.identity(scene)["bending"]]))
"""


BENDING = """
from weft.energies.elastic.hinge_bending import HingeBending


def bend(scene, fabric, mesh):
    return HingeBending.of(mesh, (1.0, 2.0))
"""


def add_bending(added):
    added.register("bending", "mine", "my_bending", "bend", BENDING)
    added.run("bending", BENT, scene="cloth: {sheet: {nx: 3, ny: 3}}\nbending: mine\n")


def test_a_bending_energy_by_name(results):
    """Scene files and Python may name it."""
    assert results["bending"] == [True, True, "mine"]


LINEAR_SOLVER = """
from dataclasses import dataclass

import warp as wp

from weft import kernel
from weft.kernel import IntArray, Mat33Array, Recorded, Vec3Array, mat33, vec3
from weft.solve.linear.conjugate_gradients import ConjugateGradients
from weft.solve.linear.solver import Stop

module = wp.get_module("extending.diagonal")


@wp.kernel(module=module)
def take_diagonal(o: int, diagonal: IntArray, values: Mat33Array, out: Vec3Array):
    v = o + wp.tid()
    D = values[diagonal[v]]
    out[v] = vec3(D[0, 0], D[1, 1], D[2, 2])


@wp.kernel(module=module)
def divide(o: int, diagonal: Vec3Array, r: Vec3Array, z: Vec3Array):
    v = o + wp.tid()
    z[v] = wp.cw_div(r[v], diagonal[v])


class Prepared:
    def __init__(self, A, stop):
        self.A, self.stop = A, stop
        self.diagonal = kernel.empty(A.n, vec3)
        self.usable = kernel.array([1], wp.int32)
        kernel.launch(take_diagonal, A.n, A.pattern.device_diagonal, A.values, self.diagonal)
        p = A.pattern
        start = p.device_row_start
        rows = (start[:-1], start[1:], p.device_column, p.device_index)
        self.iterations = ConjugateGradients(rows, self, delay=12, work=p.n_blocks / A.n)

    def precondition(self, r, z):
        return [Recorded(divide, self.A.n, self.diagonal, r, z)]

    def solve(self, b, tolerance):
        most = 100 * self.A.n
        return self.iterations.solve(self.A.values, b, tolerance, most, self.stop)[0]


@dataclass(frozen=True)
class Diagonal:
    stop: Stop = Stop.ENERGY
    name = "diagonal"
    is_direct = False

    def prepare(self, A, previous=None):
        return Prepared(A, self.stop)
"""
SOLVED = """
import json
import numpy as np
import weft
from weft.contact import sphere


def scene(linear, contact):
    cloth = weft.sheet(7, 7, 0.2, 0.2).move((0.003, 0.108, 0.002))
    meets = {"bodies": [sphere(0.1, 0.05)], "contact": weft.SelfContact(4e-3, friction=0.3)}
    pins = [weft.Pin(cloth.corners("top"))]
    settings = weft.StepSettings(linear=linear, tolerance=1e-6, forcing=1e-8)
    return weft.Scene(cloth, pins, settings=settings, **(meets if contact else {}))


apart = []
for contact in (False, True):
    ends = []
    for linear in ("diagonal", "splu"):
        run = weft.simulate(scene(linear, contact), frames=3, fps=30)
        ends.append(run.positions())
    apart.append(float(np.abs(ends[0] - ends[1]).max()))
worlds = weft.batch([scene("diagonal", True)] * 2, fps=30)
worlds.run(frames=3)
same = [bool(np.array_equal(x, ends[0])) for x in worlds.positions()]
print(json.dumps({"apart": apart, "same": same}))
"""


def add_linear_solver(added):
    added.register("linear solvers", "diagonal", "my_solver", "Diagonal", LINEAR_SOLVER)
    added.run("solver", SOLVED)


def test_a_linear_solver(results):
    """Used in runs with and without contact, and in a batch; a new preconditioner is all of it."""
    found = results["solver"]
    assert max(found["apart"]) < 1e-6 and found["same"] == [True, True]


LOOK = """
from weft.show.looks import Look, ShownFrame


def height(frame: ShownFrame):
    return frame.x[:, 1] - frame.x[:, 1].min()


HEIGHT = Look("height", "height above the lowest point", "m", height)
"""
LOOKED = """
import json, os, weft
from weft.show.viewer.page import content_of
scene = weft.Scene(weft.sheet(4, 4), step=0.02)
run = weft.simulate(scene, frames=1, out="run", progress=False, fsync=False)
run.render("a.png", look="height")
size = os.stat("a.png").st_size
content = content_of(run, looks=["height"])
scale = content.about["scales"]["height"]
print(json.dumps([scale["unit"], scale["title"], "height" in content.blocks, size]))
"""


def add_look(added):
    added.register("looks", "height", "my_look", "HEIGHT", LOOK)
    added.run("look", LOOKED)


def test_a_look(results):
    """Pictures and pages have it, with its color scale."""
    found = results["look"]
    assert found[:-1] == ["m", "height above the lowest point", True] and found[-1] > 1000


FORMAT = """
import numpy as np

from weft.io.files import atomic_write
from weft.io.format import Format
from weft.io.surface import Contents


def read_xyz(path, prim, *, one):
    n, *rows = path.read_text().split("\\n")
    table = [[float(w) for w in row.split()] for row in rows if row]
    x, faces = np.array(table[: int(n)]), np.array(table[int(n) :], dtype=np.int32)
    return Contents(x, faces)


def write_xyz(path, x, faces, corner_uv):
    rows = [str(len(x)), *(" ".join(map(repr, r)) for r in [*x.tolist(), *faces.tolist()])]
    with atomic_write(path) as file:
        file.write("\\n".join(rows).encode())


XYZ = Format(read=read_xyz, write=write_xyz)
"""
FORMATTED = """
import json, weft
import numpy as np
run = weft.simulate(weft.Scene(weft.sheet(4, 4)), frames=1, out="run", progress=False)
run.save("a.xyz")
cloth = weft.load("a.xyz", warp=(1, 0, 0))
from weft.scene.build import load_scene
scene = load_scene("scene.yaml").scene
print(json.dumps([
    float(np.abs(cloth.mesh.vertices - run.positions()).max()), cloth.mesh.faces.tolist(),
    run.faces.tolist(), len(scene.cloth.mesh.vertices),
]))
"""


def add_format(added):
    added.register("formats", ".xyz", "my_format", "XYZ", FORMAT)
    scene = "cloth: {mesh: {file: a.xyz, warp: [1, 0, 0]}}\nseconds: 0.1 s\n"
    added.run("format", FORMATTED, scene=scene)


def test_a_file_format_in_and_out(results):
    """Runs are written to it; Python and scene files read meshes of it."""
    off, faces, wanted, count = results["format"]
    assert off == 0.0 and faces == wanted and count == 16


CERTIFICATE = '''"""A falling point against g t^2 / 2."""

from collections.abc import Iterator

from weft.plugins.lab.validate.check import Check, compare


def checks() -> Iterator[Check]:
    """Compare one fall."""
    yield compare("mine/fall", 4.905, 4.9, 1e-2)
'''
CERTIFIED = """
import json
from weft.plugins.lab.validate.runner import names, run, topic
(row,) = run(["mine"])
print(json.dumps([names()[-1], topic("mine"), row.name, row.ok, row.part]))
"""


def add_certificate_row(added):
    added.register("long certificate", "mine", "my_rows", "checks", CERTIFICATE)
    added.run("certificate", CERTIFIED)


def test_a_certificate_row(results):
    """It runs with the rows that --all adds."""
    assert results["certificate"] == [
        "mine",
        "A falling point against g t^2 / 2.",
        "mine/fall",
        True,
        "all",
    ]
