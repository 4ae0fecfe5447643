"""Mutated scenes, meshes, run folders and overrides: a named error or a result, whatever they say.

    python -m tests.fuzz.campaign --seconds 3600 [--seed N] [--only meshes]

Every crash (another exception, or more than PATIENCE seconds) saves its input into fuzz-crashes/.
"""

import argparse
import contextlib
import hashlib
import io
import random
import shutil
import signal
import sys
import tempfile
import time
import traceback
import warnings
from pathlib import Path

import numpy as np

import weft
from tests.fuzz import scenes
from tests.fuzz.documents import Documents
from tests.fuzz.mutations import TEXTS, changed_bytes, changed_tree, words_of
from weft.base import machine
from weft.base.errors import WeftError
from weft.discretization import triangulate
from weft.discretization.mesh import grid
from weft.io import archive, read_mesh, read_surface, surface
from weft.io.obj import write_obj
from weft.io.ply import write_ply
from weft.run.check_scene import check
from weft.run.run_folder import RunFolder
from weft.scene.build import load_scene

ROOT = Path(__file__).parents[2]
CRASHES = ROOT / "fuzz-crashes"
PATIENCE = 20  # [s] of processor time for one input; ten times as long where it waits
MEMORY = 1 << 29  # [bytes] that the machine is said to have, so that inputs stay small


class TooLong(BaseException):
    """An input that takes more than PATIENCE."""


@contextlib.contextmanager
def small_machine():
    """For a while this machine has little memory, and an alarm clock."""

    def ring(*_):
        raise TooLong

    before = [signal.signal(s, ring) for s in (signal.SIGALRM, signal.SIGPROF)]
    kept = [(m, m.memory) for m in (machine, archive, surface, triangulate)]
    for module, _ in kept:
        module.memory = lambda: MEMORY
    try:
        yield
    finally:
        clock(0)
        for number, handler in zip((signal.SIGALRM, signal.SIGPROF), before):
            signal.signal(number, handler)
        for module, memory in kept:
            module.memory = memory


def clock(seconds):
    """Ring after so many seconds of work, or ten times as many of waiting; 0: never."""
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.alarm(10 * seconds)


