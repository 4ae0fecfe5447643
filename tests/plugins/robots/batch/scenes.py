"""Scenes of a few vertices, each a little different, and what each is when it is alone."""

import math

import numpy as np

import weft
from weft.contact import plate, sphere
from weft.scene.prepare import prepare

FABRICS = ("cotton", "silk", "linen")


def hanging(k, linear="auto", n=7, **more):
    """By two corners; fabrics and sizes differ."""
    cloth = weft.sheet(n, n, width=0.8 + 0.1 * k, fabric=FABRICS[k % 3])
    settings = weft.StepSettings(linear=linear)
    return weft.Scene(cloth, pins=[weft.Pin(cloth.corners("top"))], settings=settings, **more)


def on_sphere(k, n=7, **contact):
    """Over a ball that stands still, or moves; friction differs, and how often it is taken."""
    cloth = weft.sheet(n, n, 0.8, 0.8, pattern="alternating").move((0.02 + 0.01 * k, 0.28, 0.01))
    path = weft.Path([weft.Keyframe(0), weft.Keyframe(1, (0.05 * k, 0.02, 0))], hold=True)
    ball = sphere(0.25, size=0.15).move((0, 0, 0), path=path if k else None)
    given = {"gap": 4e-3, "friction": 0.1 + 0.2 * k, "lags": 1 + k % 2, **contact}
    return weft.Scene(cloth, bodies=[ball], contact=weft.SelfContact(**given))


def landing(k, **settings):
    """Two sheets, close to each other, that hit a floor; steps that stop early lump pairs there."""
    lower = weft.sheet(7, 7, 0.2, 0.2, fabric="cotton").move((0, 0.05, 0))
    upper = weft.sheet(7, 7, 0.2, 0.2, fabric="cotton").move((0.01 + 0.005 * k, 0.075, 0.013))
    return weft.Scene(
        weft.join([lower, upper], ["lower", "upper"]),
        bodies=[plate(0.4, 0.4, size=0.1)],
        contact=weft.SelfContact(gap=0.02),
        velocity=(1.0, -3.0, 0.5),
        step=0.01,
        settings=weft.StepSettings(**settings),
    )


def blown(k):
    """In different wind, with a pin that moves and lets go."""
    cloth = weft.sheet(7, 7, fabric="cotton")
    path = weft.Path([weft.Keyframe(0), weft.Keyframe(0.1, (0, 0.05, 0))], hold=True)
    pins = [weft.Pin(cloth.corners("top-left")), weft.Pin(cloth.corners("top-right"), 0.1, path)]
    return weft.Scene(cloth, pins=pins, wind=weft.Wind(velocity=(0, 0, 3 + k)), step=0.01)


def spline(k):
    """A B-spline patch."""
    cloth = weft.spline_sheet(4, 4, 0.8 + 0.1 * k, 0.8)
    return weft.Scene(cloth, pins=[weft.Pin(cloth.corners("top"))])


def alone(scene, frames, fps=50.0):
    """(F+1,n,3) points, step by step, as ``simulate`` goes."""
    ready = prepare(scene)
    model, stepper, state = ready.model, ready.stepper, ready.state
    memory, seen = stepper.init(model, state), [state.x]
    steps = max(1, math.ceil(1 / (fps * scene.step) - 1e-9))
    dt = 1 / (fps * steps)
    for k in range(frames * steps):
        state, memory, report = stepper.step(model, state, memory, dt)
        assert report.outcome.ok
        frame, part = divmod(k + 1, steps)
        state = weft.State(state.x, state.v, frame / fps + part * dt)
        if part == 0:
            seen.append(state.x)
    return np.array(seen)
