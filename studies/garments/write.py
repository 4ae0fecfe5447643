"""``python -m studies.garments.write``: draft the garments and write their files."""

import argparse
from pathlib import Path

from studies.garments.body_measures import BodyMeasures
from studies.garments.catalog import GARMENTS
from weft.plugins.garments.mannequin.figure import Mannequin

FOLDER = Path("examples/garments/garmentcode")


def write_garments(folder: Path, body: BodyMeasures) -> list[Path]:
    """Write a file ``NAME_specification.json`` for every garment; return the files."""
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for name, draft in GARMENTS.items():
        files.append(folder / f"{name}_specification.json")
        files[-1].write_text(draft(body).text(), encoding="utf-8")
    return files


def main() -> None:
    """Draft the garments for the default woman."""
    parser = argparse.ArgumentParser(description="Draft the garments for a default figure.")
    parser.add_argument("--out", type=Path, default=FOLDER)
    parser.add_argument("--figure", default="woman")
    options = parser.parse_args()
    write_garments(options.out, BodyMeasures.of(Mannequin.of(options.figure)))


if __name__ == "__main__":
    main()
