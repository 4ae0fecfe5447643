"""Whether ``pip install weft`` needs no compiler: wheels of all dependencies, for every Python and
platform that weft supports. ``make wheels`` runs this; pip only looks at the files' metadata.
"""

import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

PYTHONS = ("3.11", "3.12", "3.13", "3.14")
PLATFORMS = {
    "Linux x86-64": [f"manylinux_2_{k}_x86_64" for k in (17, 24, 27, 28, 34)]
    + ["manylinux2014_x86_64"],
    "Linux aarch64": [f"manylinux_2_{k}_aarch64" for k in (17, 24, 27, 28, 34)]
    + ["manylinux2014_aarch64"],
    "macOS arm64": [f"macosx_{k}_0_arm64" for k in (11, 12, 13, 14, 15)]
    + [f"macosx_{k}_0_universal2" for k in (11, 12, 13, 14)]
    + ["macosx_10_13_universal2", "macosx_10_9_universal2"],
    "Windows": ["win_amd64"],
}


def missing(needed, python, platforms):
    """What pip says where it does not find wheels; the empty text where it does."""
    words = [sys.executable, "-m", "pip", "install", "--dry-run", "--quiet", "--ignore-installed"]
    words += ["--only-binary=:all:", "--python-version", python, "--implementation", "cp"]
    for platform in platforms:
        words += ["--platform", platform]
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [*words, "--target", folder, *needed], capture_output=True, text=True, check=False
        )
    return "" if done.returncode == 0 else done.stderr.strip().splitlines()[-1]


if __name__ == "__main__":
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
    wrong = 0
    for python in PYTHONS:
        for name, platforms in PLATFORMS.items():
            text = missing(project["dependencies"], python, platforms)
            wrong += bool(text)
            print(f"Python {python}, {name}: {text or 'wheels'}", flush=True)
    sys.exit(wrong > 0)
