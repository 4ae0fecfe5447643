"""What fabrics look like in pictures without a ``surface``: color, pattern of the weave and sheen.

The pattern has one size [m] on every panel. It is coarser than yarns, so that pictures of a whole
garment show it, and fades out where its lines are finer than the pixels.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import warp as wp

from weft.io.part_appearance import CLOTH
from weft.kernel import DataType
from weft.show.picture.weave import WeavePattern, weave_factor

vec2f: DataType = wp.vec2f
vec3f: DataType = wp.vec3f

CLEAR, GONE = 4.0, 2.0  # pixels per line of the pattern: it is complete, or gone
GLOSS = 24.0  # exponent of the highlight


@dataclass(frozen=True)
class FabricLook:
    """The look of a kind of fabric.

    Args:
        color: six hexadecimal digits, sRGB.
        pattern: of the weave.
        line: [m] from one line of the pattern to the next, along the yarns.
        depth: of the pattern: 0 is none.
        sheen: strength of the highlight: 0 is matte.
    """

    color: str
    pattern: WeavePattern
    line: float
    depth: float
    sheen: float


# By a word in the fabric's name or title; the first that fits. The last one is that of all others.
KINDS: Mapping[str, FabricLook] = {
    "denim": FabricLook("3a4f78", WeavePattern.DENIM, 0.008, 0.22, 0.0),
    "silk": FabricLook("b9929c", WeavePattern.PLAIN, 0.003, 0.03, 0.55),
    "cupro": FabricLook("9a86a8", WeavePattern.TWILL, 0.003, 0.03, 0.45),
    "polyester": FabricLook("7f9aa6", WeavePattern.PLAIN, 0.004, 0.05, 0.3),
    "wool": FabricLook("6e6259", WeavePattern.TWILL, 0.007, 0.1, 0.0),
    "felt": FabricLook("8a7a6c", WeavePattern.PLAIN, 0.004, 0.0, 0.0),
    "linen": FabricLook("c9b892", WeavePattern.PLAIN, 0.008, 0.12, 0.02),
    "canvas": FabricLook("b7a684", WeavePattern.PLAIN, 0.01, 0.15, 0.0),
    "knit": FabricLook("8d9a7c", WeavePattern.PLAIN, 0.006, 0.08, 0.0),
    "twill": FabricLook("7d7f8c", WeavePattern.TWILL, 0.009, 0.12, 0.03),
    "": FabricLook(CLOTH, WeavePattern.PLAIN, 0.006, 0.06, 0.04),
}


def look_of_fabric(name: str) -> FabricLook:
    """Return the look of the fabric with a name or title."""
    return next(look for word, look in KINDS.items() if word in name.lower())


@wp.func
def fabric_factor(pattern: int, line: float, depth: float, uv: vec2f, pixel: float):
    """Return the factor of the color of cloth at material coordinates uv [m], where a pixel is
    ``pixel`` [m] large; 1 on average.
    """
    shown = wp.clamp((line / wp.max(pixel, 1.0e-9) - GONE) / (CLEAR - GONE), 0.0, 1.0)
    turn = 2.0 * wp.pi / line
    wave = wp.cos(turn * (uv[0] + uv[1]))  # the diagonal of twill
    if pattern == 1:
        wave = 0.5 * (wp.cos(turn * uv[0]) + wp.cos(turn * uv[1]))
    yarns = 4.0 / line  # the diagonal has a line in four yarns
    fine = weave_factor(pattern, vec2f(yarns, yarns), uv, pixel)
    return (1.0 + depth * shown * wave) * wp.lerp(1.0, fine, wp.min(2.0 * depth, 1.0))


@wp.func
def highlight(normal: vec3f, toward: vec3f, light: vec3f):
    """Return the brightness of a highlight, from 0 to 1 (Blinn 1977).

    The vectors are of unit length: the normal, to the eye and to the light.
    """
    half = wp.normalize(toward + light)
    return wp.pow(wp.max(0.0, wp.dot(normal, half)), GLOSS)
