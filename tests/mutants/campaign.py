"""``python -m tests.mutants.campaign FOLDER``: mutants of the modules of ``modules.py``, drawn
by seed, each against the tests that cover its line until one fails.

The tests are those of a measured run (``make mutants``): ``coverage`` and ``junit.xml`` in FOLDER.
A kernel's lines are not seen by it; they take the tests that ``modules.py`` gives the module.

Mutants are those of cosmic-ray: a sign, an operator, a comparison, a condition, a number, a loop
that is never entered. Annotations, decorators, docstrings, messages and errors are left as they
are. Each worker has a copy of the source and a cache of kernels of its own.
"""

import argparse
import ast
import json
import os
import random
import shutil
import subprocess
import sys
import time
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from itertools import accumulate
from pathlib import Path
from queue import Queue
from tempfile import mkdtemp
from xml.etree import ElementTree

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator
from coverage import CoverageData

from tests.mutants.modules import MODULES

ROOT = Path(__file__).parents[2]
OPERATORS = [
    *(f"ReplaceBinaryOperator_{o}" for o in ("Add_Sub", "Sub_Add", "Mul_Div", "Div_Mul")),
    *(f"ReplaceBinaryOperator_{o}" for o in ("Pow_Mul", "BitAnd_BitOr", "BitOr_BitAnd")),
    *(f"ReplaceComparisonOperator_{o}" for o in ("Lt_GtE", "GtE_Lt", "Gt_LtE", "LtE_Gt")),
    *(f"ReplaceComparisonOperator_{o}" for o in ("Eq_NotEq", "NotEq_Eq", "Is_IsNot", "IsNot_Is")),
    *("ReplaceUnaryOperator_Delete_USub", "ReplaceUnaryOperator_Delete_Not", "AddNot"),
    *("ReplaceTrueWithFalse", "ReplaceFalseWithTrue", "ReplaceAndWithOr", "ReplaceOrWithAnd"),
    *("ReplaceBreakWithContinue", "ReplaceContinueWithBreak", "NumberReplacer"),
    "ZeroIterationForLoop",
]
TELLS = ("warn", "error", "fail", "refuse", "message", "hint")


@dataclass(frozen=True)
class Mutant:
    """One change of one module: the operator, which of its places, and the line."""

    module: str
    operator: str
    occurrence: int
    line: int


def _left_alone(source: str) -> list[tuple[int, int, int, int]]:
    """Ranges of the source whose mutants nobody could or should see."""
    nodes: list[ast.AST] = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            nodes += node.decorator_list
        if isinstance(node, ast.FunctionDef):
            nodes += [node.returns] if node.returns else []
        if isinstance(node, (ast.arg, ast.AnnAssign)) and node.annotation:
            nodes.append(node.annotation)
        if isinstance(node, (ast.Raise, ast.JoinedStr)):
            nodes.append(node)
        if isinstance(node, ast.Call) and any(t in ast.unparse(node.func).lower() for t in TELLS):
            nodes.append(node)
        if isinstance(node, ast.Assign) and "wp.tid()" in ast.unparse(node.value):
            nodes.append(node)  # the index of a thread
    return [
        (n.lineno, n.col_offset, n.end_lineno, n.end_col_offset)  # type: ignore[attr-defined]
        for n in nodes
    ]


def mutants(module: str, count: int, seed: int) -> list[Mutant]:
    """``count`` mutants of a module, drawn by place, then by operator."""
    source = (ROOT / "src/weft" / module).read_text()
    silent = _left_alone(source)
    at = defaultdict(list)
    for name in OPERATORS:
        operator, occurrence = get_operator(f"core/{name}")(), 0
        for node in ast_nodes(get_ast(source)):
            for begin, _ in operator.mutation_positions(node):
                if not any(s[:2] <= begin < s[2:] for s in silent):
                    at[begin].append(Mutant(module, name, occurrence, begin[0]))
                occurrence += 1
    draw = random.Random(f"{seed} {module}")
    places = draw.sample(sorted(at), min(count, len(at)))
    return sorted((draw.choice(at[p]) for p in places), key=lambda m: (m.line, m.occurrence))


class Tests:
    """The tests that cover a line, quickest first, from a measured run."""

    def __init__(self, folder: Path, longest: float):
        self.longest = longest
        self.data = CoverageData(str(folder / "coverage"))
        self.data.read()
        cases = ElementTree.parse(folder / "junit.xml").iter("testcase")
        self.seconds = {
            f"{c.get('classname', '').replace('.', '/')}.py::{c.get('name')}": float(
                c.get("time", 0)
            )
            for c in cases
        }

    def of(self, mutant: Mutant) -> list[str]:
        """Tests that take at most ``longest`` [s] together; else files of the module."""
        found = self.data.contexts_by_lineno(str(ROOT / "src/weft" / mutant.module))
        names = {c.split("|")[0] for c in found.get(mutant.line, []) if c}
        known = sorted((self.seconds[n], n) for n in names if n in self.seconds)
        total = list(accumulate(s for s, _ in known))
        chosen = [n for (_, n), t in zip(known, total, strict=True) if t < self.longest]
        return chosen or MODULES[mutant.module][1]


