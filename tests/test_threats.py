"""The page on security holds: every test that it names is there, and every threat that a test is named after is in it."""

import re
from dataclasses import fields
from pathlib import Path

from discreet.curator.channels import CHANNELS, table

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


def test_the_page_holds_the_list_of_channels_outside_epsilon_and_no_other_rows() -> None:
    section = PAGE.partition("## What is seen outside of ε\n")[2].partition("\n## ")[0]
    assert [line for line in section.splitlines() if line.startswith("|")] == table().splitlines()


def test_a_channel_says_all_that_is_asked_of_it() -> None:
    for channel in CHANNELS:
        assert all(getattr(channel, field.name).strip(" |") for field in fields(channel))
        assert "|" not in channel.row().strip("| ").replace(" | ", "") and "\n" not in channel.row()
    assert len({channel.what for channel in CHANNELS}) == len(CHANNELS)
