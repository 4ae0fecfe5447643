"""The engine's own entries, registered as those of plugins are (``weft.extensions``)."""

from weft.extensions import Plugin

_COMMANDS = [
    "demo",
    "examples",
    "run",
    "play",
    "settle",
    "check",
    "explain",
    "view",
    "render",
    "quality",
    "export",
    "doctor",
]

plugin = Plugin(
    "weft",
    weft="0.1",
    entries={
        "commands": {
            **{name: f"weft.cli.{name}:{name}" for name in _COMMANDS},
            "fabrics": "weft.cli.fabrics:app",
        },
        "cloth sources": {
            name: f"weft.scene.cloth_sources:{name.upper()}"
            for name in ("sheet", "panel", "mesh", "rod")
        },
        "bodies": {
            name: f"weft.scene.shapes:{name.upper()}"
            for name in (
                *("sphere", "plate", "plane", "capsule", "cylinder", "cone", "disk", "box"),
                *("ring", "height_field", "distance_grid", "mesh"),
            )
        },
        "laws": {
            **{
                name: f"weft.scene.law:{name}"
                for name in (
                    *("baraff_witkin", "arap", "stvk_shear", "no_shear", "stvk", "neo_hookean"),
                    "immediate_buckling",
                )
            },
            "measured": "weft.scene.law:measured_law",
            "data_driven": "weft.scene.law:data_driven_law",
        },
        "bending": {
            "hinges": "weft.scene.elastic:hinge_bending",
            "quadratic": "weft.scene.elastic:quadratic_bending",
            "fitted": "weft.scene.elastic:fitted_bending",
            "pairs": "weft.scene.elastic:pair_bending",
        },
        "linear solvers": {
            "multigrid": "weft.solve.linear.multigrid.solver:Multigrid",
            **{name: f"weft.solve.linear.select:{name}" for name in ("pcg", "pardiso", "splu")},
        },
        "parameters": {
            name: f"weft.adjoint.scene_parameters:{name}_parameters"
            for name in ("fabrics", "forces", "contact", "holders")
        },
        "looks": {
            name: f"weft.show.looks:OWN.{name}"
            for name in (
                *(
                    "surface",
                    "fabric",
                    "panels",
                    "checker",
                    "plain",
                    "strain",
                    "pressure",
                    "stress",
                ),
                *("stress-warp", "stress-weft", "stress-shear", "curvature", "fit", "speed"),
            )
        },
        "formats": {
            f".{name}": f"weft.io.formats.builtin:{name.upper()}"
            for name in ("obj", "ply", "stl", "vtkhdf", "pc2", "npz", "h5")
        },
    },
)
