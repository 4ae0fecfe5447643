"""Controls of the window, in ImGui: play, time line, looks, and metrics as curves."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from weft.show.looks import Scale, rgb
from weft.show.viewer.metric_curves import CURVES
from weft.show.viewer.player import SPEEDS, Player

HIGH = 200.0  # [pixels]
LEGEND = (220.0, 12.0)  # [pixels]
WRONG = (0.95, 0.35, 0.3, 1.0)
HINT = "space: play  arrows: frames, speed  l: look  b, c, p: bodies, contacts, pins  r: view"


class StatusPanel:
    """A strip along the lower edge of the window, and the legend of the look.

    Args:
        player: the player that it shows and controls.
        ps: polyscope.
        on_reset: moves the camera to its first place.
    """

    def __init__(self, player: Player, ps: Any, on_reset: Callable[[], None]) -> None:
        from polyscope import imgui, implot

        self.player, self._ps, self._reset = player, ps, on_reset
        self._ui: Any = imgui
        self._plot: Any = implot

    def draw(self) -> None:
        """Draw the panel, once in every picture of the screen, and handle keys."""
        ui = self._ui
        wide, high = ui.GetIO().DisplaySize
        ui.SetNextWindowPos((0.0, high - HIGH))
        ui.SetNextWindowSize((wide, HIGH))
        flags = (
            ui.ImGuiWindowFlags_NoTitleBar
            | ui.ImGuiWindowFlags_NoResize
            | ui.ImGuiWindowFlags_NoMove
            | ui.ImGuiWindowFlags_NoScrollbar
            | ui.ImGuiWindowFlags_NoSavedSettings
            # the space key shall only play, not press the focused button
            | ui.ImGuiWindowFlags_NoNav
        )
        ui.Begin("weft", flags)
        self._buttons()
        self._time_line()
        self._curves()
        ui.End()
        self._told(wide)
        if not ui.GetIO().WantTextInput:
            self._keys()

    def _buttons(self) -> None:
        ui, player = self._ui, self.player
        if ui.Button("pause" if player.playing else "play", (64.0, 0.0)):
            player.play(not player.playing)
        ui.SameLine()
        ui.SetNextItemWidth(84)
        names = [f"{s:g} x" for s in SPEEDS]
        changed, k = ui.Combo("##speed", SPEEDS.index(player.speed), names)
        if changed:
            player.set_speed(SPEEDS[k])
        ui.SameLine()
        ui.SetNextItemWidth(130)
        changed, k = ui.Combo("look", player.looks.index(player.look), list(player.looks))
        if changed:
            player.set_look(player.looks[k])
        subject = player.subject
        for name, has in (
            ("bodies", bool(subject.bodies)),
            ("contacts", subject.has_contacts),
            ("pins", bool(subject.pins)),
            ("follow", True),
        ):
            if has:
                ui.SameLine()
                setattr(player, name, ui.Checkbox(name, getattr(player, name))[1])
        ui.SameLine()
        if ui.Button("view"):
            self._reset()
        ui.SameLine()
        ui.TextDisabled(HINT)

    def _time_line(self) -> None:
        ui, player = self._ui, self.player
        ui.SetNextItemWidth(-1)
        last = max(len(player.numbers) - 1, 1)
        changed, place = ui.SliderInt("##frame", player.place, 0, last, f"{player.number}")
        if changed:
            player.go(place)

    def _curves(self) -> None:
        """Draw the metrics; the line at the frame can be dragged."""
        plot, player = self._plot, self.player
        shown = [c for c in CURVES if c.name in player.plots]
        count = len(player.numbers)
        if not shown or count < 2:
            self._ui.TextDisabled("metrics come with the second frame")
            return
        bare = plot.ImPlotAxisFlags_NoDecorations
        if not plot.BeginPlot("##metrics", (-1.0, 128.0), plot.ImPlotFlags_NoMouseText):
            return
        plot.SetupAxes("", "", bare, bare)
        plot.SetupAxesLimits(0.0, count - 1.0, -0.05, 1.08, self._ui.ImGuiCond_Always)
        flags = plot.ImPlotLegendFlags_Horizontal | plot.ImPlotLegendFlags_Outside
        plot.SetupLegend(plot.ImPlotLocation_North, flags)
        for curve in shown:
            values = player.plots[curve.name]
            heights = [np.nan if h is None else h for h in curve.heights(values)]
            plot.SetNextLineStyle((*rgb(curve.color), 1.0), 1.5)
            said = curve.said(values[min(player.place, len(values) - 1)])
            plot.PlotLine(f"{said}##{curve.name}", np.array(heights))
        moved, x = plot.DragLineX(0, float(player.place), (0.9, 0.9, 0.9, 1.0))
        if moved:
            player.go(round(x))
        plot.EndPlot()

    def _told(self, wide: float) -> None:
        """Draw the state of the run, its problem if there is one, and the legend."""
        ui, player = self._ui, self.player
        pen = ui.GetForegroundDrawList()
        dark = ui.GetColorU32((0.1, 0.1, 0.1, 1.0))
        pen.AddText((14.0, 10.0), dark, f"{player.name}\n{player.status}")
        if player.note:
            pen.AddText((14.0, 46.0), ui.GetColorU32(WRONG), player.note)
        scale = player.scale()
        if scale is not None:
            self._legend(pen, scale, wide - LEGEND[0] - 14, dark)

    def _legend(self, pen: Any, scale: Scale, left: float, dark: int) -> None:
        colors = [self._ui.GetColorU32((*rgb(code), 1.0)) for code in scale.anchors]
        cell = LEGEND[0] / (len(colors) - 1)
        pen.AddText((left, 8.0), dark, scale.title)
        for k, (a, b) in enumerate(pairwise(colors)):
            corners = (left + k * cell, 26.0), (left + (k + 1) * cell, 26.0 + LEGEND[1])
            pen.AddRectFilledMultiColor(*corners, a, b, b, a)
        pen.AddText((left, 40.0), dark, f"{scale.low:g} {scale.unit}")
        high = f"{scale.high:g} {scale.unit}"
        pen.AddText((left + LEGEND[0] - 7.0 * len(high), 40.0), dark, high)

    def _keys(self) -> None:
        """Handle the keys, which are those of the page."""
        ui, player = self._ui, self.player
        speeds, looks = SPEEDS.index(player.speed), player.looks.index(player.look)

        def flip(name: str) -> None:
            setattr(player, name, not getattr(player, name))

        for key, act in {
            "Space": lambda: player.play(not player.playing),
            "LeftArrow": lambda: player.go(player.place - 1),
            "RightArrow": lambda: player.go(player.place + 1),
            "Home": lambda: player.go(0),
            "End": lambda: player.go(len(player.numbers) - 1),
            "UpArrow": lambda: player.set_speed(SPEEDS[min(speeds + 1, len(SPEEDS) - 1)]),
            "DownArrow": lambda: player.set_speed(SPEEDS[max(speeds - 1, 0)]),
            "L": lambda: player.set_look(player.looks[(looks + 1) % len(player.looks)]),
            "B": lambda: flip("bodies"),
            "C": lambda: flip("contacts"),
            "P": lambda: flip("pins"),
            "R": self._reset,
        }.items():
            if ui.IsKeyPressed(getattr(ui, f"ImGuiKey_{key}"), key.endswith("Arrow")):
                act()
