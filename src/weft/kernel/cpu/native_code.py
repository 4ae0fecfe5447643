"""Native functions: C++ in ``native/*.h`` that Python refers to by the name of the function.

``@wp.func_native(native("gather.h", "add_full"))`` on a typed stub hands the body of that C++
function to Warp, which compiles it into the module of each kernel that calls it. (Warp looks for
the word ``func_native`` in the source of the stub, so that this cannot be a decorator of our own.)
A header is plain C++:

- Inline functions are helpers. The helpers that a body calls are put before it as lambdas, because
  Warp accepts only the body of a function. A helper is therefore not a template, but its parameters
  may be ``auto``.
- The text before the first function (constants, types) is put before the helpers.
- Parameters of a template are given in Python: ``native("separating_axis.h", "apart_along_line",
  K=2, M=2)``.
- ``constants`` reads the integer constants of a header, for those that Python needs as well.
- ``Scalar`` is the type of that name in ``kernel.types``.

The text without comments becomes part of the hash of Warp's modules, so that a kernel is compiled
again when a native function that it calls has changed.
"""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from weft.kernel.types import Scalar

FOLDER = Path(__file__).parent / "native"

_COMMENT = re.compile(r"^ *//.*\n| +//.*$", re.MULTILINE)
_DIRECTIVE = re.compile(r"^#(?:pragma once|include).*\n", re.MULTILINE)
_FUNCTION = re.compile(
    r"^(?:template <(?P<template>.*)>\n)?(?P<inline>inline )?(?P<result>\w[\w:<>, ]*[\w>]\*?) "
    r"(?P<name>\w+)\((?P<parameters>[^{;]*)\) \{\n(?P<body>(?:.*\n)*?)\}\n",
    re.MULTILINE,
)
_CONSTANT = re.compile(r"^constexpr int (\w+) = (\d+);", re.MULTILINE)


@dataclass(frozen=True)
class NativeFunction:
    """A function of a header."""

    name: str
    template: tuple[str, ...]  # "int K", "typename Real"
    is_helper: bool
    result: str
    parameters: str
    body: str

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the parameters."""
        one = re.sub(r"<[^>]*>", "", self.parameters)
        return tuple(p.split()[-1].lstrip("*&") for p in one.split(",") if p.strip())

    @property
    def as_lambda(self) -> str:
        """Return the C++ text that defines the function as a local lambda."""
        result = "" if self.result == "auto" else f" -> {self.result}"
        return f"auto {self.name} = [=]({self.parameters}){result} {{\n{self.body}}};\n"


@dataclass(frozen=True)
class NativeHeader:
    """A header without comments."""

    preamble: str  # text before the first function
    functions: dict[str, NativeFunction]

    def helpers(self, text: str) -> list[NativeFunction]:
        """Return the helpers that a text calls, directly or through other helpers, in the order of
        the header.
        """
        called: set[str] = set()
        for helper in reversed([f for f in self.functions.values() if f.is_helper]):
            if re.search(rf"\b{helper.name}\(", text):
                called.add(helper.name)
                text += helper.body
        return [f for f in self.functions.values() if f.name in called]


@cache
def header(name: str) -> NativeHeader:
    """Read a header of the folder ``native``."""
    text = _DIRECTIVE.sub("", _COMMENT.sub("", (FOLDER / name).read_text(encoding="utf-8")))
    found = list(_FUNCTION.finditer(text))
    preamble = text[: found[0].start()] if found else text
    functions = {
        m["name"]: NativeFunction(
            m["name"],
            tuple(p.strip() for p in (m["template"] or "").split(",") if p.strip()),
            m["inline"] is not None,
            m["result"],
            m["parameters"],
            m["body"],
        )
        for m in found
    }
    return NativeHeader(re.sub(r"\n{2,}", "\n", preamble).strip("\n"), functions)


def constants(name: str) -> dict[str, int]:
    """Return the ``constexpr int`` constants of a header."""
    return {key: int(value) for key, value in _CONSTANT.findall(header(name).preamble)}


def native(name: str, function: str, **template: int | str) -> str:
    """Return the C++ text that Warp compiles as the body of a function.

    Args:
        name: header in the folder ``native``.
        function: name of the function there.
        **template: values of the template's parameters, a number or the name of a type.

    Raises:
        KeyError: the header has no such function.
        TypeError: the parameters of its template are others.
    """
    file = header(name)
    one = file.functions[function]
    if {p.split()[-1] for p in one.template} != template.keys():
        raise TypeError(f"{name}, {function}: template <{', '.join(one.template)}>, got {template}")
    parts = [f"\nusing Scalar = wp::{Scalar.__name__};\n"]
    for parameter in one.template:
        kind, key = parameter.rsplit(maxsplit=1)
        word, kind = ("using", "") if kind == "typename" else ("constexpr", f"{kind} ")
        parts.append(f"{word} {kind}{key} = {template[key]};\n")
    parts += [file.preamble, "\n", *(h.as_lambda for h in file.helpers(one.body)), one.body]
    return "".join(parts)
