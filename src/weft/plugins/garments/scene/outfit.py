"""Outfits: garments and other cloths joined into one cloth, and the energies that sew them.

Every panel is a part of the cloth, with its own fabric and layer. Seams that are sewn for good are
stiff bonds between vertices that do not meet in contact (``Cloth.sewn``), and fold as hinges do.
Zips and buttons hold their two sides at the distance that contact keeps, so that they can open at
any time.
"""

import dataclasses
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from weft.base.arrays import Floats, Ints
from weft.base.errors import PatternError, WeftError
from weft.base.keyframes import Keys, as_keys, first_of
from weft.cloth.cloth import Cloth
from weft.cloth.create import join
from weft.cloth.regions import ContactThickness
from weft.contact.settings import SelfContact
from weft.discretization.compound_surface import Surfaces
from weft.discretization.spline_surface import SplineSurface
from weft.energies.element_energy import ElementEnergy
from weft.energies.embedded import EmbeddedEnergy
from weft.energies.energy import Energy
from weft.energies.loads.settling_drag import Drag
from weft.energies.seams.elastic_bands import ElasticBand
from weft.energies.seams.patch_seams import PatchedPart, hinges_of_patches
from weft.energies.seams.sewing import SeamPanels, SeamRows, Sewing
from weft.energies.springs.bonds import Bonds
from weft.fabric.fabric import Fabric, FabricLike
from weft.fabric.fabric import fabric as as_fabric
from weft.io.part_appearance import PartAppearance
from weft.plugins.garments.patterns.garment import Garment, SeamLine, representatives
from weft.plugins.garments.patterns.panel_appearance import panel_appearances
from weft.plugins.garments.patterns.pattern import Closing, Pattern, PatternFold
from weft.plugins.garments.patterns.spline_panels import SplineGarment
from weft.scene.cloth_source import JoinedCloths, SceneParts

PASSING = 1.0  # [s] time in which a zip opens or closes from end to end
PRESSED = 9.0  # stiffness of a pressed fold, over that with which the fabric stays flat


