"""Schema of attachments in a scene file: one block for every kind.

The numbers of the block are read from the dataclasses that it builds.
"""

from typing import Annotated, Any, Literal, cast, get_type_hints

import numpy as np
from pydantic import Field, create_model, model_validator

from weft.base.arrays import AnyArray, Ints, Positions
from weft.base.errors import SceneError
from weft.base.schema.block import Block, FileTranslation, InBlock
from weft.base.schema.quantities import Point
from weft.base.settings import REQUIRED, Setting, settings_by_field
from weft.base.trees import Json
from weft.bodies.body import Body
from weft.bodies.motion.pins import Path, Pin
from weft.cloth.attachments import (
    AttachCloth,
    Attachment,
    AttachToBody,
    Goal,
    Rope,
    Slide,
    Spring,
)
from weft.cloth.attachments.attachment import MOVES
from weft.cloth.cloth import Cloth
from weft.discretization.polygon import arc_lengths
from weft.energies.seams.sewing import Sewing
from weft.energies.springs.rail import feet_on
from weft.energies.springs.release import Release
from weft.scene.body_schema import BodyBlock
from weft.scene.selection import MOTION, SELECTION, NamedBlock, SelectionBlock, select_vertices

# A new kind is a dataclass, a line here, and its word in ``_Attachment.kind``.
KINDS: dict[str, type] = {
    "body": AttachToBody,
    "cloth": AttachCloth,
    "rope": Rope,
    "spring": Spring,
    "slide": Slide,
    "goal": Goal,
}
PLACED = {  # fields that are no numbers, by kind
    "body": {"body"},
    "cloth": {"to"},
    "rope": {"to", "body", "at", "path"},
    "spring": {"to", "body", "at", "path"},
    "slide": {"along", "body", "path"},
    "goal": {"guide", "body", "path"},
}
NEEDED = {
    "body": ("body",),
    "cloth": ("to",),
    "spring": ("stiffness",),
    "slide": ("along",),
    "goal": ("stiffness_per_area",),
}
_PLACE = Setting(constant=MOVES)
MOST_PAIRED = 2000  # points of an assignment problem, whose cost grows with the third power


class WeightMap(Block):
    """Painted weights of the mesh."""

    map: str = Field(description="name of painted weights")


class _Attachment(SelectionBlock, NamedBlock):
    """Points of the cloth that are held: `body`: they follow a body; `cloth`: they are tied to
    others; `rope`, `spring`: by what pulls, or pulls and pushes; `slide`: rings on a pole; `goal`:
    they are drawn to a guide.
    """

    kind: Literal["body", "cloth", "rope", "spring", "slide", "goal"] = Field(
        description="kind of attachment; weft.AttachToBody, AttachCloth, Rope, Spring, Slide, Goal"
    )
    to: Annotated[SelectionBlock | None, SELECTION] = Field(
        None,
        description=(
            "kinds cloth, rope, spring: the points at the other ends: the same number, or "
            "one. weft pairs ids in order, and other selections with the smallest distances"
        ),
    )
    body: str | None = Field(
        None,
        description=(
            "kinds body, rope, spring, slide, goal: name of the body that the points follow, "
            "that holds the end of the rope (nearest to `at`), or that carries the pole"
        ),
    )
    at: Annotated[Point | None, _PLACE] = Field(
        None, description="[m] kinds rope, spring: place of the other end"
    )
    along: Annotated[list[Point] | None, _PLACE] = Field(
        None, description="[m] kind slide: points of the pole"
    )
    every: Annotated[int, SELECTION] = Field(
        1,
        ge=1,
        description=(
            "use only every n-th of the selected points, or pairs of points, in the order of "
            "the pole, of the list `vertices`, or of the ids"
        ),
    )
    guide: Annotated[BodyBlock | None, MOTION] = Field(
        None,
        description=(
            "kind goal: the mesh that the cloth follows, written like one of `bodies`; it is "
            "not a body, and cloth does not touch it"
        ),
    )
    weight: Annotated[float | WeightMap | None, SELECTION] = Field(
        None,
        description="factor of the stiffness at every point: a number, or a map of painted "
        "weights; none: 1",
    )
    path: Annotated[InBlock[Path] | None, MOTION] = Field(
        None,
        description="kinds rope, spring, slide, goal: motion of the place or pole; none: no motion",
    )
    release: InBlock[Release] | None = Field(
        None, description="when points are released; none: never"
    )

    @property
    def selects_all(self) -> bool:
        """Goals without a selection are those of all vertices."""
        return self.kind == "goal"

    @model_validator(mode="after")
    def _of_its_kind(self) -> "_Attachment":
        own = {"name", "kind", "every", "weight", *PLACED[self.kind]}
        own |= SelectionBlock.model_fields.keys()
        own |= set() if self.kind == "goal" else {"release"}
        own |= settings_by_field(KINDS[self.kind]).keys()
        for name in sorted(self.model_fields_set - own):
            raise ValueError(f"{name} is not a field of kind {self.kind}")
        for name in NEEDED.get(self.kind, ()):
            if getattr(self, name) is None:
                raise ValueError(f"kind {self.kind} needs {name}")
        return self


