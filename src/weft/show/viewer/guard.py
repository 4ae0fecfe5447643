"""Access control of a served run: the address is secret, and pages of other servers are refused.

A server on this machine can be reached by every page that a browser of this machine shows, whatever
its origin: browsers let any page open a WebSocket to 127.0.0.1, and a name that an attacker owns
may resolve to it (DNS rebinding). viser itself checks nothing. Every request therefore passes
``Guard``, which refuses it unless

1. its path begins with the secret of this server, 128 random bits,
2. its ``Host`` is an address, ``localhost`` or a name of this machine, and
3. its ``Origin``, which browsers send with every WebSocket, is that of the same host and port.
"""

import dataclasses
import http
import ipaddress
import secrets
import socket
import threading
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from weft.base.errors import RunError
from weft.io.extra import optional

Handler = Callable[[Any, Any], Any]  # websockets' process_request: connection, request -> response

_serving = threading.Lock()  # servers start one at a time, because ``serve`` is replaced meanwhile


class Guard:
    """The check of one server.

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
        said = path.partition("?")[0].split("/")
        if len(said) < 2 or not secrets.compare_digest(said[1].encode(), self.secret.encode()):
            return False
        if host is None or not self._is_this_machine(host):
            return False
        return origin is None or urlsplit(origin).netloc.lower() == host.lower()

    def before(self, answer: Handler) -> Handler:
        """Return a handler that refuses requests that are not admitted, and passes on the others.

        The other handler gets the path without the secret.
        """
        from websockets import Headers
        from websockets.http11 import Response

        def guarded(connection: Any, request: Any) -> Any:
            hosts, origins = (request.headers.get_all(k) for k in ("Host", "Origin"))
            host = hosts[0] if len(hosts) == 1 else None
            origin = None if not origins else origins[0] if len(origins) == 1 else ""
            if not self.admits(request.path, host, origin):
                status = http.HTTPStatus.FORBIDDEN
                return Response(status.value, status.phrase, Headers(), b"")
            rest = request.path.removeprefix(f"/{self.secret}")
            return answer(connection, dataclasses.replace(request, path=rest or "/"))

        return guarded

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


def guarded_server(host: str, port: int) -> tuple[Any, str]:
    """Start a viser server behind a guard.

    viser has no hook for requests; it looks up ``websockets.asyncio.server.serve`` when it starts,
    and gives it the function that answers them. That function is wrapped here, and the running
    server is asked for a page without the secret: if it gives one, it is stopped.

    Args:
        host: address to listen at.
        port: to listen at; if it is taken, the next free one.

    Returns:
        The ``viser.ViserServer``, and the path of its page, ``/SECRET/``.

    Raises:
        RunError: viser is missing, or a version of it that cannot be guarded.
    """
    viser: Any = optional("viser", "view", "`weft view --web`", RunError)
    module: Any = optional("websockets.asyncio.server", "view", "`weft view --web`", RunError)
    guard, serve = Guard(host), module.serve

    def guarded(*arguments: Any, process_request: Handler, **options: Any) -> Any:
        return serve(*arguments, process_request=guard.before(process_request), **options)

    with _serving:
        module.serve = guarded
        try:
            server = viser.ViserServer(host=host, port=port, verbose=False)
        finally:
            module.serve = serve
    if not _refuses_strangers(host, server.get_port()):
        server.stop()
        raise RunError(
            "viser",
            got=f"version {viser.__version__}, which answers everybody",
            expected="one that can be guarded",
            hint="pip install 'weft[view]' installs one",
        )
    return server, f"/{guard.secret}/"


def _refuses_strangers(host: str, port: int) -> bool:
    """Return whether a server refuses a request without the secret."""
    near = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    with socket.create_connection((near, port), timeout=10) as stream:
        stream.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        return stream.recv(64).startswith(b"HTTP/1.1 403")
