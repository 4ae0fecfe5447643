"""Gathers of a pattern: how long their folds are, and the mesh edges that they need.

A gather is held at one edge only. Near it folds are short, and they join to longer ones with the
distance from it, as Cerda and Mahadevan's law says with that distance for L (``fabric.folds``;
Vandeparre et al. 2011). Folds shorter than the distance in which they join would have to stretch
the cloth; the shortest that the cloth takes by itself are as long as that distance: L = lambda, so
lambda = 4 pi sqrt(B/T).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from weft.base.keyframes import as_keys
from weft.discretization.polygon import signed_area
from weft.fabric.fabric import Fabric, FabricLike
from weft.fabric.fabric import fabric as as_fabric
from weft.fabric.folds import EDGES, FEWEST, fold_length, millimeters
from weft.plugins.garments.patterns.check import Report
from weft.plugins.garments.patterns.curves import outline_polygon
from weft.plugins.garments.patterns.edge_chains import EdgeChain
from weft.plugins.garments.patterns.pattern import Panel, Pattern

FULL = 1.25  # length of cloth over the length into which it is gathered, from which it is refined
FINEST = 1 / 8  # least length of the edges along a gather, as a part of the wanted length
G = 9.81  # [m/s^2]


@dataclass(eq=False)
class Gathers:
    """The gathered edges of a pattern.

    Args:
        sizes: [m] wanted length of mesh edges, by panel and number of the edge.
        folds: [m] length of the folds along each elastic, in the pattern's order.
        lines: what is refined, for a table.
        warnings: folds that the mesh cannot have.
    """

    sizes: dict[tuple[str, int], float] = field(default_factory=dict)
    folds: list[float] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def find_gathers(report: Report, size: float, worn: FabricLike | None = None) -> Gathers:
    """Return the gathered edges of a pattern, with the edge lengths that their folds need.

    Args:
        report: of the pattern, without errors.
        size: [m] wanted edge length elsewhere.
        worn: fabric in place of the pattern's.

    Raises:
        FabricError: a fabric that is not known.
    """
    found = Gathers()
    fabrics = panel_fabrics(report.pattern, worn)
    fine: dict[str, list[tuple[str, float]]] = {}  # gathers with folds too short, by their panels
    for what, chain, fullness in _gathers(report):
        fold = _shortest_fold(report.pattern.panels, fabrics, chain)
        if what.startswith("elastic"):
            found.folds.append(fold)
        edge = max(fold / EDGES, FINEST * size)
        if fullness < FULL or edge >= size:
            continue
        for s in chain.sides:
            found.sizes[s.edge_id] = min(edge, found.sizes.get(s.edge_id, size))
        gather = f"{what}, gathered {fullness:.2f} times"
        found.lines.append(
            f"{gather}: folds of {millimeters(fold)}, edges of {millimeters(edge)} along it"
        )
        if edge > fold / FEWEST:
            fine.setdefault(chain.panel_names, []).append((gather, fold))
    for panels, gathers in fine.items():
        texts, fold = "; ".join(text for text, _ in gathers), min(own for _, own in gathers)
        found.warnings.append(
            f"{panels}: {texts}: folds of {millimeters(fold)} need edges below "
            f"{millimeters(fold / FEWEST)}, and {millimeters(FINEST * size)} is the smallest edge "
            f"beside edges of {millimeters(size)}: `size: "
            f"{millimeters(fold / EDGES / FINEST)}` has them"
        )
    return found


def _gathers(report: Report) -> Iterator[tuple[str, EdgeChain, float]]:
    """Yield the name of every seam and elastic, the chain that it gathers, and by what factor."""
    for match in report.seams:
        yield f"seam {match.seam.name}", match.longer, match.fullness
    for elastic, chain in report.elastics:
        least = min(as_keys(elastic.ratio).values)
        yield f"elastic {elastic.name}", chain, 1 / least


def panel_fabrics(pattern: Pattern, worn: FabricLike | None = None) -> dict[str, Fabric]:
    """Return the fabric of every panel by the panel's name.

    Args:
        pattern: the pattern.
        worn: fabric in place of the pattern's.

    Raises:
        FabricError: a fabric that is not known.
    """
    named = {p.name: pattern.fabric_of(p) if worn is None else worn for p in pattern.panels}
    made = {key: as_fabric(f) for key, f in {repr(f): f for f in named.values()}.items()}
    return {name: made[repr(f)] for name, f in named.items()}


def _shortest_fold(panels: Sequence[Panel], fabrics: dict[str, Fabric], chain: EdgeChain) -> float:
    """Return the length [m] of the shortest folds along a chain that the garment hangs on."""
    mass = sum(fabrics[p.name].density * signed_area(outline_polygon(p)[0]) for p in panels)
    own = [fabrics[s.panel] for s in chain.sides]
    rigidity = min(min(f.bending_warp, f.bending_weft) for f in own)
    tension = G * mass / chain.length  # the more hangs on the chain, the shorter the folds
    return fold_length(rigidity, tension)
