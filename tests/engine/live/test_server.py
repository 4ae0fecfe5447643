"""Who may look at a simulation, touch it, and how: over HTTP, with a simulation that is none."""

import http.client
import json
import threading
from contextlib import contextmanager

import pytest

from tests.engine.live.fake import FakeProcess
from tests.engine.show.pictures import follow as follow_run
from weft.live import server as play_server
from weft.live.server import PlayServer
from weft.show.viewer.server import MOST_JSON

PRESS = {"do": "press", "finger": 0, "on": "cloth", "face": 3, "place": [0, 0, 0], "force": 5}


@contextmanager
def served(process, **choices):
    """Serve a process in another thread while the block runs."""
    server = PlayServer(process, port=0, **choices)
    thread = threading.Thread(target=server.serve)
    thread.start()
    try:
        yield server
    finally:
        server.close()
        thread.join()


@pytest.fixture(scope="module")
def played(seen):
    process = FakeProcess(follow_run(seen.path))
    with served(process) as server:
        yield process, server


def ask(server, name, data=None, **headers):
    """Status and contents of the answer to a GET, or to a POST of data."""
    line = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    own = {} if data is None else {"Origin": origin(server), "Content-Type": "application/json"}
    given = {k.replace("_", "-"): v for k, v in headers.items()}
    sent = {k: v for k, v in {**own, **given}.items() if v is not None}
    line.request("GET" if data is None else "POST", server.base + name, data, sent)
    answer = line.getresponse()
    return answer.status, answer.read()


def origin(server):
    return f"http://127.0.0.1:{server.port}"


def test_messages_reach_the_simulation_and_its_answer_comes_back(played):
    process, server = played
    said = [{"do": "play"}, PRESS, {"do": "save", "what": "scene"}]
    status, data = ask(server, "say", json.dumps(said))
    assert (status, json.loads(data)) == (200, {"saved": "play-scene.yaml"})
    assert process.said[-3:] == said


@pytest.mark.parametrize(
    "headers, status",
    [
        ({"Origin": None}, 403),  # no browser posts without one
        ({"Origin": "http://evil.example"}, 403),
        ({"Host": "evil.example"}, 403),
        ({"Content_Type": "text/plain"}, 415),  # what forms of other pages can send
        ({"Content_Length": str(MOST_JSON + 1)}, 413),
        ({"Content_Length": "-1"}, 411),
    ],
)
def test_posts_that_are_refused_say_nothing_to_the_simulation(played, headers, status):
    process, server = played
    count = len(process.said)
    assert ask(server, "say", b'[{"do": "play"}]', **headers) == (status, b"")
    assert len(process.said) == count


@pytest.mark.parametrize(
    "text, status, said",
    [
        (b"{", 400, b""),
        (b"\xff", 400, b""),
        (b"[" * 30_000, 400, b""),
        (b'{"do": "play"}', 409, b"a list of messages"),
        (b"[1]", 409, b"a list of messages"),
    ],
)
def test_what_is_no_list_of_messages(played, text, status, said):
    found, answer = ask(played[1], "say", text)
    assert found == status and said in answer


def test_a_message_that_the_simulation_refuses(played):
    process, server = played
    process.refuses = "a jump"
    try:
        status, text = ask(server, "say", b"[]")
    finally:
        process.refuses = None
    assert status == 409 and b"a jump" in text


def test_posts_to_other_names_and_messages_without_the_secret(played):
    _, server = played
    assert ask(server, "frame", b"[]")[0] == 404
    line = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    line.request("POST", "/say", b"[]", {"Origin": origin(server)})
    assert line.getresponse().status == 403


def test_a_picture_is_waited_for(played, monkeypatch):
    process, server = played
    monkeypatch.setattr(play_server, "WAIT", 0.2)
    status, data = ask(server, f"next?after={process.number - 1}")
    assert status == 200 and len(data) > 4 + int.from_bytes(data[:4], "little")
    assert ask(server, f"next?after={process.number}") == (204, b"")
    assert ask(server, "next?after=x")[0] == 409
    status, data = ask(server, "")
    assert status == 200 and b'"play": {"controls"' in data


class Clock:
    """A clock that a test sets, in place of the module ``time``."""

    def __init__(self):
        self.now, self.reads, self.news = 0.0, 0, threading.Condition()

    def monotonic(self):
        with self.news:
            self.reads += 1
            self.news.notify_all()
            return self.now

    def set_on(self, seconds):
        """Set the clock on, and return after the server has read it again a few times."""
        with self.news:
            self.now += seconds
            enough = self.reads + 4
            assert self.news.wait_for(lambda: self.reads >= enough, timeout=60)


def test_without_a_page_the_simulation_is_paused_once(seen, monkeypatch):
    clock = Clock()
    monkeypatch.setattr(play_server, "time", clock)
    monkeypatch.setattr(play_server, "ABSENT", 0.02)
    monkeypatch.setattr(play_server, "WAIT", 0.0)
    process = FakeProcess(follow_run(seen.path))
    with served(process) as server:
        for _ in range(8):
            ask(server, "next?after=-1")
            clock.set_on(0.015)
        assert process.said == []
        clock.set_on(1.0)
        clock.set_on(1.0)
        assert process.said == [{"do": "pause"}]
        ask(server, "next?after=-1")
        clock.set_on(0.0)
        clock.set_on(1.0)
        assert process.said == 2 * [{"do": "pause"}]
    assert process.closed
