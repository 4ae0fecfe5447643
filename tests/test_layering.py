"""The architecture, read from the imports: a module imports only from the left of its own stage."""

import ast
import re

import pytest
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from tests.sources import modules

pytestmark = pytest.mark.quick

STAGES = [
    "base",
    "extensions",
    "builtin",
    "kernel",
    "solve",
    "laws",
    "discretization",
    "io",
    "energies",
    "bodies",
    "contact",
    "fabric",
    "cloth",
    "integrators",
    "scene",
    "run",
    "show",
    "adjoint",
    "torch jax",
    "live",
    "cli",
    "plugins",
]
STAGE = {name: i for i, names in enumerate(STAGES) for name in names.split()}
# Methods of a run and of a scene that load what they call when they are called.
CONVENIENCES = {"run/run.py": {"show"}, "scene/scene.py": {"show"}}


def within(*parts):
    """Modules of some parts of weft."""
    return [module for module in modules() if module.part in parts]


def test_imports_come_from_the_left():
    wrong = []
    for module in modules():
        names = [name.split(".") for name in module.imports]
        assert not {name[0] for name in names} & {"studies", "benchmarks"}, module.path
        if module.part == "weft":
            continue
        assert module.part in STAGE, f"{module.part} has no stage: give it one in this file"
        allowed = {module.part, "__version__"} | CONVENIENCES.get(module.place, set())
        others = {name[1] for name in names if name[0] == "weft" and len(name) > 1} - allowed
        late = [part for part in others if STAGE[part] >= STAGE[module.part]]
        wrong += [f"{module.place} imports {part}, which is not to its left" for part in late]
    assert wrong == []


def imported_modules(node, names):
    """Modules of weft that a syntax tree imports outside of functions."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ImportFrom):
            for alias in child.names:
                full = f"{child.module}.{alias.name}"
                yield full if full in names else child.module
        elif isinstance(child, ast.Import):
            yield from (alias.name for alias in child.names)
        elif not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from imported_modules(child, names)


def test_modules_do_not_import_one_another_in_circles():
    """Imports under TYPE_CHECKING count, too."""
    number = {module.name: k for k, module in enumerate(modules())}
    uses = {m.name: set(imported_modules(m.tree, number)) & number.keys() for m in modules()}
    a, b = zip(*((number[one], number[other]) for one in uses for other in uses[one]))
    graph = coo_matrix(([1] * len(a), (a, b)), shape=(len(number),) * 2)
    _, label = connected_components(graph, directed=True, connection="strong")
    circles = {}
    for name, of in zip(number, label):
        circles.setdefault(of, []).append(name)
    assert [names for names in circles.values() if len(names) > 1] == []


def test_a_file_is_laid_out_by_ruff_and_read_by_warp():
    wrong = []
    for module in modules():
        has_kernels = "wp.kernel" in module.text or "wp.func" in module.text
        late = has_kernels and "from __future__ import annotations" in module.text
        if late or "fmt:" + " skip" in module.text:
            wrong.append(module.place)
    assert wrong == []


def test_a_class_name_stands_for_one_thing():
    places = {}
    for module in modules():
        for node in module.tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places.setdefault(node.name, []).append(module.place)
    assert {name: files for name, files in places.items() if len(files) > 1} == {}


# Chapters whose modules have the field's nouns as names (docs/decisions/0021-names.md).
NAMED = STAGE.keys() - {"extensions", "builtin", "io", "torch", "jax", "live", "cli", "plugins"}
NO_NAMES = {
    "held",
    "kept",
    "found",
    "said",
    "taken",
    "anew",
    "stays",
    "given",
    "told",
    "who",
    "things",
    "doubt",
    "same",
    "known",
    "words",
    "lines",
    "eights",
    "questions",
    "loose",
    "turned",
    "places",
    "doors",
    "crew",
    "kinds",
    "made",
    "making",
    "retied",
    "ends",
    "saved",
    "opening",
}


def test_modules_have_nouns_of_the_field_as_names():
    assert [m.place for m in within(*NAMED) if m.path.stem in NO_NAMES] == []


def test_only_the_kernel_package_launches():
    launch = [m.place for m in modules() if "wp.launch" in m.text and m.part != "kernel"]
    assert launch == []


# Words that say nothing to a reader who looks for the thing: STYLE of names in docs/contributing.
NO_WORDS = {
    "anew",
    "firmness",
    "gone",
    "grip",
    "kept",
    "latecomers",
    "loose",
    "put",
    "rubbing",
    "rubs",
    "soon",
    "went",
}
# Words of the field: edges without faces, a robot's gripper, clearance.
IN_THE_FIELD = {
    "grip_progress",
    "grip_vertices",
    "kept_clear",
    "loose_edges",
    "sew_loose_edges",
}


def defined_names(module):
    """Names of classes, functions and attributes of a module."""
    for node in module.all_of(ast.ClassDef, ast.FunctionDef):
        yield node.name
        for field in node.body if isinstance(node, ast.ClassDef) else ():
            if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
                yield field.target.id
    for node in module.all_of(ast.Attribute):
        if isinstance(node.ctx, ast.Store):
            yield node.attr


def test_names_are_words_of_the_field():
    wrong = [
        f"{module.place}: {name}"
        for module in within(*NAMED)
        for name in defined_names(module)
        if name.strip("_") not in IN_THE_FIELD
        and NO_WORDS & set(name.strip("_").lower().split("_"))
    ]
    assert wrong == []


SPEED = re.compile(
    r"thread|slic(e_above|ing)|refcount|[Dd]efer|bitmask|(^|_)bits?(_|$)|^BitsArray$|^mask_below$"
)
BITS_ALLOWED = ("contact/broad_phase/", "contact/narrow_phase/distance_bounds.py")
SPEED_ALLOWED = {
    "contact/collision_groups.py": "groups of a vertex are a set, stored as bits",
    "contact/detector.py": "its kernel reads the bits of candidates, a word at a time",
    "contact/ccd/conservative_advancement.py": "its kernel reads the bits of candidates",
    "contact/ccd/planar_truncation.py": "its kernel reads the bits of candidates",
    "contact/narrow_phase/classify.py": "its kernels write the bits of pairs that touch",
    "solve/linear/direct.py": "PARDISO has threads of its own, whose number weft sets",
}


def identifiers(module):
    """Yield every identifier of a module's code."""
    for node in module.nodes:
        for field in ("id", "attr", "arg", "name", "module"):
            value = getattr(node, field, None)
            if isinstance(value, str):
                yield from value.split(".")


