"""The process that simulates what is played, as the page's server sees it."""

import pickle
import secrets
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection, Listener
from typing import TYPE_CHECKING, Any

from weft.base.errors import SceneError, SimulationError, WeftError
from weft.base.trees import Json, Yaml
from weft.show.viewer.page_text import Content

if TYPE_CHECKING:
    from weft.live.order import Order

PATIENCE = 30.0  # [s] for an answer: a step of a garment may take seconds


class SimulationProcess:
    """A process of its own, which the page never waits for.

    Args:
        order: what is played.

    Raises:
        SceneError: a scene that cannot be sent to another process.
    """

    def __init__(self, order: "Order") -> None:
        key = secrets.token_bytes(32)
        with Listener(None, authkey=key) as listener:
            try:
                said = pickle.dumps((listener.address, key, order))
            except (pickle.PicklingError, AttributeError, TypeError) as error:
                raise SceneError(
                    "play",
                    got=f"an object that cannot be sent to another process: {error}",
                    expected="energies, forces and paths that are classes and functions of modules",
                ) from None
            command = [sys.executable, "-m", "weft.live.worker"]
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE)
            assert self._process.stdin is not None
            with suppress(BrokenPipeError):  # it ended at once, which _meet tells
                self._process.stdin.write(said)
                self._process.stdin.close()
            self._connection = self._meet(listener)
        self._news = threading.Condition()
        self._asking = threading.Lock()
        self._content: Content | None = None
        self._picture, self._number = b"", 0
        self._asked = 0  # lists of messages that were sent
        self._answers: dict[int, Json | WeftError] = {}  # by number of the list
        self._ended: WeftError | None = None
        threading.Thread(target=self._listen, daemon=True).start()

    def _meet(self, listener: Listener) -> "Connection[Any, Any]":
        """Return the connection to the process.

        Raises:
            SimulationError: the process ended before.
        """
        met: list[Connection[Any, Any]] = []

        def accept() -> None:
            with suppress(OSError, EOFError):  # the listener is closed if nobody comes
                met.append(listener.accept())

        waiting = threading.Thread(target=accept, daemon=True)
        waiting.start()
        while not met:
            waiting.join(0.05)
            if not met and self._process.poll() is not None:
                raise self._lost()
        return met[0]

    def _listen(self) -> None:
        """Take what the process sends, until it ends."""
        while True:
            try:
                word = self._connection.recv()
            except (EOFError, OSError):
                word = None
            with self._news:
                if isinstance(word, Content):
                    self._content = word
                elif isinstance(word, bytes):
                    self._picture, self._number = word, self._number + 1
                elif word is None or (isinstance(word, WeftError) and self._content is None):
                    self._ended = word or self._lost()
                else:
                    number, answer = word
                    self._answers = {number: answer}
                self._news.notify_all()
                if self._ended is not None:
                    return

    def _lost(self) -> SimulationError:
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(5.0)
        return SimulationError(
            "the process that simulates",
            got=f"ended (code {self._process.returncode})",
            expected="a process that runs",
            hint="start weft play again",
        )

    def page(self) -> Content:
        """Return the content of the page, when the scene has been built.

        Raises:
            WeftError: what is wrong with the scene.
        """
        with self._news:
            self._news.wait_for(lambda: self._content is not None or self._ended is not None)
            if self._content is None:
                raise self._ended or self._lost()
            return self._content

    def next(self, after: int, timeout: float) -> bytes | None:
        """Return the newest picture, if its number is greater than ``after``; else wait for it.

        Raises:
            WeftError: the process has ended.
        """
        with self._news:
            self._news.wait_for(lambda: self._number > after or self._ended is not None, timeout)
            if self._number > after:
                return self._picture
            if self._ended is not None:
                raise self._ended
            return None

    def say(self, messages: Sequence[Mapping[str, Yaml]]) -> Json:
        """Send messages, and return the answer.

        Raises:
            WeftError: a message that is refused, or the process has ended.
        """
        with self._asking:
            self._asked += 1
            number = self._asked
            with suppress(OSError):
                self._connection.send((number, list(messages)))
            with self._news:
                self._news.wait_for(
                    lambda: number in self._answers or self._ended is not None, PATIENCE
                )
                if number not in self._answers:
                    got, hint = "no answer", "a step takes long: wait, or use a coarser mesh"
                    raise self._ended or SimulationError(
                        "the process that simulates",
                        got=got,
                        expected="an answer within 30 s",
                        hint=hint,
                    )
                found = self._answers[number]
        if isinstance(found, WeftError):
            raise found
        return found

    def close(self) -> None:
        """End the process."""
        self._connection.close()
        self._process.terminate()
        self._process.wait()
