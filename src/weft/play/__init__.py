"""Play: cloth that is pulled and changed while it is simulated, in a browser.

Read in this order: ``messages`` (what a page may say), ``controls`` (the numbers on its desk),
``session`` (the simulation between its steps), ``save`` (scene files of what was played),
``worker`` and ``process`` (the process that simulates, from inside and outside), ``server`` (the
page and its pictures), ``play_view`` (the page from Python), ``mesh_scene`` (the scene of a mesh).

The package itself can be called: ``weft.play(scene)`` is ``play_view.play(scene)``.
"""

import sys
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from weft.play.play_view import PlayView


class _PlayPackage(ModuleType):
    """The type of this package, which makes it a function, too."""

    def __call__(self, *args: object, **options: object) -> "PlayView":
        """Call ``play_view.play``."""
        from weft.play.play_view import play

        return play(*args, **options)  # type: ignore[arg-type]


sys.modules[__name__].__class__ = _PlayPackage
