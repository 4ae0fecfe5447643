"""State of a sweep as numbers and as a list."""

import shlex
from collections import Counter
from collections.abc import Iterator

from weft.base.trees import Json
from weft.plugins.lab.sweep.folder import SweepFolder
from weft.plugins.lab.sweep.status import Reason, SampleKind, counts, orphans


def summarize(sweep: SweepFolder) -> Json:
    """Return counts, reasons of failures, and the time and disk space that were used."""
    samples = sweep.look()
    done = [f.status for f in samples if f.kind is SampleKind.DONE]
    failed = Counter(f.status.reason for f in samples if f.kind is SampleKind.FAILED)
    hosts = Counter(f.status.where.split(" ")[0] for f in samples if f.kind is SampleKind.RUNNING)
    return {
        "sweep": str(sweep.path),
        "samples": len(samples),
        **{kind.value: n for kind, n in counts(samples).items()},
        "good": sum(s.good for s in done),
        "reasons": dict(failed.most_common()),
        "hosts": dict(hosts.most_common()),
        "seconds": sum(s.seconds for s in done),
        "bytes": sum(s.size for s in done),
        "of_earlier_plans": orphans(sweep.path, sweep.plan),
    }


def list_samples(sweep: SweepFolder) -> Iterator[str]:
    """Yield one line per sample: number, id, state, values.

    Lines with the reason, advice and the command that reproduces the failure follow a failed
    sample.
    """
    for f in sweep.look():
        values = " ".join(f.sample.overrides)
        yield f"{f.sample.number:6} {f.sample.id} {f.kind.value:8} {values}"
        if f.kind is SampleKind.FAILED:
            reason = f.status.reason
            advice = Reason[reason].advice if reason in Reason.__members__ else ""
            yield f"{'':7}{reason}: {f.status.message}"
            yield f"{'':7}{advice}"
            yield f"{'':7}{shlex.join(sweep.reproducer(f.sample))}"
