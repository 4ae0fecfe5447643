"""Runs that are short and differentiated, and what their derivatives are held against."""

import dataclasses

import numpy as np

import weft
from weft.adjoint.adjoint import Adjoint

TIGHT, CONTACT = weft.StepSettings(tolerance=1e-10), weft.StepSettings(tolerance=1e-8)
ONE = {
    "backward_euler": TIGHT,
    "bdf2": TIGHT,
    "quasi_static": weft.QuasiStaticSettings(1e-11, 1e-11, imperfection=0.0),
}


def hung(integrator="backward_euler", bend=0.05, damping=None, **more):
    """A small sheet that is curved and creased a little, held by two corners on a path."""
    fabric = {"preset": "cotton", "damping": "0.02 s"}
    cloth = weft.sheet(4, 4, 0.4, 0.4, fabric=fabric).move((0, 0, 0), (30, 0, 0))
    x = np.array(cloth.points)
    x[:, 1] += bend * np.sin(9 * x[:, 0]) * (0.3 + x[:, 2])
    keys = [weft.Keyframe(0.0), weft.Keyframe(0.1, (0.02, 0.01, -0.03), 0.2)]
    path = weft.Path(keys, interpolation="linear", hold=True)
    pins = [weft.Pin(cloth.corners("top"), path=path)]
    return weft.Scene(
        cloth.with_points(x),
        pins,
        integrator=integrator,
        settings=ONE[integrator],
        step=0.01,
        damping=damping,
        velocity=(0.1, 0.0, -0.2),
        **more,
    )


def landing(integrator="backward_euler", friction=0.3, **more):
    """A small sheet that slides onto a table, and touches it from the first step on."""
    cloth = weft.sheet(4, 4, 0.12, 0.12, fabric={"preset": "cotton", "damping": "0.01 s"})
    cloth = cloth.move((0.013, 0, 0.007), (0, 17, 0))  # no edge along one of the table
    x = np.array(cloth.points)
    x[:, 1] += 0.0021 + 0.0004 * np.sin(40 * x[:, 0] + 25 * x[:, 2])
    contact = weft.SelfContact(gap=0.003, friction=friction)
    body = weft.contact.plate(0.6, 0.6, size=0.3, name="table")
    return weft.Scene(
        cloth.with_points(x),
        [],
        integrator=integrator,
        settings=CONTACT,
        step=0.005,
        contact=contact,
        bodies=[body],
        velocity=(0.2, -0.03, 0.1),
        **more,
    )


def noise(n, seed=0, velocities=0.1):
    """A linear loss with random weights of the last frame and half of the first one."""
    rng = np.random.default_rng(seed)
    gx, gv = rng.normal(size=(n, 3)), velocities * rng.normal(size=(n, 3))

    def loss(x, v, t):
        by_x, by_v = np.zeros_like(x), np.zeros_like(v)
        by_x[-1], by_v[-1] = gx, gv
        by_x[1] += 0.5 * gx
        return float((by_x * x).sum() + (by_v * v).sum()), by_x, by_v

    return loss


def quotient(f, h):
    """df/ds at 0, from four points."""
    return (8 * (f(h) - f(-h)) - f(2 * h) + f(-2 * h)) / (12 * h)


def compared(scene, names, frames=2, fps=100.0, h=3e-5, seed=0, velocities=0.1, loss=None):
    """(derivative, quotient) along random directions of all named parameters together."""
    loss = loss or noise(scene.cloth.n_vertices, seed, velocities)
    adjoint = Adjoint(scene, loss, names, frames=frames, fps=fps)
    found, rng = adjoint(), np.random.default_rng(seed + 1)
    way = {
        n: adjoint.parameter(n).size * np.asarray(rng.uniform(0.5, 1.5, found.gradient[n].shape))
        for n in names
    }

    def along(s):
        values = {n: adjoint.parameter(n).value + s * d for n, d in way.items()}
        return adjoint.with_values(values).value()

    return sum(float((found.gradient[n] * way[n]).sum()) for n in names), quotient(along, h), found


def with_start(scene, dx=None, dv=None, duv=None):
    """The scene from another start, or with other material coordinates."""
    cloth = scene.cloth
    if dx is not None:
        cloth = cloth.with_points(cloth.points + dx)
    if duv is not None:
        mesh = cloth.mesh
        uv = mesh.corner_uv + duv[mesh.faces]
        moved = weft.TriangleMesh(mesh.vertices, mesh.faces, uv, mesh.groups)
        cloth = dataclasses.replace(cloth, mesh=moved)
    velocity = np.broadcast_to(np.asarray(scene.velocity), cloth.points.shape)
    return scene.with_(cloth=cloth, velocity=velocity + (0 if dv is None else dv))


def folded(integrator="backward_euler", friction=0.3, **more):
    """Two small sheets, one on the other: edges that are nearly parallel, whose contact knows rest
    lengths.
    """
    fabric = {"preset": "cotton", "damping": "0.01 s"}
    lower = weft.sheet(4, 4, 0.12, 0.12, fabric=fabric)
    upper = lower.move((0.0011, 0.0021, 0.0007), (0, 0.6, 0))
    cloth = _together(lower, upper)
    contact = weft.SelfContact(gap=0.003, friction=friction)
    pins = [weft.Pin([0, 3, 12, 15])]
    return weft.Scene(
        cloth,
        pins,
        integrator=integrator,
        settings=CONTACT,
        step=0.005,
        contact=contact,
        velocity=(0.02, -0.05, 0.01),
        **more,
    )


def _together(lower, upper):
    """One cloth of two sheets, in two places of the flat plane."""
    n = lower.n_vertices
    x = np.concatenate([lower.vertices, upper.vertices])
    faces = np.concatenate([lower.faces, upper.faces + n])
    uv = np.concatenate([lower.corner_uv, upper.corner_uv + [0.5, 0.0]])
    return weft.Cloth(weft.TriangleMesh(x, faces, uv), lower.fabric)
