"""Garments of a scene file: cut from their patterns, with the energies that sew them."""

import dataclasses
import warnings
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import Field

from weft.base.arrays import Floats
from weft.base.errors import MeshError
from weft.base.schema.block import Block
from weft.base.schema.quantities import Size
from weft.bodies.body import Body
from weft.cloth.cloth import Cloth
from weft.contact.settings import SelfContact
from weft.discretization.quadrature import Rule
from weft.discretization.spline_surface import Bending
from weft.fabric.fabric import Fabric, FabricLike, fabric
from weft.io.painted_weights import paint_mesh
from weft.plugins.garments.bodies.landmarks import STANCE
from weft.plugins.garments.patterns.body_depth import BodyDepth
from weft.plugins.garments.patterns.closures import separate_closures
from weft.plugins.garments.patterns.cutting import cut
from weft.plugins.garments.patterns.figure import Figure
from weft.plugins.garments.patterns.formats import read_pattern
from weft.plugins.garments.patterns.garment import Garment
from weft.plugins.garments.patterns.gathers import panel_fabrics
from weft.plugins.garments.patterns.missing_seams import find_missing_seams
from weft.plugins.garments.patterns.pattern import Pattern
from weft.plugins.garments.patterns.sewing_order import order_seams
from weft.plugins.garments.patterns.spline_panels import FEWEST, SplineGarment, fit_patches
from weft.plugins.garments.patterns.start_positions import caught_seams, crosses_body, fit_start
from weft.plugins.garments.scene.outfit import Outfit
from weft.scene.cloth_source import ClothSource


class Wearer:
    """The standing body for which garments are placed; it is measured when it is first needed.

    Args:
        bodies: of the scene.
        meshes: those that mesh files give.
    """

    def __init__(self, bodies: Sequence[Body] = (), meshes: Sequence[Body] = ()) -> None:
        self.bodies, self.meshes = bodies, meshes
        self._errors: list[tuple[Body, MeshError]] = []

    @cached_property
    def figure(self) -> Figure | None:
        """The first body that stands as people do; None if there is none."""
        for body in self.bodies:
            try:
                return Figure.of(body)
            except MeshError as error:
                self._errors.append((body, error))
        return None

    @property
    def reasons(self) -> list[str]:
        """Why bodies are no standing people, as far as they were measured."""
        return [f"{body.name}: {error}" for body, error in self._errors]

    @cached_property
    def doubts(self) -> list[str]:
        """Errors in the unit or the rotation of mesh bodies, if no body stands."""
        if not self.meshes or self.figure is not None:
            return []
        return [
            f"{body.name}: {error}"
            for body, error in self._errors
            if body in self.meshes and error.what in STANCE and error.hint
        ]

    @cached_property
    def depths(self) -> list[BodyDepth]:
        """The extents of all bodies along z, in cells of one size, because floors are flat."""
        places = [body.at(0.0) for body in self.bodies]
        height = max((float(np.ptp(x[:, 1])) for x in places), default=0.0)
        if height == 0.0:
            return []
        return [BodyDepth.of(x, body.faces, height) for x, body in zip(places, self.bodies)]

    def fits(self, block: Any, pattern: Pattern) -> bool:
        """Return whether panels start where the body, and not where the pattern, says."""
        if block.garment.start != "auto":
            return bool(block.garment.start == "body")
        if any(block.translation) or any(block.rotation):
            return False  # the scene says where the garment starts
        return pattern.flat_start or any(crosses_body(pattern, body) for body in self.depths)


def build_garment(builder: Any, block: Any, worn: Fabric | None) -> Garment | SplineGarment:
    """Cut the garment of a block and place it where it starts, as triangles or as splines.

    Args:
        builder: of the scene, with its bodies; the pattern's path is relative to its file.
        block: a cloth block with ``garment``.
        worn: fabric of all panels; None: as the pattern says.

    Raises:
        PatternError: a pattern that cannot be read or cut, or has not the four corners of patches.
        PatchError: a panel that no patch fits.
    """
    folder, wearer = builder.source.path.parent, wearer_of(builder)
    g = block.garment
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
        where = "panels start at the places in the file, because there is no standing body"
        doubts = [f"{where}: {reason}" for reason in wearer.reasons]
    else:
        for doubt in wearer.doubts:
            warnings.warn(doubt, stacklevel=2)
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
    contact = builder.file.contact or SelfContact()
    garment = separate_closures(garment, contact.gap + contact.thickness)
    if block.discretization == "triangles":
        return garment
    size, kinds = block.spline.span_size, (Rule(block.spline.rule), Bending(block.spline.bending))
    assert size is not None
    return fit_patches(garment, size, *kinds)


def wearer_of(builder: Any) -> Wearer:
    """Return the wearer of the garments that a builder of scenes builds."""
    if "wearer" not in builder.shared:
        blocks = zip(builder.file.bodies, builder.bodies)
        meshes = [body for block, body in blocks if block.mesh is not None]
        builder.shared["wearer"] = Wearer(builder.bodies, meshes)
    found: Wearer = builder.shared["wearer"]
    return found


def sizes_of_panels(
    block: Any, folder: Path, given: FabricLike | None
) -> tuple[Floats, Mapping[str, Fabric]]:
    """Return the sizes (k,2) [m] of the panels of a block's pattern, and their fabrics by name."""
    pattern = read_pattern(folder / block.garment.pattern, dict(block.garment.measures))
    pieces = np.array([np.ptp(p.corners, axis=0) for p in pattern.panels])
    return pieces, panel_fabrics(pattern, given)


class GarmentBlock(Block):
    """A garment cut from a flat pattern, sewn at the start of the run (`sewing`)."""

    pattern: str = Field(
        description="a pattern file (docs/guides/garment-files.md), relative to the scene file"
    )
    size: Size = Field(
        0.02, description="[m] edge length; auto: for the folds under the weight of the cloth"
    )
    measures: dict[str, str | float] = Field(
        {}, description="measures that replace the measures in the pattern file: 96 cm"
    )
    seed: int = Field(0, ge=0, description="seed of the points inside panels")
    start: Literal["auto", "body", "pattern"] = Field(
        "auto",
        description=(
            "places of panels at the start and order of the seams; fitted: to the body; "
            "pattern: as in the pattern file; auto: fitted if the pattern is from "
            "GarmentCode, or if its panels would start in the body or be sewn through the "
            "body"
        ),
    )


OF_GARMENTS = {"span_size", "rule", "bending"}  # fields of SplineBlock that garments have, too
NOT_OF_GARMENTS = (
    "use span_size; the pattern gives corners and folds of seams, and contact uses the triangles "
    "of garment.size"
)


def check_splines(block: Any) -> None:
    """Raise a ValueError for settings of splines that garments do not have."""
    more = block.spline.model_fields_set - OF_GARMENTS
    if block.discretization == "bspline" and more:
        raise ValueError(f"spline.{', spline.'.join(sorted(more))}: of garments, {NOT_OF_GARMENTS}")


GARMENT = ClothSource(
    GarmentBlock,
    "a garment: sewn panels of a pattern",
    "PANEL; PANEL EDGE for an edge with a name: front, front hem",
    "the panels are fixed; elastics have keyframes in the pattern",
    build=build_garment,
    check=check_splines,
    sizes=sizes_of_panels,
    join=Outfit.of,
)
