"""Programs of benchmarks that run in a process of their own."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def run_program(
    program: str, *arguments: str, env: dict[str, str] | None = None, check: bool = True
) -> subprocess.CompletedProcess[str]:
    """Run Python code where the package ``benchmarks`` is found.

    Args:
        program: the code.
        *arguments: its ``sys.argv[1:]``.
        env: environment of the process; None: this one's.
        check: raise where the exit status is not zero.

    Returns:
        The process that has ended, with its output.

    Raises:
        subprocess.CalledProcessError: an exit status other than zero, with ``check``.
    """
    return subprocess.run(
        [sys.executable, "-c", program, *arguments],
        cwd=ROOT,
        env=env,
        capture_output=True,
        text=True,
        check=check,
    )
