"""The scene of a run, rebuilt from the run's manifest."""

import json
import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from weft import extensions
from weft.base.errors import SceneError, abbreviate
from weft.base.runtime_types import checked
from weft.base.trees import Json
from weft.cloth.fields import Physics
from weft.run.run import Run
from weft.run.step_record import differences
from weft.scene.build import Builder, LoadedScene
from weft.scene.file import Source, validate
from weft.scene.identity import identity
from weft.scene.membrane_law import physics


def load_described(manifest: Json, run: Path, folder: str | Path | None = None) -> LoadedScene:
    """Return the scene that the manifest of a run describes; warn if its files have changed.

    Args:
        manifest: of the run.
        run: the folder of the run.
        folder: where the files that the scene names are; None: in the folder of the scene file,
            as the run recorded it.

    Raises:
        SceneError: no scene file made the run, or its folder is not there. SceneProblems: one of
        its files is not there, or cannot be read. PluginError: a plugin that the scene uses is not
        installed.
    """
    extensions.require(manifest.get("plugins", {}), run)
    source = recorded_source(manifest, run)
    file = source.path
    if not source.tree:
        raise SceneError(
            "scene",
            got="a run that Python made",
            where=run,
            expected="a run of a scene file",
            hint="resume the run in the Python program that made it",
        )
    if folder is not None:
        file = Path(folder) / file.name
    if not file.parent.is_dir():
        raise SceneError(
            "folder of the scene file",
            got=str(file.parent),
            where=run,
            expected="the folder to which the files of the scene are relative",
            hint="the run was moved: weft.scene_of(run, folder=...) gives the new folder of "
            "these files",
        )
    source = replace(source, path=file)
    loaded = Builder(source, validate(source)).build()
    now = json.loads(json.dumps(identity(loaded.scene)))
    changed = differences(manifest.get("scene", {}), now)
    if changed:
        warnings.warn(
            f"{run}: files of the scene in {file.parent} have changed since it was simulated "
            f"(differs in: {abbreviate(changed)})",
            stacklevel=3,
        )
    return loaded


def recorded_source(manifest: Json, run: Path) -> Source:
    """Return the tree of the scene file of a run, as its manifest has it; empty: Python made it."""
    file = run / manifest.get("scene_file", "manifest.json")
    return Source(file, manifest.get("description") or {}, {})


def physics_of(run: Run, names: Sequence[str]) -> Physics | None:
    """Return laws and wind of the scene file of a run, for fields that the run did not record.

    Args:
        run: a run of a scene file.
        names: fields that are asked for, or looks that show a part of one (``stress-shear``).

    Returns:
        Laws and wind; None if all of these fields are recorded or need neither.

    Raises:
        SceneError: as ``load_described``.
    """
    fields = {name.partition("-")[0] for name in names}
    if not {"stress", "air"} & fields - set(run.field_names()):
        return None
    return physics(load_described(run.manifest, run.path).scene)


@checked(SceneError)
def scene_of(run: Run, folder: str | Path | None = None) -> LoadedScene:
    """Return the scene of a run of a scene file, to simulate or differentiate it
    (``weft.Adjoint``).

    Args:
        run: a run of a scene file, finished or not.
        folder: where the files that the scene names are, if the run or they have been moved; None:
            in the folder of the scene file, as the run recorded it.

    Raises:
        SceneError: no scene file made the run, or its folder is not there. SceneProblems: one of
        its files is not there, or cannot be read.
    """
    return load_described(run.manifest, run.path, folder)
