"""A ledger is kept on Linux and macOS; elsewhere it is refused with that sentence, whoever opens it, and nothing is made."""

import subprocess
import sys
from pathlib import Path

import pytest

from discreet.curator.looking import look
from discreet.curator.platforms import check_platform
from discreet.curator.session import Curator
from discreet.curator.sqlite import SQLiteStore
from discreet.errors import Refused
from tests.curator.cases import creation

OTHERS = ["win32", "cygwin", "freebsd14", "emscripten", "wasi", "aix"]


def other_platforms_are_refused(folder: Path) -> None:
    for platform in OTHERS:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sys, "platform", platform)
            for opened in (
                lambda: SQLiteStore.open(folder / "ledger", creation=creation(1)),
                lambda: look(folder / "ledger"),
            ):
                with pytest.raises(Refused, match="on Linux and macOS") as refused:
                    opened()
                assert refused.value.code == "platform" and not (folder / "ledger").exists()


def test_elsewhere_no_ledger_is_opened(tmp_path: Path) -> None:
    other_platforms_are_refused(tmp_path)


@pytest.mark.parametrize("platform", ["linux", "darwin"])
def test_on_linux_and_macos_it_is(monkeypatch: pytest.MonkeyPatch, platform: str) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    check_platform()


def test_a_question_is_refused_elsewhere_and_a_preview_is_not(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked = "SELECT COUNT(*) AS n FROM visits"
    curator = Curator({"visits": {"who": ["1"]}}, "who", epsilon=1, ledger=tmp_path / "ledger")
    monkeypatch.setattr(sys, "platform", "freebsd14")
    curator.preview(asked, epsilon=0.5)
    with pytest.raises(Refused, match="on Linux and macOS"):
        curator.sql(asked, epsilon=0.5)


def test_where_the_locks_are_not_even_there_the_sentence_comes_first() -> None:
    """As on Windows: the name of a missing module would tell nobody what to do."""
    program = (
        "import sys, discreet\nsys.modules['fcntl'] = None\nsys.platform = 'win32'\n"
        "try:\n    discreet.Curator\nexcept discreet.Refused as refused:\n    print(refused.message)\n"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "a ledger is kept on Linux and macOS, and this is win32" in found.stdout
