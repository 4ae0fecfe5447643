"""`make check` and `make test`: what they name exists, and contact comes last."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_what_make_check_runs_exists():
    text = (ROOT / "Makefile").read_text().replace("\\\n", " ")
    quick = re.search(r"^QUICK := (.*)$", text, re.M)[1].split()
    assert len(quick) > 10 and all((ROOT / path).exists() for path in quick)
    assert not any("contact" in path for path in quick)


def test_contact_comes_last():
    command = [
        sys.executable,
        "-m",
        "pytest",
        "--collect-only",
        "-q",
        "-p",
        "no:cacheprovider",
        "tests/contact/test_sides.py",
        "tests/test_docs.py",
    ]
    out = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=True).stdout
    files = [line.split("::")[0] for line in out.splitlines() if "::" in line]
    assert files[0] == "tests/test_docs.py" and files[-1] == "tests/contact/test_sides.py"
    assert files == sorted(files, key=lambda f: "contact" in f)
