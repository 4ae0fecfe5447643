"""The list of the samples of a sweep, each with an id computed from its values.

The folder of a sample is named by a digest of its values, not by a number. So a sweep that is
extended, reordered or planned again finds its existing samples.
"""

import hashlib
import json
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

from weft.base.errors import SweepError, shortened
from weft.base.trees import Yaml, YamlMapping
from weft.io.safe_folder import SafeFolder
from weft.sweep.file import SweepFile, overrides
from weft.sweep.varied import yaml_text

PLAN = "plan.jsonl"
SEEDS = 2**31  # upper bound of a sample's own seed
NAME = 12  # hexadecimal digits of an id


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


def plan_of(sweep: SweepFile, rounds: Sequence[int] = ()) -> tuple[list[Sample], list[int]]:
    """Return all samples of a sweep, and for each row of the design the number of its sample.

    Rows with equal values share one sample; this causes a warning, except in Saltelli's design.

    Raises:
        SweepError: the design gives no samples, or too many.
    """
    samples: dict[str, Sample] = {}
    order: list[int] = []
    for values in sweep.design.rows(rounds):
        sample = sample_of(values, len(samples), sweep.design.seed, sweep.settings.seeds)
        order.append(samples.setdefault(sample.id, sample).number)
    if not samples:
        raise SweepError("samples", got="none", where=sweep.path.name, expected="at least one")
    twice = len(order) - len(samples)
    if twice and sweep.design.name != "saltelli":
        warnings.warn(
            f"{twice} samples have the values of another one: each runs once", stacklevel=2
        )
    return list(samples.values()), order


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
    try:
        with inside.reader(PLAN) as file:
            lines = [json.loads(line) for line in file]
    except (OSError, ValueError, RecursionError) as error:
        got = getattr(error, "strerror", None) or f"{type(error).__name__}: {error}"
        raise _damaged_plan(inside, got) from error
    invalid = [k for k, line in enumerate(lines, 1) if not _is_sample(line)]
    if invalid:
        raise _damaged_plan(inside, f"no samples in lines {shortened(invalid)}")
    return [Sample(r["id"], r["values"], r["seed"], k) for k, r in enumerate(lines)]


def _is_sample(line: Yaml) -> bool:
    """Return whether a line of the plan is one that ``write_plan`` writes."""
    if not isinstance(line, dict) or line.keys() != {"id", "seed", "values"}:
        return False
    name, values = line["id"], line["values"]
    has_id = isinstance(name, str) and len(name) == NAME and name.isalnum()
    return has_id and isinstance(line["seed"], int) and isinstance(values, dict)


def _damaged_plan(inside: SafeFolder, got: str) -> SweepError:
    return SweepError(
        PLAN,
        got=got,
        where=str(inside.path),
        expected="what weft wrote",
        hint="`weft sweep SWEEP.yaml` writes it anew",
    )


def _digest(tree: Yaml) -> str:
    return hashlib.sha256(json.dumps(tree, sort_keys=True).encode()).hexdigest()
