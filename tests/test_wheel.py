"""What is released: wheel and sdist build offline and hold all that a user needs. ``make package``
runs tests/installed.py, where there is no repository.
"""

import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

pytest.importorskip("hatchling", reason="no hatchling: pip install 'weft[dev]'")

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
pytestmark = pytest.mark.slow  # two builds and some processes: 15 s on a free machine


def build(kind, source, out):
    """The archive that hatchling makes of a source tree; no network, no environment of its own."""
    code = f"import hatchling.build as b; b.build_{kind}({str(out)!r})"
    subprocess.run([sys.executable, "-c", code], cwd=source, check=True, capture_output=True)
    (made,) = out.iterdir()
    return made


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """A wheel made of the sdist, so that both are complete."""
    sdist = build("sdist", ROOT, tmp_path_factory.mktemp("sdist"))
    folder = tmp_path_factory.mktemp("source")
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    (tree,) = folder.iterdir()
    for name in (
        "LICENSE",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "CITATION.cff",
        "docs/conf.py",
        "docs/_ext/generated_pages.py",
        "tests/test_wheel.py",
        "studies/__main__.py",
        "benchmarks/__main__.py",
        "Makefile",
    ):
        assert (tree / name).exists(), f"no {name} in the sdist"
    return build("wheel", tree, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """The wheel, unpacked as pip does."""
    site = tmp_path_factory.mktemp("site")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    return site


def files(folder, *suffixes):
    return {
        p.relative_to(folder).as_posix()
        for p in folder.rglob("*")
        if p.is_file() and (not suffixes or p.suffix in suffixes)
    }


def test_every_file_of_the_package_is_in_the_wheel(installed):
    source = {n for n in files(ROOT / "src" / "weft") if "__pycache__" not in n}
    assert source <= files(installed / "weft")
    for name in ("py.typed", "fabrics/silk.yaml", "scenes/demo.yaml", "show/viewer/page.html"):
        assert name in source
    assert not (installed / "studies").exists() and not (installed / "benchmarks").exists()
    examples = files(ROOT / "examples", ".yaml", ".py")
    assert len(examples) > 20 and examples <= files(installed / "weft" / "examples")


def test_license_and_extras(installed):
    (about,) = installed.glob("*.dist-info")
    assert (about / "licenses" / "LICENSE").read_text() == (ROOT / "LICENSE").read_text()
    text = (about / "METADATA").read_text()
    for extra in PROJECT["optional-dependencies"]:
        assert f"Provides-Extra: {extra}\n" in text
    assert "License-Expression: Apache-2.0" in text
    assert "weft = weft.cli.main:main" in (about / "entry_points.txt").read_text()


def test_doctor_names_the_parts_of_every_extra():
    """Each extra that a user may install is a row of `weft doctor`."""
    from weft.cli.machine import OPTIONAL

    said = " ".join(OPTIONAL.values())
    for extra in set(PROJECT["optional-dependencies"]) - {"all", "dev"}:
        assert f"weft[{extra}]" in said, extra
