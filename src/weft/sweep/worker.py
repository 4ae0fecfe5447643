"""``python -m weft.sweep.worker SWEEP THREADS``: a worker process that runs samples one after
another.

Orders are lines of JSON on standard input, answers are lines on the original standard output:

    {"warm": ID}                    -> {"warm": ID}
    {"sample": ID, "retry": false}  -> {"sample": ID, "status": {...}}, or "busy", "full" or "error"

The worker ends when its input ends. It also stops, with the sample's folder intact, when its parent
process has ended.
"""

import json
import os
import sys

from weft.base.trees import Json


def main(arguments: list[str]) -> None:
    """Answer orders until the input ends."""
    from weft.sweep.warm import quiet_libraries

    quiet_libraries(int(arguments[1]))
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # printed text goes to stderr and not between the answers
    parent = os.getppid()
    for line in sys.stdin:
        order = json.loads(line)
        answers.write(json.dumps(_answer(arguments[0], order, parent)) + "\n")
        answers.flush()


def _answer(path: str, order: Json, parent: int) -> Json:
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
