"""The messages of a page to the simulation that is played, checked by a schema."""

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from weft.base.errors import WeftError
from weft.base.trees import Yaml

MOST_FINGERS = 10
Number = Annotated[float, Field(allow_inf_nan=False, ge=-1e9, le=1e9)]
Triple = tuple[Number, Number, Number]
Finger = Annotated[int, Field(ge=0, lt=MOST_FINGERS)]


class _Message(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Button(_Message):
    """A button without a value."""

    do: Literal["play", "pause", "step", "reset", "undo"]


class Speed(_Message):
    """The largest speed of the simulation, in seconds of cloth per second."""

    do: Literal["speed"]
    factor: Annotated[float, Field(gt=0, le=100)]


class ChooseLook(_Message):
    """The look that colors the cloth."""

    do: Literal["look"]
    name: str


class Press(_Message):
    """A finger takes hold of a point of a face; ``place`` [m] is where it is, ``force`` its limit
    [N].
    """

    do: Literal["press"]
    finger: Finger
    on: Literal["cloth", "bodies"]
    face: Annotated[int, Field(ge=0)]
    weights: Triple
    place: Triple
    force: Annotated[float, Field(gt=0, le=1e6)]


class Move(_Message):
    """A finger moves to a place [m]."""

    do: Literal["move"]
    finger: Finger
    place: Triple


class LetGo(_Message):
    """A finger lets go, or leaves a pin."""

    do: Literal["release"]
    finger: Finger
    pin: bool = False


class Unpin(_Message):
    """A pin is taken away."""

    do: Literal["unpin"]
    pin: int


class Freeze(_Message):
    """A panel stays where it is, or is let go."""

    do: Literal["freeze"]
    panel: str
    on: bool = True


class PlacePanel(_Message):
    """A panel is moved [m] before the simulation begins."""

    do: Literal["place"]
    panel: str
    by: Triple


class Set(_Message):
    """A control takes a value: a number in SI units, or the name of a choice."""

    do: Literal["set"]
    path: Annotated[str, Field(max_length=100)]
    value: Number | Annotated[str, Field(max_length=100)]


class Save(_Message):
    """The present scene, or everything since the start, is saved as a scene file."""

    do: Literal["save"]
    what: Literal["scene", "play"]
    name: Annotated[str, Field(pattern=r"^[\w-]{0,60}$")] = ""


Message = (
    Button | Speed | ChooseLook | Press | Move | LetGo | Unpin | Freeze | PlacePanel | Set | Save
)
_LIST: TypeAdapter[list[Message]] = TypeAdapter(
    Annotated[list[Annotated[Message, Field(discriminator="do")]], Field(max_length=1000)]
)


def read_messages(given: Sequence[Yaml]) -> list[Message]:
    """Return the messages that a page sent.

    Raises:
        WeftError: something else.
    """
    try:
        return _LIST.validate_python(given)
    except ValidationError as wrong:
        first = wrong.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise WeftError(f"message {place}".strip(), expected=first["msg"]) from None
