"""Who may import whom, read from the syntax tree of src/discreet: arrows, fences, no cycles, no `random`.

The rules are the tables below; they also cover packages that do not exist yet. What they do not name is refused.
"""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

import discreet

SOURCE = Path(discreet.__file__).parent

PUBLIC = {
    "AboveThreshold",
    "Answer",
    "Budget",
    "CoinToss",
    "Curator",
    "DiscreetError",
    "DiscreteGaussian",
    "Exponential",
    "Fault",
    "Gaussian",
    "Geometric",
    "Invalid",
    "Laplace",
    "NoisyMax",
    "PermuteAndFlip",
    "Policy",
    "Preview",
    "PrivacyLoss",
    "Quantiles",
    "QueryError",
    "Quote",
    "RandomizedResponse",
    "Refused",
    "Relation",
    "SignedResponse",
    "__version__",
    "attacks",
    "audit",
    "col",
    "count",
    "count_distinct",
    "fn",
    "interval",
    "learn",
    "lit",
    "local",
    "mean",
    "mechanisms",
    "median",
    "mode",
    "noise",
    "param",
    "privacy",
    "quantile",
    "stddev",
    "sum",
    "theorems",
    "unmetered",
    "variance",
    "weights",
    "when",
}

# Each package or module directly under src/discreet, and what it may import besides itself.
BASIC = {"binomial", "errors", "exact", "fields", "lazy", "whole_file"}
ARROWS = {
    "accountant": set[str](),
    "binomial": set[str](),
    "cells": {"errors", "exact", "mechanisms", "privacy"},
    "errors": set[str](),
    "exact": {"errors"},
    "fields": {"errors", "exact"},
    "lazy": set[str](),
    "whole_file": {"errors"},
    "noise": BASIC,
    "privacy": {"accountant", *BASIC},
    "mechanisms": {"noise", "privacy", *BASIC},
    "plan": {"mechanisms", "privacy", *BASIC},
    "engines": {
        *(
            f"plan.{each}"
            for each in (
                "apportioned",
                "casts",
                "computed",
                "evaluate",
                "functions",
                "joins",
                "letters",
                "moments",
                "parts",
                "relation",
                "scalar",
                "texts",
            )
        ),
        *BASIC,
    },
    "answer": {"plan", "mechanisms", "privacy", *BASIC},
    "curator": {"accountant", "answer", "cells", "plan", "engines", "mechanisms", "privacy", "noise", *BASIC},
    # audit asks a curator of its own on two neighbours (`audit.twins`); curator knows nothing of audits
    "audit": {
        "answer",
        "cells",
        "curator",
        "plan",
        "engines",
        "learn",
        "local",
        "mechanisms",
        "privacy",
        "noise",
        "weights",
        *BASIC,
    },
    "local": {"mechanisms", "privacy", "noise", *BASIC},
    "weights": {"cells", "mechanisms", "privacy", "noise", *BASIC},
    "learn": {"cells", "mechanisms", "privacy", "noise", *BASIC},
    "attacks": BASIC,  # and public names: `import discreet`, `from discreet import NAME`
    "web": set[str](),
    "server": {"curator", "local", "web", *BASIC},
}
MAY_IMPORT_ALL = {"__main__", "cli"}
MAY_USE_PUBLIC_NAMES = {"attacks", "cli"}


@dataclass(frozen=True)
class Fence:
    """The files (or folders, ending in a slash) that may import a third-party module."""

    files: tuple[str, ...]
    only_in_functions: bool = False


