"""Keyframes in a scene file: ``{keys: [[0 s, 1 Pa], [1 s, 5 Pa]], between: linear}`` as a number.

The schema knows only numbers. A file is therefore validated with each keyframe's first number in
its place, and then with every other one of them: each number has the unit and the bounds of its
field.
"""

import copy
from collections.abc import Callable, Iterator, Mapping

from pydantic import BaseModel

from weft.base.errors import SceneError, WeftError
from weft.base.keyframes import Keys
from weft.base.trees import Yaml, YamlMapping
from weft.base.yaml_lines import Loc
from weft.scene.keyframed_numbers import constant_number_error
from weft.scene.schema import keyframes_at

Said = Mapping[Loc, YamlMapping]


def without_keyframes(tree: Yaml) -> tuple[Yaml, Said]:
    """Return the tree with first numbers in the place of keyframes, and the keyframes by path.

    Keyframes without any number stay where they are; values that are no tree are returned as they
    are.
    """
    plain = copy.deepcopy(dict(tree) if isinstance(tree, Mapping) else tree)
    said = dict(_find_keyframes(tree, ()))
    for loc, value in said.items():
        first = _first(value)
        if first is not None:
            set_value(plain, loc, first)
    return plain, said


def malformed_keyframes(said: Said) -> Iterator[tuple[Loc, WeftError]]:
    """Yield the path and the error of every malformed keyframe."""
    for loc, value in said.items():
        try:
            Keys.read(value, ".".join(map(str, loc)))
        except WeftError as error:
            yield loc, error


def set_value(tree: Yaml, loc: Loc, value: object) -> None:
    """Set a value by its path, in place."""
    for name in loc[:-1]:
        tree = tree[name]
    tree[loc[-1]] = value


def read_keyframes(
    said: Said,
    plain: YamlMapping,
    typed: Callable[[YamlMapping, Loc], BaseModel],
    problem: Callable[[WeftError, Loc], None],
) -> dict[str, Keys]:
    """Return keyframes by the path of their number in the scene.

    Args:
        said: as the file gives them, by their path.
        plain: the tree with first numbers.
        typed: validates a tree; it raises if the number at the given path is invalid.
        problem: called with each error and its path.
    """
    made: dict[str, Keys] = {}
    for loc, value in said.items():
        what = ".".join(map(str, loc))
        try:
            timed, between = Keys.read(value, what)
            changes, reason = keyframes_at(loc)
            if not changes:
                raise constant_number_error(what, reason)
            numbers: list[tuple[float, float]] = []
            path = what
            for k, (t, v) in enumerate(timed):
                if v is None or isinstance(v, dict | list):
                    raise SceneError(
                        f"{what}.keys.{k}",
                        got="nothing" if v is None else repr(v),
                        expected="a number at the time, like [1 s, 5]",
                    )
                tree = copy.deepcopy(dict(plain))
                set_value(tree, loc, v)
                file = typed(tree, (*loc, "keys", k, 1))
                path, number = _read(file, loc)
                numbers.append((t, number))
            made[path] = Keys.of(numbers, between, what, SceneError)
        except WeftError as error:
            problem(error, loc)
    return made


def _find_keyframes(tree: Yaml, loc: Loc) -> Iterator[tuple[Loc, YamlMapping]]:
    """Yield the keyframes of a tree."""
    if (loc[:1], loc[2:]) == (("bodies",), ("joints",)):
        return  # targets of an arm, which are no numbers of the scene
    if Keys.is_keyframes(tree):
        yield loc, tree
    elif isinstance(tree, Mapping):
        for name, part in tree.items():
            yield from _find_keyframes(part, (*loc, name))
    elif isinstance(tree, list):
        for k, part in enumerate(tree):
            yield from _find_keyframes(part, (*loc, k))


def _first(value: YamlMapping) -> Yaml:
    """Return the number of the first key; None if keys are not written as pairs."""
    keys = value["keys"]
    first = keys[0] if isinstance(keys, list) and keys else None
    return first[1] if isinstance(first, list) and len(first) > 1 else None


def _read(file: BaseModel, loc: Loc) -> tuple[str, float]:
    """Return the path and the number in SI units that a typed scene has at a path of the file."""
    names = list(loc)
    if names[0] == "pressure" and isinstance(getattr(file, "pressure", None), float):
        names = names[:1]  # a constant pressure is one number in the scene, not a Gas
    thing: Yaml = file
    for name in names:
        thing = thing[name] if isinstance(name, int) else getattr(thing, name)
    number: Yaml = getattr(thing, "static", thing)
    return ".".join(map(str, names)), float(number)
