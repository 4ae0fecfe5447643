"""A run in a browser, served through viser: the surfaces and the controls."""

import html
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np

from weft.base.arrays import Positions
from weft.base.errors import RunError, WeftError
from weft.show.looks import CONTACT, GRAY, HELD, Scale, rgb
from weft.show.picture.normals import Normals
from weft.show.viewer.guard import guarded_server
from weft.show.viewer.metric_curves import drawn
from weft.show.viewer.player import SPEEDS, Picture, Player
from weft.show.viewer.sent import Sent
from weft.show.viewer.textured import glb, skin_of

PORT = 8080
RATE = 30.0  # [Hz] of updates of the player
STREAM = 20e6  # [bytes/s] sent to browsers at most
FIELD = 0.75  # [rad] vertical field of view
DOT = 0.004  # diameter of contacts and pins, in sizes of the cloth's box
AHEAD = 6  # frames that are sent before they are shown


class Web:
    """A server for a player; every browser that has its address sees the same.

    Args:
        player: what is shown.
        host: address to listen at; 127.0.0.1 is this machine alone.
        port: to listen at; if it is taken, the next free one.

    Raises:
        RunError: viser is missing, or no address of this machine.
    """

    def __init__(self, player: Player, host: str = "127.0.0.1", port: int = PORT) -> None:
        self.player = player
        try:
            socket.create_server((host, 0)).close()
        except OSError as error:
            raise RunError(
                "server",
                got=f"{host}: {error.strerror or error}",
                expected="an address of this machine",
                hint="choose another --host",
            ) from error
        self.server, self._path = guarded_server(host, port)
        self._lock, self._closed = threading.RLock(), threading.Event()
        self._edition = -1
        self._sent = Sent(self.server.scene)
        self._solid: Any = None
        self._dots: dict[str, Positions | None] = {}
        self._told: dict[tuple[int, str], Any] = {}
        self._controls()
        self.tick(time.monotonic())

    @property
    def url(self) -> str:
        """The address for browsers; it contains the secret that gives access."""
        return f"http://{self.server.get_host()}:{self.server.get_port()}{self._path}"

    def serve(self) -> None:
        """Serve until the process is interrupted (Ctrl-C)."""
        with suppress(KeyboardInterrupt):
            while not self._closed.is_set():
                start = time.monotonic()
                self.tick(start)
                pause = max(1 / RATE, self._sent.largest / STREAM)
                self._closed.wait(max(0.005, pause - (time.monotonic() - start)))
        self.close()

    def close(self) -> None:
        """Stop serving."""
        if not self._closed.is_set():
            self._closed.set()
            with self._lock:
                self.server.stop()

    def tick(self, now: float) -> None:
        """Advance the player, and send what has changed."""
        with self._lock, self.server.atomic():
            if self._closed.is_set():
                return
            player = self.player
            player.tick(now)
            if player.editions != self._edition:
                self._anew()
            picture = player.picture()
            if picture is not None:
                self._show(picture, now)
            self._tell()

    def _controls(self) -> None:
        """Add the controls."""
        gui, player = self.server.gui, self.player
        self.server.scene.set_up_direction("+y")
        gui.configure_theme(show_logo=False, show_share_button=False, control_width="large")
        gui.set_panel_label(f"weft: {player.name}")
        self._status = gui.add_html("")
        self._play = gui.add_button("play")
        self._frame = gui.add_slider("frame", 0, 1, 1, initial_value=0)
        self._curves = gui.add_html("")
        self._speed = gui.add_dropdown("speed", [f"{s:g} x" for s in SPEEDS], initial_value="1 x")
        self._look = gui.add_dropdown("look", player.looks, initial_value=player.look)
        self._legend = gui.add_html("")
        self._boxes = {
            name: gui.add_checkbox(name, getattr(player, name))
            for name in ("bodies", "contacts", "pins", "follow")
        }
        self._play.on_click(lambda _: self._do(lambda: player.play(not player.playing)))
        self._when(self._frame, lambda value: player.go(int(value)))
        self._when(self._speed, lambda value: player.set_speed(float(value.split()[0])))
        self._when(self._look, player.set_look)
        for name, box in self._boxes.items():
            self._when(box, partial(setattr, player, name))

    def _when(self, control: Any, act: Callable[[Any], None]) -> None:
        """Call ``act`` with a control's value if a browser has set it, not this server."""

        def changed(event: Any) -> None:
            if event.client is not None:
                value = event.target.value
                self._do(lambda: act(value))

        control.on_update(changed)

    def _do(self, act: Callable[[], None]) -> None:
        with self._lock, suppress(WeftError):
            act()

    def _anew(self) -> None:
        """Rebuild everything, at the start and when another run replaces the one in the folder."""
        player, scene = self.player, self.server.scene
        self._edition = player.editions
        self._sent.clear()
        for name in ("/bodies", "/contacts", "/pins", "/ground"):
            scene.remove_by_name(name)
        self._dots.clear()
        low, high = player.box()
        self._size = size = float(np.linalg.norm(high - low)) or 1.0
        middle = (low + high) / 2
        camera = self.server.initial_camera
        camera.fov = FIELD
        camera.position = middle + size * np.array([0.55, 0.5, 1.3])
        camera.look_at = middle
        scene.add_grid(
            "/ground",
            width=8 * size,
            height=8 * size,
            plane="xz",
            cell_size=size / 8,
            section_size=size,
            position=(middle[0], player.floor(), middle[2]),
        )
        self._solid, subject = None, player.subject
        self._normals = Normals(subject.cloth.faces, subject.mesh.n_vertices)
        if subject.bodies:
            x = subject.body_positions(player.number)
            self._solid = scene.add_mesh_simple(
                "/bodies", x, player.run.solid_faces, color=_bytes(GRAY), side="double"
            )
        self._boxes["bodies"].visible = bool(subject.bodies)
        self._boxes["contacts"].visible = subject.has_contacts
        self._boxes["pins"].visible = bool(subject.pins)

    def _show(self, picture: Picture, now: float) -> None:
        """Show a frame; while the run plays, also send the next frames ahead of their time."""
        player = self.player
        self._sent.show(self._key(picture), partial(self._surface, picture), now)
        if self._solid is not None:
            self._solid.vertices = picture.bodies.astype(np.float32)
            self._solid.visible = player.bodies
        self._points("/contacts", picture.contacts if player.contacts else None, CONTACT)
        self._points("/pins", picture.held if player.pins else None, HELD)
        if player.playing:
            for k in range(1, AHEAD + 1):
                with suppress(WeftError, OSError):
                    later = player.of((player.place + k) % len(player.numbers))
                    self._sent.ahead(self._key(later), partial(self._surface, later), now)

    def _key(self, picture: Picture) -> tuple[int, str, Scale | None]:
        return id(picture), self.player.look, self.player.scale()

    def _surface(self, picture: Picture) -> bytes:
        subject = self.player.subject
        scale, values = self.player.scale(), picture.values
        skin = skin_of(self.player.look, subject.corners, subject.cell, scale, values)
        return glb(subject.corners, picture.cloth, self._normals(picture.cloth), skin)

    def _points(self, name: str, points: Positions | None, color: str) -> None:
        """Show points as dots; None or an empty array shows none."""
        before = self._dots.get(name)
        if points is before:
            return
        self._dots[name] = points
        self.server.scene.remove_by_name(name)
        if points is not None and len(points):
            self.server.scene.add_point_cloud(
                name,
                points.astype(np.float32),
                _bytes(color),
                point_size=DOT * self._size,
                point_shape="circle",
                precision="float32",
            )

    def _tell(self) -> None:
        """Update controls and texts to the state of the player."""
        player, scale = self.player, self.player.scale()
        note = f'<br><b style="color: #b3141c">{html.escape(player.note)}</b>'
        status = _box(html.escape(player.status) + note * bool(player.note))
        self._put(self._status, "content", status)
        self._put(self._play, "label", "pause" if player.playing else "play")
        self._put(self._frame, "max", max(len(player.numbers) - 1, 1))
        self._put(self._frame, "value", player.place)
        self._put(self._speed, "value", f"{player.speed:g} x")
        self._put(self._look, "options", player.looks)
        self._put(self._look, "value", player.look)
        for name, box in self._boxes.items():
            self._put(box, "value", getattr(player, name))
        self._put(self._curves, "content", _box(drawn(player.plots, player.place, 400, 110)))
        self._put(self._legend, "content", "" if scale is None else _box(_legend(scale)))

    def _put(self, control: Any, name: str, value: Any) -> None:
        """Set a control's value in browsers if it differs from the last value sent.

        A control that somebody has just used is therefore not reset before the player knows of it.
        """
        key = id(control), name
        if self._told.get(key) != value:
            self._told[key] = value
            setattr(control, name, value)


def _box(inside: str) -> str:
    return f'<div style="padding: 0 0.75em; font-size: 0.85em">{inside}</div>'


def _legend(scale: Scale) -> str:
    colors = ", ".join(f"#{code}" for code in scale.anchors)
    low, high = (f"{v:g} {html.escape(scale.unit)}" for v in (scale.low, scale.high))
    return (
        f'{html.escape(scale.title)}<div style="height: 10px; background: '
        f'linear-gradient(90deg, {colors})"></div><div style="display: flex; '
        f'justify-content: space-between"><span>{low}</span><span>{high}</span></div>'
    )


def _bytes(code: str) -> tuple[int, int, int]:
    r, g, b = rgb(code)
    return round(255 * r), round(255 * g), round(255 * b)
