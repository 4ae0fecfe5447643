"""Plausibility checks: warnings about scenes and states that are allowed but absurd.

Every function yields the texts of its warnings, with names and numbers.
"""

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from weft import extensions
from weft.base.arrays import Floats, Ints, Positions
from weft.base.errors import (
    Outlook,
    SimulationError,
    StartProblem,
    abbreviate,
    point_text,
    ranges,
)
from weft.base.trees import Json
from weft.bodies.body import Body
from weft.bodies.erosion import Solid
from weft.bodies.joints.settings import ROPES
from weft.bodies.motion.step_division import MOST_PARTS, Division, KinematicMotion, divide_step
from weft.bodies.nearest_points import NearestPoints
from weft.cloth.cloth import Cloth
from weft.contact.settings import Friction, SelfContact
from weft.discretization.rod import Rod
from weft.discretization.samples import Samples, principal_stretches, stretch_text
from weft.energies.energy import Energy
from weft.energies.loads.settling_drag import Drag
from weft.fabric.fabric import UNITS, Fabric, fabric, known_ranges, preset_names, range_doubt
from weft.integrators.adaptive import innermost
from weft.integrators.backward_euler import BackwardEuler
from weft.integrators.base import Stepper, StepSettings
from weft.integrators.model import Model
from weft.integrators.push_out import DEEPEST, find_inside
from weft.integrators.quasi_static import QuasiStatic, QuasiStaticSettings
from weft.run.bends import about_bends
from weft.scene.build_model import build_model
from weft.scene.scene import Scene

ORDERS = 1e3  # factor beyond the range of all presets: not a cloth
COARSE = 0.05  # fraction of the cloth's size from which a tolerance is visible
JUMP = 0.3  # change of the largest stretch in one step that does not occur in cloth
# displacement between two frames over the usual one; [m/s] faster than people walk
LEAP, FAST = 8.0, 5.0
STRIDE = 0.15  # fraction of a body's size that is too far for one step
OPEN = 2e-3  # [m] gap from which a sewn seam counts as open
# [m] gap from which a run starts again with the seam sewn earlier, and a garment is not worn
CAUGHT = 1e-2
TIGHT = 0.25  # strain from which a panel is too small, at the 95th percentile
LARGE = 2.0  # stretch that no cloth survives
GAINED = 0.05  # part of the largest kinetic energy of a run that a step may gain
STRAINED = 0.03  # largest strain between mesh and rest shape at the start

KEYS = 1000  # largest number of keyframes of a motion at which steps are looked at
INSIDE = (0.25, 0.5, 0.75)  # parts of the time between two keyframes at which steps are looked at


def warnings_before_run(scene: Scene, stepper: Stepper) -> Iterator[str]:
    """Yield what is said before a scene is simulated: problems of its start that do not resolve by
    themselves, then ``scene_warnings``.
    """
    yield from (str(p) for p in start_problems(scene) if p.outlook is not Outlook.RESOLVES)
    yield from scene_warnings(scene, stepper)


def scene_warnings(scene: Scene, stepper: Stepper) -> Iterator[str]:
    """Yield warnings about a scene: implausible fabrics, bodies and joints, visible tolerances,
    forces that the integrator leaves out, bends that open.
    """
    yield from about_bodies(scene.bodies)
    yield from about_joints(scene.bodies)
    yield from about_cloth_inside(scene)
    yield from about_jumps(scene.bodies, scene.step)
    yield from about_motion(build_model(scene), scene.step)
    if scene.cloth.seams and scene.contact is not None:
        yield from about_haste(scene.bodies, sewn_at(scene.contact, build_model(scene).energies))
    yield from about_equilibria(scene, stepper)
    made = {id(f): f for f, s in scene.cloth.elements if not isinstance(s, Rod)}
    yield from dict.fromkeys(about_fabrics(made.values()))
    if not scene.cloth.seams:  # panels have their rest shape from the pattern
        yield from about_rest_shape(scene.cloth.samples(), scene.cloth.points)
    yield from about_bends(scene.cloth, build_model(scene).energies)
    settings = getattr(getattr(stepper, "stepper", stepper), "settings", None)  # of adaptive steps
    if isinstance(settings, StepSettings):
        size = float(np.ptp(scene.cloth.vertices, axis=0).max())
        yield from about_tolerance(size, scene.step, settings.tolerance)


