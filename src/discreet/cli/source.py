"""From the first word of a command to a curator: a data file with flags, a policy, ./discreet.toml, or the folder of a ledger."""

import json
import os
import sys
import warnings
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.cli.flags import Flags, columns, number, options, public_files
from discreet.errors import Invalid

if TYPE_CHECKING:
    from discreet.curator.loaded import Loaded
    from discreet.curator.place import Place
    from discreet.curator.policy import Policy
    from discreet.curator.session import Curator

POLICY = Path("discreet.toml")
SQL_BEGINS = ("select", "with", "(", "--", "/*")


def located(word: str | None, *, ledgers: bool = False) -> Path:
    """The file that a source names, which is there and can be read; without a word it is ./discreet.toml.

    With `ledgers` it may be the folder of a ledger, such as that of a table that was held in memory.
    """
    path = POLICY if word is None else Path(word)
    try:
        os.path.abspath(path).encode()
        if not (ledgers and _is_ledger(path)):
            _check_there(word, path)
    except UnicodeEncodeError:
        raise Invalid(
            f"the name of the file {str(path)!r}, or of a folder above it, is not UTF-8",
            code="no-file",
            hint="rename it",
        ) from None
    except FileNotFoundError:  # of what a relative path is relative to
        raise Invalid(
            "the current folder is not there any more", code="no-file", hint="change to one that is"
        ) from None
    except OSError as error:
        raise Invalid(
            f"the file {str(path)!r} cannot be read: {error.strerror}",
            code="no-file",
            hint="look at the permissions of it, and of the folders above it",
        ) from None
    return path


def _check_there(word: str | None, path: Path) -> None:
    if word is None and not path.is_file():
        raise Invalid(
            "there is no source, and no ./discreet.toml here",
            code="no-file",
            hint="name a data file (visits.csv) or a policy (hospital.toml) first",
        )
    if path.is_dir():
        raise Invalid(f"{str(path)!r} is a folder", code="no-file", hint="name a data file or a policy inside of it")
    if not path.exists():
        raise _missing(path)
    if not os.access(path, os.R_OK):
        raise Invalid(f"the file {str(path)!r} cannot be read", code="no-file", hint="look at its permissions")
    if not is_policy(path):
        _check_data(path)


def _is_ledger(path: Path) -> bool:
    from discreet.curator.places import is_ledger

    return is_ledger(path)


def is_policy(path: Path) -> bool:
    from discreet.curator.place import is_policy

    return is_policy(path)


def endings() -> tuple[str, ...]:
    """How the names of data files end."""
    from discreet.engines.base import CSV, DATABASE, PARQUET
    from discreet.engines.framing import PACKED

    return (*CSV, *(each + PACKED for each in CSV), *PARQUET, *DATABASE)


def _missing(path: Path) -> Invalid:
    from discreet.plan.catalog import suggestion

    folder = path.parent
    there = [each.name for each in folder.iterdir()] if folder.is_dir() and os.access(folder, os.R_OK | os.X_OK) else []
    usable = [name for name in there if name.casefold().endswith((".toml", *endings()))]
    hint = suggestion(path.name, usable, "here are") if usable else "name a data file (visits.csv) or a policy first"
    return Invalid(f"there is no file {str(path)!r}", code="no-file", hint=hint)


def _check_data(path: Path) -> None:
    if not path.name.casefold().endswith(endings()):
        raise Invalid(
            f"{path.name!r} is neither a data file nor a policy",
            code="format",
            hint=f"data ends in {', '.join(endings())}, a policy in .toml",
        )
    if path.stat().st_size == 0:
        raise Invalid(f"the file {str(path)!r} is empty", code="format", hint="its first line must name the columns")


def split(words: list[str] | None) -> tuple[str | None, str]:
    """Source and question: two words, or the question alone."""
    given = list(words or ())
    if len(given) == 2:
        return given[0], given[1]
    if len(given) > 2:
        raise Invalid(
            f"a source and a question are two words, got {len(given)}",
            code="usage",
            hint='put the question in quotes: discreet ask visits.csv "SELECT COUNT(*) FROM visits"',
        )
    if given and (given[0].lstrip().casefold().startswith(SQL_BEGINS) or any(map(str.isspace, given[0]))):
        return None, given[0]
    raise Invalid(
        "the question is missing",
        code="usage",
        hint=f'write it in quotes: discreet ask {given[0] if given else "visits.csv"} "SELECT COUNT(*) FROM …"',
    )


def place_at(word: str | None, ledger: str | None) -> "tuple[Policy | None, Place]":
    """The policy of a source, where it is one, and where its ledger lies. The folder of a ledger is a source too."""
    from discreet.curator.place import place_of

    path = located(word, ledgers=True)
    policy = read_policy(path)
    return policy, place_of(policy, path, ledger)


def read_policy(path: Path) -> "Policy | None":
    """The policy that a file is; None for a data file, or a ledger."""
    from discreet.curator.policy import Policy

    return Policy.read(path) if is_policy(path) and path.is_file() else None


def policy_of(path: Path, flags: Flags) -> "Policy":
    """What the owner declares, by a policy or by flags."""
    from discreet.curator.data_file import DataFile
    from discreet.curator.policy import Policy

    if is_policy(path):
        declaring = flags.declaring()
        if declaring:
            raise Invalid(
                f"{declaring[0]} is for data files; here the policy {path.name!r} says it",
                code="usage",
                hint="change it there",
            )
        return Policy.read(path)
    budget = None if flags.budget is None else number(flags.budget, "budget")
    delimiter = {} if flags.delimiter is None else {"delimiter": flags.delimiter}
    caps = {**flags.limits, "people": flags.people, "clip": flags.clip}
    file = DataFile(path, flags.unit, flags.row, flags.adjacency, budget, flags.ledger)
    return file.policy(columns(flags), options(flags) | delimiter, flags.table, public_files(flags), **caps)


def curator_of(word: str | None, flags: Flags, as_json: bool = False) -> "Curator":
    """The curator of a source; with `as_json` nothing but JSON goes to where a program may read it."""
    from discreet.curator.place import place_of
    from discreet.curator.session import Curator
    from discreet.privacy.advice import note_on_epsilon

    path = located(word)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # on δ: it is said under every answer, and by `check`
        policy = policy_of(path, flags)
        place = place_of(policy, path, flags.ledger)
        curator = Curator.of(policy, path, told=partial(_told, as_json), noted=partial(noted, as_json), place=place)
    if place.folder is not None and not place.is_made():
        _say(as_json, note_on_epsilon(policy.budget.epsilon, in_all=True))
    return curator


def table_of(curator: "Curator", of: str | None) -> str:
    """The private table that `--of` names; it may be left out where there is one."""
    names = [table.name for table in curator.catalog.private]
    if of is None and len(names) > 1:
        raise Invalid(
            f"there are several tables: {', '.join(names)}", code="usage", hint=f"name one of them: --of {names[0]}"
        )
    return names[0] if of is None else of


def _told(as_json: bool, loaded: "Loaded") -> None:
    """Whoever can read the data is its owner, and is told here what was lost; an answer holds nothing of it."""
    _say(as_json, loaded.lines())


def _say(as_json: bool, lines: Iterable[str]) -> None:
    for line in lines if sys.stderr.isatty() or not as_json else ():
        print(f"note to the owner: {line}", file=sys.stderr)


def noted(as_json: bool, note: str) -> None:
    """What the owner must not miss, on stderr; as JSON for a program."""
    print(json.dumps({"warning": note}, ensure_ascii=False) if as_json else f"warning: {note}", file=sys.stderr)
