"""Runs that are short and differentiated, and what their derivatives are held against."""

import dataclasses

import numpy as np

import weft
from weft.adjoint.adjoint import Adjoint
from weft.contact import Rigid, sphere

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


def along(scene, name, h, seed=3, loss=None, velocities=0.1, way=None, **run):
    """(derivative, quotient) along a random way of all positions, velocities or of the rest shape,
    by starts that are moved along it.
    """
    loss = loss or noise(scene.cloth.n_vertices, velocities=velocities)
    by = Adjoint(scene, loss, [name], **run)().gradient[name]
    way = np.random.default_rng(seed).normal(size=by.shape) if way is None else way
    key = {"positions": "dx", "velocities": "dv", "rest": "duv"}[name]

    def value(s):
        return Adjoint(with_start(scene, **{key: s * way}), loss, **run).value()

    return float((by * way).sum()), quotient(value, h)


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
    cloth = together(lower, upper)
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


def together(lower, upper):
    """One cloth of two sheets, in two places of the flat plane."""
    n = lower.n_vertices
    x = np.concatenate([lower.vertices, upper.vertices])
    faces = np.concatenate([lower.faces, upper.faces + n])
    uv = np.concatenate([lower.corner_uv, upper.corner_uv + [0.5, 0.0]])
    return weft.Cloth(weft.TriangleMesh(x, faces, uv), lower.fabric)


def tied(integrator="backward_euler", release=None):
    """Hung, with a damped spring between vertices, one to a place, and a rope that is wound in."""
    scene = hung(integrator)
    cloth, more = scene.cloth, {} if release is None else {"release": release}
    keys = [weft.Keyframe(0.0), weft.Keyframe(0.1, (0.05, -0.1, 0.02), 0.3)]
    spring = weft.Spring(
        cloth.border("bottom"),
        stiffness=5.0,
        length=0.1,
        damping=0.05,
        at=(0.1, -0.5, 0.2),
        name="spring",
        **more,
    )
    across = weft.Spring([4], to=[11], stiffness=20.0, length=0.1, damping=0.03, name="across")
    rope = weft.Rope(
        cloth.corners("bottom"),
        at=(0, -1.0, 0.1),
        length=1.2,
        stiffness=50.0,
        path=weft.Path(keys, interpolation="linear", hold=True),
        name="rope",
    )
    return scene.with_(attachments=[spring, across, rope])


def slide(**more):
    """An attachment of a hung sheet to a rail."""
    ends = [(-0.3, -0.1, -0.2), (0.3, 0.2, -0.2)]
    return weft.Slide(hung().cloth.corners("bottom"), along=ends, within=1.0, name="rail", **more)


def carried(integrator="backward_euler"):
    """A sheet that lands on a table, with a light ball on it."""
    scene = landing(integrator)
    ball = sphere(0.03, 0.02, name="ball").move((0.01, 0.0345, 0.004), rotation=(0, 10, 20))
    rigid = Rigid(mass=4e-4, velocity=(0.02, -0.03, 0.01), spin=(0.1, 0.2, 0.3), stiffness=1e6)
    ball = dataclasses.replace(ball, rigid=rigid)
    return scene.with_(settings=weft.StepSettings(tolerance=1e-9), bodies=[*scene.bodies, ball])


def lagged(lags, integrator="backward_euler", settings=TIGHT, **more):
    """Landing, with friction that is taken anew within a step."""
    scene = landing(integrator, **more)
    contact = dataclasses.replace(scene.contact, lags=lags)
    return scene.with_(contact=contact, settings=settings)


def resting(**settings):
    """A square on a slope that holds it, taken there by equilibria."""
    chosen = {
        "tolerance": 1e-10,
        "force_tolerance": 1e-9,
        "lags": 400,
        "max_iterations": 4000,
        "friction": True,
        "imperfection": 0.0,
        **settings,
    }
    cloth = weft.sheet(4, 4, 0.2, 0.2, fabric="felt")
    cloth, a = cloth.move((0, 2.5e-3, 0), (0, 20, 0)), np.radians(14.0)
    return weft.Scene(
        cloth,
        gravity=(9.81 * np.sin(a), -9.81 * np.cos(a), 0.0),
        integrator="quasi_static",
        settings=weft.QuasiStaticSettings(**chosen),
        contact=weft.SelfContact(gap=4e-3, friction=0.4),
        bodies=[weft.contact.plate(0.6, 0.6, 0.3, name="table")],
        step=0.5,
    )


def spline_hung():
    """A spline, held by two corners."""
    cloth = weft.spline_sheet(4, 4, 0.4, 0.4, fabric={"preset": "cotton", "damping": "0.02 s"})
    cloth = cloth.move((0, 0, 0), (30, 0, 0))
    pins = [weft.Pin(cloth.corners("top"))]
    return weft.Scene(cloth, pins, settings=weft.StepSettings(tolerance=1e-9), step=0.01)


def keys(*values, between="linear"):
    """Of a number: spread over 30 ms, more than the runs take."""
    return weft.Keys(list(zip(np.linspace(0, 0.03, len(values)), values)), between)
