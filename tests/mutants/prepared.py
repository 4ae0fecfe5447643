"""A process that has loaded the libraries, and runs tests in copies of itself.

It reads a list of pytest's arguments from each line of its standard input, and answers with a line:
pytest's exit status (negative: the signal that ended it) and the first test that failed.
"""

import json
import os
import re
import resource
import sys
import tempfile

import hypothesis
import numpy
import pydantic
import pytest
import scipy.sparse.linalg
import scipy.spatial
import warp
import yaml

LOADED = (hypothesis, numpy, pydantic, scipy, warp, yaml)


def run(arguments: list[str], limit: int) -> tuple[int, str]:
    """The exit status of pytest in a copy of this process, and the first test that fails.

    ``limit``: processor time [s] after which it is killed.
    """
    with tempfile.TemporaryFile() as output:
        pid = os.fork()
        if pid == 0:
            resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
            os.dup2(output.fileno(), 1)
            os.dup2(output.fileno(), 2)
            status = pytest.main(arguments)
            sys.stdout.flush()
            os._exit(int(status))
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        output.seek(0)
        failed = re.search(r"^(?:FAILED|ERROR) (\S+)", output.read().decode(errors="replace"), re.M)
    return status, failed[1] if failed else ""


if __name__ == "__main__":
    limit = int(sys.argv[1])
    answers = os.fdopen(os.dup(1), "w")
    for line in sys.stdin:
        answers.write(json.dumps(run(json.loads(line), limit)) + "\n")
        answers.flush()
