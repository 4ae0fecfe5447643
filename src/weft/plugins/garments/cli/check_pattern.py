"""``weft check`` of a pattern: a table of panels, edges and seams, and a picture of the layout."""

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from weft.base.errors import PatternProblems, SceneError, WeftError
from weft.base.keyframes import as_keys
from weft.cli.options import end_check, picture_beside_results, say, say_problems

if TYPE_CHECKING:
    from weft.plugins.garments.patterns.check import Report


def is_pattern(path: Path) -> bool:
    """Return True if a file is a garment's pattern: by its suffix, or a YAML file with panels."""
    from weft.plugins.garments.patterns.formats import FORMATS

    suffix = path.suffix.lower()
    if suffix not in (".yaml", ".yml"):
        return suffix in FORMATS
    from weft.base.yaml_lines import read_yaml

    try:
        tree = read_yaml(path, "file", WeftError).value
    except WeftError:
        return False  # as a scene, it gets its own message
    return isinstance(tree, dict) and "panels" in tree and "cloth" not in tree


def check_pattern(path: Path, overrides: Sequence[str], picture: Path | None) -> None:
    """Print what a pattern is made of and every problem, and draw it."""
    from weft.plugins.garments.patterns.check import examine_pattern
    from weft.plugins.garments.patterns.formats import read_pattern
    from weft.plugins.garments.sheets.pattern_sheet import save_pattern

    told: list[str] = []
    try:
        with warnings.catch_warnings(record=True, action="always") as caught:
            block = _worn(path, overrides)
            pattern = read_pattern(path, dict(block.garment.measures))
        told = list(dict.fromkeys(str(w.message) for w in caught))
    except PatternProblems as problems:
        say_problems((), problems.problems)
        raise typer.Exit(1) from None
    except WeftError as error:
        say_problems((), [error])
        raise typer.Exit(1) from None
    report = examine_pattern(pattern)
    for line in table(report):
        say(f"         {line}" if line else "")
    if not report.errors:
        for line in _cut(report, block):
            say(f"         {line}")
    say_problems(told + report.warnings, report.errors)
    _write_sidecar(path, pattern.guessed)
    target = picture or path.with_suffix(".check.png")
    with picture_beside_results():
        save_pattern(target, report)
        say(f"picture  {target}")
    end_check(len(told + report.warnings), report.errors)


def _write_sidecar(path: Path, text: str) -> None:
    """Write the side-car file that weft guessed beside a drawing, unless there is one."""
    from weft.io.files import write_file

    beside = path.with_name(f"{path.stem}.seams.yaml")
    if not text or beside.exists() or beside.with_suffix(".yml").exists():
        return
    try:
        write_file(beside, text)
        say(f"side-car {beside}: the guessed panels and seams, ready to edit")
    except WeftError as error:
        say(f"side-car not written: {error}")


def _worn(path: Path, overrides: Sequence[str]) -> Any:
    """Return the cloth block of the scene in which `weft run` dresses a body, with ``--set``."""
    from weft.plugins.garments.scene.worn_scene import OF_PATTERN, worn_overrides, worn_scene_text
    from weft.scene.file import read_source, validate

    changes = worn_overrides(overrides)
    scene = Path(f"{path.stem}.scene.yaml")
    file = validate(read_source(scene, changes, text=worn_scene_text(path, scene)))
    for change in changes:
        if not change.startswith((OF_PATTERN, "cloth.fabric")):
            say(
                f"note     --set {change}: of the worn garment; this command checks the pattern on "
                f"paper, and `weft check {scene.name}` the worn garment"
            )
    if file.cloth is None or file.cloth.garment is None:
        raise SceneError("--set", got="no garment", expected=f"{OF_PATTERN}pattern in the scene")
    return file.cloth


def table(report: "Report") -> list[str]:
    """Return lines about panels with their edges, seams with lengths and ease, and elastics."""
    from weft.discretization.polygon import signed_area
    from weft.plugins.garments.patterns.check_panel import is_drawable
    from weft.plugins.garments.patterns.curves import edge_length, outline_polygon
    from weft.plugins.garments.sheets.pattern_sheet import names_of

    pattern, lines = report.pattern, list[str]()
    sewn, every = report.sewn, pattern.by_name
    whole = 0.0
    for panel in pattern.panels:
        if not is_drawable(panel):
            lines.append(f"{panel.name}: cannot be drawn")
            continue
        points = outline_polygon(panel)[0]
        size = points.max(axis=0) - points.min(axis=0)
        cloth = abs(signed_area(points)) - sum(abs(signed_area(h)) for h in panel.holes)
        whole += cloth
        lines.append(
            f"{panel.name}: {100 * size[0]:.1f} x {100 * size[1]:.1f} cm, "
            f"{1e4 * cloth:.0f} cm^2, layer {panel.layer}"
        )
        for i, named in enumerate(panel.edge_names):
            inside, seam = i >= len(panel.edges), sewn.get((panel.name, i), "")
            if inside and not (named or seam):
                continue
            kind = "inside" if inside else panel.edges[i].curve.name.lower()
            length = f"{100 * edge_length(panel, i):.1f} cm"
            name = panel.edge_name(i)
            lines.append(f"  {i:>3} {name:<20} {kind:<10} {length:>9}  {seam}".rstrip())
    if report.seams:
        lines += ["", f"{'seam':<22} {'first':>9} {'second':>9} {'ease':>8}  joins"]
    for m in report.seams:
        one, two = f"{100 * m.first.length:.1f} cm", f"{100 * m.second.length:.1f} cm"
        joins = f"{names_of(m.seam.first, every)} | {names_of(m.seam.second, every)}"
        kind = "" if m.seam.closing.name == "SEWN" else f" ({m.seam.closing.name.lower()})"
        ease = f"{100 * (m.ratio - 1):+.1f} %"
        lines.append(f"{m.seam.name:<22} {one:>9} {two:>9} {ease:>8}  {joins}{kind}")
    for elastic, chain in report.elastics:
        rests = [100 * chain.length * r for r in as_keys(elastic.ratio).values]
        pulls = [f"{k:g}" for k in as_keys(elastic.stiffness).values]
        lines.append(
            f"elastic {elastic.name}: {100 * chain.length:.1f} cm to "
            f"{', '.join(f'{r:.1f}' for r in rests)} cm, {', '.join(pulls)} N at a strain of 1"
        )
    lines += ["", f"{len(pattern.panels)} panels, {whole:.4g} m^2 of cloth"]
    return lines


def _cut(report: "Report", block: Any) -> list[str]:
    """Describe the garment once it is sewn."""
    from weft.plugins.garments.patterns.cutting import cut
    from weft.plugins.garments.patterns.gathers import find_gathers
    from weft.plugins.garments.patterns.topology import sewn_topology

    size = block.garment.size
    fabric = block.fabric if "fabric" in block.model_fields_set else None
    try:
        garment = cut(report.pattern, size, fabric=fabric)
        gathers = find_gathers(report, size, fabric)
    except WeftError as error:
        report.errors.append(error)
        return []
    shape = sewn_topology(garment)
    report.warnings += [*gathers.warnings, *shape.warnings]
    vertices = f"at an edge length of {100 * size:g} cm: {garment.mesh.n_vertices} vertices"
    return [*gathers.lines, f"{vertices}; sewn: {shape}"]
