"""Nothing lost, nothing silent: damage to every file of a run is found, named and repaired bitwise;
one writer; no links; branches that survive a kill.
"""

import errno
import os
import shutil
import subprocess
import sys
import time
import warnings
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

import weft
from tests.engine.test_simulation import Killed, die_at, same_run, scene, simulate
from tests.refusals import refused
from weft.base.errors import RunError
from weft.io.folder_lock import LOCK, PROCESS_LOCK, WRITER
from weft.io.safe_folder import SafeFolder
from weft.run import simulation
from weft.run.recovery import inspect_run
from weft.run.run_folder import RunFolder, frame_name

ROOT = str(Path(__file__).parents[1])
MARS = (0.0, -3.7, 0.0)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A run of six frames that nothing happened to."""
    return simulate(tmp_path_factory.mktemp("whole") / "run", frames=6)


def copied(run, path):
    """The same run in another folder."""
    return weft.Run(shutil.copytree(run.path, path))


@pytest.fixture
def run(whole, tmp_path):
    """A copy of it, to which something happens."""
    return copied(whole, tmp_path / "run")


def flip(path, place=0.5):
    """Change one byte."""
    data = bytearray(path.read_bytes())
    data[int(place * len(data))] ^= 0x10
    path.write_bytes(data)


def cut(path):
    os.truncate(path, path.stat().st_size // 3)


def edit(path, old, new):
    path.write_text(path.read_text().replace(old, new))


CHECKPOINT, METRICS, MESH, MANIFEST = "checkpoint.npz", "metrics.jsonl", "mesh.npz", "manifest.json"
FILES = (frame_name(0), frame_name(3), frame_name(6), CHECKPOINT, METRICS, MESH, MANIFEST)
DAMAGE = [(file, change) for file in FILES for change in (flip, cut, Path.unlink)]
DAMAGE += [
    (frame_name(3), lambda p: p.write_bytes(b"")),
    (frame_name(3), lambda p: shutil.copy(p.parents[1] / MESH, p)),
    (frame_name(4), lambda p: p.with_name("000002.npz").replace(p)),
    ("frames", lambda p: [file.unlink() for file in p.iterdir()]),
    (CHECKPOINT, lambda p: shutil.copy(p.parent / frame_name(6), p)),
    (CHECKPOINT, lambda p: [p.unlink(), flip(p.parent / frame_name(4))]),
    (METRICS, lambda p: p.write_bytes(p.read_bytes() + b'{"frame": 9}\n{"fr')),
    (METRICS, lambda p: p.write_bytes(2 * p.read_bytes())),
    (MANIFEST, lambda p: edit(p, '"fps": 30', '"fps": 25')),
    (MANIFEST, lambda p: p.write_text("[1]")),
]


@pytest.mark.filterwarnings("ignore::UserWarning")  # it names what is damaged besides
@pytest.mark.parametrize("file, change", DAMAGE)
def test_damage_is_found_named_and_repaired(run, whole, file, change):
    """After --resume the run is the one that nothing happened to, in every bit of every frame."""
    change(run.path / file)
    name = "0000" if file.startswith("frames") else Path(file).stem
    with pytest.warns(UserWarning, match=name):
        simulate(run.path, frames=6, resume=True)
    same_run(whole, weft.Run(run.path))
    for k in range(7):
        assert run.folder.sealed_frame(k)[1] == whole.folder.sealed_frame(k)[1]
    assert not inspect_run(run.folder).flaws
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        simulate(run.path, frames=6, resume=True)


@pytest.mark.parametrize("last, flaw", [(3, "complete only up to frame 3"), (5, None)])
def test_metrics_that_end_before_the_frames(run, last, flaw):
    """They are damaged, unless the last frame alone has no line, as after a kill."""
    (run.path / CHECKPOINT).unlink()
    lines, _ = run.folder.log.read()
    run.folder.log.cut_after([line for line in lines if line.frame == last][-1])
    found = inspect_run(run.folder)
    assert found.end == last and found.flaws.get(METRICS) == flaw


def test_good_frames_after_a_damaged_one_are_kept(run):
    (run.path / frame_name(3)).write_bytes(b"x")
    for k in range(7):
        os.utime(run.path / frame_name(k), (0, 0))
    with pytest.warns(UserWarning, match="frames 3: restored bitwise"):
        simulate(run.path, frames=6, resume=True)
    assert [k for k in range(7) if (run.path / frame_name(k)).stat().st_mtime_ns] == [3]


def test_a_frame_that_this_machine_computes_otherwise(run, monkeypatch):
    """It stays missing and is named; nothing that is good is dropped for it."""
    (run.path / frame_name(2)).unlink()
    original = simulation.Loop.frame_arrays
    monkeypatch.setattr(
        simulation.Loop, "frame_arrays", lambda s, p: {**original(s, p), "other": np.ones(1)}
    )
    with pytest.warns(UserWarning, match="cannot be restored"):
        simulate(run.path, frames=6, resume=True)
    assert run.folder.numbers() == [0, 1, 3, 4, 5, 6]


def test_a_folder_without_manifest_is_not_taken_for_a_new_one(run):
    (run.path / MANIFEST).unlink()
    with refused(RunError, "run folder", hint="resume=True"):
        simulate(run.path, frames=3)
    with refused(RunError, "run folder", got="another scene"):
        simulate(run.path, frames=3, resume=True, scene=scene(gravity=MARS))


CHANGES = ("replace", "unlink")  # of the disk


@pytest.mark.campaign
@pytest.mark.parametrize("after", [False, True])  # 6 s: nineteen kills, each of them resumed
@pytest.mark.parametrize("changed", [False, True])
def test_a_branch_killed_at_any_instant(whole, tmp_path, monkeypatch, after, changed):
    """--from 2, killed at each change of the disk in turn, then --resume: frames 0 to 2 are those
    of before, and the rest is the branch's.
    """
    new = scene(gravity=MARS) if changed else scene()
    branch = copied(whole, tmp_path / "branch")
    branch = simulate(branch.path, frames=7, from_frame=2, scene=new)
    assert len(branch) == 8
    for instant in range(18):
        run = copied(whole, tmp_path / f"run-{instant}")
        with monkeypatch.context() as patch:
            die_at(patch, instant, after, CHANGES)
            with pytest.raises(Killed):
                simulate(run.path, frames=7, from_frame=2, scene=new)
        committed = not changed or run.folder.manifest()["scene"] == branch.manifest["scene"]
        if not committed:  # the branch had not begun: the old run is whole
            same_run(whole, simulate(run.path, frames=6, resume=True))
            continue
        same_run(branch, simulate(run.path, frames=7, resume=True, scene=new))


def test_a_branch_of_a_branch(run):
    """Frames keep the trajectory that they are of; damage before the branch is named."""
    up = scene(gravity=(0.0, 1.0, 0.0))
    simulate(run.path, frames=5, from_frame=2, scene=scene(gravity=MARS))
    simulate(run.path, frames=5, from_frame=1, scene=up)
    (run.path / frame_name(1)).unlink()
    with pytest.warns(UserWarning, match="belong to the scene before the branch"):
        simulate(run.path, frames=5, resume=True, scene=up)
    assert weft.Run(run.path).manifest["after"] == 1


def test_a_branch_keeps_the_mesh(run):
    cloth = weft.sheet(9, 8, width=2.0, fabric="cotton")
    other = weft.Scene(cloth, [weft.Pin(cloth.corners("top"))], damping=0.01)
    with refused(RunError, "run folder", got="another mesh"):
        simulate(run.path, frames=3, from_frame=1, scene=other)


def test_clearing_killed_at_any_instant(whole, tmp_path, monkeypatch):
    """A folder that is cleared in part can be cleared again, and resumed."""
    for instant in range(11):
        run = copied(whole, tmp_path / f"run-{instant}")
        with monkeypatch.context() as patch:
            die_at(patch, instant, False, CHANGES)
            with pytest.raises(Killed):
                run.folder.clear()
        assert run.folder.exists()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it names what is missing
            same_run(whole, simulate(run.path, frames=6, resume=True))
        run.folder.clear()
        assert not run.folder.remains()


HOLD = """
import sys
from weft.run.run_folder import RunFolder
with RunFolder(sys.argv[1]).lock:
    print("held", flush=True)
    sys.stdin.read()
