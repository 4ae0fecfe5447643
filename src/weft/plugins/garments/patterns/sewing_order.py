"""The order in which the seams of a pattern are sewn.

Seams have ranks; each rank begins when the one before has closed:

0. seams that close over the shoulders and at the crotch, and both seams of legs, whose panels slide
   off if one side closes first; seams within the front or the back of a tube, such as center
   seams, darts and yokes; waists of trousers, whose band folds inwards if it closes before;
1. other seams that close a tube: side seams and the ends of bands;
2. seams between tubes: armholes, waists, collars, cuffs; with them the seams of sleeves, which turn
   around the arm if they close before they are set in;
3. seams between tubes that gather.

Seams of trunk and sleeves that reach the armpits close from below. Fronts, backs and sleeves are
wider than what they enclose, so the upper ends of their seams start on both sides of an arm, often
above it; what is sewn below draws them in under the arm.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from weft.plugins.garments.patterns.pattern import Pattern, Seam
from weft.plugins.garments.patterns.seam_ways import CENTER, UPWARD, SeamWays, find_tubes

GATHERED = 1.2  # ratio of the lengths of both sides from which a seam gathers
REACH = 0.1  # [m] below the armpits, where arms still are between front and back
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
    ranks = []
    for w in ways:
        up = w.outward.mean(0)[1]
        one, two = (tubes[name] for name in w.panels)
        if w.encloses and one == two:
            under = up < -UPWARD and abs(w.middle[0]) < CENTER  # the crotch of a body suit
            first = w.is_over or under or one in legs
            ranks.append(0 if first else 2 if w.is_aside else 1)
        elif w.closes_panel:
            ranks.append(2 if w.is_aside else 1)
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
            upward = r > 0 and w.encloses and w.highest > armpit - REACH
            window = float(ends[k]), float(ends[k + 1])
            ordered[seam.name] = replace(seam, window=window, upward=upward)
    return replace(pattern, seams=[ordered.get(s.name, s) for s in pattern.seams])
