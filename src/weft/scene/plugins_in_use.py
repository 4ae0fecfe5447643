"""The plugins that a scene uses, with their versions, for the manifest of its run."""

from collections.abc import Iterator
from typing import Any

from weft import extensions
from weft.extensions import Kind
from weft.scene.scene import Scene


def plugins_in_use(scene: Scene) -> dict[str, str]:
    """Return the names of the plugins that a scene uses, and their versions."""
    modules = {type(thing).__module__ for thing in _parts(scene)}
    named = set(_names(scene.description))
    found = {}
    for plugin in list(extensions.plugins().values())[1:]:  # the engine is the first
        given = {(kind, name) for kind, own in plugin.entries.items() for name in own}
        if named & given or any(plugin.owns(module) for module in modules):
            found[plugin.name] = extensions.version_of(plugin)
    return found


def _parts(scene: Scene) -> Iterator[object]:
    """Yield the objects of a scene whose classes may be those of plugins."""
    yield from (scene.integrator, scene.law, *scene.energies, *scene.attachments)
    yield from (body.poser for body in scene.bodies)
    yield from scene.plugin_blocks.values()


def _names(tree: Any) -> Iterator[tuple[Kind, str]]:
    """Yield kind and name of what a scene file names by registered names."""
    cloths = tree.get("cloths") or [tree.get("cloth")]
    blocks: list[tuple[Kind, Any]] = [("cloth sources", cloth) for cloth in cloths]
    blocks += [("bodies", body) for body in tree.get("bodies") or ()]
    for kind, block in blocks:
        yield from ((kind, str(name)) for name in (block if isinstance(block, dict) else ()))
    law = tree.get("law")
    yield "laws", str(law.get("name", "") if isinstance(law, dict) else law)
    yield "bending", str(tree.get("bending"))