WEB = Fence(("server/",))
FENCES = {
    "click": Fence(("cli/",)),
    "cryptography": Fence(("noise/source.py",)),
    "duckdb": Fence(("engines/duckdb.py",)),
    "fastapi": WEB,
    "jinja2": WEB,
    "numpy": Fence(("",)),
    "pandas": Fence(("answer/exports.py", "engines/", "curator/"), only_in_functions=True),
    "polars": Fence(("answer/exports.py", "engines/"), only_in_functions=True),
    "psycopg": Fence(("engines/postgres.py", "curator/postgres.py")),
    "pyarrow": Fence(("answer/exports.py", "engines/", "local/states.py"), only_in_functions=True),
    "pydantic": WEB,
    "pyspark": Fence(("engines/spark.py",)),
    "pytest": Fence(("audit/pytest_plugin.py",)),
    "rich": Fence(("cli/", "answer/")),
    "sklearn": Fence(("learn/",)),
    "sqlglot": Fence(("plan/sql/", "engines/render/")),
    "starlette": WEB,
    "safetensors": Fence(("learn/torch/",)),
    "torch": Fence(("learn/torch/",)),
    "typer": Fence(("cli/",)),
    "uvicorn": WEB,
}
PURE = {f"curator/{name}.py" for name in ("accounts", "acts", "amounts", "ledger", "names", "request", "rows")}
"""The ledger as a state machine and its nouns: no file, no clock, and nothing of ours but each other and the basic modules."""

STANDARD_LIBRARY_ONLY = {
    "__init__.py",
    "accountant.py",
    "errors.py",
    "exact.py",
    "fields.py",
    "lazy.py",
    "whole_file.py",
    *PURE,
}


@dataclass(frozen=True)
class Import:
    """One imported name: `from a.b import c` is ("a.b", "c"), `import a.b` is ("a.b", None)."""

    line: int
    module: str
    name: str | None
    in_function: bool
    for_types: bool

    @property
    def library(self) -> str:
        return self.module.partition(".")[0]


NAMED = re.compile(r"(discreet(?:\.[a-z_]\w*)+)(?::[\w.]+)?")
"""A text that is the name of a module of ours, or of something in it: whoever holds it can import it."""


def is_type_checking(test: ast.expr) -> bool:
    return (isinstance(test, ast.Name) and test.id == "TYPE_CHECKING") or (
        isinstance(test, ast.Attribute) and test.attr == "TYPE_CHECKING"
    )


def imports(tree: ast.AST, package: str, in_function: bool = False, for_types: bool = False) -> Iterator[Import]:
    """Every import below a node of a module in `package`, with relative ones made absolute."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(node.lineno, alias.name, None, in_function, for_types)
        elif isinstance(node, ast.ImportFrom):
            base = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            for alias in node.names:
                yield Import(node.lineno, module, alias.name, in_function, for_types)
        elif isinstance(node, ast.Call) and is_dynamic_import(node):
            yield Import(node.lineno, node.args[0].value, None, in_function, for_types)  # type: ignore[attr-defined]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and (named := NAMED.fullmatch(node.value)):
            yield Import(node.lineno, named[1], None, in_function, for_types)
        elif isinstance(node, ast.If) and is_type_checking(node.test):
            yield from imports(ast.Module(node.body, []), package, in_function, True)
            yield from imports(ast.Module(node.orelse, []), package, in_function, for_types)
            continue
        function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        yield from imports(node, package, in_function or function, for_types)


def is_dynamic_import(call: ast.Call) -> bool:
    function = call.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    return (
        name in {"import_module", "__import__"}
        and bool(call.args)
        and isinstance(call.args[0], ast.Constant)
        and isinstance(call.args[0].value, str)
    )


@dataclass(frozen=True)
class Tree:
    """A source tree of the package `discreet`, the real one or a small fake."""

    root: Path

    def files(self) -> list[str]:
        return sorted(path.relative_to(self.root).as_posix() for path in self.root.rglob("*.py"))

    def parse(self, file: str) -> ast.Module:
        return ast.parse((self.root / file).read_text("utf-8"), file)

    def has_module(self, dotted: str) -> bool:
        path = self.root.joinpath(*dotted.split("."))
        return path.is_dir() or path.with_suffix(".py").exists()

    def public(self) -> set[str]:
        for node in self.parse("__init__.py").body:
            if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
                return set(ast.literal_eval(node.value))
        return set()

    def imports(self, file: str) -> Iterator[Import]:
        folders = Path(file).parent.parts
        return imports(self.parse(file), ".".join(["discreet", *folders]))

    def target(self, found: Import) -> str:
        """What an import of our own reaches, without the leading `discreet.`; "" is the package itself."""
        inside = found.module.partition(".")[2]
        if found.name is None:
            return inside
        deeper = f"{inside}.{found.name}".strip(".")
        return deeper if deeper in ARROWS or deeper in MAY_IMPORT_ALL or self.has_module(deeper) else inside


def unit_of(file: str) -> str:
    """The package or module directly under the root that a file belongs to; "" is the root's own __init__."""
    first = Path(file).parts[0].removesuffix(".py")
    return "" if first == "__init__" else first


