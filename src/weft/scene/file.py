"""Scene files: YAML with line numbers and overrides, validated with every problem at once."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import ClassVar

import yaml

from weft import extensions
from weft.base.errors import SceneError, SceneProblems, WeftError, check_known, to_one_line
from weft.base.input_file import read_input
from weft.base.keyframes import Keys
from weft.base.schema.document import YamlDocument, dotted_path, parse_document, read_document
from weft.base.trees import Json, Yaml, YamlMapping
from weft.base.yaml_lines import Loc, parse_yaml
from weft.io import read_shot
from weft.io.files import write_file
from weft.scene.auto_size import choose_sizes
from weft.scene.file_keyframes import malformed_keyframes, read_keyframes, without_keyframes
from weft.scene.schema import SceneFile
from weft.scene.template import INCLUDE, VARIABLES, fill_variables, include_files, variables_of


@dataclass(frozen=True)
class Source(YamlDocument):
    """The tree of a scene file, with the line of every field."""

    overridden: frozenset[Loc] = frozenset()
    notes: tuple[str, ...] = ()  # about sizes that were chosen

    what: ClassVar[str] = "scene"
    error: ClassVar[type[WeftError]] = SceneError
    explained_by: ClassVar[str] = "see `weft explain scene.{}`"

    def missing_field(self, name: str) -> WeftError | None:
        """Return the error for a field of a plugin of weft that is not installed."""
        return extensions.missing(name)

    def where(self, loc: Sequence[str | int] = ()) -> str:
        """Return ``scene.yaml:14`` or ``--set pins.0.until`` of the field at a path."""
        place = tuple(loc)
        while place and place not in self.lines and place not in self.overridden:
            place = place[:-1]
        if place in self.overridden:
            return f"--set {dotted_path(place)}"
        return super().where(loc)


def read_source(
    path: str | Path,
    overrides: Sequence[str] = (),
    integrator: str | None = None,
    *,
    text: str | None = None,
) -> Source:
    """Read the tree of a scene file, apply overrides ``path=value`` and replace the integrator.

    Args:
        path: of the file.
        overrides: texts such as ``cloth.sheet.nx=80``.
        integrator: in place of the file's, if that is another one.
        text: the content of a file that is not written yet.

    Raises:
        SceneError: a file that cannot be read or is not YAML, or an override whose path does not
            exist.
    """
    source = fill_variables(read_template(path, overrides, text))
    tree = dict(source.tree)
    if integrator is not None and _integrator_of(tree) != integrator:
        tree["integrator"] = integrator
    rest = [t for t in overrides if not t.lstrip().startswith((INCLUDE, VARIABLES))]
    source = _apply(replace(source, tree=tree), rest)
    tree = dict(source.tree)
    shot, preroll = tree.get("shot"), tree.get("preroll", 0)
    if isinstance(shot, str) and isinstance(preroll, int):
        rate, first, last = read_shot(source.path.parent / shot)
        tree.setdefault("fps", rate)
        tree.setdefault("seconds", (last - first + preroll) / rate)
    notes = tuple(choose_sizes(tree, source.path.parent))
    return replace(source, tree=tree, notes=notes)


def read_template(
    path: str | Path, overrides: Sequence[str] = (), text: str | None = None
) -> Source:
    """Read a scene file and those that it includes, with their variables not yet filled in.

    Args:
        path: of the file.
        overrides: of which those of ``include`` and ``variables`` are applied.
        text: as of ``read_source``.

    Raises:
        SceneError: as ``read_source``.
    """
    hint = "`weft explain scene` lists the fields; examples/ has scenes, `weft demo` needs none"
    if text is None:
        source = read_document(Source, Path(path), hint, "`cloth:`")
    else:
        source = parse_document(Source, text, str(path), "`cloth:`")
    for name in source.tree:  # a file of a plugin that is not installed, such as a pattern
        extensions.check_installed(str(name))
    source = include_files(_apply(source, [t for t in overrides if t.lstrip().startswith(INCLUDE)]))
    known = list(variables_of(source))
    made = _apply(source, [t for t in overrides if t.lstrip().startswith(VARIABLES)])
    for name in variables_of(made):
        check_known(name, known, f"--set {VARIABLES}", SceneError)
    return made


def scene_digest(path: str | Path, overrides: Sequence[str] = ()) -> str:
    """Return the SHA-256 digest of a scene file and of the files that it includes.

    Raises:
        SceneError: as ``read_source``.
    """
    source = read_template(path, overrides)
    folder, files = source.path.parent, sorted({*source.files.values()})
    return sha256(b"".join(read_input(folder / file) for file in files)).hexdigest()


def scene_text(tree: YamlMapping) -> str:
    """Return the text of a scene file."""
    return yaml.safe_dump(tree, sort_keys=False, allow_unicode=True, default_flow_style=None)


def keep_overrides(path: Path, overrides: Sequence[str], new: str | None = None) -> bool:
    """Write overrides ``path=value`` into a scene file, if that loses neither comments nor layout.

    Args:
        path: of the file.
        overrides: as of ``read_source``.
        new: the content of a file that is not written yet.

    Returns:
        Whether the file has them.

    Raises:
        RunError: the file cannot be written.
    """
    text = path.read_text("utf-8") if new is None else new
    tree = yaml.safe_load(text)
    if overrides and scene_text(tree) != text:
        return False
    for override in overrides:
        override_field(tree, override)
    if overrides or new is not None:
        write_file(path, scene_text(tree))
    return True


def _apply(source: Source, overrides: Sequence[str]) -> Source:
    """Return the source with overrides applied to its tree."""
    tree = dict(source.tree)
    changed = frozenset(override_field(tree, text) for text in overrides)
    return replace(source, tree=tree, overridden=source.overridden | changed)


def first_frame(file: SceneFile, folder: Path) -> float | None:
    """Return the number that the time 0 of a scene has in its shot; None: it has no shot."""
    return None if file.shot is None else read_shot(folder / file.shot)[1] - file.preroll


def _integrator_of(tree: Json, otherwise: str = "backward_euler") -> str:
    """Return the name of a tree's integrator, and write it into the tree with a block of settings.

    Args:
        tree: of a scene file.
        otherwise: the name where the file has none.
    """
    given = tree.get("integrator", otherwise)
    if isinstance(given, str):
        given = tree["integrator"] = {given: {}}
    if not isinstance(given, dict) or len(given) != 1:
        return ""  # validation against the schema reports it
    (name,) = given
    if given[name] is None:
        given[name] = {}
    return str(name)


def override_field(tree: Json, text: str) -> Loc:
    """Set a value by its path, in place; blocks on the path are created. Return the path."""
    name, equals, value = text.partition("=")
    parts: Loc = tuple(
        int(p) if p.isdecimal() and len(p) < 10 else p for p in name.strip().split(".")
    )
    if not equals or not name.strip() or "" in parts:
        raise SceneError("--set", got=repr(text), expected="path=value, such as cloth.sheet.nx=80")
    parsed = parse_yaml(value, f"--set {to_one_line(name, 80)}", SceneError).value
    if parts[0] == "integrator" and len(parts) > 1:
        present = _integrator_of(tree, otherwise=str(parts[1]))
        if present != parts[1]:
            raise SceneError(
                f"--set {name}",
                got=f"a scene with integrator {present}",
                expected=f"integrator.{present}",
                hint=f"--set integrator={parts[1]} first, to choose another integrator",
            )
    block: Yaml = tree
    _write_default(tree, parts)
    for part, following in zip(parts, (*parts[1:], None)):
        if isinstance(part, int):
            if not isinstance(block, list) or part >= len(block):
                has = f"entries 0 to {len(block) - 1}" if isinstance(block, list) and block else ""
                raise SceneError(
                    f"--set {name}",
                    got=f"no entry {part}",
                    expected=has or "the whole list, which the scene file does not have",
                    hint=(
                        f"--set '{dotted_path(parts[: parts.index(part)])}=[...]' writes the "
                        "whole list"
                    ),
                )
        elif not isinstance(block, dict):
            raise SceneError(f"--set {name}", got=f"{part!r} below a value", expected="a block")
        if following is None:
            block[part] = parsed
        elif isinstance(block, dict):
            block = block.setdefault(part, {})
        else:
            block = block[part]
    return parts


def _write_default(tree: Json, parts: Loc) -> None:
    """Write a default list of numbers into the tree if an entry of it is set.

    An override of ``gravity.1`` in a file without gravity needs this. Blocks and lists of blocks
    have no such default.
    """
    name, *below = parts
    field_of = SceneFile.model_fields.get(str(name))
    default = None if field_of is None else field_of.default
    if name in tree or not below or not isinstance(below[0], int):
        return
    if isinstance(default, tuple) and default:
        tree[str(name)] = list(default)


def validate(source: Source) -> SceneFile:
    """Check the source against the schema and return the typed scene.

    Raises:
        SceneProblems: every field that is unknown, missing, of the wrong type or out of range.
    """
    plain, said = without_keyframes(source.tree)
    problems = [source.add_line(e, loc) for loc, e in malformed_keyframes(said)]
    if problems:
        raise SceneProblems(problems)
    file, problems = source.validate(SceneFile, plain)
    if file is None:
        raise SceneProblems(problems)
    return file


def read_source_keyframes(source: Source) -> dict[str, Keys]:
    """Return the keyframes of a valid source, by the path of their number in the scene.

    Raises:
        SceneProblems: numbers that may not change, values that the number's field refuses, or times
            that do not increase.
    """
    plain, said = without_keyframes(source.tree)
    problems: list[WeftError] = []

    def build_file(tree: YamlMapping, loc: Loc) -> SceneFile:
        file, wrong = source.validate(SceneFile, tree)
        if file is None:
            wrong[0].what += f", key {loc[-2]}"
            wrong[0].where = source.where(loc)
            raise wrong[0]
        return file

    def note(error: WeftError, loc: Loc) -> None:
        problems.append(error if error.where else source.add_line(error, loc))

    made = read_keyframes(said, plain, build_file, note)
    if problems:
        raise SceneProblems(problems)
    return made
