"""The meshes of a USD stage that are drawn, and their places: purpose, visibility, point instances.

A renderer draws visible meshes of the purposes ``default`` and ``render``; meshes of ``guide`` and
``proxy`` stand for something else. Meshes below a point instancer are prototypes: they are drawn
once for every instance, and not by themselves (OpenUSD, UsdGeomPointInstancer).
"""

import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from weft.base.arrays import Floats
from weft.base.errors import MeshError
from weft.base.machine import gib, memory

if TYPE_CHECKING:
    from pxr import Usd, UsdGeom

Matrix: TypeAlias = Floats  # (4,4) of row vectors, as USD has them
PER_POINT = 400  # [bytes] of memory per point while meshes are read
MOST = 100_000  # largest number of meshes of a file, with each instance counted


class Instancer:
    """A point instancer, with the transforms of its instances at one time.

    Attributes:
        points: the instancer.
        roots: the prims of its prototypes.
        which: (k,) number of the prototype of each instance.
        visible: numbers of the instances that are drawn.

    Raises:
        MeshError: an instance without a prototype, or instances that change in time.
    """

    def __init__(self, prim: "Usd.Prim", where: str) -> None:
        from pxr import Usd, UsdGeom

        self.points = UsdGeom.PointInstancer(prim)
        said = self.points.GetProtoIndicesAttr()
        codes = said.GetTimeSamples() or [Usd.TimeCode.Default()]
        each = [list(said.Get(c) or []) for c in codes]
        if any(other != each[0] for other in each[1:]):
            raise MeshError(
                "protoIndices",
                got="instances that change in time",
                where=where,
                expected="the same instances at all times",
            )
        targets = self.points.GetPrototypesRel().GetForwardedTargets()
        self.roots = [prim.GetStage().GetPrimAtPath(p) for p in targets]
        self.which: Sequence[int] = each[0]
        bad = [k for k in self.which if not (0 <= k < len(self.roots) and self.roots[k])]
        if bad:
            raise MeshError(
                "protoIndices",
                got=bad[0],
                where=where,
                expected=f"a prim of the {len(self.roots)} prototypes",
            )
        self.visible = _visible(self.points, len(self.which))
        self._at: tuple[float, Floats] | None = None

    def transforms(self, code: float) -> Floats:
        """Return the transforms (k,4,4) from the prototypes to the instancer, at a time code."""
        if self._at is None or self._at[0] != code:
            found = self.points.ComputeInstanceTransformsAtTime(
                code, code, self.points.IncludeProtoXform, self.points.IgnoreMask
            )
            if len(found) != len(self.which):
                raise MeshError(
                    "instances",
                    got=f"{len(found)} with places at time code {code:g}",
                    expected=f"{len(self.which)}, one for each of protoIndices",
                    where=self.points.GetPath(),
                )
            self._at = code, np.array(found, dtype=np.float64).reshape(-1, 4, 4)
        return self._at[1]


@dataclass(frozen=True, eq=False)
class Placed:
    """A mesh that is drawn.

    Args:
        prim: the mesh.
        name: its path; that of an instance is ``/instancer/3/mesh``.
        within: instancers, outermost first, each with the number of the instance.
    """

    prim: "Usd.Prim"
    name: str
    within: Sequence[tuple[Instancer, int]] = ()

    def to_world(self, code: float) -> Matrix:
        """Return its transform to the world at a time code."""
        from pxr import UsdGeom

        cache = UsdGeom.XformCache(code)
        result, prim = np.eye(4), self.prim
        for instancer, k in reversed(self.within):
            root = instancer.roots[instancer.which[k]]
            result = result @ _relative(cache, prim, root) @ instancer.transforms(code)[k]
            prim = instancer.points.GetPrim()
        return np.asarray(result @ np.array(cache.GetLocalToWorldTransform(prim)))

    def times(self) -> set[float]:
        """Return the time codes at which its points or its transform have samples."""
        from pxr import UsdGeom

        codes = set(UsdGeom.Mesh(self.prim).GetPointsAttr().GetTimeSamples())
        for prim in (self.prim, *(i.points.GetPrim() for i, _ in self.within)):
            for above in _upwards(prim):
                if above.IsA(UsdGeom.Xformable):
                    codes |= set(UsdGeom.Xformable(above).GetTimeSamples())
        for instancer, _ in self.within:
            p = instancer.points
            for attribute in (p.GetPositionsAttr(), p.GetOrientationsAttr(), p.GetScalesAttr()):
                codes |= set(attribute.GetTimeSamples())
        return codes


