"""The scene of a run, from its manifest alone."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from weft.errors import SceneError
from weft.fields import Physics
from weft.run import Run
from weft.scene.build import Builder, LoadedScene
from weft.scene.file import Source, validate


def load_described(description: Mapping[str, Any], folder: Path) -> LoadedScene:
    """The scene that a run's manifest describes; files that it reads are looked for in ``folder``.

    Raises:
        SceneError: no scene file made the run, or one of its files is not there.
    """
    if not description:
        raise SceneError(
            "scene", got="a run that Python made", where=str(folder),
            expected="a run of a scene file", hint="resume it where it was made",
        )  # fmt: skip
    source = Source(folder / "manifest.json", description, {})
    return Builder(source, validate(source)).build()


def physics_of(run: Run, names: Sequence[str]) -> Physics | None:
    """Laws and wind of the scene file that made a run, where fields ask for what it did not record;
    None where they do not.

    Raises:
        SceneError: as ``load_described``.
    """
    if not {"stress", "air"} & set(names) - set(run.recorded()):
        return None
    return load_described(run.manifest.get("description", {}), run.path).scene.physics()


def scene_of(run: Run) -> LoadedScene:
    """The scene of a run that a scene file made: to simulate it again, or to differentiate it
    (``weft.Adjoint``).

    Raises:
        SceneError: no scene file made the run, or one of its files is not there.
    """
    description = run.manifest.get("description", {})
    return load_described(description, run.path)
