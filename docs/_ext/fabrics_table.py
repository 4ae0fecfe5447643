"""The table of fabric presets, from their files."""

from scene_reference import cell, table

from weft.cli.fabrics import MARKS, count_measured
from weft.fabric.fabric import UNITS, fabric, preset_names

HEADS = (
    "name",
    "",
    "density kg/m²",
    "stretch N/m",
    "shear N/m",
    "bending 10⁻⁶ N·m",
    "thickness mm",
    "measured",
)


def markdown() -> str:
    """All presets side by side, then each with the source of its numbers."""
    rows, parts = [], []
    for f in (fabric(name) for name in preset_names()):

        def shown(field: str, scale: float = 1.0, f: object = f) -> str:
            mark = MARKS.get(f.origin(field), "")  # type: ignore[attr-defined]
            return f"{mark}{scale * getattr(f, field):.4g}".replace("~", "\\~")

        measured, of = count_measured(f)
        rows.append(
            [
                f"[`{f.name}`](#fabric-{f.name})",
                cell(f.title),
                shown("density"),
                f"{shown('stretch_warp')} / {shown('stretch_weft')}",
                shown("shear"),
                f"{shown('bending_warp', 1e6)} / {shown('bending_weft', 1e6)}",
                shown("thickness", 1e3),
                f"{measured} of {of}",
            ]
        )
        fields = [
            [
                f"`{field}`",
                f"{getattr(f, field):.4g}",
                cell(unit),
                f.origin(field),
                cell(f.sources.get(field, "").removeprefix(f"{f.origin(field)}: ")),
            ]
            for field, unit in UNITS.items()
        ]
        heads = ("field", "value", "unit", "origin", "source")
        parts.append(f"(fabric-{f.name})=\n\n## {f.name}\n\n{f.title}\n\n{table(heads, fields)}")
    marks = "No mark: measured. \\~ our estimate. ° a published constant. Pairs: warp / weft."
    return "\n\n".join([table(HEADS, rows), marks, *parts])
