"""Model-predictive control by gradients: one gripper unfolds a towel on a table.

In every cycle the next steps of the gripper are planned by a few gradients of a run from where the
towel is now, two of them are carried out, and the rest starts the next plan.
"""

import dataclasses
import sys
from collections.abc import Callable

import numpy as np

import weft
from weft.base.arrays import Floats, Ints, Positions
from weft.plugins.robots.learning.cloth_env import ClothEnv
from weft.plugins.robots.learning.grippers import CARRIED, FASTEST

SIZE, RATE = 7, 20.0  # vertices along a side, steps a second
HORIZON, DONE, GRADIENTS = 6, 3, 3  # steps that are planned and carried out, gradients of a plan
REACH = 0.0285  # [m] above the cloth, from where the layer below is out of reach


def go(env: ClothEnv, to: Floats, close: bool, most: int = 40) -> bool:
    """Move the gripper to a place (3,) [m]; return whether the episode is over."""
    for _ in range(most):
        way = to - env.rig.grippers[0].x[0]
        if np.abs(way).max() < 1e-3:
            return False
        if act(env, way, close):
            return True
    return False


def act(env: ClothEnv, way: Floats, close: bool) -> bool:
    """Take one step; return whether the episode is over."""
    way = np.clip(way / FASTEST, -1, 1)
    *_, solved, cut, _ = env.step(np.append(way, 1.0 if close else -1.0))
    return solved or cut


def goal_of(x: Positions, rest: Positions) -> Positions:
    """Return the flat towel (n,3) [m] that has its lower layer where the folded one has it."""
    left = np.flatnonzero(rest[:, 0] < rest[:, 0].min() + 0.4 * np.ptp(rest[:, 0]))
    a, b = rest[left][:, [0, 2]], x[left][:, [0, 2]]
    u, _, vt = np.linalg.svd((a - a.mean(0)).T @ (b - b.mean(0)))
    flat = rest.copy()
    flat[:, [0, 2]] = (rest[:, [0, 2]] - a.mean(0)) @ u @ vt + b.mean(0)
    return flat


def above_table(env: ClothEnv, ways: Floats) -> Floats:
    """Return displacements (k,3) [m] of which none presses what is held onto the table."""
    lowest = env.rig.cloth(0)[env.rig.grippers[0].gripped[0], 1].min()
    way = np.cumsum(np.clip(ways, -FASTEST, FASTEST), axis=0)
    way[:, 1] = np.maximum(way[:, 1], CARRIED + 2e-3 - lowest)
    return np.diff(way, axis=0, prepend=np.zeros((1, 3)))


def plan(env: ClothEnv, goal: Positions, ways: Floats) -> tuple[Floats, float]:
    """Return the best of some displacements (HORIZON,3) [m] of the gripper along gradients, and
    its loss [m^2].
    """
    best, least, size = ways, np.inf, FASTEST
    for _ in range(GRADIENTS):
        ways = above_table(env, ways)
        try:
            loss, slope = evaluate(env, goal, ways)
        except weft.WeftError:  # the hand would press cloth through cloth
            loss = np.inf
        if loss < least:
            best, least, uphill = ways, loss, slope / max(np.abs(slope).max(), 1e-12)
        elif least < np.inf:
            size *= 0.3
        else:
            ways = 0.5 * ways
            continue
        ways = best - size * uphill
    return best, least


def evaluate(env: ClothEnv, goal: Positions, ways: Floats) -> tuple[float, Floats]:
    """Return the loss [m^2] of displacements (HORIZON,3) [m], and its derivative by them."""
    task, state, ids = env.rig.tasks[0], env.rig.state(0), env.rig.grippers[0].gripped[0]
    keys = np.concatenate([np.zeros((1, 3)), np.cumsum(ways, axis=0)])
    path = weft.Path(
        [weft.Keyframe(k / RATE, tuple(at)) for k, at in enumerate(keys)], interpolation="linear"
    )
    start = weft.State(state.x, state.v)
    cloth = task.scene.cloth
    cloth = dataclasses.replace(cloth, mesh=dataclasses.replace(cloth.mesh, vertices=state.x))
    scene = dataclasses.replace(
        task.scene, cloth=cloth, start_state=start, pins=[weft.Pin(ids, path=path, name="hand")]
    )
    loss = weft.adjoint.Target(goal)
    found = weft.Adjoint(scene, loss, ["pins.hand.keyframes"], frames=len(ways), fps=RATE)()
    by_key = np.asarray(found.gradient["pins.hand.keyframes"]).reshape(len(keys), -1)[1:, :3]
    return found.value, np.cumsum(by_key[::-1], axis=0)[::-1]


def start(seed: int) -> ClothEnv:
    """Return an environment whose gripper holds the folded edge of a towel."""
    env: ClothEnv = weft.robotics.env("flatten", set={"variables.size": SIZE}, steps=200)
    env.reset(seed=seed)
    for _ in range(6):  # until the bend has fallen
        act(env, np.zeros(3), False)
    place = env.rig.cloth(0)[edge_of(env)[SIZE // 2]] + [0, REACH, 0]
    go(env, place + [0, 0.05, 0], False)
    go(env, place, False)
    act(env, np.zeros(3), True)
    return env


def edge_of(env: ClothEnv) -> Ints:
    """Return the vertices of the edge that is folded over."""
    rest = env.rig.tasks[0].rest
    return np.flatnonzero(rest[:, 0] > rest[:, 0].max() - 1e-6).astype(np.int32)


def off(env: ClothEnv) -> tuple[Floats, Floats]:
    """Return by how much the folded edge's middle is off its place in the flat towel, (3,) [m], in
    the towel's own directions, and these directions (3,3).
    """
    x, middle = env.rig.cloth(0), edge_of(env)[SIZE // 2]
    goal = goal_of(x, env.rig.tasks[0].rest)
    along, across = goal[middle] - goal[middle - SIZE + 1], [0, 1, 0]
    axes = np.stack([along / np.linalg.norm(along), across, np.cross(along, across)])
    axes[2] /= np.linalg.norm(axes[2])
    return axes @ (x[middle] - goal[middle]), axes


def flatten(
    seed: int, most: int = 36, say: Callable[[str], None] = print
) -> tuple[float, float, Floats]:
    """Unfold the towel of a seed by plans.

    Returns:
        Coverage before and after, and ``off`` and displacement of every step, (k,2,3) [m], in the
        towel's own directions.
    """
    env = start(seed)
    before, over = env.rig.details(0)["measure"], False
    ways = np.tile([0.0, 0.005, 0.0], (HORIZON, 1))
    steps: list[tuple[Floats, Floats]] = []
    while not over and len(steps) < most:
        goal = goal_of(env.rig.cloth(0), env.rig.tasks[0].rest)
        ways, loss = plan(env, goal, ways)
        for way in ways[:DONE]:
            if not over:
                place, axes = off(env)
                steps.append((place, axes @ way))
                over = act(env, way, True)
        say(f"coverage {env.rig.details(0)['measure']:.3f}, plan off by {100 * loss**0.5:.1f} cm")
        ways = np.concatenate([ways[DONE:], np.tile(ways[-1], (DONE, 1))])
    return before, env.rig.details(0)["measure"], np.array(steps)


if __name__ == "__main__":
    first, last, steps = flatten(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
    print(f"coverage {first:.3f} before, {last:.3f} after {len(steps)} steps")
