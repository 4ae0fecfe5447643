"""The modules that are mutated, and the tests of each, quickest first."""

ENGINE = "tests/engine"
TOGETHER = "tests/together"
PLUGINS = "tests/plugins"

LAWS = [
    f"{ENGINE}/laws",
    f"{ENGINE}/energies/test_condition.py",
    f"{TOGETHER}/integrators/test_condition_damping.py",
    f"{PLUGINS}/lab/validate",
]
ENERGIES = [f"{ENGINE}/energies/test_energies.py", f"{ENGINE}/energies/test_mixed.py"]
CONTACT = [
    f"{ENGINE}/contact/test_barrier.py",
    f"{ENGINE}/contact/test_contact.py",
    f"{ENGINE}/contact/test_neighborhood.py",
    f"{ENGINE}/contact/test_exact_hessian.py",
    f"{ENGINE}/contact/test_adjacent.py",
    f"{ENGINE}/contact/test_cores.py",
    f"{ENGINE}/contact/test_sides.py",
    f"{ENGINE}/contact/test_friction.py",
]
FRICTION = [CONTACT[-1], f"{ENGINE}/contact/test_anisotropic_friction.py"]
CCD = [
    f"{ENGINE}/contact/test_truncation.py",
    f"{ENGINE}/contact/test_neighborhood.py",
    f"{ENGINE}/contact/test_tunnelling.py",
    f"{ENGINE}/contact/test_prescribed.py",
    f"{ENGINE}/contact/test_push_out.py",
]
NEWTON = [
    f"{ENGINE}/solve/test_newton.py",
    f"{ENGINE}/solve/test_indefinite.py",
    f"{ENGINE}/integrators",
    f"{ENGINE}/test_simulation.py",
    f"{ENGINE}/contact/test_integrators.py",
]
STEPS = [
    f"{ENGINE}/integrators",
    f"{TOGETHER}/integrators",
    f"{ENGINE}/test_simulation.py",
    f"{ENGINE}/contact/test_impacts.py",
    f"{ENGINE}/contact/test_integrators.py",
    f"{ENGINE}/adjoint/test_runs.py",
]
GRADIENTS = [f"{ENGINE}/adjoint", "tests/verification/test_derivatives.py"]
RUNS = [
    f"{ENGINE}/run",
    f"{ENGINE}/scene/test_bends.py",
    f"{ENGINE}/test_simulation.py",
    f"{ENGINE}/cli",
    "tests/test_run_folders.py",
    f"{TOGETHER}/cli",
    f"{ENGINE}/integrators/test_advice.py",
    f"{ENGINE}/contact/test_stops.py",
]

# Module of src/weft: the number of mutants, and its tests.
MODULES: dict[str, tuple[int, list[str]]] = {
    "laws/base.py": (10, LAWS),
    "laws/baraff_witkin.py": (14, LAWS),
    "laws/shear.py": (12, LAWS),
    "laws/data_driven.py": (14, LAWS),
    "laws/immediate_buckling.py": (10, LAWS),
    "energies/elastic/hinge_kernels.py": (
        14,
        [f"{ENGINE}/energies/test_hinge_bending.py", *ENERGIES],
    ),
    "energies/elastic/membrane.py": (12, [f"{ENGINE}/energies/test_membrane.py", *ENERGIES]),
    "energies/elastic/internal_friction.py": (
        10,
        [f"{TOGETHER}/energies/test_internal_friction.py", *ENERGIES],
    ),
    "energies/loads/pressure.py": (12, [f"{TOGETHER}/energies/test_pressure.py", *ENERGIES]),
    "energies/springs/distance.py": (10, [*ENERGIES, f"{ENGINE}/attachments"]),
    "energies/air/lift_and_drag.py": (12, [f"{ENGINE}/energies/test_wind.py", *ENERGIES]),
    "contact/distance/distance.py": (30, CONTACT),
    "contact/barrier/barrier.py": (25, CONTACT),
    "contact/barrier/kinks.py": (5, [*CONTACT, f"{ENGINE}/adjoint/test_kinks.py"]),
    "contact/ccd/conservative_advancement.py": (18, CCD),
    "contact/ccd/carry_along.py": (14, CCD),
    "contact/ccd/prescribed_motion.py": (8, CCD),
    "contact/friction/law.py": (12, FRICTION),
    "solve/newton/minimize.py": (14, NEWTON),
    "solve/newton/line_search.py": (10, NEWTON),
    "solve/newton/stopping.py": (10, NEWTON),
    "solve/newton/descent.py": (10, NEWTON),
    "solve/newton/shifted.py": (8, NEWTON),
    "integrators/bdf2.py": (10, STEPS),
    "integrators/impacts.py": (10, STEPS),
    "integrators/adaptive.py": (14, STEPS),
    "integrators/potential.py": (16, STEPS),
    "integrators/baraff_witkin_1998.py": (12, STEPS),
    "adjoint/rollout.py": (14, GRADIENTS),
    "adjoint/material.py": (12, GRADIENTS),
    "adjoint/losses.py": (12, GRADIENTS),
    "adjoint/reverse_step.py": (8, GRADIENTS),
    "adjoint/tangent.py": (10, GRADIENTS),
    "run/drive.py": (14, RUNS),
    "run/step_costs.py": (12, RUNS),
    "run/bends.py": (8, RUNS),
    "run/frame_selection.py": (8, RUNS),
    "run/recovery.py": (12, RUNS),
    "base/units/expression.py": (6, [f"{ENGINE}/test_units.py", f"{ENGINE}/test_expression.py"]),
    "base/units/quantity.py": (8, [f"{ENGINE}/test_units.py", f"{ENGINE}/test_expression.py"]),
    "discretization/bspline.py": (12, [f"{ENGINE}/discretization"]),
    "discretization/weld.py": (10, [f"{TOGETHER}/io/test_weld.py", f"{ENGINE}/io"]),
    "plugins/garments/patterns/curves.py": (12, [f"{PLUGINS}/garments/patterns"]),
    "plugins/garments/patterns/symmetry.py": (8, [f"{PLUGINS}/garments/patterns"]),
    "plugins/lab/laboratory/cusick.py": (10, [f"{PLUGINS}/lab/laboratory"]),
    "plugins/robots/arms/read_arm.py": (10, [f"{PLUGINS}/robots/arms"]),
    "plugins/film/catmull_clark.py": (10, [f"{PLUGINS}/film/test_catmull_clark.py"]),
}