@dataclass(frozen=True, eq=False)
class Outfit(JoinedCloths):
    """Garments among the cloths of a scene.

    Args:
        cloth: all of them, joined; every panel is a part.
        worn: each garment with the number of its first vertex.
    """

    worn: Sequence[tuple[int, Garment]]

    @staticmethod
    def of(
        named: Sequence[tuple[str, Cloth | Garment | SplineGarment, ContactThickness]],
        fabrics: Sequence[Fabric | None] = (),
    ) -> "Outfit":
        """Join garments and cloths into one cloth.

        Args:
            named: name, cloth or garment (of triangles, or of splines), and thickness [m] kept in
                contact (None: the scene's, or the panel's).
            fabrics: of garments, in place of their patterns'; None: as the pattern says.
        """
        cloths, names, thickness, worn, first = [], [], [], [], 0
        own = [*fabrics, *([None] * (len(named) - len(fabrics)))]
        known: dict[str, Fabric] = {}
        seen: dict[str, PartAppearance] = {}
        called: list[str] = []  # prefix of the names of each garment's seams
        folds: list[Ints] = []  # faces between the folds of pleats
        alone = sum(not isinstance(thing, Cloth) for _, thing, _ in named) == 1
        for (name, thing, thick), made_of in zip(named, own):
            if isinstance(thing, Cloth):
                cloths.append(thing)
                names.append(name)
                thickness.append(thick)
                seen.update(zip([name], thing.appearances.values()))
            else:
                garment = thing.garment if isinstance(thing, SplineGarment) else thing
                worn.append((first, garment))
                if len(garment.folded) and not isinstance(thing, SplineGarment):
                    folds.append(garment.folded + sum(len(c.faces) for c in cloths))
                called.append("" if alone else f"{name} ")
                looks = panel_appearances(garment)
                seen |= {called[-1] + panel: look for panel, look in looks.items()}
                for panel in garment.pattern.panels:
                    kind = made_of or as_fabric(garment.pattern.fabric_of(panel))
                    kind = known.setdefault(repr(dataclasses.asdict(kind)), kind)
                    cloths.append(panel_cloth(thing, panel.name, kind))
                    names.append(panel.name if alone else f"{name} {panel.name}")
                    thickness.append(panel.thickness if thick is None else thick)
            first = sum(c.n_vertices for c in cloths)
        cloth = join(cloths, names, thickness)
        seams = [
            (own_name + line.seam.name, line, line.pairs + start)
            for own_name, (start, garment) in zip(called, worn)
            for line in garment.seams
        ]
        held = [pairs for _, line, pairs in seams if line.seam.closing is Closing.SEWN]
        named_seams = tuple((seam_name, pairs) for seam_name, _, pairs in seams)
        sewn = representatives(cloth.n_vertices, held) if held else None
        folded = np.concatenate(folds).astype(np.int32) if folds else None
        lines = [line.vertices + start for start, garment in worn for line in garment.folds]
        edges = [np.stack([ids[:-1], ids[1:]], axis=1) for ids in lines]
        cloth = dataclasses.replace(
            cloth,
            sewn=sewn,
            seams=named_seams,
            folded=folded,
            fold_edges=np.concatenate(edges).astype(np.int32) if edges else None,
            appearances=seen,
        )
        return Outfit(cloth, tuple(worn))

    def parts(self, file: Any) -> SceneParts:
        """Return the energies of sewing, contact and the onset of gravity of a scene.

        Args:
            file: the contents of the scene file.
        """
        if not self.worn:
            return SceneParts(contact=file.contact)
        sewing, contact = file.sewing or Sewing(), file.contact or SelfContact()
        if contact.friction_from == 0:
            contact = dataclasses.replace(contact, friction_from=self.rubs_from(sewing))
        own = max(fabric.damping for fabric in self.cloth.fabrics)
        damping = own if file.damping is None else file.damping
        energies = self.energies(sewing, apart=contact.gap + contact.thickness, damping=damping)
        weighs = self.weighs_from(sewing)
        alike = len(weighs) == 0 or bool((weighs == weighs[0]).all())
        return SceneParts(energies, contact, (weighs[0, 0], weighs[0, 1]) if alike else weighs)

    @cached_property
    def turns(self) -> Sequence[int]:
        """The number of the turn in which each garment is sewn, 0 first.

        Garments of outer layers are sewn once those of inner layers have settled.
        """
        lowest = [min(panel.layer for panel in g.pattern.panels) for _, g in self.worn]
        return [sorted(set(lowest)).index(layer) for layer in lowest]

    def until(self, sewing: Sewing) -> float:
        """Return the time [s] when all garments are sewn and settled, and the animation begins."""
        return sewing.begin(max(self.turns, default=-1) + 1)

    def rubs_from(self, sewing: Sewing) -> float:
        """Return the time [s] at which friction begins.

        Garments that start where the body says are in their place once the last seams are closed,
        and friction holds them there; others slide into it while they settle.
        """
        fitted = bool(self.worn) and all(garment.fitted for _, garment in self.worn)
        return self.until(sewing) - (sewing.settle if fitted else 0.0)

    def weighs_from(self, sewing: Sewing) -> Floats:
        """Return (N,2) [s] times between which gravity grows at each point: once its seams are
        closed.
        """
        times = np.zeros((len(self.cloth.points), 2))
        for turn in self.turns:
            closed = sewing.begin(turn) + sewing.closing
            times[self._turn_of_points == turn] = closed, closed + sewing.onset
        return times

    @cached_property
    def sides(self) -> SeamPanels:
        """The panels as seams need them: mesh, stretch stiffness and bending rigidity."""
        bending = np.zeros((len(self.cloth.faces), 2))
        stretch = self.cloth.vertex_maximum(lambda f: max(f.stretch_warp, f.stretch_weft))
        for region in self.cloth.regions:
            weights = partial(self.cloth.face_weights, faces=region.faces)
            for k, name in enumerate(("bending_warp", "bending_weft")):
                bending[region.faces, k] = region.fabric.number(name, weights)
        return SeamPanels(self.cloth.mesh, stretch, bending)

    def energies(
        self, sewing: Sewing, *, apart: float = 0.0, damping: float = 0.0
    ) -> Sequence[Energy]:
        """Build the energies that sew the garments and let them come to rest.

        Args:
            sewing: times and stiffness of the sewing.
            apart: [m] distance at which contact begins to push; zips and buttons keep it between
                their sides.
            damping: [s] of hinges across seams.
        """
        if not self.worn:
            return ()
        until = self.until(sewing)
        joints: list[list[SeamRows]] = [[] for _ in range(max(self.turns) + 1)]
        bonds: list[Bonds] = []
        bands: list[Bonds] = []
        x = np.asarray(self.cloth.vertices)
        for turn, (start, garment) in zip(self.turns, self.worn):
            begin = sewing.begin(turn)
            for line in garment.seams:
                with add_line_of(garment.pattern, f"seam {line.seam.name}"):
                    if line.seam.closing is Closing.SEWN:
                        own = [joint_of(line, start, begin)]
                        # A pocket's edge on the middle of a panel is no fold between two faces:
                        # the panel bends across the line as if nothing were sewn to it.
                        joints[turn] += [] if line.match.on_line else own
                    else:
                        own = openings(line, start, (begin, until), apart)
                    bonds += [self.sides.bonds(j, x, sewing) for j in own]
            bands += self._bands(start, garment, (begin, begin + sewing.closing), until)
        made: list[Energy] = []
        if bonds:
            made.append(self._of_points(Bonds.concatenate(bonds, "sewing")))
        for turn, held in enumerate(joints):
            number = f" {turn + 1}" if turn else ""
            made += self._hinges(held, sewing.begin(turn) + sewing.closing, damping, number)
        if bands:
            made.append(self._of_points(Bonds.concatenate(bands, "elastics")))
        pressed = self._folds(sewing, damping)
        made += [self._of_points(pressed)] if pressed is not None else []
        begins = [sewing.begin(turn) for turn in range(max(self.turns) + 1)]
        closing = np.array([[begin, begin + sewing.closing] for begin in begins])
        drag = Drag(self.cloth.mass, sewing.drag, until, closing, self._turn_of_points)
        return (*made, drag)

    def _of_points(self, energy: ElementEnergy) -> Energy:
        """Return an energy of vertices as an energy of the points that move them."""
        embedding = self.cloth.embedding
        return energy if embedding is None else EmbeddedEnergy(energy, embedding)

    @cached_property
    def _patches(self) -> Sequence[PatchedPart]:
        """The panels that consist of spline patches."""
        return [
            PatchedPart(s, int(p.vertices[0]), (p.fabric.bending_warp, p.fabric.bending_weft))
            for p, s in self.cloth.pieces
            if isinstance(s, SplineSurface) and s.touched is not None
        ]

    def _hinges(
        self, joints: Sequence[SeamRows], begin: float, damping: float, number: str
    ) -> list[Energy]:
        """Build the bending across seams: hinges between triangles, and between tangents of
        patches.
        """
        patched = np.zeros(self.cloth.n_vertices, dtype=bool)
        for part in self._patches:
            patched[part.first : part.last] = True
        kinds = [bool(patched[j.pairs].all()) for j in joints]
        made: list[Energy] = []
        flat = self.sides.hinges([j for j, k in zip(joints, kinds) if not k], begin, damping)
        if len(flat.stencil):
            made.append(self._of_points(dataclasses.replace(flat, name="seams" + number)))
        smooth = [j for j, k in zip(joints, kinds) if k]
        if smooth:
            embedding = self.cloth.embedding
            assert embedding is not None
            found = hinges_of_patches(self.sides, self._patches, embedding, smooth, begin, damping)
            name = ("seams of splines" if made else "seams") + number
            made.append(EmbeddedEnergy(dataclasses.replace(found[0], name=name), found[1]))
        return made

    def _bands(
        self, start: int, garment: Garment, closing: tuple[float, float], until: float
    ) -> list[Bonds]:
        found = []
        for line in garment.elastics:
            every = self.sides.lengths(np.asarray(line.edges + start, dtype=np.int32))
            runs = line.stitches(every)
            ends = [(line.edges[run.start, 0], line.edges[run.stop - 1, 1]) for run in runs]
            edges = np.array(ends, dtype=np.int32) + np.int32(start)
            length = self.sides.lengths(edges)
            ratio, pull = line.elastic.ratio, line.elastic.stiffness
            rest, what = first_of(ratio) * length, f"elastic {line.elastic.name}"
            changing = []
            if isinstance(ratio, Keys) or isinstance(pull, Keys):
                rows = np.arange(len(edges), dtype=np.int32)
                changing = [ElasticBand(rows, length, as_keys(ratio), as_keys(pull), until)]
            with add_line_of(garment.pattern, what):
                found.append(
                    Bonds(
                        edges,
                        first_of(pull) / rest,
                        self.cloth.n_vertices,
                        first=length,
                        last=rest,
                        closing=closing,
                        name=what,
                        bands=changing,
                        along=length,
                    )
                )
        return found

    @cached_property
    def _turn_of_points(self) -> Ints:
        """(N,) the turn in which the garment of each point is sewn, 0 first; -1: no garment."""
        out = np.full(len(self.cloth.points), -1)
        for part, surface in self.cloth.pieces:
            for turn, (start, garment) in zip(self.turns, self.worn):
                if start <= part.vertices[0] < start + garment.mesh.n_vertices:
                    out[surface.area > 0] = turn
        return out

    def _folds(self, sewing: Sewing, damping: float) -> ElementEnergy | None:
        """Build the hinges of pressed lines inside panels, which act in addition to the flat
        hinges.
        """
        joints = []
        for start, garment in self.worn:
            for line in garment.folds:
                ids = np.asarray(line.vertices + start, dtype=np.int32)
                joints.append(SeamRows(np.stack([ids, ids], axis=1)))
        if not joints:
            return None
        folds: list[PatternFold] = [line.fold for _, g in self.worn for line in g.folds]
        made = [self.sides.hinges([j], 0.0, damping) for j in joints]
        out = []
        for fold, h in zip(folds, made):
            if fold.stiffness is None:
                weight = PRESSED * h.weight
            else:
                length = self.sides.lengths(h.hinges[:, :2])
                weight = np.maximum(fold.stiffness * length - h.weight, 0.1 * h.weight)
            # The flat hinge is there too. The weighted mean of both rest angles is the angle of
            # the fold, and the sum of both weights is the stiffness that the pattern gives.
            angle = -fold.angle * (weight + h.weight) / weight  # hinges count valleys as positive
            rest = np.clip(angle, -np.pi, np.pi)
            out.append(dataclasses.replace(h, weight=weight, rest_angle=rest))
        return dataclasses.replace(
            out[0],
            hinges=np.concatenate([h.hinges for h in out]),
            weight=np.concatenate([h.weight for h in out]),
            rest_angle=np.concatenate([h.rest_angle for h in out]),
            name="folds",
            across=None,
        )


