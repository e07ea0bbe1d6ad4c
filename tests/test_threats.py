"""The page on security holds: every test that it names is there, and every threat that a test is named after is in it."""

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "security.md").read_text("utf-8")


def test_every_test_that_is_named_exists() -> None:
    named = set(re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", PAGE))
    assert len(named) > 60
    missing = [
        f"{file}::{name}" for file, name in sorted(named) if f"def {name}(" not in (ROOT / file).read_text("utf-8")
    ]
    assert missing == []


def test_every_threat_that_a_test_is_named_after_is_listed() -> None:
    listed = {each for row in re.findall(r"^\| ((?:[NSQTL]\d+ ?)+)", PAGE, re.MULTILINE) for each in row.split()}
    names = re.findall(
        r"def test((?:_[nsqtl]\d+)+)_", (ROOT / "tests" / "plan" / "test_security.py").read_text("utf-8")
    )
    assert {each.upper() for name in names for each in name.strip("_").split("_")} <= listed
