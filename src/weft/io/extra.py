"""Optional packages: imported where they are used, with an error that names the missing package."""

from importlib import import_module
from types import ModuleType

from weft.base.errors import WeftError


def optional(module: str, extra: str, what: str, error: type[WeftError]) -> ModuleType:
    """Return a module of an optional package.

    Args:
        module: its name.
        extra: the extra of weft that installs the package.
        what: the feature that needs it, for the message.
        error: class of the error that is raised.

    Raises:
        error: the package is not installed.
    """
    try:
        return import_module(module)
    except ImportError as missing:
        raise error(
            what,
            got=f"no package {module.partition('.')[0]}",
            expected="this package",
            hint=f"pip install 'weft[{extra}]'",
        ) from missing
