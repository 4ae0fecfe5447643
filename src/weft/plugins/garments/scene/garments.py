"""Garments of a scene file: cut from their patterns, with the energies that sew them."""

import dataclasses
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from weft.base.arrays import Floats
from weft.base.errors import MeshError
from weft.bodies.body import Body
from weft.cloth.cloth import Cloth
from weft.contact.contact import SelfContact
from weft.discretization.quadrature import Rule
from weft.discretization.spline_surface import Bending
from weft.energies.base import Energy
from weft.energies.seams.sewing import Sewing
from weft.fabric.fabric import Fabric, fabric
from weft.io.painted_weights import paint_mesh
from weft.plugins.garments.patterns.body_depth import BodyDepth
from weft.plugins.garments.patterns.cutting import cut
from weft.plugins.garments.patterns.figure import Figure
from weft.plugins.garments.patterns.formats import read_pattern
from weft.plugins.garments.patterns.garment import Garment
from weft.plugins.garments.patterns.missing_seams import find_missing_seams
from weft.plugins.garments.patterns.pattern import Pattern
from weft.plugins.garments.patterns.sewing_order import order_seams
from weft.plugins.garments.patterns.spline_panels import FEWEST, SplineGarment, fit_patches
from weft.plugins.garments.patterns.start_positions import caught_seams, crosses_body, fit_start
from weft.plugins.garments.scene.outfit import Outfit
from weft.scene.schema import ClothBlock, SceneFile


@dataclass(frozen=True)
class Worn:
    """Parts of a scene that its garments decide, besides the cloth.

    Args:
        energies: sewing, folds, elastics and drag.
        contact: contact settings, with the time at which friction begins; None: none.
        gravity_from: [s] two times between which gravity grows, or (n,2) of every vertex.
    """

    energies: Sequence[Energy] = ()
    contact: SelfContact | None = None
    gravity_from: tuple[float, float] | Floats = (0.0, 0.0)


class Wearer:
    """The standing body for which garments are placed; it is measured when it is first needed.

    Args:
        bodies: of the scene.
    """

    def __init__(self, bodies: Sequence[Body] = ()) -> None:
        self.bodies = bodies
        self.reasons: list[str] = []  # why bodies are no standing people

    @cached_property
    def figure(self) -> Figure | None:
        """The first body that stands as people do; None if there is none."""
        for body in self.bodies:
            try:
                return Figure.of(body)
            except MeshError as error:
                self.reasons.append(f"{body.name}: {error}")
        return None

    @cached_property
    def depths(self) -> list[BodyDepth]:
        """The extents of all bodies along z, in cells of one size, because floors are flat."""
        places = [body.at(0.0) for body in self.bodies]
        height = max((float(np.ptp(x[:, 1])) for x in places), default=0.0)
        if height == 0.0:
            return []
        return [BodyDepth.of(x, body.faces, height) for x, body in zip(places, self.bodies)]

    def fits(self, block: ClothBlock, pattern: Pattern) -> bool:
        """Return whether panels start where the body, and not where the pattern, says."""
        assert block.garment is not None
        if block.garment.start != "auto":
            return block.garment.start == "body"
        if any(block.translation) or any(block.rotation):
            return False  # the scene says where the garment starts
        return pattern.flat_start or any(crosses_body(pattern, body) for body in self.depths)


def garment_of(
    folder: Path, block: ClothBlock, worn: Fabric | None, wearer: Wearer
) -> Garment | SplineGarment:
    """Cut the garment of a block and place it where it starts, as triangles or as splines.

    Args:
        folder: of the scene file, which the pattern's path is relative to.
        block: a cloth block with ``garment``.
        worn: fabric of all panels; None: as the pattern says.
        wearer: the body that wears it.

    Raises:
        PatternError: a pattern that cannot be read or cut, or has not the four corners of patches.
        PatchError: a panel that no patch fits.
    """
    g = block.garment
    assert g is not None
    measures = dict(g.measures) or None
    fewest = 1 if block.discretization == "triangles" else FEWEST
    pattern = read_pattern(folder / g.pattern, measures)
    if block.surface is not None:
        over = block.surface.beside(folder)
        surface = over if pattern.surface is None else pattern.surface.merge(over)
        pattern = dataclasses.replace(pattern, surface=surface)
    fits = wearer.fits(block, pattern)
    figure = wearer.figure if fits else None
    doubts: list[object] = []
    if fits:
        where = "panels start where the file says, as no body stands"
        doubts = [f"{where}: {reason}" for reason in wearer.reasons]
    if figure is not None:
        pattern, ways = fit_start(pattern, figure)
        doubts += [*caught_seams(ways, figure), *find_missing_seams(pattern, ways, figure)]
        pattern = order_seams(pattern, ways, figure.crotch, figure.armpit)
    made = cut(pattern, g.size, seed=g.seed, fewest=fewest, fabric=worn)
    for warning in (*made.warnings, *doubts):
        warnings.warn(f"{g.pattern}: {warning}", stacklevel=2)
    paint = {name: folder / file for name, file in block.paint.items()}
    mesh = paint_mesh(made.mesh, paint, panels=made.faces)
    if figure is not None:
        mesh = dataclasses.replace(mesh, vertices=mesh.vertices @ figure.turn.T + figure.origin)
    placed = Cloth(mesh, fabric("cotton")).move(block.translation, block.rotation)
    garment = dataclasses.replace(made, mesh=placed.mesh, fitted=figure is not None)
    if block.discretization == "triangles":
        return garment
    size, kinds = block.spline.span_size, (Rule(block.spline.rule), Bending(block.spline.bending))
    assert size is not None
    return fit_patches(garment, size, *kinds)


def build_worn(outfit: Outfit, file: SceneFile) -> Worn:
    """Return sewing energies, contact and onset of gravity of a scene with these garments."""
    if not outfit.worn:
        return Worn(contact=file.contact)
    sewing, contact = file.sewing or Sewing(), file.contact or SelfContact()
    if contact.friction_from == 0:
        contact = dataclasses.replace(contact, friction_from=outfit.rubs_from(sewing))
    own = max(fabric.damping for fabric in outfit.cloth.fabrics)
    damping = own if file.damping is None else file.damping
    apart = contact.gap + contact.thickness
    energies = outfit.energies(sewing, apart=apart, damping=damping)
    weighs = outfit.weighs_from(sewing)
    alike = len(weighs) == 0 or bool((weighs == weighs[0]).all())
    return Worn(energies, contact, (weighs[0, 0], weighs[0, 1]) if alike else weighs)
