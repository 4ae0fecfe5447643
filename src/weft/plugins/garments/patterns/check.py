"""Checks of a pattern: all of its errors and warnings, with the names of the parts concerned."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from weft.base.errors import PatternError, PatternProblems, WeftError, abbreviate, did_you_mean
from weft.base.keyframes import Keys
from weft.plugins.garments.patterns.check_panel import edge_name, panel_problems
from weft.plugins.garments.patterns.edge_chains import (
    PROBES,
    EdgeChain,
    Match,
    SewnCorners,
    align_chains,
    find_gap,
)
from weft.plugins.garments.patterns.inner_seams import place_on_lines
from weft.plugins.garments.patterns.pattern import (
    Closing,
    Elastic,
    Panel,
    Pattern,
    Placement,
    Seam,
    SeamSide,
)
from weft.plugins.garments.patterns.placement import place_points

# Ratios of the lengths of a seam's two chains that are warned of and refused; gathers reach 3.
WARN_RATIO, MOST_RATIO = 1.5, 4.0
MIDDLE = np.array([0.5])  # of a chain
ASIDE, SAME = 0.03, 0.005  # [m] from the plane of symmetry; between an edge and a mirror image


@dataclass(eq=False)
class Report:
    """The errors and warnings of a pattern, and its seams and elastics with their chains.

    ``pattern`` is the pattern with the panels that are sewn on inner lines placed there.
    """

    pattern: Pattern
    errors: list[WeftError] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    seams: list[Match] = field(default_factory=list)  # seams without errors
    elastics: list[tuple[Elastic, EdgeChain]] = field(default_factory=list)

    @property
    def sewn(self) -> dict[tuple[str, int], str]:
        """Return the name of the seam at every edge that is sewn."""
        return {s.edge_id: match.seam.name for match in self.seams for s in match.sides}

    def add(self, what: str, got: object, expected: str, hint: str | None = None) -> None:
        """Add an error."""
        self.errors.append(PatternError(what, got=got, expected=expected, hint=hint))

    def warn(self, match: Match, text: str) -> None:
        """Add a warning about a seam, with the places of its edges, its file and its line."""
        what = f"seam {match.seam.name}"
        where = _locate(self.pattern, what)
        text = f"{what}{text}; it sews {_between(match)}"
        self.warnings.append(text if where is None else f"{text} ({where})")


def check_pattern(pattern: Pattern) -> Report:
    """Return the pattern's seams and elastics with their chains, and its warnings.

    Raises:
        PatternProblems: all errors of the pattern.
    """
    report = examine_pattern(pattern)
    if report.errors:
        raise PatternProblems(report.errors)
    return report


def examine_pattern(pattern: Pattern) -> Report:
    """Return all errors and warnings of a pattern, without raising."""
    report = Report(pattern)
    if not pattern.panels:
        report.add("panels", "none", "at least one")
    names = {
        "panel": [p.name for p in pattern.panels],
        "seam": [s.name for s in pattern.seams],
        "elastic": [e.name for e in pattern.elastics],
    }
    for kind, own in names.items():
        for name, count in Counter(own).items():
            if count > 1:
                report.add(f"{kind} {name}", f"{count} of them", "names once")
    good: dict[str, Panel] = {}
    for panel in pattern.panels:
        problems = panel_problems(panel) or _placement_problems(panel)
        report.errors += problems
        if not problems:
            good[panel.name] = panel
    placed = place_on_lines(good, pattern.seams)
    good = {name: placed[name] for name in good}
    panels = [good.get(p.name, p) for p in pattern.panels]
    report.pattern = replace(pattern, panels=panels)
    every = report.pattern.by_name
    _check_seams(report, every, good)
    _check_elastics(report, every, good)
    _check_unsewn(report)
    _check_twists(report)
    _check_mirror(report, good)
    for error in report.errors:
        error.where = error.where or _locate(pattern, error.what)
    return report


def _locate(pattern: Pattern, what: str) -> str | None:
    """Return the file and line of a part of the pattern."""
    known = [k for k in pattern.places if what == k or what.startswith((f"{k}:", f"{k},"))]
    return pattern.places[max(known, key=len)] if known else pattern.source or None


def _between(match: Match) -> str:
    """Return the edges that a seam joins, with their middle points [m] in their panels."""
    return " to ".join(
        f"{_chain_text(chain)} at {np.round(chain.on_paper(MIDDLE)[0], 3).tolist()}"
        for chain in match.chains
    )


def _chain_text(chain: EdgeChain) -> str:
    """Return the names of the first and the last edge of a chain: ``front, edge 1 (side)``."""
    ends = [chain.sides[0], *chain.sides[1:][-1:]]
    return " ... ".join(f"{s.panel}, {edge_name(chain.panels[s.panel], s.edge)}" for s in ends)


def _placement_problems(panel: Panel) -> list[WeftError]:
    try:
        place_points(panel, np.asarray(panel.corners, dtype=np.float64))
    except WeftError as error:
        return [error]
    return []


def _check_sides(
    report: Report, what: str, sides: Sequence[SeamSide], every: dict[str, Panel]
) -> None:
    """Report sides whose panel or edge does not exist."""
    if not sides:
        report.add(what, "no edges", "at least one on either side")
    for s in sides:
        if s.panel not in every:
            known = f"one of {abbreviate(list(every), 12)}"
            report.add(f"{what}: panel", s.panel, known, did_you_mean(s.panel, every))
        elif not 0 <= s.edge < len(every[s.panel].edge_names):
            last = len(every[s.panel].edge_names) - 1
            report.add(f"{what}: edge of panel {s.panel}", s.edge, f"0 to {last}")


def _check_seams(report: Report, every: dict[str, Panel], good: dict[str, Panel]) -> None:
    used: dict[tuple[str, int], Seam] = {}
    for seam in report.pattern.seams:
        what, sides, before = f"seam {seam.name}", [*seam.first, *seam.second], len(report.errors)
        _check_sides(report, what, seam.first, every)
        _check_sides(report, what, seam.second, every)
        _check_values(report, what, seam)
        if seam.notched and len(seam.first) != len(seam.second):
            got = f"{len(seam.first)} and {len(seam.second)} edges"
            report.add(f"{what}: notched", got, "the same number on both")
        if len(report.errors) == before:
            _check_use(report, seam, every, used)
        if len(report.errors) == before and all(s.panel in good for s in sides):
            match = Match.of(seam, good)
            if seam.notched:
                first, second = align_chains(*match.chains)
                match = replace(match, first=first, second=second)
            report.seams.append(match)
            _check_line(report, match)
    for match in report.seams:
        _check_consecutive(report, match)
        _check_lengths(report, match)
    _warn_of_gathers(report)
    _check_orientations(report)


def _check_line(report: Report, match: Match) -> None:
    """Report angles of a seam on an inner line, where no two faces fold."""
    for name in ("angle", "fold_stiffness"):
        if match.on_line and getattr(match.seam, name):
            report.add(
                f"seam {match.seam.name}: {name}",
                getattr(match.seam, name),
                "no angle, because three faces meet where a panel is sewn on an inner line",
                "give the angle as a fold of the panel: `folds`",
            )


def _check_use(
    report: Report, seam: Seam, every: dict[str, Panel], used: dict[tuple[str, int], Seam]
) -> None:
    """Report edges that are in the seam twice, or in another one that is sewn for good, and note
    the seam's edges in ``used``.
    """
    mine: set[tuple[str, int]] = set()
    for s in (*seam.first, *seam.second):
        key = s.edge_id
        name = f"{edge_name(every[s.panel], s.edge)} of panel {s.panel}"
        if key in mine:
            report.add(f"seam {seam.name}", f"{name} twice", "once")
        elif key in used and Closing.SEWN in (seam.closing, used[key].closing):
            got = f"{name}, which seam {used[key].name} already uses"
            hint = "divide the edge where the two seams meet"
            report.add(f"seam {seam.name}", got, "edges in one seam", hint)
        mine.add(key)
    used |= dict.fromkeys(mine, seam)


def _check_values(report: Report, what: str, seam: Seam) -> None:
    """Report numbers of a seam that are out of range."""
    for name, least in (
        ("angle", -np.inf),
        ("fold_stiffness", 0.0),
        ("strength", 0.0),
        ("open_at", -np.inf),
        ("close_at", -np.inf),
    ):
        value = getattr(seam, name)
        if value is not None and not (np.isfinite(value) and value >= least):
            expected = "a finite number" if least < 0 else "must be >= 0"
            report.add(f"{what}: {name}", value, expected)
    if seam.closing.at_points and seam.buttons < 1:
        report.add(f"{what}: buttons", seam.buttons, "at least one")


def _check_consecutive(report: Report, match: Match) -> None:
    """Report chains whose edges do not follow one another, even through other seams."""
    corners = SewnCorners(other for other in report.seams if other is not match)
    panels = match.first.panels
    for sides in (match.seam.first, match.seam.second):
        i = find_gap(sides, panels, corners.coincide)
        if i is not None:
            one, two = (
                f"{s.panel}, {edge_name(panels[s.panel], s.edge)}" for s in sides[i - 1 : i + 1]
            )
            chain = EdgeChain(tuple(sides), panels)
            ends = (chain.corners(sides[i - 1])[1], chain.corners(sides[i])[0])
            end, begin = (np.round(panels[p].corners[k], 3).tolist() for p, k in ends)
            report.add(
                f"seam {match.seam.name}",
                f"{one}, then {two}",
                "edges that follow each other",
                f"they share no corner, and no seam joins their ends: one ends at {end}, the other "
                f"begins at {begin}",
            )


def _check_lengths(report: Report, match: Match) -> None:
    """Report lengths of the two chains that differ by more than gathers do."""
    a, b = match.first.length, match.second.length
    text = f"{100 * a:.1f} cm and {100 * b:.1f} cm"
    what = f"seam {match.seam.name}"
    if match.fullness > MOST_RATIO:
        expected = f"lengths within a factor of {MOST_RATIO:g}"
        hint = f"check that these edges belong together: {_between(match)}?"
        report.add(what, text, expected, hint)


def _warn_of_gathers(report: Report) -> None:
    """Warn of wide gathers, once for all gathers of a panel."""
    found: dict[str, list[str]] = {}
    for match in report.seams:
        if WARN_RATIO < match.fullness <= MOST_RATIO:
            text = (
                f"seam {match.seam.name} joins {100 * match.first.length:.1f} cm and "
                f"{100 * match.second.length:.1f} cm: gathered {match.fullness:.2f} times"
            )
            found.setdefault(match.longer.panel_names, []).append(text)
    for panels, texts in found.items():
        where = _locate(report.pattern, f"panel {panels}")
        text = f"{panels}: {'; '.join(texts)}"
        report.warnings.append(text if where is None else f"{text} ({where})")


def _check_orientations(report: Report) -> None:
    """Warn of seams whose orientation is inferred only, or contradicts the start positions."""
    guessed = []
    for match in report.seams:
        o = match.orientation
        if o.confirmed is False:
            source = "as `flip` defines" if not o.inferred else "inferred from the right sides"
            report.warn(
                match,
                f", {source}, joins the ends that are further apart at the start: check whether "
                f"`flip: {str(not o.flip).lower()}` is right",
            )
        elif o.inferred and o.confirmed is None:
            guessed.append(match)
    across = [m.seam.name for m in guessed if len(_panels_of(m)) > 1]
    if across:
        report.warnings.append(
            f"weft infers from the right sides how {abbreviate(across, 8)} are sewn, because "
            "their places in space do not decide; `flip` defines the direction"
        )


def _panels_of(match: Match) -> list[str]:
    return list(dict.fromkeys(s.panel for s in match.sides))


def _check_elastics(report: Report, every: dict[str, Panel], good: dict[str, Panel]) -> None:
    for elastic in report.pattern.elastics:
        what, before = f"elastic {elastic.name}", len(report.errors)
        _check_sides(report, what, elastic.chain, every)
        for ratio in _keyframe_values(elastic.ratio):
            if not 0 < ratio <= 2:
                report.add(f"{what}: ratio", ratio, "must be > 0 and <= 2")
        for stiffness in _keyframe_values(elastic.stiffness):
            if not 0 < stiffness < np.inf:
                report.add(f"{what}: stiffness", stiffness, "must be > 0 [N]")
        if len(report.errors) == before and all(s.panel in good for s in elastic.chain):
            report.elastics.append((elastic, EdgeChain(tuple(elastic.chain), good)))


def _keyframe_values(number: float | Keys) -> Sequence[float]:
    """Return the number at all keyframes; it may be infinite or NaN."""
    return number.values if isinstance(number, Keys) else (number,)


def _check_unsewn(report: Report) -> None:
    """Warn of panels that no seam joins to anything."""
    sewn = {s.panel for seam in report.pattern.seams for s in (*seam.first, *seam.second)}
    alone = [p.name for p in report.pattern.panels if p.name not in sewn]
    if alone and len(report.pattern.panels) > 1:
        many = "s" * (len(alone) > 1)
        report.warnings.append(
            f"panel{many} {abbreviate(alone, 8)} without a seam: cut but not sewn, so it can "
            "fall: add the missing seam, or remove the panel"
        )


def _check_twists(report: Report) -> None:
    """Warn of seams that twist the garment (Möbius band), and of panels sewn inside out.

    A union-find structure over panels stores for each panel whether it is inside out relative to
    its root; a seam that contradicts it twists the garment.
    """
    parent: dict[str, tuple[str, bool]] = {}

    def root(name: str) -> tuple[str, bool]:
        turned = False
        while name in parent:
            name, other = parent[name]
            turned ^= other
        return name, turned

    for match in (m for m in report.seams if not m.on_line):
        for (a, b), twisted in panel_pairs(match).items():
            (one, p), (two, q) = root(a), root(b)
            if one != two:
                parent[one] = (two, p ^ q ^ twisted)
            elif p ^ q ^ twisted:
                name = f"panel {a}" if a == b else f"panels {a} and {b}"
                report.warn(
                    match,
                    f" twists {name}: this seam joins the right side to the wrong side (a Möbius "
                    "band): reverse one side (`flip`, in JSON `right_wrong`), or remove the seam",
                )
    turned = sorted(p.name for p in report.pattern.panels if root(p.name)[1])
    if turned:
        report.warnings.append(
            f"right sides meet wrong sides: panels {abbreviate(turned, 8)} are inside out "
            "compared with the others; folds across these seams do not bend"
        )


def _check_mirror(report: Report, good: dict[str, Panel]) -> None:
    """Warn of seams that join left and right, and of open edges whose mirror image is sewn.

    Both are seen where panels start in space, left and right of x = 0.
    """
    flip = np.array([-1.0, 1.0, 1.0])
    placed = {n: p for n, p in good.items() if p.placement != Placement()}
    for match in report.seams:
        if any(name not in placed for name in _panels_of(match)):
            continue
        a, b = (chain.in_space(PROBES).mean(axis=0) for chain in match.chains)
        apart, other = np.linalg.norm(a - b), np.linalg.norm(a - flip * b)
        sides = a[0] * b[0] < 0 and min(abs(a[0]), abs(b[0])) > ASIDE
        # Center seams join an edge with its own mirror image, from which it is not apart.
        if sides and ASIDE < other < 0.9 * apart:
            report.warn(
                match,
                f" joins an edge on the left with one on the right, {100 * apart:.0f} cm apart: "
                f"the mirror image of one of them is {100 * other:.0f} cm from the other; check "
                "which edge belongs to the seam",
            )
    sewn = report.sewn
    middle = {
        (name, i): EdgeChain((SeamSide(name, i),), placed).in_space(PROBES)
        for name, panel in placed.items()
        for i in range(len(panel.edges))
    }
    for (name, i), points in middle.items():
        if (name, i) in sewn or np.ptp(points, axis=0).max() < ASIDE:
            continue
        for key in sewn.keys() & middle.keys():
            image = flip * middle[key]
            if any(np.allclose(points, q, atol=SAME) for q in (image, image[::-1])):
                one, two = (f"{edge_name(placed[n], e)} of panel {n}" for n, e in ((name, i), key))
                report.warnings.append(
                    f"{one} is open, and its mirror image, {two}, is in seam {sewn[key]}: add "
                    "the seam if it is missing"
                )


def panel_pairs(match: Match) -> dict[tuple[str, str], bool]:
    """Return the pairs of panels that a seam joins.

    The value is True if right sides meet wrong sides between the two panels.
    """
    found: dict[tuple[str, str], bool] = {}
    for i, a in enumerate(match.first.sides):
        for j, b in enumerate(match.second.sides):
            low = max(match.first.starts[i], match.second.starts[j])
            high = min(match.first.starts[i + 1], match.second.starts[j + 1])
            if high - low > 1e-3:
                found.setdefault((a.panel, b.panel), a.backward == b.backward)
    return found