def arrow_broken(tree: Tree, unit: str, found: Import) -> str | None:
    target = tree.target(found)
    top = target.partition(".")[0]
    if unit == "" or unit in MAY_IMPORT_ALL or top == unit:
        return None
    if unit in MAY_USE_PUBLIC_NAMES and found.module == "discreet":
        if found.name is None or found.name in tree.public():
            return None
        return f"{found.name!r} is not a public name"
    if target == "":
        return f"{unit} may not import public names from the package itself"
    if any(target == allowed or target.startswith(f"{allowed}.") for allowed in ARROWS[unit]):
        return None
    return f"{unit} may not import {target}"


def fence_broken(file: str, found: Import) -> str | None:
    library = found.library
    if file in STANDARD_LIBRARY_ONLY and not found.for_types:
        return f"{library}: only the standard library here"
    fence = FENCES.get(library)
    if fence is None:
        return f"{library} has no fence"
    if not any(file.startswith(place) if place.endswith("/") or not place else file == place for place in fence.files):
        return f"{library} only in {', '.join(fence.files)}"
    if fence.only_in_functions and not (found.in_function or found.for_types):
        return f"{library} only inside functions"
    return None


def random_uses(tree: Tree, file: str) -> Iterator[tuple[int, str]]:
    """The lines that reach a generator which is not secure: `random` and `numpy.random` in any spelling."""
    numpy_names = {"numpy"}
    for node in ast.walk(tree.parse(file)):
        if isinstance(node, ast.Import):
            numpy_names |= {alias.asname for alias in node.names if alias.name == "numpy" and alias.asname}
    for found in tree.imports(file):
        full = f"{found.module}.{found.name}" if found.name else found.module
        if found.library == "random" or full == "numpy.random" or full.startswith("numpy.random."):
            yield found.line, full
    for node in ast.walk(tree.parse(file)):
        if isinstance(node, ast.Attribute) and node.attr == "random":
            owner = getattr(node.value, "id", None)
            if owner in numpy_names:
                yield node.lineno, f"{owner}.random"


def find_cycle(graph: dict[str, set[str]]) -> list[str] | None:
    done: set[str] = set()

    def visit(node: str, path: list[str]) -> list[str] | None:
        if node in path:
            return [*path[path.index(node) :], node]
        if node in done:
            return None
        for following in sorted(graph.get(node, ())):
            if cycle := visit(following, [*path, node]):
                return cycle
        done.add(node)
        return None

    return next((cycle for node in sorted(graph) if (cycle := visit(node, []))), None)


def violations(root: Path) -> list[str]:
    """Every broken rule in a source tree, as `file:line: what`."""
    tree = Tree(root)
    found_list: list[str] = []
    graph: dict[str, set[str]] = {}
    for file in tree.files():
        unit = unit_of(file)
        if unit and unit not in ARROWS and unit not in MAY_IMPORT_ALL:
            found_list.append(f"{file}:1: {unit} has no row in the table of arrows")
            continue
        for found in tree.imports(file):
            broken = None
            if found.library == "discreet":
                broken = arrow_broken(tree, unit, found)
                top = tree.target(found).partition(".")[0]
                if unit and top and top != unit:
                    graph.setdefault(unit, set()).add(top)
            elif found.library not in sys.stdlib_module_names:
                broken = fence_broken(file, found)
            if broken:
                found_list.append(f"{file}:{found.line}: {broken}")
        found_list += [f"{file}:{line}: {what} is not secure" for line, what in random_uses(tree, file)]
    if cycle := find_cycle(graph):
        found_list.append(f"cycle: {' -> '.join(cycle)}")
    return found_list


