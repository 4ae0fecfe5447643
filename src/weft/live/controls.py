"""The controls of the desk: numbers and choices of a scene that change while it is played."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

from weft import extensions
from weft.base.trees import Json, Yaml
from weft.fabric.fabric import Fabric, preset_names
from weft.scene.changes import read_poses
from weft.scene.keyframed_numbers import value_at
from weft.scene.law import LAWS
from weft.scene.scene import Scene


@dataclass(frozen=True)
class Control:
    """A slider or a list on the desk.

    Args:
        path: of the value in the scene (``weft.scene.changes``).
        group: heading below which it stands.
        title: what it is.
        unit: of the number that is shown.
        low, high: ends of the slider, in SI units.
        log: equal parts of the slider are equal factors.
        choices: names to choose from; empty: a number.
        measured: whether the value of the start was measured in a laboratory.
        factor: the number shown is the value times this.
    """

    path: str
    group: str
    title: str
    unit: str = ""
    low: float = 0.0
    high: float = 1.0
    log: bool = False
    choices: Sequence[str] = ()
    measured: bool = False
    factor: float = 1.0


# numbers of a fabric: field, title, unit, ends, factor
_OF_FABRIC: Sequence[tuple[str, str, str, float, float, float]] = (
    ("stretch_warp", "stretch, warp", "N/m", 10.0, 2e4, 1.0),
    ("stretch_weft", "stretch, weft", "N/m", 10.0, 2e4, 1.0),
    ("shear", "shear", "N/m", 0.1, 2e3, 1.0),
    ("bending_warp", "bending, warp", "µN m", 1e-8, 1e-2, 1e6),
    ("bending_weft", "bending, weft", "µN m", 1e-8, 1e-2, 1e6),
    ("density", "weight", "g/m²", 0.02, 1.0, 1e3),
)


def controls_of(scene: Scene) -> list[Control]:
    """Return the controls of a scene."""
    several = len(scene.cloth.fabrics) > 1
    found: list[Control] = []
    for k, fabric in enumerate(scene.cloth.fabrics):
        group = f"fabric: {fabric.name}" if several else "fabric"
        found.append(Control(f"fabrics.{k}", group, "preset", choices=preset_names()))
        found += _numbers(k, fabric, group)
    found += _models(scene)
    found.append(Control("damping", "motion", "damping", "ms", 0.0, 0.2, factor=1e3))
    found.append(Control("gravity.1", "motion", "gravity", "m/s²", -20.0, 20.0))
    if not scene.is_1998:
        for axis, name in ((0, "wind, x"), (2, "wind, z")):
            found.append(Control(f"wind.velocity.{axis}", "motion", name, "m/s", -10.0, 10.0))
    if isinstance(scene.pressure, float | int):
        found.append(Control("pressure", "motion", "pressure", "Pa", 0.0, 500.0))
    for body in scene.bodies:
        if body.poser is not None:
            poses = body.poser.poses
            found.append(Control(f"bodies.{body.name}.pose", "body", "pose", choices=poses))
    if scene.contact is not None:
        most = max(5e-3, 2 * scene.contact.thickness)
        found.append(Control("contact.friction", "contact", "friction", "", 0.0, 2.0))
        found.append(
            Control("contact.thickness", "contact", "thickness", "mm", 0.0, most, factor=1e3)
        )
    return found


def _numbers(k: int, fabric: Fabric, group: str) -> Iterator[Control]:
    for field, title, unit, low, high, factor in _OF_FABRIC:
        measured = fabric.origin(field) == "measured"
        yield Control(
            f"fabrics.{k}.{field}", group, title, unit, low, high, True, (), measured, factor
        )


def _models(scene: Scene) -> Iterator[Control]:
    """Yield the choices of law and bending energy, which the conditions of 1998 do not have."""
    if scene.is_1998 or scene.conditions is not None or callable(getattr(scene.law, "psi", None)):
        return
    curved = scene.cloth.embedding is not None
    if not any(f.is_measured or f.is_limited for f in scene.cloth.fabrics):
        yield Control(
            "law", "model", "law", choices=[n for n in LAWS if n not in ("measured", "data_driven")]
        )
    if scene.buckling is None and not curved:
        names = [n for n in extensions.names("bending") if n != "pairs"]
        yield Control("bending", "model", "bending", choices=names)


def value_of(scene: Scene, path: str, values: Mapping[str, Yaml]) -> float | str:
    """Return the present value of a control, in a scene with changed values."""
    first, *rest = path.split(".")
    if first == "bodies":
        poses = read_poses(values.get(path, ""))
        return poses[-1][1] if poses else "a_pose"
    if first == "fabrics":
        fabric = scene.cloth.fabrics[int(rest[0])]
        return float(getattr(fabric, rest[1])) if len(rest) > 1 else fabric.name
    if first == "law":
        law = scene.law
        return str(getattr(law, "keywords", {}).get("name", "baraff_witkin"))
    if first == "bending":
        return scene.bending or "hinges"
    if first == "damping" and scene.damping is None:
        return float(scene.cloth.fabric.damping)
    if first == "wind" and scene.wind is None:
        return 0.0
    thing, _ = value_at(scene, path, path)
    return float(getattr(thing, "static", thing))


def describe_controls(scene: Scene, values: Mapping[str, Yaml]) -> list[Json]:
    """Return the controls with their present values, as JSON."""
    return [{**asdict(c), "value": value_of(scene, c.path, values)} for c in controls_of(scene)]
