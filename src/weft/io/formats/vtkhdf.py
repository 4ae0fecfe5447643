"""VTKHDF (written only): poly data that changes in time, for ParaView and VTK (format version 2.0).

Cloth and bodies are one mesh; the cell array ``part`` distinguishes them (0: cloth, then bodies),
``region`` numbers cloths and panels. Numbers on the cloth are NaN on bodies. Triangles are written
once, and every time step refers to them.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from weft.base.arrays import Floats
from weft.io.animation import Animation
from weft.io.formats.hdf5_file import Check, hdf5_file

if TYPE_CHECKING:
    import h5py

KINDS = ("Vertices", "Lines", "Polygons", "Strips")  # kinds of cells, in the order of the format


def write_vtkhdf(path: Path, animation: Animation) -> Sequence[str]:
    """Write all frames to a VTKHDF file.

    Raises:
        RunError: ``h5py`` is missing, or the file cannot be written.
    """
    with hdf5_file(path, "VTKHDF files") as (file, check):
        root = file.create_group("VTKHDF")
        root.attrs["Version"] = np.array([2, 0])
        root.attrs.create("Type", b"PolyData", dtype="S8")
        _write(root, animation, check)
    return ()


def _write(root: "h5py.Group", animation: Animation, check: Check) -> None:
    sizes = [len(x) for x in animation.moment(0).positions]
    n, m, count = sum(sizes), sum(len(s.faces) for s in animation.shapes), animation.count
    first = np.cumsum([0, *sizes[:-1]])
    faces = np.concatenate([s.faces + f for s, f in zip(animation.shapes, first)])
    for kind in KINDS:
        cells = faces.astype(np.int64) if kind == "Polygons" else np.zeros((0, 3), np.int64)
        group = root.create_group(kind)
        group["NumberOfCells"] = np.array([len(cells)])
        group["NumberOfConnectivityIds"] = np.array([cells.size])
        group["Connectivity"] = cells.reshape(-1)
        group["Offsets"] = 3 * np.arange(len(cells) + 1)
    root["NumberOfPoints"] = np.full(count, n)
    steps = root.create_group("Steps")
    steps.attrs["NSteps"] = count
    steps["PartOffsets"] = np.zeros(count, np.int64)
    steps["NumberOfParts"] = np.ones(count, np.int64)
    steps["PointOffsets"] = n * np.arange(count)
    for name in ("CellOffsets", "ConnectivityIdOffsets"):
        steps[name] = np.zeros((count, len(KINDS)), np.int64)
    points = root.create_dataset("Points", (count * n, 3), "f8", chunks=(n, 3))
    table = _Table(root, steps, count)
    values = np.zeros(count)
    for k, moment in enumerate(animation):
        points[k * n : (k + 1) * n] = np.concatenate(list(moment.positions))
        values[k] = moment.t
        found = moment.fields
        table.add(k, "PointData", {**found.points, "velocity": moment.velocities}, n)
        table.add(k, "CellData", found.cells, m)
        check()
    steps["Values"] = values
    _labels(root, steps, animation, m)


class _Table:
    """Arrays at points and cells that are written frame by frame."""

    def __init__(self, root: "h5py.Group", steps: "h5py.Group", count: int) -> None:
        self.root, self.steps, self.count = root, steps, count

    def add(self, k: int, kind: str, arrays: Mapping[str, Floats], rows: int) -> None:
        """Write the arrays of frame k, padded with NaN to ``rows`` rows."""
        for name, values in arrays.items():
            shape = values.shape[1:]
            group = self.root.require_group(kind)
            if name not in group:
                whole = (self.count * rows, *shape)
                group.create_dataset(name, whole, "f4", chunks=(rows, *shape))
                offsets = self.steps.require_group(f"{kind}Offsets")
                offsets[name] = rows * np.arange(self.count)
            full = np.full((rows, *shape), np.nan, dtype=np.float32)
            full[: len(values)] = values
            group[name][k * rows : (k + 1) * rows] = full


def _labels(root: "h5py.Group", steps: "h5py.Group", animation: Animation, m: int) -> None:
    """Write ``part`` and ``region`` of cells, once for all time steps."""
    part = np.repeat(np.arange(len(animation.shapes)), [len(s.faces) for s in animation.shapes])
    region = np.full(m, -1)
    region[: len(animation.cloth.faces)] = animation.cloth.region_numbers
    cells, offsets = root.require_group("CellData"), steps.require_group("CellDataOffsets")
    for name, values in (("part", part), ("region", region)):
        cells[name] = values.astype(np.int32)
        offsets[name] = np.zeros(animation.count, np.int64)
