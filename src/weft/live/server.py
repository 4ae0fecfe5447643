"""A simulation that people touch, as a server for browsers.

Below its secret the server answers the page (``GET``), ``next?after=NUMBER`` (the newest picture,
or 204 if none comes in time), and ``say`` (``POST`` of a JSON list of messages, which
``weft.live.messages`` describes).
"""

import json
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from http import HTTPStatus
from typing import TYPE_CHECKING

from weft.base.errors import RunError, WeftError
from weft.show.viewer.page_text import Content, page
from weft.show.viewer.server import BINARY, HTML, JSON, PORT, TEXT, Answer, PageServer

if TYPE_CHECKING:
    from weft.live.process import SimulationProcess

WAIT = 1.0  # [s] that a request for a picture waits for one
ABSENT = 5.0  # [s] without a request for a picture after which nobody looks any more


class PlayServer(PageServer):
    """A server of a simulation; every browser that has its address can look at it and touch it.

    If no page has asked for a picture for 5 s, the simulation is paused.

    Args:
        process: the simulation; the server closes it when it ends.
        host: address to listen at; 127.0.0.1 is this machine alone.
        port: to listen at; if it is taken, the next free one.
        follow: the camera of a new page follows the cloth.

    Raises:
        RunError: no address of this machine, or no free port.
    """

    def __init__(
        self,
        process: "SimulationProcess",
        host: str = "127.0.0.1",
        port: int = PORT,
        *,
        follow: bool = False,
    ) -> None:
        super().__init__(host, port)
        self.process, self.follow = process, follow
        self._last_look = time.monotonic()
        self._ended = threading.Event()

    def serve(self) -> None:
        """Serve until the process is interrupted (Ctrl-C) or the server is closed; then close the
        simulation.
        """
        threading.Thread(target=self._pause_when_alone, daemon=True).start()
        try:
            super().serve()
        finally:
            self._ended.set()
            self.process.close()

    def _pause_when_alone(self) -> None:
        paused = False
        while not self._ended.wait(ABSENT / 5):
            alone = time.monotonic() - self._last_look > ABSENT
            if alone and not paused:
                with suppress(WeftError):  # a simulation that has ended needs no pause
                    self.process.say([{"do": "pause"}])
            paused = alone

    def _get(self, name: str, given: Mapping[str, str]) -> Answer | None:
        if name == "":
            content = self.process.page()
            about = {**content.about, "live": self.base, "follow_cloth": self.follow}
            return HTTPStatus.OK, HTML, page(Content(about, content.blocks)).encode()
        if name != "next":
            return None
        self._last_look = time.monotonic()
        picture = self.process.next(int(given.get("after", "0")), WAIT)
        if picture is None:
            return HTTPStatus.NO_CONTENT, TEXT, b""
        return HTTPStatus.OK, BINARY, picture

    def _post(self, name: str, tree: object) -> Answer | None:
        if name != "say":
            return None
        if not (isinstance(tree, list) and all(isinstance(m, dict) for m in tree)):
            raise RunError("message", got=type(tree).__name__, expected="a list of messages")
        return HTTPStatus.OK, JSON, json.dumps(self.process.say(tree)).encode()