def test_the_source_keeps_every_rule() -> None:
    assert violations(SOURCE) == []


MOST_LINES = 500


def test_a_long_module_says_why() -> None:
    """Whoever knows the theory guesses the file; one of more than 500 lines holds several nouns, or says in its docstring why not."""
    tree = Tree(SOURCE)
    long = [file for file in tree.files() if len((SOURCE / file).read_text("utf-8").splitlines()) > MOST_LINES]
    assert [file for file in long if "one file" not in (ast.get_docstring(tree.parse(file)) or "")] == []


def test_the_ledger_reads_no_file_and_no_clock() -> None:
    harmless = {"collections", "contextlib", "dataclasses", "decimal", "fractions", "hashlib", "json", "typing"}
    ours = {file.removesuffix(".py").replace("/", ".") for file in PURE} | {"accountant", *BASIC}
    tree = Tree(SOURCE)
    for file in PURE:
        for found in tree.imports(file):
            inside = found.library == "discreet" and tree.target(found) in ours
            assert inside or found.library in harmless, (file, found)


def test_the_table_of_arrows_has_no_cycle() -> None:
    graph = {unit: {target.partition(".")[0] for target in targets} for unit, targets in ARROWS.items()}
    assert find_cycle(graph) is None
    assert set().union(*graph.values()) <= set(ARROWS)


def test_public_names_are_exactly_all() -> None:
    assert set(discreet.__all__) == PUBLIC
    assert sorted(PUBLIC) == dir(discreet)
    for name in PUBLIC:
        assert getattr(discreet, name) is not None
    with pytest.raises(AttributeError, match="'nosie'"):
        getattr(discreet, "nosie")  # noqa: B009 (a type checker would refuse the plain spelling)


def test_importing_discreet_loads_no_third_party_module() -> None:
    code = (
        "import sys; before = set(sys.modules); import discreet; dir(discreet)\n"
        "new = {name.partition('.')[0] for name in set(sys.modules) - before}\n"
        "print(sorted(new - sys.stdlib_module_names))"
    )
    run = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "['discreet']"


def public_modules(name: str = "discreet") -> Iterator[str]:
    """A public module, and those that its public names lead to."""
    yield name
    module = import_module(name)
    for each in module.__all__:
        if isinstance(getattr(module, each), ModuleType):
            yield from public_modules(getattr(module, each).__name__)


@pytest.mark.parametrize("name", sorted(set(public_modules())))
def test_a_public_module_shows_its_public_names_and_nothing_else(name: str) -> None:
    code = f"from importlib import import_module; print(*dir(import_module({name!r})))"
    run = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True)
    module = import_module(name)
    assert run.stdout.split() == sorted(module.__all__) == dir(module)
    for each in module.__all__:
        assert getattr(module, each) is not None