def start_problems(scene: Scene) -> Iterator[StartProblem]:
    """Yield the problems of a garment's start: panels inside a body, and seams that are open.

    Where seams are caught and faces intersect is known earlier, when the scene is built.
    """
    cloth, x = scene.cloth, scene.cloth.vertices
    if not cloth.seams or scene.contact is None:
        return
    middles = np.array([x[part.vertices].mean(axis=0) for part in cloth.parts])
    nearest = [
        x[p.vertices][((x[p.vertices] - m) ** 2).sum(1).argmin()]
        for p, m in zip(cloth.parts, middles)
    ]
    for body in scene.bodies:
        inside = body.contains(np.array(nearest))
        if inside.any() and not inside.all():  # a room contains all of them
            names = [part.name for part, held in zip(cloth.parts, inside) if held]
            yield StartProblem(
                Outlook.CANNOT,
                f"panels {abbreviate(names)} are inside {body.name}: place them in front of it or "
                "behind it",
            )
    gaps = {n: float(np.linalg.norm(x[p[:, 0]] - x[p[:, 1]], axis=1).max()) for n, p in cloth.seams}
    widest = max(gaps, key=lambda name: gaps[name])
    done = sewn_at(scene.contact, build_model(scene).energies)
    yield StartProblem(
        Outlook.RESOLVES,
        f"{sum(gap > OPEN for gap in gaps.values())} seams are open by up to "
        f"{100 * gaps[widest]:.0f} cm ({widest}); the seams close and the garment comes to rest "
        f"until t = {done:.3g} s",
    )


def about_cloth_inside(scene: Scene) -> Iterator[str]:
    """Yield warnings about cloth that starts wholly inside a body, near its surface: it never gets
    out, although nothing intersects.
    """
    contact = build_model(scene).contact
    if contact is None or contact.settings.resolve or scene.cloth.embedding is not None:
        return
    x = scene.cloth.vertices
    firsts = np.array([x[part.vertices[0]] for part in scene.cloth.parts])
    solids = [  # the surface of a body that contains no part of the cloth is not searched
        Solid(body.at(0.0), body.faces) if body.contains(firsts).any() else None
        for body in contact.bodies
    ]
    known = [solid if solid is not None and solid.has_inside else None for solid in solids]
    for piece in find_inside(contact, x, known):
        if piece.whole and piece.depth <= DEEPEST:
            yield (
                f"{contact.name_of(piece.nearest)} is inside {contact.bodies[piece.body].name} by "
                f"up to {1e3 * piece.depth:.3g} mm and stays there: `resolve: true` in the scene's "
                "contact pushes it out"
            )


def about_equilibria(scene: Scene, stepper: Stepper) -> Iterator[str]:
    """Yield warnings about friction and gusts that equilibria leave out."""
    settings = getattr(stepper, "settings", None)
    if not isinstance(settings, QuasiStaticSettings):
        return
    if not settings.friction and scene.contact is not None and _has_friction(scene.contact):
        yield (
            "quasi_static: weft leaves out friction of contact, so friction holds no cloth; "
            "`integrator: {quasi_static: {friction: true}}` includes it"
        )
    if any(getattr(a, "friction", 0.0) > 0 for a in scene.attachments):
        yield "quasi_static: weft leaves out friction of rings on their rail"
    if scene.wind is not None and scene.wind.gusts is not None:
        yield (
            "quasi_static: weft leaves out gusts and uses the mean wind, because gusts change "
            "faster than cloth comes to rest; for gusts use time steps (backward_euler)"
        )


def _has_friction(contact: SelfContact) -> bool:
    """Return True if any pair of collision groups has friction."""
    every = (contact.friction, *(pair.friction for pair in contact.pairs))
    return any(isinstance(f, Friction) and f.static > 0 for f in every)


def about_fabrics(fabrics: Iterable[Fabric]) -> Iterator[str]:
    """Yield a warning for each fabric with numbers three orders of magnitude outside the range of
    known fabrics, and one for each with zeros; numbers that were read from text are checked then.
    """
    for made in fabrics:
        # Reading all presets takes longer than a step, and a preset is within their range.
        if made.name in preset_names() and made == fabric(made.name):
            continue
        where = f"fabric {made.name}"
        numbers = [pair for pair in made.numbers if pair not in made.compared]
        if (doubt := range_doubt(where, numbers, ORDERS)) is not None:
            yield doubt
        zeros = [
            f"{name} (cloth has {low:.3g} to {high:.3g} {UNITS[name]})"
            for name, value in made.numbers
            for low, high in [known_ranges()[name]]
            if value == 0 and low > 0 and name != "damping"
        ]
        if zeros:
            yield f"{where} has zeros: {', '.join(zeros)}"


