"""Reader of DXF-AAMA and ASTM D6673 pattern files: a block is a piece, layers are numbers.

Layers after ASTM D6673-10: 1 boundary, 2 turn points, 3 curve points, 4 and 80 to 83 notches, 6
mirror line, 7 grain, 8 internal lines, 11 cutouts, 13 drill holes, 14 sew line. The format has no
seams and no placement: these are in the side-car file. Edges go from turn point to turn point.
"""

import re
import warnings
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from weft.base.arrays import Floats
from weft.base.errors import PatternError, abbreviate
from weft.io.left_out import left_out_text
from weft.plugins.garments.patterns.curves import EdgeCurve
from weft.plugins.garments.patterns.dxf_chains import (
    GAP,
    SPIKES,
    WIDE_GAP,
    MirrorLine,
    chain_edges,
    drop_spikes,
    find_kinks,
    is_closed,
    join_chains,
    match_corners,
    split_chain,
)
from weft.plugins.garments.patterns.dxf_file import DxfBlock, read_blocks
from weft.plugins.garments.patterns.pattern import Pattern
from weft.plugins.garments.patterns.pattern_file import pattern_name
from weft.plugins.garments.patterns.pieces import (
    MARKS,
    DrawnPiece,
    chain_area,
    chain_polygon,
    chain_polyline,
    orient_chain,
    seam_allowance,
)
from weft.plugins.garments.patterns.sidecar import assemble_pattern, read_sidecar, select_size

CURVES = "3"  # points of curves, which lines and arcs have, too
BOUNDARY, TURNS, MIRROR, GRAIN, INTERNAL, CUTOUTS, SEW = "1", "2", "6", "7", "8", "11", "14"
NOTCHES = ("4", "80", "81", "82", "83")
DRILLS = "13"
READ = (BOUNDARY, TURNS, CURVES, MIRROR, GRAIN, INTERNAL, CUTOUTS, SEW, *NOTCHES)
REACH = 3e-3  # [m] largest distance of a notch from its seam line


def read_dxf(path: Path) -> Pattern:
    """Return the pattern in a DXF-AAMA or ASTM file, with the seams of its side-car file.

    Raises:
        PatternError: no such file, a damaged one, or an invalid piece, by name.
    """
    car = read_sidecar(path)
    blocks, texts, unit = read_blocks(path, car.unit)
    names = [(_size(b), _title(b)) for b in blocks]
    blocks = select_size(path, blocks, names, texts.get("sample size", ""), car)
    if not blocks:
        raise PatternError(
            "pieces",
            got="no block with lines on layer 1, and no closed line outside of blocks",
            where=path.name,
            expected="a boundary on layer 1 of every piece's block",
            hint="check that this is a drawing in AAMA or ASTM form",
        )
    split = car.given.notches == "corners"
    titles = [_title(b) for b in blocks]
    for block, title in zip(blocks, titles):
        if titles.count(title) == 1:  # pieces that share a name get the names of their blocks
            block.name = title
    _warn_of_left_out(path, blocks, split)
    pieces = [_read_piece(block, split).center() for block in blocks]
    return assemble_pattern(path, pattern_name(path), pieces, unit, car)


def _warn_of_left_out(path: Path, blocks: Sequence[DxfBlock], split: bool) -> None:
    """Warn of the entities and layers of the pieces that are not read."""
    found: Counter[str] = Counter()
    for block in blocks:
        found.update({f"{kind} entities": n for kind, n in block.left_out.items()})
        marks = (TURNS, CURVES, DRILLS, *NOTCHES)
        for drawn, read in ((block.chains, READ), (block.points, marks)):
            layers = {layer: len(things) for layer, things in drawn.items() if layer not in read}
            found.update({f"lines or points on layer {k}": n for k, n in layers.items()})
        if not split:
            cure = f"notches, which divide edges with `notches: corners` in {path.stem}.seams.yaml"
            found[cure] += len(block.points_on(*NOTCHES))
        found["drill holes, which are marks"] += len(block.points_on(DRILLS))
    if found := +found:
        warnings.warn(f"{path.name}: not read: {left_out_text(found)}", stacklevel=3)


