"""Errors for users, in one form: what is wrong, got, expected, where, and the next step."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from weft.base.arrays import Faces, Ints, Positions


class WeftError(Exception):
    """Base class of all errors that weft raises on purpose; `weft` prints them without a traceback.

    Args:
        what: the thing that is wrong, e.g. ``"fabric.bending_stiffness"``.
        got: the value that was found.
        expected: a description of right values.
        where: file and line, or the path of the field; kept as text.
        hint: the next step for the user; lines below the message begin with a line break.
    """

    def __init__(
        self,
        what: str,
        *,
        got: object = None,
        expected: str | None = None,
        where: object = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(what)
        self.what, self.got, self.expected, self.hint = what, got, expected, hint
        self.where = None if where is None else str(where)

    def __str__(self) -> str:
        text = to_one_line(self.what)
        if self.got is not None:
            text += f" = {to_one_line(self.got)}"
        if self.where:
            text += f" ({to_one_line(self.where)})"
        if self.expected:
            must = self.expected.startswith("must")
            text += f": {self.expected if must else f'expected {self.expected}'}"
        if self.hint:
            text += self.hint if self.hint.startswith("\n") else f"; {self.hint}"
        return text


class UnitError(WeftError):
    """A quantity without a unit, or with one of another dimension."""


class MeshError(WeftError):
    """A mesh that cannot be simulated, or a mesh file that cannot be read."""


class DegenerateFacesError(MeshError):
    """Triangles without material area; the error carries the mesh for ``weft check`` to draw."""

    def __init__(self, vertices: "Positions", faces: "Faces", ids: "Ints", where: str) -> None:
        self.vertices, self.faces, self.ids = vertices, faces, ids
        shown = ", ".join(map(str, ids[:8])) + (", ..." if len(ids) > 8 else "")
        hint = (
            f"{len(ids)} of {len(faces)} triangles have no area in material coordinates; "
            "`weft check` draws them"
        )
        super().__init__(
            "material area of faces", got=shown, where=where, expected="must be > 0", hint=hint
        )


class FabricError(WeftError):
    """An unknown fabric, or fabric data out of range."""


class PictureError(WeftError):
    """A photograph, mask or outline of cloth in which nothing can be measured."""


class LawError(WeftError):
    """Parameters that a material law does not accept."""


class SceneError(WeftError):
    """A scene that is impossible or contradictory."""


class Outlook(Enum):
    """The fate of a problem of a scene's start once the scene is simulated."""

    RESOLVES = "no action needed"
    MAY = "may need a correction"
    CANNOT = "needs a correction"


@dataclass(frozen=True)
class StartProblem:
    """A problem of a scene's start, the same for ``weft check`` and ``weft run``."""

    outlook: Outlook
    text: str

    def __str__(self) -> str:
        return f"at the start, {self.outlook.value}: {self.text}"


class StartError(SceneError):
    """Cloth that intersects itself or a body at the start, or is nearer than its thickness."""


class WeldError(SceneError):
    """Cloth that touches itself at the start because vertices coincide that are not connected."""


class Problems(WeftError):
    """Several problems of one file, each a WeftError."""

    def __init__(self, problems: list[WeftError]) -> None:
        self.problems = problems
        super().__init__(f"{len(problems)} problems")

    def __str__(self) -> str:
        return "\n".join(str(p) for p in self.problems)


class SceneProblems(Problems, SceneError):
    """Several problems of one scene; and the scene, if it could be built."""

    def __init__(self, problems: list[WeftError], scene: object = None) -> None:
        self.scene = scene
        super().__init__(problems)


class PatternError(WeftError):
    """A garment's pattern that cannot be read, cut or sewn."""


class PatternProblems(Problems, PatternError):
    """Several problems of one pattern."""


class MannequinError(SceneError):
    """A measure, pose or motion that a mannequin cannot have."""


class RunError(WeftError):
    """A run folder that cannot be written, resumed or read."""


class SweepError(WeftError):
    """A sweep that cannot be planned, run, continued or read."""


class PluginError(WeftError):
    """A plugin that cannot be used, or that is needed and not installed."""


class DeviceError(WeftError):
    """A device, thread count or memory that this machine does not have."""


class SolverError(WeftError):
    """A solver that is not installed, or settings that it does not accept."""


class SimulationError(WeftError):
    """A simulation that cannot continue; names the outcome and the file of the failed state."""


def to_one_line(value: object, most: int = 300) -> str:
    """Return any value as one line of text that is short enough for a message."""
    try:
        text = str(value)
    except (ValueError, RecursionError):  # an integer of thousands of digits
        text = f"a {type(value).__name__} too large to print"
    words = " ".join(text[:1000].split())
    text = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in words)
    return text if len(text) <= most else f"{text[:most]} ..."


def abbreviate(values: Sequence[object], most: int = 5) -> str:
    """Return the first entries of a list as text: ``1, 2, 3, ...``."""
    return ", ".join(map(str, values[:most])) + (", ..." if len(values) > most else "")


def ranges(numbers: Iterable[int]) -> str:
    """Return ascending integers as text, with ranges: ``3, 7 to 12``."""
    found: list[list[int]] = []
    for k in numbers:
        if found and k == found[-1][1] + 1:
            found[-1][1] = k
        else:
            found.append([k, k])
    return ", ".join(str(a) if a == b else f"{a} to {b}" for a, b in found)


def error_text(error: BaseException) -> str:
    """Return the reason that an error has: of one of the system, without its number and file."""
    return getattr(error, "strerror", None) or str(error)


def point_text(point: Iterable[float]) -> str:
    """Return the coordinates of a point as text: ``0.25, 1.3, 0``."""
    return ", ".join(f"{c:.4g}" for c in point)


def did_you_mean(word: str, known: Iterable[str]) -> str | None:
    """Return a hint with the known word that is nearest to a misspelled one, or None."""
    close = get_close_matches(word, list(known), 1)
    return f"did you mean {close[0]!r}?" if close else None


def check_known(
    word: str, known: Iterable[str], what: str, error: type[WeftError] = WeftError
) -> None:
    """Check that a word is one of the known words.

    Raises:
        WeftError: of the class ``error``; the word is not known. The message lists the known words
            and names the nearest one.
    """
    names = list(known)
    if word not in names:
        raise error(
            what,
            got=repr(word),
            expected=f"one of {', '.join(names)}",
            hint=did_you_mean(word, names),
        )