def about_rest_shape(samples: Samples, points: Positions) -> Iterator[str]:
    """Yield a warning about cloth that is strained at its start, at points (N,3) [m].

    The usual reason is texture coordinates in another unit, or of a picture: as the rest shape
    they crush or stretch the mesh.
    """
    high, low = principal_stretches(samples.deformation_gradient(points))
    strain = np.maximum(high - 1, 1 - low)
    k = int(np.argmax(strain))
    if strain[k] > STRAINED:
        where = point_text(samples.shares[k] @ points[samples.stencil[k]])
        yield (
            f"cloth is strained at the start, mesh over rest shape: {stretch_text(high, low)}, "
            f"more than {100 * STRAINED:g} % on {np.mean(strain > STRAINED):.0%} of it, most "
            f"near ({where}): it will spring to its rest shape, the texture coordinates in "
            "meters. If they have another unit, give `uv_scale`. If they are not a flat pattern "
            "of the cloth, `rest: mesh` or `warp: [x, y, z]` (direction of the warp in space) "
            "takes the mesh as rest shape, and `rest: FILE` takes another pose"
        )


def about_bodies(bodies: Sequence[Body]) -> Iterator[str]:
    """Yield warnings about bodies that have the same shape, place and motion."""
    alike: dict[object, list[str]] = {}
    for i, body in enumerate(bodies):
        key = (body.vertices.tobytes(), body.faces.tobytes(), repr(body.path), id(body.frames))
        alike.setdefault(key, []).append(f"{i} ({body.name})")
    for names in alike.values():
        if len(names) > 1:
            yield (
                f"bodies {abbreviate(names)}: {len(names)} of one shape in one place; keep one "
                "of them"
            )


def about_joints(bodies: Sequence[Body]) -> Iterator[str]:
    """Yield warnings about joints that are farther from a body than the body is large."""
    for body in bodies:
        for k, joint in enumerate(body.rigid.joints if body.rigid is not None else ()):
            places = [("point", joint.point, body)]
            if joint.to:
                others = (b for b in bodies if b.name == joint.to and b is not body)
                there = joint.at if joint.kind in ROPES else joint.point
                places += [("at", there, b) for b in others]
            for name, place, of in places:
                if place is None:
                    continue
                far = float(NearestPoints.of(np.array([place]), of.at(0.0), of.faces).distance[0])
                size = float(np.ptp(of.at(0.0), axis=0).max())
                if far > size:
                    yield (
                        f"{body.name}.rigid.joints {k}: its {name} is {far:.3g} m from "
                        f"{of.name}, which is {size:.3g} m large; the place must be in the "
                        "world, where the body starts"
                    )


def about_jumps(bodies: Sequence[Body], step: float) -> Iterator[str]:
    """Yield warnings about bodies that move much farther between two frames than between most
    others, or farther than cloth can follow in a step [s].
    """
    for body in bodies:
        if body.frames is None or len(body.frames.times) < 2:
            continue
        t, x = body.frames.times, body.frames.positions
        gaps = np.diff(t)
        ways = [float(np.abs(b - a).max()) for a, b in itertools.pairwise(x)]
        usual = float(np.median([w for w in ways if w > 0] or [0.0]))
        worst = int(np.argmax(ways))
        speed = ways[worst] / float(gaps[worst])
        place = x[worst, int(np.argmax(np.abs(x[worst + 1] - x[worst]).max(1)))]
        where = point_text(place)
        if ways[worst] > LEAP * usual and speed > FAST:
            yield (
                f"{body.name} jumps {ways[worst]:.3g} m between frames {worst} and {worst + 1} "
                f"(t = {t[worst]:.4g} s, near ({where})), {ways[worst] / usual:.3g} times the "
                "usual distance: cloth may not be able to follow"
            )
        elif speed * step > STRIDE * float(np.ptp(x[0], axis=0).max()):
            yield (
                f"{body.name} moves {speed * step:.3g} m in a step of {step:g} s at t = "
                f"{t[worst]:.4g} s, near ({where}): cloth may not be able to follow; use a "
                "shorter `step`"
            )


