"""Reader of DXF-AAMA and ASTM D6673 pattern files: a block is a piece, layers are numbers.

Layers after ASTM D6673-10: 1 boundary, 2 turn points, 3 curve points, 4 and 80 to 83 notches, 6
mirror line, 7 grain, 8 internal lines, 11 cutouts, 14 sew line. The format has no seams and no
placement: these are in the side-car file. Edges go from turn point to turn point.
"""

import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from weft.base.arrays import Floats
from weft.base.errors import PatternError, did_you_mean
from weft.garment.dxf_chains import (
    GAP,
    chain_edges,
    find_kinks,
    is_closed,
    join_chains,
    match_corners,
    reflect_chain,
    reflection,
    split_chain,
    unfold_chain,
)
from weft.garment.dxf_file import DxfBlock, marks, read_blocks
from weft.garment.pattern import Pattern
from weft.garment.pattern_file import pattern_name
from weft.garment.pieces import DrawnPiece
from weft.garment.sidecar import Sidecar, assemble_pattern, read_sidecar
from weft.garment.stroke import MARKS, Stroke, chain_area, chain_polygon, orient_chain

BOUNDARY, TURNS, MIRROR, GRAIN, INTERNAL, CUTOUTS, SEW = "1", "2", "6", "7", "8", "11", "14"
NOTCHES = ("4", "80", "81", "82", "83")
REACH = 3e-3  # [m] largest distance of a notch from its seam line


def read_dxf(path: Path) -> Pattern:
    """Return the pattern in a DXF-AAMA or ASTM file, with the seams of its side-car file.

    Raises:
        PatternError: no such file, a damaged one, or an invalid piece, by name.
    """
    blocks, texts = read_blocks(path)
    car = read_sidecar(path)
    blocks = _select_size([b for b in blocks if {BOUNDARY, SEW} & set(b.chains)], texts, car, path)
    if not blocks:
        raise PatternError(
            "pieces",
            got="no block with lines on layer 1",
            where=path.name,
            expected="a boundary on layer 1 of every piece's block",
            hint="is this a drawing in AAMA or ASTM form?",
        )
    split = car.given.notches == "corners"
    names = _names(blocks)
    pieces = [_piece(b, n, split, path.name).center() for b, n in zip(blocks, names)]
    return assemble_pattern(path, pattern_name(path), pieces, car)


def _select_size(
    blocks: list[DxfBlock], texts: dict[str, str], car: Sidecar, path: Path
) -> list[DxfBlock]:
    """Return the pieces of one size: that of the side-car file, or the file's sample size."""
    sizes = list(dict.fromkeys(s for b in blocks if (s := _size(b))))
    size = car.given.size
    if size is not None:
        if size not in sizes:
            expected = f"one of the sizes {', '.join(sizes) or '(the file names none)'}"
            raise car.error("size", repr(size), expected, did_you_mean(size, sizes))
        return [b for b in blocks if _size(b) in ("", size)]
    names = [_title(b) for b in blocks]
    if len(sizes) < 2 or len(set(names)) == len(names):
        return blocks
    sample = texts.get("sample size", "")
    if sample not in sizes:
        raise PatternError(
            "size",
            got=f"pieces of the sizes {', '.join(sizes)}",
            where=path.name,
            expected=f"`size: {sizes[0]}` or such in {path.stem}.seams.yaml",
        )
    warnings.warn(
        f"{path.name} holds the sizes {', '.join(sizes)}: taken is its sample size {sample}",
        stacklevel=3,
    )
    return [b for b in blocks if _size(b) in ("", sample)]


def _size(block: DxfBlock) -> str:
    return block.texts.get("size") or block.texts.get("size name") or ""


def _title(block: DxfBlock) -> str:
    return block.texts.get("piece name") or block.name


def _names(blocks: Sequence[DxfBlock]) -> list[str]:
    """Return the names of pieces; pieces that share a name get the names of their blocks."""
    titles = [_title(b) for b in blocks]
    return [t if titles.count(t) == 1 else b.name for t, b in zip(titles, blocks)]


def _piece(block: DxfBlock, name: str, split: bool, file: str) -> DrawnPiece:
    """Return a block as a piece."""
    mirror = _mirror(block, name, file)
    chain, mirror = _outline(block, name, mirror, file)
    turns, notches = marks(block, (TURNS,)), marks(block, NOTCHES)
    if mirror is not None:
        turns, notches = _mirror_points(turns, mirror), _mirror_points(notches, mirror)
        turns = np.concatenate([turns, _fold_ends(chain, mirror)])
    extra = []
    for point in notches if split else []:
        cut = split_chain(chain, point, REACH)
        if cut is None:
            at = ", ".join(f"{1e3 * c:.4g}" for c in point)
            warnings.warn(
                f"{file}, piece {name!r}: the notch at ({at}) mm is more than {1e3 * REACH:g} mm "
                "from the outline: not used",
                stacklevel=4,
            )
            continue
        before, chain = {tuple(s.start) for s in chain}, cut
        new = [s.start for s in chain if tuple(s.start) not in before]
        extra += new or [min((s.start for s in chain), key=lambda p: float(np.hypot(*(p - point))))]
    chain = orient_chain(chain)
    corner = match_corners(chain, turns)
    if not corner.any():
        corner = find_kinks(chain)
        warnings.warn(
            f"{file}, piece {name!r}: no turn points of layer 2 on the outline: edges end where it "
            "turns by more than 30 degrees",
            stacklevel=4,
        )
    corner |= match_corners(chain, np.array(extra).reshape(-1, 2))
    return DrawnPiece(
        name,
        chain_edges(chain, corner),
        _holes(block, name, mirror, file),
        _lines(block, mirror),
        _grain(block),
        _copies(block),
        _fabric(block),
        file,
    )


