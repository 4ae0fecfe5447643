"""The window, drawn without one (EGL) and on a display that is memory (Xvfb): skipped where neither
is there.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.show.windowing import CANNOT
from weft.run.run import Run
from weft.show.viewer.panel import StatusPanel
from weft.show.viewer.player import Player

pytest.importorskip("polyscope", reason="no polyscope: pip install 'weft[view]'")
ROOT = Path(__file__).parents[2]


def run_python(*arguments, display=False):
    """A Python process, under Xvfb where it wants a display."""
    command = [sys.executable, *map(str, arguments)]
    env = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")}
    if display:
        if shutil.which("xvfb-run") is None:
            pytest.skip("no display that is memory: xvfb-run is not installed")
        command = ["xvfb-run", "-a", "-s", "-screen 0 1280x1024x24", *command]
    return subprocess.run(command, capture_output=True, text=True, timeout=1800, cwd=ROOT, env=env)


@pytest.fixture(scope="module", params=["openGL3_egl", "openGL3_glfw"])
def shown(request, seen, tmp_path_factory):
    """Facts and pictures of a window whose run grows and is removed."""
    folder = tmp_path_factory.mktemp("window")
    run, later, out = (folder / n for n in ("run", "later", "out"))
    shutil.copytree(seen.path, run)
    later.mkdir(), out.mkdir()
    for k in (5, 6):
        (run / "frames" / f"{k:06d}.npz").rename(later / f"{k:06d}.npz")
    done = run_python(
        "-m",
        "tests.view.windowing",
        request.param,
        run,
        later,
        out,
        display=request.param == "openGL3_glfw",
    )
    if done.returncode == CANNOT:
        pytest.skip(f"no window with {request.param} here: {done.stdout.strip()[-200:]}")
    assert done.returncode == 0, done.stderr
    facts = json.loads((out / "facts.json").read_text())
    assert facts["backend"] == request.param

    def picture(name):
        with Image.open(out / f"{name}.png") as image:
            return np.asarray(image.convert("RGB")).astype(int)[:640]

    return facts, picture


def test_cloth_and_bodies_are_drawn(shown):
    _, picture = shown
    base = picture("panels")
    r, g, b = np.moveaxis(base, -1, 0)
    assert ((b - r > 25) & (b > g)).mean() > 0.02  # the first cloth, blue
    assert ((r - b > 25) & (r > g)).mean() > 0.01  # the second, orange
    without = picture("no_bodies")
    assert (np.abs(base - without).max(-1) > 12).mean() > 0.02
    strain = picture("strain")
    assert (np.abs(base - strain).max(-1) > 12).mean() > 0.03
    legend = strain[26:38, -230:-16].reshape(-1, 3)
    assert (legend[:, 0] - legend[:, 2]).max() > 100 and (legend[:, 2] - legend[:, 0]).max() > 100


def test_dots_are_those_of_the_run(shown, seen):
    facts, picture = shown
    assert facts["contacts"] == len(seen.contacts(2)[0]) and facts["pins"] == 4
    r, g, b = np.moveaxis(picture("dots"), -1, 0)
    assert ((r - g > 70) & (r - b > 70)).sum() > 15  # pins


class Keyboard:
    """In the place of ImGui, whose keys a window without a manager hears late or never."""

    def __init__(self):
        self.down = ""

    def __getattr__(self, name):
        return name.removeprefix("ImGuiKey_")

    def IsKeyPressed(self, key, repeat):
        return key == self.down


def test_keys(seen):
    """What every key does."""
    player = Player(lambda: Run(seen.path), look="panels")
    panel, resets = object.__new__(StatusPanel), []
    panel.player, panel._ui, panel._reset = player, Keyboard(), lambda: resets.append(1)

    def press(key):
        panel._ui.down = key
        panel._keys()

    last = len(player.numbers) - 1
    press("Space")
    assert player.playing
    press("End")
    assert player.place == last and not player.playing
    press("Home")
    assert player.place == 0
    press("RightArrow")
    press("RightArrow")
    press("LeftArrow")
    assert player.place == 1
    speed, look = player.speed, player.look
    press("UpArrow")
    assert player.speed > speed
    press("DownArrow")
    assert player.speed == speed
    press("L")
    assert player.look != look
    for key, name in (("B", "bodies"), ("C", "contacts"), ("P", "pins")):
        before = getattr(player, name)
        press(key)
        assert getattr(player, name) is not before
    press("R")
    assert resets == [1]


def test_it_follows_and_stays_when_the_run_goes(shown):
    facts, picture = shown
    assert facts["before"] == 0 and facts["after"] == 6 and facts["follows"]
    assert facts["off"] < 1e-6  # single precision
    assert "no frames any more" in facts["note"]
    r, g, b = np.moveaxis(picture("gone"), -1, 0)
    assert ((r - b > 80) & (r - g > 60)).sum() > 200  # says so, in red; the cloth is still there


OPENS = """
import sys, polyscope
def show():
    for _ in range(3):
        polyscope.frame_tick()
    print("drew", polyscope.get_surface_mesh("cloth").n_vertices())
polyscope.show = show
from weft.cli.main import main
sys.argv = ["weft", "view", sys.argv[1], "--look", "checker"]
main()
"""


def test_command_opens_a_window_where_there_is_a_display(seen):
    done = run_python("-c", OPENS, seen.path, display=True)
    assert done.returncode == 0, done.stderr
    assert "drew 88" in done.stdout and "page" not in done.stdout
    assert not seen.path.with_name("run.html").exists()


def test_command_without_a_display_says_what_to_do(seen, tmp_path):
    run = tmp_path / "run"
    shutil.copytree(seen.path, run)
    done = run_python("-m", "weft.cli.main", "view", run)
    assert done.returncode == 0 and (tmp_path / "run.html").exists()
    assert "no display here" in done.stdout and "--web" in done.stdout
    done = run_python("-m", "weft.cli.main", "view", run, "--window")
    assert done.returncode == 2 and "--web" in done.stderr and "Traceback" not in done.stderr
