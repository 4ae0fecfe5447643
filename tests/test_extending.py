"""Rows of docs/extending.md: each adds one of a kind in one file of a copy of weft, and uses it."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "weft"


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """A folder with a copy of the package."""
    place = tmp_path_factory.mktemp("copy")
    shutil.copytree(SOURCE, place / "weft", ignore=shutil.ignore_patterns("__pycache__"))
    return place


def told(copy, program, folder):
    """What a program prints as JSON that imports the copy."""
    env = {**os.environ, "PYTHONPATH": str(copy)}
    run = [sys.executable, "-c", program]
    done = subprocess.run(run, capture_output=True, text=True, env=env, cwd=folder, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


FIELD = """    haze: float = setting(
        0.0, "depth of the fog; 0: none", "m", least=0, keyframes=True
    )
"""
USED = """
import json, weft
from weft.scene.build import load_scene
from weft.scene.explain import explain
from weft.scene.field_units import json_schema, unit_of
from weft.scene.keyframed_numbers import scene_at
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
    "later": scene_at(scene, 0.5).haze,
    "python": made.haze,
    "identity": [s.identity().get("haze") for s in (made, weft.Scene(weft.sheet(3, 3)))],
    "explained": [row.meaning, row.default, unit_of(SceneFile.model_fields["haze"])],
    "schema": json_schema()["properties"]["haze"]["anyOf"],
    "documented": "haze: [m] depth of the fog; 0: none." in weft.Scene.__doc__,
    "wrong": wrong,
}))
"""


def test_a_scene_field(copy, tmp_path):
    """YAML, keyframes, explain, JSON schema, identity and checks follow from its declaration."""
    file = copy / "weft" / "scene" / "scene.py"
    text = file.read_text()
    before = "    law: Law | Callable"
    assert text.count(before) == 1
    file.write_text(text.replace(before, FIELD + before))
    scene = "cloth: {sheet: {nx: 3, ny: 3}}\nhaze: "
    (tmp_path / "scene.yaml").write_text(scene + "{keys: [[0 s, 1 cm], [1 s, 30 mm]]}\n")
    (tmp_path / "wrong.yaml").write_text(scene + "3 kg\n")
    found = told(copy, USED, tmp_path)
    file.write_text(text)
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


def test_a_preset(copy, tmp_path):
    file = copy / "weft" / "fabrics" / "felt.yaml"
    file.write_text(PRESET)
    known, title, stretch, thickest = told(copy, LISTED, tmp_path)
    file.unlink()
    assert known and title == "Felt of the mill" and stretch == 3000.0 and thickest >= 1e-3


BENT = """
import json, weft
from weft.energies.elastic.hinge_bending import HingeBending
from weft.scene.build import load_scene
scene = load_scene("scene.yaml").scene
made = weft.Scene(weft.sheet(3, 3), bending="mine")
bend = [type(s.model().energies[1]) is HingeBending for s in (scene, made)]
print(json.dumps([*bend, scene.identity()["bending"]]))
"""


def test_a_bending_energy_by_name(copy, tmp_path):
    """One line of ``BENDING``: scene files and Python may name it."""
    file = copy / "weft" / "scene" / "elastic.py"
    text = file.read_text()
    line = '    "mine": lambda scene, fabric, mesh: HingeBending.of(mesh, (1.0, 2.0)),\n'
    file.write_text(text.replace('    "pairs": _pairs,\n', '    "pairs": _pairs,\n' + line))
    (tmp_path / "scene.yaml").write_text("cloth: {sheet: {nx: 3, ny: 3}}\nbending: mine\n")
    assert told(copy, BENT, tmp_path) == [True, True, "mine"]
    file.write_text(text)


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
        self.iterations = ConjugateGradients(rows, self, delay=12, worth=10_000)

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
    settings = weft.StepSettings(linear=linear, tolerance=1e-5, forcing=1e-8)
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


def test_a_linear_solver(copy, tmp_path):
    """Used in runs with and without contact, and in a batch; a new preconditioner is all of it."""
    folder = copy / "weft" / "solve" / "linear"
    (folder / "diagonal.py").write_text(LINEAR_SOLVER)
    table = folder / "select.py"
    text = table.read_text()
    added = "from weft.solve.linear.diagonal import Diagonal\n"
    line = "SOLVERS: dict[str, Callable[[Stop], LinearSolver]] = {\n"
    assert text.count(line) == 1
    with_line = text.replace(line, line + '    "diagonal": Diagonal,\n')
    first = "from weft.solve.linear.direct import"
    table.write_text(with_line.replace(first, added + first))
    found = told(copy, SOLVED, tmp_path)
    table.write_text(text)
    assert max(found["apart"]) < 1e-6 and found["same"] == [True, True]


LOOK = """
from weft.show.looks import Look, ShownFrame


