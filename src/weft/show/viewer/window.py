"""A run in a window of its own, through polyscope; ``panel`` has the controls."""

import os
import re
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from weft.base.arrays import Floats, Positions
from weft.base.errors import RunError
from weft.io.extra import optional
from weft.show.looks import CLOTH, CONTACT, GRAY, HELD, Scale, rgb
from weft.show.viewer.panel import StatusPanel
from weft.show.viewer.player import Picture, Player
from weft.show.viewer.tones import BACK, SKY, SQUARES, panel_colors

WIDE, HIGH = 1280, 860  # [pixels] of a new window
HINT = "`weft view RUN --web` shows it in a browser, `--html FILE` writes it as a page"


class Window:
    """The window of a player; polyscope allows one window at a time in a process.

    Args:
        player: what is shown.
        backend: ``openGL3_glfw`` needs a display; ``openGL3_egl`` draws without a window.

    Raises:
        RunError: polyscope is missing, or no window can be opened.
    """

    def __init__(self, player: Player, backend: str = "openGL3_glfw") -> None:
        self._ps: Any = optional("polyscope", "view", "the window of `weft view`", RunError)
        self.player = player
        self._edition = -1
        self._drawn: Picture | None = None
        self._state: tuple[str, bool, bool, bool] = ("", False, False, False)
        self._maps: dict[tuple[str, ...], str] = {}
        self._begin(backend)
        self.panel = StatusPanel(player, self._ps, on_reset=self._look_at)
        self._ps.set_user_callback(self._tick)
        self._tick(draw=False)

    def _begin(self, backend: str) -> None:
        ps = self._ps
        ps.set_program_name(f"weft: {self.player.name}")
        ps.set_verbosity(0)
        ps.set_use_prefs_file(False)
        ps.set_window_size(WIDE, HIGH)
        try:
            ps.init(backend)
        except Exception as error:
            with suppress(Exception):  # otherwise polyscope reports an error when the process ends
                ps.init("openGL_mock")
            said = re.sub(r"\[\w+\]|ERROR:", "", str(error)).strip()
            raise RunError("window", got=said, expected="a display", hint=HINT) from error
        ps.set_errors_throw_exceptions(True)
        imgui: Any = optional("polyscope.imgui", "view", "the window of `weft view`", RunError)
        # otherwise ImGui writes a file into the working directory
        imgui.GetIO().IniFilename = os.devnull
        ps.set_build_default_gui_panels(False)
        ps.set_open_imgui_window_for_user_callback(False)
        ps.set_autocenter_structures(False)
        ps.set_autoscale_structures(False)
        ps.set_automatically_compute_scene_extents(False)
        ps.set_up_dir("y_up")
        ps.set_ground_plane_mode("shadow_only")
        ps.set_background_color(SKY)

    def show(self) -> None:
        """Show the window until it is closed."""
        self._ps.show()
        self.close()

    def frame(self) -> None:
        """Draw one picture of the screen."""
        self._ps.frame_tick()

    def image(self) -> Floats:
        """Return (h,w,4) what the window shows, including the panel."""
        found = self._ps.screenshot_to_buffer(transparent_bg=False, include_UI=True)
        return np.asarray(found)

    def close(self) -> None:
        """Remove everything from polyscope."""
        self._ps.clear_user_callback()
        self._ps.remove_everything()

    def _tick(self, draw: bool = True) -> None:
        """Update and draw; polyscope calls this method for every picture of the screen."""
        player = self.player
        player.tick(time.monotonic())
        if player.editions != self._edition:
            self._surfaces()
        picture = player.picture()
        state = (player.look, player.bodies, player.contacts, player.pins)
        if picture is not None and (picture is not self._drawn or state != self._state):
            self._put(picture)
            self._drawn, self._state = picture, state
        if draw:
            self.panel.draw()

    def _surfaces(self) -> None:
        """Rebuild all surfaces, at the frame that is shown."""
        ps, player = self._ps, self.player
        ps.remove_all_structures()
        self._edition, self._drawn = player.editions, None
        picture, subject = player.picture(), player.subject
        if picture is None:
            return
        low, high = player.box()
        ps.set_length_scale(float(np.linalg.norm(high - low)) or 1.0)
        ps.set_bounding_box(low, high)
        ps.set_ground_plane_height_mode("manual")
        ps.set_ground_plane_height(player.floor())
        self._cloth = ps.register_surface_mesh("cloth", picture.cloth, subject.cloth.faces)
        self._cloth.set_smooth_shade(True)
        self._cloth.set_color(rgb(CLOTH))
        self._cloth.set_back_face_color(BACK)
        if subject.bodies:
            faces = player.run.solid_faces
            self._bodies = ps.register_surface_mesh("bodies", picture.bodies, faces)
            self._bodies.set_color(rgb(GRAY))
            self._bodies.set_back_face_policy("identical")
            self._bodies.set_smooth_shade(False)
        self._look_at()

    def _put(self, picture: Picture) -> None:
        """Show the positions, points and colors of a frame."""
        player, cloth = self.player, self._cloth
        if self._drawn is not picture:
            cloth.update_vertex_positions(picture.cloth)
            if player.subject.bodies:
                self._bodies.update_vertex_positions(picture.bodies)
        if player.subject.bodies:
            self._bodies.set_enabled(player.bodies)
        self._points("contacts", picture.contacts if player.contacts else None, CONTACT)
        self._points("pins", picture.held if player.pins else None, HELD)
        if self._drawn is None or self._state[0] != player.look:
            cloth.remove_all_quantities()
        self._color(picture)

    def _color(self, picture: Picture) -> None:
        """Color the cloth by the look, with polyscope's quantities."""
        player, cloth, subject = self.player, self._cloth, self.player.subject
        scale, uv = player.scale(), subject.cloth.corner_uv
        cloth.set_back_face_policy("identical" if scale else "custom")
        if scale is not None and picture.values is not None:
            cloth.add_scalar_quantity(
                "values",
                picture.values,
                vminmax=(scale.low, scale.high),
                enabled=True,
                cmap=self._map(scale),
            )
        elif player.look == "checker" and uv is not None:
            cloth.add_parameterization_quantity(
                "checker",
                uv.reshape(-1, 2),
                defined_on="corners",
                coords_type="world",
                viz_style="checker",
                checker_size=subject.cell,
                checker_colors=SQUARES,
                enabled=True,
            )
        elif player.look == "panels":
            colors = panel_colors(subject.region_of_faces())
            cloth.add_color_quantity("panels", colors, defined_on="faces", enabled=True)

    def _points(self, name: str, points: Positions | None, color: str) -> None:
        """Show points as dots; None or an empty array shows none."""
        ps = self._ps
        if points is None or len(points) == 0:
            ps.remove_point_cloud(name, error_if_absent=False)
            return
        cloud = ps.register_point_cloud(name, points, color=rgb(color))
        cloud.set_radius(0.004)

    def _map(self, scale: Scale) -> str:
        """Return the name of polyscope's color map for a scale, which it reads from a picture."""
        if scale.anchors not in self._maps:
            from PIL import Image

            name = f"weft {len(self._maps)}"
            ramp = scale.colors(np.linspace(scale.low, scale.high, 512))
            row = np.round(255 * ramp).astype(np.uint8)[None]
            with tempfile.TemporaryDirectory() as folder:
                file = Path(folder) / "map.png"
                Image.fromarray(np.repeat(row, 8, axis=0)).save(file)
                self._ps.load_color_map(name, str(file))
            self._maps[scale.anchors] = name
        return self._maps[scale.anchors]

    def _look_at(self) -> None:
        """Move the camera to its first place: all of the cloth, from the front and above."""
        low, high = self.player.box()
        size = float(np.linalg.norm(high - low)) or 1.0
        # shifted, so that the cloth is above the panel
        middle = (low + high) / 2 - [0.0, 0.12 * size, 0.0]
        self._ps.look_at(middle + size * np.array([0.45, 0.4, 1.0]), middle)
