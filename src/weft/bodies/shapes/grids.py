"""Bodies from numbers on a grid: height fields over a level rectangle, and signed distances."""

from pathlib import Path
from typing import Annotated

import igl
import numpy as np

from weft.base.arrays import ArrayArgument, ArrayOf, Faces, Floats, Point, Positions
from weft.base.errors import SceneError, error_text
from weft.base.input_file import decode_text, open_input
from weft.base.machine import gib, memory
from weft.base.runtime_types import checked
from weft.base.settings import Length, Size
from weft.bodies.body import Body
from weft.discretization.mesh import grid
from weft.io.archive import Broken, read_npz
from weft.io.images import open_image

MOST_PART = 0.02  # largest fraction of the machine's memory for the numbers of a grid
CLOSEST = 0.01  # least distance of a vertex from an edge's ends, over the edge: no degenerate faces
IMAGES = (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".bmp", ".webp")


@checked(SceneError)
def height_field(
    heights: Annotated[ArrayArgument, ArrayOf("numbers", ((None, None),), "m")],
    width: Size,
    depth: Size,
    base: Size | None = None,
    name: str = "height field",
) -> Body:
    """Create a ground from heights at the nodes of a grid over a rectangle about the origin, with
    two triangles per cell.

    Args:
        heights: (rows, columns) [m] along y; rows from the back (-z) to the front, columns along x.
        width: [m] along x.
        depth: [m] along z.
        base: [m] distance of a flat bottom, which closes the body, below the lowest height; None:
            the body is open.
        name: name for messages.

    Raises:
        SceneError: there are fewer than two rows or columns, heights are not finite, or lengths are
            not > 0.
    """
    width, depth = float(width), float(depth)
    h = np.asarray(heights)
    if min(h.shape) < 2:
        raise SceneError(f"{name}.heights", got=h.shape, expected="at least 2 x 2")
    rows, columns = h.shape
    mesh = grid(columns, rows, width, depth)
    x = np.array(mesh.vertices)
    x[:, 1] = h[::-1].reshape(-1)  # the rows of the mesh begin at the front, those of h at the back
    if base is None:
        return Body(x, mesh.faces, None, name)
    below = float(base)
    n = len(x)
    bottom = x.copy()
    bottom[:, 1] = h.min() - below
    ids = np.arange(n).reshape(rows, columns)
    rim = np.concatenate([ids[0], ids[1:, -1], ids[-1, -2::-1], ids[-2:0:-1, 0]])
    following = np.roll(rim, -1)
    walls = [
        np.stack([rim, n + rim, following], 1),
        np.stack([following, n + rim, n + following], 1),
    ]
    faces = np.concatenate([mesh.faces, mesh.faces[:, ::-1] + n, *walls])
    return Body(np.concatenate([x, bottom]), faces, None, name)


@checked(SceneError)
def read_heights(path: str | Path, low: Length, high: Length, name: str = "body") -> Floats:
    """Read heights (rows, columns) [m] from an image or from a file of numbers.

    Args:
        path: an image, black at ``low`` and white at ``high``; or a .npy, .csv or .txt of numbers,
            0 at ``low`` and 1 at ``high``.
        low: [m].
        high: [m].
        name: name for messages.

    Raises:
        SceneError: the file cannot be read, or is too large.
    """
    path = Path(path)
    down, up = float(low), float(high)
    try:
        numbers = _numbers(path)
    except Broken as error:
        said = error_text(error)
        raise SceneError(
            f"{name}.file",
            got=f"{type(error).__name__}: {said}",
            where=path,
            expected="an image, or rows of numbers in a .npy, .csv or .txt",
        ) from error
    return down + (up - down) * numbers


def _numbers(path: Path) -> Floats:
    """Read the numbers of a file; gray values of an image are scaled to 0 to 1."""
    kind = path.suffix.lower()
    if kind in IMAGES:
        with open_image(path) as image:
            _check_size(8 * image.width * image.height)
            deep = image.mode.startswith("I")
            gray = np.asarray(image if deep else image.convert("L"), dtype=np.float64)
        return gray / (65535.0 if deep else 255.0)
    if kind == ".npy":
        with open_input(path):
            numbers = np.load(path, mmap_mode="r", allow_pickle=False)
        _check_size(numbers.nbytes)
        return np.array(numbers, dtype=np.float64)
    with open_input(path) as file:
        _check_size(8 * path.stat().st_size)
        text = decode_text(file.read()).replace(",", " ").replace(";", " ")
    return np.array([line.split() for line in text.splitlines() if line.strip()], dtype=np.float64)


