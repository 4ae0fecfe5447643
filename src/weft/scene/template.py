"""Scene files as templates: other files that they include, and variables in their values."""

import os
import re
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from weft.base.errors import did_you_mean
from weft.base.input_file import is_file
from weft.base.schema.document import YamlDocument, read_document
from weft.base.trees import Json, Yaml, YamlMapping
from weft.base.yaml_lines import Loc, kind_of

MOST_FILES = 100  # that one scene may include
MOST_USES, MOST_DEPTH = 100_000, 20  # of variables, and of variables in variables
INCLUDE, VARIABLES = "include", "variables"
_VARIABLE = re.compile(r"\$\{\s*([^{}]*?)\s*\}")
D = TypeVar("D", bound=YamlDocument)


def include_files(document: D) -> D:
    """Return a document joined with the files that it includes, and those that they include.

    A later file replaces the fields of earlier ones, and the document those of all: blocks are
    merged field by field, other values and lists are replaced as a whole.

    Raises:
        WeftError: of the document's class; a file that is not there, or that includes itself, too
            many files, or a variable that none of them uses.
    """
    used: set[str] = set()
    read: list[Path] = []

    def join(part: D, around: tuple[Path, ...]) -> D:
        used.update(_VARIABLE.findall(str(part.tree)))
        own = replace(part, tree={k: v for k, v in part.tree.items() if k != INCLUDE})
        listed = part.tree.get(INCLUDE) or []
        chain, joined = (*around, part.path.resolve()), None
        for k, name in enumerate(listed if isinstance(listed, list) else [listed]):
            loc: Loc = (INCLUDE, k) if isinstance(listed, list) else (INCLUDE,)
            path, expected = part.path.parent / str(name), ""
            read.append(path)
            if not is_file(path):
                expected = "a scene file, relative to this one"
            elif path.resolve() in chain:
                expected = "a file that does not include this one"
            elif len(read) > MOST_FILES:
                expected = f"at most {MOST_FILES} files in all"
            if expected:
                raise part.field_error(loc, repr(name), expected)
            other = read_document(type(part), path, f"{part.where(loc)} includes it", "`cloth:`")
            shown = os.path.relpath(path, document.path.parent)
            other = join(replace(other, files=dict.fromkeys(other.lines, shown)), chain)
            joined = other if joined is None else _merge(joined, other)
        return own if joined is None else _merge(joined, own)

    made = join(replace(document, files=dict.fromkeys(document.lines, document.path.name)), ())
    for name in variables_of(made).keys() - used:
        expected = f"${{{name}}} in a value"
        raise made.field_error((VARIABLES, name), "a variable that no value uses", expected)
    return made


def variables_of(document: YamlDocument) -> YamlMapping:
    """Return the variables of a document, by name."""
    values = document.tree.get(VARIABLES)
    if values is not None and not isinstance(values, dict):
        raise document.field_error((VARIABLES,), kind_of(values), "a block of names and values")
    return values or {}


def _merge(under: D, over: D) -> D:
    """Return two documents as one, in which fields of ``over`` replace those of ``under``."""
    replaced: set[Loc] = set()

    def merge(below: YamlMapping, above: YamlMapping, loc: Loc) -> Json:
        made = dict(below)
        for name, value in above.items():
            place = (*loc, name)
            old: Yaml = made.get(name)
            both = isinstance(old, dict) and isinstance(value, dict)
            # another integrator has other settings
            if both and (name != "integrator" or old.keys() == value.keys()):
                made[name] = merge(old, value, place)
            else:
                replaced.add(place)
                made[name] = value
        return made

    tree = merge(under.tree, over.tree, ())
    keys = [p for p in under.lines if not any(p[:k] in replaced for k in range(1, len(p) + 1))]
    lines = {**{p: under.lines[p] for p in keys}, **over.lines}
    files = {**{p: under.files[p] for p in keys}, **over.files}
    return replace(over, tree=tree, lines=lines, files=files)


def fill_variables(document: D) -> D:
    """Return a document with the values of its variables in place of ``${name}``.

    A value that is one variable becomes its value; in other text it is written out. Names of files
    that other files write, relative to themselves, become relative to the document.

    Raises:
        WeftError: of the document's class; a variable that is not known, has no value or contains
            itself, or a block or list in a text.
    """
    variables, folder = variables_of(document), document.path.parent
    uses = 0

    def look_up(name: str, loc: Loc, around: tuple[str, ...]) -> Yaml:
        nonlocal uses
        uses += 1
        if uses > MOST_USES or len(around) > MOST_DEPTH:
            got, expected = (
                "too many variables in variables",
                f"at most {MOST_USES} uses, {MOST_DEPTH} deep",
            )
            raise document.field_error(loc, got, expected)
        if name not in variables or name in around:
            got = f"${{{name}}}" + " in its own value" * (name in around)
            known = [n for n in variables if n not in around]
            expected = "a variable that the block `variables` of the file defines"
            if name in around:
                expected = "a value without this variable"
            if known:
                expected = f"one of {', '.join(known)}"
            raise document.field_error(loc, got, expected, did_you_mean(name, known))
        if variables[name] is None:
            hint = (
                "give it in a file that includes this one, or with `weft run --set "
                f"{VARIABLES}.{name}=...`"
            )
            raise document.field_error((VARIABLES, name), None, "a value", hint)
        return fill(variables[name], (VARIABLES, name), (*around, name))

    def fill(value: Yaml, loc: Loc, around: tuple[str, ...] = ()) -> Yaml:
        if isinstance(value, dict):
            return {k: fill(v, (*loc, k), around) for k, v in value.items()}
        if isinstance(value, list):
            return [fill(v, (*loc, k), around) for k, v in enumerate(value)]
        if not isinstance(value, str):
            return value
        parts: list[Yaml] = list(_VARIABLE.split(value))  # every second one is a variable's name
        parts[1::2] = [look_up(name, loc, around) for name in parts[1::2]]
        if len(parts) == 3 and parts[0] == parts[2] == "" and not isinstance(parts[1], str):
            return parts[1]
        if any(isinstance(part, dict | list) for part in parts):
            raise document.field_error(loc, value, "a variable in text that is not a block or list")
        made = "".join(map(str, parts))
        if parts[0] == "" and len(parts) > 1 and names_path(folder, str(parts[1])):
            return made
        while loc and loc not in document.files:
            loc = loc[:-1]
        home = (folder / document.files.get(loc, "-")).parent
        moved = home != folder and names_path(home, made)
        return os.path.relpath(home / made, folder) if moved else made

    tree = {k: fill(v, (k,)) for k, v in document.tree.items() if k != VARIABLES}
    return replace(document, tree=tree)


def names_path(folder: Path, text: str) -> bool:
    """Return whether a text names a file in a folder or, with a slash or a dot, a folder in it."""
    path = folder / text
    with suppress(OSError, ValueError):  # impossible names
        return path.is_file() or (("/" in text or "." in text) and path.is_dir())
    return False
