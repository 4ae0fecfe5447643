"""What the documents name exists: tests, files, links, studies."""

import re
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.quick

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "docs" / "_ext"))
from page_examples import example_of  # noqa: E402

DOCS = [*sorted((ROOT / "docs").rglob("*.md")), ROOT / "README.md"]
READ = {".py", ".yaml", ".json", ".md", ".html", ".js"}
TESTS = "\n".join(p.read_text() for p in (ROOT / "tests").rglob("test_*.py"))


@pytest.mark.parametrize("path", DOCS, ids=lambda p: str(p.relative_to(ROOT)))
def test_named_tests_and_links_exist(path):
    text = path.read_text()
    for name in re.findall(r"::(test_\w+)", text):
        assert f"def {name}(" in TESTS, f"{path.name} names {name}"
    for link in re.findall(r"\]\(([^)#:]+)\)", text):
        assert (path.parent / link).exists(), f"{path.name} links to {link}"


GUIDES = sorted(p for p in (ROOT / "docs/guides").glob("*.md") if p.stem != "index")


@pytest.mark.parametrize("page", GUIDES, ids=lambda p: p.stem)
def test_the_example_of_a_guide_is_a_file_of_examples(page):
    """Comments at the head of the file apart."""
    example = example_of(page)
    if "<!-- example" not in page.read_text():
        pytest.skip("no example yet")
    assert example is not None, "a comment without a block or a picture"
    assert example.picture.exists()
    if example.name != "commands":
        text = (ROOT / "examples" / example.name).read_text()
        assert example.code.strip() == re.sub(r"\A(#.*\n|\n)*", "", text).strip()


def test_every_page_that_the_source_names_exists():
    """In docstrings, messages, examples and tests."""
    folders = ("src", "tests", "examples", "studies", "benchmarks", "blender")
    files = [p for f in folders for p in (ROOT / f).rglob("*") if p.suffix in READ]
    assert len(files) > 1000
    named = {(p, n) for p in files for n in re.findall(r"\bdocs/[\w/-]+\.md", p.read_text())}
    assert [f"{p}: {n}" for p, n in named if not (ROOT / n).exists()] == []


def test_every_study_and_experiment_is_documented():
    from studies.runner import names

    gallery = "".join(p.read_text() for p in (ROOT / "docs" / "gallery").glob("*.md"))
    for name in names():
        assert f"{name}.png" in gallery
        assert (ROOT / "docs" / "gallery" / f"{name}.csv").exists()
