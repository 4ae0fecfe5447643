"""The architecture, read from the imports: a module imports only from the left of its own stage."""

import ast
import re
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

pytestmark = pytest.mark.quick

SOURCE = Path(__file__).parents[1] / "src" / "weft"

STAGES = [
    ["base"],
    ["extensions"],
    ["builtin"],
    ["kernel"],
    ["solve"],
    ["laws"],
    ["discretization"],
    ["io"],
    ["energies"],
    ["bodies"],
    ["contact"],
    ["fabric"],
    ["cloth"],
    ["integrators"],
    ["scene"],
    ["run"],
    ["show"],
    ["adjoint"],
    ["torch", "jax"],
    ["live"],
    ["cli"],
    ["plugins"],
]
STAGE = {name: i for i, names in enumerate(STAGES) for name in names}
# Methods of a run and of a scene that load what they call when they are called.
CONVENIENCES = {"run/run.py": {"show"}, "scene/scene.py": {"show"}}
FILES = sorted(p for p in SOURCE.rglob("*.py"))
BESIDE = [
    p for n in ("studies", "benchmarks") for p in sorted((SOURCE.parents[1] / n).glob("*.py"))
]


def part_of(path):
    """``energies`` of energies/term.py, ``mesh`` of mesh.py; None for weft/__init__.py."""
    relative = path.relative_to(SOURCE)
    return None if relative.parts == ("__init__.py",) else relative.parts[0].removesuffix(".py")


