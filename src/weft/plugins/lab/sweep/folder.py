"""The folder of a sweep on disk.

sweep.json        scene, design, threads, seed, versions; with a checksum
plan.jsonl        one line per sample
samples/ID/       status.json, log.txt and run/ (a run folder) of each sample
logs/             output of the workers
"""

import hashlib
import json
import platform
import socket
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from weft.base.errors import SweepError, error_text
from weft.base.machine import cores
from weft.base.trees import Json, Yaml, YamlMapping
from weft.io.folder_lock import FolderLock
from weft.io.safe_folder import SafeFolder
from weft.plugins.lab.sweep.file import SweepFile, overrides
from weft.plugins.lab.sweep.plan import ANEW, Sample, damage_error, plan_of, read_plan, write_plan
from weft.plugins.lab.sweep.quality import Filters
from weft.plugins.lab.sweep.status import SAMPLES, SampleStatus, look
from weft.run.step_record import differences

NAME, FORMAT = "sweep.json", 1
PACKAGES = ("weft", "numpy", "scipy", "warp-lang", "pypardiso")
_SUM = "sha256"


@dataclass(frozen=True)
class SweepFolder:
    """The folder of a sweep, with its contents read.

    Args:
        path: the folder.
        about: contents of ``sweep.json``.
        plan: its samples.
    """

    path: Path
    about: Json
    plan: tuple[Sample, ...]

    @property
    def inside(self) -> SafeFolder:
        """Return access to the files of the folder."""
        return SafeFolder(self.path)

    @property
    def lock(self) -> FolderLock:
        """Return the lock that one process holds while it hands out samples."""
        return FolderLock(self.inside)

    @property
    def scene(self) -> Path:
        """Return the path of the scene file."""
        return Path(self.about["scene"])

    @property
    def common(self) -> list[str]:
        """Return the overrides that all samples share."""
        return overrides(self.about["set"])

    @property
    def threads(self) -> int:
        """Return the number of CPU threads per sample."""
        return int(self.about["threads"])

    @property
    def time_limit(self) -> float | None:
        """Return the time limit per sample [s]; None: no limit."""
        return None if self.about["time_limit"] is None else float(self.about["time_limit"])

    @property
    def keep(self) -> Filters:
        """Return the filters that a good sample passes."""
        return Filters(**self.about["keep"])

    def sample(self, name: str) -> Sample:
        """Return a sample by its id, the beginning of its id, or its number.

        Raises:
            SweepError: no sample fits, or several do.
        """
        matches = [s for s in self.plan if s.id.startswith(name)]
        exact = [s for s in matches if s.id == name]
        if not exact and name.isdecimal() and int(name) < len(self.plan):
            exact = [self.plan[int(name)]]
        matches = exact or matches
        if len(matches) != 1:
            expected = "the id of a sample (see `weft sweep status --list`)"
            raise SweepError("sample", got=name, where=self.path, expected=expected)
        return matches[0]

    def place(self, sample: Sample) -> Path:
        """Return the folder of a sample."""
        return self.path / SAMPLES / sample.id

    def look(self) -> list[SampleStatus]:
        """Return the states of all samples."""
        return look(self.path, self.plan)

    def reproducer(self, sample: Sample, out: str = "reproduced") -> list[str]:
        """Return the command that simulates one sample alone, as arguments."""
        sets = [a for text in [*self.common, *sample.overrides] for a in ("--set", text)]
        return [
            "weft",
            "run",
            str(self.scene),
            *sets,
            "--device",
            str(self.about["device"]),
            "--threads",
            str(self.threads),
            "--out",
            out,
        ]


def open_sweep(path: str | Path) -> SweepFolder:
    """Open a sweep by its folder, or by its sweep file.

    Raises:
        SweepError: there is no sweep, or it is damaged.
    """
    path = Path(path)
    if path.is_file():
        from weft.plugins.lab.sweep.file import read_sweep

        path = read_sweep(path).out
    inside = SafeFolder(path)
    return SweepFolder(path, _read(inside), tuple(read_plan(inside)))


