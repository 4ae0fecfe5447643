"""Costs of the steps of a run, from its metrics: where the time went, and what would save some.

A step has one line of metrics, or one for each part if it was halved. The costs of a line include
those of its rejected tries.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from weft.base.errors import point_text, ranges
from weft.base.trees import Json

DEAREST = 10  # steps that are listed
OTHER = "other"  # time outside all phases
# Parts of the time from which on advice is given: of rejected tries, and of a chosen solver.
LOST, SOLVER = 0.05, 0.5
OFTEN = 0.2  # part of the steps with rejected tries, from which on a shorter step is advised
ENOUGH = 100  # iterations: a higher limit is not advised
MANY, INTERACTIVE = 24, 8  # iterations of a step on average: many; most of an interactive step


def step_costs(metrics: Sequence[Json], manifest: Json) -> Json:
    """Return where the time of a run went.

    Args:
        metrics: lines of metrics.
        manifest: of the run.

    Returns:
        A tree: ``steps``, ``iterations`` and ``seconds`` of the run; ``halved``, the number of
        steps with rejected tries; ``rejected``, by outcome, the number of ``tries`` and their
        ``iterations`` and ``seconds``; ``dearest``, up to ten steps with the most seconds;
        ``phases``, seconds by name; ``advice``, sentences.
    """
    steps = [_step(list(lines)) for _, lines in groupby(metrics, key=lambda m: m["step"])]
    seconds = sum(s["seconds"] for s in steps)
    tries = [r for s in steps for r in s["rejected"]]
    rejected: dict[str, Json] = {}
    for r in tries:
        found = rejected.setdefault(r["outcome"], {"tries": 0, "iterations": 0, "seconds": 0.0})
        found["tries"] += 1
        found["iterations"] += r["iterations"]
        found["seconds"] += r["seconds"]
    phases: dict[str, float] = {}
    for name, spent in (item for m in metrics for item in m["phases"].items()):
        phases[name] = phases.get(name, 0.0) + spent
    phases[OTHER] = max(0.0, seconds - sum(phases.values()))
    costs: Json = {
        "steps": len(steps),
        "iterations": sum(s["iterations"] for s in steps),
        "seconds": seconds,
        "halved": sum(bool(s["rejected"]) for s in steps),
        "rejected": rejected,
        "dearest": sorted(steps, key=lambda s: -s["seconds"])[:DEAREST],
        "phases": dict(sorted(phases.items(), key=lambda item: -item[1])),
    }
    return costs | {"advice": list(_advice(costs, steps, manifest))}


def _step(lines: Sequence[Json]) -> Json:
    """Return number, frame, time, costs and rejected tries of a step from its lines of metrics,
    its number of parts, and the length [s] of its shortest part.
    """
    last = lines[-1]
    # Runs of weft before 2026-11-29 have their number alone.
    rejected = [m["rejected"] for m in lines if isinstance(m["rejected"], list)]
    return {
        "step": last["step"],
        "frame": last["frame"],
        "t": last["t"],
        "parts": sum(m["substeps"] for m in lines),
        "shortest": min(m["dt"] / m["substeps"] for m in lines),
        "iterations": sum(m["iterations"] for m in lines),
        "seconds": sum(m["seconds"] for m in lines),
        "rejected": [r for tries in rejected for r in tries],
    }


def _advice(costs: Json, steps: Sequence[Json], manifest: Json) -> Iterator[str]:
    """Yield sentences about settings that would save time, and how much of it."""
    scene: Mapping[str, Any] = manifest["scene"]
    settings, seconds = scene.get("settings") or {}, costs["seconds"]

    def part(spent: float) -> str:
        return f"{spent:.3g} s ({spent / seconds:.0%} of the time)"

    lost = sum(r["seconds"] for r in costs["rejected"].values())
    limited = costs["rejected"].get("MAX_ITERATIONS", {}).get("seconds", 0.0)
    most = settings.get("max_iterations", ENOUGH)
    halved = [s for s in steps if s["rejected"]]
    if limited > max(LOST * seconds, lost / 2) and most < ENOUGH:
        yield (
            f"max_iterations: {most} rejected tries of {part(limited)}; {ENOUGH} lets such steps "
            "converge"
        )
    elif lost > LOST * seconds and len(halved) > OFTEN * len(steps):
        dt = 1 / (manifest["fps"] * manifest["steps_per_frame"])
        usual = sorted(s["shortest"] for s in halved)[len(halved) // 2]
        yield (
            f"step: {dt:.3g} s is too long for {len(halved)} of {len(steps)} steps; {usual:.3g} s "
            f"saves up to {part(lost)}"
        )
    elif lost > LOST * seconds:
        yield (
            f"rejected tries took {part(lost)}: move pins and bodies more slowly in frames "
            f"{ranges(sorted({s['frame'] for s in halved}))}, or along another path"
        )
    mean = costs["iterations"] / max(1, len(steps))
    if mean > MANY and settings.get("effort") == "converged":
        yield (
            f"effort: steps take {mean:.0f} iterations on average; `interactive` ends them after "
            f"{INTERACTIVE}, which is enough for previews"
        )
    solver, spent = settings.get("linear", "auto"), costs["phases"].get("solve", 0.0)
    if solver != "auto" and spent > SOLVER * seconds:
        yield f"linear: {solver} took {part(spent)}; auto takes the fastest solver for the size"


def cost_lines(costs: Json) -> Iterator[str]:
    """Yield the lines of the section "where the time went" of ``weft quality``, without its table.

    Args:
        costs: as of ``step_costs``.
    """
    seconds = costs["seconds"]
    yield (
        f"time     {seconds:.3g} s in steps: {costs['steps']} steps, {costs['iterations']} "
        "iterations"
    )
    if seconds > 0:
        shares = [f"{k} {spent / seconds:.0%}" for k, spent in costs["phases"].items()]
        yield f"phases   {', '.join(shares)}"
    yield f"halved   {costs['halved']} of {costs['steps']} steps"
    for name, r in costs["rejected"].items():
        kind = "trials of the shortest part" if name == "CONVERGED" else f"tries ended as {name}"
        yield f"         {r['tries']} {kind}: {r['iterations']} iterations, {r['seconds']:.3g} s"
    for text in costs["advice"]:
        yield f"advice   {text}"


def rejections(step: Json) -> str:
    """Return in words why tries of a step were rejected, and where.

    Args:
        step: one of ``dearest`` of ``step_costs``.
    """
    found: dict[str, int] = {}
    for r in step["rejected"]:
        near = f" near ({point_text(r['place'])})" if "place" in r else ""
        if r["outcome"] != "CONVERGED":
            found[r["outcome"] + near] = found.get(r["outcome"] + near, 0) + 1
    return ", ".join(f"{n} x {text}" if n > 1 else text for text, n in found.items())
