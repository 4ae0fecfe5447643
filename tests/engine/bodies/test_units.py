"""Bodies of files without a unit."""

import pytest

from weft.contact import load_body

TRIANGLE = "v 0 0 0\nv {0} 0 0\nv 0 {0} 0\nf 1 2 3\n"


@pytest.mark.parametrize("across, unit", [(168, "cm"), (1680, "mm")])
def test_a_large_body_gets_a_hint_of_its_likely_unit(tmp_path, across, unit):
    file = tmp_path / "scan.obj"
    file.write_text(TRIANGLE.format(across))
    with pytest.warns(UserWarning, match=f"scale: 1 {unit}"):
        load_body(file)
