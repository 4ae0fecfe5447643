"""A server of a page for browsers: it listens, refuses who has no business there, and answers.

``run_server.ViewerServer`` serves a run with it, and ``weft.live.server.PlayServer`` a simulation
that people touch.

A server on this machine can be reached by every page that a browser of this machine shows, whatever
its origin: a name that an attacker owns may resolve to it (DNS rebinding). ``Guard`` therefore
refuses every request unless

1. its path begins with the secret of this server, 128 random bits,
2. its ``Host`` is an address, ``localhost`` or a name of this machine, and
3. its ``Origin``, if it has one, is that of the same host and port; a request that brings
   something (POST) must have one.
"""

import ipaddress
import json
import secrets
import socket
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

from weft.base.errors import RunError, WeftError

PORT, PORTS = 8080, 100  # the first port that is tried, and how many
MOST_JSON = 64_000  # [bytes] that one request may bring
HTML, TEXT = "text/html; charset=utf-8", "text/plain; charset=utf-8"
JSON, BINARY = "application/json", "application/octet-stream"
PATIENCE = 60  # [s] after which a connection that says nothing is closed
HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",  # the address holds the secret
    "X-Content-Type-Options": "nosniff",
}

Answer = tuple[HTTPStatus, str, bytes]  # status, type and contents


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


class PageServer:
    """A server of a page; every browser that has its address can look at it.

    Args:
        host: address to listen at; 127.0.0.1 is this machine alone.
        port: to listen at; if it is taken, the next free one.

    Raises:
        RunError: no address of this machine, or no free port.
    """

    def __init__(self, host: str = "127.0.0.1", port: int = PORT) -> None:
        self.guard = Guard(host)
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
        return f"http://{host}:{self.port}{self.base}"

    @property
    def base(self) -> str:
        """The path of the page; all other paths begin with it."""
        return f"/{self.guard.secret}/"

    def serve(self) -> None:
        """Serve until the process is interrupted (Ctrl-C) or the server is closed."""
        with suppress(KeyboardInterrupt):
            self._server.serve_forever(poll_interval=0.1)
        self._server.server_close()

    def close(self) -> None:
        """Stop serving."""
        self._server.shutdown()

    def answer(self, path: str) -> Answer:
        """Return the answer to an admitted request.

        Args:
            path: of the request, without the secret.
        """
        name, _, query = path.partition("?")
        given = {k: v[-1] for k, v in parse_qs(query).items()}
        return _answer(lambda: self._get(name, given))

    def answer_post(self, path: str, data: bytes) -> Answer:
        """Return the answer to an admitted request that brings JSON.

        Args:
            path: of the request, without the secret.
            data: what it brings.
        """
        try:
            tree = json.loads(data)
        except (ValueError, RecursionError):
            return HTTPStatus.BAD_REQUEST, TEXT, b"no JSON"
        return _answer(lambda: self._post(path, tree))

    def _get(self, name: str, given: Mapping[str, str]) -> Answer | None:
        """Return the answer to a request by name, with what its query gives; None: no such name."""
        raise NotImplementedError

    def _post(self, name: str, tree: object) -> Answer | None:
        """Return the answer to JSON; None: nothing takes JSON at this name."""
        return None


def _answer(find: Callable[[], Answer | None]) -> Answer:
    """Return an answer, or what is wrong as text."""
    try:
        found = find()
    except (WeftError, OSError, ValueError) as error:
        return HTTPStatus.CONFLICT, TEXT, str(error).encode()
    return (HTTPStatus.NOT_FOUND, TEXT, b"") if found is None else found


class _Handler(BaseHTTPRequestHandler):
    """Answers the requests of one connection."""

    pages: PageServer
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "weft", ""
    timeout = PATIENCE

    def do_GET(self) -> None:
        """Answer a request, or refuse it without a word."""
        if self._is_admitted(self._only("Origin")):
            self._send(*self.pages.answer(self._rest()))

    def do_POST(self) -> None:
        """Take JSON from the server's own page, and from nobody else."""
        # A browser always names the origin of a POST; "" stands for none, which is refused.
        if not self._is_admitted(self._only("Origin") or ""):
            return
        size = self._only("Content-Length") or ""
        kind = (self._only("Content-Type") or "").partition(";")[0].strip().lower()
        if not (size.isascii() and size.isdigit()):
            self._refuse(HTTPStatus.LENGTH_REQUIRED)
        elif int(size) > MOST_JSON:
            self._refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        elif kind != JSON:
            self._refuse(HTTPStatus.UNSUPPORTED_MEDIA_TYPE)
        else:
            self._send(*self.pages.answer_post(self._rest(), self.rfile.read(int(size))))

    def _is_admitted(self, origin: str | None) -> bool:
        """Return whether the guard admits the request; refuse it if not."""
        admitted = self.pages.guard.admits(self.path, self._only("Host"), origin)
        if not admitted:
            self._refuse(HTTPStatus.FORBIDDEN)
        return admitted

    def _only(self, name: str) -> str | None:
        """Return the header of that name; None: there is none; empty: there are several."""
        found = self.headers.get_all(name) or []
        return None if not found else found[0] if len(found) == 1 else ""

    def _rest(self) -> str:
        return self.path.removeprefix(f"/{self.pages.guard.secret}").removeprefix("/")

    def _refuse(self, status: HTTPStatus) -> None:
        """Answer without a word and close, because what the request brings was not read."""
        self.close_connection = True
        self._send(status, TEXT, b"")

    def _send(self, status: HTTPStatus, kind: str, data: bytes) -> None:
        self.send_response(status)
        for name, value in {**HEADERS, "Content-Type": kind}.items():
            self.send_header(name, value)
        if status != HTTPStatus.NO_CONTENT:
            self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        with suppress(ConnectionError):  # a browser that went away
            self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """Write no log, because it would hold the secret."""


class _Server(ThreadingHTTPServer):
    """A server that shares its port with no other one, and misses no browser that went away."""

    allow_reuse_address = False

    def handle_error(self, request: object, client_address: object) -> None:
        """Print what went wrong, but not that a browser closed its connection."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


def _listen(host: str, port: int, pages: PageServer) -> ThreadingHTTPServer:
    """Return a server at the first free port from ``port`` on."""
    handler = type("_BoundHandler", (_Handler,), {"pages": pages})
    kind = type("_BoundServer", (_Server,), {})
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
        hint="choose another `host=`",
    )
