"""Scene files of what is played: everything since the start, or the present state."""

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from weft.base.errors import WeftError
from weft.base.trees import Json, Yaml, YamlMapping
from weft.energies.springs.hand import Hand
from weft.energies.state import State
from weft.io import write_mesh
from weft.io.files import atomic_write, make_folder, write_file
from weft.live.session import Session
from weft.scene.file import scene_text
from weft.scene.template import names_path

_OF_PLAY = ("hand", "changes", "start_state", "seconds", "fps")  # fields that are written anew


@dataclass(frozen=True)
class SceneSource:
    """The scene file that is played.

    Args:
        tree: its contents.
        folder: where files are saved.
        name: by which they are saved.
    """

    tree: Json
    folder: Path
    name: str

    @staticmethod
    def of(tree: YamlMapping, file: Path, folder: Path | None) -> "SceneSource":
        """Return the source of files that are saved in a folder; None: beside the scene file.

        Files that the scene names are named from the new folder.

        Args:
            tree: contents of the scene file.
            file: the scene file.
            folder: of the files to be saved; it is made if it is missing.

        Raises:
            RunError: the folder cannot be made.
        """
        here = file.resolve().parent
        if folder is not None:
            make_folder(folder)
        to = here if folder is None else folder.resolve()

        def rename(value: Yaml) -> Yaml:
            if isinstance(value, Mapping):
                return {k: rename(v) for k, v in value.items()}
            if isinstance(value, list):
                return [rename(v) for v in value]
            found = isinstance(value, str) and names_path(here, value)
            return os.path.relpath(here / str(value), to) if found else value

        return SceneSource(dict(tree) if here == to else rename(tree), to, file.stem)

    def new_path(self, given: str) -> Path:
        """Return the path of a new scene file: the given name, or the first free number."""
        if given:
            return self.folder / f"{given}.yaml"
        k = 1
        while (path := self.folder / f"{self.name}-{k}.yaml").exists():
            k += 1
        return path


def save_play(session: Session, source: SceneSource, name: str = "") -> Path:
    """Write the scene file whose run has the same frames as what was played; return its path."""
    recording, fps = session.recording, session.loop.fps
    seconds = max(1, math.ceil(session.t * fps - 1e-9)) / fps
    changes = [{"at": c.at, "set": dict(c.set)} for c in recording.changes]
    more: Json = {"hand": [_hand_block(h) for h in recording.hands], "changes": changes}
    path = source.new_path(name)
    if session.moved:
        more["start_state"] = _write_state(path, session.start.state)
    elif "start_state" in source.tree:
        more["start_state"] = source.tree["start_state"]
    return _write(session, source, path, seconds, more)


def save_scene(session: Session, source: SceneSource, name: str = "") -> Path:
    """Write a scene file that begins with the present state, settings and pins; return its path.

    The state is a file beside it (``.npz``), and the cloth a mesh for other programs (``.obj``).

    Raises:
        WeftError: bodies or pins that move by themselves, and would begin where they began.
    """
    scene = session.base
    moving = [b.name for b in scene.bodies if b.path or b.frames or b.link] + [
        p.name for p in scene.pins if p.path
    ]
    if moving and session.t > 0:
        raise WeftError(
            "save scene",
            got=f"{', '.join(moving)} on a path",
            expected="bodies and pins that stand still",
            hint="save the play: its run ends in this state",
        )
    path, state = source.new_path(name), session.place.state
    x = session.loop.model.vertices(state.x)[: scene.cloth.n_vertices]
    write_mesh(path.with_suffix(".obj"), x, scene.cloth.faces, scene.cloth.corner_uv)
    pins = [_hand_block(p.at_start) for p in session.pins.values()]
    changes = [{"at": 0.0, "set": dict(session.values)}] if session.values else []
    more: Json = {"start_state": _write_state(path, state), "hand": pins, "changes": changes}
    if scene.cloth.sewn is not None:  # seams are closed already
        sewing = source.tree.get("sewing") or {}
        more["sewing"] = {**sewing, "closing": session.dt, "settle": 0.0, "onset": 0.0}
    return _write(session, source, path, source.tree.get("seconds", 2.0), more)


def _write_state(path: Path, state: State) -> str:
    """Write positions and velocities beside a scene file; return the name of their file."""
    beside = path.with_suffix(".npz")
    with atomic_write(beside) as file:
        np.savez(file, x=state.x, v=state.v)
    return beside.name


def _hand_block(hand: Hand) -> Json:
    block: Json = {
        "points": [int(p) for p in hand.points],
        "weights": [float(w) for w in hand.weights],
        "times": [float(t) for t in hand.times],
        "places": [[float(c) for c in p] for p in hand.places],
    }
    more = {"force": hand.force, "until": hand.until}
    return {**block, **{k: v for k, v in more.items() if v is not None}}


def _write(session: Session, source: SceneSource, path: Path, seconds: Yaml, more: Json) -> Path:
    tree = {k: v for k, v in source.tree.items() if k not in _OF_PLAY and k not in more}
    tree.update(seconds=seconds, fps=session.loop.fps)
    tree.update({k: v for k, v in more.items() if v != []})
    return write_file(path, scene_text(tree))
