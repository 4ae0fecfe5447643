"""Results of a fit: a report as text for terminals of 80 columns and as JSON, and a preset file
with the source and uncertainty of each number in SI.
"""

import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import yaml

from weft.base.curve import Curve
from weft.base.errors import FabricError
from weft.base.trees import Json, Yaml
from weft.fabric.fabric import CURVES, OPTIONAL, UNITS, Fabric, fabric
from weft.io.files import write_file
from weft.plugins.lab.fitting.file import FitFile
from weft.plugins.lab.fitting.fit import UNLIKELY, Fit
from weft.plugins.lab.fitting.measurement import Measurement

WIDE = 80
ALIKE = 0.3  # smallest correlation that is shown
MUCH = 4.0  # chi^2 per datum above which a measurement does not fit
DIGITS = 6  # of the numbers in the file
UNWRAPPED = 1000  # width of lines of a preset
CLOSE = 1e-4  # largest relative difference of a number that is read back
NAMED = 3  # largest number of measurements that a source names


def write_report(file: FitFile, found: Fit) -> str:
    """Return the report of a fit as text."""
    rows = sum(map(len, found.residuals))
    lines = [
        f"{file.name}: {len(found.measurements)} measurements with {rows} numbers, "
        f"{len(found.fields)} fields fitted from {file.start_name}",
        "",
        f"{'field':18}{'unit':8}{'start':>11}{'fitted':>11}{'+-':>10}{'+- %':>7}  mostly from",
    ]
    lines += [_row(found, field) for field in found.fields]
    lines += ["", *_verdict(found)]
    if not_known := list(_undetermined_lines(file, found)):
        lines += ["", "not determined by these data", *not_known]
    if notes := [n for g in file.fixed_fields if g.note for n in _wrap(f"{g.name}: {g.note}")]:
        lines += ["", "taken as given", *notes]
    if pairs := list(_pairs(found)):
        lines += ["", f"correlations above {ALIKE:g}", *pairs]
    lines += ["", f"{'measurement':34}{'numbers':>8}{'chi^2':>10}{'largest residual':>18}"]
    for m, r in zip(found.measurements, found.residuals):
        largest = r[np.argmax(np.abs(r))]
        squares = round(float((r**2).sum()), 3)
        lines.append(f"{_truncate(m.name, 33):34}{len(r):8d}{squares:10.4g}{largest:+18.2f}")
    misfits = [f"{m.name} does not fit: {m.advice}" for m in _misfits(found)]
    lines += [line for text in misfits for line in _wrap(text)]
    lines += [line for text in collect_remarks(found) for line in _wrap(text)]
    return "\n".join(lines)


def collect_remarks(found: Fit) -> Sequence[str]:
    """Return the remarks of all measurements about the fitted fabric, a sentence each."""
    return [text for m in found.measurements for text in m.remarks(found.fabric)]


def _row(found: Fit, field: str) -> str:
    value, size = getattr(found.fabric, field), found.relative[field]
    shares = found.shares(field)
    most = max(shares, key=lambda name: shares[name])
    return (
        f"{field:18}{UNITS[field]:8}{getattr(found.start, field):11.4g}{value:11.4g}"
        f"{size * value:10.2g}{100 * size:7.2g}  {_truncate(most, 13)}"
    )


def _truncate(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 2] + ".."


def _wrap(text: str) -> list[str]:
    return textwrap.wrap(text, WIDE, initial_indent="  ", subsequent_indent="    ")


def _verdict(found: Fit) -> Sequence[str]:
    """Return lines that say how well the model fits and what the uncertainties mean."""
    if not found.converged:
        text = "The search ended before it converged: these are its last numbers."
        return textwrap.wrap(text, WIDE)
    if found.freedom <= 0:
        text = "No more measured numbers than fields: the data cannot contradict the fit."
        return textwrap.wrap(text, WIDE)
    text = (
        f"chi^2 = {found.squares:.4g} for {found.freedom} degrees of freedom; chance of more: "
        f"{100 * found.chance:.2g} %. +- is one standard deviation"
    )
    if found.scale > 1:
        text += (
            f", {found.scale:.3g} times that of the stated uncertainties, because the data "
            f"differ more from the model (chance below {100 * UNLIKELY:g} %)"
        )
    return textwrap.wrap(text + ".", WIDE)


