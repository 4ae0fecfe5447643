"""Experimental designs: the values that the samples of a sweep take, as points of [0, 1)^d.

``grid`` takes all combinations; ``random``, ``latin_hypercube`` (McKay et al. 1979) and ``sobol``
(SciPy's scrambled sequence) fill the box of the fields; ``csv`` and ``function`` take values from a
file or a function of the user. If the number of samples of a random or Sobol design is increased,
the first ones stay the same. Samples of a Latin hypercube are drawn in rounds, each of which is a
Latin hypercube (``rounds``).
"""

import csv
import io
import itertools
import math
import runpy
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from weft.base.arrays import Floats
from weft.base.errors import SweepError, check_known, error_text, to_one_line
from weft.base.input_file import is_file, open_input
from weft.base.trees import Json
from weft.base.yaml_lines import parse_yaml
from weft.plugins.lab.sweep.varied import FieldValues, plain_value

DESIGNS = ("grid", "random", "latin_hypercube", "sobol", "csv", "function")
MOST_SAMPLES = 1_000_000
Values = Json  # values of a sample, by the paths of its fields


@dataclass(frozen=True)
class Design:
    """The design of a sweep file.

    Args:
        name: one of ``DESIGNS``.
        fields: the fields that vary, in the order of the file.
        samples: number of samples.
        seed: of random numbers.
        file: of csv, the file; of function, ``file.py:function``.
        folder: the folder to which ``file`` is relative.
    """

    name: str
    fields: Mapping[str, FieldValues]
    samples: int | None = None
    seed: int = 0
    file: str = ""
    folder: Path = Path()

    @property
    def takes_samples(self) -> bool:
        """Return whether the number of samples of this design is set by the sweep file."""
        return self.name in ("random", "latin_hypercube", "sobol", "function")

    def check_size(self) -> None:
        """Check that the design has at most ``MOST_SAMPLES`` samples.

        Raises:
            SweepError: it has more.
        """
        is_grid = self.name == "grid"
        count = math.prod(f.count for f in self.fields.values()) if is_grid else self.samples or 0
        if count > MOST_SAMPLES:
            raise _too_many(f"{count:,}")

    def rows(self, rounds: Sequence[int] = ()) -> Iterator[Values]:
        """Yield the values of all samples, in order.

        Args:
            rounds: of a Latin hypercube, the number of samples in each round.

        Raises:
            SweepError: there are too many samples, or the file or function gives invalid values.
        """
        self.check_size()
        rows: Iterator[Values]
        if self.name == "csv":
            rows = _read_csv(self.folder / self.file)
        elif self.name == "function":
            rows = _call_function(self.file, self.folder, self.seed, self.samples)
        elif self.name == "grid":
            levels = (f.levels() for f in self.fields.values())
            rows = (dict(zip(self.fields, values)) for values in itertools.product(*levels))
        else:
            rows = (
                {name: f.at(float(u)) for (name, f), u in zip(self.fields.items(), point)}
                for point in self.points(rounds)
            )
        for k, row in enumerate(rows):
            if k == MOST_SAMPLES:  # a file or function has more
                raise _too_many(f"more than {MOST_SAMPLES:,}")
            yield row

    def points(self, rounds: Sequence[int] = ()) -> Floats:
        """Return the positions of the samples in the unit box of the fields, (n,d) in [0, 1)."""
        n, d = self.samples or 0, len(self.fields)
        if self.name == "random":
            return np.random.default_rng(self.seed).random((n, d))
        if self.name == "latin_hypercube":
            return _latin_hypercube(list(rounds) or [n], d, self.seed)
        return _sobol(n, d, self.seed)


def _too_many(got: str) -> SweepError:
    return SweepError(
        "samples",
        got=got,
        expected=f"at most {MOST_SAMPLES:,} in a sweep",
        hint=(
            "a grid of many fields grows fast: `design: sobol` covers the same range with "
            "any number of samples"
        ),
    )


def _latin_hypercube(rounds: Sequence[int], d: int, seed: int) -> Floats:
    """Return the points of all rounds; each round is a Latin hypercube with its own seed."""
    from scipy.stats import qmc

    drawn = [
        qmc.LatinHypercube(d, rng=np.random.default_rng([seed, k])).random(n)
        for k, n in enumerate(rounds)
    ]
    return np.concatenate(drawn)


def _sobol(n: int, d: int, seed: int) -> Floats:
    """Return the first n points of a scrambled Sobol sequence; they do not depend on n."""
    from scipy.stats import qmc

    sequence = qmc.Sobol(d, scramble=True, rng=np.random.default_rng(seed))
    points: Floats = sequence.random_base2(math.ceil(math.log2(max(n, 1))))
    return points[:n]


def _read_csv(path: Path) -> Iterator[Values]:
    """Yield a sample for each line; each column is a field, and empty cells keep the
    scene's value.
    """
    try:
        with open_input(path) as data, io.TextIOWrapper(data, "utf-8-sig", newline="") as file:
            reader = csv.reader(file)
            head = [name.strip() for name in next(reader, [])]
            if not head or "" in head or len(set(head)) < len(head):
                expected = "paths of fields, each only once: cloth.fabric,step"
                got = f"first line {','.join(head)!r}"
                raise SweepError("csv", got=got, where=path, expected=expected)
            for row in reader:
                where = f"{path.name}:{reader.line_num}"
                if not row:
                    continue
                if len(row) != len(head):
                    raise SweepError(
                        "csv",
                        got=f"{len(row)} cells",
                        where=where,
                        expected=f"{len(head)}, as in the first line",
                    )
                yield {
                    name: parse_yaml(cell, where, SweepError).value
                    for name, cell in zip(head, row)
                    if cell.strip()
                }
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        got = error_text(error)
        raise SweepError("csv", got=got, where=path, expected="a readable CSV file") from error


def _call_function(
    reference: str, folder: Path, seed: int, samples: int | None
) -> Iterator[Values]:
    """Yield the samples that a user's ``function(rng, samples)`` gives: mappings of paths to
    values.
    """
    try:
        rows = _load_function(reference, folder)(np.random.default_rng(seed), samples)
        for k, row in enumerate(rows):
            if not isinstance(row, Mapping) or not all(isinstance(key, str) for key in row):
                raise SweepError(
                    f"sample {k} of {reference}",
                    got=to_one_line(repr(row)),
                    expected="a mapping of paths of fields to values",
                )
            yield {key: plain_value(value) for key, value in row.items()}
    except SweepError:
        raise
    except Exception as error:  # the user's code may raise anything
        place = traceback.extract_tb(error.__traceback__)[-1]
        raise SweepError(
            f"function {reference}",
            got=f"{type(error).__name__}: {error}",
            where=f"{place.filename}:{place.lineno}",
            expected="function(rng, samples) that gives mappings of paths to values",
        ) from error


def _load_function(reference: str, folder: Path) -> Callable[..., Iterable[object]]:
    """Return the function that ``file.py:function`` names."""
    name, colon, function = reference.rpartition(":")
    path = folder / name
    if not colon or not name.endswith(".py"):
        raise SweepError("function", got=reference, expected="file.py:function")
    if not is_file(path):
        raise SweepError("function", got=f"no file {path}", expected="file.py:function")
    names = runpy.run_path(str(path))
    functions = {k: v for k, v in names.items() if callable(v) and not k.startswith("_")}
    check_known(function, functions, f"function in {path.name}", SweepError)
    found: Callable[..., Iterable[object]] = functions[function]
    return found
