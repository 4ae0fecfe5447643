"""The page of ``weft play`` from Python: in the cell of a notebook, or at its address."""

import html
import threading
from pathlib import Path

from weft.base.errors import RunError
from weft.base.runtime_types import checked
from weft.live.order import Order
from weft.live.process import SimulationProcess
from weft.live.server import PlayServer
from weft.scene.scene import Scene


class PlayView:
    """A simulation that is served while Python goes on.

    Args:
        server: of the simulation.
        height: [pixels] of the page in a notebook.
    """

    def __init__(self, server: PlayServer, height: int) -> None:
        self._server, self.height = server, height
        self._thread = threading.Thread(target=server.serve, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        """The address for browsers of this machine; it contains the secret that gives access."""
        return self._server.url

    def close(self) -> None:
        """End the simulation and its page."""
        if self._thread.is_alive():
            self._server.close()
            self._thread.join()

    def wait(self) -> None:
        """Wait until the process is interrupted (Ctrl-C), then end the simulation."""
        try:
            self._thread.join()
        except KeyboardInterrupt:
            self.close()

    def __repr__(self) -> str:
        return f"Simulation to be touched at {self.url}"

    def _repr_html_(self) -> str:
        how = f'width="100%" height="{self.height}" style="border: 0" allowfullscreen'
        return f'<iframe src="{html.escape(self.url)}" {how}></iframe>'


@checked(RunError)
def play(
    scene: Scene | str | Path,
    *,
    fps: float = 25.0,
    out: str | Path = ".",
    threads: int | None = None,
    host: str = "127.0.0.1",
    port: int = 8080,
    height: int = 640,
    follow: bool = False,
) -> PlayView:
    """Simulate a scene in a process of its own, with a page on which it can be touched.

    Args:
        scene: a scene, or a scene file. Only what was a file can be saved as one.
        fps: frames per second of a scene, in which what is played is recorded.
        out: folder of saved files; it is made if it is missing.
        threads: of the simulation; None: all cores.
        host: address to listen at; 127.0.0.1 is this machine alone.
        port: to listen at; if it is taken, the next free one.
        height: [pixels] of the page in a notebook.
        follow: the camera follows the cloth; a checkbox of the page changes it.

    Returns:
        The page: a cell of a notebook shows it, ``url`` is its address, ``close`` ends it.

    Raises:
        WeftError: what is wrong with the scene, the folder, the address or the port.
    """
    made, file = (scene, None) if isinstance(scene, Scene) else (None, Path(scene))
    process = SimulationProcess(Order(made, file, fps=fps, folder=Path(out), threads=threads))
    try:
        process.page()
        return PlayView(PlayServer(process, host, port, follow=follow), height)
    except BaseException:
        process.close()
        raise