def list_drawn_meshes(stage: "Usd.Stage", path: Path, finer: int = 1) -> list[Placed]:
    """Return every mesh of a stage that is drawn, once for each instance; their points become
    ``finer`` times as many.

    Raises:
        MeshError: instances without prototypes, that change in time or are among their own
            prototypes; more of them than memory holds.
    """
    walk = _Walk(path)
    count, points = walk.size(stage.GetPseudoRoot(), None)
    need = PER_POINT * points * finer
    if count > MOST or need > memory():
        raise MeshError(
            "meshes of a USD file",
            got=f"{count:.6g}, {gib(need)} while they are read",
            expected=f"at most {MOST:,}, and the {gib(memory())} of this machine",
            where=path,
            hint="every point instance counts; read a part of the file: prim",
        )
    return list(walk.meshes(stage.GetPseudoRoot(), None))


def everything(stage: "Usd.Stage") -> "Iterator[Usd.Prim]":
    """Return every prim of a stage, drawn or not; instances too, prototypes as in the file."""
    from pxr import Usd

    return iter(Usd.PrimRange.Stage(stage, Usd.TraverseInstanceProxies()))


def count_left_out(stage: "Usd.Stage", drawn: Sequence[Placed], within: str) -> Counter[str]:
    """Return the number of things that are not read at and below a path of a stage, by their kind.

    These are drawn prims that are no meshes, and values at the meshes outside of USD's mesh schema,
    such as rest shapes for other simulators.

    Args:
        stage: the stage.
        drawn: the meshes that are read.
        within: the path.
    """
    from pxr import Usd, UsdGeom

    found: Counter[str] = Counter()
    for prim in everything(stage):
        below = f"{prim.GetPath()}/".startswith(within.rstrip("/") + "/")
        if below and prim.IsA(UsdGeom.Gprim) and not prim.IsA(UsdGeom.Mesh):
            found[f"prims of type {prim.GetTypeName()}"] += _is_drawn(prim, None)
    known = {*UsdGeom.Mesh.GetSchemaAttributeNames(True)} - {"holeIndices"}
    elsewhere = ("primvars:", "skel:", "xformOp", "userProperties")
    for prim in {str(p.prim.GetPath()): p.prim for p in drawn}.values():
        for attribute in prim.GetAuthoredAttributes():
            name, array = attribute.GetName(), attribute.GetTypeName().isArray
            if name in known or name.startswith(elsewhere):
                continue
            if array:
                values = attribute.Get(Usd.TimeCode.EarliestTime())
                found[f"values of `{name}`"] += len(values or [])
            elif "phys" in name.lower():
                found["numbers of physics"] += 1
    return +found  # without those of no value


