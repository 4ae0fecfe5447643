"""Columns of a table of samples: values, measures and flags, each of one type."""

from collections.abc import Iterator, Sequence

import numpy as np

from weft.base.arrays import AnyArray, Floats
from weft.sweep.measures import MEANINGS, UNITS
from weft.sweep.plan import Sample
from weft.sweep.quality import MEANINGS as FLAGS
from weft.sweep.status import SampleStatus
from weft.sweep.varied import quantity_of, yaml_text

MISSING = 255  # a flag of a sample that does not have it
Column = tuple[str, AnyArray, dict[str, str]]  # name, a value per sample, unit and meaning


def sample_columns(samples: Sequence[SampleStatus]) -> Iterator[Column]:
    """Yield id, seed, digest, time, parameters in their unit, measures and flags of finished
    samples; missing numbers are NaN, missing flags ``MISSING``, missing texts empty.
    """
    statuses = [f.status for f in samples]
    yield "id", _text(f.sample.id for f in samples), {"long_name": "digest of the sample's values"}
    seeds = np.array([f.sample.seed for f in samples], np.int64)
    yield "seed", seeds, {"long_name": "its own seed"}
    digests = _text(s.digest for s in statuses)
    yield "digest", digests, {"long_name": "of its last frame, bitwise"}
    seconds = np.array([s.seconds for s in statuses])
    yield "seconds", seconds, {"long_name": "wall clock it took", "units": "s"}
    plan = [f.sample for f in samples]
    for path in dict.fromkeys(p for s in plan for p in s.values):
        values, unit = parameter_values(path, plan)
        meaning = {"long_name": f"{path} of the scene"}
        yield f"param.{path}", values, meaning | ({"units": unit} if unit else {})
    for name, unit in UNITS.items():
        measures = [s.measures.get(name) for s in statuses]
        if unit:
            yield name, _numbers(measures), {"long_name": MEANINGS[name], "units": unit}
        else:
            yield name, _flags(measures), _describe_flag(MEANINGS[name], "there is none")
    for name in ("good", *FLAGS):
        about = f"passes the filter: {FLAGS.get(name, 'all that are set')}"
        flags = _flags([s.flags.get(name) for s in statuses])
        yield f"flag.{name}", flags, _describe_flag(about, "the filter is not set")


def parameter_values(path: str, samples: Sequence[Sample]) -> tuple[AnyArray, str]:
    """Return a field's values in all samples, and their unit.

    The values are numbers, NaN where a sample does not set the field, if all of them are numbers of
    one unit; else texts without a unit.
    """
    values = [s.values.get(path) for s in samples]
    quantities = [quantity_of(v) for v in values if v is not None]
    units = {q[1] for q in quantities if q is not None}
    if None in quantities or len(units) != 1:
        return _text("" if v is None else yaml_text(v) for v in values), ""
    numbers = (quantity_of(v) for v in values)
    return _numbers([None if q is None else q[0] for q in numbers]), units.pop()


def measure_values(samples: Sequence[SampleStatus], name: str) -> Floats:
    """Return a measure of all samples; NaN for samples without it."""
    return _numbers([f.status.measures.get(name) for f in samples])


def _text(values: Iterator[str]) -> AnyArray:
    return np.array(list(values), dtype=object)


def _numbers(values: Sequence[float | None]) -> Floats:
    return np.array([np.nan if v is None else v for v in values], dtype=np.float64)


def _flags(values: Sequence[bool | None]) -> AnyArray:
    return np.array([MISSING if v is None else v for v in values], dtype=np.uint8)


def _describe_flag(meaning: str, absent: str) -> dict[str, str]:
    return {"long_name": meaning, "comment": f"0, 1, or {MISSING} where {absent}"}
