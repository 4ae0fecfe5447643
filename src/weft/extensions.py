"""Extensions: what the engine, weft's plugins and other packages add by name.

A plugin is a ``Plugin``: for every kind of extension, names with the place of what they stand for,
``"package.module:attribute"``. A place is imported when its name is used first. The engine's own
entries are a plugin, too (``weft.builtin``). Others are found

- in the folder ``weft/plugins``: garments, lab, robots and film;
- by entry points of installed packages: ``[project.entry-points."weft.plugins"]`` with a line
  ``name = "package.module:plugin"``. The module is imported by every command. It declares its
  plugin before it imports other modules of weft, which may ask for it; best, it imports none.

A plugin that cannot be imported, that was made for another version of weft, or that gives a name
again is left out with a warning; the others work.
"""

import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args

from weft.base.errors import PluginError, check_known

Kind = Literal[
    "names",  # public names: weft.NAME
    "commands",  # weft NAME; "GROUP NAME" is a command of a group
    "cloth sources",  # cloth: {NAME: ...} of a scene file: weft.scene.cloth_source.ClothSource
    "scene inputs",  # files in place of a scene: weft.scene.scene_input.SceneInput
    "scene checks",  # of `weft check`: functions (builder, findings)
    "tight cloth",  # in warnings of runs: functions (cloth, part's name, bodies) that say why
    "bodies",  # bodies: [{NAME: ...}]: weft.scene.body_source.BodySource
    "formats",  # suffixes of mesh files: weft.io.format.Format
    "options",  # of the engine that plugins do: `weft export --onto`, fabric: {arcsim: FILE}
    "laws",  # law: NAME: functions (fabric, warp, weft) that return a law
    "bending",  # bending: NAME: functions that return energies
    "energies",  # NAME: {...} of a scene file: settings with energies(scene), read_files(folder)
    "linear solvers",  # linear: NAME of the integrators' settings
    "parameters",  # of the adjoint: functions of a scene that yield parameters
    "looks",  # --look NAME: weft.show.looks
    "measures",  # of runs: functions (quality, frame, measurements found so far)
    "certificate",  # experiments of `weft validate`: functions that yield checks
    "long certificate",  # experiments that `weft validate --all` adds
    "examples",  # of `weft demo NAME`: paths of scene files
]
KINDS: tuple[Kind, ...] = get_args(Kind)
T = TypeVar("T")
GROUP = "weft.plugins"  # of entry points
INSTALL = "install weft again, as a whole: `pip install weft`"

# Names of the plugins in weft/plugins, for messages where one of them is not installed.
SHIPPED: Mapping[str, str] = {
    "garments": "garment mannequin smpl grade landmarks panels Mannequin find_landmarks",
    "lab": "arcsim dataset sweep validate fit test",
    "robots": "urdf mjcf robotics load_arm Batch Hold batch",
    "film": "onto .usd .usda .usdc .usdz .gltf .glb",
}


@dataclass(frozen=True)
class Plugin:
    """A plugin: the names that it adds, by kind.

    Args:
        name: of the plugin.
        weft: version of weft that it was made for, ``"0.1"``: the first two numbers count.
        entries: for each kind (``KINDS``) the names, each with its place
            ``"package.module:attribute"`` (without an attribute: the module). Attributes and
            keys of mappings may follow, with dots between.
        version: of the package; the empty text: that of weft.
    """

    name: str
    weft: str
    entries: Mapping[str, Mapping[str, str]]
    version: str = ""

    def __post_init__(self) -> None:
        for kind, entries in self.entries.items():
            check_known(kind, KINDS, f"plugin {self.name}", PluginError)
            for name, place in entries.items():
                if not isinstance(place, str) or not place.strip():
                    raise PluginError(
                        f"plugin {self.name}, {kind}: {name}",
                        got=repr(place),
                        expected='a place "package.module:attribute"',
                    )
        if not isinstance(self.weft, str):
            raise PluginError(f"plugin {self.name}, weft", got=repr(self.weft), expected='"0.1"')

    def owns(self, module: str) -> bool:
        """Return whether a module belongs to the plugin: it is in the package of an entry."""
        own = {package_of(p) for entries in self.entries.values() for p in entries.values()}
        return package_of(module) in own


