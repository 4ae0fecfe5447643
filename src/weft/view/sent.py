"""Surfaces that browsers were sent: the one that is shown, those that come next, those from before.

A browser unpacks a surface before it can draw it, and says nothing when it has. What was shown
stays until the new one has had time, and what comes next is sent ahead, hidden.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

SOON = 0.15  # [s] in which a surface is unpacked
KEPT = 96e6  # [bytes] that browsers keep


@dataclass
class _Surface:
    handle: Any
    size: int
    since: float  # [s] when it was sent


class Sent:
    """Surfaces of a scene.

    Args:
        scene: of a viser server.
        name: of their parent in it.
    """

    def __init__(self, scene: Any, name: str = "/cloth") -> None:
        self._scene, self._name, self._count = scene, name, 0
        self._there: OrderedDict[Hashable, _Surface] = OrderedDict()
        self._shown: list[Hashable] = []  # the last is the present one

    def show(self, key: Hashable, make: Callable[[], bytes], now: float) -> None:
        """Show a surface; ``make`` gives it as glTF where it was not sent.

        Args:
            key: the same for the same surface.
            make: called at most once.
            now: [s].
        """
        if not self._shown or self._shown[-1] != key:
            self._shown = [k for k in self._shown if k != key] + [key]
        self._send(key, make, now, visible=True)
        ripe = [k for k in self._shown if k in self._there and self._is_ripe(k, now)]
        stays = {key, *ripe[-1:]}  # the present one, and while it is unpacked the one before
        self._shown = [k for k in self._shown if k in stays]
        for k, surface in self._there.items():
            if surface.handle.visible != (k in stays):
                surface.handle.visible = k in stays
        self._forget()

    def ahead(self, key: Hashable, make: Callable[[], bytes], now: float) -> None:
        """Send a surface that will be shown."""
        self._send(key, make, now, visible=False)

    def clear(self) -> None:
        """Take all of them away."""
        for surface in self._there.values():
            surface.handle.remove()
        self._there.clear()
        self._shown.clear()

    @property
    def largest(self) -> int:
        """[bytes] of the largest one."""
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
        """The oldest ones, where there are too many."""
        size = sum(s.size for s in self._there.values())
        for key in [k for k in self._there if k not in self._shown]:
            if size <= KEPT:
                return
            surface = self._there.pop(key)
            size -= surface.size
            surface.handle.remove()
