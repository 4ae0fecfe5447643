"""What the laboratory registers (``weft.extensions``)."""

from weft.extensions import Plugin

_HERE = "weft.plugins.lab"

plugin = Plugin(
    "lab",
    weft="0.1",
    entries={
        "fabric files": {"arcsim": f"{_HERE}.arcsim_file:read_arcsim"},
        "commands": {
            "fabrics test": f"{_HERE}.cli.fabrics_test:test",
            "fabrics fit": f"{_HERE}.cli.fabrics_fit:fit",
            "sweep": f"{_HERE}.cli.sweep:app",
            "dataset": f"{_HERE}.cli.dataset:dataset",
            "validate": f"{_HERE}.cli.validate:validate",
        },
    },
)
