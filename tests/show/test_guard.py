"""A run that is served is seen by whoever has its address, and by no page of another origin."""

import struct

import pytest

from weft.base.errors import RunError
from weft.run.run import Run
from weft.show.viewer.guard import Guard
from weft.show.viewer.player import Player

viser = pytest.importorskip("viser", reason="no viser: pip install 'weft[view]'")
from websockets.exceptions import InvalidStatus  # noqa: E402
from websockets.sync.client import connect  # noqa: E402

HERE = "127.0.0.1:8080"


@pytest.mark.parametrize(
    "path, host, origin, admitted",
    [
        ("/{}/", HERE, None, True),
        ("/{}", HERE, f"http://{HERE}", True),
        ("/{}/assets/index.js?a=/b", "localhost:9000", "http://localhost:9000", True),
        ("/{}/", "[::1]:8080", "http://[::1]:8080", True),
        ("/{}/", "192.168.1.7:8080", None, True),  # listens at 0.0.0.0
        ("/", HERE, None, False),
        ("/{}x/", HERE, None, False),
        ("//{}/", HERE, None, False),
        ("/?{}", HERE, None, False),
        ("{}", HERE, None, False),
        ("/ä/", HERE, None, False),
        ("/{}/", "evil.example:8080", None, False),  # DNS rebinding
        ("/{}/", "evil.example:8080", "http://evil.example:8080", False),
        ("/{}/", "127.0.0.1.evil.example", None, False),
        ("/{}/", None, None, False),
        ("/{}/", "", None, False),
        ("/{}/", HERE, "http://evil.example", False),
        ("/{}/", HERE, "http://127.0.0.1:8081", False),  # another server on this machine
        ("/{}/", HERE, "null", False),  # a sandboxed frame or a file
        ("/{}/", HERE, "", False),
    ],
)
def test_who_is_admitted(path, host, origin, admitted):
    guard = Guard("127.0.0.1")
    assert guard.admits(path.format(guard.secret), host, origin) is admitted


def test_every_server_has_a_secret_of_its_own():
    assert len({Guard("127.0.0.1").secret for _ in range(8)}) == 8
    assert len(Guard("127.0.0.1").secret) >= 20


@pytest.fixture(scope="module")
def web(seen):
    from weft.show.viewer.web import Web

    made = Web(Player(lambda: Run(seen.path)), port=0)
    yield made
    made.close()


def listen(web, path, origin):
    """The first message of a WebSocket to the server."""
    port = web.server.get_port()
    with connect(
        f"ws://127.0.0.1:{port}{path}",
        origin=origin,
        max_size=None,
        open_timeout=60,
        subprotocols=[f"viser-v{viser.__version__}"],
    ) as stream:
        return stream.recv(timeout=60)


def test_a_page_of_another_origin_gets_nothing(web):
    """Not even with the secret."""
    own = f"http://127.0.0.1:{web.server.get_port()}"
    secret = web.url.removeprefix(own)
    assert len(listen(web, secret.rstrip("/"), own)) > struct.calcsize("I")
    assert len(listen(web, secret, None)) > struct.calcsize("I")  # no browser
    for path, origin in (
        ("/", own),
        ("/", "http://evil.example"),
        (secret, "http://evil.example"),
        ("/", None),
        (secret, "null"),
    ):
        with pytest.raises(InvalidStatus) as found:
            listen(web, path, origin)
        assert found.value.response.status_code == 403


def test_pages_need_the_secret_too(web):
    import http.client

    def ask(path, host=None):
        line = http.client.HTTPConnection("127.0.0.1", web.server.get_port(), timeout=60)
        line.request("GET", path, headers={} if host is None else {"Host": host})
        answer = line.getresponse()
        return answer.status, answer.read()

    path = "/" + web.url.split("/", 3)[3]
    assert ask(path)[0] == 200 and b"<html" in ask(path)[1]
    assert ask("/") == (403, b"") and ask("/index.html")[0] == 403
    assert ask(path, "evil.example")[0] == 403
    assert ask(path + "../../../../etc/passwd")[0] == 404


def test_a_viser_that_cannot_be_guarded_is_refused(seen, monkeypatch):
    from weft.show.viewer import guard
    from weft.show.viewer.web import Web

    monkeypatch.setattr(guard.Guard, "before", lambda _, answer: answer)
    with pytest.raises(RunError, match="answers everybody"):
        Web(Player(lambda: Run(seen.path)), port=0)
