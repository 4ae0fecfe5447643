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


class BlenderJob:
    """A folder for arrays that are exchanged with Blender.

    Args:
        folder: an empty folder.
        what: the feature that needs Blender, for messages.
        error: class of the error of a task that fails.
    """

    def __init__(self, folder: Path, what: str, error: type[WeftError]) -> None:
        self.folder, self.what, self.error = folder, what, error

    def put(self, name: str, values: ArrayLike, dtype: str) -> str:
        """Write an array to the folder, and return its path."""
        path = self.folder / name
        np.ascontiguousarray(values, dtype=dtype).tofile(path)
        return str(path)

    def get(self, name: str, dtype: str) -> AnyArray:
        """Return an array that Blender wrote."""
        return np.fromfile(self.folder / name, dtype=dtype)

    def run(self, task: str, parameters: Json) -> Json:
        """Run a function of ``blender_job.py`` in Blender, and return what it returns.

        Raises:
            WeftError: the task fails, or takes too long; of the class ``error``.
        """
        command = blender()
        assert command is not None
        path, result = self.folder / "job.json", self.folder / "result.json"
        path.write_text(json.dumps({**parameters, "task": task, "folder": str(self.folder)}))
        try:
            done = subprocess.run(
                [*command, str(path)],
                capture_output=True,
                timeout=PATIENCE,
                check=False,
                text=True,
                errors="replace",
            )
            if result.exists():
                found: Json = json.loads(result.read_text())
                return found
            said = done.stdout + done.stderr
        except (OSError, subprocess.TimeoutExpired) as problem:
            said = str(problem)
        lines = [line for line in said.splitlines() if line.strip()] or ["nothing"]
        marked = [line for line in lines if line.startswith("weft: ")]
        raise self.error(
            self.what,
            got=f"Blender ended: {(marked or lines)[-1].removeprefix('weft: ')}",
            expected="a file that it can work with",
            hint=f"Blender is {command[0]}",
        )


@contextmanager
def in_blender(what: str, error: type[WeftError]) -> Iterator[BlenderJob]:
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
        yield BlenderJob(Path(folder), what, error)
