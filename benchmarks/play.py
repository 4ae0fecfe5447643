"""``weft play``: how soon the first picture comes, how many follow, and how late a hand is seen.

What is timed are the server's parts, without a browser: requests for pictures wait for one another,
as a page's do.
"""

import json
import struct
import time
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from statistics import median

import numpy as np

from benchmarks.measure import BenchMeasure, at_least, at_most, info
from weft.base.arrays import Positions
from weft.base.trees import Json
from weft.live.order import Order
from weft.live.process import SimulationProcess

FALLING = 0.5  # [s] of cloth until the sheet lies on the sphere
WATCHED = 3.0  # [s] of wall time
MOVES = 20


def play() -> Iterator[BenchMeasure]:
    """The built-in scene: a sheet of 30 x 30 on a sphere."""
    clock = time.perf_counter()
    with resources.as_file(resources.files("weft") / "scenes" / "play.yaml") as path:
        page = _Page(SimulationProcess(Order(None, Path(path))))
        try:
            yield at_most("play/first picture", time.perf_counter() - clock, "s", 3.0)
            page.process.say([{"do": "play"}])
            while page.header["t"] < FALLING:
                page.next()
            yield from _watch(page)
            late = [_hand_delay(page, k) for k in range(MOVES)]
            yield at_most("play/hand is seen after", 1e3 * median(late), "ms", 150.0)
            yield info("play/hand is seen after, at most", 1e3 * max(late), "ms")
        finally:
            page.process.close()


class _Page:
    """The pictures of a simulation, as a page asks for them."""

    def __init__(self, process: SimulationProcess) -> None:
        self.process, self.number, self.size = process, 0, 0
        self.content = process.page()
        self.next()

    def next(self) -> None:
        """Wait for the next picture."""
        data = None
        while data is None:
            data = self.process.next(self.number, 1.0)
        (length,) = struct.unpack("<I", data[:4])
        self.header: Json = json.loads(data[4 : 4 + length])
        count = self.header["counts"]["cloth"]
        cloth = np.frombuffer(data, "<f4", count, 4 + length)
        self.cloth: Positions = cloth.reshape(-1, 3).astype(np.float64)
        self.number, self.size = int(self.header["number"]), len(data)


def _watch(page: _Page) -> Iterator[BenchMeasure]:
    """Pictures and seconds of cloth in a second, while the sheet lies on the sphere."""
    clock, t, count = time.perf_counter(), float(page.header["t"]), 0
    while (wall := time.perf_counter() - clock) < WATCHED:
        page.next()
        count += 1
    yield at_least("play/pictures", count / wall, "1/s", 12.0)
    yield at_least("play/speed", (float(page.header["t"]) - t) / wall, "of real time", 0.5)
    yield info("play/picture", page.size / 1e3, "kB")


def _hand_delay(page: _Page, k: int) -> float:
    """Return the time [s] from the movement of a hand to the picture that shows it."""
    if k == 0:
        corner = page.cloth[0].tolist()
        what = {"on": "cloth", "face": 0, "weights": [1, 0, 0], "place": corner, "force": 5.0}
        page.process.say([{"do": "press", "finger": 0, **what}])
        page.next()
    place = (page.cloth[0] + [0.0, 0.01 * (k % 5 + 1), 0.0]).tolist()
    clock = time.perf_counter()
    page.process.say([{"do": "move", "finger": 0, "place": place}])
    t = float(page.header["t"])
    while True:
        page.next()
        fingers = page.header["fingers"]
        moved = fingers and np.allclose(fingers[0][4:7], place, atol=1e-6)
        if moved and float(page.header["t"]) > t:
            return time.perf_counter() - clock
