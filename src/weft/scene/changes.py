"""Changes of a scene while it is simulated: other fabrics, laws, loads and contact from a time on.

Keyframes change numbers of loads smoothly. A change replaces what a scene is made of from one time
until the next change; points and mesh stay. ``weft play`` writes them.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from weft.base.errors import FabricError, SceneError, check_known
from weft.base.runtime_types import checked
from weft.base.settings import REQUIRED, documented, setting
from weft.base.trees import Yaml
from weft.bodies.body import Body, Poser
from weft.fabric.fabric import Fabric
from weft.fabric.fabric import fabric as preset

_CONTACT = ("gap", "thickness", "friction", "stick")
# what paths of changes begin with
CHANGING = (
    *("fabrics", "law", "bending", "damping", "gravity", "pressure", "wind", "bodies"),
    *(f"contact.{name}" for name in _CONTACT),
)


@checked(SceneError, "changes")
@documented
@dataclass(frozen=True)
class Change:
    """Values of a scene from a time until the next change; all others are those of the start."""

    at: float = setting(
        REQUIRED, "time at which the changes begin", "s", least=0, constant="this field is a time"
    )
    set: Mapping[str, float | str | None] = setting(
        REQUIRED,
        "SI values by path: fabrics.0.shear, fabrics.0 (a preset's name), law, bending, damping, "
        "gravity.1, pressure, wind.velocity.0, contact.thickness, bodies.NAME.pose, ...",
        constant="a change happens at one time",
    )

    def __post_init__(self) -> None:
        for path in self.set:
            if not any(path == name or path.startswith(f"{name}.") for name in CHANGING):
                raise SceneError(
                    f"changes.set {path}",
                    got="a number that cannot change",
                    expected=f"a path that begins with {', '.join(CHANGING)}",
                    hint="mesh, points, bodies and the integrator cannot change",
                )


def pose_body(bodies: Sequence[Body], rest: Sequence[str], value: Yaml) -> list[Body]:
    """Return the bodies, one of them with poses: ``1.2 arms_down, 3 sit``.

    Raises:
        SceneError: no such body or pose, or times that do not increase.
    """
    path = ".".join(["bodies", *rest])
    known = [f"bodies.{b.name}.pose" for b in bodies if b.poser is not None]
    if path not in known:
        expected = ", ".join(known) or "no path, because no body in this scene has poses"
        raise SceneError(path, got="no mannequin in the a-pose", expected=expected)
    found = list(bodies)
    k = next(k for k, b in enumerate(bodies) if f"bodies.{b.name}.pose" == path)
    poser: Poser = bodies[k].poser
    poses = read_poses(value)
    times = [t for t, _ in poses]
    if not poses or sorted(set(times)) != times or not times[0] >= 0:
        expected = "times that increase [s] with poses: 1.2 arms_down, 3 sit"
        raise SceneError(path, got=repr(value), expected=expected)
    for _, name in poses:
        check_known(name, tuple(poser.poses), path, SceneError)
    found[k] = dataclasses.replace(bodies[k], frames=poser.frames(poses))
    return found


def read_poses(value: Yaml) -> list[tuple[float, str]]:
    """Return the times [s] and poses of a text such as ``1.2 arms_down, 3 sit``; an empty list of
    another text.
    """
    try:
        pairs = [part.split() for part in str(value).split(",")]
        return [(float(t), name) for t, name in pairs]
    except ValueError:
        return []


def change_fabric(fabrics: list[Fabric], rest: Sequence[str], value: Yaml) -> None:
    """Replace one of the fabrics, or one of its numbers."""
    number, *field = rest or [""]
    path = ".".join(["fabrics", *rest])
    if not number.isdigit() or int(number) >= len(fabrics) or len(field) > 1:
        expected = f"fabrics.0 to fabrics.{len(fabrics) - 1}, or one of their numbers"
        raise SceneError(path, got="no fabric of the cloth", expected=expected)
    k = int(number)
    if not field:
        fabrics[k] = preset(value)
        return
    try:
        fabrics[k] = dataclasses.replace(fabrics[k], **{field[0]: value})
    except TypeError:
        raise FabricError(path, got="no number of a fabric", expected="shear, ...") from None
