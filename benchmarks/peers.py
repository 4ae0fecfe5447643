"""weft beside other simulators of cloth: the same sheet on the same sphere and floor, or the same
towel that is lifted from a table.

    python -m benchmarks.peers [--scene drape] [--only NAME ...] [--side 41] [--into FOLDER]
        [--repeats 5] [--markdown]

Each simulator is installed with pip from the registry, into an environment of its own under
FOLDER, and runs there on one core. Seconds are processor time of its steps, without set-up or
compilation. Intersections are counted by ``weft.contact.exact.intersections`` in every frame of
every result. What cannot be installed, or fails, is a row that says so. benchmarks/README.md has
more.
"""

import argparse
import dataclasses
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import weft
from benchmarks.reference import machine
from benchmarks.rivals import exchange
from weft.contact import Friction, intersections
from weft.scene.build import LoadedScene, load_scene
from weft.scene.scene import Scene

HERE = Path(__file__).parent
RIVALS = HERE / "rivals"

DEMO = Path(weft.__file__).parent / "scenes" / "drape.yaml"
SCENES = {"drape": DEMO, "grasp": HERE / "grasp.yaml"}
LIMIT = 3600  # [s] after which an installation or a run is given up


@dataclass(frozen=True)
class Rival:
    """A simulator with the settings of one row.

    Args:
        title: in the table.
        package: that pip installs; None: weft itself, run by this interpreter.
        runner: a script in ``rivals``.
        options: for it.
    """

    title: str
    package: str | None
    runner: str
    options: dict[str, Any] = field(default_factory=dict)


def newton(solver: str, iterations: int, contact: tuple[float, float]) -> dict[str, Any]:
    """Newton's options: substeps of 2 ms (its examples of cloth have 1.7 ms), bodies found in each;
    [N/m] and [s] of contact with bodies.
    """
    return {"solver": solver, "iterations": iterations, "contact": contact, "substeps": 20}


LIFT = 0.25  # [m] by which the grasped vertices go up in the first second
EFFORT = "integrator.backward_euler.effort"
SIMULATORS = {
    "weft": Rival(
        "weft, converged, 20 ms", None, "run_weft.py", {"set": ["step=0.02", f"{EFFORT}=converged"]}
    ),
    "weft-interactive": Rival(
        "weft, `effort: interactive`, 10 ms",
        None,
        "run_weft.py",
        {"set": [f"{EFFORT}=interactive"]},
    ),
    "mujoco": Rival(
        "MuJoCo, `ipc`, 20 ms",
        "mujoco-core>=4.0.1",
        "run_mujoco.py",
        {"step": 0.02, "solver": "CG"},
    ),
    "mujoco-3": Rival(
        "MuJoCo 3, `ipc`, 20 ms",
        "mujoco>=3.17,<4",
        "run_mujoco.py",
        {"step": 0.02, "solver": "CG"},
    ),
    "mujoco-5ms": Rival(
        "MuJoCo, `ipc`, 5 ms",
        "mujoco-core>=4.0.1",
        "run_mujoco.py",
        {"step": 0.005, "solver": "CG"},
    ),
    "bpy": Rival("Blender, margins of 4 mm", "bpy", "run_bpy.py", {"gap": 4e-3}),
    "bpy-own": Rival("Blender, its own margins", "bpy", "run_bpy.py", {"gap": None}),
    "newton-vbd": Rival(
        "Newton, VBD, 10 iterations", "newton", "run_newton.py", newton("vbd", 10, (1e4, 0.0))
    ),
    "newton-vbd-4": Rival(
        "Newton, VBD, 4 iterations", "newton", "run_newton.py", newton("vbd", 4, (1e4, 0.0))
    ),
    "newton-style3d": Rival(
        "Newton, Style3D", "newton", "run_newton.py", newton("style3d", 4, (5e3, 1e-2))
    ),
}


def demo(side: int, changes: Sequence[str] = (), scene: str = "drape") -> LoadedScene:
    """A scene of ``SCENES``, with ``side`` x ``side`` vertices."""
    sizes = [f"cloth.sheet.{n}={side}" for n in ("nx", "ny")]
    return load_scene(SCENES[scene], [*sizes, *changes])


