"""The sweep file: a scene, the fields that vary, and the resources of samples."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from weft.base.errors import SweepError, WeftError
from weft.base.input_file import is_file
from weft.base.schema.document import YamlDocument, read_document
from weft.base.settings import REQUIRED, documented, setting
from weft.base.trees import YamlMapping
from weft.plugins.lab.sweep.design import DESIGNS, Design
from weft.plugins.lab.sweep.quality import Filters
from weft.plugins.lab.sweep.varied import Choice, FieldValues, Range, yaml_text

MOST_THREADS = 4096  # per sample: more than the cores of the largest machines


@documented
@dataclass(frozen=True)
class SweepSettings:
    """Fields of a sweep file."""

    scene: str = setting(REQUIRED, "the scene file, relative to this one")
    description: str = setting("", "a description for readers")
    common: YamlMapping | None = setting(
        None, "fields of the scene that are the same in all samples: {step: 10 ms}", key="set"
    )
    design: str | None = setting(
        None, "design of the values; none: grid, if fields vary", choices=DESIGNS
    )
    vary: YamlMapping | None = setting(
        None,
        "the fields that vary: paths of fields to lists of values, or {from, to, steps, scale, "
        "whole}",
    )
    samples: int | None = setting(None, "how many", least=1)
    seed: int = setting(0, "seed of the design, and of the samples' own seeds", least=0)
    seeds: Sequence[str] = setting(
        (), "a list of paths: fields that get the sample's own seed: [cloth.sheet.seed]"
    )
    file: str = setting("", "of design csv: a file whose first line has the paths")
    function: str = setting("", "of design function: file.py:function, called with (rng, samples)")
    time_limit: float | None = setting(
        None, "largest wall-clock time of a sample; none: no limit", "s", above=0
    )
    threads: int = setting(1, "CPU threads of a sample", least=1, most=MOST_THREADS)
    device: str = setting("cpu", "cpu, cuda or cuda:N")
    out: str | None = setting(None, "folder of the sweep; none: runs/NAME")
    keep: Filters = setting(
        Filters(),
        "conditions for good samples: {converged: true, static: 5 cm/s, intersections: 0, ...}",
    )


class SweepDocument(YamlDocument):
    """A sweep file that is read."""

    what: ClassVar[str] = "sweep"
    error: ClassVar[type[WeftError]] = SweepError


@dataclass(frozen=True)
class SweepFile:
    """Content of a sweep file.

    Args:
        path: the sweep file.
        scene: path of the scene file.
        settings: its fields.
        design: the fields that vary, and the choice of their values.
        out: the sweep's folder.
    """

    path: Path
    scene: Path
    settings: SweepSettings
    design: Design
    out: Path

    @property
    def common(self) -> YamlMapping:
        """Return the values of fields that do not vary, by path."""
        return self.settings.common or {}


def read_sweep(path: str | Path, samples: int | None = None) -> SweepFile:
    """Read a sweep file.

    Args:
        path: the sweep file.
        samples: number of samples in place of the file's number.

    Raises:
        SweepError: the file cannot be read, or one of its fields is invalid.
    """
    path = Path(path)
    hint = "`examples/sweep/` has some; fields of the scene go below `vary` or `set`"
    source = read_document(SweepDocument, path, hint, "`scene:` and `vary:`")
    settings = source.read_block(SweepSettings, source.tree)
    if samples is not None:
        settings = replace(settings, samples=samples)
    scene = path.parent / settings.scene
    if not is_file(scene):
        hint = f"weft looks for the file in {path.parent}"
        raise source.field_error(("scene",), repr(settings.scene), "a file", hint)
    design = _design(source, settings)
    for k, name in enumerate(settings.seeds):
        if name in design.fields:
            raise source.field_error(("seeds", k), name, "a field that does not vary")
    out = Path(settings.out) if settings.out else Path("runs") / path.stem
    return SweepFile(path, scene, settings, design, out)


def _design(source: SweepDocument, settings: SweepSettings) -> Design:
    """Return the design, after checks that it is complete and not too large."""
    name = settings.design or ("grid" if settings.vary else None)
    if name is None:
        raise source.field_error(("design",), None, f"one of {', '.join(DESIGNS)}")
    fields = {path: read_field_values(source, path, v) for path, v in (settings.vary or {}).items()}
    elsewhere = {"csv": ("file", settings.file), "function": ("function", settings.function)}
    for other, (field, given) in elsewhere.items():
        if (name == other) != bool(given):
            expected = "a value" if name == other else f"nothing, with design {name}"
            hint = f"only for design {other}, as the source of its samples"
            raise source.field_error((field,), given or None, expected, hint)
    if (name in elsewhere) == bool(fields):
        expected = f"nothing, with design {name}" if fields else "the fields that vary"
        raise source.field_error(("vary",), list(fields) or None, expected)
    _, file = elsewhere.get(name, ("", ""))
    samples = settings.samples
    design = Design(name, fields, samples, settings.seed, file, source.path.parent)
    if samples is None and design.takes_samples and name != "function":
        raise source.field_error(("samples",), None, "how many samples")
    if samples is not None and not design.takes_samples:
        raise source.field_error(("samples",), samples, f"nothing, with design {name}")
    for field, taken in fields.items():
        if name == "grid" and taken.count == 0:
            expected = "`steps`, because a grid needs a number of values"
            raise source.field_error(("vary", field), "a range without steps", expected)
    design.check_size()
    return design


def read_field_values(source: SweepDocument, path: str, value: object) -> FieldValues:
    """Return the values of a field that varies: a list of values, or a range."""
    loc = ("vary", path)
    if isinstance(value, list) and value:
        return Choice(tuple(value))
    if not isinstance(value, Mapping):
        hint = "put a fixed field into `set`"
        expected = "a list of values, or {from: 1 cm, to: 2 cm}"
        raise source.field_error(loc, repr(value), expected, hint)
    return source.read_block(Range, value, loc)


def overrides(values: YamlMapping) -> list[str]:
    """Return ``path=value`` texts, as ``weft run --set`` takes them."""
    return [f"{path}={yaml_text(value)}" for path, value in values.items()]
