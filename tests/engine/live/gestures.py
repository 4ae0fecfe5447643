"""A campaign of random gestures on cloth that is played.

    python -m tests.engine.live.gestures --gestures 1000 [--seed N]

Every gesture is one of: a drag, slow or faster than 10 m/s, also through bodies and the floor; a
pin that is set or taken away; a control at one of its ends; undo; reset. After every step the faces
that intersect are counted by code that shares nothing with the solver; positions are finite.
"""

import argparse
import tempfile
import time
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from studies.garments.intersection_count import count_intersections
from weft.base.errors import WeftError
from weft.kernel.context import notify_compile
from weft.live.messages import read_messages
from weft.live.session import Session
from weft.run.run_folder import RunFolder
from weft.scene.build import load_scene

END = "\nintegrator: {backward_euler: {effort: interactive}}\nstep: 0.01 s\nfps: 25\n"
FLOOR = "{name: floor, plate: {width: 2 m, depth: 2 m}}"
SCENES = {
    "sphere and ball": """
cloth: {sheet: {nx: 13, ny: 13, width: 60 cm, height: 60 cm, pattern: alternating}, fabric: linen,
  translation: [0, 31 cm, 0]}
contact: {gap: 4 mm, friction: 0.3}
bodies:
  - {name: sphere, sphere: {radius: 12 cm, size: 5 cm}, translation: [0, 15 cm, 0]}
  - {name: ball, sphere: {radius: 5 cm, size: 4 cm}, translation: [0.4, 5.6 cm, 0],
    rigid: {density: 80}}
  - """
    + FLOOR,
    "banner between plates": """
cloth: {sheet: {nx: 11, ny: 15, width: 40 cm, height: 60 cm}, fabric: cotton,
  translation: [0, 70 cm, 0], rotation: [90, 0, 0]}
pins: [{corners: top}]
contact: {gap: 3 mm, thickness: 1 mm, friction: 0.5}
bodies:
  - {name: left, box: {width: 5 cm, height: 40 cm, depth: 40 cm}, translation: [-30 cm, 40 cm, 0]}
  - """
    + FLOOR,
    "two layers": """
cloths:
  - {sheet: {nx: 10, ny: 10, width: 40 cm, height: 40 cm}, fabric: silk, translation: [0, 24 cm, 0]}
  - {sheet: {nx: 10, ny: 10, width: 40 cm, height: 40 cm}, fabric: denim,
    translation: [0, 23 cm, 1 cm]}
contact: {gap: 2 mm, friction: 0.2}
bodies:
  - {name: box, box: {width: 20 cm, height: 20 cm, depth: 20 cm}, translation: [0, 10.5 cm, 0]}
  - """
    + FLOOR,
    "spline": """
cloth: {sheet: {nx: 10, ny: 10, width: 50 cm, height: 50 cm}, fabric: wool, discretization: bspline,
  translation: [0, 26 cm, 0]}
contact: {gap: 4 mm, friction: 0.3}
bodies:
  - {name: sphere, sphere: {radius: 12 cm, size: 5 cm}, translation: [0, 12.6 cm, 0]}
  - """
    + FLOOR,
    "tube on a rod": """
cloth: {sheet: {nx: 13, ny: 9, width: 50 cm, height: 30 cm, pattern: alternating},
  fabric: polyester, translation: [0, 40 cm, 0]}
pins: [{corners: top-left}]
contact: {gap: 3 mm, friction: 0.1}
bodies:
  - {name: rod, cylinder: {radius: 3 cm, length: 70 cm, size: 3 cm}, translation: [0, 30 cm, 0],
    rotation: [0, 0, 90]}
  - """
    + FLOOR,
}


@dataclass
class Tally:
    """What a campaign found."""

    gestures: int = 0
    steps: int = 0
    refused: int = 0  # messages and steps that were refused with a reason
    intersections: int = 0
    slowest: float = 0.0  # [s] of the processor, of a step that compiles no kernels


