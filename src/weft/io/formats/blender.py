"""Blender on this machine, as a separate process, for Alembic, which has no Python package.

Blender is found by the variable ``WEFT_BLENDER`` (Blender, or a Python that has ``bpy``), as
``blender`` on the path, or as the package ``bpy`` beside weft. A job for it is a folder with
``job.json`` and arrays of float32 and int32; Blender runs the script ``blender_job.py``.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from weft.base.arrays import AnyArray
from weft.base.errors import WeftError
from weft.base.trees import Json

VARIABLE = "WEFT_BLENDER"
PATIENCE = 1800  # [s] time limit for one file
SCRIPT = Path(__file__).with_name("blender_job.py")
HINT = f"install Blender, put it on the path or into {VARIABLE}; or: pip install bpy"


def blender() -> Sequence[str] | None:
    """Return the command that runs the script, or None if no Blender is found."""
    named = os.environ.get(VARIABLE) or shutil.which("blender")
    if named and "python" not in Path(named).name:
        quiet = ("--background", "--factory-startup", "--python-exit-code", "3")
        return (named, *quiet, "--python", str(SCRIPT), "--")
    if named or find_spec("bpy") is not None:
        return (named or sys.executable, str(SCRIPT))
    return None


class Job:
    """A folder for arrays that are exchanged with Blender."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def put(self, name: str, values: ArrayLike, dtype: str) -> str:
        """Write an array to the folder, and return its path."""
        path = self.folder / name
        np.ascontiguousarray(values, dtype=dtype).tofile(path)
        return str(path)

    def get(self, name: str, dtype: str) -> AnyArray:
        """Return an array that Blender wrote."""
        return np.fromfile(self.folder / name, dtype=dtype)

    def describe(self) -> Json:
        """Return Blender's description of its arrays."""
        found: Json = json.loads((self.folder / "told.json").read_text())
        return found


@contextmanager
def in_blender(what: str, error: type[WeftError]) -> Iterator[Job]:
    """Make the folder of a job for Blender, which exists while the block runs.

    Args:
        what: the feature that needs Blender, for messages.
        error: class of the error that is raised.

    Raises:
        error: there is no Blender.
    """
    if blender() is None:
        raise error(what, got="no Blender", expected="one on this machine", hint=HINT)
    with tempfile.TemporaryDirectory(prefix="weft-blender-") as folder:
        yield Job(Path(folder))


def run(job: Job, task: Json, what: str, error: type[WeftError]) -> None:
    """Run a task in Blender.

    Args:
        job: the folder of the task.
        task: its parameters.
        what: the feature that needs Blender, for messages.
        error: class of the error that is raised.

    Raises:
        error: the task fails, or takes too long.
    """
    command = blender()
    assert command is not None
    path = job.folder / "job.json"
    path.write_text(json.dumps({**task, "folder": str(job.folder)}))
    try:
        done = subprocess.run(
            [*command, str(path)],
            capture_output=True,
            timeout=PATIENCE,
            check=False,
            text=True,
            errors="replace",
        )
        said, ok = done.stdout + done.stderr, (job.folder / "told.json").exists()
    except (OSError, subprocess.TimeoutExpired) as problem:
        said, ok = str(problem), False
    if not ok:
        marked = [line for line in said.splitlines() if line.startswith("weft: ")]
        lines = marked or [line for line in said.splitlines() if line.strip()] or ["nothing"]
        last = lines[-1].removeprefix("weft: ")
        raise error(
            what,
            got=f"Blender ended: {last}",
            expected="a file that it can work with",
            hint=f"Blender is {command[0]}",
        )
