"""Rows of docs/guides/extend-plugins.md: a plugin of another package adds one of each kind, and
this is used. A block of a scene, an energy, a body and a look are in test_plugins.py.
"""

import json

import pytest

from tests.test_plugins import PLUGIN, install, python

BENDING = """
from weft.energies.elastic.hinge_bending import HingeBending


def bend(scene, fabric, mesh):
    return HingeBending.of(mesh, (1.0, 2.0))
"""
BENT = """
import json, weft
from weft.energies.elastic.hinge_bending import HingeBending
from weft.scene.build import load_scene
from weft.scene.identity import identity
scene = load_scene("scene.yaml").scene
made = weft.Scene(weft.sheet(3, 3), bending="mine")
bend = [type(weft.prepare(s).model.energies[1]) is HingeBending for s in (scene, made)]
print(json.dumps([*bend, identity(scene)["bending"]]))
"""
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
ENTRIES = {  # kind, name, and attribute of a module of this text
    ("bending", "mine", "bend"): BENDING,
    ("linear solvers", "diagonal", "Diagonal"): LINEAR_SOLVER,
    ("formats", ".xyz", "XYZ"): FORMAT,
    ("long certificate", "mine", "checks"): CERTIFICATE,
}
PROGRAMS = {  # and the scene file in the folder of each
    "bending": (BENT, "cloth: {sheet: {nx: 3, ny: 3}}\nbending: mine\n"),
    "solver": (SOLVED, ""),
    "format": (FORMATTED, "cloth: {mesh: {file: a.xyz, warp: [1, 0, 0]}}\nseconds: 0.1 s\n"),
    "certificate": (CERTIFIED, ""),
}
DRIVER = """
import contextlib, io, json, os, sys, traceback
results = {}
for name, program in programs.items():
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
    """What each program prints as JSON in its last line, or its traceback.

    One process runs all, because each would spend seconds on imports.
    """
    place, entries = tmp_path_factory.mktemp("packages"), {}
    for (kind, name, attribute), text in ENTRIES.items():
        module = f"my_{attribute}".lower()
        (place / f"{module}.py").write_text(text)
        entries.setdefault(kind, {})[name] = f"{module}:{attribute}"
    install(place, "mine", "mine", f"{PLUGIN}plugin = Plugin('mine', '0.1', {entries!r})\n")
    for name, (_, scene) in PROGRAMS.items():
        (place / name).mkdir()
        (place / name / "scene.yaml").write_text(scene)
    programs = {name: program for name, (program, _) in PROGRAMS.items()}
    out, _ = python(f"programs = {programs!r}\n{DRIVER}", place, cwd=place)
    return json.loads(out.splitlines()[-1])


@pytest.mark.campaign
def test_a_bending_energy_by_name(results):
    """Scene files and Python may name it."""
    assert results["bending"] == [True, True, "mine"]


def test_a_linear_solver(results):
    """Used in runs with and without contact, and in a batch; a new preconditioner is all of it."""
    found = results["solver"]
    assert max(found["apart"]) < 1e-6 and found["same"] == [True, True]


def test_a_file_format_in_and_out(results):
    """Runs are written to it; Python and scene files read meshes of it."""
    off, faces, wanted, count = results["format"]
    assert off == 0.0 and faces == wanted and count == 16


def test_a_certificate_row(results):
    """It runs with the rows that --all adds."""
    assert results["certificate"] == [
        "mine",
        "A falling point against g t^2 / 2.",
        "mine/fall",
        True,
        "all",
    ]
