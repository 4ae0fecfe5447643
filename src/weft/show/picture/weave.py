"""Woven texture in material coordinates: which yarn is on top, and its shading.

The texture fades out where a picture cannot resolve yarns.
"""

import enum
from dataclasses import dataclass

import warp as wp

from weft.base.errors import WeftError
from weft.kernel import DataType

vec2f: DataType = wp.vec2f

ROUND = 0.45  # part of its brightness that a yarn loses from its ridge to its sides
DIP = 0.3  # part that it loses from its middle to the place where it goes under
MEAN = (1.0 - ROUND / 3.0) * (1.0 - DIP / 3.0)  # mean of both factors over a plain weave
WARP_TONE = 0.06  # by which warp is brighter, and weft darker
FULL, NONE = 4.0, 1.5  # pixels per yarn: texture is complete, or gone (sampling needs 2)


class WeavePattern(enum.Enum):
    """Rule that says which of two crossing yarns is on top."""

    PLAIN = "plain"  # over one, under one
    TWILL = "twill"  # over two, under two, shifted by one: a diagonal
    DENIM = "denim"  # over three, under one, shifted by one

    @property
    def code(self) -> int:
        """The number of the pattern in the kernel."""
        return 1 + list(WeavePattern).index(self)


@dataclass(frozen=True)
class Weave:
    """A weave, with its pattern and yarn counts.

    Args:
        pattern: which yarn is on top.
        ends: warp yarns per meter, counted along the weft.
        picks: weft yarns per meter, counted along the warp.

    Raises:
        WeftError: a count that is not positive.
    """

    pattern: WeavePattern = WeavePattern.PLAIN
    ends: float = 2000.0
    picks: float = 2000.0

    def __post_init__(self) -> None:
        if not (0 < self.ends <= 1e5 and 0 < self.picks <= 1e5):
            got = f"{self.ends / 100:g} x {self.picks / 100:g}"
            raise WeftError("yarns per cm", got=got, expected="above 0, at most 1000")

    @staticmethod
    def read(text: str) -> "Weave":
        """Read a weave from text: ``plain:20`` or ``twill:24x18``, pattern and yarns per cm (warp x
        weft).

        Raises:
            WeftError: another form, or an unknown pattern.
        """
        name, _, counts = text.partition(":")
        known = [p.value for p in WeavePattern]
        numbers = counts.split("x")
        try:
            per_meter = [100 * float(n) for n in numbers]
        except ValueError:
            per_meter = []
        if name not in known or len(per_meter) not in (1, 2):
            wanted = f"{', '.join(known)}, a colon and yarns per cm, such as twill:24x18"
            raise WeftError("weave", got=text, expected=wanted)
        return Weave(WeavePattern(name), per_meter[0], per_meter[-1])


@wp.func
def warp_on_top(pattern: int, i: int, j: int):
    """Return whether warp yarn i is over weft yarn j."""
    k = (i + j) & 3
    if pattern == 1:
        return (k & 1) == 0
    if pattern == 2:
        return k < 2
    return k != 0


@wp.func
def dip(pattern: int, top: bool, i: int, j: int, along: float):
    """Return the brightness along a yarn, at -1/2 to 1/2 of a crossing; darker before it goes
    under.
    """
    step = int(1)
    if along < 0.0:
        step = -1
    if top:
        next = warp_on_top(pattern, i, j + step)
    else:
        next = warp_on_top(pattern, i + step, j)
    if next == top:
        return 1.0
    return 1.0 - DIP * 4.0 * along * along


@wp.func
def weave_factor(pattern: int, yarns: vec2f, uv: vec2f, pixel: float):
    """Return the factor of the cloth's color at material coordinates uv [m].

    It is 1 on average, and 1 everywhere if a pixel, of the size ``pixel`` [m], is coarser than a
    yarn. ``yarns`` are ends and picks per meter. Warp yarns run along u and are counted along v.
    """
    across = 1.0 / (wp.max(yarns[0], yarns[1]) * wp.max(pixel, 1.0e-9))  # pixels per yarn
    shown = wp.clamp((across - NONE) / (FULL - NONE), 0.0, 1.0)
    if shown <= 0.0:
        return 1.0
    a = uv[1] * yarns[0]
    b = uv[0] * yarns[1]
    i = int(wp.floor(a))
    j = int(wp.floor(b))
    s = a - float(i) - 0.5
    t = b - float(j) - 0.5
    top = warp_on_top(pattern, i, j)
    if top:
        value = (1.0 - ROUND * 4.0 * s * s) * dip(pattern, top, i, j, t) * (1.0 + WARP_TONE)
    else:
        value = (1.0 - ROUND * 4.0 * t * t) * dip(pattern, top, i, j, s) * (1.0 - WARP_TONE)
    return wp.lerp(1.0, value / MEAN, shown * shown * (3.0 - 2.0 * shown))
