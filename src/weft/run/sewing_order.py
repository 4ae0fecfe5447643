"""The order in which a run sews the seams of a scene.

A run whose seams are open when sewing ends starts again, with these seams sewn earlier.
"""

from collections.abc import Sequence

from weft.base.trees import Json
from weft.energies.seams.sewing import close_earlier
from weft.scene.scene import Scene

# Entry of a description: the seams that are sewn earlier than in a first try, and the widest gap
# [m] of that try. No seams: the second try was worse, so this one is as the first.
SEWN_EARLIER = "sewn_earlier"


def sew_earlier(scene: Scene, seams: Sequence[str], gap: float) -> Scene | None:
    """Return the scene with seams that begin to close with the first ones.

    Args:
        scene: as it was sewn before.
        seams: names of the seams.
        gap: [m] the widest gap that was left before.

    Returns:
        The scene, with ``SEWN_EARLIER`` in its description; None if the seams begin so already.
    """
    pairs = [own for name, own in scene.cloth.seams if name in seams]
    energies = close_earlier(scene.energies, pairs) if seams else scene.energies
    if energies is None:
        return None
    tried = {"seams": list(seams), "gap": gap}
    return scene.with_(energies=energies, description={**scene.description, SEWN_EARLIER: tried})


def sewn_as(scene: Scene, manifest: Json) -> Scene:
    """Return a scene with its seams in the order in which the run of a manifest sews them."""
    tried = manifest["description"].get(SEWN_EARLIER)
    return scene if tried is None else sew_earlier(scene, **tried) or scene
