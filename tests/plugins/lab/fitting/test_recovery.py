"""A trial of the study: strips, cantilever and drape of a fabric, with noise."""

import numpy as np
import pytest

from studies.fabric_recovery import FIELDS, STRAINS, _forces, measured
from weft.fabric.fabric import fabric
from weft.plugins.lab.fitting.fit import fit
from weft.plugins.lab.validate.fitting import START, Trial


@pytest.mark.slow
def test_denim():
    true = fabric("denim")
    pulled = {cut: _forces(true, cut) for cut in STRAINS}
    data = measured(true, pulled, np.random.default_rng(5), 3)
    trial = Trial.of(fit(data, fabric(START)), true)
    assert trial.found.fields == tuple(sorted(FIELDS, key=FIELDS.index))
    assert trial.found.freedom == 6 and np.abs(trial.z).max() < 4
    assert trial.found.measurements[-1].scatter > 0
    assert trial.found.relative["shear"] == pytest.approx(0.02 / np.sqrt(2), rel=0.1)
