"""State of a sweep as a table, a list or a dictionary."""

import time
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from weft.base.terminal import new_console, visible_cursor
from weft.base.trees import Json
from weft.io.folder_lock import is_written
from weft.plugins.lab.sweep.folder import SweepFolder
from weft.plugins.lab.sweep.status import SampleKind, SampleStatus, counts, orphans

if TYPE_CHECKING:
    from rich.table import Table

    from weft.base.terminal import Console

EVERY = 1.0  # [s] between updates


def as_json(sweep: SweepFolder, samples: Sequence[SampleStatus]) -> Json:
    """Return counts, reasons of failures, and the time and disk space that were used."""
    done = [f.status for f in samples if f.kind is SampleKind.DONE]
    failed = [f.status for f in samples if f.kind is SampleKind.FAILED]
    return {
        "sweep": str(sweep.path),
        "samples": len(samples),
        **{kind.value: n for kind, n in counts(samples).items()},
        "good": sum(s.good for s in done),
        "reasons": dict(Counter(s.reason for s in failed).most_common()),
        "seconds": sum(s.seconds for s in done),
        "bytes": sum(s.size for s in done),
        "of_earlier_plans": orphans(sweep.path, sweep.plan),
    }


def list_samples(sweep: SweepFolder) -> list[str]:
    """Return one line per sample: number, id, state, values."""
    return [
        f"{f.sample.number:6} {f.sample.id} {f.kind.value:8} {' '.join(f.sample.overrides)}"
        for f in sweep.look()
    ]


def table(
    sweep: SweepFolder, samples: Sequence[SampleStatus], rate: float | None = None
) -> "Table":
    """Return a table of rich.

    Args:
        sweep: the sweep.
        samples: the states of its samples.
        rate: [1/s] samples that end now; None: unknown.
    """
    from rich.table import Table

    about = as_json(sweep, samples)
    hosts = Counter(
        f.status.where.split(" ")[0]
        for f in samples
        if f.kind is SampleKind.RUNNING and f.status.where
    )
    left, mean = about["stopped"] + about["pending"], about["seconds"] / max(1, about["done"])
    size = about["bytes"] / 2**20
    rows = [
        ("done", about["done"], f"{about['good']} good, {mean:.3g} s each, {size:.4g} MiB"),
        ("failed", about["failed"], ", ".join(f"{n} {r}" for r, n in about["reasons"].items())),
        (
            "running",
            about["running"],
            ", ".join(f"{n} on {host}" for host, n in hosts.most_common(4)),
        ),
        ("to run", left, f"{left / rate:.0f} s left" if rate else ""),
    ]
    if about["of_earlier_plans"]:
        unused = "kept, no part of the sweep now"
        rows.append(("of earlier plans", about["of_earlier_plans"], unused))
    result = Table(title=f"{sweep.path}: {len(samples)} samples", title_justify="left")
    for name in ("state", "samples", ""):
        result.add_column(name, justify="right" if name == "samples" else "left")
    for state, number, text in rows:
        result.add_row(state, str(number), text)
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
            samples = sweep.look()
            numbers = counts(samples)
            n_ended = numbers[SampleKind.DONE] + numbers[SampleKind.FAILED]
            first = n_ended if first < 0 else first
            rate = (n_ended - first) / max(time.monotonic() - clock, 1e-9)
            screen.update(table(sweep, samples, rate or None), refresh=True)
            if not numbers[SampleKind.RUNNING] and not is_written(sweep.inside):
                return True
            time.sleep(EVERY)
