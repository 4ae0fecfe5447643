"""The reference of Python names: directives of autodoc, name by name."""

import importlib
import importlib.util
import inspect


def markdown(*names: str) -> str:
    """The documentation of ``weft.NAME``, or of all that a module makes public.

    Args:
        names: ``weft.Cloth``; or ``weft.energies.term``, all that it defines and that is public.
    """
    return "\n\n".join(_named(name) for name in names)


def _named(name: str) -> str:
    home, _, last = name.rpartition(".")
    if not last[:1].isupper() and _is_module(name):
        return _module(name)
    thing = getattr(importlib.import_module(home), last)
    return _directive(name, thing)


def _is_module(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


def _module(name: str) -> str:
    module = importlib.import_module(name)
    own = [
        n
        for n, thing in vars(module).items()
        if getattr(thing, "__module__", None) == name and not n.startswith("_")
    ]
    things = {n: getattr(module, n) for n in getattr(module, "__all__", own)}
    told = _told_elsewhere(name)
    kinds = {n: t for n, t in things.items() if inspect.isclass(t) or inspect.isfunction(t)}
    parts = [_directive(f"{name}.{n}", t) for n, t in kinds.items() if id(t) not in told]
    return "\n\n".join([f"```{{eval-rst}}\n.. automodule:: {name}\n```", *parts])


def _told_elsewhere(name: str) -> set[int]:
    """What the page of Python names tells: public names of weft, and of its public packages."""
    import weft

    packages = [p for p in ("weft.laws", "weft.contact") if p != name]
    told = {id(getattr(weft, n)) for n in weft.__all__}
    for package in packages:
        module = importlib.import_module(package)
        told |= {id(getattr(module, n)) for n in module.__all__}
    return told


def _directive(name: str, thing: object) -> str:
    if inspect.isclass(thing):
        lines = [f".. autoclass:: {name}", "   :members:"]
    else:
        lines = [f".. autofunction:: {name}"]
    return "```{eval-rst}\n" + "\n".join(lines) + "\n```"
