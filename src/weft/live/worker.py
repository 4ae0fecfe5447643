"""``python -m weft.live.worker``: the process that simulates what is played.

The process connects to the one that started it, with the address and the key from its standard
input. Orders and answers are pickles: first the page's content, then pictures as bytes, and an
answer to every list of messages. The process ends when the connection ends.
"""

import pickle
import sys
import tempfile
import time
import warnings
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from multiprocessing.connection import Client, Connection
from pathlib import Path
from typing import Any

import numpy as np

from weft import kernel
from weft.base.arrays import Arrays
from weft.base.errors import WeftError
from weft.base.trees import Json, Yaml
from weft.live.controls import describe_controls
from weft.live.messages import ChooseLook, Save, read_messages
from weft.live.order import Order
from weft.live.save import SceneSource, save_play, save_scene
from weft.live.session import Session
from weft.run.plausibility import warnings_before_run
from weft.run.run import Run
from weft.run.run_folder import RunFolder
from weft.scene.build import LoadedScene, load_scene
from weft.scene.membrane_law import physics
from weft.show.viewer.followed_run import FollowedRun
from weft.show.viewer.packing import pack, pack_frame
from weft.show.viewer.page_text import Content

PICTURES = 30.0  # [1/s] most pictures
WINDOW = 1.0  # [s] over which rates are measured
COUNTED = 0.5  # [s] between counts of intersections
FORCE = 5.0  # [N] of a hand


def load(order: Order) -> tuple[LoadedScene, SceneSource | None]:
    """Build the scene of an order; one of Python has no source of files.

    Raises:
        WeftError: an invalid scene.
    """
    if order.file is None:
        assert order.scene is not None
        return LoadedScene(order.scene, 2.0, order.fps), None
    loaded = load_scene(order.file, order.overrides, text=order.text)
    file = loaded.scene.scene_file or order.file
    return loaded, SceneSource.of(loaded.scene.description, file, order.folder)


class PlayedRun(Run):
    """The present state of a session, in the form in which looks and pages read a run."""

    def __init__(self, session: Session, path: Path) -> None:
        super().__init__(path)
        self._session, self._count = session, -1
        self._arrays: Arrays = {}

    def __len__(self) -> int:
        return 1

    def _frame(self, number: int) -> Arrays:
        place = self._session.place
        if place.count != self._count or not self._arrays:
            self._arrays, self._count = self._session.arrays(), place.count
        return self._arrays


