"""A run that is served is seen by whoever has its address, and by no page of another origin."""

import http.client
import json
import socket

import numpy as np
import pytest

from tests.engine.show.pictures import follow, serving
from weft.show.viewer.server import Guard

HERE = "127.0.0.1:8080"


@pytest.mark.parametrize(
    "path, host, origin, admitted",
    [
        ("/{}/", HERE, None, True),
        ("/{}", HERE, f"http://{HERE}", True),
        ("/{}/assets/index.js?a=/b", "localhost:9000", "http://localhost:9000", True),
        ("/{}/", "[::1]:8080", "http://[::1]:8080", True),
        ("/", HERE, None, False),
        ("/{}x/", HERE, None, False),
        ("/?{}", HERE, None, False),
        ("/ä/", HERE, None, False),
        ("/{}/", "evil.example:8080", None, False),  # DNS rebinding
        ("/{}/", None, None, False),
        ("/{}/", HERE, "http://127.0.0.1:8081", False),  # another server on this machine
        ("/{}/", HERE, "null", False),  # a sandboxed frame or a file
    ],
)
def test_who_is_admitted(path, host, origin, admitted):
    guard = Guard("127.0.0.1")
    assert len(guard.secret) >= 20 and guard.secret != Guard("127.0.0.1").secret
    assert guard.admits(path.format(guard.secret), host, origin) is admitted


@pytest.fixture(scope="module")
def server(seen):
    with serving(follow(seen.path)) as made:
        yield made


def path_of(server):
    """The path of its page, with the secret."""
    return "/" + server.url.split("/", 3)[3]


def ask(server, path, **headers):
    line = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    line.request("GET", path, headers=headers)
    answer = line.getresponse()
    return answer.status, answer.read()


def test_a_page_of_another_origin_gets_nothing(server):
    """Not even with the secret."""
    own = f"http://127.0.0.1:{server.port}"
    secret = path_of(server)
    assert b"<html" in ask(server, secret)[1]
    for wrong in ("../../../../etc/passwd", "..%2f..%2fetc/passwd"):
        assert ask(server, secret + wrong)[0] == 404
    assert ask(server, secret, Host="evil.example") == ask(server, "/") == (403, b"")
    for path in (secret, f"{secret}frame?number=0&look=plain"):
        assert ask(server, path, Origin=own)[0] == ask(server, path)[0] == 200
        for origin in ("http://evil.example", "null", f"http://127.0.0.1:{server.port + 1}"):
            assert ask(server, path, Origin=origin) == (403, b"")
    assert ask(server, "/frame?number=0&look=plain", Origin=own) == (403, b"")


def test_several_hosts_or_origins_are_refused(server):
    path = path_of(server)
    own = f"127.0.0.1:{server.port}"
    for lines in (f"Host: {own}\r\nHost: {own}", f"Host: {own}\r\nOrigin: a\r\nOrigin: b", "X: y"):
        with socket.create_connection(("127.0.0.1", server.port), timeout=60) as stream:
            stream.sendall(f"GET {path} HTTP/1.1\r\n{lines}\r\nConnection: close\r\n\r\n".encode())
            assert stream.recv(64).startswith(b"HTTP/1.1 403")


def test_frames_are_as_the_page_reads_them(server, seen):
    """Length of the header, the header, and float32 arrays."""
    path = path_of(server)
    _, data = ask(server, f"{path}frame?number=4&look=strain")
    length = int.from_bytes(data[:4], "little")
    header = json.loads(data[4 : 4 + length])
    cloth = np.frombuffer(data, "<f4", header["counts"]["cloth"], 4 + length).reshape(-1, 3)
    assert length % 4 == 0 and header["number"] == 4 and header["scale"]["unit"] == "%"
    np.testing.assert_array_equal(cloth, seen.positions(4).astype(np.float32))
    for wrong in ("frame?number=99&look=strain", "frame?number=x", "frame?number=1&look=strian"):
        assert ask(server, path + wrong)[0] == 409
