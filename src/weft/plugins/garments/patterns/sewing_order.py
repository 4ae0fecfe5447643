"""The order in which the seams of a pattern are sewn.

Seams have ranks; each rank begins when the one before has closed:

0. seams that close over the shoulders and at the crotch, and both seams of legs, whose panels slide
   off if one side closes first; seams within the front or the back of a tube, such as center
   seams, darts and yokes; waists of trousers, whose band folds inwards if it closes before;
1. other seams that close a tube: side seams, the ends of bands, and the seams of sleeves, which
   slide off the arm if they are set in first;
2. seams between tubes: armholes, waists, collars, cuffs; with them the seams of cuffs, which catch
   at the arm if they close before they are joined to the sleeve;
3. seams between tubes that gather.

Seams of trunk and sleeves that reach the armpits close from below. Fronts, backs and sleeves are
wider than what they enclose, so the upper ends of their seams start on both sides of an arm, often
above it; what is sewn below draws them in under the arm.

Other seams around the trunk, such as the sides of a skirt, close from their inner end out, piece by
piece. A wide panel reaches beyond the arms; what is sewn between arm and trunk draws the rest in.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from weft.plugins.garments.patterns.pattern import Pattern, Seam
from weft.plugins.garments.patterns.placement import place_points
from weft.plugins.garments.patterns.seam_ways import CENTER, UPWARD, SeamWays, find_tubes

GATHERED = 1.2  # ratio of the lengths of both sides from which a seam gathers
REACH = 0.1  # [m] below the armpits, where arms still are between front and back
JOINED = 0.06  # [m] between the ends of two pieces of one side, at most
INNER = 0.7  # distance of an inner end from the middle of its panels over that of the outer one
LEAST_SHARE = 0.5  # of the sewing time for one rank, over the mean


def rank_seams(ways: Sequence[SeamWays], pattern: Pattern, crotch: float) -> list[int]:
    """Return the rank of each seam, 0 first.

    Args:
        ways: of the seams, from where the panels start.
        pattern: the pattern.
        crotch: [m] height of the crotch.
    """
    tubes = find_tubes(ways, pattern.by_name)
    legs = {tubes[w.panels[0]] for w in ways if w.is_inseam(crotch)}
    hung = any(w.is_over for w in ways)
    set_in = {tubes[name] for w in ways if not w.is_aside for name in w.panels}
    cuffs = {tubes[w.panels[0]] for w in ways if w.is_aside} - set_in
    ranks = []
    for w in ways:
        up = w.outward.mean(0)[1]
        one, two = (tubes[name] for name in w.panels)
        if w.encloses and one == two:
            under = up < -UPWARD and abs(w.middle[0]) < CENTER  # the crotch of a body suit
            first = w.is_over or under or one in legs
            ranks.append(0 if first else 2 if one in cuffs else 1)
        elif w.closes_panel:
            ranks.append(2 if one in cuffs else 1)
        elif one == two or w.is_central:
            ranks.append(0)
        else:
            ratio = max(w.match.ratio, 1 / w.match.ratio)
            flat = (one in legs or two in legs) and not hung
            ranks.append(3 if ratio > GATHERED else 0 if flat else 2)
    return ranks


def order_seams(
    pattern: Pattern, ways: Sequence[SeamWays], crotch: float, armpit: float
) -> Pattern:
    """Return a pattern whose seams close rank by rank; a seam that has a window keeps it.

    A rank takes a part of the sewing time in proportion to the longest way of its seams.

    Args:
        pattern: the pattern.
        ways: of its seams, from where its panels start.
        crotch, armpit: [m] heights of these places of the body.
    """
    ranks = rank_seams(ways, pattern, crotch)
    used = sorted(set(ranks))
    longest = np.array([max(w.longest for w, r in zip(ways, ranks) if r == k) for k in used])
    share = np.maximum(longest, LEAST_SHARE * longest.mean())
    ends = np.concatenate([[0.0], np.cumsum(share) / share.sum()])
    ordered = {}
    for w, r in zip(ways, ranks):
        seam, k = w.match.seam, used.index(r)
        if seam.window == Seam.window:
            window = float(ends[k]), float(ends[k + 1])
            upward = r > 0 and w.encloses and w.highest > armpit - REACH
            low = w.first[0, 1] + w.second[0, 1] < w.first[-1, 1] + w.second[-1, 1]
            first: Literal["", "start", "end"] = ("start" if low else "end") if upward else ""
            ordered[seam.name] = replace(seam, window=window, closes_from=first)
    sides = [
        w
        for w, r in zip(ways, ranks)
        if r == 1 and w.encloses and w.match.seam.name in ordered and w.highest <= armpit - REACH
    ]
    ordered |= _close_outward(sides, ordered)
    return replace(pattern, seams=[ordered.get(s.name, s) for s in pattern.seams])


def _close_outward(sides: Sequence[SeamWays], seams: Mapping[str, Seam]) -> dict[str, Seam]:
    """Return seams that close from the inner ends of the sides that they are pieces of, each piece
    after the one before it.

    Args:
        sides: ways of these seams.
        seams: by name, with the windows of the whole sides.
    """
    found = {}
    for pieces in _join_pieces(sides):
        lengths = np.array([w.match.first.length for w, _ in pieces])
        ends = np.concatenate([[0.0], np.cumsum(lengths)]) / lengths.sum()
        for (w, from_start), begin, end in zip(pieces, ends, ends[1:]):
            seam = seams[w.match.seam.name]
            first, last = seam.window
            window = first + begin * (last - first), first + end * (last - first)
            end_name: Literal["start", "end"] = "start" if from_start else "end"
            found[seam.name] = replace(seam, window=window, closes_from=end_name)
    return found


def _join_pieces(sides: Sequence[SeamWays]) -> list[list[tuple[SeamWays, bool]]]:
    """Return the pieces of each side of a tube, from its inner end out, and whether each piece
    begins there.
    """
    loose, found = list(sides), []
    while loose:
        w = loose.pop()
        chain = [(w, True)]
        while True:
            # the free ends of the chain, in the order of its first and last piece
            (one, ahead), (two, on) = chain[0], chain[-1]
            head = one.middles[0 if ahead else -1]
            tail = two.middles[-1 if on else 0]
            near = [
                (v, at, end)
                for v in loose
                if set(v.panels) == set(w.panels)
                for at in (0, -1)
                for end, place in (("head", head), ("tail", tail))
                if np.linalg.norm(v.middles[at] - place) < JOINED
            ]
            if not near:
                break
            v, at, end = near[0]
            loose.remove(v)
            if end == "tail":
                chain.append((v, at == 0))
            else:
                chain.insert(0, (v, at != 0))
        if not _inner_end_first((one, ahead), (two, not on)):
            chain = [(v, not ahead) for v, ahead in reversed(chain)]
        found.append(chain)
    return found


def _inner_end_first(head: tuple[SeamWays, bool], tail: tuple[SeamWays, bool]) -> bool:
    """Return whether the first of two ends of a side is its inner one: the one that is much nearer
    to the middle of its panel, else the upper one.

    Args:
        head, tail: the piece at each end, and whether the end is the piece's start.
    """
    far, height = [], []
    for w, start in (head, tail):
        chain = w.match.first
        edge, part = chain.on_edge(0.0 if start else 1.0)
        panel = chain.panels[chain.sides[edge].panel]
        point = chain.curves[edge].points(np.array([part]))
        far.append(float(np.linalg.norm(point - panel.corners.mean(axis=0))))
        height.append(float(place_points(panel, point)[0, 1]))
    if min(far) < INNER * max(far):
        return far[0] < far[1]
    return height[0] > height[1]