class Fuzzer(Documents):
    """One campaign: inputs of a seed."""

    def __init__(self, seed, folder):
        self.rng, self.folder = random.Random(seed), Path(folder)
        self.scenes = [p for p in sorted(ROOT.glob("examples/**/*.yaml")) if small(p)]
        words = words_of(p.read_text() for p in self.scenes)
        self.fields = sorted({*words, *scenes.fields(), "pairs", "groups", "mesh", "file"})
        scenes.write_files(self.folder)
        self.counts, self.crashes = {}, []
        self.meshes = self._meshes()
        self.run = self._run()

    def _meshes(self):
        mesh = grid(4, 3, 1.0, 1.0)
        obj, path = self.folder / "m.obj", self.folder / "m.ply"
        write_obj(obj, mesh.vertices, mesh.faces, mesh.corner_uv)
        write_ply(path, mesh.vertices, mesh.faces, mesh.corner_uv)
        text = "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\n"
        text += "property float z\nproperty float s\nproperty float t\nelement face 1\n"
        text += "property list uchar int vertex_indices\nend_header\n"
        text += "0 0 0 0 0\n1 0 0 1 0\n1 0 1 1 1\n0 0 1 0 1\n4 0 1 2 3\n"
        return [(".obj", obj.read_bytes()), (".ply", path.read_bytes()), (".ply", text.encode())]

    def _run(self):
        """A run, and what is in its frames."""
        path = self.folder / "whole"
        (self.folder / "run.yaml").write_text(scenes.SHEET)
        self.made = load_scene(self.folder / "run.yaml")
        run = weft.simulate(self.made.scene, frames=3, out=path, progress=False, fsync=False)
        self.frames = [run.folder.frame(k) for k in range(4)]
        return path

    def scene(self):
        """A scene with its tree, its text or both changed."""
        source = self.rng.choice(self.scenes)
        text = source.read_text()
        if self.rng.random() < 0.7:
            text = changed_tree(self.rng, text, self.fields)
        data = text.encode()
        if self.rng.random() < 0.4:
            data = changed_bytes(self.rng, data)
        path = self.folder / "scene.yaml"
        path.write_bytes(data)
        return data, ".yaml", lambda: check(path)

    def step(self):
        """A small scene with its tree changed, built and simulated for a frame."""
        text = self.rng.choice([*scenes.SMALL.values()])
        data = changed_tree(self.rng, text, self.fields).encode()
        path = self.folder / "small.yaml"
        path.write_bytes(data)

        def go():
            made = load_scene(path, ["seconds=0.04", "fps=25"])
            if made.scene.step < 2e-3:
                return  # steps without end are no crash
            shutil.rmtree(self.folder / "small", ignore_errors=True)
            weft.simulate(
                made.scene, frames=1, fps=25, out=self.folder / "small", progress=False, fsync=False
            )

        return data, ".yaml", go

    def override(self):
        """A scene with a random --set."""
        names = self.fields + [str(k) for k in (0, 1, 10**20, -1)] + ["", "é", "\0", "²"]
        where = ".".join(self.rng.choice(names) for _ in range(self.rng.randrange(1, 5)))
        sets = [self.rng.choice((f"{where}=", where, f"{where}={self.rng.choice(TEXTS)}"))]
        source = self.rng.choice(self.scenes)
        return "\n".join([source.name, *sets]).encode(), ".txt", lambda: load_scene(source, sets)

    def mesh(self):
        """A mesh file, as cloth and as a body."""
        suffix, data = self.rng.choice(self.meshes)
        data = changed_bytes(self.rng, data)
        path = self.folder / f"mesh{suffix}"
        path.write_bytes(data)

        def read():
            with contextlib.suppress(WeftError):
                read_surface(path)
            read_mesh(path, warp=(1.0, 0.2, 0.1))

        return data, suffix, read

    def archive(self):
        """Positions of a body in an .npz."""
        file = io.BytesIO()
        save = self.rng.choice((np.savez, np.savez_compressed))
        save(file, positions=np.zeros((2, 4, 3)), faces=np.array([[0, 1, 2], [1, 2, 3]]))
        data = changed_bytes(self.rng, file.getvalue())
        (self.folder / "b.npz").write_bytes(data)
        path = self.folder / "body.yaml"
        path.write_text(scenes.SHEET + "bodies: [{mesh: {file: b.npz, fps: 10, hold: true}}]\n")
        return data, ".npz", lambda: load_scene(path)

    def run_folder(self):
        """A run with files changed: readers and --resume. What resumes is right in every bit."""
        path = self.folder / "run"
        shutil.rmtree(path, ignore_errors=True)
        shutil.copytree(self.run, path)
        told = []
        for _ in range(self.rng.choice((1, 1, 2, 4))):
            files = sorted(p for p in path.rglob("*") if p.is_file())
            if not files:
                break
            file, kind = self.rng.choice(files), self.rng.randrange(6)
            told.append(f"{file.relative_to(path)} {kind}")
            if kind == 0:
                file.unlink()
            elif kind == 1:
                file.write_bytes(self.rng.choice(files).read_bytes())
            elif kind == 2:
                file.write_bytes(file.read_bytes() + b"\n{}\n" * self.rng.randrange(1, 9))
            else:
                file.write_bytes(changed_bytes(self.rng, file.read_bytes()))
        return "\n".join(told).encode(), ".txt", lambda: self._use(path)

    def _use(self, path):
        with contextlib.suppress(WeftError):
            run = weft.Run(path)
            for k in range(-1, len(run)):
                with contextlib.suppress(WeftError):
                    run.save(self.folder / "out.obj", k)
            _ = run.metrics
        run = weft.simulate(
            self.made.scene, frames=3, out=path, resume=True, progress=False, fsync=False
        )
        lines = run.metrics
        assert [m["step"] for m in lines] == list(range(1, len(lines) + 1)), "metrics"
        for k, frame in enumerate(self.frames):
            found = RunFolder(path).frame(k)
            assert found.keys() == frame.keys(), f"names of frame {k}"
            assert all(np.array_equal(found[n], frame[n]) for n in frame), f"frame {k}"

    def once(self, kind):
        """One input; True where it went well."""
        data, suffix, use = getattr(self, kind)()
        self.counts[kind] = self.counts.get(kind, 0) + 1
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                clock(PATIENCE)
                use()
        except WeftError as error:
            clock(0)
            why = wanting(error)
            if not why:
                return True
            self._save(kind, data, suffix, f"{why}: {str(error)[:1000]}")
        except (Exception, TooLong):
            clock(0)
            self._save(kind, data, suffix, traceback.format_exc())
        else:
            return True
        finally:
            clock(0)
        return False

    def _save(self, kind, data, suffix, why):
        CRASHES.mkdir(exist_ok=True)
        name = f"{kind}-{hashlib.sha256(data).hexdigest()[:12]}"
        (CRASHES / f"{name}{suffix}").write_bytes(data)
        (CRASHES / f"{name}.why.txt").write_text(why)
        self.crashes.append(f"{CRASHES / name}{suffix}: {why.strip().splitlines()[-1]}")


def wanting(error):
    """What a message lacks: it says what is wrong, and what would be right or the next step."""
    if len(str(error)) > 100_000:
        return "a message without end"
    parts = getattr(error, "problems", None)
    if parts is not None:
        return next(filter(None, map(wanting, parts)), "")
    known = error.what and (error.expected or error.hint)
    return "" if known else "a message without a next step"


def small(path):
    """Scenes that are built in a fraction of a second."""
    return path.stat().st_size < 4000 and path.name not in ("pile.yaml", "shot.yaml")


KINDS = [
    "scene",
    "step",
    "override",
    "mesh",
    "archive",
    "run_folder",
    "pattern",
    "drawing",
    "fit",
    "sweep",
]


def campaign(seconds, seed, kinds=KINDS, most=10**9, say=print):
    """Inputs of all kinds in turn, for so long; the crashes."""
    with tempfile.TemporaryDirectory() as folder, small_machine():
        fuzzer, n = Fuzzer(seed, folder), 0
        end = time.monotonic() + seconds
        while time.monotonic() < end and n < most:
            kind = kinds[n % len(kinds)]
            n += 1
            if not fuzzer.once(kind):
                say(fuzzer.crashes[-1])
    return fuzzer


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=3600)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--only", choices=KINDS, action="append")
    given = parser.parse_args()
    print(f"seed {given.seed}", flush=True)
    done = campaign(given.seconds, given.seed, tuple(given.only or KINDS))
    print(f"{done.counts}: {len(done.crashes)} crashes")
    sys.exit(bool(done.crashes))


if __name__ == "__main__":
    main()
