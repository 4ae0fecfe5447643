"""A picture of 40 000 vertices at 1280 x 720."""

from collections.abc import Iterator

from weft import kernel
from weft.bench.assembly import SIDE, draped
from weft.bench.measure import Measure, at_most, best_time
from weft.mesh import grid
from weft.render.picture import Renderer


def render() -> Iterator[Measure]:
    """Time of a frame."""
    mesh = grid(SIDE, SIDE, 1.0, 1.0)
    x = kernel.numpy(draped()[1])
    renderer = Renderer(mesh, [x])
    seconds = best_time(lambda: renderer.image(x))
    yield at_most("render/frame at 40k, 1280x720", 1e3 * seconds, "ms", 100.0)
