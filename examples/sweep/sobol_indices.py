"""Which share of the variance of a measure comes from which field: Sobol indices by SALib.

pip install 'weft[data]' SALib
weft sweep examples/sweep/sobol_indices.yaml
weft dataset runs/sobol_indices indices.h5
python examples/sweep/sobol_indices.py indices.h5
"""

import sys

import numpy as np
from SALib.analyze import sobol as analysis
from SALib.sample import sobol as design

PROBLEM = {
    "names": ["cloth.sheet.width", "cloth.sheet.height", "gravity.1"],
    "bounds": [[0.3, 0.7], [0.3, 0.7], [-12.0, -5.0]],  # m, m, m/s^2
    "num_vars": 3,
}
MEASURES = ("strain_end", "speed_end", "width_end")


def rows(rng, samples):
    """Yield the values of all samples; each row of the design has one per field and two more."""
    for values in design.sample(PROBLEM, samples, calc_second_order=False, seed=1):
        width, height, gravity = values.tolist()
        yield dict(zip(PROBLEM["names"], [f"{width} m", f"{height} m", gravity]))


def indices(data, measure):
    """Return first-order and total indices of a measure; rows with a failed sample are left out."""
    values = np.full(int(data.number.max()) + 1, np.nan)
    values[data.number] = data[measure]
    values = values[: len(values) // 5 * 5].reshape(-1, 5)
    values = values[np.isfinite(values).all(axis=1)].ravel()
    return analysis.analyze(PROBLEM, values, calc_second_order=False, seed=1)


if __name__ == "__main__":
    import xarray

    data = xarray.open_dataset(sys.argv[1], engine="h5netcdf")
    for measure in MEASURES:
        found = indices(data, measure)
        for k, name in enumerate(PROBLEM["names"]):
            first = f"{found['S1'][k]:.2f} ± {found['S1_conf'][k]:.2f}"
            print(f"{measure:12} {name:20} {first}, total {found['ST'][k]:.2f}")