def arrays(scene: Scene) -> dict[str, np.ndarray]:
    """The sheet and the bodies of the scene, as every runner gets them."""
    *ball, floor = scene.bodies
    nothing = np.zeros((0, 3))
    uv = scene.cloth.mesh.vertex_uv
    assert uv is not None
    return {
        "cloth": scene.cloth.vertices,
        "faces": scene.cloth.faces,
        "cloth_uv": uv,
        "sphere": ball[0].vertices if ball else nothing,
        "sphere_faces": ball[0].faces if ball else nothing.astype(np.int32),
        "held": scene.pins[0].vertices if scene.pins else nothing[:, 0].astype(np.int32),
        "floor": floor.vertices,
        "floor_faces": floor.faces,
    }


def numbers(loaded: LoadedScene, cores: int) -> dict[str, float]:
    """The rest of it [SI]: stretch and bending are means of warp and weft."""
    scene, cloth = loaded.scene, loaded.scene.cloth
    contact, ball = scene.contact, arrays(scene)["sphere"]
    assert contact is not None and isinstance(contact.friction, Friction)
    ball = ball if len(ball) else np.zeros((1, 3))
    center = (ball.min(0) + ball.max(0)) / 2
    f = cloth.fabric
    return {
        "seconds": loaded.seconds,
        "fps": loaded.fps,
        "cores": cores,
        "gap": contact.gap,
        "friction": contact.friction.static,
        "mass": float(cloth.mass.sum()),
        "density": f.density,
        "stretch": (f.stretch_warp + f.stretch_weft) / 2,
        "shear": f.shear,
        "bending": (f.bending_warp + f.bending_weft) / 2,
        "damping": f.damping,
        "radius": float(np.linalg.norm(ball - center, axis=1).max()),  # 0: no sphere
        "height": float(center[1]),
        "lift": LIFT,
    }


@dataclass(frozen=True)
class Row:
    """What a simulator did."""

    name: str
    title: str
    version: str = ""
    failed: str = ""  # why there is nothing else
    cpu: float = np.nan  # [s] of processor time a second of cloth
    wall: float = np.nan  # [s] a second of cloth
    factor: float = np.nan  # the machine's, mean of before and after
    step: float = np.nan  # [s]
    frames: int = 0  # with intersections
    own: int = 0  # most pairs of the cloth's own faces in a frame
    bodies: int = 0  # most pairs of a face of the cloth with one of a body
    through: int = 0  # most vertices below the floor or inside the sphere
    stretch: float = np.nan  # of the cloth's edges at the end: the 99th percentile
    speed: float = np.nan  # [m/s] largest of the last frame
    rises: tuple[float, float] = (np.nan, np.nan)  # [m] of the mean height: in a second, at the end
    note: str = ""

    @property
    def normalized(self) -> float:
        """[s] of the reference machine, a second of cloth."""
        return self.cpu / self.factor


def judged(row: Row, x: np.ndarray, scene: Scene, fps: float) -> Row:
    """The row with what frames x (k,n,3) show."""
    a, n = arrays(scene), len(scene.cloth.vertices)
    faces = np.concatenate(
        [a["faces"], a["sphere_faces"] + n, a["floor_faces"] + n + len(a["sphere"])]
    )
    quiet = np.arange(len(faces)) >= len(a["faces"])
    center, inner = np.zeros(3), 0.0
    if len(a["sphere"]):
        center, inner = a["sphere"].mean(0), inner_radius(a["sphere"], a["sphere_faces"])
    own, bodies, through = [], [], []
    for frame in x:
        pairs = intersections(np.concatenate([frame, a["sphere"], a["floor"]]), faces, quiet)
        among = quiet[pairs].sum(1) == 0
        own.append(int(among.sum()))
        bodies.append(int((~among).sum()))
        inside = (np.linalg.norm(frame - center, axis=1) < inner) | (frame[:, 1] < 0)
        through.append(int(inside.sum()))
    edges = scene.cloth.mesh.edges
    first, last = (np.linalg.norm(y[edges[:, 0]] - y[edges[:, 1]], axis=1) for y in (x[0], x[-1]))
    rise = (x - x[0])[:, :, 1].mean(1)
    return dataclasses.replace(
        row,
        frames=int(np.count_nonzero(np.add(own, bodies))),
        own=max(own),
        bodies=max(bodies),
        through=max(through),
        stretch=float(np.percentile(last / first - 1, 99)),
        speed=float(np.linalg.norm(x[-1] - x[-2], axis=1).max() * fps),
        rises=(float(rise[min(round(fps), len(x) - 1)]), float(rise[-1])),
    )