def _size(block: DxfBlock) -> str:
    return block.texts.get("size") or block.texts.get("size name") or ""


def _title(block: DxfBlock) -> str:
    return block.texts.get("piece name") or block.name


def _read_piece(block: DxfBlock, split: bool) -> DrawnPiece:
    """Return a block as a piece; notches divide its edges if ``split``."""
    _move_seam_line(block)
    chain, mirror = _outline(block, _mirror_line(block))
    turns, notches = block.points_on(TURNS), block.points_on(*NOTCHES)
    on_line = np.zeros((0, 2))
    if mirror is not None:
        turns, notches = mirror.add_reflected(turns), mirror.add_reflected(notches)
        on_line = np.array([chain[0].start, chain[len(chain) // 2].start])  # ends of the half
    chain, cuts = _split_at_notches(block, chain, notches if split else notches[:0])
    chain, spikes = drop_spikes(orient_chain(chain))
    if spikes:
        _warn(block, f"{SPIKES}: {spikes}")
    corner = match_corners(chain, turns)
    if corner.any():
        corner |= match_corners(chain, on_line)
    else:
        corner = find_kinks(chain)
        _warn(
            block,
            "no turn points of layer 2 on the outline: edges end where it turns by more than 30 "
            "degrees",
        )
    corner |= match_corners(chain, np.array(cuts).reshape(-1, 2))
    cutouts = join_chains(block.chains_on(CUTOUTS))
    holes, slits = ([c for c in cutouts if is_closed(c) == closed] for closed in (True, False))
    if slits:
        _warn(block, f"open lines on layer 11 are inner lines, and do not cut: {len(slits)}")
    lines = [*join_chains(block.chains_on(INTERNAL)), *slits]
    return DrawnPiece(
        block.name,
        chain_edges(chain, corner),
        [chain_polygon(c, MARKS) for c in _mirror_chains(holes, mirror)],
        [chain_polyline(c) for c in _mirror_chains(lines, mirror)],
        _grain(block),
        _copies(block),
        block.texts.get("fabric") or block.texts.get("material") or "",
        block.file,
    )


def _warn(block: DxfBlock, text: str) -> None:
    warnings.warn(f"{block.file}, piece {block.name!r}: {text}", stacklevel=6)


def _move_seam_line(block: DxfBlock) -> None:
    """Move a seam line that is drawn on layer 8 to layer 14: a closed line at an even distance
    inside of the cut line.
    """
    border = [c for c in join_chains(block.chains_on(BOUNDARY)) if is_closed(c)]
    if len(border) != 1 or SEW in block.chains:
        return
    inner = join_chains(block.chains_on(INTERNAL))
    for chain in filter(is_closed, inner):
        width = seam_allowance(border[0], chain)
        if width is not None:
            block.chains[SEW] = [chain]
            block.chains[INTERNAL] = [c for c in inner if c is not chain]
            inside = f"{1e3 * width:.3g} mm inside"
            _warn(block, f"the closed line of layer 8, {inside}, is the seam line")
            return


def _close_wide_gap(block: DxfBlock, chains: list[list[EdgeCurve]]) -> list[list[EdgeCurve]]:
    """Return chains of an outline that is open by little as closed ones, or else the same."""
    wide = join_chains(chains, WIDE_GAP)
    if not is_closed(wide[0]):
        return chains
    _warn(block, f"the outline is open by less than {1e3 * WIDE_GAP:g} mm: weft closes it")
    return wide


def _split_at_notches(
    block: DxfBlock, chain: list[EdgeCurve], notches: Floats
) -> tuple[list[EdgeCurve], list[Floats]]:
    """Return the outline with a corner at every notch (n,2) [m], and these corners."""
    cuts: list[Floats] = []
    far: list[Floats] = []
    for point in notches:
        divided = split_chain(chain, point, REACH)
        if divided is None:
            far.append(point)
            continue
        before, chain = {tuple(c.start) for c in chain}, divided
        new = [c.start for c in chain if tuple(c.start) not in before]
        near = min((c.start for c in chain), key=lambda p: float(np.hypot(*(p - point))))
        cuts += new or [near]
    if far:
        places = [f"({1e3 * x:.4g}, {1e3 * y:.4g})" for x, y in far]
        _warn(
            block,
            f"notches more than {1e3 * REACH:g} mm from the outline are not used: {len(far)}, at "
            f"{abbreviate(places)} mm",
        )
    return chain, cuts


def _mirror_line(block: DxfBlock) -> MirrorLine | None:
    """Return the mirror line; None if there is none."""
    chains = block.chains_on(MIRROR)
    if not chains:
        return None
    ends = np.array([chains[0][0].start, chains[0][-1].end])
    if len(chains) > 1 or np.linalg.norm(ends[1] - ends[0]) <= GAP:
        expected = "one straight line on layer 6"
        raise block.error("mirror line of piece", f"{len(chains)} lines", expected)
    return MirrorLine(ends)


def _outline(
    block: DxfBlock, mirror: MirrorLine | None
) -> tuple[list[EdgeCurve], MirrorLine | None]:
    """Return the closed outline, unfolded if it is drawn as a half, and the mirror line if it
    was.
    """
    for layer in (SEW, BOUNDARY):
        if layer not in block.chains:
            continue
        chains = join_chains(block.chains[layer])
        if not mirror and not any(map(is_closed, chains)):
            chains = _close_wide_gap(block, chains)
        lines = [mirror if mirror and mirror.count_sides(c) < 2 else None for c in chains]
        whole = [(line.unfold(c) if line else c, line) for c, line in zip(chains, lines)]
        closed = [(c, line) for c, line in whole if c is not None and is_closed(c)]
        closed.sort(key=lambda found: -abs(chain_area(found[0])))
        if closed:
            if layer == BOUNDARY and len(closed) > 1:
                _warn(
                    block,
                    f"{len(closed)} closed lines on layer 1: the largest is the outline, the "
                    "others are not read",
                )
            return closed[0]
        if layer == SEW and BOUNDARY in block.chains:
            _warn(
                block,
                "the seam line of layer 14 is open: weft takes the cut line of layer 1, with its "
                "seam allowance",
            )
    if any(lines) and is_closed(chains[0]):
        got = "a half piece that does not end on its mirror line"
        raise block.error("outline of piece", got, "one part of the outline on the line of layer 6")
    a, b = 1e3 * chains[0][0].start, 1e3 * chains[0][-1].end
    got = f"open: from ({a[0]:.4g}, {a[1]:.4g}) to ({b[0]:.4g}, {b[1]:.4g}) mm"
    raise block.error("outline of piece", got, "a closed line on layer 1 or 14")


def _mirror_chains(
    chains: list[list[EdgeCurve]], mirror: MirrorLine | None
) -> list[list[EdgeCurve]]:
    """Return the chains and their mirror images, without images of chains on the mirror line or
    across it.
    """
    if mirror is None:
        return chains
    return chains + [mirror.reflect(c) for c in chains if mirror.count_sides(c) == 1]


def _grain(block: DxfBlock) -> float | None:
    """Return the direction [rad] of the longest line on layer 7."""
    found = [c[-1].end - c[0].start for c in block.chains_on(GRAIN)]
    if not found:
        return None
    x, y = max(found, key=lambda d: float(d @ d))
    return float(np.arctan2(y, x))


def _copies(block: DxfBlock) -> int | None:
    """Return the sum of ``Quantity: 1,1`` (right and left) or ``Quantity: 2``."""
    counts = re.findall(r"(?:^|[,;])\s*([0-9]{1,3})\s*(?=[,;]|$)", block.texts.get("quantity", ""))
    return sum(map(int, counts)) if counts else None
