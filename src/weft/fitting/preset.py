"""A fitted fabric as a file that `fabric:` reads: SI, with the source and uncertainty of each
number.
"""

import json
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from weft.base.errors import FabricError
from weft.fabric.fabric import Fabric, fabric
from weft.fabric.fields import CURVES, OPTIONAL, UNITS
from weft.fitting.file import FitFile
from weft.fitting.fit import Fit
from weft.io.files import atomic_write

DIGITS = 6
CLOSE = 1e-4  # relative: what is read again
NAMED = 3  # measurements in a source, at most


def write_preset(path: Path, file: FitFile, found: Fit) -> Fabric:
    """Write the preset, and read it again.

    Raises:
        RunError: it cannot be written. FabricError: it does not read as what was written.
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
    """The preset as YAML."""
    head = (
        f"Fitted by `weft fabrics fit {file.path.name}`, from the numbers of {file.said}. "
        "Uncertainties are one standard deviation."
    )
    lines = [f"# {line}" for line in textwrap.wrap(head, 98)]
    lines += [f"name: {_quoted(file.name)}", f"title: {_quoted(_title(file))}"]
    f = found.fabric
    for field, unit in UNITS.items():
        value, source = getattr(f, field), _source(field, file, found)
        if unit == "1" and value == 1.0 and field not in found.fields:
            continue  # the default
        said = {"value": _amount(value, unit), "source": source}
        if field in found.fields:
            said["uncertainty"] = _amount(found.relative[field] * value, unit)
        lines.append(f"{field}: {_mapping(said)}")
    for field, unit in OPTIONAL.items():
        if (value := getattr(f, field)) is not None:
            said = {"value": _amount(value, unit), "source": _source(field, file, found)}
            lines.append(f"{field}: {_mapping(said)}")
    for field in CURVES:
        if (curve := getattr(f, field)) is not None:
            said = {
                "value": [
                    [f"{100 * e:.{DIGITS}g} %", f"{s:.{DIGITS}g} N/m"] for e, s in curve.points
                ],
                "source": _source(field, file, found),
            }
            lines.append(f"{field}: {_mapping(said)}")
    return "\n".join(lines) + "\n"


def _title(file: FitFile) -> str:
    return file.title or f"fitted to {file.path.name}"


def _amount(value: float, unit: str) -> Any:
    return float(f"{value:.{DIGITS}g}") if unit == "1" else f"{value:.{DIGITS}g} {unit}"


def _mapping(said: dict[str, Any]) -> str:
    return "{" + ", ".join(f"{key}: {_quoted(v)}" for key, v in said.items()) + "}"


def _quoted(value: Any) -> str:
    """Text, numbers and lists of them as YAML, of which JSON is a part."""
    return json.dumps(value, ensure_ascii=False)


def _source(field: str, file: FitFile, found: Fit) -> str:
    """Where a number comes from, its origin first."""
    if field in found.fields:
        size = found.relative[field]
        return f"measured: fitted to {_names(found, field)}; +- {100 * size:.2g} %" + _cited(
            file, list(found.shares(field))
        )
    for one in file.given:
        if one.fields.get(field) is not None:
            return f"measured: {one.name}" + _cited(file, [one.name])
    before = found.start.sources.get(field, "")  # of the start, of which this is an estimate
    return f"estimated: that of {file.said}, {_why(field, file, found)}" + (
        f" ({before})" if before else ""
    )


def _why(field: str, file: FitFile, found: Fit) -> str:
    if field in file.hold:
        return "held on request"
    if any(o.field == field for o in found.open):
        return "not determined by the data"
    return "not measured"


def _names(found: Fit, field: str) -> str:
    """The measurements that say most of a field."""
    shares = sorted(found.shares(field).items(), key=lambda item: -item[1])
    names = [name for name, share in shares if share >= 0.01][:NAMED]
    more = f" and {len(shares) - len(names)} more" if len(shares) > len(names) else ""
    return ", ".join(names) + more


def _cited(file: FitFile, names: Sequence[str]) -> str:
    said = list(dict.fromkeys(file.sources[n] for n in names if n in file.sources))
    return "; data: " + "; ".join(said) if said else ""