def _check_size(size: int) -> None:
    most = MOST_PART * memory()
    if size > most:
        raise ValueError(f"{gib(size)} of numbers, more than {gib(most)}")


@checked(SceneError)
def distance_grid(
    distance: Annotated[Floats, ArrayOf("numbers", ((None, None, None),), "m")],
    origin: Point,
    spacing: Annotated[ArrayArgument, ArrayOf("numbers", ((3,), (1,), ()), "m")],
    name: str = "distance grid",
) -> Body:
    """Create the closed surface on which signed distances on a grid are zero.

    Its vertices lie on lines between nodes, within a hundredth of a spacing of the zero of the
    linear interpolation.

    Args:
        distance: (nx,ny,nz) [m] at the nodes, negative inside and positive on the border.
        origin: (3,) [m] the first node.
        spacing: (3,) or a number [m] between nodes.
        name: name for messages.

    Raises:
        SceneError: shapes do not fit, numbers are not finite, the surface leaves the grid, or there
            is no surface.
    """
    d, step = distance, np.broadcast_to(spacing, (3,))
    if min(d.shape) < 3:
        raise SceneError(f"{name}.distance", got=f"shape {d.shape}", expected="at least 3 each")
    if not (step > 0).all():
        raise SceneError(f"{name}.spacing", got=step.tolist(), expected="must be > 0 [m]")
    inside = d < 0
    if not inside.any():
        raise SceneError(
            f"{name}.distance",
            got="no distance below 0",
            expected="a body: distances below 0 inside",
        )
    border = np.ones(d.shape, dtype=bool)
    border[1:-1, 1:-1, 1:-1] = False
    if (inside & border).any():
        raise SceneError(
            f"{name}.distance",
            got=f"{int((inside & border).sum())} nodes with a distance below 0 on the border "
            "of the grid",
            expected="a body that lies inside the grid",
            hint="make the grid larger around it",
        )
    x, faces = _isosurface(d)
    return Body(origin + x * step, faces, None, name)


def _isosurface(values: Floats) -> tuple[Positions, Faces]:
    """Return the surface on which numbers (nx,ny,nz), positive on the border, are zero.

    The vertices (n,3) are in units of the grid. The faces (m,3) are oriented towards positive
    values.
    """
    # For libigl, a node at 0 is inside.
    nodes = np.where(values == 0, np.finfo(np.float64).tiny, values).reshape(-1)
    places = np.indices(values.shape, dtype=np.float64).reshape(3, -1).T
    # libigl counts nodes with the first axis fastest, so that the axes, and with them the faces,
    # are in reverse order. A key holds the two nodes of the edge on which a vertex lies.
    _, faces, edges = igl.marching_cubes(nodes, places, *values.shape[::-1])
    keys = np.fromiter(edges.keys(), np.int64, len(edges))
    a, b = keys & 0xFFFFFFFF, keys >> 32
    part = np.clip(nodes[a] / (nodes[a] - nodes[b]), CLOSEST, 1 - CLOSEST)[:, None]
    x = np.empty((len(keys), 3))
    x[np.fromiter(edges.values(), np.int64, len(edges))] = (1 - part) * places[a] + part * places[b]
    return x, faces[:, ::-1].astype(np.int32)


@checked(SceneError)
def read_distance_grid(path: str | Path, name: str = "body") -> Body:
    """Read the body of an .npz with ``distance`` (nx,ny,nz), ``origin`` (3,) and ``spacing`` [m].

    Raises:
        SceneError: the file cannot be read, or lacks one of these arrays.
    """
    path, expected = Path(path), "an .npz with distance (nx,ny,nz), origin (3,) and spacing [m]"
    arrays = read_npz(path, what=f"{name}.file", expected=expected, error=SceneError)
    wanted = ("distance", "origin", "spacing")
    numeric = all(k in arrays and arrays[k].dtype.kind in "fiu" for k in wanted)
    if not numeric:
        got = f"{', '.join(sorted(arrays)) or 'nothing'}"
        raise SceneError(f"{name}.file", got=got, expected=expected, where=path)
    if arrays["spacing"].size not in (1, 3):
        got = f"spacing {arrays['spacing'].shape}"
        raise SceneError(f"{name}.file", got=got, expected=expected, where=path)
    spacing = arrays["spacing"].reshape(-1)
    return distance_grid(arrays["distance"], arrays["origin"], spacing, name)
