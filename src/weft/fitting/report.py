"""Report of a fit: text for terminals of 80 columns, and JSON."""

import textwrap
from collections.abc import Iterator, Sequence

import numpy as np

from weft.base.trees import Json
from weft.fabric.fabric import UNITS
from weft.fitting.file import FitFile
from weft.fitting.fit import UNLIKELY, Fit
from weft.fitting.measurement import Measurement

WIDE = 80
ALIKE = 0.3  # smallest correlation that is shown
MUCH = 4.0  # chi^2 per datum above which a measurement does not fit


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
        text = "The search ended before it had converged: numbers are where it stopped."
        return textwrap.wrap(text, WIDE)
    if found.freedom <= 0:
        text = "No more numbers than fields: nothing is left over that could contradict the fit."
        return textwrap.wrap(text, WIDE)
    text = (
        f"chi^2 = {found.squares:.4g} for {found.freedom} degrees of freedom; chance of more: "
        f"{100 * found.chance:.2g} %. +- is one standard deviation"
    )
    if found.scale > 1:
        text += (
            f", {found.scale:.3g} times that of the stated uncertainties, because the data are "
            f"further from the model than these say (chance below {100 * UNLIKELY:g} %)"
        )
    return textwrap.wrap(text + ".", WIDE)


def _undetermined_lines(file: FitFile, found: Fit) -> Iterator[str]:
    """Yield lines with the fields that keep their start, and the reasons."""
    for o in found.open:
        kept = f"kept at {file.start_name}'s {o.value:.4g} {UNITS[o.field]}".removesuffix(" 1")
        yield from _wrap(f"{o.field}: {o.text}; {kept}")
    taken = {*found.fields, *(o.field for o in found.open)}
    taken |= {f for g in file.fixed_fields for f in g.fields}
    for word, some in (
        ("held on request", [f for f in file.hold if f not in taken]),
        (
            "no measurement depends on it",
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
