"""Reader of YAML as a plain tree of mappings, lists, text and numbers, with line numbers.

Other features of YAML are rejected with name and line: cycles, aliases that multiply, deep nesting,
tags, keys that are not text, numbers that float64 cannot represent, characters that paths and
terminals do not accept. Dates remain text, because no field of weft is a date.
"""

import math
import re
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from weft.base.errors import WeftError, error_text, to_one_line
from weft.base.input_file import YAML_VALUES, read_input
from weft.base.trees import Yaml, YamlMapping

Loc = tuple[str | int, ...]
MOST_DEPTH = 50  # levels of nesting
MOST_DIGITS = 18  # of an integer: every integer with so many digits fits into 64 bits
_TAG = "tag:yaml.org,2002:"
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


@dataclass
class YamlTree:
    """A YAML document.

    Args:
        value: mappings, lists, text, numbers, truth values, None.
        lines: line number of every field and list entry, counted from 1.
    """

    value: Yaml
    lines: dict[Loc, int] = field(default_factory=dict)


class _Loader(yaml.SafeLoader):
    """PyYAML's safe loader with limits on depth and number of values, checked while it composes."""

    depth = count = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> Yaml:
        """Compose a node, unless it is nested too deeply or there are too many nodes."""
        self.depth += 1
        self.count += 1
        problem = ""
        if self.depth > MOST_DEPTH:
            problem = f"more than {MOST_DEPTH} levels deep"
        if self.count > YAML_VALUES:
            problem = f"more than {YAML_VALUES} values"
        if problem:
            mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
            raise yaml.composer.ComposerError(None, None, problem, mark)
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node


def read_yaml(path: Path, what: str, error: type[WeftError], hint: str | None = None) -> YamlTree:
    """Read the document in a file.

    Args:
        path: the file.
        what: name of the file in messages.
        error: class of the errors.
        hint: the next step if the file cannot be read.

    Raises:
        error: the file cannot be read, or is not plain YAML; the message has the line.
    """
    try:
        text = read_input(path).decode("utf-8-sig")
    except (OSError, ValueError) as problem:  # ValueError: a NUL in the name, or not UTF-8
        reason = error_text(problem)
        raise error(
            what, got=reason, where=path, expected="a readable YAML file", hint=hint
        ) from problem
    return parse_yaml(text, path.name, error)


def kind_of(value: object) -> str:
    """Return the type of a document's value for a message; ``nothing`` for an empty file."""
    return "nothing" if value is None else type(value).__name__


def parse_yaml(text: str, source: str, error: type[WeftError]) -> YamlTree:
    """Read the document in a text; arguments as in ``read_yaml``.

    Raises:
        error: the text is not plain YAML; the message has the line.
    """
    loader = None
    try:
        loader = _Loader(text)
        node = loader.get_single_node()
        reader = _Reader(loader, source, error)
        return YamlTree(None if node is None else reader.value(node, (), 1), reader.lines)
    except yaml.YAMLError as problem:
        mark = getattr(problem, "problem_mark", None)
        where = f"{source}:{mark.line + 1}" if mark else source
        got = getattr(problem, "problem", None) or str(problem)
        hint = 'inside [] and {}, variables need quotes: "${name}"' if "${" in text else None
        raise error("YAML", got=got, where=where, expected="valid YAML", hint=hint) from problem
    except (RecursionError, MemoryError, ValueError, IndexError, OverflowError) as problem:
        got = f"{type(problem).__name__}: {problem}"
        raise error("YAML", got=got, where=source, expected="valid YAML") from problem
    finally:
        if loader is not None:
            loader.dispose()


class _Reader:
    """The converter of YAML nodes into values."""

    def __init__(self, loader: _Loader, source: str, error: type[WeftError]) -> None:
        self.loader, self.source, self.error = loader, source, error
        self.lines: dict[Loc, int] = {}
        self.open: set[int] = set()  # ids of the nodes around the current one, to detect cycles
        self.count = 0

    def value(self, node: yaml.Node, loc: Loc, depth: int) -> Yaml:
        """Return the value of a node and store its line in ``lines``."""
        self.lines.setdefault(loc, node.start_mark.line + 1)
        self.count += 1
        if self.count > YAML_VALUES or depth > MOST_DEPTH:
            raise self.node_error(
                node, "too many aliases in aliases", f"at most {YAML_VALUES} values"
            )
        if isinstance(node, yaml.ScalarNode):
            return self.scalar(node)
        if id(node) in self.open:
            raise self.node_error(node, "an alias of the block that contains it", "a tree")
        self.open.add(id(node))
        result = (
            self.mapping(node, loc, depth)
            if isinstance(node, yaml.MappingNode)
            else [self.value(v, (*loc, i), depth + 1) for i, v in enumerate(node.value)]
        )
        self.open.discard(id(node))
        kind = "map" if isinstance(node, yaml.MappingNode) else "seq"
        if node.tag != _TAG + kind:
            raise self.node_error(node, f"tag {node.tag}", "no tags")
        return result

    def mapping(self, node: yaml.Node, loc: Loc, depth: int) -> YamlMapping:
        """Return a mapping; its keys must be text and occur once. ``<<`` merges other mappings."""
        result: dict[str, Yaml] = {}
        merged: dict[str, Yaml] = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise self.node_error(key, "a key that is a list or mapping", "a field's name")
            if key.tag == _TAG + "merge":
                others = value.value if isinstance(value, yaml.SequenceNode) else [value]
                for other in others:
                    found = self.value(other, loc, depth + 1)
                    if not isinstance(found, dict):
                        raise self.node_error(value, "<< without a mapping", "mappings")
                    merged = {**found, **merged}
                continue
            name = self.text(key)
            place = (*loc, name)
            if name in result:
                what = ".".join(map(str, place))
                raise self.node_error(
                    key, "this field for the second time", "each field only once", what
                )
            self.lines[place] = key.start_mark.line + 1
            result[name] = self.value(value, place, depth + 1)
        return {**merged, **result}

    def scalar(self, node: yaml.Node) -> Yaml:
        """Return text, a number, a truth value or None."""
        tag = node.tag.removeprefix(_TAG)
        if tag in ("str", "timestamp", "value"):
            return self.text(node)
        if tag not in ("null", "bool", "int", "float"):
            raise self.node_error(node, f"tag {node.tag}", "text or a number")
        if tag == "int" and len(node.value) > MOST_DIGITS + 2:
            raise self.node_error(node, "an integer", f"at most {MOST_DIGITS} digits")
        try:
            value = self.loader.construct_object(node)
        except (ValueError, KeyError, OverflowError, IndexError) as problem:
            raise self.node_error(node, repr(to_one_line(node.value)), f"a {tag}") from problem
        if tag == "float" and math.isinf(value) and "inf" not in node.value.lower():
            raise self.node_error(node, to_one_line(node.value), "a number in the range of float64")
        return value

    def text(self, node: yaml.Node) -> str:
        """Return text, after checking that paths and terminals accept its characters."""
        found = _FORBIDDEN.search(node.value)
        if found is not None:
            raise self.node_error(node, f"the character {ascii(found[0])[1:-1]}", "printable text")
        return str(node.value)

    def node_error(self, node: yaml.Node, got: str, expected: str, what: str = "YAML") -> WeftError:
        """Return an error that names the line of a node."""
        where = f"{self.source}:{node.start_mark.line + 1}"
        return self.error(what, got=got, expected=expected, where=where)