class Player:
    """Answers messages, takes steps, and sends pictures.

    Args:
        order: what is played.
        connection: to the process of the page.
        folder: an empty one.
    """

    def __init__(self, order: Order, connection: "Connection[Any, Any]", folder: Path) -> None:
        loaded, self.source = load(order)
        self.session = Session(loaded.scene, loaded.fps, RunFolder(folder, fsync=False))
        self.connection, run = connection, PlayedRun(self.session, folder)
        self.shown = FollowedRun(lambda: run, physics=physics(loaded.scene))
        self.session.look = self.shown.look
        if loaded.scene.cloth.seams and loaded.scene.cloth.embedding is None:
            surface = self.shown.view.cloth
            regions = surface.regions if len(surface.regions) > 1 else ()
            self.session.panels = {n: np.unique(surface.faces[ids]) for n, ids in regions}
        self.number, self._sent_at, self._counted_at, self.intersections = 0, 0.0, 0.0, 0
        self._times: deque[tuple[float, float]] = deque()  # of pictures: wall, cloth [s]
        # Until bodies move, pages have those of the start: a picture may never reach a page.
        self._bodies, self._moved = self.shown.view.body_positions(0), False
        name = order.file.stem if order.file is not None else "play"
        about = {**self.shown.describe(), "name": name, "play": self.describe()}
        still = {"still_bodies": pack(self._bodies.astype(np.float32))}
        connection.send(Content(about, self.shown.view.blocks() | still))

    def describe(self) -> Json:
        """Return what the page needs to know of hands and controls."""
        bodies, first = list[tuple[int, int]](), 0
        for body in self.session.base.bodies:
            if body.rigid is not None:
                bodies.append((first, first + len(body.faces)))
            first += len(body.faces)
        force = {"value": FORCE, "low": 0.1, "high": 100.0}
        return {
            "controls": describe_controls(self.session.scene, self.session.values),
            "force": force,
            "loose": bodies,
            "panels": list(self.session.panels),
        }

    def run(self) -> None:
        """Serve until the connection ends."""
        self.send_picture()
        while True:
            due = self.session.is_due
            if self.connection.poll(0.0 if due else 0.005):
                self.answer()
            elif due:
                self.session.advance()
                self.send_picture(at_most=PICTURES)

    def answer(self) -> None:
        """Do what a list of messages says, and answer with a tree, or with the error."""
        number, given = self.connection.recv()
        answer: Json | WeftError
        try:
            answer = self.take(given)
        except WeftError as error:
            answer = error
        self.connection.send((number, answer))
        self.send_picture()

    def take(self, given: Sequence[Yaml]) -> Json:
        """Do what messages say, in their order.

        Raises:
            WeftError: a message that is refused; those before it are done.
        """
        told: Json = {}
        for message in read_messages(given):
            if isinstance(message, Save):
                told["saved"] = str(self._save(message))
            elif isinstance(message, ChooseLook) and message.name not in self.shown.looks:
                raise WeftError("look", got=message.name, expected=", ".join(self.shown.looks))
            else:
                self.session.take(message)
        return told

    def _save(self, message: Save) -> Path:
        if self.source is None:
            raise WeftError(
                "save",
                got="a scene that Python made",
                expected="a scene file, with weft.play(FILE)",
            )
        save = save_play if message.what == "play" else save_scene
        return save(self.session, self.source, message.name)

    def send_picture(self, at_most: float = np.inf) -> None:
        """Send the present state as a picture, if the last one is long enough ago."""
        now, session = time.monotonic(), self.session
        if now - self._sent_at < 1 / at_most:
            return
        self._sent_at = now
        self._times.append((now, session.t))
        while now - self._times[0][0] > WINDOW:
            self._times.popleft()
        arrays, scale = self.shown.frame(0, session.look)
        bodies, self.number = arrays["bodies"], self.number + 1
        self._moved = self._moved or not np.array_equal(self._bodies, bodies)
        if not self._moved:
            arrays["bodies"] = bodies[:0]
        header = {
            "number": self.number,
            "t": session.t,
            "look": session.look,
            "scale": None if scale is None else asdict(scale),
            "status": self._status(now, len(arrays["contacts"])),
            "controls": session.control_values(),
            "pins": [[k, *h.present.place(session.t).tolist()] for k, h in session.pins.items()],
            "fingers": [
                [k, *point.tolist(), *place.tolist(), session.pull(k)]
                for k, (point, place) in session.held_points().items()
            ],
            "energies": session.energies(),
        }
        self.connection.send(pack_frame(header, arrays))

    def _status(self, now: float, contacts: int) -> Json:
        if now - self._counted_at > COUNTED:
            place = self.session.place
            found = self.session.loop.count_intersections(place.state, place.memory)
            self.intersections = found.get("intersections", 0)
            self._counted_at = now
        (first, then), last = self._times[0], self._times[-1]
        span = last[0] - first
        return {
            "playing": self.session.playing,
            "speed": self.session.speed,
            "fps": 0.0 if span <= 0 else (len(self._times) - 1) / span,
            "real_time": 0.0 if span <= 0 else max(0.0, last[1] - then) / span,
            "contacts": contacts,
            "intersections": self.intersections,
            "problem": self.session.problem,
        }


def print_warnings(session: Session, found: Sequence[warnings.WarningMessage]) -> None:
    """Print the warnings of the build that were found, and those about the scene, as a run does."""
    texts = [str(w.message) for w in found]
    texts += warnings_before_run(session.scene, session.loop.driver.stepper)
    for text in dict.fromkeys(texts):
        sys.stderr.write(f"warning: {text}\n")
    sys.stderr.flush()


def main() -> None:
    """Connect, build what is played, and serve it."""
    address, key, order = pickle.load(sys.stdin.buffer)
    with Client(address, authkey=key) as connection, tempfile.TemporaryDirectory() as folder:
        try:
            kernel.configure(device=order.device, threads=order.threads)
            with warnings.catch_warnings(record=True) as found:
                warnings.simplefilter("default")
                player = Player(order, connection, Path(folder) / "run")
        except WeftError as error:
            connection.send(error)
            return
        print_warnings(player.session, found)
        with suppress(EOFError, OSError, KeyboardInterrupt), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            player.run()


if __name__ == "__main__":
    main()
