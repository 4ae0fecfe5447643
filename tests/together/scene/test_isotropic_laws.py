"""Laws with one stiffness say which numbers of the fabric they do not use."""

import dataclasses
import warnings

import pytest

import weft
from weft.scene.law import law_of_fabric

FABRIC = weft.Fabric(
    density=0.1,
    stretch_warp=300.0,
    stretch_weft=100.0,
    shear=20.0,
    bending_warp=1e-6,
    bending_weft=1e-6,
)


@pytest.mark.parametrize(
    "name, said",
    [
        ("stvk", "200 N/m for warp and weft .*300 and 100.* shear stiffness of 100 N/m .*: 20"),
        ("neo_hookean", "shear stiffness of 100 N/m"),
        ("arap", "200 N/m for warp and weft"),
    ],
)
def test_a_law_with_one_stiffness_is_named(name, said):
    with pytest.warns(UserWarning, match=f"law {name} uses .*{said}"):
        law_of_fabric(FABRIC, name)


def test_the_laws_of_a_fabric_with_that_stiffness_say_nothing():
    even = dataclasses.replace(FABRIC, stretch_weft=300.0, shear=150.0)
    with warnings.catch_warnings(action="error"):
        for name in ("stvk", "neo_hookean", "arap", "baraff_witkin"):
            law_of_fabric(even, name)
