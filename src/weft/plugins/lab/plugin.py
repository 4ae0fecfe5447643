"""Entries of the laboratory in the registries (``weft.extensions``)."""

from weft.extensions import Plugin

_HERE = "weft.plugins.lab"

# Experiments of the certificate: their module in ``validate``, and function.
_EXPERIMENTS = {
    "free-fall": "free_fall:checks",
    "rigid-motion": "rigid_motion:checks",
    "hanging-strip": "hanging_strip:checks",
    "catenary": "catenary:checks",
    "elastica": "elastica:checks",
    "quadratic-bending": "quadratic_bending:checks",
    "euler-buckling": "euler_buckling:checks",
    "drum": "drum:checks",
    "hencky": "hencky:checks",
    "order": "order:checks",
    "derivatives": "derivatives:checks",
    "spectra": "spectra:checks",
    "bias": "bias:checks",
    "tension-field": "tension_field:checks",
    "friction": "friction:checks",
    "friction-at-rest": "friction_at_rest:checks",
    "wind": "wind:checks",
    "limits": "limits:checks",
    "creases": "creases:checks",
    "internal-friction": "internal_friction:checks",
    "attachments": "attachments:checks",
    "rigid": "rigid:checks",
    "laboratory": "laboratory:checks",
}
# Those that --all adds.
_LONG_EXPERIMENTS = {
    "rods": "rods:checks",
    "jointed": "jointed:checks",
    "fitting": "fitting:checks",
    "pillow": "pillow:checks",
    "numerical-damping": "numerical_damping:checks",
    "wrinkles": "wrinkles:checks",
    "adjoint": "adjoint:checks",
    "capstan": "friction:capstan",
    "capstan-at-rest": "friction_at_rest:capstan",
    "drape": "laboratory:drapes",
}

plugin = Plugin(
    "lab",
    weft="0.1",
    entries={
        "names": {"sweep": f"{_HERE}.sweep.runner:sweep"},
        "options": {"arcsim": f"{_HERE}.arcsim_file:read_arcsim"},
        "certificate": {name: f"{_HERE}.validate.{at}" for name, at in _EXPERIMENTS.items()},
        "long certificate": {
            name: f"{_HERE}.validate.{at}" for name, at in _LONG_EXPERIMENTS.items()
        },
        "commands": {
            "fabrics test": f"{_HERE}.cli.fabrics_test:test",
            "fabrics fit": f"{_HERE}.cli.fabrics_fit:fit",
            "sweep": f"{_HERE}.cli.sweep:app",
            "dataset": f"{_HERE}.cli.dataset:dataset",
            "validate": f"{_HERE}.cli.validate:validate",
        },
    },
)