def prepare(
    sweep: SweepFile,
    out: Path,
    check: Callable[[SweepFile, Sequence[Sample]], None] = lambda *_: None,
) -> SweepFolder:
    """Plan a sweep into its folder: a new one, or one that is continued or extended.

    The caller must hold the folder's lock.

    Args:
        sweep: the file.
        out: the folder.
        check: called with the file and the plan before any file is written.

    Raises:
        SweepError: the folder holds a sweep of another scene, or cannot be written.
    """
    inside = SafeFolder(out)
    old = _read(inside) if inside.has(NAME) else None
    rounds = _rounds(sweep, old)
    plan = plan_of(sweep, rounds)
    about = _about(sweep, rounds, len(plan))
    if old is not None:
        about["started"] = old["started"]
    if old is not None:
        _same_sweep(out, old, about)
    check(sweep, plan)
    inside.make(SAMPLES)
    write_plan(inside, plan)
    _write(inside, about)
    return SweepFolder(out, json.loads(json.dumps(about)), tuple(plan))


def machine() -> Json:
    """Return the properties of this machine on which results may depend: processor, system,
    versions.
    """
    versions = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            continue
    return {
        "host": socket.gethostname(),
        "system": platform.platform(),
        "cores": cores(),
        "processor": _processor(),
        "versions": versions,
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(ln.partition(":")[2].strip() for ln in lines if ln.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor()


def _about(sweep: SweepFile, rounds: list[int], count: int) -> Json:
    """Return the contents of ``sweep.json``."""
    from weft.scene.file import scene_digest  # processes limit their threads before

    design = sweep.design
    return {
        "format": FORMAT,
        "description": sweep.settings.description,
        "file": str(sweep.path.resolve()),
        "scene": str(sweep.scene.resolve()),
        "scene_digest": scene_digest(sweep.scene, overrides(sweep.common)),
        "set": dict(sweep.common),
        "design": design.name,
        "vary": {path: field.as_yaml() for path, field in design.fields.items()},
        "rounds": rounds,
        "samples": count,
        "seed": design.seed,
        "seeds": list(sweep.settings.seeds),
        "threads": sweep.settings.threads,
        "time_limit": sweep.settings.time_limit,
        "device": sweep.settings.device,
        "keep": sweep.settings.keep.as_dict(),
        "machine": machine(),
        "started": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }


def _rounds(sweep: SweepFile, old: Json | None) -> list[int]:
    """Return the sizes of the rounds of a Latin hypercube: the earlier rounds and one
    for the rest.
    """
    design = sweep.design
    if design.name != "latin_hypercube" or design.samples is None:
        return []
    before = []
    if old is not None and old["design"] == design.name and old["seed"] == design.seed:
        before = [int(n) for n in old["rounds"]]
    if not before or sum(before) > design.samples:
        return [design.samples]
    more = design.samples - sum(before)
    return [*before, more] if more else before


def _same_sweep(out: Path, old: Json, new: Json) -> None:
    """Check that existing samples are of the same scene."""
    common = ("scene_digest", "set", "device", "threads", "seeds")
    differing = [c for name in common for c in differences({name: old[name]}, {name: new[name]})]
    if old["seeds"] and old["seed"] != new["seed"]:
        differing.append("seed")
    if differing:
        names = ["the scene file" if c == "scene_digest" else c for c in differing]
        raise SweepError(
            "sweep folder",
            got=f"a sweep of another scene (differs in: {', '.join(names)})",
            where=out,
            expected="the scene of its samples",
            hint="choose another folder with --out",
        )


def _read(inside: SafeFolder) -> Json:
    """Return the contents of ``sweep.json``, after a check of its checksum."""
    try:
        with inside.reader(NAME) as file:
            content: Yaml = json.loads(file.read())
        if not isinstance(content, dict):
            raise ValueError("no sweep")
        checksum = content.pop(_SUM, None)
        if content.get("format") != FORMAT or checksum != _digest(_text(content)):
            raise ValueError("its checksum is not that of its contents")
    except FileNotFoundError as error:
        expected = "a folder that `weft sweep` made (with a sweep.json)"
        raise SweepError("sweep folder", got=str(inside.path), expected=expected) from error
    except (OSError, ValueError, RecursionError) as error:
        got = error_text(error)
        hint = f"remove it: {ANEW}, and finds the samples that are there"
        raise damage_error(inside, NAME, got, hint) from error
    return content


def _write(inside: SafeFolder, about: YamlMapping) -> None:
    content = json.loads(json.dumps(about))
    with inside.writer(NAME) as file:
        file.write(
            json.dumps({**content, _SUM: _digest(_text(content))}, indent=2).encode() + b"\n"
        )


def _text(about: Json) -> bytes:
    return json.dumps(about, sort_keys=True).encode()


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
