"""Surfaces that were sent to browsers: the shown one, the next ones, and earlier ones.

A browser unpacks a surface before it can draw it, and does not report when it has. Therefore the
surface shown before stays until the new one has had time, and the next ones are sent ahead, hidden.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

SOON = 0.15  # [s] time in which a browser unpacks a surface
KEPT = 96e6  # [bytes] of surfaces that stay in browsers


@dataclass
class _Surface:
    handle: Any
    size: int
    since: float  # [s] when it was sent


class Sent:
    """The surfaces that browsers have of a scene.

    Args:
        scene: of a viser server.
        name: of their parent in it.
    """

    def __init__(self, scene: Any, name: str = "/cloth") -> None:
        self._scene, self._name, self._count = scene, name, 0
        self._there: OrderedDict[Hashable, _Surface] = OrderedDict()
        # keys in the order of display; the last one is the present surface
        self._shown: list[Hashable] = []

    def show(self, key: Hashable, make: Callable[[], bytes], now: float) -> None:
        """Show a surface; ``make`` returns it as glTF if it has not been sent yet.

        Args:
            key: identifies the surface.
            make: called at most once.
            now: [s].
        """
        if not self._shown or self._shown[-1] != key:
            self._shown = [k for k in self._shown if k != key] + [key]
        self._send(key, make, now, visible=True)
        ripe = [k for k in self._shown if k in self._there and self._is_ripe(k, now)]
        stays = {key, *ripe[-1:]}  # the new one, and the one before it until it is unpacked
        self._shown = [k for k in self._shown if k in stays]
        for k, surface in self._there.items():
            if surface.handle.visible != (k in stays):
                surface.handle.visible = k in stays
        self._forget()

    def ahead(self, key: Hashable, make: Callable[[], bytes], now: float) -> None:
        """Send a surface that will be shown later."""
        self._send(key, make, now, visible=False)

    def clear(self) -> None:
        """Remove all surfaces."""
        for surface in self._there.values():
            surface.handle.remove()
        self._there.clear()
        self._shown.clear()

    @property
    def largest(self) -> int:
        """The size [bytes] of the largest one."""
        return max((s.size for s in self._there.values()), default=0)

    def _is_ripe(self, key: Hashable, now: float) -> bool:
        return now - self._there[key].since > SOON

    def _send(self, key: Hashable, make: Callable[[], bytes], now: float, *, visible: bool) -> None:
        if key in self._there:
            self._there.move_to_end(key)
            return
        data = make()
        self._count += 1
        handle = self._scene.add_glb(f"{self._name}/{self._count}", data, visible=visible)
        self._there[key] = _Surface(handle, len(data), now)

    def _forget(self) -> None:
        """Remove the oldest surfaces if all together are too large."""
        size = sum(s.size for s in self._there.values())
        for key in [k for k in self._there if k not in self._shown]:
            if size <= KEPT:
                return
            surface = self._there.pop(key)
            size -= surface.size
            surface.handle.remove()
