"""What the documents name exists: tests, files, links, studies."""

import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.quick

ROOT = Path(__file__).parents[1]
DOCS = [*sorted((ROOT / "docs").rglob("*.md")), ROOT / "README.md"]
TESTS = "\n".join(p.read_text() for p in (ROOT / "tests").rglob("test_*.py"))


@pytest.mark.parametrize("path", DOCS, ids=lambda p: str(p.relative_to(ROOT)))
def test_named_tests_and_links_exist(path):
    text = path.read_text()
    for name in re.findall(r"::(test_\w+)", text):
        assert f"def {name}(" in TESTS, f"{path.name} names {name}"
    for link in re.findall(r"\]\(([^)#:]+)\)", text):
        assert (path.parent / link).exists(), f"{path.name} links to {link}"


def test_every_study_and_experiment_is_documented():
    from studies.runner import names

    gallery = "".join(p.read_text() for p in (ROOT / "docs" / "gallery").glob("*.md"))
    for name in names():
        assert f"{name}.png" in gallery
        assert (ROOT / "docs" / "gallery" / f"{name}.csv").exists()
