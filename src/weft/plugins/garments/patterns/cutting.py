"""Cutting of a garment from its pattern: all panels become one mesh.

Both sides of each seam get the same number of vertices, so that they can be sewn vertex by vertex.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from weft.base.arrays import Floats, Ints
from weft.base.errors import PatternError
from weft.discretization.mesh import TriangleMesh
from weft.discretization.polygon import rotation_matrix
from weft.fabric.fabric import FabricLike
from weft.plugins.garments.patterns.check import check_pattern
from weft.plugins.garments.patterns.ears import split_ears
from weft.plugins.garments.patterns.edge_chains import EdgeChain, Match
from weft.plugins.garments.patterns.garment import (
    ElasticLine,
    FoldLine,
    Garment,
    SeamLine,
    named_edges,
)
from weft.plugins.garments.patterns.gathers import find_gathers
from weft.plugins.garments.patterns.inner_lines import InnerLine, inner_lines, meeting_fractions
from weft.plugins.garments.patterns.panel_mesh import PanelMesh, panel_mesh
from weft.plugins.garments.patterns.pattern import Closing, Panel, Pattern
from weft.plugins.garments.patterns.placement import place_points
from weft.plugins.garments.patterns.sampling import (
    EdgeId,
    Part,
    band_lengths,
    minimum_edge_counts,
    sample_edges,
)

MOST_VERTICES = 4_000_000
UV_GAP = 0.02  # [m] distance between panels in material coordinates


def cut(
    pattern: Pattern,
    size: float = 0.02,
    *,
    seed: int = 0,
    fewest: int = 1,
    fabric: FabricLike | None = None,
) -> Garment:
    """Cut a garment from its pattern: mesh the panels with triangles and place them in space.

    Args:
        pattern: panels and seams on paper.
        size: [m] wanted edge length; it is smaller at sharp corners, along tight curves, and where
            cloth is gathered.
        seed: of the random positions of points inside panels.
        fewest: least number of mesh edges along each edge of a panel, however short it is.
        fabric: in place of the pattern's fabrics; the folds of gathers depend on it.

    Raises:
        PatternProblems: all errors of the pattern.
        FabricError: a fabric of the pattern that is not known.
        PatternError: a size out of range, or too large for a panel's curves and narrow parts.
    """
    _check_size(pattern, size)
    report = check_pattern(pattern)
    pattern = report.pattern
    panels = pattern.by_name
    lines = {name: inner_lines(p, size) for name, p in panels.items()}
    needed = minimum_edge_counts(report.seams, panels)
    edges = [(name, e) for name, p in panels.items() for e in range(len(p.corners))]
    least = {edge: max(fewest, needed.get(edge, 1)) for edge in edges}
    breaks = _line_breaks(panels, lines)
    ready = {name: _with_lines(p, lines[name]) for name, p in panels.items()}
    gathers = find_gathers(report, size, fabric)
    sizes = band_lengths(pattern, size)
    sizes |= {edge: min(own, sizes.get(edge, size)) for edge, own in gathers.sizes.items()}
    fractions, index, parts = sample_edges(ready, report.seams, size, breaks, least, sizes)
    meshes = {}
    for name, panel in panels.items():
        own = {e: f for (of, e), f in fractions.items() if of == name}
        meshes[name] = panel_mesh(panel, own, lines[name], size, seed)
    chains = [(m, *_sample_pairs(m, p, fractions, index)) for m, p in zip(report.seams, parts)]
    sewn = [pairs for m, pairs, _, _ in chains if m.seam.closing is Closing.SEWN]
    meshes = split_ears(meshes, lambda now: [_vertex_pairs(pairs, now) for pairs in sewn])
    seams = [SeamLine(m, _vertex_pairs(p, meshes), at, rows) for m, p, at, rows in chains]
    first = _first_vertices(meshes)
    folds = [
        FoldLine(name, fold, line + first[name])
        for name, p in panels.items()
        for fold, line in zip(p.folds, meshes[name].lines[len(p.lines) :])
    ]
    outline = {
        (name, e): m.edge(e) + first[name]
        for name, m in meshes.items()
        for e in range(len(m.outline) + len(m.lines))
    }
    elastics = [
        ElasticLine(e, _chain_edges(c, outline), c.length, fold)
        for (e, c), fold in zip(report.elastics, gathers.folds)
    ]
    mesh, flat, vertices, faces = _assemble_mesh(pattern, meshes, outline)
    return Garment(
        pattern,
        mesh,
        flat,
        vertices,
        faces,
        outline,
        seams,
        folds,
        elastics,
        (*report.warnings, *gathers.warnings),
    )


EdgePoint = tuple[str, int, int]  # panel, edge, index of the sample on it


def _check_size(pattern: Pattern, size: float) -> None:
    """Raise a PatternError if an edge length [m] is not positive or makes too many vertices."""
    if not (np.isfinite(size) and size > 0):
        raise PatternError("size", got=size, expected="must be > 0 [m]")
    cloth = sum(float(np.ptp(p.corners, axis=0).prod()) for p in pattern.panels)
    if cloth / size**2 > MOST_VERTICES:
        raise PatternError(
            "size",
            got=f"{size:g} m for {cloth:.3g} m^2 of cloth",
            expected=f"at most {MOST_VERTICES} vertices",
        )


def _with_lines(panel: Panel, lines: Sequence[InnerLine]) -> Panel:
    """Return the panel with its inner lines as they are meshed."""
    n, points = len(panel.lines), [line.points for line in lines]
    folds = [replace(f, points=p) for f, p in zip(panel.folds, points[n:])]
    return replace(panel, lines=points[:n], folds=folds)


def _line_breaks(
    panels: Mapping[str, Panel], lines: Mapping[str, Sequence[InnerLine]]
) -> dict[EdgeId, list[float]]:
    """Return the fractions of each edge at which inner lines of its panel end, and the fractions of
    each inner line at which it meets others.
    """
    breaks: dict[EdgeId, list[float]] = {}
    for name, every in lines.items():
        k = len(panels[name].corners)
        breaks |= {(name, k + i): at for i, at in enumerate(meeting_fractions(every))}
        for end in (e for line in every for e in (line.first, line.last) if e is not None):
            breaks.setdefault((name, end[0]), []).append(end[1])
    return breaks


def _sample_pairs(
    match: Match,
    parts: Sequence[tuple[Part, Part, bool]],
    fractions: Mapping[EdgeId, Floats],
    index: Mapping[EdgeId, list[int]],
) -> tuple[list[tuple[EdgePoint, EdgePoint]], Floats, Ints]:
    """Return the samples of both chains that meet in a seam, their fractions of the first chain's
    length, and the rows between which the seam has an edge.
    """
    pairs: list[tuple[EdgePoint, EdgePoint]] = []
    at: list[float] = []
    segments: list[tuple[int, int]] = []
    backward = {s.edge_id: s.backward for s in match.first.sides}
    number = {s.edge_id: i for i, s in enumerate(match.first.sides)}
    for (one, k), (two, m), opposite in parts:
        own = range(index[one][k], index[one][k + 1] + 1)
        other = range(index[two][m], index[two][m + 1] + 1)
        rows = list(zip(own, reversed(other) if opposite else other))
        rows = rows[::-1] if backward[one] else rows
        where = match.first.place_of(number[one], fractions[one][[i for i, _ in rows]]).tolist()
        for n, ((i, j), s) in enumerate(zip(rows, where)):
            pairs.append(((*one, i), (*two, j)))
            at.append(s)
            if n:
                segments.append((len(pairs) - 2, len(pairs) - 1))
    return pairs, np.array(at), np.array(segments, dtype=np.int32)


def _first_vertices(meshes: Mapping[str, PanelMesh]) -> dict[str, int]:
    """Return the id of the first vertex of every panel."""
    starts = np.cumsum([0, *(len(m.points) for m in meshes.values())]).tolist()
    return dict(zip(meshes, starts))


def _vertex_pairs(
    pairs: Sequence[tuple[EdgePoint, EdgePoint]], meshes: Mapping[str, PanelMesh]
) -> Ints:
    """Return the vertices (k,2) of pairs of samples."""
    first = _first_vertices(meshes)
    found = [[first[n] + meshes[n].edge(e)[i] for n, e, i in pair] for pair in pairs]
    return np.array(found, dtype=np.int32).reshape(-1, 2)


def _chain_edges(chain: EdgeChain, outline: Mapping[tuple[str, int], Ints]) -> Ints:
    """Return the edges (k,2) of the mesh along a chain."""
    found = []
    for s in chain.sides:
        ids = outline[s.edge_id][:: -1 if s.backward else 1]
        found.append(np.stack([ids[:-1], ids[1:]], axis=1))
    return np.concatenate(found)


def _assemble_mesh(
    pattern: Pattern,
    meshes: Mapping[str, PanelMesh],
    outline: Mapping[tuple[str, int], Ints],
) -> tuple[TriangleMesh, Floats, dict[str, range], dict[str, range]]:
    """Build one mesh of all panels, and return it with the flat vertices and the ranges of vertices
    and faces by panel.
    """
    vertices, faces, points, uv = {}, {}, [], []
    groups: dict[str, Ints] = {}
    first_vertex = first_face = 0
    beside = 0.0
    for panel in pattern.panels:
        m = meshes[panel.name]
        vertices[panel.name] = range(first_vertex, first_vertex + len(m.points))
        faces[panel.name] = range(first_face, first_face + len(m.faces))
        groups[panel.name] = np.arange(first_vertex, first_vertex + len(m.points), dtype=np.int32)
        first_vertex, first_face = vertices[panel.name].stop, faces[panel.name].stop
        points.append(place_points(panel, m.points))
        own = material_coordinates(panel, m.points)
        own[:, 1] += beside - own[:, 1].min()
        beside = float(own[:, 1].max()) + UV_GAP
        uv.append(own)
    for panel in pattern.panels:
        for name in dict.fromkeys(name for name in panel.edge_names if name):
            every = [outline[panel.name, e] for e in named_edges(panel, name)]
            groups[f"{panel.name}.{name}"] = np.unique(np.concatenate(every)).astype(np.int32)
    corners = np.concatenate([m.faces + vertices[n].start for n, m in meshes.items()])
    source = pattern.source or pattern.name
    mesh = TriangleMesh(
        np.concatenate(points), corners, np.concatenate(uv)[corners], groups, source or "garment"
    )
    return mesh, np.concatenate([m.points for m in meshes.values()]), vertices, faces


def material_coordinates(panel: Panel, flat: Floats) -> Floats:
    """Return the coordinates (n,2) [m] along the warp and the weft."""
    return flat @ rotation_matrix(panel.grain)
