"""Comparison of one frame of two runs: the same measures side by side."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from weft.base.errors import abbreviate
from weft.base.trees import Json
from weft.run.quality import Quality, girth_name, worst

STRAINS = {"warp %": "warp", "weft %": "weft", "shear °": "shear", "turn °": "turn"}
SAME_TIME = 1e-9  # [s] difference of times that are equal
Pair = tuple[float, float]


@dataclass
class RunComparison:
    """Measures that both runs have, each as a pair of numbers.

    Args:
        parts: by part and measure: 99th percentiles of strains by area, the median distance from
            the body [mm], the 95th percentile of the pressure [Pa], and the slip [mm].
        whole: measures of all parts, by name.
        verdicts: on the garments; None: no verdict.
        left_out: what is not compared, with the reason.
    """

    parts: dict[str, dict[str, Pair]] = field(default_factory=dict)
    whole: dict[str, Pair] = field(default_factory=dict)
    verdicts: tuple[str, str] | None = None
    left_out: list[str] = field(default_factory=list)

    def as_json(self) -> Json:
        """Return a tree of lists and texts."""
        return {
            "parts": {name: _lists(pairs) for name, pairs in self.parts.items()},
            "whole": _lists(self.whole),
            "verdicts": None if self.verdicts is None else list(self.verdicts),
            "not_compared": self.left_out,
        }


def compare(first: Quality, second: Quality, frame: int = -1) -> RunComparison:
    """Compare a frame of two runs.

    Turn depends on the edges of the mesh; slip and speed depend on the time. They are left out
    where meshes or times differ, and so are parts and girths that only one run has.

    Args:
        first, second: measurements of the runs.
        frame: number of the frame in both; -1 is the last of each.

    Raises:
        RunError: a run has no such frame.
    """
    runs = first, second
    reports = [run.report([frame]) for run in runs]
    one, two = (report["frames"][-1] for report in reports)
    found = RunComparison()
    hidden = set(_different_runs(runs, one, two, found.left_out))
    _name_single("parts", one["parts"], two["parts"], found.left_out)
    for name in one["parts"]:
        if name in two["parts"]:
            pairs = _pairs(_of_part(one, name), _of_part(two, name))
            found.parts[name] = {k: pair for k, pair in pairs.items() if k not in hidden}
    one_ease, two_ease = _eases(one), _eases(two)
    _name_single("girths", one_ease, two_ease, found.left_out)
    ease = {f"ease {k} cm": v for k, v in _pairs(one_ease, two_ease).items()}
    whole = _pairs(*(_of_run(report, line) for report, line in zip(reports, (one, two))))
    found.whole = {k: pair for k, pair in (whole | ease).items() if k not in hidden}
    verdicts = [str(a["wear"]["verdict"]) for a in (one, two) if "wear" in a]
    if len(verdicts) == 2:
        found.verdicts = verdicts[0], verdicts[1]
    return found


def _different_runs(
    runs: tuple[Quality, Quality], one: Json, two: Json, told: list[str]
) -> Iterator[str]:
    """Yield the measures that differences of the runs forbid to compare; add the reasons."""
    first, second = (run.mesh for run in runs)
    if not np.array_equal(first.faces, second.faces):
        counts = f"{first.n_vertices} and {second.n_vertices}"
        told.append(f"turn, because the meshes differ ({counts} vertices)")
        yield from ("turn °", "turn p99")
    times = one["t"], two["t"]
    if abs(times[0] - times[1]) > SAME_TIME:
        told.append(f"slip and speed, because the times differ ({times[0]:g} and {times[1]:g} s)")
        yield from ("slip mm", "speed m/s")


def _name_single(
    what: str, one: Mapping[str, object], two: Mapping[str, object], told: list[str]
) -> None:
    """Add the names that only one run has."""
    for run, names in (("first", one.keys() - two.keys()), ("second", two.keys() - one.keys())):
        if names:
            told.append(f"{what} of the {run} run only: {abbreviate(sorted(names), 5)}")


def _of_part(line: Json, name: str) -> dict[str, float | None]:
    """Return the measures of a part in a frame."""
    strains, body = line["parts"][name], line.get("body", {}).get(name)
    found: dict[str, float | None] = {k: strains[kind]["p99"] for k, kind in STRAINS.items()}
    if body is not None:
        found["body mm"] = body["distance"]["p50"]
        found["Pa"] = None if body["pressure"] is None else body["pressure"]["p95"]
        found["slip mm"] = 1e3 * body["slip"] if "slip" in body else None
    return found


def _eases(line: Json) -> dict[str, float]:
    """Return the ease [cm] of the garments of a frame, by girth."""
    return {girth_name(e): 100 * (e["garment"] - e["body"]) for e in line.get("ease", ())}


def _of_run(report: Json, line: Json) -> dict[str, float | None]:
    """Return the measures of all parts in a frame, and the costs of the run."""
    extremes = worst([line], line["frame"])
    found = {name.replace("_", " "): value for name, value in extremes.items()}
    costs = {name: report["time"][name] for name in ("steps", "iterations", "seconds")}
    return found | {"speed m/s": line["speed"]["p99"]} | costs


def _pairs(one: Mapping[str, float | None], two: Mapping[str, float | None]) -> dict[str, Pair]:
    """Return the numbers that both have."""
    found = {}
    for name, a in one.items():
        b = two.get(name)
        if a is not None and b is not None:
            found[name] = float(a), float(b)
    return found


def _lists(pairs: Mapping[str, Pair]) -> Json:
    return {name: list(pair) for name, pair in pairs.items()}
