"""``weft quality``: how the cloth of a run sits: seams, strain, fit, rest, intersections; and how
two runs differ.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from weft.base.errors import RunError, abbreviate
from weft.base.terminal import new_console
from weft.cli.options import (
    AsJson,
    RunPath,
    counting_bar,
    new_table,
    print_json,
    say,
    write_json,
)


def quality(
    run: RunPath,
    other: Annotated[
        Path | None,
        typer.Argument(help="A second run, to compare a frame of both.", metavar="[OTHER]"),
    ] = None,
    frame: Annotated[
        list[int] | None,
        typer.Option(
            help="Number of a frame; -1 is the last. You can repeat this option.",
            show_default="all; for two runs the last",
        ),
    ] = None,
    since: Annotated[
        int | None,
        typer.Option(help="Frame from which weft measures slipping.", show_default="once sewn"),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for quality.json and pictures of fit and panels.", metavar="DIR"),
    ] = None,
    json: AsJson = False,
) -> None:
    """Report the quality of a run, frame by frame: intersections, gaps of seams, strain by panel
    and direction, distance and pressure on the body, slipping and rest. The verdict says whether
    garments are worn, worn badly or not worn in the last of the frames. The last section lists the
    time by phase, halved steps with their reasons, the most expensive steps, and settings that
    would save time.

    With two runs: the same measures side by side, with their difference, and in one line what weft
    does not compare.

    Exit status 1 if faces intersect, or a garment has slipped off or is not worn.
    """
    from weft.run.quality import Quality
    from weft.run.run import Run

    if other is not None:
        if out is not None or len(frame or ()) > 1:
            raise RunError(
                "quality of two runs", got="--out, or several frames", expected="one --frame"
            )
        _compare(run, other, (frame or [-1])[0], since, json)
        return
    opened = Run(run)
    looked = Quality(opened, since)
    with counting_bar("looking") as shown:
        report = looked.report(frame, shown)
    if out is not None:
        _write(out, opened, report)
    if json:
        print_json(report)
    else:
        _tell(report, opened.manifest.get("folds", ()), run)
        if out is not None:
            say(f"report   {out / 'quality.json'}, with pictures beside it")
    worst = report["worst"]
    unworn = report.get("verdict") == "not worn"
    if worst["intersections"] or unworn or any(flag is True for flag in worst.values()):
        raise typer.Exit(1)


def _compare(first: Path, second: Path, frame: int, since: int | None, json: bool) -> None:
    """Print a frame of two runs side by side."""
    from weft.run.quality import Quality
    from weft.run.run import Run
    from weft.run.run_comparison import compare

    found = compare(Quality(Run(first), since), Quality(Run(second), since), frame)
    if json:
        print_json({"runs": [str(first), str(second)], **found.as_json()})
        return
    heads = list(dict.fromkeys(k for pairs in found.parts.values() for k in pairs))
    table = new_table("part", "run", *heads, title=f"A = {first}, B = {second}", right=heads)
    for name, pairs in found.parts.items():
        shown = [_three(pairs[k]) if k in pairs else ("-",) * 3 for k in heads]
        for row, label in enumerate(("A", "B", "B - A")):
            table.add_row("" if row else name, label, *(cell[row] for cell in shown))
    whole = new_table(
        "largest of all parts, and costs", "A", "B", "B - A", right=("A", "B", "B - A")
    )
    for name, pair in found.whole.items():
        whole.add_row(name, *_three(pair))
    if found.verdicts is not None:
        whole.add_row("verdict", *found.verdicts, "")
    if heads:
        new_console().print(table)
    new_console().print(whole)
    say("         strain: 99 %; distance: median; pressure: 95 % of the area in contact")
    if found.left_out:
        say(f"note     not compared: {'; '.join(found.left_out)}")


def _three(pair: tuple[float, float]) -> tuple[str, str, str]:
    """Return two numbers and their difference as text."""
    one, two = pair
    return f"{one:.4g}", f"{two:.4g}", f"{two - one:+.3g}"


def _write(out: Path, run: Any, report: Any) -> None:
    from weft.io.files import make_folder

    make_folder(out)
    write_json(out / "quality.json", report)
    last = report["frames"][-1]["frame"]
    for look in ("panels", "strain", *(("fit",) if len(run.body_faces) else ())):
        run.render(out / f"{look}.png", frame=last, look=look)


def _tell(report: Any, folds: Sequence[str], run: Path) -> None:
    """Print the last frame part by part, the folds that were expected, and the worst of all."""
    from weft.run.quality import COARSE, SHEAR_WARNING, girth_name, pictures

    last, worst = report["frames"][-1], report["worst"]
    body = last.get("body", {})
    numbers = ("warp %", "weft %", "shear °", "turn °", "body mm", "Pa", "slip mm")
    title = f"frame {last['frame']}, t = {last['t']:.3g} s"
    table = new_table("part", *numbers, title=title, right=numbers)
    for name, part in last["parts"].items():
        kinds = ("warp", "weft", "shear", "turn")
        cells = [f"{part[k]['p50']:.1f}/{part[k]['p99']:.1f}" for k in kinds]
        there = body.get(name)
        if there is not None:
            cells.append(f"{there['distance']['p5']:.1f}/{there['distance']['p50']:.1f}")
            cells.append("-" if there["pressure"] is None else f"{there['pressure']['p95']:.0f}")
            cells.append(f"{1e3 * there['slip']:.1f}" if "slip" in there else "-")
        table.add_row(name, *cells)
    new_console().print(table)
    say(
        "         strain: median / 99 %; distance: 5 % / median; pressure: 95 % of the area "
        "in contact"
    )
    for fold in folds:
        say(f"expected {fold}")
    for name, gap in last.get("seams", {}).items():
        if gap["sewn"] and gap["max"] > 1.0:
            say(f"warning  seam {name} is open by {gap['max']:.3g} mm")
    for name, part in last["parts"].items():
        if part["sheared"] > SHEAR_WARNING:
            say(f"warning  {part['sheared']:.1%} of {name} is sheared by more than 30 degrees")
    name, part = max(last["parts"].items(), key=lambda one: one[1]["coarse"])
    say(
        f"bent     {part['coarse']:.1%} of {name} turns by more than {COARSE:.0f} degrees "
        "between neighboring faces, too sharply for the length of its edges"
    )
    told = [f"{name.replace('_', ' ')} {_short(value)}" for name, value in worst.items()]
    say(f"extremes {', '.join(told)}")
    rest = "at rest" if last["static"] else f"moving, 99 % below {last['speed']['p99']:.3g} m/s"
    say(f"state    {rest}")
    for ease in last.get("ease", ()):
        garment, own = 100 * ease["garment"], 100 * ease["body"]
        name = girth_name(ease)
        girths = ", ".join([f"garment {garment:.1f}", f"body {own:.1f}", *ease["notes"]])
        say(f"ease     {name} {garment - own:+.1f} cm: {girths}")
    if "wear" in last:
        why = abbreviate(last["wear"]["reasons"], 4)
        say(f"verdict  {last['wear']['verdict']}" + (f" ({why})" if why else ""))
    for look, reason in pictures(last):
        command = f"weft render {run} {look}.png --frame {last['frame']} --look {look}"
        say(f"look     {command}  ({reason})")
    _tell_time(report["time"])


def _tell_time(costs: Any) -> None:
    """Print where the time of the run went."""
    from weft.run.step_costs import cost_lines, rejections

    heads = ("step", "frame", "t [s]", "seconds", "iterations", "parts")
    table = new_table(*heads, "rejected", title="time of the most expensive steps", right=heads)
    for step in costs["dearest"]:
        numbers = (step["step"], step["frame"], f"{step['t']:.4g}", f"{step['seconds']:.3g}")
        counts = (step["iterations"], step["parts"])
        table.add_row(*map(str, (*numbers, *counts)), rejections(step))
    new_console().print(table)
    for line in cost_lines(costs):
        say(line)


def _short(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)
