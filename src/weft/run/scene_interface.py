"""Members of a scene that a simulation uses: the one interface between ``weft.Scene`` and its runs.

Objects with these members can be simulated and differentiated like a ``weft.Scene``.
"""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol, runtime_checkable

from weft.base.errors import SceneError
from weft.base.trees import Json, YamlMapping
from weft.bodies.body import Body
from weft.bodies.motion.pins import Pin
from weft.cloth.attachments import Attachment
from weft.cloth.cloth import Cloth
from weft.contact.contact import SelfContact
from weft.energies.air.wind import Wind
from weft.energies.state import State
from weft.integrators.base import Stepper
from weft.integrators.model import Model

# Entry of a description: the seams that are sewn earlier than in a first try, and the widest gap
# [m] of that try. No seams: the second try was worse, so this one is as the first.
SEWN_EARLIER = "sewn_earlier"


class Simulated(Protocol):
    """The part of a scene that its steps follow from."""

    @property
    def step(self) -> float:
        """The largest step [s]."""

    def model(self) -> Model:
        """Return the model: energies, masses, pins and contact."""

    def state(self) -> State:
        """Return the state at the start."""

    def stepper(self) -> Stepper:
        """Return the integrator."""


@runtime_checkable
class Changeable(Protocol):
    """A scene that may become another one while it is simulated, with the same points."""

    def at(self, t: float) -> "SceneLike":
        """Return the scene from which steps that start at t [s] follow; often it is the same."""


def check_unchanged(scene: Simulated, what: str, hint: str) -> None:
    """Check that steps at all times follow from the same scene.

    Args:
        scene: the scene.
        what: the thing that needs this, for the message.
        hint: what to do instead.

    Raises:
        SceneError: a scene that changes.
    """
    if isinstance(scene, Changeable) and scene.at(math.inf) is not scene.at(-math.inf):
        got, expected = "a scene with `changes`", "the same scene all along"
        raise SceneError(what, got=got, expected=expected, hint=hint)


class SceneLike(Simulated, Changeable, Protocol):
    """The interface of a scene that the simulation loop uses."""

    @property
    def cloth(self) -> Cloth:
        """The cloth: mesh and fabric."""

    @property
    def description(self) -> YamlMapping:
        """The contents of the scene file, which the manifest keeps for readers."""

    @property
    def scene_file(self) -> Path | None:
        """The path of the scene file; None: the scene was built in Python."""

    @property
    def pins(self) -> Sequence[Pin]:
        """The pins of the cloth's vertices."""

    @property
    def bodies(self) -> Sequence[Body]:
        """The bodies that the cloth meets."""

    @property
    def contact(self) -> SelfContact | None:
        """The settings of contact; None: no contact."""

    @property
    def wind(self) -> Wind | None:
        """The wind; None: no air."""

    @property
    def attachments(self) -> Sequence[Attachment]:
        """The attachments of the cloth."""

    @property
    def resolved(self) -> object | None:
        """The changes, as text, that removed intersections at the start; None: none were needed."""

    def sew_earlier(self, seams: Sequence[str], gap: float) -> "SceneLike | None":
        """Return the scene with seams that begin to close with the first ones, and with
        ``SEWN_EARLIER`` in its description; None if they do already.
        """

    def plugins(self) -> YamlMapping:
        """Return the names of the plugins that the scene uses, and their versions."""

    def identity(self) -> YamlMapping:
        """Return a tree of plain values that is equal for two scenes only if their results are."""


def sewn_as(scene: SceneLike, manifest: Json) -> SceneLike:
    """Return a scene with its seams in the order in which the run of a manifest sews them."""
    tried = manifest["description"].get(SEWN_EARLIER)
    return scene if tried is None else scene.sew_earlier(**tried) or scene