# Each fake tree breaks one rule: its files, and a part of the report.
BROKEN: list[tuple[dict[str, str], str]] = [
    ({"noise/a.py": "from discreet.privacy import loss"}, "noise/a.py:1: noise may not import privacy"),
    ({"noise/a.py": "import discreet.plan.sql"}, "noise may not import plan.sql"),
    ({"noise/a.py": "from .. import plan"}, "noise may not import plan"),
    ({"noise/a.py": "def f():\n    from ..curator import x"}, "noise/a.py:2: noise may not import curator"),
    ({"noise/a.py": "import importlib\nimportlib.import_module('discreet.plan')"}, "may not import plan"),
    ({"noise/a.py": "HOME = {'plan': 'discreet.plan.sql:question'}"}, "noise/a.py:1: noise may not import plan.sql"),
    ({"curator/a.py": "names = ['discreet.audit.twins']"}, "curator may not import audit.twins"),
    ({"exact.py": "from discreet import noise"}, "exact may not import noise"),
    ({"errors.py": "from discreet.exact import rational"}, "errors may not import exact"),
    ({"engines/a.py": "from discreet.plan import sql", "plan/sql.py": ""}, "engines may not import plan.sql"),
    ({"engines/a.py": "from discreet.plan import Plan"}, "engines may not import plan"),
    ({"learn/a.py": "from discreet.weights import mwem"}, "learn may not import weights"),
    ({"local/a.py": "from discreet.curator import Curator"}, "local may not import curator"),
    ({"server/a.py": "from discreet.plan import sql"}, "server may not import plan"),
    ({"attacks/a.py": "from discreet.noise import bernoulli"}, "attacks may not import noise"),
    ({"attacks/a.py": "from discreet import hidden"}, "'hidden' is not a public name"),
    ({"mechanisms/a.py": "from discreet import Invalid"}, "may not import public names"),
    ({"mechanisms/a.py": "import discreet"}, "may not import public names"),
    ({"utils.py": ""}, "utils has no row in the table of arrows"),
    ({"plan/a.py": "import sqlglot"}, "sqlglot only in plan/sql/"),
    ({"curator/a.py": "from duckdb import connect"}, "duckdb only in engines/duckdb.py"),
    ({"engines/duckdb.py": "import pyspark.sql"}, "pyspark only in engines/spark.py"),
    ({"learn/clip.py": "def f():\n    import torch"}, "torch only in learn/torch/"),
    ({"curator/a.py": "import fastapi"}, "fastapi only in server/"),
    ({"noise/laplace.py": "import cryptography.hazmat"}, "cryptography only in noise/source.py"),
    ({"privacy/a.py": "def f():\n    import scipy.special"}, "scipy has no fence"),
    ({"answer/exports.py": "import pandas"}, "pandas only inside functions"),
    ({"curator/a.py": "import typer"}, "typer only in cli/"),
    ({"curator/a.py": "import rich.table"}, "rich only in cli/, answer/"),
    ({"curator/ledger.py": "import numpy"}, "only the standard library"),
    ({"__init__.py": "__all__ = []\nimport numpy"}, "only the standard library"),
    ({"noise/a.py": "import requests"}, "requests has no fence"),
    ({"noise/a.py": "import random"}, "random is not secure"),
    ({"noise/a.py": "from random import Random"}, "random.Random is not secure"),
    ({"noise/a.py": "import numpy.random"}, "numpy.random is not secure"),
    ({"noise/a.py": "from numpy import random"}, "numpy.random is not secure"),
    ({"noise/a.py": "from numpy.random import default_rng"}, "numpy.random.default_rng is not secure"),
    (
        {"noise/a.py": "import numpy as np\nx = np.random.default_rng()"},
        "noise/a.py:2: np.random is not secure",
    ),
    ({"cli/a.py": "__import__('random')"}, "random is not secure"),
    (
        {"plan/a.py": "import discreet.answer", "answer/a.py": "import discreet.plan.a"},
        "cycle: answer -> plan -> answer",
    ),
]


def plant(root: Path, files: dict[str, str]) -> Path:
    for name, text in {"__init__.py": "__all__ = ['noise', 'Invalid']", **files}.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return root


@pytest.mark.parametrize(("files", "report"), BROKEN, ids=[report for _, report in BROKEN])
def test_a_broken_rule_is_reported(tmp_path: Path, files: dict[str, str], report: str) -> None:
    reports = violations(plant(tmp_path, files))
    assert any(report in line for line in reports), reports


def test_what_the_rules_allow_is_not_reported(tmp_path: Path) -> None:
    files = {
        "noise/source.py": "import os, secrets\nfrom cryptography.hazmat import x\nfrom ..exact import rational",
        "noise/laplace.py": "import numpy as np\nfrom . import source\nfrom .source import SecureBits",
        "engines/render/a.py": "import sqlglot\nfrom discreet.plan import relation\nfrom discreet.plan.scalar import X",
        "plan/relation.py": "from discreet import exact\nfrom discreet.errors import Invalid",
        "attacks/a.py": "import discreet as dp\nfrom discreet import noise\nfrom discreet.errors import Invalid",
        "cli/demo.py": "import typer, rich\nfrom discreet import noise, audit\nimport discreet.curator.session",
        "exact.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import numpy",
        "answer/exports.py": "class A:\n    def plot(self):\n        import polars\n        import rich",
    }
    assert violations(plant(tmp_path, files)) == []
