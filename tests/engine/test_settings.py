"""Settings: one dataclass says meaning, unit, bounds and default; all else is read from it."""

import dataclasses
import enum
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import weft
from tests.refusals import refused
from weft.base.errors import LawError, SceneError
from weft.base.runtime_types import checked
from weft.base.schema.block import fields_of
from weft.base.schema.document import YamlDocument
from weft.base.settings import REQUIRED, documented, setting, settings_by_field
from weft.energies.elastic.condition import ConditionForm
from weft.integrators.adaptive import AdaptiveSettings
from weft.scene.integrators import INTEGRATORS

DATACLASSES = sorted(
    {kind.settings for kind in INTEGRATORS.values()}
    | {weft.SelfContact, weft.ConditionForm, weft.BucklingForm, weft.Gas, weft.Keyframe}
    | {weft.AdaptiveSettings, weft.Path, weft.Wind, weft.Gusts},
    key=lambda kind: kind.__name__,
)


class Document(YamlDocument):
    error = SceneError


FILE = Document(Path("file.yaml"), {})


class Kind(enum.Enum):
    FIRST_ONE = 1
    OTHER = 2


@checked(SceneError, "inner")
@documented
@dataclasses.dataclass(frozen=True)
class Inner:
    """A number, or more."""

    size: float = setting(REQUIRED, "of it", "m", above=0)
    more: float | None = setting(None, "besides", least=0)


@checked(SceneError, "outer")
@documented
@dataclasses.dataclass(frozen=True)
class Outer:
    """Every type of field that settings have."""

    length: float = setting(1.0, "from end to end", "m", above=0, below=9)
    count: int = setting(3, "how many", least=1)
    kind: Kind = setting(Kind.OTHER, "which")
    word: str = setting("a", "letter", choices=("a", "b"))
    pair: tuple[float, float] | None = setting(None, "two; none: none", "N/m", least=0)
    inner: float | Inner = setting(Inner(2.0), "what is inside")
    many: Sequence[Inner] = setting((), "several", key="several")
    unbounded: float = setting(np.inf, "any", above=0, finite=False)
    python_only: int = 7


@pytest.mark.parametrize("kind", DATACLASSES, ids=lambda kind: kind.__name__)
def test_fields_of_files_are_those_of_dataclasses(kind):
    """Same names, defaults and descriptions; an empty block is the default."""
    fields, about = fields_of(kind), settings_by_field(kind)
    defaults = {f.name: f.default for f in dataclasses.fields(kind)}
    assert [a.key or name for name, a in about.items()] == list(fields)
    for name, a in about.items():
        field = fields[a.key or name]
        assert field.is_required() == (defaults[name] is dataclasses.MISSING)
        assert field.is_required() or field.default == defaults[name]
        assert field.description.endswith(a.meaning) and f"{name}: " in kind.__doc__
    if not any(f.is_required() for f in fields.values()):
        assert read(kind, {}) == kind()


def read(kind, tree):
    """The settings that a file gives."""
    return FILE.read_block(kind, tree)


def test_a_file_gives_the_dataclass():
    said = {
        "length": "25 cm",
        "kind": "first_one",
        "pair": ["1 N/m", 2],
        "inner": "3 mm",
        "several": [{"size": 1, "more": 2}, 4],
    }
    made = read(Outer, said)
    several = (Inner(1.0, 2.0), Inner(4.0))
    assert made == Outer(0.25, 3, Kind.FIRST_ONE, "a", (1.0, 2.0), Inner(0.003), several)
    assert "python_only" not in fields_of(Outer)


@pytest.mark.parametrize(
    "said, message",
    [
        ({"length": 0}, "must be > 0 and < 9 [m]"),
        ({"length": "5 kg"}, "a length"),
        ({"kind": "firstone"}, "did you mean 'first_one'?"),
        ({"word": "c"}, "'a' or 'b'"),
        ({"python_only": 1}, "field python_only (file.yaml): expected one of length, count"),
        ({"several": [{}]}, "several.0.size = nothing (file.yaml): expected a value"),
        ({"several": 3}, "several = 3 (file.yaml): expected a list"),
        ({"inner": [1]}, "inner = a list of 1 (file.yaml): expected a block of fields"),
        ({"unbounded": float("inf")}, "finite"),
    ],
)
def test_files_are_refused(said, message):
    with pytest.raises(SceneError) as caught:
        read(Outer, said)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: Outer(length=0), "outer.length = 0: must be > 0 and < 9 [m]"),
        (lambda: Outer(count="3 m"), "outer.count = '3 m', str: expected a whole number"),
        (lambda: Outer(kind=1), "outer.kind = 1, int: expected one of Kind.FIRST_ONE, Kind.OTHER"),
        (lambda: Outer(word="bb"), "expected one of a, b; did you mean 'b'?"),
        (lambda: Outer(pair=(1, -1)), "outer.pair = (1, -1): must be >= 0 [N/m]"),
        (lambda: weft.StepSettings(forcing=1), "must be > 0 and < 1"),
        (lambda: AdaptiveSettings(most_halvings=21), "must be >= 0 and <= 20"),
        (lambda: AdaptiveSettings(successes=50), "adaptive.most_successes = 40: must be >= succ"),
        (lambda: weft.SelfContact("-4 mm"), "contact.gap = '-4 mm': must be >= 1e-12 [m]"),
        (lambda: weft.contact.sphere("2 s", 0.1), "sphere.radius): expected a length"),
    ],
)
def test_dataclasses_refuse(make, message):
    with pytest.raises(weft.WeftError) as caught:
        make()
    assert message in str(caught.value)


def test_the_class_of_the_error_may_be_another():
    with refused(LawError, "conditions.p", got="0.6", expected="1, 0.75 or 0.5"):
        ConditionForm(p=0.6)


def test_python_takes_units_wherever_yaml_does():
    """Settings and shapes of bodies; bounds are those of the number in SI."""
    made = Outer(length="3 mm", pair=("2 gf/cm", 1))
    assert made.length == 3e-3 and made.pair == pytest.approx((2 * 0.980665, 1))
    assert weft.Gas("2 kPa", "10 cm^3").volume == pytest.approx(1e-5)
    said = weft.contact.capsule("5 cm", "0.3 m", "2 cm")
    np.testing.assert_allclose(said.vertices, weft.contact.capsule(0.05, 0.3, 0.02).vertices)
