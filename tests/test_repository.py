"""The repository as a whole: nothing of one machine in it, the locks match pyproject.toml, make targets and optional parts exist."""

import ast
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

from tests import extras
from tests.extras import PARTS

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))

# What no committed file may hold. Written so that no pattern matches its own line.
FORBIDDEN = {
    "the host name of a package registry": r"py[p]i\.(org|io)|pythonhoste[d]|registry\.np[m]js|anacond[a]\.(org|com)",
    "an absolute path of one machine": r"(?<![\w.])/(?:work|root|home)/|file:[/]//",
    "a reference to a tracker": r"(?i)\b(?:issue|session|helper|ticket)s?\s+#?\d+\b",
}


def committed_files() -> list[Path]:
    """All files that git tracks or would add."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listing = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if listing.returncode != 0:
        pytest.skip("not a git repository")
    paths = (ROOT / name for name in sorted(set(listing.stdout.split("\0")) - {""}))
    return [path for path in paths if path.is_file()]


def forbidden(text: str) -> list[str]:
    lines = enumerate(text.splitlines(), 1)
    return [f"{n}: {what}" for n, line in lines for what, rule in FORBIDDEN.items() if re.search(rule, line)]


def test_no_file_names_a_machine_or_a_registry() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{report}"
        for path in committed_files()
        for report in forbidden(path.read_text("utf-8", errors="replace"))
    ]
    assert found == []


@pytest.mark.parametrize(
    "line",
    [
        "https://" + "py" + "pi.org/simple",
        "https://files.python" + "hosted.org/x",
        "see /" + "home/ana/x.csv",
        "file:" + "///x",
        "as in issue" + " 2",
        "Issue" + " #12",
    ],
)
def test_a_forbidden_line_is_found(line: str) -> None:
    assert forbidden(f"fine\n{line}")[0].startswith("2: ")


def test_plain_lines_are_not_forbidden() -> None:
    assert forbidden("net/" + "work/x; an issue of 2 parts; https://example.com/home/; session-based") == []


def normal(requirement: str) -> str:
    """The normalised name of a requirement."""
    found = re.match(r"[A-Za-z0-9._-]+", requirement)
    assert found, requirement
    return re.sub(r"[-_.]+", "-", found[0]).lower()


def locked(name: str) -> dict[str, set[str]]:
    """The versions of each package in a lock; a package may have one for each range of Python versions."""
    versions: dict[str, set[str]] = {}
    text = (ROOT / "requirements" / f"{name}.txt").read_text("utf-8").replace("\\\n", " ")
    for line in text.splitlines():
        found = re.match(r"([A-Za-z0-9._-]+)(?:\[.*?\])?==(\S+)", line)
        assert found and "--hash=sha256:" in line, f"requirements/{name}.txt: {line[:60]}"
        versions.setdefault(normal(found[1]), set()).add(found[2])
    return versions


@pytest.mark.parametrize("lock", ["core", "dev", "peers"])
def test_a_lock_holds_what_the_project_asks_for(lock: str) -> None:
    wanted = {normal(line) for line in PROJECT["project"]["dependencies"]}
    wanted |= {normal(line) for line in PROJECT["dependency-groups"].get(lock, [])}
    assert wanted <= locked(lock).keys()


def test_the_build_backend_is_locked_for_development() -> None:
    assert {normal(line) for line in PROJECT["build-system"]["requires"]} <= locked("dev").keys()


def test_the_locks_agree_and_leave_the_parts_out() -> None:
    core, dev = locked("core"), locked("dev")
    assert {name: dev[name] for name in core} == core
    optional = {normal(line) for part in PARTS for line in PROJECT["project"]["optional-dependencies"][part]}
    assert not optional & dev.keys()


def test_every_dependency_is_imported_by_the_source() -> None:
    text = "\n".join(path.read_text("utf-8") for path in (ROOT / "src").rglob("*.py"))
    optional = PROJECT["project"]["optional-dependencies"]
    for line in [*PROJECT["project"]["dependencies"], *optional["postgres"]]:
        assert re.search(rf"^\s*(?:import|from) {normal(line)}\b", text, re.MULTILINE), line


def targets_named(text: str) -> set[str]:
    """The targets of the make commands in a page: in inline code, and at the start of a line of a code block."""
    return set(re.findall(r"(?:`|^\s*(?:\$ )?)make ([a-z][a-z-]*)(?![\w=-])(?=[^`\n]*(?:`|$))", text, re.MULTILINE))


def make_targets() -> set[str]:
    return set(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md"])
def test_make_targets_named_in_a_page_exist(page: str) -> None:
    named = targets_named((ROOT / page).read_text("utf-8"))
    assert "test" in named
    assert named <= make_targets()


def test_make_targets_are_found_in_text() -> None:
    text = "`make test` and\n```\nmake demo  # it\n    make soak PART=x\n```\n`make UV= test`, make sure"
    assert targets_named(text) == {"test", "demo", "soak"}


def test_every_make_target_is_phony_or_a_file() -> None:
    text = (ROOT / "Makefile").read_text("utf-8")
    phony = re.search(r"^\.PHONY: (.*)$", text, re.MULTILINE)
    assert phony and set(phony[1].split()) == make_targets()


def test_continuous_integration_runs_make_test_and_each_optional_part() -> None:
    script = ROOT / ".ci" / "run"
    assert script.stat().st_mode & 0o111
    commands = re.findall(r"^make .*$", script.read_text("utf-8"), re.MULTILINE)
    assert commands == ["make test", *(f"make extras PART={part}" for part in PARTS)]


def test_an_optional_part_is_an_extra_and_a_marker() -> None:
    assert PROJECT["project"]["optional-dependencies"].keys() == {"frames", *PARTS}
    markers = [line.partition(":")[0] for line in PROJECT["tool"]["pytest"]["ini_options"]["markers"]]
    assert markers == [*PARTS]


@pytest.fixture
def without_a_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """A part needs a program that is in no package, and nothing is installed or run."""
    monkeypatch.setattr(extras, "PARTS", {"moon": extras.Part("moon", ("no-such-program",), ("no-such-package",), 1)})
    monkeypatch.setattr(extras.subprocess, "run", lambda words, **_: subprocess.CompletedProcess(words, 1))


@pytest.mark.usefixtures("without_a_program")
@pytest.mark.parametrize(("variable", "status"), [("true", 1), ("", 0)])
def test_a_part_that_cannot_be_had_says_so_and_fails_continuous_integration(
    variable: str, status: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CI", variable)
    assert extras.main(["moon"]) == status
    assert "left out: no-such-program cannot be found; install" in (said := capsys.readouterr().err)
    assert "no-such-package" in said


def test_a_program_that_is_too_old_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = tmp_path / "node"
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    for said, missing in (("v17.9.1", True), ("v18.0.0", False), ("v20.20.2", False), ("none", True)):
        old.write_text(f"#!/bin/sh\necho {said}\n")
        old.chmod(0o755)
        assert extras.missing_programs(PARTS["script"]) == ["node"] * missing


@pytest.mark.parametrize("names", [[], ["sun"], ["postgres", "postgres"]])
def test_a_part_must_be_named(names: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert extras.main(names) == 2
    assert "PART must be one of postgres, learn, script, got" in capsys.readouterr().err


def test_every_function_of_the_source_has_a_name_of_its_own() -> None:
    """A handler that is called `_` cannot be named by a traceback, a profile or a planted fault."""
    nameless = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in sorted((ROOT / "src").rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and set(node.name) == {"_"}
    ]
    assert nameless == []


# Classes of one name in several modules, and how readers tell them apart. Anything else has a name of its own.
NAMESAKES = {
    "Attributes": "of a protected table, and of a person in a campaign (public)",
    "Column": "of an answer (public), of a declared table, of a row in an expression",
    "DiscreteGaussian": "a mechanism, and its event, which is always written events.DiscreteGaussian",
    "Drawn": "a draw in the record of a grant, and one in the record of a twin",
    "Gaussian": "a mechanism, and its event, which is always written events.Gaussian",
    "Histogram": "of a workload that is learned, and of numbers that were told in a campaign (both public)",
    "Laplace": "a mechanism, and its event, which is always written events.Laplace",
    "Learned": "what an output tells of a person, and a model with what it was learned from (public)",
    "Line": "of a ledger's history, and of integration in the plane",
    "Mixed": "a kind of loss, and the theorem about it",
    "Numbers": "of the made-up hospital, and the domain of a campaign (public)",
    "Part": "of a composition: as it is certified, and as theorems have it",
    "RandomizedResponse": "a mechanism, and its event, which is always written events.RandomizedResponse",
    "Reading": "of a source, as its cells are read, and of data beside the totals of a stage",
    "Rounds": "of learning in a grant, and the domain of a series of campaigns (public)",
    "Source": "of randomness (public), and of a table in a policy",
    "Tally": "a step of a plan, and what a trial of the zoo counts",
    "Verdict": "of the doctor, and of advice about a price",
    "Words": "of a dialect of SQL, for questions and for ledgers",
    "_Reader": "of the words of one command, and of a policy file",
}
# A docstring that begins so has no subject: it goes on where the name of the function ended.
FRAGMENT = re.compile(
    r"(Of|Where|From|By|At|In|None|That of|The same|As|To|With|Without|On|Like|Also|And|But|Or|Not)\b(?![=(])"
)
WITH_SUBJECTS = ("answer", "attacks", "engines", "errors", "exact", "fields", "lazy", "mechanisms", "noise", "plan")


def definitions(root: Path) -> list[tuple[str, ast.ClassDef | ast.FunctionDef | ast.Module]]:
    """Every module, class and function of a source tree, with the path of its file from the root."""
    return [
        (path.relative_to(root).as_posix(), node)
        for path in sorted(root.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.Module)
    ]


def namesakes(root: Path) -> dict[str, list[str]]:
    """The names that classes of several files have, and those files."""
    files: dict[str, set[str]] = {}
    for file, node in definitions(root):
        if isinstance(node, ast.ClassDef):
            files.setdefault(node.name, set()).add(file)
    return {name: sorted(places) for name, places in files.items() if len(places) > 1}


def fragments(root: Path) -> list[str]:
    """The docstrings without a subject, by file and name."""
    return [
        f"{file}: {getattr(node, 'name', 'the module')}"
        for file, node in definitions(root)
        if Path(file).parts[0].removesuffix(".py") in WITH_SUBJECTS and FRAGMENT.match(ast.get_docstring(node) or "")
    ]


# Names of variables that say how a thing was come by, and not what it is; and where one is a keyword that callers write.
PARTICIPLES = {"found", "given", "kept", "made", "said", "wanted"}
WRITTEN_BY_CALLERS = {("mechanisms/measure.py", "kept")}


def participles(root: Path) -> list[str]:
    """The variables of functions that are participles, by file and line."""
    variables = [
        (file, node.lineno, getattr(node, "arg", None) or getattr(node, "id", None))
        for file, function in definitions(root)
        if isinstance(function, ast.FunctionDef) and Path(file).parts[0].removesuffix(".py") in WITH_SUBJECTS
        for node in ast.walk(function)
        if isinstance(node, ast.arg) or (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    ]
    return [
        f"{file}:{line}: {name}"
        for file, line, name in variables
        if name in PARTICIPLES and (file, name) not in WRITTEN_BY_CALLERS
    ]


def test_no_two_classes_have_one_name_but_for_those_listed() -> None:
    assert namesakes(ROOT / "src" / "discreet").keys() == NAMESAKES.keys()


def test_every_docstring_has_a_subject() -> None:
    assert fragments(ROOT / "src" / "discreet") == []


def test_variables_are_nouns() -> None:
    assert participles(ROOT / "src" / "discreet") == []


def test_namesakes_fragments_and_participles_are_found(tmp_path: Path) -> None:
    for file, text in (
        ("plan/a.py", '"""Of rows."""\nclass A: ...\ndef f(found):\n    count = found'),
        ("noise/b.py", '"""Often rows."""\nclass A: ...'),
    ):
        (tmp_path / file).parent.mkdir()
        (tmp_path / file).write_text(text, "utf-8")
    assert namesakes(tmp_path) == {"A": ["noise/b.py", "plan/a.py"]}
    assert fragments(tmp_path) == ["plan/a.py: the module"]
    assert participles(tmp_path) == ["plan/a.py:3: found"]
