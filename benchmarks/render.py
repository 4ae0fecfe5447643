"""Pictures of 40 000 vertices at 1280 x 720: plain, and with all that makes them better."""

from collections.abc import Iterator

from benchmarks.assembly import SIDE, draped
from benchmarks.measure import BenchMeasure, at_most, best_time, info
from weft import kernel
from weft.discretization.mesh import grid
from weft.show.picture.renderer import Renderer
from weft.show.picture.style import Style
from weft.show.picture.weave import Weave, WeavePattern

TWILL = Weave(WeavePattern.TWILL, 2400.0, 1800.0)
STYLES = {  # what is drawn, and how many ms it may take; all at once is as long as it is
    "frame": (Style(), 100.0),
    "soft": (Style(soft=True), 300.0),
    "smooth": (Style(smooth=1), 300.0),
    "thick": (Style(thickness=1e-3), 300.0),
    "twill": (Style(weave=TWILL), 300.0),
    "soft, smooth, thick twill": (
        Style(soft=True, smooth=1, thickness=1e-3, weave=TWILL),
        None,
    ),
}


def render() -> Iterator[BenchMeasure]:
    """Time of a frame."""
    mesh = grid(SIDE, SIDE, 1.0, 1.0)
    x = kernel.numpy(draped()[1])
    for name, (style, most) in STYLES.items():
        renderer = Renderer(mesh, [x], style)
        seconds = best_time(lambda renderer=renderer: renderer.image(x))  # type: ignore[misc]
        what = f"render/{name} at 40k, 1280x720"
        if most is None:
            yield info(what, 1e3 * seconds, "ms")
        else:
            yield at_most(what, 1e3 * seconds, "ms", most)
