"""Goals of a scene: cloth that is drawn to a guide, a mesh that moves."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Annotated

import numpy as np

from weft.base.arrays import ArrayArgument, ArrayOf, Floats, Ints, Positions, VertexSelection
from weft.base.errors import SceneError
from weft.base.runtime_types import checked
from weft.base.settings import REQUIRED, documented, setting
from weft.bodies.body import Body
from weft.bodies.joints.anchors import BodyAnchor
from weft.cloth.attachments.attached import Attached
from weft.cloth.attachments.attachment import CHOSEN, UNCHECKED, Attachment
from weft.cloth.attachments.site import Site
from weft.discretization.mesh import unique_edges
from weft.energies.base import Energy
from weft.energies.springs.goals import Goals
from weft.energies.springs.release import NEVER, Release

# Least part of the cloth's edges that a guide of the same topology has. It may lack the diagonals
# of quads, which are cut by their shape: one edge of three.
SAME_EDGES = 0.5


@dataclass(frozen=True, eq=False)
class GuideAnchor:
    """Places (m,3) [m] on a guide: at vertices with these ids, or as ``beside`` has them."""

    guide: Body
    ids: Ints
    beside: BodyAnchor | None = None
    follows_bodies = False

    @property
    def start(self) -> Positions:
        """Places at t = 0, (m,3) [m]."""
        return self.at(np.zeros((0, 3)), 0.0)

    def at(self, bodies: Positions, t: float) -> Positions:
        """Return the places (m,3) [m] at time t [s]; bodies of the scene do not matter."""
        x = self.guide.at(t)
        return x[self.ids] if self.beside is None else self.beside.at(x, t)

    def pull_back(self, bodies: Positions, t: float, by: Floats, to: Floats) -> None:
        """Add nothing: the places do not depend on bodies of the scene."""


@checked(SceneError, "goal", named=True, unchecked=UNCHECKED)
@documented
@dataclass(frozen=True, eq=False)
class Goal(Attachment):
    """Points of the cloth that are drawn to a guide, each with a weight.

    The guide is a ``Body`` of the same topology, whose vertices the cloth follows one by one; or,
    with ``nearest``, any mesh: each point then keeps its position relative to the nearest face at
    the start. ``body`` is the name of a body of the scene, in place of a guide. ``weight`` is one
    number, or one for each of ``vertices``.

    Raises:
        SceneError: neither a guide nor a body, or both, or weights that are negative or of another
            number.
    """

    kind = "goal"

    vertices: VertexSelection
    _: KW_ONLY
    guide: Body | None = None
    body: str | None = None
    stiffness_per_area: float = setting(
        REQUIRED,
        "force per distance and area of cloth, where the weight is 1; 0: free",
        "N/m^3",
        least=0,
        keyframes=True,
    )
    damping: float = setting(
        0.0, "of motion relative to the guide, over the stiffness", "s", least=0, keyframes=True
    )
    nearest: bool = setting(
        False,
        "follow the nearest faces of the guide at the start, not the vertices of the same numbers; "
        "for guides of another mesh",
        constant=CHOSEN,
    )
    weight: Annotated[ArrayArgument, ArrayOf("numbers", ((), (None,)))] = 1.0
    release: Release = NEVER
    name: str = ""
    stiffness = None

    def __post_init__(self) -> None:
        super().__post_init__()
        name, w = self.name or self.kind, np.asarray(self.weight)
        if (self.guide is None) == (self.body is None):
            got = "nothing" if self.guide is None else "a guide and a body"
            raise SceneError(f"{name}.guide", got=got, expected="a guide, or the name of a body")
        if w.ndim and len(w) != len(np.atleast_1d(self.vertices)):
            expected = f"one for all, or one for each of {len(self.vertices)} vertices"
            raise SceneError(f"{name}.weight", got=f"{len(w)} numbers", expected=expected)
        if not (w >= 0).all():
            raise SceneError(f"{name}.weight", got=float(w.min()), expected="at least 0")
        if self.release.depends:
            raise SceneError(
                f"{name}.release",
                got="a force or a function",
                expected="a time: `at`",
                hint="or keyframes of stiffness_per_area, from large to 0",
            )

    def build(self, site: Site) -> Attached:
        """Build the goals of all points whose weight is not zero."""
        weight = np.broadcast_to(np.asarray(self.weight, np.float64), self.vertices.shape)
        ids, area = self.vertices[weight > 0], site.cloth.mesh.vertex_area
        if len(ids) == 0:
            return Attached()
        until = np.inf if self.release.at is None else self.release.at
        made = Goals(
            *site.single(ids),
            self.stiffness_per_area,
            weight[weight > 0] * area[ids],
            self._places(site, ids),
            self.damping,
            until,
            site.name,
        )
        return Attached((made,))

    def _places(self, site: Site, ids: Ints) -> GuideAnchor | BodyAnchor:
        """Return the places of vertices on the guide."""
        x, guide = site.cloth.vertices[ids], self.guide
        if guide is None:
            assert self.body is not None
            if site.rigid(self.body) is not None:
                expected = "a body that forces do not move"
                raise SceneError(f"{site.name}.body", got=f"{self.body}, rigid", expected=expected)
            return BodyAnchor.of(x, site.bodies, self.body, site.name)
        if self.nearest:
            return GuideAnchor(guide, ids, BodyAnchor.of(x, [guide], guide.name, site.name))
        cloth = site.cloth
        pieces = [(p.name, p.vertices, cloth.faces[p.faces]) for p in cloth.parts]
        pieces.append(("the cloth", np.arange(cloth.n_vertices, dtype=np.int32), cloth.faces))
        found = [piece for piece in pieces if np.isin(ids, piece[1]).all()]
        for _, vertices, faces in found:
            first = int(vertices[0])
            if len(vertices) == len(guide.vertices) and _same_edges(faces - first, guide.faces):
                return GuideAnchor(guide, ids - np.int32(first))
        name, vertices, faces = found[0]
        raise SceneError(
            f"{site.name}.guide: {guide.name}",
            got=f"{len(guide.vertices)} vertices and {len(guide.faces)} triangles"
            + (", between other vertices" if len(guide.vertices) == len(vertices) else ""),
            expected=f"those of {name}: {len(vertices)} vertices and {len(faces)} triangles",
            where=cloth.mesh.source,
            hint="say `nearest: true` for a guide of another mesh",
        )

    def updated(self, energies: Sequence[Energy]) -> Sequence[Energy]:
        """Return the energies that a goal of the same points built, with its numbers."""
        return [
            replace(e, stiffness=self.stiffness_per_area, damping=self.damping)
            for e in energies
            if isinstance(e, Goals)
        ]


def _same_edges(one: Ints, other: Ints) -> bool:
    """Return whether two meshes have the same edges, but for the diagonals of quads."""
    n = int(max(one.max(), other.max())) + 1
    a, b = (np.dot(unique_edges(f)[0], (n, 1)) for f in (one, other))
    return len(one) == len(other) and float(np.isin(a, b).mean()) > SAME_EDGES
