"""The reference of the command line, from the commands themselves."""

import inspect
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import typer
from scene_reference import cell, table

from weft.cli.commands import app
from weft.cli.explain import simulated_effects


def markdown() -> str:
    """Every command with its arguments and options, groups with theirs."""
    group: Any = typer.main.get_command(app)
    parts = []
    for name, command in group.commands.items():
        parts += _command(["weft", name], command)
    return "\n\n".join(parts)


def effects() -> str:
    """The effects of `weft explain physics`, each with its page."""
    rows = []
    for e in simulated_effects():
        page = f"[{Path(e['page']).name}](../{e['page']}.md)"
        rows.append([e["effect"], e["simulated"], page, cell(e["about"])])
    return table(("effect", "simulated", "page", "what it does, or what its omission does"), rows)


def _command(names: list[str], command: Any) -> list[str]:
    text = inspect.cleandoc(command.help or "").replace("\f", "").strip()
    title = " ".join(names)
    head = f"({'-'.join(names)})=\n\n{'#' * len(names)} {title}"
    if hasattr(command, "commands"):
        parts = [f"{head}\n\n{_prose(text)}"]
        for name, below in command.commands.items():
            parts += _command([*names, name], below)
        return parts
    usage = " ".join([title, *(_usage(p) for p in command.params if not _hidden(p))])
    rows = [_row(p) for p in command.params if not _hidden(p)]
    parts = [head, f"```text\n{usage}\n```", _prose(text)]
    if rows:
        parts.append(table(("", "default", "meaning"), rows))
    return ["\n\n".join(parts)]


def _hidden(parameter: Any) -> bool:
    return getattr(parameter, "hidden", False) or parameter.name == "help"


def _prose(text: str) -> str:
    """Help as Markdown: paragraphs; the marks of rich are none of ours."""
    return text.replace("<", "&lt;")


def _metavar(p: Any) -> str:
    """``N`` of ``--width N``: what the command says, or the kind of its value."""
    if p.metavar:
        return str(p.metavar).strip("[]")
    if p.param_type_name == "argument":
        return str(p.name).upper()
    kind = getattr(getattr(p, "type_descriptor", None), "annotation", None)
    if get_origin(kind) is Literal:
        return "|".join(map(str, get_args(kind)))
    kinds = {str: "TEXT", int: "N", float: "X", Path: "PATH"}
    return kinds.get(kind) or str(getattr(getattr(p, "type", None), "name", "VALUE")).upper()


def _usage(p: Any) -> str:
    if p.param_type_name == "argument":
        text = _metavar(p) + ("..." if p.nargs == -1 else "")
        return text if p.required else f"[{text}]"
    text = p.opts[0] if p.is_flag else f"{p.opts[0]} {_metavar(p)}"
    return text if p.required else f"[{text}]"


def _row(p: Any) -> list[str]:
    if p.param_type_name == "argument":
        name = f"`{_metavar(p)}`".replace("|", "\\|")
    else:
        said = ", ".join([*p.opts, *p.secondary_opts])
        name = f"`{said}`" if p.is_flag else f"`{said} {_metavar(p)}`".replace("|", "\\|")
    shown, default = p.show_default, p.default
    if isinstance(shown, str):
        default = shown
    flag = getattr(p, "is_flag", False)
    none = default is None or default in ([], ()) or callable(default) or flag or shown is False
    return [name, "" if none else f"`{default}`", cell(p.help or "")]