def inner_radius(x: np.ndarray, faces: np.ndarray) -> float:
    """[m] from the center of a triangulated sphere to the nearest plane of a face."""
    a, b, c = (x[faces[:, k]] - x.mean(0) for k in range(3))
    normal = np.cross(b - a, c - a)
    return float((np.abs((a * normal).sum(1)) / np.linalg.norm(normal, axis=1)).min())


def python_of(package: str, folder: Path) -> Path:
    """The interpreter of an environment that has the package; made where it is not there.

    Raises:
        RuntimeError: with the last line that pip said.
    """
    import venv

    home = folder / "".join(c if c.isalnum() else "-" for c in package)
    python = home / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    done = home / "installed"
    if not done.exists():
        print(f"installing {package} into {home}", file=sys.stderr)
        venv.create(home, with_pip=True, clear=True)
        call([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", package])
        done.touch()
    return python


def call(command: Sequence[Any], cores: int = 1, folder: Path | None = None) -> None:
    """Run a program that has this many threads in libraries, in a folder for its logs.

    Raises:
        RuntimeError: with the last line that it said, where it fails or takes too long.
    """
    env = {**os.environ, **{f"{n}_NUM_THREADS": str(cores) for n in ("OMP", "MKL", "OPENBLAS")}}
    env.pop("PYTHONPATH", None)
    if command[0] == sys.executable:
        env["PYTHONPATH"] = str(Path(weft.__file__).parents[1])
    try:
        done = subprocess.run(
            [str(c) for c in command],
            capture_output=True,
            text=True,
            timeout=LIMIT,
            env=env,
            cwd=folder,
        )
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"not done after {LIMIT} s") from None
    if done.returncode:
        said = [line for line in (done.stderr or done.stdout).splitlines() if line.strip()]
        raise RuntimeError(said[-1] if said else f"exit status {done.returncode}")


def simulated(name: str, side: int, folder: Path, cores: int, scene: str = "drape") -> Row:
    """A row: install, run, judge."""
    rival, loaded = SIMULATORS[name], demo(side, scene=scene)
    row = Row(name, rival.title)
    given, result = (folder / f"{k}-{scene}-{side}.npz" for k in ("scene", name))
    exchange.save(given, arrays(loaded.scene), numbers(loaded, cores))
    options = dict(rival.options)
    if rival.package is None:
        sizes = [f"cloth.sheet.{n}={side}" for n in ("nx", "ny")]
        options = {"file": str(SCENES[scene]), "set": [*sizes, *options.get("set", [])]}
    try:
        python = sys.executable if rival.package is None else python_of(rival.package, folder)
        before = machine()
        call([python, RIVALS / rival.runner, given, result, json.dumps(options)], cores, folder)
        after = machine()
    except (RuntimeError, OSError) as error:
        return dataclasses.replace(row, failed=str(error))
    with np.load(result) as file:
        said, x = json.loads(str(file["said"])), file["frames"]
    row = dataclasses.replace(
        row,
        version=said["version"],
        cpu=said["cpu"] / loaded.seconds,
        wall=said["wall"] / loaded.seconds,
        factor=(before.factor + after.factor) / 2,
        step=loaded.seconds / said["steps"],
        note=said["note"],
    )
    if not np.isfinite(x).all():
        return dataclasses.replace(row, failed="positions that are not finite")
    return judged(row, x, loaded.scene, loaded.fps)


def table(rows: Sequence[Row], side: int, markdown: bool = False) -> Iterator[str]:
    """Lines of the table, for people or to paste into a document."""
    ours = next((r.normalized for r in rows if r.name == "weft"), np.nan)
    head = [
        "simulator",
        "version",
        "step [ms]",
        "CPU s / s of cloth",
        "normalized",
        "over weft's",
        "frames that intersect",
        "most pairs: cloth, bodies",
        "vertices through",
        "stretch",
        "speed at the end [m/s]",
        "mean height, after 1 s and at the end [cm]",
        "note",
    ]
    lines = [head]
    for r in rows:
        if r.failed:
            lines.append([r.title, r.version, *[""] * 10, f"none: {r.failed}"])
            continue
        lines.append(
            [
                r.title,
                r.version,
                f"{1e3 * r.step:.3g}",
                f"{r.cpu:.3g}",
                f"{r.normalized:.3g}",
                f"{r.normalized / ours:.2g}" if np.isfinite(ours) else "",
                str(r.frames),
                f"{r.own}, {r.bodies}",
                str(r.through),
                f"{100 * r.stretch:.2g} %",
                f"{r.speed:.2g}",
                ", ".join(f"{100 * y:.1f}" for y in r.rises),
                r.note,
            ]
        )
    if markdown:
        yield "| " + " | ".join(head) + " |"
        yield "|" + "---|" * len(head)
        yield from ("| " + " | ".join(line) + " |" for line in lines[1:])
        return
    yield f"{side} x {side} vertices"
    widths = [max(len(line[k]) for line in lines) for k in range(len(head))]
    yield from ("  ".join(c.ljust(w) for c, w in zip(line, widths)).rstrip() for line in lines)


def arguments(given: Sequence[str] | None = None) -> argparse.Namespace:
    """The command line."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "weft-peers"
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument(
        "--only",
        nargs="+",
        choices=list(SIMULATORS),
        metavar="NAME",
        help=f"of {', '.join(SIMULATORS)}; others keep their last result",
    )
    p.add_argument("--scene", choices=list(SCENES), default="drape", help="what is simulated")
    p.add_argument("--side", type=int, default=41, help="vertices along an edge of the sheet")
    p.add_argument("--into", type=Path, default=cache, help=f"environments, results ({cache})")
    p.add_argument("--cores", type=int, default=1, help="that each simulator may use")
    p.add_argument(
        "--repeats", type=int, default=1, help="runs of each, in alternation; the median counts"
    )
    p.add_argument("--markdown", action="store_true", help="the table as documents have it")
    p.add_argument("--show", action="store_true", help="the last results; nothing is run")
    return p.parse_args(given)


def median(rows: Sequence[Row]) -> Row:
    """The row of the median time, the lower one of two; a failed row, if there is one."""
    failed = [r for r in rows if r.failed]
    return failed[0] if failed else sorted(rows, key=lambda r: r.normalized)[(len(rows) - 1) // 2]


def main() -> None:
    """Run what was asked for, keep it, and print the table of all that there is."""
    a = arguments()
    folder: Path = a.into.absolute()
    folder.mkdir(parents=True, exist_ok=True)
    kept = folder / f"results-{a.scene}-{a.side}.json"
    results = json.loads(kept.read_text()) if kept.exists() else {}
    every = [n for n, r in SIMULATORS.items() if a.scene == "drape" or r.runner != "run_bpy.py"]
    found: dict[str, list[Row]] = {}
    for name in [] if a.show else (a.only or every) * a.repeats:
        row = simulated(name, a.side, folder, a.cores, a.scene)
        print(f"{name}: {row.failed or f'{row.normalized:.4g} s'}", file=sys.stderr, flush=True)
        found.setdefault(name, []).append(row)
        results[name] = dataclasses.asdict(median(found[name]))
        kept.write_text(json.dumps(results, indent=1))
    rows = [Row(**results[name]) for name in SIMULATORS if name in results]
    print("\n".join(table(rows, a.side, a.markdown)))


if __name__ == "__main__":
    main()