def panel_cloth(thing: Garment | SplineGarment, name: str, fabric: FabricLike) -> Cloth:
    """Return one panel as a cloth, where it starts, with its named edges as groups."""
    if isinstance(thing, Garment):
        return Cloth(thing.panel_mesh(name), as_fabric(fabric))
    points = thing.points[name]
    made_of = Surfaces(points, [thing.surfaces[name]])
    flat = thing.garment.panel_mesh(name)
    shown = made_of.shown.mesh(points, flat.source)
    mesh = dataclasses.replace(shown, groups=flat.groups, weights=flat.weights)
    return Cloth(mesh, as_fabric(fabric), (), made_of)


def joint_of(line: SeamLine, start: int, begin: float) -> SeamRows:
    """Return the rows of a seam that is sewn for good.

    Args:
        line: the seam, with its pairs of vertices.
        start: number of its garment's first vertex.
        begin: [s] when sewing starts.
    """
    seam = line.seam
    return SeamRows(
        line.pairs + start,
        line.segments,
        seam.name,
        angle=-seam.angle,  # valleys are positive
        fold_stiffness=seam.fold_stiffness,
        strength=np.inf if seam.strength is None else seam.strength,
        life=(begin, np.inf),
        window=seam.window,
        closes_from=seam.closes_from,
    )