def _numbers() -> Json:
    """Return the settings of all kinds as fields, with unit, meaning, and default if kinds
    agree.
    """
    kinds: dict[str, dict[str, Setting]] = {}  # by field, the setting of each kind
    types: Json = {}
    defaults: dict[str, set[object]] = {}
    for kind, made in KINDS.items():
        hints = get_type_hints(made)
        for name, about in settings_by_field(made).items():
            if name in _Attachment.model_fields:
                continue
            default = getattr(made, name, REQUIRED)
            kinds.setdefault(name, {})[kind] = about
            types.setdefault(name, FileTranslation().translate(hints[name], about) | None)
            defaults.setdefault(name, set()).add(None if default is REQUIRED else default)
    fields = {}
    for name, settings in kinds.items():
        about = next(iter(settings.values()))
        plain = Setting(keyframes=about.keyframes, constant=about.constant)  # bounds differ
        (default,) = defaults[name] if len(defaults[name]) == 1 else (None,)
        meanings = {kind: one.meaning for kind, one in settings.items()}
        annotation: object = Annotated[types[name], plain]
        fields[name] = (annotation, Field(default, description=_text(meanings, about.unit)))
    return fields


def _text(meanings: dict[str, str], unit: str) -> str:
    """Return the description of a number, by the kinds that have it."""
    of = {m: ", ".join(k for k, other in meanings.items() if other == m) for m in meanings.values()}
    text = "; ".join(
        f"kind{'s' if ',' in kinds else ''} {kinds}: {meaning}" for meaning, kinds in of.items()
    )
    return f"[{unit}] {text}" if unit else text


AttachmentBlock: Any = create_model(
    "AttachmentBlock", __base__=_Attachment, __doc__=_Attachment.__doc__, **_numbers()
)


def attachment_of(
    cloth: Cloth, block: AttachmentBlock, name: str, seconds: float, guide: Body | None = None
) -> Attachment:
    """Build the attachment of a block.

    Args:
        cloth: whose vertices it selects.
        block: ``AttachmentBlock``.
        name: for messages and metrics.
        seconds: [s] length of the run, for which its motion must be defined.
        guide: of a goal.

    Raises:
        SceneError: vertices that do not exist, or numbers out of range.
    """
    made = KINDS[block.kind]
    own = (settings_by_field(made).keys() | PLACED[block.kind]) - {"to"}
    given = {k: getattr(block, k) for k in own if k in block.model_fields_set}
    given = {k: v for k, v in given.items() if v is not None}
    if guide is not None:
        given["guide"] = guide
    ids = select_vertices(cloth, name, block)
    if not block.is_listed:
        ids = np.unique(ids)
    chosen = _every(cloth.vertices, ids, block)
    if block.to is None:
        ids = ids[chosen]
    else:
        to = select_vertices(cloth, f"{name}.to", block.to)
        listed = block.is_listed and block.to.is_listed
        to = to if listed else np.unique(to)
        whole = len(to) == len(ids)  # otherwise `to` has partners of the chosen points alone
        ids = ids if whole else ids[chosen]
        to = to if listed else _pair(cloth.vertices, ids, to, name)
        ids, given["to"] = (ids[chosen], to[chosen]) if whole else (ids, to)
    if block.weight is not None:
        given["weight"] = block.weight
    if isinstance(block.weight, WeightMap):
        given["weight"] = cloth.mesh.painted(block.weight.map, f"{name}.weight")[ids]
    if block.release is not None:
        given["release"] = block.release
    if block.path is not None:
        until = None if block.release is None else block.release.at
        Pin(np.zeros(1, dtype=np.int32), until, block.path, name).check_until(seconds)
    return cast(Attachment, made(ids.astype(np.int32), name=name, **given))


def sew_loose_edges(cloth: Cloth, sewing: Sewing | None) -> list[Attachment]:
    """Return the attachment that closes the loose edges of a cloth within ``sewing.closing``, if it
    has some.
    """
    edges, closing = cloth.mesh.loose_edges, (sewing or Sewing()).closing
    return [AttachCloth(*edges.T, closing=closing, name="loose edges")] if len(edges) else []


def _every(x: Positions, ids: Ints, block: AttachmentBlock) -> Ints:
    """Return the rows of every k-th of the points, from the first on, in the order of the pole or
    of ``ids``.
    """
    order: AnyArray = np.arange(len(ids), dtype=np.int32)
    rail = np.asarray(block.along or [], dtype=np.float64)
    apart = len(rail) > 1 and np.linalg.norm(np.diff(rail, axis=0), axis=1).min() > 0
    if block.every > 1 and apart:
        order = np.argsort(feet_on(x[ids], rail, arc_lengths(rail)).s, kind="stable")
    return order[:: block.every].astype(np.int32)


def _pair(x: Positions, ids: Ints, to: Ints, name: str) -> Ints:
    """Return (m,) or (1,) of ``to``, one for each of ``ids``, with the least sum of squared
    distances.
    """
    from scipy.optimize import linear_sum_assignment

    if len(to) == 1:
        return to
    if len(to) != len(ids) or len(ids) > MOST_PAIRED:
        raise SceneError(
            f"{name}.to",
            got=f"{len(to)} vertices for {len(ids)}",
            expected=f"the same number, at most {MOST_PAIRED}, or one",
        )
    far = np.linalg.norm(x[ids][:, None] - x[to][None], axis=2)
    return np.asarray(to[linear_sum_assignment(far**2)[1]])
