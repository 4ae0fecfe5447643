"""The manual: builds without a warning, links lead somewhere, and it has all that it promises."""

import html
import json
import re
import sys
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import weft

sphinx = pytest.importorskip("sphinx", reason="no Sphinx: pip install 'weft[docs]'")
pytest.importorskip("pydata_sphinx_theme")
pytest.importorskip("myst_parser")

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
_LOADED = re.compile(r'<(?:script|link|img)[^>]+(?:src|href)="(https?://[^"]+)"')
sys.path.insert(0, str(DOCS / "_ext"))
BUILT = ROOT / "build" / "docs"


@pytest.fixture(scope="module")
def manual():
    """The pages that `make docs` built, for which any warning is an error; CI builds them before
    the tests.
    """
    whole = BUILT / ".whole"
    sources = [*DOCS.rglob("*"), *(ROOT / "src").rglob("*.py"), *ROOT.glob("*.md")]
    if not whole.exists() or any(p.stat().st_mtime > whole.stat().st_mtime for p in sources):
        pytest.skip("build/docs is not of these pages: make docs")
    return BUILT


def broken(folder):
    """Links and pictures of built pages whose file, or place in it, does not exist."""
    ids, found = {}, []
    pages = [p for p in sorted(folder.rglob("*.html")) if "_static" not in p.parts]
    for page in pages:
        ids[page] = set(re.findall(r'\bid="([^"]+)"', page.read_text()))
    for page in pages:
        for link in re.findall(r'\b(?:href|src)="([^"]+)"', page.read_text()):
            parts = urlsplit(html.unescape(link))
            if parts.scheme or parts.netloc:
                continue
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            place = unquote(parts.fragment)
            if not target.exists() or (place and target in ids and place not in ids[target]):
                found.append(f"{page.relative_to(folder)}: {link}")
    return found


def test_no_link_is_broken(manual):
    assert broken(manual) == []


def test_a_broken_link_is_seen(tmp_path):
    """Of the check itself: a missing page, a missing place, a missing picture."""
    (tmp_path / "a.html").write_text(
        '<a id="here"></a><a href="b.html"></a><a href="#there"></a><a href="#here"></a>'
        '<img src="c.png"><a href="https://example.org/x"></a>'
    )
    assert broken(tmp_path) == ["a.html: b.html", "a.html: #there", "a.html: c.png"]


def test_every_page_is_in_the_manual(manual):
    for page in DOCS.rglob("*.md"):
        assert (manual / page.relative_to(DOCS)).with_suffix(".html").exists(), page


def test_every_public_name_is_in_the_reference():
    import public_names

    page = (DOCS / "reference" / "python.md").read_text()
    given = re.findall(r"<!-- made: names ([^>]*?) -->", page)
    directives = "\n".join(public_names.markdown(*names.split()) for names in given)
    documented = set(re.findall(r"auto(?:class|function):: ([\w.]+)", directives))
    packages = {"adjoint", "contact", "errors", "extensions", "integrators", "jax", "laws"}
    packages |= {"robotics", "torch"}  # not looked up: what they need may not be installed
    names = {f"weft.{n}" for n in set(weft.__all__) - packages}
    assert names - documented == set()
    for package in (weft.laws, weft.contact, weft.errors):
        for name, thing in ((n, getattr(package, n)) for n in public(package)):
            if not getattr(thing, "__module__", "").startswith("weft"):
                continue  # Warp's types of numbers
            home = package.__name__
            assert {f"{home}.{name}", f"weft.{name}"} & documented, name


def public(package):
    return getattr(package, "__all__", [n for n in vars(package) if n.endswith("Error")])


def test_every_field_of_a_scene_is_in_the_reference():
    """As `weft explain --json-schema` has them, with the meaning of each."""
    from scene_reference import markdown

    from weft.scene.field_units import json_schema

    text = " ".join(markdown().replace("`", "").split())
    schema = json_schema()
    own = [b for name, b in schema["$defs"].items() if "properties" in b and name != "Keyframes"]
    blocks = [schema, *own]
    fields = [pair for block in blocks for pair in block["properties"].items()]
    assert len(fields) > 150
    for name, field in fields:
        meaning = re.sub(r"^\[[^\]]*\] ?", "", field.get("description", ""))
        meaning = " ".join(meaning.replace("`", "").split())
        assert name in text and meaning[:40] in text, (name, meaning)


def test_every_preset_and_command_is_in_the_reference():
    import command_reference
    import fabrics_table
    from typer.main import get_command

    from weft.cli.commands import app
    from weft.fabric.fabric import UNITS, fabric, preset_names

    page = fabrics_table.markdown()
    for name in preset_names():
        assert name in page
        for field in UNITS:
            assert f"{getattr(fabric(name), field):.4g}" in page
    commands = command_reference.markdown()
    names = list(get_command(app).commands)
    assert len(names) > 15
    for name in names:
        assert f"weft {name}" in commands
    for option in ("--resume", "--html", "--quantise", "--repair"):
        assert option in commands


def test_search_works_offline(manual):
    """The index is there, and no page loads anything from the network but what MathJax would."""
    index = (manual / "searchindex.js").read_text()
    assert len(json.loads(index[index.index("{") : index.rindex("}") + 1])["docnames"]) > 40
    for page in manual.rglob("*.html"):
        assert _LOADED.findall(page.read_text()) == [], page
