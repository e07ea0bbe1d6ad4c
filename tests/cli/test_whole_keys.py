"""Keys that are spelt 1 and 1.0 are one, whether a policy, a command line or a program declares them."""

import json
from pathlib import Path
from typing import Any

import pytest

import discreet as dp
from discreet.curator.catalog import catalog_of
from discreet.curator.policy import Policy
from tests.cli.conftest import Run, data, error

SPELT = [["1", "2"], ["1.0", "2"], ["1", "2.00"], ["1.0", "2.0"]]
ASKED = "SELECT code, COUNT(*) AS n FROM v GROUP BY code"


@pytest.fixture
def file(place: Path) -> Path:
    path = place / "v.csv"
    path.write_text("who,code\n" + "".join(f"{i},{('1', '1.0', '2')[i % 3]}\n" for i in range(3000)), "utf-8")
    return path


def counted(rows: list[dict[str, Any]]) -> None:
    assert [row["code"] for row in rows] == [1, 2]
    assert all(abs(row["n"] - count) < 400 for row, count in zip(rows, (2000, 1000), strict=True))


@pytest.mark.parametrize("keys", SPELT)
def test_a_whole_key_is_an_integer_however_it_is_spelt(run: Run, file: Path, keys: list[str]) -> None:
    flags = ["--unit", "who", "--keys", f"code={','.join(keys)}", "--epsilon", "1", "--max-total", "1"]
    counted(data(run("ask", "v.csv", ASKED, *flags, "--json"))["rows"])
    numbers = [json.loads(key) for key in keys]
    rows = {"who": list(range(3000)), "code": [1, 1.0, 2] * 1000}
    with dp.Curator({"v": rows}, "who", {"code": {"keys": numbers}}, epsilon=1, ledger=file.parent / "l") as curator:
        counted(curator.sql(ASKED, epsilon=1, max_total=1).to_dicts())
    policy = file.parent / "p.toml"
    for kind in ("", 'type = "integer", '):
        policy.write_text(
            f'[budget]\nepsilon = 1\n[unit]\ncolumn = "who"\n[tables.v]\nsource = "v.csv"\n[tables.v.columns]\n'
            f"code = {{ {kind}keys = [{', '.join(keys)}] }}\n",
            "utf-8",
        )
        catalog, _ = catalog_of(Policy.read(policy))
        column = catalog.tables[0].column("code")
        assert column.keys == (1, 2) and all(type(key) is int for key in column.keys)


def test_two_spellings_of_one_key_are_no_two_keys(run: Run, file: Path) -> None:
    with pytest.raises(dp.Invalid, match="must differ"):
        dp.Curator({"v": file}, "who", {"code": {"keys": [1, 1.0]}}, epsilon=1, ledger=file.parent / "l")
    flags = ["--unit", "who", "--keys", "code=1,1.0", "--epsilon", "1", "--json"]
    assert "must differ" in error(run("ask", "v.csv", ASKED, *flags))["message"]


def test_a_key_that_is_not_whole_is_refused_for_integers(file: Path) -> None:
    for keys in ([1.5, 2], ["1.5", "2"]):
        with pytest.raises(dp.Invalid, match="integer values, got"):
            columns = {"code": {"type": "integer", "keys": keys}}
            dp.Curator({"v": file}, "who", columns, epsilon=1, ledger=file.parent / "l")


def test_a_key_of_a_text_is_the_text_that_was_meant_or_refused(file: Path) -> None:
    """Which text 1.0 is, nobody said."""
    with pytest.raises(dp.Invalid, match=r"must be text values, got 1\.0"):
        columns = {"code": {"type": "text", "keys": [1.0]}}
        dp.Curator({"v": file}, "who", columns, epsilon=1, ledger=file.parent / "l")
