"""Start positions of panels that are sewn on inner lines of other panels: pockets, facings, loops.

A panel without a placement of its own starts in front of the panel on which it is sewn, moved on
paper such that its edges lie nearest to the lines.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from weft.base.arrays import Floats
from weft.discretization.polygon import rotation_matrix
from weft.plugins.garments.patterns.edge_chains import PROBES, EdgeChain, Match, rigid_motion
from weft.plugins.garments.patterns.pattern import Panel, Placement, Seam, SeamSide

Edges = tuple[list[Floats], list[Floats]]  # points of the panel, and where they belong


def place_on_lines(panels: Mapping[str, Panel], seams: Sequence[Seam]) -> dict[str, Panel]:
    """Return the panels, those that are sewn on inner lines of others with their placement.

    Such a panel lies one layer further out than the panel under it, unless its layer differs
    already.

    Args:
        panels: by name, without errors.
        seams: of the pattern; seams that name other panels or edges are left out.
    """
    placed = dict(panels)
    waiting = _sewn_on(panels, seams)
    while waiting:
        # A flap on a pocket waits for the pocket.
        ready = [name for name, (under, _) in waiting.items() if under not in waiting]
        if not ready:
            break  # panels that are sewn on one another in a circle
        for name in ready:
            under, (a, b) = waiting.pop(name)
            turn, offset, _ = rigid_motion(np.concatenate(a), np.concatenate(b))
            placed[name] = _place(placed[name], placed[under], np.degrees(turn), offset)
    return placed


def _sewn_on(panels: Mapping[str, Panel], seams: Sequence[Seam]) -> dict[str, tuple[str, Edges]]:
    """Return the panels without a placement that are sewn on an inner line, each with the panel
    under it and the points that meet.
    """

    def exists(s: SeamSide) -> bool:
        return s.panel in panels and 0 <= s.edge < len(panels[s.panel].edge_names)

    found: dict[str, tuple[str, Edges]] = {}
    for seam in seams:
        if not (seam.first and seam.second and all(map(exists, [*seam.first, *seam.second]))):
            continue
        match = Match.of(seam, panels)
        for chain, line in (match.chains, match.chains[::-1]):
            name, under = _only_panel(chain), _only_panel(line)
            if not line.is_inside or chain.is_inside or not name or not under or name == under:
                continue
            if panels[name].placement == Placement():
                known, (a, b) = found.setdefault(name, (under, ([], [])))
                if known == under:
                    a.append(chain.on_paper(PROBES))
                    b.append(line.on_paper(PROBES))
    return found


def _only_panel(chain: EdgeChain) -> str:
    """Return the panel of a chain; an empty text if it runs over several."""
    names = {s.panel for s in chain.sides}
    return names.pop() if len(names) == 1 else ""


def _place(panel: Panel, under: Panel, turn: float, offset: Floats) -> Panel:
    """Return a panel in front of the panel under it, moved on paper by a turn [degrees] and an
    offset (2,) [m].
    """
    x, y, angle = under.placement.on_paper
    right, up = (rotation_matrix(np.radians(angle)) @ offset + [x, y]).tolist()
    placement = replace(under.placement, on_paper=(right, up, turn + angle))
    layer = panel.layer if panel.layer != under.layer else under.layer + 1
    return replace(panel, placement=placement, layer=layer)
