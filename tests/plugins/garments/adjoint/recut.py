"""Scenes whose cloth is cut otherwise, and what derivatives by the rest shape are held against."""

import dataclasses
import types

import numpy as np

import weft
from tests.engine.adjoint.cases import CONTACT, TIGHT, hung, noise, quotient
from tests.plugins.garments.builders import garment_of, outfit_of
from weft import kernel
from weft.adjoint import cut, material_points, recut
from weft.adjoint.adjoint import Adjoint
from weft.adjoint.rest import RestDerivative
from weft.cloth.regions import Region
from weft.energies.seams.sewing import Sewing
from weft.energies.state import State
from weft.fabric.fabric import fabric
from weft.integrators.potential import Potential
from weft.kernel import vec3
from weft.scene.prepare import prepare


def of_runs(scene, h=2e-6, frames=2, fps=100, loss=None, seed=3):
    """(derivative, quotient) of whole runs along a random way of all material points."""
    loss = loss or noise(scene.cloth.n_vertices)
    found = Adjoint(scene, loss, ["rest"], frames=frames, fps=fps)().gradient["rest"]
    way = np.random.default_rng(seed).normal(size=found.shape)
    points, _ = material_points(scene.cloth)

    def along(s):
        other = recut(scene, cut(scene.cloth, points + s * way))
        return Adjoint(other, loss, frames=frames, fps=fps).value()

    assert found.shape == points.shape
    return float((found * way).sum()), quotient(along, h)


def of_terms(scene, t=0.05, h=1e-6, size=0.004, seed=0):
    """{name: (derivative, quotient)} of by . dE/dx of every term alone, at a fixed x, in a step
    with two of the past.
    """
    rng = np.random.default_rng(seed)
    start = prepare(scene).state.x
    x, now, past = (start + size * rng.normal(size=start.shape) for _ in range(3))
    by, v = rng.normal(size=x.shape), 0.3 * rng.normal(size=x.shape)
    points, _ = material_points(scene.cloth)
    way = rng.normal(size=points.shape)

    def potential(of):
        model, rate = prepare(of).model, (now, 0.01)
        return Potential(
            model, model.step(State(now, v, t), 0.01, now + 0.01, 1e-4, rate, (past, 0.4))
        )

    step = potential(scene).step
    by[step.fixed], x = 0.0, step.move_pins(x)

    def force(s, name):
        phi, g = potential(recut(scene, cut(scene.cloth, points + s * way))), None
        g = kernel.zeros(len(x), vec3)
        for term in phi.terms_of_phi:
            if term.name == name:
                term.add_gradient(kernel.points(x), g)
        return float((np.array(kernel.numpy(g)) * by).sum())

    found = {}
    for name in dict.fromkeys(term.name for term in potential(scene).terms_of_phi):
        rest, phi = (
            RestDerivative(scene, types.SimpleNamespace(model=prepare(scene).model)),
            potential(scene),
        )
        back = types.SimpleNamespace(phi=phi, x=kernel.points(x), z=-by)
        back.pulled = types.SimpleNamespace(at=None)
        rest.add(back)
        terms = rest.model.assembly.terms
        rest.tables = [
            tables if term.name == name else {k: 0 * v for k, v in tables.items()}
            for term, tables in zip(terms, rest.tables)
        ]
        got = float((rest.result() * way).sum())
        found[name] = got, quotient(lambda s, name=name: force(s, name), h)
    return found


def patched(**more):
    """The small sheet of ``hung``, half of it denim."""
    scene = hung(**more)
    (part,) = scene.cloth.parts
    half = np.arange(len(scene.cloth.faces)) < 9
    other = fabric({"preset": "denim", "damping": "0.03 s"})
    regions = tuple(
        Region(name, kind, np.flatnonzero(rows).astype(np.int32))
        for name, kind, rows in (("a", part.fabric, half), ("b", other, ~half))
    )
    part = dataclasses.replace(part, regions=regions)
    return scene.with_(cloth=dataclasses.replace(scene.cloth, given=(part,)))


def splines(integrator="backward_euler", n=(4, 5), **more):
    """A small patch that is no rectangle, held by two corners."""
    cloth = weft.spline_sheet(*n, 0.4, 0.4, fabric={"preset": "cotton", "damping": "0.02 s"})
    points, _ = material_points(cloth)
    bent = np.stack([np.sin(9 * points[:, 1]), np.cos(7 * points[:, 0])], axis=1)
    cloth = cut(cloth, points + 0.01 * bent).move((0, 0, 0), (30, 0, 0))
    return weft.Scene(
        cloth,
        [weft.Pin(cloth.corners("top"))],
        integrator=integrator,
        settings=TIGHT,
        step=0.01,
        velocity=(0.1, 0.0, -0.2),
        **more,
    )


SEWN = """
fabric: {preset: jersey, damping: 0.05 s}
panels:
  left:
    outline: [[-10 cm, 0], {at: [0, 0], edge: in}, [0, 10 cm], {at: [-10 cm, 10 cm], edge: out}]
  right:
    fabric: {preset: denim, damping: 0.05 s}
    outline:
      - {at: [0, 0], edge: hem}
      - {at: [10 cm, 1 cm], edge: out}
      - [10 cm, 11 cm]
      - {at: [0, 10 cm], edge: in}
    placement: {translation: [1 cm, 0, 5 mm]}
seams:
  middle: {join: [left.in, right.in], flip: true, angle: 20 deg}
  round: {join: [left.out, right.out], flip: true, fold_stiffness: 0.003}
elastics:
  hem: {edges: [right.hem], ratio: 96 %, stiffness: 20 N}
"""


def outfit():
    return outfit_of(garment_of(SEWN))


def sewing(outfit):
    """The energies of an outfit whose seams close while it moves."""
    return outfit.energies(Sewing(closing=0.02, settle=0.2, onset=0.05), damping=0.05)


def sewn(**more):
    """Two panels of two fabrics, of which two sides are seams and a third has an elastic."""
    worn = outfit()
    weighs = worn.weighs_from(Sewing(closing=0.02, settle=0.2, onset=0.05))
    return weft.Scene(
        worn.cloth, energies=sewing(worn), settings=CONTACT, step=0.01, gravity_from=weighs, **more
    )
