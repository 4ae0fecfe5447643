"""Sewing patterns and garments: flat patterns in files become one triangle mesh with seams.

Read in this order: ``pattern`` (panels, edges and seams on paper), ``curves`` and ``edge_chains``
(edges as curves, and chains of them that seams join), ``check`` and ``check_panel`` (errors and
warnings), ``cutting`` (the function ``cut`` from a pattern to a garment) with its parts
``sampling`` (vertices along edges), ``panel_mesh`` and ``triangulate`` (triangles), ``ears``
(meshes that stay valid once sewn) and ``placement`` (start positions); ``body_depth``,
``seam_ways``, ``start_positions`` and ``sewing_order`` (panels beside any standing body, and the
order of its seams); then
``garment`` (the result), ``topology`` (pieces and openings once it is sewn) and ``spline_panels``
(spline patches).

``formats.read_pattern`` reads pattern files of every format: ``yaml_pattern`` (weft's own, with
the fields that ``pattern_schema`` declares, whose numbers are arithmetic on ``measures``),
``garmentcode`` (JSON), ``svg`` and ``dxf`` (drawings, with the seams in a file that ``sidecar``
reads). ``read_pattern`` is imported when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from weft.plugins.garments.patterns.formats import read_pattern as read_pattern

__all__ = ["read_pattern"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'weft.plugins.garments.patterns' has no attribute {name!r}")
    return getattr(import_module("weft.plugins.garments.patterns.formats"), name)
