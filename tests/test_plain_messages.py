"""Messages, help, pages in the browser and the manual are in plain English."""

import ast
import re
from pathlib import Path

import pytest

from tests import sources
from tests.plain_english import LONGEST, faults, prose, sentences, words

pytestmark = pytest.mark.quick

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
READ = [p for p in sorted(DOCS.rglob("*.md")) if "decisions" not in p.parts]
SHORT = ("guides", "explanations", "tutorials")  # folders whose sentences are short


def name_of(page):
    return page.relative_to(DOCS).as_posix()


def docstrings(module):
    """The docstrings of a module by the class or function, None for the module itself."""
    found = {}
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in module.all_of(*kinds):
        match node.body:
            case [ast.Expr(ast.Constant(str())), *_]:
                found[id(node.body[0].value)] = node
    return found


def is_command(node):
    """Whether the docstring of a node is the help of a command: a public function."""
    return isinstance(node, ast.FunctionDef) and not node.name.startswith("_")


def texts_of(module):
    """Line and text of every string that a user may see: all but docstrings; numbers of f-strings
    become an ellipsis. Docstrings are help in the modules of the command line.
    """
    documented = docstrings(module)
    parts = {id(p) for f in module.all_of(ast.JoinedStr) for p in ast.walk(f) if p is not f}
    for node in module.all_of(ast.Constant, ast.JoinedStr):
        if isinstance(node, ast.JoinedStr):
            if id(node) not in parts:
                pieces = [v.value if isinstance(v, ast.Constant) else "…" for v in node.values]
                yield node.lineno, "".join(pieces)
        elif isinstance(node.value, str) and id(node) not in parts:
            owner = documented.get(id(node))
            if owner is None or (".cli." in module.name and is_command(owner)):
                yield node.lineno, " ".join(node.value.split())


def joined(source):
    """The strings of a source as one, without docstrings: a quick look needs no syntax tree."""
    short = re.sub(r'"""[\s\S]*?"""', "", source)
    return "".join(s[1:-1] for s in re.findall(r"\"(?:[^\"\\\n]|\\.)*\"|'[^'\n]*'", short))


def test_messages_and_help():
    modules = sources.modules()
    suspects = [m for m in modules if ".cli." in m.name or faults(joined(m.text))]
    texts = [(m.place, line, text) for m in suspects for line, text in texts_of(m)]
    assert [(*where, fault) for *where, text in texts for fault in faults(text)] == []


def test_strings_that_users_see(tmp_path):
    """Messages of two lines, f-strings and the help of commands; no docstrings of others."""
    path = tmp_path / "a.py"
    path.write_text(
        '"""A module."""\n'
        "def a():\n"
        '    """A function."""\n'
        "    raise ValueError(\n"
        '        f"one {a} such "\n'
        '        "that two"\n'
        "    )\n"
    )

    class Module(sources.Module):
        name = "weft.a"

    class Commands(sources.Module):
        name = "weft.cli.a"

    assert [text for _, text in texts_of(Module(path))] == ["one … such that two"]
    assert "A function." in [text for _, text in texts_of(Commands(path))]
    assert faults(joined(path.read_text()))


def shown_texts(path):
    """Texts of a file that is not Python: fields of YAML, strings of JavaScript, text of HTML."""
    text = path.read_text()
    match path.suffix:
        case ".js":
            return re.findall(r"\"(?:[^\"\\\n]|\\.)*\"|`[^`]*`", re.sub(r"(?m)//.*$", "", text))
        case ".html":
            text = re.sub(r"(?s)<(style|script)\b.*?</\1>", "", text)
            return [*re.findall(r"title=\"([^\"]*)\"", text), *re.findall(r">([^<>]+)<", text)]
        case _:
            return re.sub(r"(?m)^\s*#.*$", "", text).splitlines()


def test_pages_and_tables():
    paths = [p for p in sources.SOURCE.rglob("*") if p.suffix in (".js", ".html", ".yaml")]
    assert len(paths) > 30
    found = [(p.name, f, t) for p in sorted(paths) for t in shown_texts(p) for f in faults(t)]
    assert found == []


def test_the_manual_has_no_banned_constructions():
    assert [
        (name_of(page), fault) for page in READ for fault in faults(prose(page.read_text()))
    ] == []


def test_sentences_of_the_manual_are_short():
    pages = [page for page in READ if page.relative_to(DOCS).parts[0] in SHORT]
    every = [(name_of(page), s) for page in pages for s in sentences(page.read_text())]
    assert len(every) > 1000
    assert [(name, words(s), s) for name, s in every if words(s) > LONGEST] == []


@pytest.mark.parametrize(
    "text, count",
    [
        ("A seam is asked about, and resolves by itself.", 2),
        ("weft computes the frame anew", 1),
        ("the file is no mesh", 1),
        ("there is no mesh, and the run is no longer there", 0),
        ("least distance 2 mm", 1),
        ("worst    seam 2 mm", 1),
        ("the smallest distance, so that nothing touches", 0),
    ],
)
def test_the_list_finds_constructions(text, count):
    assert len(faults(text)) == count


def test_sentences_are_those_of_a_page():
    page = "# A title\n\nOne sentence\nends here. Another\none (Li et al. 2020).\n\n"
    page += "```\nno sentence. At all\n```\n- an entry\n| a | `b c` |\n"
    assert sentences(page) == [
        "One sentence ends here.",
        "Another one (Li et al 2020).",
        "- an entry",
        " a ",
        " code ",
    ]
    assert [words(s) for s in sentences(page)][:3] == [4, 6, 2]
