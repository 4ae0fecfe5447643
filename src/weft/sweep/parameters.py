"""Columns of a table of samples: values, measures and flags, each of one type."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from weft.base.arrays import AnyArray
from weft.sweep.measures import MEANINGS, UNITS
from weft.sweep.plan import Sample
from weft.sweep.quality import MEANINGS as FLAGS
from weft.sweep.status import SampleStatus
from weft.sweep.varied import quantity_of, yaml_text

PARAMETER, FLAG = "param.", "flag."


Cell = float | bool | int | str | None  # of a table; None: missing


@dataclass(frozen=True)
class Column:
    """One value per sample.

    Args:
        name: of the column.
        dtype: float64, bool, int64, or object for text.
        of: function that returns the value of a sample.
        about: unit and meaning.
    """

    name: str
    dtype: "np.dtype[np.generic]"
    of: Callable[[SampleStatus], Cell]
    about: dict[str, str] = field(default_factory=dict)

    def values(self, found: Sequence[SampleStatus]) -> AnyArray:
        """Return the values of all samples; missing numbers are NaN, missing flags 255."""
        got = [self.of(f) for f in found]
        if self.dtype == np.uint8:
            got = [255 if v is None else int(v) for v in got]
        elif self.dtype == np.float64:
            got = [np.nan if v is None else float(v) for v in got]
        elif self.dtype == object:
            got = ["" if v is None else str(v) for v in got]
        return np.array(got, dtype=self.dtype)


def columns_of(samples: Sequence[Sample]) -> list[Column]:
    """Return all columns: id, seed, digest, time, parameters in their unit, measures, flags."""
    text, number = np.dtype(object), np.dtype(np.float64)
    columns = [
        Column("id", text, lambda f: f.sample.id, {"long_name": "digest of the sample's values"}),
        Column("seed", np.dtype(np.int64), lambda f: f.sample.seed, {"long_name": "its own seed"}),
        Column("digest", text, _status("digest"), {"long_name": "of its last frame, bitwise"}),
        Column(
            "seconds", number, _status("seconds"), {"long_name": "wall clock it took", "units": "s"}
        ),
    ]
    for path in dict.fromkeys(p for s in samples for p in s.values):
        columns.append(_parameter(path, samples))
    for name, unit in UNITS.items():
        about = {"long_name": MEANINGS[name], **({"units": unit} if unit else {})}
        kind = number if unit else np.dtype(np.uint8)
        about = about if unit else {**about, "comment": "0, 1, or 255 where there is none"}
        columns.append(Column(name, kind, _measure(name), about))
    for name in ("good", *FLAGS):
        meaning = {
            "long_name": f"passes the filter: {FLAGS.get(name, 'all that are set')}",
            "comment": "0, 1, or 255 where the filter is not set",
        }
        columns.append(Column(FLAG + name, np.dtype(np.uint8), _flag(name), meaning))
    return columns


def _status(name: str) -> Callable[[SampleStatus], Cell]:
    return lambda f: getattr(f.status, name, None)


def _measure(name: str) -> Callable[[SampleStatus], Cell]:
    return lambda f: None if f.status is None else f.status.measures.get(name)


def _flag(name: str) -> Callable[[SampleStatus], Cell]:
    return lambda f: None if f.status is None else f.status.flags.get(name)


def _parameter(path: str, samples: Sequence[Sample]) -> Column:
    """Return the column of a field: numbers if all values are numbers of one unit, else text."""
    values, unit = numbers_of(path, samples)
    about = {"long_name": f"{path} of the scene", **({"units": unit} if unit else {})}
    if values is None:
        return Column(PARAMETER + path, np.dtype(object), _text_at(path), about)
    return Column(PARAMETER + path, np.dtype(np.float64), _number_at(path), about)


def _text_at(path: str) -> Callable[[SampleStatus], Cell]:
    return lambda f: yaml_text(f.sample.values[path]) if path in f.sample.values else None


def _number_at(path: str) -> Callable[[SampleStatus], Cell]:
    def number(f: SampleStatus) -> float | None:
        found = quantity_of(f.sample.values.get(path))
        return None if found is None else found[0]

    return number


def numbers_of(path: str, samples: Sequence[Sample]) -> tuple[list[float] | None, str]:
    """Return a field's numbers in all samples, and their unit.

    A number is NaN if the sample does not set the field. None in place of the numbers: not all
    values are numbers of one unit.
    """
    numbers, units = [], set()
    for s in samples:
        if path not in s.values:
            numbers.append(float("nan"))
            continue
        found = quantity_of(s.values[path])
        if found is None:
            return None, ""
        numbers.append(found[0])
        units.add(found[1])
    return (numbers, units.pop()) if len(units) == 1 else (None, "")
