"""Numbers of a scene that have no keyframes, each with the reason and an alternative.

Every number of the schema is here or among those that may change (``scene.keyed.CHANGING``,
``fabric.fields.CHANGING``). A test goes through all of them, so that every new number is decided
on. The table of ``docs/keyframes.md`` is written by ``rows``.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Stays:
    """A group of numbers that have no keyframes.

    Args:
        paths: patterns of their paths; ``*`` stands for one name or number.
        reason: why, and what to do instead.
    """

    paths: str
    reason: str

    def matches(self, path: str) -> bool:
        """Return whether a number's path is in this group."""
        parts = (re.escape(p).replace(r"\*", r"[^.]+") for p in self.paths.split(", "))
        return any(re.fullmatch(rf"{part}(\..+)?", path) for part in parts)


MESH = "the mesh stays: what is simulated are its points"
PLACES = "places are those of the start"
SELECTS = "a selection is made once, at the start"
PATHS = "a path has keyframes of its own: path.keyframes"
NUMERICS = "how a step is solved, not what: "
STAYS: Sequence[Stays] = (
    Stays("cloth.sheet, cloths.*.sheet, cloth.panel, cloths.*.panel", MESH),
    Stays("cloth.mesh, cloths.*.mesh, cloth.spline, cloths.*.spline", MESH),
    Stays(
        "cloth.garment, cloths.*.garment",
        "what is cut stays; elastics and seams of its pattern have keyframes there",
    ),
    Stays(
        "cloth.translation, cloth.rotation, cloths.*.translation, cloths.*.rotation",
        f"{PLACES}; pins move along a path",
    ),
    Stays("pins.*.vertices, pins.*.above, pins.*.box", SELECTS),
    Stays("pins.*.until", "a time itself; how pins move until then is their path"),
    Stays("pins.*.path, bodies.*.path, attachments.*.path", PATHS),
    Stays(
        "attachments.*.vertices, attachments.*.above, attachments.*.box, attachments.*.every, "
        "attachments.*.to",
        SELECTS,
    ),
    Stays("attachments.*.at, attachments.*.along", f"{PLACES}; they move along attachments.path"),
    Stays(
        "attachments.*.within",
        "a choice made at the start, which says what is near enough to be attached; how long what "
        "is attached may be is attachments.length",
    ),
    Stays(
        "attachments.*.closing",
        "a time itself; how points come together by keyframes is attachments.length, with `within` "
        "as far as they start apart",
    ),
    Stays("attachments.*.release.at, bodies.*.rigid.joints.*.release.at", "a time itself"),
    Stays("gravity_from", "times themselves; gravity has keyframes, by component"),
    Stays("velocity", "it is that of the start; pins and bodies move along a path"),
    Stays("step", f"{NUMERICS}`adaptive` divides steps"),
    Stays("seconds, fps", "times of the run, and of what is written"),
    Stays("integrator", f"{NUMERICS}settings of the whole run"),
    Stays("adaptive", f"{NUMERICS}settings of the whole run"),
    Stays("law", "directions of the yarns in the material; the fabric's stiffness may change"),
    Stays(
        "conditions",
        "what energies of 1998 are made of; they take the fabric's stiffness, which may change",
    ),
    Stays("pressed.*.line", f"{MESH}; the angle may change"),
    Stays(
        "wind.gusts.seed, wind.gusts.bands",
        "which waves there are; length and intensity may change",
    ),
    Stays("contact.friction_from", "a time itself; contact.friction has keyframes, from 0"),
    Stays("contact.lags", f"{NUMERICS}a count"),
    Stays(
        "bodies.*.sphere, bodies.*.plate, bodies.*.plane, bodies.*.capsule, bodies.*.cylinder, "
        "bodies.*.cone, bodies.*.disk, bodies.*.box, bodies.*.ring, bodies.*.height_field",
        "a shape stays; it moves along bodies.path, deforms as a mesh of frames, and keeps a "
        "bodies.thickness that may change",
    ),
    Stays("bodies.*.mannequin", "a figure stays who it is; it moves as its motion says"),
    Stays("bodies.*.mesh", "a shape and the times of its frames"),
    Stays("bodies.*.translation, bodies.*.rotation", f"{PLACES}; it moves along bodies.path"),
    Stays("bodies.*.rigid.velocity, bodies.*.rigid.spin", "those of the start"),
    Stays(
        "bodies.*.rigid.mass, bodies.*.rigid.density",
        "its mass and inertia stay; a rope, a spring or gravity may change",
    ),
    Stays("bodies.*.rigid.stiffness", "what keeps its shape, of which nothing else depends"),
    Stays(
        "bodies.*.rigid.joints.*.point, bodies.*.rigid.joints.*.axis, bodies.*.rigid.joints.*.at",
        f"{PLACES}; what a body is jointed to (`to`) may move along a path",
    ),
    Stays(
        "bodies.*.rigid.joints.*.angles, bodies.*.rigid.joints.*.way, bodies.*.rigid.joints.*.cone",
        "a stop bounds where bodies may be; a motor or drive has keyframes, and moves them",
    ),
    Stays(
        "sewing.closing, sewing.settle, sewing.onset",
        "times themselves; zips and buttons have close_at and open_at, in the pattern",
    ),
    Stays(
        "sewing.drag",
        "it acts until the animation begins; `damping` may change",
    ),
    Stays(
        "sewing.stiffness",
        "what holds seams closed, the stiffer the better; strength, angle and fold_stiffness of a "
        "seam have keyframes, in the pattern",
    ),
)


WHOLE = {  # hints for fields that are no numbers, by the first name of their path
    "gravity": "give it for each component: gravity: [0, {keys: ...}, 0]",
    "wind": "give its velocity for each component; a field of velocities has times of its own",
    "cloth": "numbers of its fabric may change",
    "cloths": "numbers of its fabric may change",
    "pins": "pins move along a path: pins.path.keyframes",
}


def stays(path: str) -> Stays | None:
    """Return the group of a number without keyframes; None if no group has it."""
    return next((s for s in STAYS if s.matches(path)), None)


def why_not(path: str) -> str | None:
    """Return why a field has no keyframes, and what to do instead; None: no reason is listed."""
    found = stays(path)
    return WHOLE.get(path.split(".")[0]) if found is None else found.reason


def rows() -> list[str]:
    """Return the table of ``docs/keyframes.md`` as lines of Markdown."""
    return [
        f"| {', '.join(f'`{p}`' for p in s.paths.replace('.*', '').split(', '))} | {s.reason} |"
        for s in STAYS
    ]
