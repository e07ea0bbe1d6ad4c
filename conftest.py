"""Loads the CPU budget plugin, keeps state in the run's own folder, and leaves out the tests of optional parts, which run by name only."""

import gc
import os
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.extras import OPTIONAL, PARTS

pytest_plugins = ["tests.budget"]

SOURCE = Path(__file__).parent / "src" / "discreet"


def pytest_configure(config: pytest.Config) -> None:
    """Where no bytecode is to be written beside the sources, the processes that tests start find it here, and compile nothing again.

    Until all tests are collected nothing is garbage, and afterwards what was collected is not looked through again: it cost a fifth of the
    CPU time of the planted bugs that it was measured on. Children that are forked do not look through it either.
    """
    gc.disable()
    if os.environ.pop("PYTHONDONTWRITEBYTECODE", ""):
        os.environ["PYTHONPYCACHEPREFIX"] = str(config.rootpath / ".pytest_cache" / "compiled")


def pytest_collection_finish(session: pytest.Session) -> None:
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 10, 10)
    gc.enable()


def pytest_unconfigure(config: pytest.Config) -> None:
    gc.unfreeze()  # what is looked through at the end of the interpreter is all there is


@pytest.fixture(autouse=True)
def _state_of_its_own(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """High-water marks of ledgers go to a folder of the test run, never to the user's own."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path_factory.getbasetemp() / "state"))


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Modules that need a library of an optional part are not looked at where it is not installed."""
    if not collection_path.is_relative_to(SOURCE):
        return None
    parts = collection_path.relative_to(SOURCE.parent).parts
    library = OPTIONAL.get(".".join(parts).removesuffix(".py"))
    return True if library and find_spec(library) is None else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Without `-m` the tests of optional parts are not there: they are neither run nor counted as skipped."""
    if not config.getoption("markexpr"):
        items[:] = [item for item in items if not any(item.get_closest_marker(part) for part in PARTS)]
