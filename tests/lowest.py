"""The lowest version of every dependency, as pip takes them: ``make lowest`` installs these."""

import re
import sys
import tomllib
from pathlib import Path

project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
for line in project["dependencies"]:
    name, version = re.match(r"([\w-]+)>=([\d.]+)", line).groups()
    sys.stdout.write(f"{name}=={version}\n")
