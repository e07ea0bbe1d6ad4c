"""What `make wheel` builds and `pip install` takes: installed into a fresh environment, far from the checkout, it runs.

Third-party packages are those of the environment that runs the tests; nothing is downloaded.
"""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import zipfile
from dataclasses import dataclass
from email.parser import Parser
from pathlib import Path

import pytest

import discreet
from tests.test_docs import ROOT
from tests.test_repository import committed_files

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
EVERY_NAME = """
from importlib import import_module
from types import ModuleType

def named(name):
    module = import_module(name)
    print(module.__file__)
    for each in module.__all__:
        if isinstance(value := getattr(module, each), ModuleType):
            named(value.__name__)

named("discreet")
"""


@dataclass(frozen=True)
class Installed:
    """An environment with discreet and no checkout in sight."""

    wheel: Path
    folder: Path

    def run(self, program: str, *words: str) -> str:
        """What a program of the environment prints, from an empty folder."""
        place = self.folder / "elsewhere"
        place.mkdir(exist_ok=True)
        env = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "COLUMNS"))}
        env |= {"XDG_STATE_HOME": str(place / "state")}
        command = [str(self.folder / "bin" / program), *words]
        run = subprocess.run(command, cwd=place, env=env, capture_output=True, text=True, timeout=200)
        assert run.returncode == 0, run.stdout + run.stderr
        return run.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    tmp = tmp_path_factory.mktemp("wheel")
    for path in committed_files():
        target = tmp / "checkout" / path.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)
    command = re.search(r"^wheel:.*\n(?:\t.*\n)*\t\$\(BIN\)/python (-m pip wheel .*)$", make(), re.MULTILINE)
    assert command
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    subprocess.run([sys.executable, *command[1].split()], cwd=tmp / "checkout", check=True, timeout=200)
    (wheel,) = (tmp / "checkout" / "dist").iterdir()
    folder = tmp / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True, timeout=200)
    where = [*pip, "--python", str(folder / "bin" / "python")]
    subprocess.run([*where, "install", "--quiet", "--no-deps", "--no-index", wheel], check=True, timeout=200)
    (packages,) = folder.glob("lib/python*/site-packages")
    # A path file that a path file leads to is not read, so that a checkout which is installed in place stays out of sight.
    (packages / "dependencies.pth").write_text(
        "\n".join({sysconfig.get_path("purelib"), sysconfig.get_path("platlib")})
    )
    shutil.rmtree(tmp / "checkout" / "src")
    return Installed(wheel, folder)


def make() -> str:
    return (ROOT / "Makefile").read_text("utf-8")


def test_a_wheel_holds_the_package_and_nothing_else(installed: Installed) -> None:
    names = zipfile.ZipFile(installed.wheel).namelist()
    source = {
        path.relative_to(ROOT / "src").as_posix() for path in committed_files() if path.is_relative_to(ROOT / "src")
    }
    info = f"discreet-{discreet.__version__}.dist-info/"
    assert {name for name in names if not name.startswith(info)} == source
    assert "discreet/py.typed" in source
    # what users test their own mechanisms with is no test of ours
    assert {name for name in source if re.search(r"test|mutant", name)} == {"discreet/audit/pytest_plugin.py"}


def test_a_wheel_says_what_the_project_says(installed: Installed) -> None:
    with zipfile.ZipFile(installed.wheel) as wheel:
        text = wheel.read(f"discreet-{discreet.__version__}.dist-info/METADATA").decode()
    said = Parser().parsestr(text)
    assert (said["Name"], said["Version"], said["Requires-Python"]) == ("discreet", discreet.__version__, ">=3.11")
    assert said.get_all("Classifier") == PROJECT["classifiers"]
    needed = [line for line in said.get_all("Requires-Dist") if "extra ==" not in line]
    assert len(needed) == len(PROJECT["dependencies"])
    assert (ROOT / "README.md").read_text("utf-8").strip() in text


def test_an_installed_package_has_every_public_name(installed: Installed) -> None:
    files = installed.run("python", "-W", "error", "-c", EVERY_NAME).split()
    assert files and all(Path(file).is_relative_to(installed.folder) for file in files)


def test_an_installed_command_says_its_version(installed: Installed) -> None:
    assert discreet.__version__ in installed.run("discreet", "--version").split()


def test_an_installed_command_runs_the_demonstration(installed: Installed) -> None:
    assert "ε" in installed.run("discreet", "demo")


def test_the_version_has_its_section_of_changes() -> None:
    sections = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    assert next(name for name in sections if name != "Unreleased") == discreet.__version__
    assert f"discreet-{discreet.__version__}-py3-none-any.whl" in (ROOT / "README.md").read_text("utf-8")
