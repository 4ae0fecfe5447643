"""A simulation that nobody simulates: it has the methods of a process, and pictures of a run."""

import threading

import numpy as np

from weft.base.errors import RunError
from weft.run.animation import bodies_of
from weft.show.viewer.packing import pack_frame
from weft.show.viewer.page_text import Content

CONTROLS = [
    ("fabric", "fabric", "fabric", "", "linen", ["linen", "silk"], False, True),
    ("stretch", "fabric", "stretch stiffness", "N/m", 900.0, None, True, True),
    ("shear", "fabric", "shear stiffness", "N/m", 40.0, None, True, True),
    ("bend", "fabric", "bending stiffness", "uN m", 40e-6, None, True, True),
    ("damping", "motion", "damping", "s", 0.02, None, True, False),
    ("gravity.1", "motion", "gravity", "m/s^2", -9.81, None, False, False),
    ("wind", "air", "wind", "m/s", 0.0, None, False, False),
    ("friction", "contact", "friction", "", 0.3, None, False, False),
]


def control(path, group, title, unit, value, choices, log, measured):
    low, high = (value / 30, value * 30) if log and not choices else (-20.0, 20.0)
    factor = 1e6 if unit.startswith("u") else 1.0
    return {
        "path": path,
        "group": group,
        "title": title,
        "unit": unit,
        "value": value,
        "low": low,
        "high": high,
        "log": log and not choices,
        "choices": choices,
        "measured": measured and not choices,
        "factor": factor,
    }


class FakeProcess:
    """As ``SimulationProcess``: frames of a followed run; what is held goes where the hand is."""

    def __init__(self, run):
        self.run, self.number, self.closed = run, 0, False
        self.said, self.playing, self.look = [], False, "plain"
        self.pins, self.fingers = [], {}
        self.x = run.view.positions(run.numbers[-1])
        self.values = {c[0]: c[4] for c in CONTROLS}
        self.refuses = None
        self.news = threading.Condition()

    def page(self):
        about = self.run.describe() | {"numbers": [0], "look": "plain"}
        loose = [[0, len(bodies_of(self.run.run)[0][0].faces)]]  # the ball, without the box
        force = {"value": 5.0, "low": 0.1, "high": 50.0}
        about["play"] = {"controls": [control(*c) for c in CONTROLS], "force": force}
        about["play"] |= {"loose": loose, "panels": []}
        return Content(about, self.run.view.blocks())

    def next(self, after, timeout):
        with self.news:
            self.news.wait_for(lambda: self.number > after, timeout)
            if self.closed:
                raise RunError("the process that simulates", got="ended", expected="one that runs")
            return self.picture() if self.number > after else None

    def picture(self):
        arrays, scale = self.run.frame(self.run.numbers[-1], self.look)
        arrays["cloth"] = self.x
        status = {
            "playing": self.playing,
            "speed": 1,
            "fps": 14.2,
            "real_time": 0.61,
            "contacts": 812,
            "intersections": 0,
            "problem": "",
        }
        t = 0.01 * self.number
        energies = {"kinetic": 1e-3 * (1.1 + np.sin(9 * t)), "elastic": 2e-2, "contact": 1e-4}
        header = {
            "number": self.number,
            "t": t,
            "look": self.look,
            "scale": scale and scale.__dict__,
            "status": status,
            "controls": self.values,
            "pins": self.pins,
            "fingers": [[f, *p["at"], *p["place"], 2.345] for f, p in self.fingers.items()],
            "energies": energies,
        }
        return pack_frame(header, arrays)

    def say(self, messages):
        if self.refuses:
            raise RunError("message", got=self.refuses, expected="another one")
        with self.news:
            self.said += messages
            answer = {}
            for m in messages:
                answer |= getattr(self, f"_{m['do']}", lambda **_: None)(**m) or {}
            self.number += 1
            self.news.notify_all()
        return answer

    def _press(self, finger, face, on, place, **_):
        self.fingers[finger] = {"at": place, "place": place, "face": face, "on": on}

    def _move(self, finger, place, **_):
        self.fingers[finger]["place"] = place

    def _release(self, finger, pin, **_):
        lost = self.fingers.pop(finger)
        if pin:
            self.pins = [*self.pins, [7 + len(self.pins), *lost["place"]]]

    def _unpin(self, pin, **_):
        self.pins = [p for p in self.pins if p[0] != pin]

    def _play(self, **_):
        self.playing = True

    def _pause(self, **_):
        self.playing = False

    def _set(self, path, value, **_):
        self.values = {**self.values, path: value}

    def _look(self, name, **_):
        self.look = name

    def _save(self, what, **_):
        return {"saved": f"play-{what}.yaml"}

    def close(self):
        self.closed = True
