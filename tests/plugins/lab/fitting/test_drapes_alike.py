"""A fabric from photographs of its drapes drapes alike: the mean over other folds, from bumps that
neither pictures nor fit have, to 2 points of the coefficient.
"""

import pytest

from tests.plugins.lab.fitting.make_photographs import FOLDER, fit_text, other_folds, photographs
from weft.fabric.fabric import fabric
from weft.plugins.lab.fitting.file import read_fit
from weft.plugins.lab.fitting.fit import fit
from weft.plugins.lab.fitting.report import write_report

pytest.importorskip("skimage", reason="no scikit-image: pip install 'weft[photographs]'")
ALIKE = 0.02
PICTURES = 3


@pytest.mark.slow
@pytest.mark.parametrize(("name", "start"), [("wool", "cotton")])
def test_drapes_alike(name, start, tmp_path):
    photographs(name, tmp_path, PICTURES)
    path = tmp_path / "fit.yaml"
    path.write_text(fit_text(name, start, PICTURES))
    read = read_fit(path)
    found = fit(read.measurements, read.start, read.hold)
    assert "3 drapings" in write_report(read, found) and "longer along the warp" in write_report(
        read, found
    )
    assert {"bending_warp", "bending_weft", "density"} == set(found.fields)
    got, true = other_folds(found.fabric), other_folds(fabric(name))
    assert got.coefficient == pytest.approx(true.coefficient, abs=ALIKE)
    assert got.nodes == pytest.approx(true.nodes, abs=1.0)


def test_example_is_what_is_made():
    """Its text; and what its pictures show: warp a little longer, as of wool, where it is said."""
    path = FOLDER.parent / "drapings.yaml"
    assert path.read_text() == fit_text("wool", "cotton", PICTURES, "drapings/")
    drape = read_fit(path).measurements[-1]
    assert drape.numbers[0] == pytest.approx(0.475, abs=0.01)
    assert [o.nodes for o in drape.seen] == [7, 6, 6]
    assert all(o.along > 1e-3 for o in drape.seen)
