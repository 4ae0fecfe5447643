"""A data sheet: results of virtual tests of one fabric as tables, for terminals, CSV and JSON."""

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from weft.base.errors import FabricError, WeftError, check_known
from weft.base.trees import Json
from weft.fabric.fabric import Fabric
from weft.plugins.lab.laboratory.cantilever import Cantilever, Direction, cantilever
from weft.plugins.lab.laboratory.cusick import Cusick, Draping, cusick
from weft.plugins.lab.laboratory.loop import AT, GF, SLOPE, HysteresisLoop, bending_loop
from weft.plugins.lab.laboratory.reference_values import DRAPE_COEFFICIENTS
from weft.plugins.lab.laboratory.shear import GF_PER_CM, Shear, shear
from weft.plugins.lab.laboratory.tensile import CUTS, Tensile, tensile

TESTS = ("tensile", "shear", "bending", "cantilever", "cusick")
DIRECTIONS: Sequence[Direction] = ("warp", "weft")
Say = Callable[[str], None]  # progress, a line at a time
Cell = float | int | str


@dataclass(frozen=True)
class TestTable:
    """A table of results, with names and units of its columns."""

    name: str
    columns: Sequence[str]  # "force [N/m]"
    rows: Sequence[Sequence[Cell]]
    notes: Sequence[str] = ()  # conclusions, one sentence each

    def csv(self) -> str:
        """Return the table as comma-separated text, with a line of column names."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows([[_digits(v, 8) for v in row] for row in self.rows])
        return out.getvalue()

    def text(self) -> str:
        """Return aligned columns and the notes."""
        cells = [list(self.columns), *([_digits(v, 4) for v in row] for row in self.rows)]
        widths = [max(len(row[c]) for row in cells) for c in range(len(self.columns))]
        lines = ["  ".join(v.rjust(w) for v, w in zip(row, widths)) for row in cells]
        return "\n".join([*lines, *self.notes])


@dataclass(frozen=True, eq=False)
class FabricSheet:
    """The results of a fabric's tests; those of tests that were not run are empty or None."""

    fabric: Fabric
    tensile: Sequence[Tensile] = ()
    shear: Shear | None = None
    bending: Mapping[Direction, HysteresisLoop] = field(default_factory=dict)
    cantilever: Sequence[Cantilever] = ()
    cusick: Cusick | None = None

    @property
    def tables(self) -> Sequence[TestTable]:
        """Tables of the tests that were run, one each."""
        tables = []
        if self.tensile:
            tables.append(_tensile_table(self.tensile))
        if self.shear is not None:
            tables.append(_shear_table(self.shear, self.fabric))
        if self.bending:
            tables.append(_bending_table(self.bending))
        if self.cantilever:
            tables.append(_cantilever_table(self.cantilever))
        if self.cusick is not None:
            tables.append(_cusick_table(self.cusick))
        return tables

    @property
    def plain(self) -> Json:
        """The tables as a plain tree for JSON."""
        tables = {
            t.name: {"rows": [dict(zip(t.columns, row)) for row in t.rows], "notes": list(t.notes)}
            for t in self.tables
        }
        return {"fabric": self.fabric.name, "title": self.fabric.title, **tables}


def select_tests(names: Sequence[str]) -> Sequence[str]:
    """Return known tests, in the order in which they run; no names mean all.

    Raises:
        FabricError: an unknown one.
    """
    for name in names:
        check_known(name, TESTS, "test", FabricError)
    return [t for t in TESTS if t in names or not names]


def sheet(
    fabric: Fabric,
    tests: Sequence[str] = (),
    size: float = 5e-3,
    drapings: int = 3,
    seed: int = 0,
    say: Say = lambda text: None,
) -> FabricSheet:
    """Run tests of a fabric.

    Args:
        fabric: what to test.
        tests: of ``TESTS``; none means all.
        size: [m] of edges of the draped specimen.
        drapings: number of drapes.
        seed: of its bumps.
        say: called with a line of text before every part.

    Returns:
        The results.

    Raises:
        FabricError: an unknown test. WeftError: a size or count out of range.
        SimulationError: no equilibrium.
    """
    chosen, results = select_tests(tests), Json()
    if drapings < 1:
        raise WeftError("drapings", got=drapings, expected="at least 1")
    if "tensile" in chosen:
        results["tensile"] = []
        for cut in CUTS:
            say(f"tensile: pulling a strip along the {cut}")
            results["tensile"].append(tensile(fabric, cut))
    if "shear" in chosen:
        say("shear: a square in a frame")
        results["shear"] = shear(fabric)
    if "bending" in chosen:
        say("bending: a specimen between clamps, warp and weft")
        results["bending"] = {d: bending_loop(fabric, d) for d in DIRECTIONS}
    if "cantilever" in chosen:
        say("cantilever: sliding strips out, warp and weft")
        results["cantilever"] = [cantilever(fabric, d) for d in DIRECTIONS]
    if "cusick" in chosen:
        say(f"cusick: draping 1 of {drapings}")

        def report(draping: Draping) -> None:
            done = draping.seed - seed + 1
            what = f"drape coefficient {draping.coefficient:.1%}, {draping.shadow.nodes} folds"
            more = f"; draping {done + 1} of {drapings}" if done < drapings else ""
            say(f"cusick: {what}{more}")

        results["cusick"] = cusick(fabric, size, drapings, seed, on_draping=report)
    return FabricSheet(fabric, **results)


