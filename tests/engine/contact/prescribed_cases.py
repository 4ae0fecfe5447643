"""Random scenes that pin, attach, drive and release cloth beside bodies and other cloth."""

import dataclasses

import numpy as np

import weft
from weft.bodies.motion.pins import Keyframe, Path, Pin
from weft.contact import box, plate, sphere
from weft.scene.integrators import INTEGRATORS
from weft.scene.prepare import prepare

SIZE = 0.1  # [m] of the sheets


def random_path(rng, far, turns=True):
    """A path of two or three keyframes within 0.2 s, which goes ``far`` [m] and turns."""
    times = np.sort(rng.uniform(0.05, 0.2, rng.integers(1, 3)))
    keys = [Keyframe(0.0)]
    for t in times:
        turn = float(rng.uniform(-180, 180)) if turns and rng.random() < 0.5 else 0.0
        keys.append(Keyframe(float(t), tuple(rng.uniform(-far, far, 3)), f"{turn} deg"))
    axis = tuple(rng.normal(size=3))
    return Path(keys, str(rng.choice(["linear", "smooth"])), axis=axis, hold=True)


def random_body(rng, number):
    """A body below or above the cloth, at rest or on a path."""
    kind = rng.integers(3)
    shape = plate(0.3, 0.3, 0.15)
    if kind == 0:
        shape = sphere(rng.uniform(0.01, 0.03), 0.012)
    elif kind == 1:
        shape = box(tuple(rng.uniform(0.02, 0.08, 3)), 0.03)
    at = rng.uniform(-0.04, 0.04, 3) + [0, rng.choice([-0.06, 0.07]), 0]
    path = random_path(rng, 0.08) if rng.random() < 0.6 else None
    return dataclasses.replace(shape.move(tuple(at), path), name=f"body {number}")


def random_pin(rng, cloth, ids, number):
    """A pin of a border, a patch or a vertex of a sheet."""
    x = cloth.vertices[ids]
    kind = rng.integers(4)
    if kind == 0:
        chosen = ids[x[:, 0] <= x[:, 0].min() + 1e-6]
    elif kind == 1:
        chosen = ids[np.linalg.norm(x - x[rng.integers(len(x))], axis=1) < 0.03]
    elif kind == 2:
        chosen = ids[[rng.integers(len(ids))]]
    else:
        chosen = ids
    until = float(rng.uniform(0.05, 0.2)) if rng.random() < 0.4 else None
    path = random_path(rng, 0.1) if rng.random() < 0.7 else None
    return Pin(chosen, until, path, f"pin {number}")


def random_scene(seed):
    """A scene of one or two sheets; None: it is refused at the start."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 9))
    sheets = [weft.sheet(n, n, SIZE, SIZE, fabric=str(rng.choice(["silk", "denim"])))]
    if rng.random() < 0.5:
        sheets.append(weft.sheet(n, n, SIZE, SIZE).move((0.01, 0.025, 0.01), (0, 20, 0)))
    cloth = weft.join(sheets) if len(sheets) > 1 else sheets[0]
    ids = np.split(np.arange(n * n * len(sheets)), len(sheets))
    pins = [random_pin(rng, cloth, i, k) for k, i in enumerate(ids) if rng.random() < 0.8]
    bodies = [random_body(rng, k) for k in range(rng.integers(1, 3))]
    ties = []
    if rng.random() < 0.4:
        near = np.linalg.norm(cloth.vertices - cloth.vertices[0], axis=1) < 0.02
        ties = [weft.AttachToBody(np.flatnonzero(near), bodies[0].name, within=1.0)]
    thick = float(rng.choice([0.0, 5e-4]))
    contact = weft.SelfContact(
        2e-3,
        thickness=thick,
        friction=float(rng.choice([0.0, 0.4])),
        pinch=str(rng.choice(["stop", "thin", "release"])),
        prescribed=str(rng.choice(["stop", "pass"])),
    )
    scene = weft.Scene(
        cloth,
        pins,
        bodies=bodies,
        attachments=ties,
        contact=contact,
        integrator=str(rng.choice(list(INTEGRATORS)[:4])),
        step=float(rng.choice([5e-3, 0.01, 0.02])),
    )
    try:
        prepare(scene)
    except weft.WeftError:
        return None
    return scene
