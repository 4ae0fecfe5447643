"""Card of a data set: its provenance, in JSON and in words, with checksums."""

import hashlib
import json
import subprocess
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import weft
from weft.base.errors import WeftError
from weft.base.trees import Json, YamlMapping
from weft.io.files import atomic_write
from weft.sweep.folder import SweepFolder, machine
from weft.sweep.parameters import Column
from weft.sweep.quality import MEANINGS
from weft.sweep.status import RUN, SampleStatus

if TYPE_CHECKING:
    from weft.sweep.dataset import Choices, DatasetShape

CHUNK = 1 << 20


def write_card(
    sweep: SweepFolder,
    out: Path,
    kept: Sequence[SampleStatus],
    left_out: Mapping[str, int],
    columns: Sequence[Column],
    choices: "Choices",
    shape: "DatasetShape",
    error: float,
) -> Path:
    """Write ``NAME.card.json`` and ``NAME.README.md`` beside a data set; return the path of the
    former.
    """
    told = {
        "data_set": out.name,
        "title": sweep.about["description"],
        "made_by": {"weft": weft.__version__, "commit": commit(), "machine": machine()},
        "sweep": {k: v for k, v in sweep.about.items() if k not in ("order", "scene", "file")}
        | {"scene": Path(sweep.about["scene"]).name},
        "simulated": _simulated(sweep, kept),
        "samples": {"kept": len(kept), "left_out": dict(left_out)},
        "filters": {
            "set": sweep.keep.said(),
            "meaning": MEANINGS,
            "applied": "left out" if choices.good_only else "as flags",
            "passed": _passed(kept),
        },
        "positions": {
            "frames": choices.frames,
            "quantum_m": choices.quantum,
            "greatest_error_m": error,
            "stated_error_m": 0.0 if choices.quantum is None else choices.quantum / 2,
            "vertices": shape.vertices,
            "same_faces": shape.one_face,
        },
        "columns": {c.name: dict(c.about) for c in columns},
        "sha256": dict(_sums(out)),
    }
    card = out.with_name(f"{out.name}.card.json")
    with atomic_write(card) as file:
        file.write(json.dumps(told, indent=2, default=str).encode() + b"\n")
    with atomic_write(out.with_name(f"{out.name}.README.md")) as file:
        file.write(_words(out, told).encode())
    return card


def check_sums(card: Path) -> list[str]:
    """Return the names of files of a data set whose checksums differ from those of its card."""
    told: Json = json.loads(card.read_text())
    found = dict(_sums(card.with_name(str(told["data_set"]))))
    said = told["sha256"]
    return sorted(name for name in {*found, *said} if found.get(name) != said.get(name))


def commit() -> str | None:
    """Return the commit of weft's source if it runs from a clone, followed by ``+`` if it has
    changes.
    """
    place = Path(weft.__file__).parent
    try:
        told = [
            subprocess.run(
                ["git", "-C", str(place), *words],
                capture_output=True,
                text=True,
                timeout=10,
                check=True,
            ).stdout.strip()
            for words in (["rev-parse", "HEAD"], ["status", "--porcelain", "--", "."])
        ]
    except (OSError, subprocess.SubprocessError):
        return None
    return told[0] + ("+" if told[1] else "")


def _simulated(sweep: SweepFolder, kept: Sequence[SampleStatus]) -> Json:
    """Return settings of the first sample's manifest: integrator, tolerances, step, versions."""
    from weft.run.run_folder import RunFolder

    try:
        manifest = RunFolder(sweep.place(kept[0].sample) / RUN).manifest()
    except WeftError:
        return {}
    scene: YamlMapping = manifest["scene"]
    names = ("integrator", "settings", "step", "damping", "law", "gravity", "contact", "adaptive")
    return {
        "of": kept[0].sample.id,
        "fps": manifest["fps"],
        "versions": manifest["versions"],
        **{n: scene.get(n) for n in names},
    }


def _passed(kept: Sequence[SampleStatus]) -> dict[str, int]:
    """Return how many samples pass each filter."""
    passed: Counter[str] = Counter()
    for f in kept:
        passed.update(k for k, ok in (f.status.flags if f.status else {}).items() if ok)
    return dict(passed)


def _sums(out: Path) -> Iterator[tuple[str, str]]:
    """Yield name and SHA-256 checksum of each file of a data set."""
    files = [out] if out.is_file() else sorted(p for p in out.rglob("*") if p.is_file())
    for path in files:
        digest = hashlib.sha256()
        with path.open("rb") as file:
            while chunk := file.read(CHUNK):
                digest.update(chunk)
        yield path.relative_to(out.parent).as_posix(), digest.hexdigest()


def _words(out: Path, told: Json) -> str:
    """Return the card as Markdown."""
    sweep, positions = told["sweep"], told["positions"]
    opening = {
        ".zarr": f'xarray.open_zarr("{out.name}")',
        ".parquet": f'pyarrow.parquet.read_table("{out.name}")',
    }
    left = ", ".join(f"{n} {why}" for why, n in told["samples"]["left_out"].items()) or "none"
    error = (
        "as simulated, in float64"
        if positions["quantum_m"] is None
        else f"in steps of {positions['quantum_m']:g} m, off by at most "
        f"{positions['stated_error_m']:g} m (measured: {positions['greatest_error_m']:.3g} m)"
    )
    varied = "\n".join(f"- `{path}`: {said}" for path, said in sweep["vary"].items())
    filters = ", ".join(f"{k}: {v}" for k, v in told["filters"]["set"].items()) or "none"
    made, count = told["made_by"], told["samples"]["kept"]
    return f"""# {told["title"] or out.name}

{count} samples, left out: {left}. Design: {sweep["design"]}, seed {sweep["seed"]}.

{varied or "Values: from a file or a function; see the columns `param.*`."}

Positions: {positions["frames"]} frame(s), {error}.
Filters: {filters} ({told["filters"]["applied"]}).
Simulated with weft {sweep["machine"]["versions"]["weft"]} on {sweep["machine"]["processor"]}, \
{sweep["threads"]} thread(s) a sample; written with weft {made["weft"]}, commit {made["commit"]}.
Checksums, versions, tolerances and the meaning of every column: `{out.name}.card.json`.

```python
{opening.get(out.suffix, f'xarray.open_dataset("{out.name}", engine="h5netcdf")')}
```
"""