class Gestures:
    """Random gestures on one scene.

    Args:
        text: of the scene file.
        folder: an empty one.
        random: source of the gestures.
    """

    def __init__(self, text, folder, random):
        path = folder / "scene.yaml"
        path.write_text(text + END)
        loaded = load_scene(path)
        self.session = Session(loaded.scene, loaded.fps, RunFolder(folder / "run", fsync=False))
        self.random, self.tally = random, Tally()
        contact = self.session.loop.model.contact
        self.faces = contact.mesh.faces
        self.moved = int((self.faces[:, 0] < len(contact.mass)).sum())

    def tell(self, **message):
        try:
            for one in read_messages([message]):
                self.session.take(one)
        except WeftError:
            self.tally.refused += 1

    def step(self):
        session, compiled, clock = self.session, [], time.process_time()
        with notify_compile(compiled.append):
            session.advance()
        if not compiled:  # kernels are compiled once on a machine, in seconds
            self.tally.slowest = max(self.tally.slowest, time.process_time() - clock)
        self.tally.steps += 1
        self.tally.refused += session.problem != ""
        contact, state = session.loop.model.contact, session.place.state
        x = np.concatenate([contact.all_vertices(state.x), contact.body_positions(state.t)])
        assert np.isfinite(x).all()
        # of cloth and rigid bodies with any others
        found = count_intersections(x, self.faces, self.moved, np.arange(len(x)))
        self.tally.intersections += found

    def drag(self):
        random, session = self.random, self.session
        n = len(session.base.cloth.faces)
        finger, force = int(random.integers(3)), float(10 ** random.uniform(-1, 2))
        face, weights = int(random.integers(n)), random.dirichlet(np.ones(3)).tolist()
        x = session.loop.model.vertices(session.place.state.x)
        at = np.asarray(weights) @ x[session.base.cloth.faces[face]]
        what = {"on": "cloth", "face": face, "weights": weights, "place": at.tolist()}
        self.tell(do="press", finger=finger, force=force, **what)
        goal = random.uniform([-0.8, -0.5, -0.8], [0.8, 1.2, 0.8])
        steps = int(random.integers(1, 9))  # one step of 10 ms over a meter: 100 m/s
        for k in range(steps):
            place = at + (goal - at) * (k + 1) / steps
            self.tell(do="move", finger=finger, place=place.tolist())
            self.step()
        for _ in range(int(random.integers(3))):
            self.step()
        self.tell(do="release", finger=finger, pin=bool(random.random() < 0.3))

    def turn_control(self):
        control = self.random.choice(list(self.session.controls.values()))
        value = (
            str(self.random.choice(control.choices))
            if control.choices
            else float(self.random.choice([control.low, control.high]))
        )
        self.tell(do="set", path=control.path, value=value)
        self.step()

    def unpin(self):
        if self.session.pins:
            self.tell(do="unpin", pin=int(self.random.choice(list(self.session.pins))))
        self.step()

    def play(self, count):
        """Do so many gestures."""
        kinds = [self.drag] * 6 + [self.turn_control] * 3 + [self.unpin] * 2
        for _ in range(count):
            draw = self.random.random()
            if draw < 0.03:
                self.tell(do="reset")
            elif draw < 0.08:
                self.tell(do="undo")
            self.random.choice(kinds)()
            self.tally.gestures += 1
        return self.tally


def campaign(gestures, seed, say=print):
    """Do so many gestures, the same number on every scene; return the tallies by scene."""
    found = {}
    for k, (name, text) in enumerate(SCENES.items()):
        with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            random = np.random.default_rng([seed, k])
            found[name] = Gestures(text, Path(folder), random).play(gestures // len(SCENES))
        say(f"{name}: {found[name]}")
    return found


def main():
    """Run the campaign from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gestures", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    found = campaign(given.gestures, given.seed)
    return int(any(t.intersections for t in found.values()))


if __name__ == "__main__":
    raise SystemExit(main())