"""


@contextmanager
def holding(path, code=""):
    """Another process that holds the lock of a folder, and is killed at the end of the block."""
    other = subprocess.Popen(
        [sys.executable, "-c", code + HOLD, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": f"{ROOT}/src"},
    )
    try:
        assert other.stdout.readline().strip() == b"held"
        yield other
    finally:
        other.kill()
        other.communicate()


def test_one_writer(tmp_path):
    """A second writer is refused by name; a killed one leaves no lock."""
    with holding(tmp_path / "run") as other:
        for arguments in ({}, {"resume": True}):
            with refused(RunError, "run folder", got=f"process {other.pid}"):
                simulate(tmp_path / "run", **arguments)
    simulate(tmp_path / "run", frames=1)


def test_one_writer_within_a_process(tmp_path):
    folder = RunFolder(tmp_path / "run")
    with folder.lock, refused(RunError, "run folder", got=f"process {os.getpid()}"):
        simulate(tmp_path / "run")
    simulate(tmp_path / "run", frames=1)
    assert not {WRITER, LOCK} & {p.name for p in (tmp_path / "run").iterdir()}


def test_an_interrupt_while_the_lock_is_taken_releases_it(tmp_path, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    first = RunFolder(tmp_path / "run")
    with monkeypatch.context() as patch:
        patch.setattr(SafeFolder, "writer", interrupted)
        with pytest.raises(KeyboardInterrupt) as caught:
            first.lock.__enter__()
    with RunFolder(tmp_path / "run").lock:
        assert caught.traceback  # keeps the first lock alive


def test_the_lock_where_there_are_no_locks(tmp_path, monkeypatch):
    """A file with the number of its process: refused while it runs, void afterwards."""
    import fcntl

    def no_locks(*_):
        raise OSError(errno.ENOLCK, "no locks available")

    code = f"import fcntl\ndef no(*_): raise OSError({errno.ENOLCK}, 'none')\nfcntl.flock = no\n"
    path = tmp_path / "run"
    with monkeypatch.context() as patch:
        patch.setattr(fcntl, "flock", no_locks)
        with RunFolder(path).lock, refused(RunError, "run folder", got=f"process {os.getpid()}"):
            RunFolder(path).lock.__enter__()
        assert not (path / PROCESS_LOCK).exists()
        with (
            holding(path, code) as other,
            refused(RunError, "run folder", got=f"process {other.pid}"),
        ):
            simulate(path)
        assert (path / PROCESS_LOCK).read_text()  # the killed process leaves it
        simulate(path, frames=1)
        assert not (path / PROCESS_LOCK).exists()


WRITTEN = ("frames", LOCK, METRICS)


@pytest.mark.parametrize("name", [*WRITTEN, CHECKPOINT, MANIFEST, MESH, frame_name(1)])
def test_links_are_not_followed(run, tmp_path, name):
    """Neither written nor read through, whatever of the folder is one."""
    target, away = run.path / name, tmp_path / "away"
    if target.exists():
        target.rename(away)
    else:
        away.write_text("precious")
    before = contents(away)
    target.symlink_to(away)
    try:
        simulate(run.path, frames=7, resume=True)
        assert name not in WRITTEN
    except RunError as error:
        assert "link" in str(error)
    except UserWarning:
        pass
    assert contents(away) == before


def contents(path):
    """Bytes of a file, or of all files of a folder."""
    return {p: p.read_bytes() for p in [path, *path.rglob("*")] if p.is_file()}


def test_a_hard_link_keeps_its_contents(run, tmp_path):
    """A copy of a run made of hard links (cp -al) does not change with it."""
    copy = tmp_path / "copy"
    shutil.copytree(run.path, copy, copy_function=os.link)
    before = contents(copy)
    simulate(run.path, frames=7, resume=True)
    assert contents(copy) == before


def test_a_pipe_does_not_hang(run):
    (run.path / METRICS).unlink()
    os.mkfifo(run.path / METRICS)
    with refused(RunError, METRICS):
        simulate(run.path, frames=7, resume=True)


def test_what_killed_writers_left_is_swept(run):
    left = [f".manifest.{24 * 'f'}.json", f"frames/.000001.{24 * 'e'}.npz"]
    for name in (*left, "mine.tmp"):
        (run.path / name).write_bytes(b"half, or the user's")
    with pytest.warns(UserWarning, match="killed process"):
        simulate(run.path, frames=6, resume=True)
    assert not any((run.path / name).exists() for name in left)
    assert (run.path / "mine.tmp").exists()


def test_fsync_before_rename(tmp_path, monkeypatch):
    """With it a frame is on the disk before it has its name; without it nothing waits."""
    order = []
    sync, replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda fd: (order.append("fsync"), sync(fd))[1])
    monkeypatch.setattr(
        os, "replace", lambda *a, **k: (order.append(Path(a[1]).name), replace(*a, **k))[1]
    )
    simulate(tmp_path / "run", frames=1)
    assert order[order.index("000001.npz") - 1] == "fsync"
    order.clear()
    simulate(tmp_path / "other", frames=1, fsync=False)
    assert "000001.npz" in order and "fsync" not in order


def test_readers_name_what_is_missing(run):
    (run.path / frame_name(2)).unlink()
    with pytest.warns(UserWarning, match="frames 2 of"):
        opened = weft.Run(run.path)
    assert np.isfinite(opened.positions(4)).all()
    with refused(RunError, "frame", got=2):
        opened.positions(2)


def test_contact_is_restored_bitwise(tmp_path):
    """Friction, bodies and a direct solver: a frame computed again, by another process's memory,
    is the same in every bit.
    """
    cloth = weft.sheet(14, 14, 0.5, 0.5, fabric="cotton")
    ball = weft.contact.sphere(0.12, 0.03).move((0.0, -0.13, 0.0))
    contact = weft.SelfContact(gap=2e-3, friction=0.3)
    made = weft.Scene(cloth, [], contact=contact, bodies=[ball])
    run = simulate(tmp_path / "run", frames=6, scene=made)
    assert any(m["contact"]["count"] for m in run.metrics)
    for k in (2, 4, 5):
        (run.path / frame_name(k)).unlink()
    ballast = [np.zeros(n) for n in range(1001, 90000, 977)]
    with pytest.warns(UserWarning, match="restored bitwise"):
        simulate(run.path, frames=6, scene=made, resume=True)
    assert len(ballast) and run.folder.numbers() == list(range(7))


def test_equal_numbers_are_one_scene(tmp_path):
    """A run at fps=30 is resumed at 30.0, and gravity (0, -9, 0) is (0.0, -9.0, 0.0)."""
    made = scene(gravity=(0, -9, 0))
    weft.simulate(made, frames=1, fps=30, out=tmp_path / "run", progress=False)
    same = scene(gravity=(0.0, -9.0, 0.0))
    run = weft.simulate(same, frames=2, fps=30.0, out=tmp_path / "run", progress=False, resume=True)
    assert len(run) == 3


@pytest.mark.parametrize("stray", [99_999_999, 10**30])
def test_a_stray_frame_takes_no_time(run, stray):
    shutil.copy(run.path / frame_name(1), run.path / "frames" / f"{stray}.npz")
    clock = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        again = simulate(run.path, frames=6, resume=True)
    assert time.process_time() - clock < 10  # a look at every number takes minutes, or for ever
    assert np.isfinite(again.positions(2)).all()


FOREIGN = {
    "no positions": {"x": None},
    "positions of another shape": {"x": np.zeros(5)},
    "text for positions": {"x": np.array([["a", "b", "c"]])},
    "velocities of another number": {"v": np.zeros((3, 3))},
    "a time of three numbers": {"t": np.zeros(3)},
    "a step that is no integer": {"step": 1.5},
}


@pytest.mark.parametrize("change", FOREIGN)
def test_files_from_elsewhere_with_valid_seals(run, change):
    """What was made to look right is looked at before it is used."""
    arrays, seal = run.folder.sealed_frame(1)
    arrays = {name: a for name, a in (arrays | FOREIGN[change]).items() if a is not None}
    run.folder.write(frame_name(1), arrays, seal.run)
    with refused(RunError, frame_name(1)):
        run.positions(1)
    with pytest.warns(UserWarning, match="000001"):
        simulate(run.path, frames=6, resume=True)


def test_a_mesh_from_elsewhere(run):
    arrays = run.folder.mesh()
    run.folder.write(MESH, {**arrays, "faces": arrays["faces"] + 1000})
    with refused(RunError, MESH, got="faces"):
        _ = weft.Run(run.path).faces


CHANGED = {
    "fps": ("x", 0, float("nan")),
    "trajectory": ([],),
    "after": ("x",),
    "mesh": (5,),
    "description": ("x",),
    "scene": (1,),
}


@pytest.mark.parametrize("field, value", [(name, v) for name in CHANGED for v in CHANGED[name]])
def test_a_manifest_from_elsewhere(run, field, value):
    run.folder.write_manifest({**run.manifest, field: value})
    with refused(RunError, MANIFEST):
        _ = weft.Run(run.path).fps
    with pytest.warns(UserWarning, match="manifest"):
        simulate(run.path, frames=6, resume=True)


def test_a_run_of_another_version_is_refused_by_name(run):
    """Whatever is read of it first: a file whose seal has another form is not called damaged."""
    edit(run.path / MANIFEST, '"format": ', '"format": 1')
    flip(run.path / frame_name(1))
    with refused(RunError, "run format", hint="another version"):
        weft.Run(run.path).positions(1)
