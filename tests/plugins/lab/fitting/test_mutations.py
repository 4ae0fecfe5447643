"""Whatever stands in a fit file: it is read, or refused by a message of weft's; no traceback."""

import copy
import warnings

import pytest
import yaml

from weft.base.errors import WeftError
from weft.plugins.lab.fitting.file import read_fit

pytestmark = pytest.mark.campaign

SHEET = yaml.safe_load("""
name: a
title: t
start: cotton
hold: [shear]
measurements:
  - kind: value
    field: density
    value: [150 g/m^2]
    uncertainty: 1 %
    name: w
    source: s
    unusual: false
  - kind: tensile
    cut: warp
    units: ["%", gf/cm]
    as: straight
    points: [[1, 40], [2, 80]]
    uncertainty: 1 gf/cm
  - kind: tensile
    cut: bias
    file: a.csv
    columns: [strain, force]
    length: 20 cm
    width: 5 cm
  - {kind: shear, points: [[1 deg, 0.6 gf/cm], [2 deg, 1.2 gf/cm]], hysteresis: true}
  - {kind: bending, direction: warp, modulus: 0.07 gf*cm^2/cm}
  - {kind: cantilever, direction: weft, bending_length: [18 mm, 19 mm]}
  - {kind: cusick, drape_coefficient: 62 %, size: 10 mm, drapings: 2, seed: 1}
  - kind: fast
    E5: [1 %, 1 %]
    EB5: 4 %
    C: [18 mm, 17 mm]
    W: 150 g/m^2
    T2: 0.4 mm
    as: straight
    uncertainty: 4 %
  - kind: kes
    EMT: [5 %, 7 %]
    G: [0.5 gf/(cm*deg)]
    W: 16 mg/cm^2
    B: [0.07 gf*cm^2/cm, 0.05 gf*cm^2/cm]
    T: 0.4 mm
""")
VALUES = [
    None,
    True,
    0,
    -1,
    3,
    1e300,
    1e-300,
    float("nan"),
    float("inf"),
    "",
    "x",
    "1 m",
    "-1 %",
    "1e9 N/m",
    [],
    [[]],
    [1, 2],
    ["x", "y"],
    {},
    {"kind": "shear"},
    "0 %",
    10**17,
    "shear",
    "../a",
    "warp",
]


def places(tree, loc=()):
    if loc:
        yield loc
    for key, value in (
        tree.items()
        if isinstance(tree, dict)
        else enumerate(tree)
        if isinstance(tree, list)
        else ()
    ):
        yield from places(value, (*loc, key))


@pytest.mark.parametrize("loc", list(places(SHEET)), ids=lambda loc: ".".join(map(str, loc)))
def test_any_value_anywhere(tmp_path, loc):
    (tmp_path / "a.csv").write_text("strain [%],force [gf/cm]\n1,4\n2,9\n")
    path = tmp_path / "a.yaml"
    for value in VALUES:
        tree = copy.deepcopy(SHEET)
        at = tree
        for key in loc[:-1]:
            at = at[key]
        at[loc[-1]] = value
        if len(loc) > 2:  # the other blocks are as they were
            tree["measurements"] = [tree["measurements"][loc[1]]]
        path.write_text(yaml.safe_dump(tree))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            try:
                read_fit(path)
            except WeftError as error:
                assert str(error)
