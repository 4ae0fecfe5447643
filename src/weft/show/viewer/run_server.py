"""The viewer of a run as a server for browsers: the page, and frames as they are asked for."""

import json
import threading
from collections.abc import Mapping
from dataclasses import asdict
from http import HTTPStatus

from weft.show.viewer.followed_run import FollowedRun
from weft.show.viewer.packing import pack_frame
from weft.show.viewer.page_text import Content, page
from weft.show.viewer.server import BINARY, HTML, JSON, PORT, Answer, PageServer


class ViewerServer(PageServer):
    """A server of a run; every browser that has its address can look at the run.

    It answers the page, ``state``, and ``frame?number=NUMBER&look=LOOK``.

    Args:
        run: what is shown.
        host: address to listen at; 127.0.0.1 is this machine alone.
        port: to listen at; if it is taken, the next free one.

    Raises:
        RunError: no address of this machine, or no free port.
    """

    def __init__(self, run: FollowedRun, host: str = "127.0.0.1", port: int = PORT) -> None:
        self.run, self._lock = run, threading.Lock()
        super().__init__(host, port)

    def _get(self, name: str, given: Mapping[str, str]) -> Answer | None:
        with self._lock:
            if name == "":
                about = {**self.run.describe(), "live": self.base}
                return HTTPStatus.OK, HTML, page(Content(about, self.run.view.blocks())).encode()
            if name == "state":
                self.run.update()
                return HTTPStatus.OK, JSON, json.dumps(self.run.state()).encode()
            return (HTTPStatus.OK, BINARY, self._frame(given)) if name == "frame" else None

    def _frame(self, given: Mapping[str, str]) -> bytes:
        number = int(given.get("number", "0"))
        arrays, scale = self.run.frame(number, given.get("look", self.run.look))
        told = None if scale is None else asdict(scale)
        return pack_frame({"number": number, "scale": told}, arrays)
