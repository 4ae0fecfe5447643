"""Docstrings of weft are plain text in Google's style: what RST takes for markup is escaped."""

import dataclasses
import inspect
import re
from typing import Any

_LITERAL = re.compile(r"(``.+?``|`[^`\n]+`)", re.S)


def escaped(lines: list[str]) -> list[str]:
    """The lines with stars, bars and trailing underscores outside of literals escaped, and
    indented paragraphs after an ordinary line as literal blocks.
    """
    text = "\n".join(_with_blocks(lines))
    parts = _LITERAL.split(text)
    for k in range(0, len(parts), 2):
        part = re.sub(r"([*|])", r"\\\1", parts[k])
        parts[k] = re.sub(r"(\w)_(?=\W|$)", r"\1\\_", part)
    for k in range(1, len(parts), 2):
        if not parts[k].startswith("``"):
            parts[k] = f"`{parts[k]}`"
    return "".join(parts).split("\n")


_SECTION = re.compile(r"^(Args|Returns|Raises|Yields|Attributes|Note|Notes|Example|Examples):$")


def _with_blocks(lines: list[str]) -> list[str]:
    """Indented text that is no section becomes a literal block."""
    out: list[str] = []
    section = block = False
    for line in lines:
        if line and not line[0].isspace():
            section, block = bool(_SECTION.match(line.strip())), False
        elif line.strip() and not section and not block:
            while out and not out[-1].strip():
                out.pop()
            out += ["", "::", ""]
            block = True
        out.append(line)
    return out


_FIELD = re.compile(r"^    (\w+): ")
_COMMENT = re.compile(r"  # (.+)$")


def with_fields(thing: Any, lines: list[str]) -> list[str]:
    """The docstring of a dataclass with what the comments behind its fields say, where it has no
    such list.
    """
    if not dataclasses.is_dataclass(thing) or any(line.strip() == "Args:" for line in lines):
        return lines
    said, name, names = {}, "", {f.name for f in dataclasses.fields(thing)}
    for line in inspect.getsource(thing).splitlines():
        field, comment = _FIELD.match(line), _COMMENT.search(line)
        if line.strip().startswith(("def ", "@property")):
            break
        name = field[1] if field else name
        if comment and name in names and name not in said:
            said[name] = comment[1].rstrip(".")
    rows = [f"    {name}: {text}." for name, text in said.items()]
    return [*lines, "", "Args:", *rows, ""] if rows else lines


def _plain(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    lines[:] = escaped(with_fields(thing, lines) if what == "class" else lines)


def setup(app: Any) -> dict[str, Any]:
    """Called by Sphinx; before napoleon, whose sections are RST."""
    app.connect("autodoc-process-docstring", _plain, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