@contextmanager
def add_line_of(pattern: Pattern, what: str) -> Iterator[None]:
    """Add the pattern's line of a seam or an elastic to the errors that are raised inside."""
    try:
        yield
    except WeftError as error:
        error.where = error.where or pattern.places.get(what) or pattern.source or None
        raise


def openings(
    line: SeamLine, start: int, times: tuple[float, float], apart: float
) -> list[SeamRows]:
    """Return the pairs of points of a zip or of buttons, with the times when each pair holds.

    Args:
        line: the seam.
        start: number of its garment's first vertex.
        times: [s] when the garment is sewn, and when the animation begins.
        apart: [m] that is left between the sides.

    Raises:
        PatternError: one that opens or closes before it is sewn.
    """
    seam, pairs = line.seam, line.pairs + start
    for name, value in (("open_at", seam.open_at), ("close_at", seam.close_at)):
        if value is not None and value < times[0] - times[1]:
            raise PatternError(
                f"seam {seam.name}: {name}",
                got=f"{value:g} s",
                expected=f"must be >= {times[0] - times[1]:g} s, when it is sewn",
            )
    at: Floats = np.asarray(line.fractions)
    if seam.closing.at_points:
        rows = np.unique([int(np.argmin(np.abs(at - w))) for w in seam.buttons_at])
    else:
        rows = np.arange(len(pairs))
    delay = PASSING * at if seam.closing is Closing.ZIP else np.zeros(len(at))
    made = []
    for row in rows.tolist():
        begin, end = times[0], np.inf
        if seam.close_at is not None:
            begin = times[1] + seam.close_at + float(delay[row])
        if seam.open_at is not None:
            end = times[1] + seam.open_at + float(delay[row])
        if begin < end:
            made.append((row, (begin, end)))
        else:  # it opens and closes again later, so that it holds in two intervals
            made += [(row, (times[0], end)), (row, (begin, np.inf))]
    strength = np.inf if seam.strength is None else seam.strength
    share = line.lengths[0] / max(len(rows), 1)
    return [
        SeamRows(
            pairs[[row]],
            name=seam.name,
            strength=strength,
            life=life,
            apart=apart,
            share=share,
        )
        for row, life in made
    ]
