"""The tests of an optional part, with what it needs: `python -m tests.extras postgres`, by `make extras PART=postgres`.

What the part needs is installed first: programs by the system's packages, where this is Debian and run by root, and libraries into the
environment that runs it. Where something cannot be had the part says so and is left out; with CI=true in the environment that is a failure.
"""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent


@dataclass(frozen=True, slots=True)
class Part:
    """What can be left out of an installation. Its name is that of the extra in pyproject.toml and of the marker of its tests."""

    name: str
    programs: tuple[str, ...]
    packages: tuple[str, ...]  # of Debian, which hold the programs
    cpu_seconds: int  # its budget, beside those of `make test`
    pinned: tuple[
        str, ...
    ] = ()  # versions of libraries that no lock names: newer ones may bring gigabytes for machines with a GPU
    least: int = 0  # the version of its programs that is new enough

    @property
    def title(self) -> str:
        """What its budget is called, beside that of a folder of the same name."""
        return f"part {self.name}"


PARTS = {
    part.name: part
    for part in (
        Part("postgres", ("initdb", "pg_ctl", "pgbouncer"), ("postgresql", "pgbouncer"), 120),
        Part("learn", (), (), 200, ("torch==2.13.0",)),
        Part("script", ("node",), ("nodejs",), 20, least=18),
    )
}

OPTIONAL = {
    "discreet.curator.postgres": "psycopg",
    "discreet.learn.estimators": "sklearn",
    "discreet.learn.torch": "torch",
}
"""Modules and packages of ours, and the library of an optional part without which they cannot be imported."""


def needs_a_part(module: str) -> bool:
    """Whether a module of ours belongs to an optional part, by its dotted name."""
    return any(module == each or module.startswith(f"{each}.") for each in OPTIONAL)


def program(name: str) -> str | None:
    """Where a program lies; servers are often in folders of their own, which are not on the path."""
    servers = [str(path) for path in sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)]
    return shutil.which(name, path=os.pathsep.join([*servers, os.environ.get("PATH", ""), "/usr/sbin"]))


def missing_programs(part: Part) -> list[str]:
    """Those that are not there, or too old."""
    return [name for name in part.programs if (path := program(name)) is None or version(path) < part.least]


def version(path: str) -> int:
    """The first number of what a program says of its version; 0 where it says none."""
    said = subprocess.run([path, "--version"], capture_output=True, text=True).stdout
    found = re.search(r"\d+", said or "")
    return int(found[0]) if found else 0


def installed(part: Part) -> str:
    """Install what the part needs; why it cannot be had, or ""."""
    if missing_programs(part) and os.geteuid() == 0 and shutil.which("apt-get"):
        for words in (["update"], ["install", "--yes", "--no-install-recommends", *part.packages]):
            subprocess.run(["apt-get", "-qq", *words], env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"})
    if missing := missing_programs(part):
        packages = " ".join(part.packages)
        new = f" in version {part.least} or newer" if part.least else ""
        return f"{', '.join(missing)} cannot be found{new}; install the packages that hold them (Debian: apt-get install {packages})"
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    libraries = [*part.pinned, *project["optional-dependencies"][part.name]]
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *libraries]
    if libraries and subprocess.run(pip).returncode != 0:
        return f"{', '.join(libraries)} cannot be installed"
    return ""


def main(names: list[str]) -> int:
    if len(names) != 1 or names[0] not in PARTS:
        print(f"PART must be one of {', '.join(PARTS)}, got {' '.join(names) or 'nothing'}", file=sys.stderr)
        return 2
    part = PARTS[names[0]]
    if why := installed(part):
        print(f"The part {part.name} is left out: {why}.", file=sys.stderr)
        return 1 if os.environ.get("CI") == "true" else 0
    return subprocess.run([sys.executable, "-m", "pytest", "-q", "-m", part.name, "tests", "src"], cwd=ROOT).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