def _undetermined_lines(file: FitFile, found: Fit) -> Iterator[str]:
    """Yield lines with the fields that keep their start, and the reasons."""
    for o in found.open:
        unit = UNITS.get(o.field, "1")  # a ratio of two fields has none
        kept = f"kept at {file.start_name}'s {o.value:.4g} {unit}".removesuffix(" 1")
        yield from _wrap(f"{o.field}: {o.text}; {kept}")
    taken = {*found.fields, *(o.field for o in found.open)}
    taken |= {f for g in file.fixed_fields for f in g.fields}
    for word, some in (
        ("held on request", [f for f in file.hold if f not in taken]),
        (
            "no measurement depends on this field",
            [f for f in UNITS if f not in taken and f not in file.hold],
        ),
    ):
        if some:
            yield from _wrap(f"{', '.join(some)}: {word}; kept at {file.start_name}'s value")


def _pairs(found: Fit) -> Iterator[str]:
    """Yield a line for each pair of fields whose correlation is at least ``ALIKE``."""
    for i, one in enumerate(found.fields):
        for k, other in enumerate(found.fields[:i]):
            r = found.correlation[i, k]
            if abs(r) >= ALIKE:
                yield f"  {other}, {one}: {r:+.2f}"


def _misfits(found: Fit) -> Sequence[Measurement]:
    """Return the measurements that are farther from the model than their uncertainties allow."""
    pairs = zip(found.measurements, found.residuals)
    return [m for m, r in pairs if (r**2).sum() > MUCH * max(len(r) - 1, 1) + MUCH]


def report_as_json(file: FitFile, found: Fit) -> Json:
    """Return the report of a fit as a dictionary for JSON; numbers are in SI."""
    f = found.fabric
    return {
        "name": file.name,
        "start": file.start_name,
        "fields": {
            field: {
                "value": getattr(f, field),
                "unit": UNITS[field],
                "standard_deviation": found.relative[field] * getattr(f, field),
                "start": getattr(found.start, field),
                "from": found.shares(field),
            }
            for field in found.fields
        },
        "correlation": {"fields": list(found.fields), "matrix": found.correlation.tolist()},
        "not_determined": {
            o.field: {"reason": o.text, "kept": o.value, "with": dict(o.others)} for o in found.open
        },
        "held": list(file.hold),
        "chi_squared": found.squares,
        "degrees_of_freedom": found.freedom,
        "chance": found.chance,
        "scale": found.scale,
        "converged": found.converged,
        "measurements": {
            m.name: {"residuals": r.tolist(), "depends_on": list(m.depends_on)}
            for m, r in zip(found.measurements, found.residuals)
        },
        "remarks": list(collect_remarks(found)),
        "given": {g.name: g.note for g in file.fixed_fields if g.note},
    }


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
    read = fabric(write_file(path, preset_text(file, found)))
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
    text = yaml.safe_dump(fields, sort_keys=False, allow_unicode=True, width=UNWRAPPED)
    return "\n".join([*lines, text])


def _amount(value: float, unit: str) -> Yaml:
    return float(f"{value:.{DIGITS}g}") if unit == "1" else f"{value:.{DIGITS}g} {unit}"


def _points(curve: Curve) -> Yaml:
    return [[f"{100 * e:.{DIGITS}g} %", f"{s:.{DIGITS}g} N/m"] for e, s in curve.points]


def _source(field: str, file: FitFile, found: Fit) -> str:
    """Return the source of a number: measured or estimated comes first."""
    if field in found.fields:
        size = found.relative[field]
        held = [f"; {o.field} that of {file.start_name}" for o in found.open if field in o.ratio]
        said = f"measured: fitted to {_names(found, field)}; +- {100 * size:.2g} %"
        return "".join([said, *held]) + _cite(file, list(found.shares(field)))
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
