"""Packages that not everybody needs: imported where they are used, named where they are missing."""

from importlib import import_module
from typing import Any

from weft.base.errors import WeftError


def optional(module: str, extra: str, what: str, error: type[WeftError]) -> Any:
    """A module of an optional package.

    Args:
        module: its name.
        extra: the extra of weft that installs it.
        what: what needs it, for the message.
        error: the class of error.

    Raises:
        error: it is not installed.
    """
    try:
        return import_module(module)
    except ImportError as missing:
        raise error(
            what,
            got=f"no package {module.partition('.')[0]}",
            expected="it to be installed",
            hint=f"pip install 'weft[{extra}]'",
        ) from missing
