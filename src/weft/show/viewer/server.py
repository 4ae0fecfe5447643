"""The viewer of a run as a server for browsers: the page, and frames as they are asked for.

A server on this machine can be reached by every page that a browser of this machine shows, whatever
its origin: a name that an attacker owns may resolve to it (DNS rebinding). ``Guard`` therefore
refuses every request unless

1. its path begins with the secret of this server, 128 random bits,
2. its ``Host`` is an address, ``localhost`` or a name of this machine, and
3. its ``Origin``, if it has one, is that of the same host and port.
"""

import ipaddress
import json
import secrets
import socket
import struct
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import numpy as np

from weft.base.errors import RunError, WeftError
from weft.show.viewer.followed_run import FollowedRun
from weft.show.viewer.page import Content, page

PORT, PORTS = 8080, 100  # the first port that is tried, and how many
PATIENCE = 60  # [s] after which a connection that says nothing is closed
HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",  # the address holds the secret
    "X-Content-Type-Options": "nosniff",
}


class Guard:
    """The check of the requests of one server.

    Args:
        host: the address or name that it listens at.
    """

    def __init__(self, host: str) -> None:
        self.secret = secrets.token_urlsafe(16)
        self.names = {"localhost", host.lower(), socket.gethostname().lower()}

    def admits(self, path: str, host: str | None, origin: str | None) -> bool:
        """Return whether a request may be answered.

        Args:
            path: of the request, from ``/`` on.
            host: its ``Host``; None: it has none, or several.
            origin: its ``Origin``; None: no browser sends it, or it asks for a page.
        """
        parts = path.partition("?")[0].split("/")
        if len(parts) < 2 or not secrets.compare_digest(parts[1].encode(), self.secret.encode()):
            return False
        if host is None or not self._is_this_machine(host):
            return False
        return origin is None or urlsplit(origin).netloc.lower() == host.lower()

    def _is_this_machine(self, host: str) -> bool:
        """Return whether a ``Host`` is an address, which no name can stand for, or a known name."""
        name = urlsplit(f"//{host}").hostname or ""
        if name in self.names:
            return True
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return True


class ViewerServer:
    """A server of a run; every browser that has its address can look at the run.

    Args:
        run: what is shown.
        host: address to listen at; 127.0.0.1 is this machine alone.
        port: to listen at; if it is taken, the next free one.

    Raises:
        RunError: no address of this machine, or no free port.
    """

    def __init__(self, run: FollowedRun, host: str = "127.0.0.1", port: int = PORT) -> None:
        self.run, self.guard, self._lock = run, Guard(host), threading.Lock()
        self._server = _listen(host, port, self)
        self._host = host

    @property
    def port(self) -> int:
        """The port at which the server listens."""
        return int(self._server.server_address[1])

    @property
    def url(self) -> str:
        """The address for browsers; it contains the secret that gives access."""
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"http://{host}:{self.port}/{self.guard.secret}/"

    def serve(self) -> None:
        """Serve until the process is interrupted (Ctrl-C) or the server is closed."""
        with suppress(KeyboardInterrupt):
            self._server.serve_forever(poll_interval=0.1)
        self._server.server_close()

    def close(self) -> None:
        """Stop serving."""
        self._server.shutdown()

    def answer(self, path: str) -> tuple[HTTPStatus, str, bytes]:
        """Return status, type and contents of the answer to an admitted request.

        Args:
            path: of the request, without the secret: empty, ``state``, or
                ``frame?number=NUMBER&look=LOOK``.
        """
        name, _, query = path.partition("?")
        with self._lock:
            try:
                if name == "":
                    return HTTPStatus.OK, "text/html; charset=utf-8", self._page().encode()
                if name == "state":
                    self.run.update()
                    return HTTPStatus.OK, "application/json", json.dumps(self.run.state()).encode()
                if name == "frame":
                    given = {k: v[-1] for k, v in parse_qs(query).items()}
                    return HTTPStatus.OK, "application/octet-stream", self._frame(given)
            except (WeftError, OSError, ValueError) as error:
                return HTTPStatus.CONFLICT, "text/plain; charset=utf-8", str(error).encode()
        return HTTPStatus.NOT_FOUND, "text/plain", b""

    def _page(self) -> str:
        about = {**self.run.describe(), "live": f"/{self.guard.secret}/"}
        return page(Content(about, self.run.view.blocks()))

    def _frame(self, given: Mapping[str, str]) -> bytes:
        """Return a frame: length of a JSON header, the header, and float32 arrays one by one."""
        number = int(given.get("number", "0"))
        arrays, scale = self.run.frame(number, given.get("look", self.run.look))
        header = {
            "number": number,
            "counts": {name: int(np.size(a)) for name, a in arrays.items()},
            "scale": None if scale is None else asdict(scale),
        }
        text = json.dumps(header).encode()
        text += b" " * (-len(text) % 4)  # arrays begin at a multiple of four bytes
        values = [np.ascontiguousarray(a, dtype="<f4").tobytes() for a in arrays.values()]
        return struct.pack("<I", len(text)) + text + b"".join(values)


class _Handler(BaseHTTPRequestHandler):
    """Answers the requests of one connection."""

    viewer: ViewerServer
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "weft", ""
    timeout = PATIENCE

    def do_GET(self) -> None:
        """Answer a request, or refuse it without a word."""
        hosts, origins = (self.headers.get_all(k) or [] for k in ("Host", "Origin"))
        host = hosts[0] if len(hosts) == 1 else None
        origin = None if not origins else origins[0] if len(origins) == 1 else ""
        guard = self.viewer.guard
        if not guard.admits(self.path, host, origin):
            self._send(HTTPStatus.FORBIDDEN, "text/plain", b"")
            return
        rest = self.path.removeprefix(f"/{guard.secret}").removeprefix("/")
        self._send(*self.viewer.answer(rest))

    def _send(self, status: HTTPStatus, kind: str, data: bytes) -> None:
        self.send_response(status)
        for name, value in {**HEADERS, "Content-Type": kind}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        with suppress(ConnectionError):  # a browser that went away
            self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """Write no log, because it would hold the secret."""


def _listen(host: str, port: int, viewer: ViewerServer) -> ThreadingHTTPServer:
    """Return a server at the first free port from ``port`` on."""
    handler = type("_BoundHandler", (_Handler,), {"viewer": viewer})
    kind = type("_Server", (ThreadingHTTPServer,), {"allow_reuse_address": False})
    error: OSError | None = None
    try:
        kind.address_family = socket.getaddrinfo(host, None)[0][0]  # type: ignore[attr-defined]
        for k in range(PORTS if port else 1):
            try:
                made: ThreadingHTTPServer = kind((host, port + k), handler)
                return made
            except OSError as taken:
                error = taken
    except (OSError, UnicodeError) as unknown:
        error = unknown if isinstance(unknown, OSError) else OSError(str(unknown))
    raise RunError(
        "server",
        got=f"{host}: {error.strerror or error if error else ''}",
        expected="an address of this machine",
        hint="choose another --host",
    )
