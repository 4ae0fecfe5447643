"""A window, opened in a process of its own: python -m tests.view.windowing BACKEND RUN OUT.

Writes pictures of what the window shows into OUT, and facts.json; the run is changed and removed.
"""

import json
import shutil
import sys
import time
from pathlib import Path

import numpy as np
from PIL import Image

from weft.base.errors import RunError
from weft.run.run import Run
from weft.show.viewer.player import EVERY, Player
from weft.show.viewer.window import Window

CANNOT = 77  # exit status where no window can be opened here


def main(backend, folder, later, out):
    player = Player(lambda: Run(folder), look="panels")
    try:
        window = Window(player, backend)
    except RunError as error:
        print(error)
        sys.exit(CANNOT)
    import polyscope as ps

    facts = {"backend": ps.get_render_engine_backend_name(), "before": player.number}

    def picture(name):
        window.frame()
        Image.fromarray(window.image()[..., :3]).save(out / f"{name}.png")

    def wait():
        time.sleep(EVERY)
        window.frame()

    player.bodies = False
    picture("no_bodies")
    player.bodies = True
    picture("panels")
    player.set_look("strain")
    picture("strain")
    player.contacts = player.pins = True
    player.go(2)
    picture("dots")
    facts["contacts"] = ps.get_point_cloud("contacts").n_points()
    facts["pins"] = ps.get_point_cloud("pins").n_points()
    player.go(99)
    for file in sorted(later.iterdir()):
        file.rename(folder / "frames" / file.name)
    wait()
    facts["after"], facts["follows"] = player.number, player.follow
    kept = ps.get_surface_mesh("cloth").get_buffer("vertexPositions")
    there = np.array([kept.get_value(k).as_tuple() for k in range(kept.size())])
    facts["off"] = float(np.abs(there - Run(folder).positions(-1)).max())
    shutil.rmtree(folder)
    wait()
    player.go(0)
    picture("gone")
    facts["note"] = player.note
    window.close()
    (out / "facts.json").write_text(json.dumps(facts))


if __name__ == "__main__":
    main(sys.argv[1], *map(Path, sys.argv[2:5]))