def about_motion(model: Model, step: float) -> Iterator[str]:
    """Yield a warning for every prescribed motion that divides steps of this length [s]."""
    for motion in model.motions:
        found: list[tuple[float, Division]] = []
        for t in _steps_of(motion, step):
            try:
                division = divide_step([motion], t, step, model.gap)
            except SimulationError as error:
                yield (
                    f"{error.got} in a {error.what}: the run stops there, because the step needs "
                    f"more than {MOST_PARTS} parts; {error.hint}"
                )
                found.clear()
                break
            if len(division.parts) > 1:
                found.append((t, division))
        if not found:
            continue
        t, worst = max(found, key=lambda pair: len(pair[1].parts))
        shorter = 1e3 * min(min(d.parts) for _, d in found)
        digit = 10.0 ** (math.floor(math.log10(shorter)) - 1)  # rounded down to two digits
        shorter = math.floor(shorter / digit + 1e-6) * digit
        advice = "" if worst.keyed else f"; `step: {shorter:.2g} ms` avoids this"
        yield (
            f"{motion.name} {worst.reason} in a step of {step:.4g} s (at t = {t:.4g} s): weft "
            f"divides such steps, into up to {len(worst.parts)} parts{advice}"
        )


def _steps_of(motion: KinematicMotion, step: float) -> Iterator[float]:
    """Yield beginnings [s] of steps that show how a motion goes: those at its keyframes, and four
    between two keyframes.
    """
    keys = motion.keys[:: -(-len(motion.keys) // KEYS)] if len(motion.keys) else motion.keys
    times = [(1 - s) * a + s * b for a, b in itertools.pairwise(keys) for s in (0, *INSIDE)]
    counts = {max(0, math.floor(t / step + 1e-9)) for t in [*times, *keys[-1:].tolist()]}
    yield from (n * step for n in sorted(counts | {0}))


def sewn_at(contact: SelfContact | None, energies: Iterable[Energy]) -> float:
    """Return the time [s] at which garments are sewn and at rest, and the animation begins."""
    ends = [e.until for e in energies if isinstance(e, Drag) and np.isfinite(e.until)]
    return max([0.0 if contact is None else contact.friction_from, *ends])


def about_haste(bodies: Sequence[Body], sewn: float) -> Iterator[str]:
    """Yield warnings about bodies that move before garments are sewn and settled, at ``sewn``
    [s].
    """
    for body in bodies:
        start, times = body.at(0.0), np.linspace(0.0, sewn * (1 - 1e-9), 17).tolist()
        first = next((t for t in times if np.abs(body.at(t) - start).max() > OPEN), None)
        if first is not None:
            yield (
                f"{body.name} moves from t = {first:.3g} s on, and garments are sewn and at rest "
                f"at t = {sewn:.4g} s: keep the body at rest until then (`hold: {sewn:.4g} s`), "
                "or sew faster (`sewing`)"
            )


def sewn_gaps(cloth: Cloth, x: Positions) -> Iterator[tuple[str, Ints, Floats]]:
    """Yield name, vertices (k,2) and gaps (k,) [m] of every seam that is sewn for good; zips and
    buttons are not.

    Args:
        cloth: the garment.
        x: (n,3) [m] positions of its vertices.
    """
    for name, pairs in cloth.seams:
        if cloth.sewn is not None and (cloth.sewn[pairs[:, 0]] == cloth.sewn[pairs[:, 1]]).all():
            yield name, pairs, np.linalg.norm(x[pairs[:, 0]] - x[pairs[:, 1]], axis=1)


def about_garment(
    cloth: Cloth, x: Positions, high: Sequence[Floats], t: float, bodies: Sequence[Body] = ()
) -> Iterator[str]:
    """Yield warnings about a garment at the time t [s] when it should be sewn: seams that are still
    open or caught on a body, and parts that are too small.

    Args:
        cloth: the garment.
        x: (n,3) [m] positions of its vertices.
        high: (q,) largest principal stretches of the samples, one array per part.
        t: [s] time.
        bodies: of the scene.
    """
    for name, pairs, gap in sewn_gaps(cloth, x):
        k = int(np.argmax(gap))
        if gap[k] > OPEN:
            where, ends = point_text(x[pairs[k, 0]]), x[pairs[gap > OPEN]]
            middles = ends.mean(axis=1)
            caught = next((b.name for b in bodies if b.contains(middles, t).mean() > 0.5), None)
            yield (
                f"seam {name} is open by {1e3 * gap[k]:.3g} mm at t = {t:.3g} s near ({where}): "
            ) + (
                "the garment is too small there, or an obstacle is between the sides"
                if caught is None
                else (
                    f"{caught} lies between its sides; place the panels so that the straight "
                    "line between the sides is free, or close this seam before others "
                    "(`window`)"
                )
            )
    for part, stretches in zip(cloth.parts, high, strict=True):
        tight = float(np.percentile(stretches, 95))
        if tight > 1 + TIGHT:
            explain = extensions.Registry[Any]("tight cloth").values()
            reasons = [why(cloth, part.name, bodies) for why in explain]
            unknown = "it is too small there, or a seam or a body holds it"
            yield (
                f"{part.name} is stretched by {100 * (tight - 1):.3g} % (95 % of it less) at t = "
                f"{t:.3g} s: {'; '.join(filter(None, reasons)) or unknown}; "
                "`weft render RUN strain.png --look strain` shows where"
            )


def about_tolerance(size: float, step: float, tolerance: float) -> Iterator[str]:
    """Yield a warning if tolerance [m/s] times step [s] is visible at the size of the cloth [m]."""
    if not tolerance * step > COARSE * size:
        return
    yield (
        f"the tolerance of {tolerance:g} m/s allows an error of "
        f"{tolerance * step:.2g} m in a step of {step:g} s, and the cloth is {size:.3g} m large: "
        f"use about {1e-3 * size / step:.2g} m/s"
    )


def about_released(lines: Iterable[Json]) -> Iterator[str]:
    """Yield a warning about frames of a run in which cloth passed through a body or through pinned
    cloth, as the settings of contact let it; ``lines`` are those of the metrics.
    """
    found = {m["frame"]: m.get("released_intersections", 0) for m in lines}
    frames = [k for k, count in found.items() if count]
    if frames:
        yield (
            f"released cloth passes through bodies or pinned cloth in {len(frames)} frames, "
            f"{ranges(frames)}: at most {max(found.values())} pairs of faces; the number of "
            "intersections does not include them"
        )


def about_gains(lines: Iterable[Json]) -> Iterator[str]:
    """Yield a warning about steps of one linear solve that gained energy; ``lines`` are those of
    the metrics.

    Cloth that turns by an angle a in one step is stretched by a^2/2, because the linear model does
    not know that rotation is no stretch. The energy gained grows with the fourth power of the step.
    """
    steps = [(m.get("gained", 0.0), m["kinetic"], m["dt"], m["t"]) for m in lines]
    most = GAINED * max((kinetic for _, kinetic, _, _ in steps), default=0.0)
    found = [step for step in steps if step[0] > most]
    if found:
        gain, _, dt, t = max(found)
        enough = dt * (most / gain) ** 0.25
        yield (
            f"{len(found)} of {len(steps)} steps of one linear solve gained energy that nothing "
            f"put in: at t = {t:.4g} s {GAINED * gain / most:.2g} times the largest kinetic "
            f"energy of the run, because cloth that turns far in one step is stretched. Try "
            f"`step: {1e3 * enough:.1g} ms`, or use `integrator: backward_euler`"
        )


def about_stretch(before: float, after: float, step: int, stepper: Stepper) -> Iterator[str]:
    """Yield a warning about a largest stretch that jumps in one step in time, or that no cloth has;
    it advises what the stepper of the run is not.
    """
    if not np.isfinite(after):
        yield f"step {step}: the stretch is {after}"
        return
    inner = innermost(stepper)
    if after > 1 + JUMP and after - before > JUMP and not isinstance(inner, QuasiStatic):
        advice = ["make `step` shorter"]
        advice += ["say `adaptive: {}`"] * (inner is stepper)
        advice += ["use `integrator: backward_euler`"] * (not isinstance(inner, BackwardEuler))
        yield (
            f"step {step}: the largest stretch went from {before:.3g} to {after:.3g} in one step; "
            f"the step is too long for this stiffness: {', or '.join(advice)}"
        )
    elif after > LARGE >= before:
        yield f"step {step}: cloth is stretched {after:.3g} times its length"