def imports(path):
    """Parts of weft that a file imports, anywhere in it; typing-only imports too."""
    for node in ast.walk(ast.parse(path.read_text())):
        names = []
        if isinstance(node, ast.Import):
            names = [a.name for a in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names = [node.module]
            if node.module == "weft":
                names = [f"weft.{a.name}" for a in node.names]
        for name in names:
            if name.startswith("weft."):
                yield name.split(".")[1]
            assert name.split(".")[0] not in ("studies", "benchmarks") or path in BESIDE, path


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_imports_come_from_the_left(path):
    here = part_of(path)
    if here is None:
        return
    assert here in STAGE, f"{here} has no stage: give it one in tests/test_layering.py"
    allowed = CONVENIENCES.get(str(path.relative_to(SOURCE)), set())
    for other in set(imports(path)) - {here, "__version__"} - allowed:
        assert STAGE[other] < STAGE[here], f"{here} imports {other}, which is not to its left"


def name_of(path):
    """``weft.energies.base`` of src/weft/energies/base.py."""
    name = ".".join(("weft", *path.relative_to(SOURCE).with_suffix("").parts))
    return name.removesuffix(".__init__")


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
    trees = {name_of(path): ast.parse(path.read_text()) for path in FILES}
    uses = {name: sorted(set(imported_modules(t, trees)) & set(trees)) for name, t in trees.items()}
    names = list(uses)
    number = {name: k for k, name in enumerate(names)}
    pairs = [(number[a], number[b]) for a in names for b in uses[a]]
    graph = coo_matrix((np.ones(len(pairs)), np.transpose(pairs)), shape=(len(names),) * 2)
    _, label = connected_components(graph, directed=True, connection="strong")
    sizes = np.bincount(label)
    found = [{names[k] for k in np.flatnonzero(label == c)} for c in np.flatnonzero(sizes > 1)]
    assert [sorted(c) for c in found] == []


@pytest.mark.parametrize("path", FILES + BESIDE, ids=lambda p: f"{p.parent.name}/{p.name}")
def test_a_file_is_one_idea(path):
    """A docstring, ruff's layout, and no module that Warp cannot read."""
    text = path.read_text()
    assert "fmt:" + " skip" not in text
    assert ast.get_docstring(ast.parse(text)), "no docstring"
    if "wp.kernel" in text or "wp.func" in text:
        assert "from __future__ import annotations" not in text


def test_a_class_name_stands_for_one_thing():
    places = {}
    for path in FILES:
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places.setdefault(node.name, []).append(str(path.relative_to(SOURCE)))
    assert {name: files for name, files in places.items() if len(files) > 1} == {}


# Chapters whose modules have the field's nouns as names (docs/decisions/0021-names.md).
NAMED = {
    "base",
    "kernel",
    "solve",
    "laws",
    "discretization",
    "energies",
    "bodies",
    "contact",
    "fabric",
    "cloth",
    "integrators",
    "run",
    "show",
    "adjoint",
    "worlds",
    "scene",
}
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
    for path in FILES:
        if part_of(path) in NAMED:
            assert path.stem not in NO_NAMES, path


def test_only_the_kernel_package_launches():
    for path in FILES:
        if part_of(path) != "kernel":
            assert "wp.launch" not in path.read_text(), path


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


def defined_names(tree):
    """Names of classes, functions and attributes of a module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            yield node.name
            for field in node.body if isinstance(node, ast.ClassDef) else ():
                if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
                    yield field.target.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr


def test_names_are_words_of_the_field():
    for path in FILES:
        if part_of(path) in NAMED:
            for name in defined_names(ast.parse(path.read_text())):
                words = set(name.strip("_").lower().split("_"))
                if name.strip("_") not in IN_THE_FIELD:
                    assert not words & NO_WORDS, f"{path}: {name}"


MECHANICS = ("contact", "energies", "solve")  # they see arrays in, arrays out
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


def names_in(path):
    """Yield every identifier of a module's code."""
    for node in ast.walk(ast.parse(path.read_text())):
        for field in ("id", "attr", "arg", "name", "module"):
            value = getattr(node, field, None)
            if isinstance(value, str):
                yield from value.split(".")


def test_mechanics_names_no_machinery_of_speed():
    """Threads, slices, reference counts, deferred reads and packed bits belong to ``kernel``."""
    found = set()
    for folder in MECHANICS:
        for path in sorted((SOURCE / folder).rglob("*.py")):
            name = path.relative_to(SOURCE).as_posix()
            if not name.startswith(BITS_ALLOWED) and any(map(SPEED.search, names_in(path))):
                found.add(name)
    assert found == set(SPEED_ALLOWED)


def test_no_module_prints():
    for path in FILES:
        if part_of(path) != "cli" and "print(" in path.read_text():
            calls = [
                node.func.id
                for node in ast.walk(ast.parse(path.read_text()))
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
            ]
            assert "print" not in calls, path


# Chapters whose classes do not read the private fields of another class.
PRIVATE = ("energies", "contact")
NAMED_TUPLE = {"_replace", "_asdict", "_fields"}  # public methods of named tuples


def foreign_fields(tree):
    """Accesses to private attributes of other objects that their own class does not define."""
    own = {}
    for kind in (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)):
        inside = list(ast.walk(kind))
        names = {n.name for n in inside if isinstance(n, ast.FunctionDef)}
        names |= {n.attr for n in inside if isinstance(n, ast.Attribute) and _is_own(n.value)}
        names |= {n.target.id for n in kind.body if isinstance(n, ast.AnnAssign)}
        for node in inside:
            own[id(node)] = names | NAMED_TUPLE
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr.startswith("_"):
            mine = _is_own(node.value) or node.attr in own.get(id(node), NAMED_TUPLE)
            if not (mine or node.attr.startswith("__")):
                yield ast.unparse(node)


def _is_own(thing):
    if isinstance(thing, ast.Call):
        return isinstance(thing.func, ast.Name) and thing.func.id == "super"
    return isinstance(thing, ast.Name) and thing.id in ("self", "cls")


def test_private_fields_are_those_of_the_class_that_reads_them():
    found = {}
    for path in FILES:
        if part_of(path) in PRIVATE:
            reads = list(foreign_fields(ast.parse(path.read_text())))
            if reads:
                found[str(path.relative_to(SOURCE))] = reads
    assert found == {}
