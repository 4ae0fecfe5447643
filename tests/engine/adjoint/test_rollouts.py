"""Rollouts: derivatives by everything from those by all frames, and rows of host functions."""

import numpy as np
import pytest

import weft
from tests.engine.adjoint.cases import hung, landing, quotient
from tests.refusals import refused
from weft.adjoint import Rollout
from weft.adjoint.host_function import HostFunction
from weft.base.errors import FabricError, SceneError

KINDS = {
    "hung": ["positions", "velocities", "rest", "pins.pin.keyframes", "pins.pin.rotations"],
    "fabric": ["fabric.shear", "fabric.density", "gravity"],
    "landing": ["positions", "velocities", "contact.friction", "bodies.table.translation"],
}
SCENES = {"hung": hung, "fabric": hung, "landing": landing}


@pytest.mark.parametrize("case", KINDS)
def test_products_against_differences_of_runs(case):
    """Of random derivatives by the positions and velocities of all frames, by each kind alone."""
    rng, rollout = (
        np.random.default_rng(4),
        Rollout(SCENES[case](), KINDS[case], frames=2, fps=100.0),
    )
    found = rollout.run()
    by_x, by_v = rng.normal(size=found.x.shape), 0.1 * rng.normal(size=found.v.shape)
    gradient, _ = found.pull_back(by_x, by_v)
    for name in KINDS[case]:
        parameter = rollout.parameter(name)
        way = parameter.size * rng.uniform(0.5, 1.5, parameter.value.shape)

        def along(s, name=name, parameter=parameter, way=way):
            near = rollout.with_values({name: parameter.value + s * way}).run(keep=False)
            return float((by_x * near.x).sum() + (by_v * near.v).sum())

        expected = quotient(along, 3e-5)
        assert float((gradient[name] * way).sum()) == pytest.approx(expected, rel=1e-5), name


def host(scenes, names=("velocities", "fabric.shear"), processes=1, memory=2.0**30):
    def make(scene):
        return Rollout(scene, list(names), frames=2, fps=100.0, memory=memory)

    return HostFunction(scenes, make, processes)


def rows(function, count, seed=2):
    """Values near those of the scenes, and derivatives by the results."""
    rng = np.random.default_rng(seed)
    base = [function.each[0].parameter(n).value for n in function.names]
    values = [b * rng.uniform(0.9, 1.1, (count, *b.shape)) for b in base]
    return values, [rng.normal(size=(count, *shape)) for shape in function.results]


def both(function, values, by):
    return [*function.run(True, *values), *function.pull_back(*values, *by)]


def test_a_batch_has_the_bits_of_single_runs():
    """Also where what the pass backwards needs has been dropped, and where scenes repeat."""
    scenes = [hung(), landing()]
    function = host(scenes)
    values, by = rows(function, 4)
    found = both(function, values, by)
    alone = [host(s) for s in scenes]
    for k in range(4):
        one = both(alone[k % 2], [v[k : k + 1] for v in values], [b[k : k + 1] for b in by])
        for each, expected in zip(found, one, strict=True):
            np.testing.assert_array_equal(each[k], expected[0])
    small = host(scenes, memory=1.0)
    for each, expected in zip(found[2:], small.pull_back(*values, *by), strict=True):
        np.testing.assert_array_equal(each, expected)


@pytest.mark.slow
def test_processes_have_the_same_bits():
    scenes = [hung(), landing()]
    values, by = rows(host(scenes), 4)
    expected = both(host(scenes), values, by)
    for each, same in zip(both(host(scenes, processes=2), values, by), expected, strict=True):
        np.testing.assert_array_equal(each, same)
    values[1][3] = -1.0
    with refused(FabricError, ("world 3", "shear")):
        host(scenes, processes=2).run(False, *values)


def test_what_a_rollout_refuses():
    function = host([hung(), hung()])
    assert function.is_shared("fabric.shear", ()) and not function.is_shared("fabric.shear", (2,))
    with refused(SceneError, "parameter velocities", got="(3, 16, 3)", expected="(2, 16, 3)"):
        function.is_shared("velocities", (3, 16, 3))
    with refused(SceneError, "scenes of a rollout"):
        host([])
    big = hung().with_(cloth=weft.sheet(5, 5, 0.4, 0.4), pins=[])
    with refused(SceneError, "world 1", hint="meshes"):
        host([hung(), big], names=["gravity"])
    with refused(FabricError, "world 1"):  # which of the rows is wrong
        function.run(False, np.zeros((2, 16, 3)), np.array([30.0, -30.0]))
    with refused(SceneError, "targets of pins"):
        host(hung(), names=["pins.pin.targets"]).run(False, np.zeros((1, 0, 3)))