def _tensile_table(results: Sequence[Tensile]) -> TestTable:
    columns = ("cut", "strain [%]", "force [N/m]", "narrowing [%]")
    rows = [
        (r.cut, 100 * float(e), float(f), 100 * float(n))
        for r in results
        for e, f, n in zip(r.strain, r.force, r.narrowing)
    ]
    notes = [f"{r.cut}: {r.stiffness:.4g} N/m up to {r.strain[0]:.1%}" for r in results]
    return TestTable("tensile", columns, rows, notes)


def _shear_table(result: Shear, fabric: Fabric) -> TestTable:
    rows = [(float(a), float(f)) for a, f in zip(result.angle, result.force)]
    note = (
        f"G = {result.modulus:.4g} N/m per radian = {result.kawabata:.3g} gf/(cm deg), from 0.5 to "
        f"2.5 degrees; given {fabric.shear:.4g} N/m"
    )
    notes = [note]
    if result.loop is not None:
        width = result.hysteresis
        notes.append(
            f"2HG = {width:.4g} N/m = {width / GF_PER_CM:.3g} gf/cm, at 0.5 degrees; given "
            f"{fabric.shear_hysteresis or 0.0:.4g} N/m"
        )
    return TestTable("shear", ("angle [deg]", "force [N/m]"), rows, notes)


def _bending_table(loops: Mapping[Direction, HysteresisLoop]) -> TestTable:
    rows = [
        (d, float(c) / 100, 1e3 * float(m))
        for d, loop in loops.items()
        for c, m in zip(loop.strain, loop.load)
    ]
    notes = [
        f"{d}: B = {loop.slope(*SLOPE) / (GF * 0.01):.3g} gf cm^2/cm from 0.5 to 1.5 /cm, 2HB = "
        f"{loop.width(AT) / GF:.3g} gf cm/cm at 1 /cm"
        for d, loop in loops.items()
    ]
    return TestTable("bending", ("direction", "curvature [1/cm]", "moment [mN]"), rows, notes)


def _cantilever_table(results: Sequence[Cantilever]) -> TestTable:
    columns = (
        "direction",
        "overhang [mm]",
        "bending length [mm]",
        "rigidity [uN m]",
        "exact [uN m]",
        "given [uN m]",
    )
    rows = [
        (r.direction, 1e3 * r.overhang, 1e3 * r.bending_length)
        + tuple(1e6 * value for value in (r.rigidity, r.exact, r.given))
        for r in results
    ]
    return TestTable("cantilever", columns, rows, ["exact: by the heavy elastica, not by L = 2 c"])


def _cusick_table(result: Cusick) -> TestTable:
    columns = ("seed", "drape coefficient [%]", "folds", "least radius [cm]", "energy [uJ]")
    rows = [
        (
            d.seed,
            100 * d.coefficient,
            d.shadow.nodes,
            100 * float(d.shadow.radius.min()),
            1e6 * d.energy,
        )
        for d in result.drapings
    ]
    several = f", one draping varies by {100 * result.spread:.1f}" if len(rows) > 1 else ""
    notes = [
        f"DC = {100 * result.coefficient:.1f} %{several}; {result.nodes:.3g} folds; "
        f"{result.mesh.n_vertices} vertices"
    ]
    known = DRAPE_COEFFICIENTS.get(result.fabric.name)
    if known is not None:
        folds = f", {known.nodes} folds" if known.nodes is not None else ""
        notes.append(f"published: {known.text}{folds} ({known.source})")
    if any(d.under for d in result.drapings):
        notes.append(
            "cloth moved in under the disk, which weft does not simulate: a tester reads a "
            "larger value"
        )
    return TestTable("cusick", columns, rows, notes)


def _digits(value: Cell, digits: int) -> str:
    return f"{value:.{digits}g}" if isinstance(value, float) else str(value)
