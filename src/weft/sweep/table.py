"""State of a sweep as a table, a list or a dictionary."""

import time
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from weft.base.terminal import new_console, visible_cursor
from weft.base.trees import Json
from weft.io.folder_lock import is_written
from weft.sweep.folder import SweepFolder
from weft.sweep.status import SampleKind, SampleStatus, counts, orphans

if TYPE_CHECKING:
    from rich.table import Table

    from weft.base.terminal import Console

EVERY = 1.0  # [s] between updates


def as_json(sweep: SweepFolder) -> Json:
    """Return counts, reasons of failures, and the time and disk space that were used."""
    found = sweep.look()
    done = [f.status for f in found if f.kind is SampleKind.DONE and f.status is not None]
    reasons = Counter(f.status.reason for f in found if f.status is not None and f.status.reason)
    return {
        "sweep": str(sweep.path),
        "samples": len(found),
        **{kind.value: n for kind, n in counts(found).items()},
        "good": sum(s.flags.get("good", True) for s in done),
        "reasons": dict(reasons),
        "seconds": sum(s.seconds for s in done),
        "bytes": sum(s.size for s in done),
        "of_earlier_plans": orphans(sweep.path, sweep.plan),
    }


def listed(sweep: SweepFolder) -> list[str]:
    """Return one line per sample: number, id, state, values."""
    return [
        f"{f.sample.number:6} {f.sample.id} {f.kind.value:8} {' '.join(f.sample.overrides)}"
        for f in sweep.look()
    ]


def table(sweep: SweepFolder, found: Sequence[SampleStatus], rate: float | None = None) -> "Table":
    """Return a table of rich.

    Args:
        sweep: the sweep.
        found: the states of its samples.
        rate: [1/s] samples that end now; None: unknown.
    """
    from rich.table import Table

    told = counts(found)
    done = [f.status for f in found if f.kind is SampleKind.DONE and f.status is not None]
    result = Table(title=f"{sweep.path}: {len(found)} samples", title_justify="left")
    for name in ("state", "samples", ""):
        result.add_column(name, justify="right" if name == "samples" else "left")
    good = sum(s.flags.get("good", True) for s in done)
    mean = sum(s.seconds for s in done) / max(1, len(done))
    size = sum(s.size for s in done)
    result.add_row(
        "done",
        str(told[SampleKind.DONE]),
        f"{good} good, {mean:.3g} s each, {size / 2**20:.4g} MiB",
    )
    reasons = Counter(f.status.reason for f in found if f.kind is SampleKind.FAILED and f.status)
    result.add_row(
        "failed",
        str(told[SampleKind.FAILED]),
        ", ".join(f"{n} {r}" for r, n in reasons.most_common()),
    )
    where = Counter(
        f.status.where.split(" ")[0] for f in found if f.kind is SampleKind.RUNNING and f.status
    )
    result.add_row(
        "running",
        str(told[SampleKind.RUNNING]),
        ", ".join(f"{n} on {host}" for host, n in where.most_common(4)),
    )
    left = told[SampleKind.STOPPED] + told[SampleKind.PENDING]
    more = f"{left / rate:.0f} s left" if rate else ""
    result.add_row("to run", str(left), more)
    if old := orphans(sweep.path, sweep.plan):
        result.add_row("of earlier plans", str(old), "kept, no part of the sweep now")
    return result


def live(sweep: SweepFolder, console: "Console | None" = None) -> bool:
    """Show the table on a terminal (or on a rich ``Console``) while samples run.

    Returns:
        False if there is no terminal.
    """
    from rich.live import Live

    console = console or new_console()
    if not console.is_terminal:
        return False
    clock, first = time.monotonic(), -1
    with visible_cursor(console), Live(console=console, auto_refresh=False) as screen:
        while True:
            found = sweep.look()
            told = counts(found)
            ended = told[SampleKind.DONE] + told[SampleKind.FAILED]
            first = ended if first < 0 else first
            rate = (ended - first) / max(time.monotonic() - clock, 1e-9)
            screen.update(table(sweep, found, rate or None), refresh=True)
            if not told[SampleKind.RUNNING] and not is_written(sweep.inside):
                return True
            time.sleep(EVERY)