class _Walk:
    """A traversal of the prims that are drawn; each instancer is read once.

    Methods take a prim and the prim above it, ``top``, up to which purpose and visibility are
    inherited: the root of its prototype; None: the stage's root.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._instancers: dict[str, Instancer] = {}
        # Sizes of prototypes; None: being computed, which detects prototypes of themselves.
        self._sizes: dict[str, tuple[int, int] | None] = {}

    def size(self, root: "Usd.Prim", top: "Usd.Prim") -> tuple[int, int]:
        """Return the numbers of meshes and points, without making a list of them."""
        count, points = 0, 0
        for prim, instancer in self._walk_drawn(root, top):
            if instancer is None:
                count, points = count + 1, points + n_points(prim)
                continue
            each = [self._size_of_prototype(r) if r else (0, 0) for r in instancer.roots]
            for k in instancer.visible:
                own = each[instancer.which[k]]
                count, points = count + own[0], points + own[1]
        return count, points

    def _size_of_prototype(self, root: "Usd.Prim") -> tuple[int, int]:
        name = str(root.GetPath())
        if name not in self._sizes:
            self._sizes[name] = None
            self._sizes[name] = self.size(root, root)
        found = self._sizes[name]
        if found is None:
            raise MeshError(
                "point instances",
                got="an instancer among its own prototypes",
                where=f"{self.path}{name}",
                expected="instancers that end",
            )
        return found

    def meshes(self, root: "Usd.Prim", top: "Usd.Prim") -> Iterator[Placed]:
        """Yield the drawn meshes at and below a prim, once for each instance."""
        for prim, instancer in self._walk_drawn(root, top):
            if instancer is None:
                yield Placed(prim, str(prim.GetPath()))
                continue
            shapes = [list(self.meshes(r, r)) if r else [] for r in instancer.roots]
            for i in instancer.visible:
                k = instancer.which[i]
                above = len(str(instancer.roots[k].GetPath().GetParentPath()).rstrip("/"))
                for p in shapes[k]:
                    name = f"{prim.GetPath()}/{i}{p.name[above:]}"
                    yield replace(p, name=name, within=((instancer, i), *p.within))

    def _walk_drawn(
        self, root: "Usd.Prim", top: "Usd.Prim"
    ) -> "Iterator[tuple[Usd.Prim, Instancer | None]]":
        """Yield the drawn meshes and instancers at and below a prim, without what is below
        instancers.
        """
        from pxr import Usd, UsdGeom

        flags = Usd.PrimIsActive & Usd.PrimIsLoaded & Usd.PrimIsDefined
        if top is None:
            flags &= ~Usd.PrimIsAbstract
        prims = iter(Usd.PrimRange(root, Usd.TraverseInstanceProxies(flags)))
        for prim in prims:
            instances = prim.IsA(UsdGeom.PointInstancer)
            if instances:
                prims.PruneChildren()
            if (instances or prim.IsA(UsdGeom.Mesh)) and _is_drawn(prim, top):
                yield prim, self._instancer(prim) if instances else None

    def _instancer(self, prim: "Usd.Prim") -> Instancer:
        name = str(prim.GetPath())
        if name not in self._instancers:
            self._instancers[name] = Instancer(prim, f"{self.path}{name}")
        return self._instancers[name]


def _visible(points: "UsdGeom.PointInstancer", n: int) -> Sequence[int]:
    """Return the numbers of instances that are active and visible at any time."""
    from pxr import Usd

    codes = points.GetInvisibleIdsAttr().GetTimeSamples() or [Usd.TimeCode.Default()]
    masks = [list(points.ComputeMaskAtTime(c)) or [True] * n for c in codes]
    shown = np.array(masks, dtype=bool)
    _warn_of_changes(points.GetPrim(), bool((shown.any(0) != shown.all(0)).any()))
    return [int(k) for k in np.flatnonzero(shown.any(0))]


def _is_drawn(prim: "Usd.Prim", top: "Usd.Prim") -> bool:
    """Return whether a prim has a purpose that is rendered, and is visible at any time."""
    from pxr import UsdGeom

    purpose = None
    for above in _upwards(prim, top):
        if not above.IsA(UsdGeom.Imageable):
            continue
        about = UsdGeom.Imageable(above)
        if purpose is None and about.GetPurposeAttr().HasAuthoredValue():
            purpose = about.GetPurposeAttr().Get()
        said = about.GetVisibilityAttr()
        values = {said.Get(c) for c in said.GetTimeSamples()} or {said.Get()}
        if values == {UsdGeom.Tokens.invisible}:
            return False
        _warn_of_changes(above, UsdGeom.Tokens.invisible in values)
    return purpose in (None, UsdGeom.Tokens.default_, UsdGeom.Tokens.render)


def _warn_of_changes(prim: "Usd.Prim", changes: bool) -> None:
    if changes:
        warnings.warn(
            f"{prim.GetPath()}: its visibility changes in time; weft takes the prim as always "
            "visible",
            stacklevel=2,
        )


def _upwards(prim: "Usd.Prim", top: "Usd.Prim | None" = None) -> "Iterator[Usd.Prim]":
    """Yield a prim and those above it, up to ``top`` or the stage's root."""
    while prim and not prim.IsPseudoRoot():
        yield prim
        if prim == top:
            return
        prim = prim.GetParent()


def _relative(cache: "UsdGeom.XformCache", prim: "Usd.Prim", root: "Usd.Prim") -> Matrix:
    """Return the transform of a prim relative to a prim at or above it."""
    return np.eye(4) if prim == root else np.array(cache.ComputeRelativeTransform(prim, root)[0])


def n_points(prim: "Usd.Prim") -> int:
    """Return the number of its points at the first time at which they are given."""
    from pxr import Usd, UsdGeom

    return len(UsdGeom.Mesh(prim).GetPointsAttr().Get(Usd.TimeCode.EarliestTime()) or [])
