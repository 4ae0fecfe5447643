"""What measures are accepted, and what is said of others."""

from typing import get_args

import pytest

from tests.refusals import refused
from weft.base.errors import MannequinError, UnitError
from weft.plugins.garments.mannequin import FIGURES, MOTIONS, mannequin, measures_of
from weft.plugins.garments.mannequin.measures import LENGTHS, SIZES
from weft.plugins.garments.scene.mannequin_schema import MannequinBlock


def test_tables_give_what_is_not_said():
    m = measures_of("woman", height="170 cm", chest=0.92)
    assert (m.height, m.chest) == (1.70, 0.92)
    assert m.waist == pytest.approx(SIZES["woman"][2] * 1.70 / 1.68)
    # ANSUR II: crotch 825 mm of 1714; arms 587 mm.
    assert m.inseam == pytest.approx(1.70 * 0.4813, abs=1e-3)
    assert m.arm == pytest.approx(1.70 * 0.3421, abs=1e-3)
    assert measures_of("man").neck == pytest.approx(397.6 / 1756.2 * 1.76)


def test_children_have_the_proportions_of_their_height():
    """Means of Snyder et al. 1977 [cm]: children of 4 years, and a leg that is 0.43 of them."""
    m = measures_of("child", height="101.4 cm")
    assert (m.chest, m.hips, m.neck) == pytest.approx((0.527, 0.535, 0.243))
    assert m.head == pytest.approx(0.179)
    assert m.inseam / m.height == pytest.approx(0.4813 * (43.8 / 101.4) / (81.5 / 170.9), abs=1e-4)
    small, tall = measures_of("child", height=0.9), measures_of("child", height=1.6)
    assert small.inseam / small.height < 0.43 < 0.48 < tall.inseam / tall.height
    assert small.waist / small.chest > 0.94 > 0.87 > tall.waist / tall.chest


def test_words_of_scene_files_are_those_of_python():
    fields = MannequinBlock.model_fields
    assert get_args(fields["figure"].annotation) == FIGURES
    assert get_args(fields["motion"].annotation) == MOTIONS
    assert set(LENGTHS) < set(fields)


@pytest.mark.parametrize(
    "given, text",
    [
        ({"figure": "childe"}, ("figure", "'childe'")),
        ({"chst": 0.9}, ("mannequin", "'chst'", "'chest'")),
        ({"chest": "2 kg"}, ("", "mannequin.chest")),
        ({"height": float("nan")}, ("mannequin.height", "nan")),
        ({"chest": 0.9, "waist": 1.3}, ("waist", "1.3 m with chest 0.9 m", "0.55 to 1.25")),
        ({"height": 1.6, "inseam": 0.9}, ("inseam", "0.9 m at a height of 1.6 m")),
        ({"thigh": 0.75}, ("mannequin.hips", "0.96 m", "thighs")),
        ({"figure": "child", "height": 1.8}, ("height", "1.8 m", "0.9 to 1.65 m of a child")),
        ({"chest": 0.6}, ("chest", "0.6 m", ">= 0.7 m of a woman")),
        ({"size": "5 cm"}, ("mannequin.size", "0.05 m", "30 000 to 10 000 faces")),
    ],
)
def test_what_cannot_be_made_is_named(given, text):
    with refused((MannequinError, UnitError), text):
        mannequin(**given)
