"""Whether garments are worn: a measure of runs (``weft.run.quality``)."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from weft.base.trees import Json
from weft.plugins.garments.patterns.ease import Ease, measure_ease
from weft.plugins.garments.quality.garment_lines import (
    GarmentLine,
    MovingLandmarks,
    find_lines,
    judge_line,
)
from weft.run.plausibility import CAUGHT, OPEN
from weft.run.quality import Quality

SLIPPED = 0.10  # [m] median distance along the body from which a part has slipped off
FOLDED = 50.0  # [%] median compression of a waistband, from which it is folded over
VERDICTS, UNJUDGED = ("worn", "worn badly", "not worn"), "not judged"


def measure_wear(quality: Quality, frame: int, found: Json) -> None:
    """Add the verdict on garments to the measurements of a frame.

    Args:
        quality: of the run.
        frame: its number.
        found: the other measurements of the frame.
    """
    if "body" not in found:
        return
    wear = wear_of(quality)
    wear.mark_slipped(frame, found)
    if quality.seams:
        found["ease"] = [dataclasses.asdict(e) | {"notes": e.notes} for e in wear.ease]
        found["wear"] = wear.judge_wear(frame, found)


def wear_of(quality: Quality) -> "Wear":
    """Return the measurements of garments that belong to those of a run."""
    made: Wear = quality.shared.setdefault("wear", Wear(quality))
    return made


@dataclass(frozen=True, eq=False)
class Wear:
    """Measurements of the garments of a run.

    Args:
        quality: measurements of its cloth.
    """

    quality: Quality

    def mark_slipped(self, frame: int, found: Json) -> None:
        """Add whether each part has slipped off: it has left its place on a body that stands.

        What falls and still hangs at its place has not: a part above the neck, and one with a seam
        to another part that has not moved along the body, such as a hood.
        """
        stands = self.wearer is None or self.wearer.stands(self.quality.at(frame).body)
        for name in found["parts"]:
            part = found["body"][name]
            if "slip" in part:
                far = part["slip"] > SLIPPED and stands and name not in self._hoods
                part["slipped_off"] = far and not self._hangs(name, frame)

    def _hangs(self, name: str, frame: int) -> bool:
        """Return whether a part is sewn to another one at a seam that has kept its place."""
        q = self.quality
        if not q.seams:
            return False
        slip, own = q.slip(frame), np.unique(q.mesh.faces[dict(q.parts)[name]])
        joins = (pairs[np.isin(pairs, own).sum(axis=1) == 1] for _, pairs in q.seams)
        return any(len(pairs) and np.median(slip[pairs]) <= SLIPPED for pairs in joins)

    @cached_property
    def wearer(self) -> MovingLandmarks | None:
        """The landmarks of the first body that stands before the run; None if none does."""
        run = self.quality.run
        counts = [int(body["vertices"]) for body in run.manifest["bodies"]]
        return MovingLandmarks.of(run.body_positions(0), run.body_faces, counts)

    @cached_property
    def ease(self) -> Sequence[Ease]:
        """The ease of the garments on paper (``patterns.ease``); none if no body stands."""
        q = self.quality
        if self.wearer is None or not q.seams:
            return []
        parts, seams = [faces for _, faces in q.parts], [pairs for _, pairs in q.seams]
        names = [name for name, _ in q.parts]
        return measure_ease(q.mesh, parts, seams, self.wearer.landmarks, q.folded, names)

    @cached_property
    def lines(self) -> Sequence[GarmentLine]:
        """The seams and edges that have a place on the body; none if no body stands."""
        wearer, q = self.wearer, self.quality
        own = np.arange(q.mesh.n_vertices, dtype=np.int32) if q.sewn is None else q.sewn
        return find_lines(q.mesh, q.parts, q.seams, own, wearer) if wearer else []

    @cached_property
    def _upper_panels(self) -> list[str]:
        """The panels with the upper edge of a garment that hangs on no shoulder."""
        upper = [line.vertices for line in self.lines if line.kind == "upper edge"]
        ids = np.concatenate([np.zeros(0, dtype=np.int32), *upper])
        faces = self.quality.mesh.faces
        return [name for name, own in self.quality.parts if np.isin(ids, faces[own]).any()]

    @cached_property
    def _hoods(self) -> list[str]:
        """The panels that start above the neck: a hood may fall back."""
        if self.wearer is None:
            return []
        start, marks = self.quality.at(0), self.wearer.landmarks
        above = (start.x - marks.points["neck_back"]) @ marks.axes[1]
        faces = self.quality.mesh.faces
        return [name for name, own in self.quality.parts if np.median(above[faces[own]]) > 0]

    def judge_wear(self, frame: int, found: Json) -> Json:
        """Return whether garments are worn: ``verdict``, ``reasons`` and the measured ``lines``.

        Places on a body that does not stand cannot be judged: what else is found counts, and
        without a reason the verdict is ``not judged``.

        Args:
            frame: its number.
            found: the other measurements of the frame.
        """
        now = self.quality.at(frame)
        stands = self.wearer is not None and self.wearer.stands(now.body)
        lines = [line.measure(now.x, now.body) for line in self.lines] if stands else []
        grades = [judge_line(line) for line in lines]
        for name in self._upper_panels:
            part = found["parts"][name]
            strain = min(part["warp"]["p50"], part["weft"]["p50"])
            grades.append((int(strain < -FOLDED), f"{name} folded to {100 + strain:.0f} %"))
        for name, gap in found.get("seams", {}).items():
            grade = sum(gap["sewn"] and gap["max"] > 1e3 * limit for limit in (OPEN, CAUGHT))
            grades.append((grade, f"seam {name} open by {gap['max']:.0f} mm"))
        for name in found["parts"]:
            if found["body"][name].get("slipped_off"):
                grades.append((2, f"{name} slid by {100 * found['body'][name]['slip']:.0f} cm"))
        if found["intersections"]:
            grades.append((1, f"{found['intersections']} pairs of faces intersect"))
        grades.sort(key=lambda one: -one[0])
        worst = grades[0][0] if grades else 0
        reasons, verdict = [r for g, r in grades if g], VERDICTS[worst]
        if not stands:
            reasons.append(
                "no standing body: weft does not judge the places of seams, edges and hems"
            )
            verdict = verdict if worst else UNJUDGED
        return {"verdict": verdict, "reasons": reasons, "lines": lines}
