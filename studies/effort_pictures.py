"""Pictures of efforts: drapes side by side, kinetic energy in time, its error against CPU time."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from PIL import Image as Pillow
from PIL import ImageDraw, ImageFont

from studies.effort_scenes import TimedScene
from studies.effort_table import CPU, MOTION, OTHER, Row, Runs, mean
from studies.study import INK, Several
from weft.bodies.body import join_faces
from weft.show.picture.renderer import Image, Renderer


def side_by_side(case: TimedScene, n: int, runs: Runs) -> Image:
    """Every effort from one start, with one camera: at the impact above, at the end below."""
    scene = case.make(n, 0)
    shown = {effort: next((t for t in traces if t), None) for effort, traces in runs.items()}
    first = [(e.label, t) for e, t in shown.items() if t is not None]
    looks = [[t.impact for _, t in first], [t.end for _, t in first]]
    shapes = [[np.concatenate([s.x, *s.bodies]) for s in row] for row in looks]
    bodies = join_faces(scene.bodies) if scene.bodies else None
    every = [x for row in shapes for x in row]
    renderer = Renderer(scene.cloth.mesh, every, case.style, body_faces=bodies)
    rows = []
    for row, t in zip(shapes, (case.impact, case.seconds)):
        labels = [f"{label}\nt = {t:g} s" for label, _ in first]
        rows.append(np.hstack([_labelled(renderer.image(x), w) for x, w in zip(row, labels)]))
    return np.asarray(np.vstack(rows))


def _labelled(image: Image, text: str) -> Image:
    picture = Pillow.fromarray(image)
    size = max(9, image.shape[0] // 18)
    font = ImageFont.load_default(size=size)
    ImageDraw.Draw(picture).text((size // 2, size // 3), text, fill=(40, 40, 40), font=font)
    return np.asarray(picture)


def plot(
    figure: Any, cases: Sequence[TimedScene], found: Mapping[str, Runs], rows: Sequence[Row]
) -> None:
    """Kinetic energy in time, of the first start; how far it is off, against CPU time."""
    panels = figure.subplots(2, len(cases), squeeze=False)
    for (top, bottom), case in zip(panels.T, cases):
        for k, (effort, traces) in enumerate(found[case.name].items()):
            ink, dash = INK[k % len(INK)], "--" if k >= len(INK) else "-"
            trace = next((t for t in traces if t), None)
            if trace is not None:
                top.plot(trace.t, 1e3 * trace.kinetic, dash, lw=1, color=ink, label=effort.label)
            row = next(r for r in rows if r[:2] == [case.name, effort.label])
            cpu, off = row[CPU], row[MOTION]
            if k and isinstance(cpu, Several) and isinstance(off, Several):
                bottom.errorbar(
                    cpu.mean,
                    off.mean,
                    off.spread,
                    cpu.spread,
                    "o" if dash == "-" else "s",
                    ms=4,
                    lw=0.8,
                    color=ink,
                    label=effort.label,
                )
        chance = [r for r in rows if r[0] == case.name and OTHER in str(r[1])]
        for row in chance:
            bottom.axhline(mean(row, MOTION), color="0.6", lw=0.8, label=OTHER)
        top.axvline(case.impact, color="0.8", lw=0.8)
        top.set(title=case.name, xlabel="time [s]", ylabel="kinetic energy [mJ]")
        bottom.set(xlabel="CPU time [s]", ylabel="kinetic energy off [%]", ylim=(0, None))
        for axes in (top, bottom):
            axes.grid(alpha=0.25)
    panels[0, 0].legend(fontsize=6)
    panels[1, 0].legend(fontsize=6)
