"""Writer of a fitted fabric as a preset file, with the source and uncertainty of each
number in SI.
"""

import textwrap
from collections.abc import Sequence
from pathlib import Path

import yaml

from weft.base.curve import Curve
from weft.base.errors import FabricError
from weft.base.trees import Json, Yaml
from weft.fabric.fabric import CURVES, OPTIONAL, UNITS, Fabric, fabric
from weft.fitting.file import FitFile
from weft.fitting.fit import Fit
from weft.io.files import atomic_write

DIGITS = 6  # of the numbers in the file
WIDE = 1000  # of a line: sources are not wrapped
CLOSE = 1e-4  # largest relative difference of a number that is read back
NAMED = 3  # largest number of measurements that a source names


def write_preset(path: Path, file: FitFile, found: Fit) -> Fabric:
    """Write the preset, and read it again as a check.

    Args:
        path: the file that is written.
        file: the fit file.
        found: the fit.

    Returns:
        The fabric as it is read from the written file.

    Raises:
        RunError: the file cannot be written.
        FabricError: a number that is read differs from the one that was written.
    """
    with atomic_write(path) as out:
        out.write(preset_text(file, found).encode())
    read = fabric(path)
    for field in UNITS:
        got, put = getattr(read, field), getattr(found.fabric, field)
        if abs(got - put) > CLOSE * abs(put):
            raise FabricError(f"{path.name}: {field}", got=got, expected=f"{put:g} as written")
    return read


def preset_text(file: FitFile, found: Fit) -> str:
    """Return the preset as YAML."""
    head = (
        f"Fitted by `weft fabrics fit {file.path.name}`, from the numbers of {file.start_name}. "
        "Uncertainties are one standard deviation."
    )
    lines = [f"# {line}" for line in textwrap.wrap(head, 98)]
    title = file.title or f"fitted to {file.path.name}"
    fields: Json = {"name": file.name, "title": title}
    for field, unit in {**UNITS, **OPTIONAL, **dict.fromkeys(CURVES, "")}.items():
        value, fitted = getattr(found.fabric, field), field in found.fields
        if value is None or (unit == "1" and value == 1.0 and field in UNITS and not fitted):
            continue  # the default
        amount = _points(value) if field in CURVES else _amount(value, unit)
        fields[field] = {"value": amount, "source": _source(field, file, found)}
        if fitted:
            fields[field]["uncertainty"] = _amount(found.relative[field] * value, unit)
    text = yaml.safe_dump(fields, sort_keys=False, allow_unicode=True, width=WIDE)
    return "\n".join([*lines, text])


def _amount(value: float, unit: str) -> Yaml:
    return float(f"{value:.{DIGITS}g}") if unit == "1" else f"{value:.{DIGITS}g} {unit}"


def _points(curve: Curve) -> Yaml:
    return [[f"{100 * e:.{DIGITS}g} %", f"{s:.{DIGITS}g} N/m"] for e, s in curve.points]


def _source(field: str, file: FitFile, found: Fit) -> str:
    """Return the source of a number: measured or estimated comes first."""
    if field in found.fields:
        size = found.relative[field]
        return f"measured: fitted to {_names(found, field)}; +- {100 * size:.2g} %" + _cite(
            file, list(found.shares(field))
        )
    for one in file.fixed_fields:
        if one.fields.get(field) is not None:
            return f"measured: {one.name}" + _cite(file, [one.name])
    before = found.start.sources.get(field, "")  # source of the number of the starting fabric
    return f"estimated: that of {file.start_name}, {_explain(field, file, found)}" + (
        f" ({before})" if before else ""
    )


def _explain(field: str, file: FitFile, found: Fit) -> str:
    if field in file.hold:
        return "held on request"
    if any(o.field == field for o in found.open):
        return "not determined by the data"
    return "not measured"


def _names(found: Fit, field: str) -> str:
    """Return the names of the measurements that contribute most to a field."""
    shares = sorted(found.shares(field).items(), key=lambda item: -item[1])
    names = [name for name, share in shares if share >= 0.01][:NAMED]
    more = f" and {len(shares) - len(names)} more" if len(shares) > len(names) else ""
    return ", ".join(names) + more


def _cite(file: FitFile, names: Sequence[str]) -> str:
    said = list(dict.fromkeys(file.sources[n] for n in names if n in file.sources))
    return "; data: " + "; ".join(said) if said else ""
