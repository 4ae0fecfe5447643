"""What a study is: a table, findings in words, and a plot of both; and how they are written."""

import csv
import importlib.util
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import PIL.Image

from weft.io.files import atomic_write, make_folder

Say = Callable[[str], None]  # progress of a study, a line at a time
# colors of curves, in this order
INK = ("#1f4e79", "#c0504d", "#2e8b57", "#8064a2", "#d08a2e", "#555555")


class Several(NamedTuple):
    """What several runs gave."""

    mean: float
    spread: float  # standard deviation; 0 of a single run

    @staticmethod
    def of(values: Sequence[float]) -> "Several":
        """Of at least one value."""
        return Several(float(np.mean(values)), float(np.std(values, ddof=int(len(values) > 1))))


Cell = float | str | Several


@dataclass(frozen=True)
class StudyTable:
    """Numbers with the names and units of their columns."""

    columns: Sequence[str]  # "sag [m]"
    rows: Sequence[Sequence[Cell]]

    def csv(self) -> str:
        """As comma-separated values; a column of several runs is two, mean and spread."""
        double = [any(isinstance(row[c], Several) for row in self.rows) for c in self._ids]
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        names = zip(self.columns, double)
        writer.writerow([n for name, two in names for n in (name, f"{name}, spread")[: 1 + two]])
        for row in self.rows:
            cells = [_both(v)[: 1 + two] for v, two in zip(row, double)]
            writer.writerow([_digits(v) for cell in cells for v in cell])
        return out.getvalue()

    @property
    def _ids(self) -> range:
        return range(len(self.columns))

    def text(self) -> str:
        """As aligned columns for a terminal."""
        cells = [list(self.columns), *([_shown(v) for v in row] for row in self.rows)]
        widths = [max(len(row[c]) for row in cells) for c in range(len(self.columns))]
        lines = ["  ".join(v.rjust(w) for v, w in zip(row, widths)) for row in cells]
        return "\n".join(lines)


@dataclass(frozen=True)
class Study:
    """The outcome of a study."""

    name: str
    title: str
    table: StudyTable
    findings: Sequence[str]  # each a sentence with its numbers
    draw: Callable[[Any], None]  # fills a matplotlib Figure
    pictures: Mapping[str, Any] = field(default_factory=dict)  # (h,w,3) uint8 by their names
    height: float = 4.2  # [inch] of the plot

    @staticmethod
    def missing() -> str:
        """What a plot needs that is not installed; empty where nothing is missing."""
        if importlib.util.find_spec("matplotlib") is None:
            return "no plot: that needs matplotlib, pip install 'weft[plots]'"
        return ""

    def write(self, folder: Path) -> list[Path]:
        """Write NAME.csv, NAME-PICTURE.png for every picture, and, where matplotlib is installed,
        the plot NAME.png; returns what was written.

        Raises:
            RunError: a file that cannot be written.
        """
        make_folder(folder)
        table, plot = folder / f"{self.name}.csv", folder / f"{self.name}.png"
        with atomic_write(table) as file:
            file.write(self.table.csv().encode())
        written = [table]
        for key, picture in self.pictures.items():
            path = folder / f"{self.name}-{key}.png"
            with atomic_write(path) as file:
                PIL.Image.fromarray(picture).save(file, format="png", optimize=True)
            written.append(path)
        try:
            from matplotlib.backends.backend_agg import FigureCanvasAgg
            from matplotlib.figure import Figure
        except ImportError:
            return written
        figure = Figure(figsize=(9.6, self.height), dpi=110, layout="constrained")
        FigureCanvasAgg(figure)
        self.draw(figure)
        figure.suptitle(self.title, fontsize=11)
        with atomic_write(plot) as file:
            figure.savefig(file, format="png")
        return [*written, plot]


def _both(value: Cell) -> tuple[float | str, float | str]:
    return value if isinstance(value, Several) else (value, "")


def _shown(value: Cell) -> str:
    if isinstance(value, Several):
        return f"{_digits(value.mean, 4)} ± {_digits(value.spread, 2)}"
    return _digits(value, 5)


def _digits(value: float | str, digits: int = 8) -> str:
    return value if isinstance(value, str) else f"{value:.{digits}g}"
