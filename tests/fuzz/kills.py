"""Kills at any instant: whatever is resumed afterwards is the run that nothing happened to.

    python -m tests.fuzz.kills --kills 1000 [--seed N]

Children are forked from a process that has everything loaded, so a kill takes a tenth of a second
and falls into steps, writes, branches, clearings and repairs alike. After each chain of kills the
run is finished and compared in every bit of every frame and in the metrics.
"""

import argparse
import os
import random
import shutil
import signal
import sys
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path

import weft
from tests.engine.test_simulation import same_run
from weft.base.errors import RunError
from weft.io.folder_lock import FolderInUseError
from weft.run.run_folder import RunFolder

FRAMES, MORE = 8, 10
SETTINGS = weft.StepSettings(linear="splu")  # no threads, which do not outlive a fork


def scene(gravity=-9.81, contact=False):
    """A sheet that hangs, or one that falls on a ball with friction."""
    cloth = weft.sheet(7, 6, 0.5, 0.5, fabric="cotton")
    if not contact:
        pins = [weft.Pin(cloth.corners("top"))]
        return weft.Scene(cloth, pins, (0.0, gravity, 0.0), settings=SETTINGS)
    ball = weft.contact.sphere(0.12, 0.06).move((0.0, -0.13, 0.0))
    meets = weft.SelfContact(gap=2e-3, friction=0.3)
    return weft.Scene(
        cloth, [], (0.0, gravity, 0.0), contact=meets, bodies=[ball], settings=SETTINGS
    )


def simulate(path, made, **arguments):
    arguments = {"frames": FRAMES, "fps": 30, "progress": False, "fsync": False, **arguments}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return weft.simulate(made, out=path, **arguments)


class Campaign:
    """Kills of a seed."""

    def __init__(self, seed, folder):
        self.rng, self.folder = random.Random(seed), Path(folder)
        self.kinds, self.late, self.kills, self.wrong = Counter(), 0, 0, []
        self.scenes = {}
        for contact in (False, True):
            old, new = scene(contact=contact), scene(-3.7, contact)
            runs = [simulate(self.folder / f"old-{contact}", old)]
            for k in (0, 3, 6):
                path = self.folder / f"branch-{contact}-{k}"
                shutil.copytree(runs[0].path, path)
                runs.append(simulate(path, new, frames=MORE, from_frame=k))
            self.scenes[contact] = old, new, runs
        self.span = min(self._seconds(k) for k in range(3))  # others may be at work here

    def _seconds(self, k):
        started = time.perf_counter()
        simulate(self.folder / f"clock-{k}", scene())
        return time.perf_counter() - started

    def killed(self, what):
        """Run a function in a child and kill it at a random instant of its life."""
        child = os.fork()
        if child == 0:
            status = 1
            try:
                os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
                os.dup2(2, 1)
                what()
                status = 0
            except FolderInUseError:
                status = 3
            except RunError:
                status = 2
            finally:
                os._exit(status)
        time.sleep(self.rng.random() ** 2 * 1.3 * self.span)
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        self.kills += 1
        self.late += os.WIFEXITED(status)
        return os.WEXITSTATUS(status) if os.WIFEXITED(status) else -1

    def once(self):
        """A chain of kills, and the comparison."""
        contact, path = self.rng.random() < 0.3, self.folder / "run"
        old, new, runs = self.scenes[contact]
        shutil.rmtree(path, ignore_errors=True)
        kind = self.rng.choice(("run", "from", "branch", "branch", "clear", "damage"))
        self.kinds[kind] += 1
        if kind != "run":
            shutil.copytree(runs[0].path, path)
        expected, made, frames = runs[0], old, FRAMES
        k = self.rng.choice((0, 3, 6))
        if kind == "from":
            self.killed(lambda: simulate(path, old, from_frame=k))
        elif kind == "branch":
            self.killed(lambda: simulate(path, new, frames=MORE, from_frame=k))
            committed = RunFolder(path).manifest()["scene"]["gravity"][1] == -3.7
            if committed:
                made, expected, frames = new, runs[1 + (0, 3, 6).index(k)], MORE
        elif kind == "clear":
            self.killed(lambda: RunFolder(path).clear())
        elif kind == "damage":
            files = sorted(p for p in path.rglob("*") if p.is_file())
            for file in self.rng.sample(files, 2):
                file.write_bytes(file.read_bytes()[: self.rng.randrange(200)])
        for _ in range(self.rng.randrange(1, 4)):
            if self.killed(lambda: simulate(path, made, frames=frames, resume=True)) > 1:
                self.wrong.append(f"{kind} {k}: --resume was refused")
        try:
            found = simulate(path, made, frames=frames, resume=True)
            same_run(expected, found)
            assert not list(found.path.rglob(".*")), "files are left"
        except Exception as error:
            why = f"{type(error).__name__}: {error}"
            kept = Path(tempfile.mkdtemp(prefix=f"weft-kill-{kind}-"))
            shutil.copytree(path, kept / "run")
            self.wrong.append(f"{kind} {k} contact={contact}: {why} ({kept})")


def campaign(kills, seed, say=print):
    """So many kills."""
    with tempfile.TemporaryDirectory() as folder:
        done = Campaign(seed, folder)
        while done.kills < kills:
            before = len(done.wrong)
            done.once()
            for line in done.wrong[before:]:
                say(line, flush=True)
    return done


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    given = parser.parse_args()
    print(f"seed {given.seed}", flush=True)
    done = campaign(given.kills, given.seed)
    print(
        f"{done.kills} kills ({done.late} came after the end), {dict(done.kinds)}: "
        f"{len(done.wrong)} wrong"
    )
    sys.exit(bool(done.wrong))


if __name__ == "__main__":
    main()