def package_of(place: str) -> str:
    """Return the package of a place: its first name, or the folder in ``weft/plugins``."""
    parts = place.partition(":")[0].split(".")
    return ".".join(parts[:3] if parts[:2] == ["weft", "plugins"] else parts[:1])


@cache
def plugins() -> Mapping[str, Plugin]:
    """Return the plugins by name, the engine first; those that are left out are warned of."""
    found: dict[str, Plugin] = {}
    taken: dict[tuple[str, str], str] = {}
    for name, place, source in _places():
        try:
            plugin = _load(place)
            _check(plugin, found, taken)
        except Exception as error:  # a plugin may raise anything when it is imported
            reason = " ".join(str(error).split()) or type(error).__name__
            warnings.warn(f"plugin {name} ({source}) is left out: {reason}", stacklevel=2)
            continue
        found[plugin.name] = plugin
        taken |= {(k, n): plugin.name for k, entries in plugin.entries.items() for n in entries}
    return found


def _check(plugin: Any, found: Mapping[str, Plugin], taken: Mapping[tuple[str, str], str]) -> None:
    """Raise unless a plugin is for this version of weft and its names are new."""
    from weft import __version__

    if not isinstance(plugin, Plugin):
        raise PluginError("entry point", got=type(plugin).__name__, expected="a Plugin")
    if plugin.weft.split(".")[:2] != __version__.split(".")[:2]:
        raise PluginError(
            f"plugin {plugin.name}",
            got=f"made for weft {plugin.weft}",
            expected=f"weft {__version__}",
            hint="install the version of the plugin for this weft",
        )
    if plugin.name in found:
        raise PluginError(f"plugin {plugin.name}", got="installed twice", expected="one")
    for kind, entries in plugin.entries.items():
        for name in entries:
            if (kind, name) in taken:
                raise PluginError(
                    f"plugin {plugin.name}, {kind}: {name}",
                    got=f"a name that {taken[kind, name]} has",
                    expected="a new name",
                )


def _places() -> Iterator[tuple[str, str, str]]:
    """Yield name, place and source of all plugins."""
    yield "weft", "weft.builtin:plugin", "the engine"
    for name in SHIPPED:
        if has_shipped(name):
            yield name, f"{GROUP}.{name}.plugin:plugin", "part of weft"
    yield from sorted(installed_entry_points())


def has_shipped(name: str) -> bool:
    """Return whether a plugin of weft's own is installed."""
    try:
        return find_spec(f"{GROUP}.{name}") is not None
    except ModuleNotFoundError:  # there is no folder of plugins at all
        return False


def installed_entry_points() -> Iterator[tuple[str, str, str]]:
    """Yield name, place and package of the entry points of installed packages.

    ``importlib.metadata`` takes 60 ms to load; the files that it reads are read here.
    """
    seen = set()
    for folder in dict.fromkeys(sys.path):
        try:
            found = sorted(Path(folder).glob("*.dist-info/entry_points.txt"))
        except OSError:
            continue
        for path in found:
            try:
                text = path.read_bytes()
            except OSError:
                continue
            package = path.parent.name.partition("-")[0]
            if GROUP.encode() in text and package not in seen:
                seen.add(package)
                lines = _entries(text.decode("utf-8", "replace"))
                yield from ((entry, place, f"package {package}") for entry, place in lines)


def _entries(text: str) -> Iterator[tuple[str, str]]:
    """Yield names and places of the lines of the group in the text of an entry_points.txt."""
    group = ""
    for line in text.splitlines():
        line = line.strip()
        if line.startswith("["):
            group = line.strip("[]").strip()
        elif group == GROUP and "=" in line and not line.startswith(("#", ";")):
            name, _, place = line.partition("=")
            yield name.strip(), place.strip()