class Worker:
    """A copy of the source, in which one mutant at a time is tried."""

    def __init__(self, limit: int):
        self.folder = Path(mkdtemp(prefix="mutants-"))
        shutil.copytree(ROOT / "src", self.folder / "src")
        environment = {
            **os.environ,
            "PYTHONPATH": f"{self.folder / 'src'}",
            "WARP_CACHE_PATH": f"{self.folder / 'kernels'}",
        }
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.mutants.prepared", str(limit)],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def tests(self, files: list[str]) -> tuple[str, str]:
        """The outcome of tests, and the first that fails."""
        options = ["-x", "-q", "-p", "no:cacheprovider", "-W", "ignore"]
        options += ["-m", "not slow and not campaign and not browser"]
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(json.dumps([*options, *files]) + "\n")
        self.process.stdin.flush()
        status, test = json.loads(self.process.stdout.readline())
        if status < 0:
            return "timeout", ""
        return ("survived", "killed")[status != 0], test

    def tried(self, mutant: Mutant, files: list[str]) -> dict:
        """What became of a mutant, with the changed line."""
        path = self.folder / "src/weft" / mutant.module
        source = path.read_text()
        operator = get_operator(f"core/{mutant.operator}")()
        changed = mutate_code(source, operator, mutant.occurrence)
        begin = time.perf_counter()
        path.write_text(changed)
        for old in path.parent.glob(f"__pycache__/{path.stem}.*"):  # mutants have equal sizes
            old.unlink()
        try:
            outcome, test = self.tests(files)
        finally:
            path.write_text(source)
        lines = zip(source.splitlines(), changed.splitlines(), strict=False)
        was, now = next(((a, b) for a, b in lines if a != b), ("", ""))
        seconds = round(time.perf_counter() - begin, 1)
        found = {"outcome": outcome, "test": test, "seconds": seconds}
        return {**asdict(mutant), **found, "was": was.strip(), "now": now.strip()}


def table(results: list[dict]) -> str:
    """Mutants, those that no test killed, and the score [%], of each module and of all."""
    rows = []
    for module in [*dict.fromkeys(r["module"] for r in results), "all"]:
        count = Counter(r["outcome"] for r in results if module in (r["module"], "all"))
        n, killed = sum(count.values()), count["killed"]  # a timeout is not known to be found
        rows.append(f"{module:45} {n:5} {n - killed:5} {100 * killed / n:6.1f}")
    return "\n".join([f"{'module':45} {'all':>5} {'alive':>5} {'score':>6}", *rows])


def main() -> None:
    """Run the campaign: a line of FOLDER/mutants.jsonl for each mutant that is not there yet."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="modules whose name contains this")
    parser.add_argument("--again", action="store_true", help="only those that were not killed")
    parser.add_argument("--longest", type=float, default=20.0, help="tests of a mutant [s]")
    parser.add_argument("--limit", type=int, default=60, help="processor time of one mutant [s]")
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    given = parser.parse_args()
    out, tests = given.folder / "mutants.jsonl", Tests(given.folder, given.longest)
    old = [json.loads(t) for t in out.read_text().splitlines()] if out.exists() else []
    known = {(r["module"], r["operator"], r["occurrence"]): r for r in old}
    if given.again:
        known = {k: r for k, r in known.items() if r["outcome"] == "killed"}
    chosen = [
        mutant
        for module, (count, _) in MODULES.items()
        if given.only in module
        for mutant in mutants(module, count, given.seed)
    ]
    todo = [m for m in chosen if (m.module, m.operator, m.occurrence) not in known]
    workers: Queue[Worker] = Queue()
    for _ in range(given.workers):
        workers.put(Worker(given.limit))

    def tried(mutant: Mutant) -> dict:
        worker = workers.get()
        try:
            return worker.tried(mutant, tests.of(mutant))
        finally:
            workers.put(worker)

    with ThreadPoolExecutor(given.workers) as pool, out.open("w") as file:
        for result in known.values():
            file.write(json.dumps(result) + "\n")
        for result in pool.map(tried, todo):
            file.write(json.dumps(result) + "\n")
            file.flush()
            sys.stderr.write(f"{result['outcome']:8} {result['seconds']:6} {result['module']}\n")
    results = [json.loads(t) for t in out.read_text().splitlines()]
    sys.stdout.write(table(results) + "\n")
    while not workers.empty():
        shutil.rmtree(workers.get().folder)


if __name__ == "__main__":
    main()
