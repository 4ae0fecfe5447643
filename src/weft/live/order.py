"""What is played, as it is sent to the process that simulates it."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from weft.scene.scene import Scene


@dataclass(frozen=True)
class Order:
    """The order to play a scene of Python, or a scene file.

    Args:
        scene: a scene of Python; None: the file is read.
        file: the scene file.
        text: the content of a scene file that is not written yet.
        overrides: ``path=value`` texts for the file.
        fps: frames per second of a scene of Python.
        folder: where files are saved; None: beside the scene file.
        device: of the computation.
        threads: None: all cores.
    """

    scene: "Scene | None"
    file: Path | None
    overrides: Sequence[str] = ()
    text: str | None = None
    fps: float = 25.0
    folder: Path | None = None
    device: str = "cpu"
    threads: int | None = None