def height(frame: ShownFrame):
    return frame.x[:, 1] - frame.x[:, 1].min()


HEIGHT = Look("height", "height above the lowest point", "m", height)
"""
LOOKED = """
import json, weft
from weft.show.viewer.page import content_of
scene = weft.Scene(weft.sheet(4, 4), step=0.02)
run = weft.simulate(scene, frames=1, out="run", progress=False, fsync=False)
run.render("a.png", look="height")
content = content_of(run, looks=["height"])
scale = content.about["scales"]["height"]
print(json.dumps([scale["unit"], scale["title"], "height" in content.blocks]))
"""


def test_a_look(copy, tmp_path):
    """Pictures and pages have it, with its color scale."""
    (copy / "weft" / "show" / "height.py").write_text(LOOK)
    file = copy / "weft" / "show" / "looks.py"
    text = file.read_text()
    file.write_text(text + "\n\nfrom weft.show.height import HEIGHT\nLOOKS['height'] = HEIGHT\n")
    found = told(copy, LOOKED, tmp_path)
    file.write_text(text)
    assert found == ["m", "height above the lowest point", True]
    assert (tmp_path / "a.png").stat().st_size > 1000


FORMAT = """
import numpy as np

from weft.io.files import atomic_write
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


def test_a_file_format_in_and_out(copy, tmp_path):
    """Runs are written to it; Python and scene files read meshes of it."""
    (copy / "weft" / "io" / "formats" / "xyz.py").write_text(FORMAT)
    file = copy / "weft" / "io" / "__init__.py"
    text = file.read_text()
    line = '    ".xyz": Format(read=read_xyz, write=write_xyz),\n'
    new = text.replace(
        "FORMATS: dict[str, Format] = {\n", "FORMATS: dict[str, Format] = {\n" + line
    )
    file.write_text(
        new.replace("\nWarp = ", "\nfrom weft.io.formats.xyz import read_xyz, write_xyz\nWarp = ")
    )
    scene = "cloth: {mesh: {file: a.xyz, warp: [1, 0, 0]}}\nseconds: 0.1 s\n"
    (tmp_path / "scene.yaml").write_text(scene)
    off, faces, wanted, count = told(copy, FORMATTED, tmp_path)
    file.write_text(text)
    assert off == 0.0 and faces == wanted and count == 16


CERTIFICATE = '''"""A falling point against g t^2 / 2."""

from collections.abc import Iterator

from weft.validate.check import Check, compare


def checks() -> Iterator[Check]:
    """Compare one fall."""
    yield compare("mine/fall", 4.905, 4.9, 1e-2)
'''
CERTIFIED = """
import json
from weft.validate.runner import names, run, topic
(row,) = run(["mine"])
print(json.dumps([names("fast")[0], topic("mine"), row.name, row.ok, row.part]))
"""


def test_a_certificate_row(copy, tmp_path):
    """One file, and one line of the list of experiments."""
    folder = copy / "weft" / "validate"
    (folder / "mine.py").write_text(CERTIFICATE)
    runner = folder / "runner.py"
    text = runner.read_text()
    first = '    "free-fall": Experiment("free_fall"),\n'
    assert first in text
    runner.write_text(text.replace(first, '    "mine": Experiment("mine"),\n' + first))
    said = told(copy, CERTIFIED, tmp_path)
    runner.write_text(text)
    (folder / "mine.py").unlink()
    assert said == ["mine", "A falling point against g t^2 / 2.", "mine/fall", True, "fast"]
