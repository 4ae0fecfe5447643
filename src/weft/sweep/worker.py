"""``python -m weft.sweep.worker SWEEP THREADS``: a process that stays warm and runs samples.

Orders are lines of JSON on standard input, answers lines on what was standard output:

    {"warm": ID}                    -> {"warm": ID}
    {"sample": ID, "retry": false}  -> {"sample": ID, "status": {...}}, or "busy", "full" or "error"

It ends with its input, and stops (the sample's folder is whole) when its parent is gone.
"""

import json
import os
import sys
from typing import Any


def main(arguments: list[str]) -> None:
    """Run until the input ends."""
    from weft.sweep.warm import quiet_libraries

    quiet_libraries(int(arguments[1]))
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever prints does not get between answers
    parent = os.getppid()
    for line in sys.stdin:
        order = json.loads(line)
        answers.write(json.dumps(_answer(arguments[0], order, parent)) + "\n")
        answers.flush()


def _answer(path: str, order: dict[str, Any], parent: int) -> dict[str, Any]:
    from weft.sweep.faults import StoppedError
    from weft.sweep.warm import answer, warmed

    def watch(_: object) -> None:
        if os.getppid() != parent:
            raise StoppedError

    if "warm" in order:
        return {"warm": order["warm"], **warmed(path, order["warm"])}
    try:
        return {
            **answer(path, order["sample"], bool(order["retry"]), watch),
            "sample": order["sample"],
        }
    except StoppedError:
        sys.exit(1)


if __name__ == "__main__":
    main(sys.argv[1:])
