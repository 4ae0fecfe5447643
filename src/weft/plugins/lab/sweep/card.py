"""Card of a data set: its provenance, in JSON and in words, with checksums."""

import hashlib
import json
import subprocess
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import weft
from weft.base.errors import WeftError
from weft.base.trees import Json
from weft.io.files import write_file
from weft.plugins.lab.sweep.folder import SweepFolder, machine
from weft.plugins.lab.sweep.quality import MEANINGS
from weft.plugins.lab.sweep.status import RUN, SampleStatus
from weft.run.run_folder import RunFolder

if TYPE_CHECKING:
    from xarray import Dataset

    from weft.plugins.lab.sweep.dataset import DatasetOptions

# Settings of the scene that the card has of the first sample.
SIMULATED = ("integrator", "settings", "step", "damping", "law", "gravity", "contact", "adaptive")
OPENING = {
    ".zarr": 'xarray.open_zarr("{}")',
    ".parquet": 'pyarrow.parquet.read_table("{}")',
    ".h5": 'xarray.open_dataset("{}", engine="h5netcdf")',
    ".nc": 'xarray.open_dataset("{}", engine="h5netcdf")',
}


def write_card(
    sweep: SweepFolder,
    out: Path,
    samples: Sequence[SampleStatus],
    left_out: Mapping[str, int],
    data: "Dataset",
    options: "DatasetOptions",
    error: float,
) -> Path:
    """Write ``NAME.card.json`` and ``NAME.README.md`` beside a data set; return the path of the
    former.

    Args:
        sweep: the sweep.
        out: the data set on disk.
        samples: its samples.
        left_out: numbers of other samples, by reason.
        data: its variables.
        options: the options with which it was written.
        error: [m] largest error of a coordinate by quantization.
    """
    about = {k: v for k, v in sweep.about.items() if k not in ("order", "file")}
    content: Json = {
        "data_set": out.name,
        "title": about["description"],
        "made_by": {"weft": weft.__version__, "commit": find_commit(), "machine": machine()},
        "sweep": about | {"scene": sweep.scene.name},
        "simulated": _read_settings(sweep, samples[0]),
        "samples": {"kept": len(samples), "left_out": dict(left_out)},
        "filters": {
            "set": sweep.keep.as_dict(),
            "meaning": MEANINGS,
            "applied": "left out" if options.good_only else "as flags",
            "passed": Counter(
                name for f in samples for name, passed in f.status.flags.items() if passed
            ),
        },
        "positions": {
            "frames": options.frames,
            "quantum_m": options.quantum,
            "greatest_error_m": error,
            "stated_error_m": (options.quantum or 0.0) / 2,
            "vertices": data.sizes["vertex"],
            "same_faces": "sample" not in data.face.dims,
        },
        "columns": {name: v.attrs for name, v in data.variables.items() if v.dims == ("sample",)},
        "sha256": _checksums(out),
    }
    card = out.with_name(f"{out.name}.card.json")
    write_file(card, json.dumps(content, indent=2, default=str) + "\n")
    write_file(out.with_name(f"{out.name}.README.md"), _markdown(out, content))
    return card


def compare_checksums(card: Path) -> list[str]:
    """Return the names of files of a data set whose checksums differ from those of its card."""
    content: Json = json.loads(card.read_text())
    wanted, found = content["sha256"], _checksums(card.with_name(str(content["data_set"])))
    return sorted(name for name in {*found, *wanted} if found.get(name) != wanted.get(name))


def find_commit() -> str | None:
    """Return the commit of weft's source if it runs from a clone, followed by ``+`` if it has
    changes.
    """
    command = ["git", "-C", str(Path(weft.__file__).parent), "describe", "--always", "--abbrev=40"]
    command += ["--exclude=*", "--dirty=+"]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return answer.stdout.strip()


def _read_settings(sweep: SweepFolder, f: SampleStatus) -> Json:
    """Return settings of a sample's manifest: integrator, tolerances, step, versions."""
    try:
        manifest = RunFolder(sweep.place(f.sample) / RUN).manifest()
    except WeftError:
        return {}
    settings = {name: manifest["scene"].get(name) for name in SIMULATED}
    return {
        "of": f.sample.id,
        "fps": manifest["fps"],
        "versions": manifest["versions"],
        **settings,
    }


def _checksums(out: Path) -> dict[str, str]:
    """Return the SHA-256 checksum of each file of a data set, by its name."""
    checksums = {}
    for path in [out] if out.is_file() else sorted(p for p in out.rglob("*") if p.is_file()):
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256")
        checksums[path.relative_to(out.parent).as_posix()] = digest.hexdigest()
    return checksums


def _markdown(out: Path, card: Json) -> str:
    """Return the card as Markdown."""
    sweep, positions = card["sweep"], card["positions"]
    left = ", ".join(f"{n} {why}" for why, n in card["samples"]["left_out"].items()) or "none"
    error = (
        "as simulated, in float64"
        if positions["quantum_m"] is None
        else f"in steps of {positions['quantum_m']:g} m, off by at most "
        f"{positions['stated_error_m']:g} m (measured: {positions['greatest_error_m']:.3g} m)"
    )
    varied = "\n".join(f"- `{path}`: {values}" for path, values in sweep["vary"].items())
    filters = ", ".join(f"{k}: {v}" for k, v in card["filters"]["set"].items()) or "none"
    made, count = card["made_by"], card["samples"]["kept"]
    return f"""# {card["title"] or out.name}

{count} samples, left out: {left}. Design: {sweep["design"]}, seed {sweep["seed"]}.

{varied or "Values: from a file or a function; see the columns `param.*`."}

Positions: {positions["frames"]} frame(s), {error}.
Filters: {filters} ({card["filters"]["applied"]}).
Simulated with weft {sweep["machine"]["versions"]["weft"]} on {sweep["machine"]["processor"]}, \
{sweep["threads"]} thread(s) a sample; written with weft {made["weft"]}, commit {made["commit"]}.
Checksums, versions, tolerances and the meaning of every column: `{out.name}.card.json`.

```python
{OPENING[out.suffix.lower()].format(out.name)}
```
"""