def test_mechanics_names_no_machinery_of_speed():
    """Threads, slices, reference counts, deferred reads and packed bits belong to ``kernel``."""
    found = {
        module.place
        for module in within("contact", "energies", "solve")  # arrays in, arrays out
        if not module.place.startswith(BITS_ALLOWED) and any(map(SPEED.search, identifiers(module)))
    }
    assert found == SPEED_ALLOWED.keys()


NAMED_TUPLE = {"_replace", "_asdict", "_fields"}  # public methods of named tuples


def foreign_fields(module):
    """Accesses to private attributes of other objects that their own class does not define."""
    own = {}
    for kind in module.all_of(ast.ClassDef):
        inside = list(ast.walk(kind))
        names = {n.name for n in inside if isinstance(n, ast.FunctionDef)}
        names |= {n.attr for n in inside if isinstance(n, ast.Attribute) and _is_own(n.value)}
        names |= {n.target.id for n in kind.body if isinstance(n, ast.AnnAssign)}
        for node in inside:
            own[id(node)] = names | NAMED_TUPLE
    for node in module.all_of(ast.Attribute):
        if node.attr.startswith("_"):
            mine = _is_own(node.value) or node.attr in own.get(id(node), NAMED_TUPLE)
            if not (mine or node.attr.startswith("__")):
                yield ast.unparse(node)


def _is_own(thing):
    if isinstance(thing, ast.Call):
        return isinstance(thing.func, ast.Name) and thing.func.id == "super"
    return isinstance(thing, ast.Name) and thing.id in ("self", "cls")


def test_private_fields_are_those_of_the_class_that_reads_them():
    found = {m.place: list(foreign_fields(m)) for m in within("energies", "contact")}
    assert {place: reads for place, reads in found.items() if reads} == {}
