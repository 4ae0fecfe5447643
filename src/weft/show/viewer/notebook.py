"""Display of runs and scenes in notebooks: a picture, a table, and the viewer in a frame."""

import base64
import html
import io
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np

from weft.base.arrays import Faces, Positions
from weft.discretization.mesh import TriangleMesh
from weft.run.animation import bodies_of
from weft.run.run_reader import RunReader
from weft.show.picture.renderer import Image, Renderer, Style
from weft.show.viewer.metric_curves import draw_curves, plots_of
from weft.show.viewer.page_text import Content, page

STYLE = Style(width=480, height=300)
MANY = 40_000  # triangles; more are drawn without antialiasing


class NotebookViewer:
    """The viewer of a run, for notebooks: the page in a frame.

    Args:
        content: what it shows.
        height: [pixels] of the frame.
    """

    def __init__(self, content: Content, height: int = 480) -> None:
        self.content, self.height = content, height

    def __repr__(self) -> str:
        about = self.content.about
        return f"View of {about['name']!r}: {len(about['numbers'])} frames"

    def _repr_html_(self) -> str:
        whole = html.escape(page(self.content), quote=True)
        how = f'width="100%" height="{self.height}" style="border: 0" allowfullscreen'
        return f'<iframe srcdoc="{whole}" {how}></iframe>'


def format_html(
    picture: Callable[[], Image],
    rows: Callable[[], Mapping[str, object]],
    curves: Callable[[], str] = str,
) -> str:
    """Return a picture beside a table and curves, as HTML.

    If something cannot be drawn or read, the error stands in its place, because a notebook must
    show a damaged run, too.
    """
    try:
        image = f'<img alt="picture" src="data:image/png;base64,{_png(picture())}">'
    except Exception as error:
        image = f"<em>no picture: {_text(error)}</em>"
    try:
        lines = "".join(
            f'<tr><th style="text-align: left">{_text(k)}</th>'
            f'<td style="text-align: left">{_text(v)}</td></tr>'
            for k, v in rows().items()
        )
    except Exception as error:
        lines = f"<tr><td><em>no table: {_text(error)}</em></td></tr>"
    try:
        below = curves()
    except Exception:  # the table already reports the error
        below = ""
    style = "display: flex; gap: 1em; align-items: center; flex-wrap: wrap"
    return f'<div style="{style}">{image}<div><table>{lines}</table>{below}</div></div>'


def format_run(run: RunReader) -> str:
    """Return the picture of a run's last frame, its table, and its metrics by frame, as HTML."""

    def picture() -> Image:
        body = run.solid_positions(-1) if len(run.solid_faces) else np.zeros((0, 3))
        own = [vertices for _, vertices in bodies_of(run)]
        return draw_cloth(run.mesh, run.positions(-1), body, run.solid_faces, own)

    def curves() -> str:
        times = [k / run.fps for k in range(len(run))]
        return draw_curves(plots_of(run.metrics, times), width=420, height=96)

    return format_html(picture, partial(_run_rows, run), curves)


def _run_rows(run: RunReader) -> dict[str, object]:
    """Return the rows of a run's table."""
    records, count = run.metrics, len(run)
    wanted = int(run.manifest["frames"]) + 1
    rows: dict[str, object] = {
        "run": run.path,
        "frames": f"{count} of {wanted}" if count < wanted else count,
        "frame rate": f"{run.fps:g} fps, {max(count - 1, 0) / run.fps:.4g} s",
        "vertices": f"{run.mesh.n_vertices}, {len(run.mesh.faces)} triangles",
    }
    if not records:
        return rows | {"last step": "none yet"}
    last = records[-1]
    rows["last step"] = f"{last['step']}, at t = {last['t']:.4g} s: {last['outcome']}"
    rows["iterations"] = last["iterations"]
    if "kinetic" in last:
        rows["kinetic energy"] = f"{last['kinetic']:.3g} J"
    least = (last.get("contact") or {}).get("least_distance")
    if least is not None:
        rows["smallest distance"] = f"{1e3 * least:.3g} mm"
    if "intersections" in last:
        rows["intersections"] = last["intersections"]
    return rows


def draw_cloth(
    mesh: TriangleMesh,
    x: Positions,
    body: Positions,
    body_faces: Faces,
    bodies: Sequence[slice],
) -> Image:
    """Return a picture (h,w,3) of the cloth and of bodies.

    Args:
        mesh: the cloth.
        x: (n,3) [m] its positions.
        body: (b,3) [m] the vertices of all bodies.
        body_faces: (m,3) their faces.
        bodies: the vertices of each body.
    """
    several = len(body_faces) > 0
    all_of_it = np.concatenate([x, body]) if several else x
    many = len(mesh.faces) + len(body_faces) > MANY
    style = Style(STYLE.look, STYLE.width, STYLE.height, 1 if many else 2)
    drawn = body_faces if several else None
    renderer = Renderer(mesh, [all_of_it], style, body_faces=drawn, bodies=bodies)
    return renderer.image(all_of_it)


def _png(image: Image) -> str:
    from PIL import Image as Pillow

    file = io.BytesIO()
    Pillow.fromarray(image).save(file, format="PNG", compress_level=4)
    return base64.b64encode(file.getvalue()).decode("ascii")


def _text(value: object) -> str:
    return html.escape(str(value))