def names(kind: Kind) -> list[str]:
    """Return the names of a kind, those of the engine first."""
    return [name for plugin in plugins().values() for name in plugin.entries.get(kind, ())]


def owner(kind: Kind, name: str) -> Plugin | None:
    """Return the plugin that gives a name; None: none does."""
    return next((p for p in plugins().values() if name in p.entries.get(kind, ())), None)


def find(kind: Kind, name: str) -> Any:
    """Return what a name stands for; it is imported when it is used first.

    Raises:
        PluginError: no plugin gives the name, or its place cannot be imported.
    """
    plugin = owner(kind, name)
    if plugin is None:
        check_installed(name)
        check_known(name, names(kind), kind, PluginError)
    assert plugin is not None
    return _load(plugin.entries[kind][name], f"plugin {plugin.name}, {kind}: {name}")


class Names(Sequence[str]):
    """The names of a kind as choices of a setting; they are looked up when they are used first.

    Args:
        kind: of the entries.
        *before: choices before them.
    """

    def __init__(self, kind: Kind, *before: str) -> None:
        self.kind, self.before = kind, before

    def __getitem__(self, index: Any) -> Any:
        return (*self.before, *names(self.kind))[index]

    def __len__(self) -> int:
        return len(self.before) + len(names(self.kind))


class Registry(Mapping[str, T]):
    """The entries of a kind by name; one is imported when it is used first.

    Args:
        kind: of the entries.
    """

    def __init__(self, kind: Kind) -> None:
        self.kind = kind

    def __getitem__(self, name: str) -> T:
        if name not in self:
            raise KeyError(name)
        found: T = find(self.kind, name)
        return found

    def __contains__(self, name: object) -> bool:
        return name in names(self.kind)

    def __iter__(self) -> Iterator[str]:
        return iter(names(self.kind))

    def __len__(self) -> int:
        return len(names(self.kind))


def missing(name: str) -> PluginError | None:
    """Return the error for a name of one of weft's own plugins that is not installed; None: it is
    not such a name.
    """
    for plugin, own in SHIPPED.items():
        if name in own.split() and plugin not in plugins():
            return PluginError(
                name,
                got=f"no plugin {plugin}",
                expected=f"weft's plugin {plugin}",
                hint=INSTALL,
            )
    return None


def check_installed(name: str) -> None:
    """Check that a name is not one of a plugin of weft that is not installed.

    Raises:
        PluginError: it is.
    """
    needed = missing(name)
    if needed is not None:
        raise needed


def _load(place: str, what: str = "") -> Any:
    """Return the object at ``package.module:attribute``."""
    module, _, attribute = place.partition(":")
    try:
        found: Any = import_module(module)
        for part in attribute.split(".") if attribute else ():
            found = found[part] if isinstance(found, Mapping) else getattr(found, part)
    except (ImportError, AttributeError, KeyError) as error:
        if not what:
            raise
        raise PluginError(
            what, got=f"{place} ({error})", expected="a module that can be imported"
        ) from error
    return found


def require(versions: Mapping[str, str], where: object) -> None:
    """Check that plugins are installed.

    Args:
        versions: of the plugins that are needed, by name.
        where: what needs them, for the message.

    Raises:
        PluginError: one is not installed.
    """
    for name, number in versions.items():
        if name in plugins():
            continue
        other = "install the package that has it, in the environment of weft"
        hint = INSTALL if name in SHIPPED else other
        expected = f"plugin {name} {number}"
        raise PluginError("plugin", got=f"no {name}", expected=expected, where=where, hint=hint)


def version_of(plugin: Plugin) -> str:
    """Return the version of a plugin; one without a version has that of weft."""
    from weft import __version__

    return plugin.version or __version__
