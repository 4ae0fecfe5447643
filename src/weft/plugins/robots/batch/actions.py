"""Checks of the arguments of a batch, because actions often come from a learned policy."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from weft.base.arrays import ArrayArgument, Floats, Positions
from weft.base.errors import SceneError
from weft.plugins.robots.batch.world import Hold, World
from weft.scene.prepare import prepare


def check_world(world: int, count: int) -> int:
    """Return the number of a world as an int.

    Raises:
        SceneError: no such world.
    """
    if isinstance(world, bool) or not isinstance(world, int | np.integer) or not 0 <= world < count:
        raise SceneError("world", got=repr(world), expected=f"a number from 0 to {count - 1}")
    return int(world)


def check_start(positions: ArrayArgument, world: World) -> Positions:
    """Return the start positions (n,3) [m] of a world, in place of those of its scene.

    Raises:
        SceneError: another shape, numbers that are not finite, a scene with pins, or cloth that
            intersects something there.
    """
    where, n = f"start of world {world.number}", len(world.model.mass)
    x = np.asarray(positions, dtype=np.float64)
    if x.shape != (n, 3):
        raise SceneError(where, got=f"shape {x.shape}", expected=f"({n}, 3) [m]")
    _check_finite(x, where)
    if prepare(world.scene).model.pins:
        raise SceneError(
            where,
            got="positions, in a scene with pins",
            expected="no pins, because a pin holds the place at the start of the scene",
            hint="use holds",
        )
    contact = world.model.contact
    if contact is not None:
        contact.check_start(contact.all_vertices(x))
    return x


def check_moves(actions: ArrayArgument, worlds: Sequence[World]) -> list[Floats]:
    """Return the displacements (p,3) [m] of the pins of every world.

    Raises:
        SceneError: another shape, numbers that are not finite, or a pin with a path of its own.
    """
    if actions is None:
        return [np.zeros_like(w.shift) for w in worlds]
    counts = sorted({len(w.shift) for w in worlds})
    shape = f"({len(worlds)}, {counts[0]}, 3)"
    if len(counts) > 1 or counts[0] == 0:
        raise SceneError(
            "actions",
            got=f"for scenes of {' and '.join(map(str, counts))} pins",
            expected="the same number of pins in every scene, at least one",
            hint="`holds` grips vertices that no pin holds",
        )
    try:
        moves = np.asarray(actions, dtype=np.float64)
    except (TypeError, ValueError):
        got = type(actions).__name__
        raise SceneError("actions", got=got, expected=f"numbers {shape} [m]") from None
    if moves.shape != (len(worlds), counts[0], 3):
        raise SceneError("actions", got=f"shape {moves.shape}", expected=f"shape {shape}, in m")
    _check_finite(moves, "actions")
    for world, move in zip(worlds, moves):
        for k, pin in enumerate(prepare(world.scene).model.pins):
            if pin.path is not None and move[k].any():
                raise SceneError(
                    f"actions of world {world.number}, {pin.name}",
                    got="a pin with its own path",
                    expected="pins that stand still, where actions move them",
                    hint="give zeros for this pin, or leave out its path",
                )
    return list(moves)


def check_targets(joints: ArrayArgument, worlds: Sequence[World]) -> Sequence[Floats | None]:
    """Return the targets (j,) [rad or m] of the joints of every world; None: none are given.

    Raises:
        SceneError: another shape, numbers that are not finite, or out of the range of a joint.
    """
    if joints is None:
        return [None] * len(worlds)
    targets = np.asarray(joints, dtype=np.float64)
    shape = (len(worlds), len(worlds[0].joints))
    if targets.shape != shape or any(len(w.joints) != shape[1] for w in worlds):
        raise SceneError("joints", got=f"shape {targets.shape}", expected=f"shape {shape}")
    _check_finite(targets, "joints")
    for world, own in zip(worlds, targets):
        for (arm, joint), target in zip(world.joints, own):
            joint.check(
                np.array([target]), f"joints of world {world.number}, {arm.name}.{joint.name}"
            )
    return list(targets)


def check_holds(holds: Any, worlds: Sequence[World]) -> list[list[Hold]]:
    """Return the holds of every world.

    Raises:
        SceneError: not one list for every world, vertices that do not exist or that are held twice,
            displacements that are not three numbers.
    """
    if holds is None:
        return [[] for _ in worlds]
    if len(holds) != len(worlds):
        got = f"{len(holds)} lists"
        raise SceneError("holds", got=got, expected=f"one for each of {len(worlds)} worlds")
    return [[_hold(h, w) for h in _alone(given, w)] for given, w in zip(holds, worlds)]


def _alone(given: Sequence[Hold], world: World) -> Sequence[Hold]:
    """Return the holds of a world; raise a SceneError if two of them hold one vertex."""
    every = [np.unique(h.vertices) for h in given if isinstance(h, Hold)]
    if every:
        ids, times = np.unique(np.concatenate(every), return_counts=True)
        if (times > 1).any():
            raise SceneError(
                f"holds of world {world.number}",
                got=f"vertex {ids[times > 1][0]} twice",
                expected="every vertex once",
            )
    return given


def _hold(hold: object, world: World) -> Hold:
    where = f"holds of world {world.number}"
    if not isinstance(hold, Hold):
        raise SceneError(
            where, got=type(hold).__name__, expected="weft.Hold(vertices, displacement)"
        )
    ids, n = np.asarray(hold.vertices).reshape(-1), len(world.model.mass)
    cloth = world.scene.cloth
    n = n if cloth.embedding is None else cloth.n_vertices
    if ids.dtype.kind not in "iu" or len(ids) == 0 or ids.min() < 0 or ids.max() >= n:
        got = "none" if len(ids) == 0 else f"{ids.min()} to {ids.max()}"
        raise SceneError(f"{where}.vertices", got=got, expected=f"ids from 0 to {n - 1}")
    if cloth.embedding is not None:
        ids = cloth.surfaces.determined_by(np.unique(ids).astype(np.int32))
        if len(ids) == 0:
            raise SceneError(
                where,
                got="vertices that do not determine a point of the spline or rod",
                expected="corners, sides or whole spans of splines, whole rings of a rod",
                hint="pin a spline's side in the scene, and move the pin with actions",
            )
    move = np.asarray(hold.displacement, dtype=np.float64)
    if move.shape != (3,):
        got = f"shape {move.shape}"
        raise SceneError(f"{where}.displacement", got=got, expected="three numbers [m]")
    _check_finite(move, f"{where}.displacement")
    return Hold(np.unique(ids).astype(np.int32), move)


def _check_finite(values: Floats, what: str) -> None:
    if not np.isfinite(values).all():
        bad = np.argwhere(~np.isfinite(values))[0].tolist()
        got = f"{values[tuple(bad)]} at {bad}"
        raise SceneError(what, got=got, expected="finite numbers [m]")
