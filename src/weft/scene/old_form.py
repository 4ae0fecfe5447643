"""The old form of scene files: `integrator: NAME` and a `solver:` block beside it.

It is read as `integrator: {NAME: {...}}`, with a warning that gives the present form.
"""

from collections.abc import Mapping
from typing import Any

import yaml

from weft.base.errors import SceneError, WeftError

Tree = dict[str, Any]
DEFAULT = "backward_euler"
_STEP = {f: f for f in ("tolerance", "max_iterations", "psd", "linear", "forcing")}
_ONE_SOLVE = {"psd": "psd", "linear": "linear", "forcing": "tolerance"}
# fields of `solver:`, and their names in each integrator
FIELDS: Mapping[str, Mapping[str, str]] = {
    "backward_euler": _STEP,
    "bdf2": _STEP,
    "bdf2_semi_implicit": _ONE_SOLVE,
    "baraff_witkin_1998": {**_ONE_SOLVE, "stop": "stop"},
    "quasi_static": {f: f for f in ("max_iterations", "psd", "linear")},
}


def integrator_of(tree: Tree, otherwise: str = DEFAULT) -> tuple[str, Tree]:
    """Return name and settings of a tree's integrator, and write both into the tree in place."""
    given = tree.get("integrator", otherwise)
    if isinstance(given, str):
        given = tree["integrator"] = {given: {}}
    if not isinstance(given, dict) or len(given) != 1:
        return "", {}  # validation against the schema reports it
    (name,) = given
    if not isinstance(given[name], dict):
        given[name] = {} if given[name] is None else given[name]
    return str(name), given[name] if isinstance(given[name], dict) else {}


def take_solver(tree: Tree) -> tuple[dict[str, str], list[WeftError]]:
    """Move the fields of `solver:` to the integrator.

    Returns:
        The new name of each moved field, and the problems of fields that cannot be moved.
    """
    solver = tree.pop("solver") or {}
    if not isinstance(solver, dict):
        return {}, [SceneError("solver", got=repr(solver), expected="a block of fields")]
    name, own = integrator_of(tree)
    known = FIELDS.get(name, {})
    moved = {field: known[field] for field in solver if field in known}
    own.update({new: solver[old] for old, new in moved.items() if solver[old] is not None})
    hint = f"`weft explain scene.integrator.{name}` says what it has"
    expected = f"nothing: integrator {name} does not have it"
    return moved, [
        SceneError(f"solver.{f}", got=v, expected=expected, hint=hint)
        for f, v in solver.items()
        if f not in known
    ]


def written_now(tree: Tree) -> str:
    """Return the integrator in one line of YAML."""
    text = yaml.safe_dump(tree["integrator"], default_flow_style=True, width=1000, sort_keys=False)
    return f"integrator: {text.strip()}"
