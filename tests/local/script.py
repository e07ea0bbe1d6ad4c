"""The client in JavaScript, run under node: a test hands over all that is to be done, at once."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any

from tests.extras import program

DRIVER = Path(__file__).parent / "driver.mjs"
_scripts = [(files("discreet.local") / "client.js").read_text("utf-8")]


@contextmanager
def edited(old: str, new: str) -> Iterator[None]:
    """Another script runs inside: the one with this text, which occurs once, in place of that."""
    assert _scripts[-1].count(old) == 1, old
    _scripts.append(_scripts[-1].replace(old, new))
    try:
        yield
    finally:
        _scripts.pop()


def ran(*calls: dict[str, Any]) -> list[Any]:
    """What the script makes of each call of the driver; an error is a dict with its name and code."""
    node = program("node")
    assert node
    given = json.dumps({"source": _scripts[-1], "calls": calls})
    run = subprocess.run([node, DRIVER], input=given, capture_output=True, text=True, timeout=200)
    assert run.returncode == 0, run.stderr[-2000:]
    results: list[Any] = json.loads(run.stdout)
    assert len(results) == len(calls)
    return results