def _mirror(block: DxfBlock, name: str, file: str) -> Floats | None:
    """Return the ends (2,2) [m] of the mirror line; None if there is none."""
    chains = block.chains.get(MIRROR, [])
    if not chains:
        return None
    ends = np.array([chains[0][0].start, chains[0][-1].end])
    if len(chains) > 1 or np.linalg.norm(ends[1] - ends[0]) <= GAP:
        raise PatternError(
            f"mirror line of piece {name!r}",
            got=f"{len(chains)} lines",
            expected="one straight line on layer 6",
            where=file,
        )
    return ends


def _outline(
    block: DxfBlock, name: str, mirror: Floats | None, file: str
) -> tuple[list[Stroke], Floats | None]:
    """Return the closed outline, unfolded if it is drawn as a half, and the mirror line if it
    was.
    """
    what = f"outline of piece {name!r}"
    for layer in (SEW, BOUNDARY):
        if layer not in block.chains:
            continue
        chains = join_chains(block.chains[layer])
        halves = [mirror is not None and _sides(c, mirror) < 2 for c in chains]
        whole = [
            (unfold_chain(c, mirror) if half and mirror is not None else c, half)
            for c, half in zip(chains, halves)
        ]
        closed = [(c, half) for c, half in whole if c is not None and is_closed(c)]
        closed.sort(key=lambda found: -abs(chain_area(found[0])))
        if closed:
            if layer == BOUNDARY and len(closed) > 1:
                warnings.warn(
                    f"{file}, piece {name!r}: {len(closed)} closed lines on layer 1: the largest "
                    "is the outline, the others are not read",
                    stacklevel=5,
                )
            outline, half = closed[0]
            return outline, mirror if half else None
    if any(halves) and is_closed(chains[0]):
        raise PatternError(
            what,
            got="half of it, not along its mirror line",
            where=file,
            expected="one part of it on the line of layer 6",
        )
    a, b = 1e3 * chains[0][0].start, 1e3 * chains[0][-1].end
    raise PatternError(
        what,
        got=f"open: from ({a[0]:.4g}, {a[1]:.4g}) to ({b[0]:.4g}, {b[1]:.4g}) mm",
        expected="a closed line on layer 1 or 14",
        where=file,
    )


def _sides(chain: Sequence[Stroke], mirror: Floats) -> int:
    """Return the number of sides of the mirror line on which a chain lies: 0, 1 or 2."""
    along = (mirror[1] - mirror[0]) / np.linalg.norm(mirror[1] - mirror[0])
    points = np.concatenate([[*s.sample(), s.end] for s in chain])
    distance = (points - mirror[0]) @ [-along[1], along[0]]
    return int((distance > GAP).any()) + int((distance < -GAP).any())


def _mirror_points(points: Floats, mirror: Floats) -> Floats:
    linear, offset = reflection(mirror)
    return np.concatenate([points, points @ linear.T + offset])


def _fold_ends(chain: Sequence[Stroke], mirror: Floats) -> Floats:
    """Return the points (2,2) [m] where an unfolded outline crosses its mirror line."""
    return np.array([chain[0].start, chain[len(chain) // 2].start])


def _holes(block: DxfBlock, name: str, mirror: Floats | None, file: str) -> list[Floats]:
    """Return the cutouts as polygons."""
    chains = join_chains(block.chains.get(CUTOUTS, []))
    for chain in chains:
        if not is_closed(chain):
            raise PatternError(
                f"cutout of piece {name!r}",
                got="an open line",
                where=file,
                expected="closed ones on layer 11",
            )
    return [chain_polygon(c, MARKS) for c in _mirror_chains(chains, mirror)]


def _lines(block: DxfBlock, mirror: Floats | None) -> list[Floats]:
    """Return the internal lines as polylines."""
    chains = _mirror_chains(join_chains(block.chains.get(INTERNAL, [])), mirror)
    return [np.array([*chain_polygon(c, MARKS), c[-1].end]) for c in chains]


def _mirror_chains(chains: list[list[Stroke]], mirror: Floats | None) -> list[list[Stroke]]:
    """Return the chains and their mirror images, without images of chains on the mirror line or
    across it.
    """
    if mirror is None:
        return chains
    return chains + [reflect_chain(c, mirror) for c in chains if _sides(c, mirror) == 1]


def _grain(block: DxfBlock) -> float | None:
    """Return the direction [rad] of the longest line on layer 7."""
    found = [c[-1].end - c[0].start for c in block.chains.get(GRAIN, [])]
    if not found:
        return None
    x, y = max(found, key=lambda d: float(d @ d))
    return float(np.arctan2(y, x))


def _copies(block: DxfBlock) -> int | None:
    """Return the sum of ``Quantity: 1,1`` (right and left) or ``Quantity: 2``."""
    words = block.texts.get("quantity", "").replace(";", ",").split(",")
    counts = [
        int(w) for w in (v.strip() for v in words) if w.isascii() and w.isdigit() and len(w) < 4
    ]
    return sum(counts) if counts else None


def _fabric(block: DxfBlock) -> str:
    return block.texts.get("fabric") or block.texts.get("material") or ""
