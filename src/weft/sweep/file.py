"""The sweep file: a scene, the fields that vary, and the resources of samples."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weft.base.errors import SweepError, WeftError, check_known, did_you_mean
from weft.base.input_file import is_file
from weft.base.units import to_si
from weft.base.yaml_lines import YamlTree, kind_of, read_yaml
from weft.sweep.design import DESIGNS, Design
from weft.sweep.quality import Filters, filters_of
from weft.sweep.varied import varied, yaml_text

MOST_THREADS = 4096  # per sample: more than the cores of the largest machines
FIELDS = {
    "description": "what this is, for people",
    "scene": "the scene file, relative to this one",
    "set": "fields of the scene that are the same in all samples: {step: 10 ms}",
    "design": f"one of {', '.join(DESIGNS)}",
    "vary": "what varies: paths of fields to lists of values, or {from, to, steps, scale, whole}",
    "samples": "how many (of saltelli: rows, each of which is fields + 2 samples)",
    "seed": "of the design, and of the samples' own seeds",
    "seeds": "fields that take a sample's own seed: [cloth.sheet.seed]",
    "file": "of design csv: a file whose first line has the paths",
    "function": "of design function: file.py:function, called with (rng, samples)",
    "time_limit": "[s] of wall clock that a sample may take; none: no limit",
    "threads": "CPU threads of a sample; none: as many as fill the cores, when first run",
    "device": "cpu, cuda or cuda:N",
    "out": "folder of the sweep; none: runs/NAME",
    "keep": "which samples are good: {converged: true, static: 5 cm/s, intersections: 0, ...}",
}


@dataclass(frozen=True)
class SweepFile:
    """Content of a sweep file.

    Args:
        path: the sweep file.
        scene: path of the scene file.
        common: values of fields that do not vary, by path.
        design: the fields that vary, and the choice of their values.
        seeds: fields that take a sample's own seed.
        time_limit: [s] of wall clock per sample; None: no limit.
        threads: per sample; None: chosen when the sweep is first run.
        device: the device that runs the kernels.
        out: the sweep's folder.
        keep: filters that a good sample passes.
        description: text for people.
    """

    path: Path
    scene: Path
    common: Mapping[str, Any]
    design: Design
    seeds: tuple[str, ...]
    time_limit: float | None
    threads: int | None
    device: str
    out: Path
    keep: Filters
    description: str = ""


def read_sweep(path: str | Path, samples: int | None = None) -> SweepFile:
    """Read a sweep file.

    Args:
        path: the sweep file.
        samples: number of samples in place of the file's number.

    Raises:
        SweepError: the file cannot be read, or one of its fields is invalid.
    """
    path = Path(path)
    read = read_yaml(path, "sweep file", SweepError, "`examples/sweep/` has some")
    tree = read.value
    if not isinstance(tree, dict):
        raise SweepError(
            "sweep file",
            got=kind_of(tree),
            where=f"{path.name}:1",
            expected="fields such as `scene:` and `vary:`",
        )
    for name in tree:
        if name not in FIELDS:
            hint = did_you_mean(str(name), FIELDS) or "fields of the scene go below `vary` or `set`"
            raise SweepError(
                f"field {name}",
                where=_at(path, read, name),
                hint=hint,
                expected=f"one of {', '.join(FIELDS)}",
            )
    reader = _Reader(path, read, tree)
    if samples is not None:
        tree["samples"] = samples
    design = reader.design()
    return SweepFile(
        path,
        reader.scene(),
        reader.mapping("set"),
        design,
        reader.seeds(design),
        reader.seconds("time_limit"),
        reader.whole("threads", 1, MOST_THREADS),
        reader.text("device") or "cpu",
        Path(reader.text("out") or Path("runs") / path.stem),
        filters_of(reader.mapping("keep"), _at(path, read, "keep")),
        reader.text("description"),
    )


def _at(path: Path, read: YamlTree, *loc: str) -> str:
    return f"{path.name}:{read.lines.get(loc, 1)}"


class _Reader:
    """Access to the fields of a sweep file: each is checked, and messages name its line."""

    def __init__(self, path: Path, read: YamlTree, tree: Mapping[str, Any]) -> None:
        self.path, self.read, self.tree = path, read, tree

    def error(self, name: str, got: Any, expected: str, hint: str | None = None) -> SweepError:
        """Return an error that names a field and its line."""
        shown = "nothing" if got is None else repr(got)
        where = _at(self.path, self.read, name)
        return SweepError(name, got=shown, where=where, expected=expected, hint=hint)

    def text(self, name: str) -> str:
        """Return a field as text; empty if it is not given."""
        found = self.tree.get(name)
        if found is None:
            return ""
        if not isinstance(found, str):
            raise self.error(name, found, f"text: {FIELDS[name]}")
        return found

    def whole(self, name: str, least: int, most: float = math.inf) -> int | None:
        """Return a field as a whole number; None if it is not given."""
        found = self.tree.get(name)
        if found is None:
            return None
        if isinstance(found, bool) or not isinstance(found, int) or found < least:
            raise self.error(name, found, f"must be a whole number >= {least}")
        if found > most:
            raise self.error(name, found, f"must be at most {most}")
        return found

    def seconds(self, name: str) -> float | None:
        """Return a field as a time [s]; None if it is not given."""
        if self.tree.get(name) is None:
            return None
        try:
            found = to_si(self.tree[name], "s", name)
        except WeftError as error:
            raise self.error(name, self.tree[name], error.expected or "a time") from error
        if found <= 0:
            raise self.error(name, self.tree[name], "must be > 0 [s]")
        return found

    def mapping(self, name: str) -> dict[str, Any]:
        """Return a field as a block of fields; empty if it is not given."""
        found = self.tree.get(name)
        if found is None:
            return {}
        if not isinstance(found, dict):
            raise self.error(name, found, f"a block: {FIELDS[name]}")
        return found

    def scene(self) -> Path:
        """Return the path of the scene file."""
        said = self.text("scene")
        if not said:
            raise self.error("scene", None, "the path of a scene file")
        path = self.path.parent / said
        if not is_file(path):
            raise self.error("scene", said, "a file", f"it is looked for in {self.path.parent}")
        return path

    def seeds(self, design: Design) -> tuple[str, ...]:
        """Return the fields that take a sample's own seed."""
        found = self.tree.get("seeds") or []
        if not isinstance(found, list) or not all(isinstance(s, str) for s in found):
            raise self.error("seeds", found, "a list of paths: [cloth.sheet.seed]")
        for name in found:
            if name in design.fields:
                raise self.error("seeds", name, "a field that does not vary")
        return tuple(found)

    def design(self) -> Design:
        """Return the design, after checks that it is complete and not too large."""
        said, vary = self.text("design"), self.mapping("vary")
        name = said or ("grid" if vary else "")
        check_known(name, DESIGNS, "design", SweepError)
        fields = {
            str(p): varied(str(p), v, _at(self.path, self.read, "vary", str(p)))
            for p, v in vary.items()
        }
        elsewhere = {"csv": self.text("file"), "function": self.text("function")}
        for other in elsewhere:
            field = "file" if other == "csv" else other
            if (name == other) != bool(elsewhere[other]):
                expected = FIELDS[field] if name == other else f"nothing, with design {name}"
                raise self.error(field, elsewhere[other] or None, expected)
        if (name in elsewhere) == bool(fields):
            expected = f"nothing, with design {name}" if fields else FIELDS["vary"]
            raise self.error("vary", list(vary) or None, expected)
        samples, seed = self.whole("samples", 1), self.whole("seed", 0) or 0
        file = elsewhere.get(name, "")
        design = Design(name, fields, samples, seed, file, self.path.parent)
        if samples is None and design.takes_samples and name != "function":
            raise self.error("samples", None, "how many samples")
        if samples is not None and not design.takes_samples:
            raise self.error("samples", samples, f"nothing, with design {name}")
        if name == "grid":
            for field, taken in fields.items():
                if taken.count == 0:
                    raise self.error(
                        "vary", f"{field} without steps", "steps: a grid needs to know how many"
                    )
        design.check_size()
        return design


def overrides(values: Mapping[str, Any]) -> list[str]:
    """Return ``path=value`` texts, as ``weft run --set`` takes them."""
    return [f"{path}={yaml_text(value)}" for path, value in values.items()]
