"""The list of the samples of a sweep, each with an id computed from its values.

The folder of a sample is named by a digest of its values, not by a number. So a sweep that is
extended, reordered or planned again finds its existing samples.
"""

import hashlib
import json
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import BaseModel, StringConstraints

from weft.base.errors import SweepError
from weft.base.trees import Json, Yaml, YamlMapping
from weft.io.safe_folder import SafeFolder
from weft.plugins.lab.sweep.file import SweepFile, overrides
from weft.plugins.lab.sweep.varied import yaml_text

PLAN = "plan.jsonl"
ANEW = "`weft sweep SWEEP.yaml` writes the plan again"
SEEDS = 2**31  # upper bound of a sample's own seed
NAME = 12  # hexadecimal digits of an id


class _Line(BaseModel, extra="forbid", strict=True):
    """A line of the plan."""

    id: Annotated[str, StringConstraints(pattern=rf"^[0-9a-f]{{{NAME}}}$")]
    seed: int
    values: Json


@dataclass(frozen=True)
class Sample:
    """One simulation of a sweep.

    Args:
        id: digest of its values, the name of its folder.
        values: by path of a field, without those that all samples share.
        seed: the sample's own seed.
        number: index in the plan, from 0.
    """

    id: str
    values: YamlMapping
    seed: int
    number: int

    @property
    def overrides(self) -> list[str]:
        """Return the values as ``weft run --set`` takes them."""
        return overrides(self.values)


def sample_of(values: YamlMapping, number: int, seed: int, seeded: Sequence[str]) -> Sample:
    """Return the sample with these values.

    Args:
        values: by path.
        number: index in the plan.
        seed: the sweep's.
        seeded: fields that take the sample's own seed.
    """
    texts = {path: yaml_text(value) for path, value in values.items()}
    own_seed = int(_digest([texts, seed])[:16], 16) % SEEDS
    all_values = {**values, **dict.fromkeys(seeded, own_seed)}
    if seeded:
        texts = {**texts, **{path: str(own_seed) for path in seeded}}
    return Sample(_digest(texts)[:NAME], all_values, own_seed, number)


def plan_of(sweep: SweepFile, rounds: Sequence[int] = ()) -> list[Sample]:
    """Return all samples of a sweep.

    Rows of the design with equal values share one sample; this causes a warning.

    Raises:
        SweepError: the design gives no samples, or too many.
    """
    samples: dict[str, Sample] = {}
    twice = 0
    for values in sweep.design.rows(rounds):
        sample = sample_of(values, len(samples), sweep.design.seed, sweep.settings.seeds)
        twice += samples.setdefault(sample.id, sample) is not sample
    if not samples:
        raise SweepError("samples", got="none", where=sweep.path.name, expected="at least one")
    if twice:
        warnings.warn(
            f"{twice} samples have the values of another sample: weft runs each value once",
            stacklevel=2,
        )
    return list(samples.values())


def write_plan(inside: SafeFolder, samples: Sequence[Sample]) -> None:
    """Write the plan in place of an earlier one."""
    with inside.writer(PLAN) as file:
        for s in samples:
            line = {"id": s.id, "seed": s.seed, "values": dict(s.values)}
            file.write(json.dumps(line).encode() + b"\n")


def read_plan(inside: SafeFolder) -> list[Sample]:
    """Return the samples of the plan.

    Raises:
        SweepError: the plan is missing or damaged.
    """
    samples: list[Sample] = []
    try:
        with inside.reader(PLAN) as file:
            for line in file:
                row = _Line.model_validate_json(line)
                samples.append(Sample(row.id, row.values, row.seed, len(samples)))
    except OSError as error:
        raise damage_error(inside, PLAN, error.strerror) from error
    except ValueError as error:
        raise damage_error(inside, PLAN, f"line {len(samples) + 1} is not a sample") from error
    return samples


def damage_error(inside: SafeFolder, name: str, got: object, hint: str = ANEW) -> SweepError:
    """Return the error of a file of a sweep that is not what weft wrote."""
    where = str(inside.path)
    return SweepError(name, got=got, where=where, expected="the content that weft wrote", hint=hint)


def _digest(tree: Yaml) -> str:
    return hashlib.sha256(json.dumps(tree, sort_keys=True).encode()).hexdigest()
