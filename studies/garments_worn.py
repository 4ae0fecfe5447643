"""Are garments of GarmentCode's format worn without edits, by bodies of several sizes?

Twenty garments (``studies/garments``) are drafted for a woman, a man, a child and a woman of size
48. Panels start where that program places them; each garment is sewn on its body, settles and walks
two cycles, at cells of 3 cm; ``--coarse`` takes 4 cm, and ``--quick`` also ends before the walk.
Every frame's intersections are counted by code that is not weft's. How it is worn is the verdict of
``weft quality`` on the last frame, and the result of a trial has its reasons.

``--random N --seed S`` tries N designs that are drawn at random (``random_designs``) in place of
the twenty garments, each on one of three bodies in turn: the woman, the man, and a body with
fingers, toes and a face. These designs are sewn and settle at cells of 3 cm; they do not walk.
``--only`` with names of ``sampler_families`` draws from these families in turn; ``families`` is all
of them.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import PIL.Image

from studies.garments.catalog import GARMENTS
from studies.garments.random_designs import draw_design
from studies.garments.sampler_families import FAMILIES, draw_family
from studies.garments.trial import BODIES, TrialResult, measures_of, try_garment
from studies.study import INK, Say, Study, StudyTable
from weft.base.errors import check_known
from weft.plugins.garments.quality.wear import VERDICTS

FOLDER = Path("build/garments")  # of scenes, runs and pictures; used again by the same program
RANDOM_BODIES = ["woman", "man", "fingers"]  # of designs drawn at random
EVERY_FAMILY = "families"  # of ``sampler_families``
SLOW = 180.0  # [s] of processor time that no trial should take
ROW = 2  # garments beside one another in a picture
COLUMNS = (
    "body",
    "garment",
    "vertices",
    "processor [s]",
    "frames with intersections",
    "widest seam [mm]",
    "verdict",
    "problem",
)


def study(
    say: Say,
    only: Sequence[str] = (),
    quick: bool = False,
    coarse: bool = False,
    random: int = 0,
    seed: int = 0,
    folder: Path = FOLDER,
) -> Study:
    """Try all garments on all bodies, or designs drawn at random, each on one body.

    Args:
        say: called with a line for every trial.
        only: names of garments or bodies, if not all of them; of random designs: bodies, families.
        quick: cells of 4 cm, sewing and settling without the walk.
        coarse: cells of 4 cm.
        random: number of designs drawn at random; 0: the garments of the catalog.
        seed: of these designs.
        folder: of trials.
    """
    if random:
        return _study_random(say, only, random, seed, folder, coarse=coarse or quick)
    for name in only:
        check_known(name, [*GARMENTS, *BODIES], "--only")
    garments = [g for g in GARMENTS if g in only] or list(GARMENTS)
    bodies = [b for b in BODIES if b in only] or list(BODIES)
    results, pictures = [], {}
    for body in bodies:
        sheets = []
        for garment in garments:
            own = folder / body / garment
            result = try_garment(garment, body, own, walks=not quick, coarse=coarse or quick)
            results.append(result)
            say(f"{body} {garment}: {result.seconds:.0f} s, {result.problem or 'worn'}")
            sheets.append(folder / body / garment / "end.png")
        pictures[body] = _sheet([s for s in sheets if s.is_file()])
    rows = [_row(r) for r in results]
    title = "Garments in GarmentCode's format, worn without edits"
    return Study(
        "garments", title, StudyTable(COLUMNS, rows), _findings(results), _plot(results), pictures
    )


def _study_random(
    say: Say, only: Sequence[str], count: int, seed: int, folder: Path, *, coarse: bool
) -> Study:
    """Try designs drawn at random; ``only`` names bodies and families."""
    for name in only:
        check_known(name, [*RANDOM_BODIES, *FAMILIES, EVERY_FAMILY], "--only")
    bodies = [b for b in RANDOM_BODIES if b in only] or RANDOM_BODIES
    families = [f for f in FAMILIES if f in only or EVERY_FAMILY in only]
    results, titles = [], []
    for number in range(count):
        body = bodies[number % len(bodies)]
        if families:
            family = families[number % len(families)]
            draft = draw_family(family, seed, number, measures_of(body))
            own = folder / f"families-{seed}" / f"{number}-{family}-{body}"
        else:
            draft = draw_design(seed, number, measures_of(body))
            own = folder / f"random-{seed}" / f"{number}-{body}"
        own.mkdir(parents=True, exist_ok=True)
        pattern = own / "design.json"
        pattern.write_text(draft.text(), encoding="utf-8")
        result = try_garment(str(number), body, own, pattern, walks=False, coarse=coarse)
        results.append(result)
        titles.append(draft.title)
        say(f"{number} {body}, {draft.title}: {result.seconds:.0f} s, {result.problem or 'worn'}")
    rows = [[*_row(r), title] for r, title in zip(results, titles)]
    return Study(
        "garments-random",
        f"{count} designs in GarmentCode's format, drawn at random with seed {seed}",
        StudyTable((*COLUMNS, "design"), rows),
        _random_findings(results, titles),
        _plot(results),
        {},
    )


def _random_findings(results: Sequence[TrialResult], titles: Sequence[str]) -> list[str]:
    """Return how many designs are worn, the reasons of the others, intersections and times."""
    seconds = np.array([r.seconds for r in results])
    frames, crossing = sum(r.frames for r in results), sum(r.crossing for r in results)
    worn = sum(not r.problem for r in results)
    counts = ", ".join(f"{sum(r.verdict == v for r in results)} {v}" for v in VERDICTS)
    stopped = sum(bool(r.message) for r in results)
    return [
        f"{worn} of {len(results)} are worn without an intersection",
        f"verdicts: {counts}; {stopped} ended with an error",
        f"{crossing} of {frames} frames have an intersection, counted independently",
        f"processor time: median {np.median(seconds):.0f} s, longest {seconds.max():.0f} s, "
        f"{(seconds > SLOW).sum()} above {SLOW:.0f} s",
        *(f"{r.garment} {r.body}, {t}: {r.problem}" for r, t in zip(results, titles) if r.problem),
    ]


def _row(r: TrialResult) -> list[float | str]:
    gap = f"{r.open_seam:.2f}" if np.isfinite(r.open_seam) else ""
    numbers = (r.vertices, round(r.seconds), r.crossing)
    return [r.body, r.garment, *numbers, gap, r.verdict, r.problem]


def _findings(results: Sequence[TrialResult]) -> list[str]:
    """Return what the measurements say of every body, and of all frames."""
    found = []
    for body in dict.fromkeys(r.body for r in results):
        own = [r for r in results if r.body == body]
        worn = [r for r in own if not r.problem]
        lost = ", ".join(r.garment for r in own if r.problem)
        seconds = np.mean([r.seconds for r in own])
        found.append(
            f"{body}: {len(worn)} of {len(own)} are worn by the numbers"
            + (f"; not {lost}" if lost else "")
            + f"; {seconds:.0f} s of processor time, mean"
        )
    frames, crossing = sum(r.frames for r in results), sum(r.crossing for r in results)
    found.append(f"{crossing} of {frames} frames have an intersection, counted independently")
    return found


def _sheet(files: Sequence[Path]) -> Any:
    """Return one picture of pictures side by side."""
    tiles = [np.asarray(PIL.Image.open(f).convert("RGB").reduce(2)) for f in files]
    if not tiles:
        return np.full((16, 16, 3), 255, dtype=np.uint8)
    tiles += [np.full_like(tiles[0], 255)] * (-len(tiles) % ROW)
    rows = [np.concatenate(tiles[k : k + ROW], axis=1) for k in range(0, len(tiles), ROW)]
    return np.concatenate(rows, axis=0)


def _plot(results: Sequence[TrialResult]) -> Any:
    def draw(figure: Any) -> None:
        axes = figure.add_subplot()
        names = list(dict.fromkeys(r.garment for r in results))
        for body, color in zip(dict.fromkeys(r.body for r in results), INK):
            own = {r.garment: r for r in results if r.body == body}
            x = [k for k, n in enumerate(names) if n in own]
            axes.plot(x, [own[names[k]].seconds for k in x], "o", color=color, label=body)
            lost = [k for k in x if own[names[k]].problem]
            y = [own[names[k]].seconds for k in lost]
            axes.plot(lost, y, "x", color=color, markersize=11)
        axes.set_xticks(range(len(names)), names, rotation=60, ha="right")
        axes.set(ylabel="processor time [s]; crosses: not worn", yscale="log")
        axes.legend()

    return draw
