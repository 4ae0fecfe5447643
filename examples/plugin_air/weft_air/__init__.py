"""A plugin for weft: added mass of air, wind on a grid, and an experiment of the certificate.

``pip install ./examples/plugin_air``, then ``weft run examples/plugin_air/scene.yaml``.

Read in this order: ``settings`` has the scene blocks ``added_mass`` and ``wind_grid``,
``added_mass`` the inertia of the air that a slender strip carries with it (Lighthill 1960, 1971)
and ``added_mass_kernels`` its kernels, ``wind_grid`` velocities on a grid. ``flutter`` compares
strips in wind with the theory in ``beam``.
"""

from weft.extensions import Plugin

plugin = Plugin(
    "air",
    weft="0.1",
    version="0.1.0",
    entries={
        "energies": {
            "added_mass": "weft_air.settings:AddedMassSettings",
            "wind_grid": "weft_air.settings:WindGridSettings",
        },
        "long certificate": {"flutter": "weft_air.flutter:checks"},
    },
)
