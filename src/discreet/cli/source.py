"""From the first word of a command to a curator: a data file with flags, a policy, or ./discreet.toml.

What a data file's ledger remembers (who is protected, and the budget) is declared at its first question and need not be said again.
"""

import json
import os
import sys
import warnings
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.cli.flags import Flags, columns, number, options
from discreet.errors import Invalid, Refused

if TYPE_CHECKING:
    from discreet.curator.accounts import Standing
    from discreet.curator.loaded import Loaded
    from discreet.curator.policy import Budget, Policy
    from discreet.curator.session import Curator
    from discreet.curator.store import Store

POLICY = Path("discreet.toml")
EPSILON, DELTA = Fraction(5), Fraction(1, 10**6)
"""The budget of a data file for which none is said."""

SQL_BEGINS = ("select", "with", "(", "--", "/*")


@dataclass(frozen=True, slots=True)
class Kept:
    """What a ledger remembers: whom it protects, its budget, and the version of the data."""

    relation: str
    epsilon: Fraction
    delta: Fraction
    version: str
    accountant: str
    shares: str
    spent: str

    @property
    def unit(self) -> tuple[str | None, bool, str]:
        """The column, whether each row is a unit, and the adjacency."""
        adjacency, _, rest = self.relation.partition(" one ")
        return rest.partition(" by ")[2] or None, rest == "row", adjacency


def located(word: str | None) -> Path:
    """The file that a source names, which is there and can be read; without a word it is ./discreet.toml."""
    path = POLICY if word is None else Path(word)
    try:
        os.path.abspath(path).encode()
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


def is_policy(path: Path) -> bool:
    return path.suffix.casefold() == ".toml"


def is_csv(path: Path) -> bool:
    from discreet.engines.base import CSV
    from discreet.engines.framing import PACKED

    return path.name.casefold().removesuffix(PACKED).endswith(CSV)


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


def table_name(path: Path) -> str:
    """The file's stem in lower case, other characters `_`.

    >>> table_name(Path("data/Visits 2024.csv.gz"))
    'visits_2024'
    """
    stem = path.name.partition(".")[0] or path.stem
    name = "".join(each if each.isascii() and each.isalnum() else "_" for each in stem.lower())
    return name if name and not name[0].isdigit() else f"_{name}"


def ledger_of(path: Path, flags: Flags, policy: "Policy | None" = None) -> Path:
    """The folder of the ledger."""
    if flags.ledger is not None:
        return Path(flags.ledger)
    if policy is not None and policy.ledger is not None:
        return policy.ledger
    from discreet.curator.places import ledger_beside

    return ledger_beside(path)


def open_ledger(folder: Path, mark: Path | None = None, *, whole: bool = True) -> "Store | None":
    """The ledger in a folder; None where none was made yet. One that may only be read is read; whole=False: to be verified next."""
    from discreet.curator.looking import look

    try:
        return look(folder, mark=mark, whole=whole)
    except Refused as refused:
        if refused.code != "ledger-missing":
            raise
        return None


def kept_in(folder: Path) -> Kept | None:
    """What a ledger says of itself, before it is looked through: whoever asks opens it then, and finds the same or is refused."""
    from discreet.curator.looking import declared

    found = declared(folder)
    if found is None:
        return None
    made, totals = found
    epsilon, delta, _ = totals.budget.exact
    return Kept(made.relation, epsilon, delta, totals.version, totals.accountant, totals.shares, str(totals.spent))


def policy_of(path: Path, flags: Flags) -> "Policy":
    """What the owner declares, by a policy or by flags."""
    from discreet.curator.policy import Policy

    if not is_policy(path):
        return _declared(path, flags)
    given = flags.declaring()
    if given:
        raise Invalid(
            f"{given[0]} is for data files; here the policy {path.name!r} says it",
            code="usage",
            hint="change it there",
        )
    policy = Policy.read(path)
    return policy if flags.ledger is None else replace(policy, ledger=Path(flags.ledger))


def _declared(path: Path, flags: Flags) -> "Policy":
    from discreet.curator.policy import Policy, protected, source_of

    source = source_of(path, columns(flags), options(flags) | {"delimiter": flags.delimiter or _delimiter(path)})
    kept = kept_in(ledger_of(path, flags))
    unit, row, adjacency = flags.unit, flags.row, flags.adjacency
    if kept is not None and unit is None and not row:
        unit, row, _ = kept.unit
    if kept is not None and adjacency is None:
        adjacency = kept.unit[2]
    if unit is None and not row:
        raise Invalid(
            "who is protected must be said at the first question about a file",
            code="unit",
            hint="--unit COLUMN names the column that says who a row is about;"
            " --row says that every row is about another person",
        )
    if unit is not None and row:
        raise Invalid("--unit and --row exclude each other", code="unit", hint="give one of them")
    caps = {name: getattr(flags, name) for name in ("max_groups", "max_rows", "people", "clip")}
    return Policy(
        tables={flags.table or table_name(path): source},
        protected=protected(
            unit,
            row=row,
            adjacency=adjacency or "add-remove",
            **caps,
        ),
        budget=_budget(flags, kept),
        accountant="pure" if kept is None else kept.accountant,
        version="1" if kept is None else kept.version,
        ledger=ledger_of(path, flags),
    )


def _delimiter(path: Path) -> str:
    return "\t" if ".tsv" in path.name.casefold() else ","


def _budget(flags: Flags, kept: Kept | None) -> "Budget":
    from discreet.curator.policy import Budget

    said = None if flags.budget is None else number(flags.budget, "budget")
    if kept is None:
        return Budget(EPSILON if said is None else said, DELTA)
    if said is not None and said != kept.epsilon:
        raise Refused(
            f"the budget of this file is ε = {float(kept.epsilon):.6g} since its first question",
            code="budget-fixed",
            hint=f"leave --budget out; the owner changes it by `discreet budget set SOURCE --epsilon {flags.budget} --yes`",
        )
    return Budget(kept.epsilon, kept.delta)


def curator_of(word: str | None, flags: Flags, as_json: bool = False) -> "Curator":
    """The curator of a source; with `as_json` nothing but JSON goes to where a program may read it."""
    from discreet.curator.session import Curator

    path = located(word)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # on δ: it is said under every answer, and by `check`
        return Curator.of(policy_of(path, flags), path, told=partial(_told, as_json), noted=partial(noted, as_json))


def _told(as_json: bool, loaded: "Loaded") -> None:
    """Whoever can read the data is its owner, and is told here what was lost; an answer holds nothing of it."""
    for line in loaded.lines() if sys.stderr.isatty() or not as_json else ():
        print(f"note to the owner: {line}", file=sys.stderr)


def noted(as_json: bool, note: str) -> None:
    """What the owner must not miss, on stderr; as JSON for a program."""
    print(json.dumps({"warning": note}, ensure_ascii=False) if as_json else f"warning: {note}", file=sys.stderr)


def amounts_left(totals: "Standing") -> dict[str, float]:
    """What is left for whom the totals are of, rounded down."""
    from discreet.exact import to_float_down

    names = ("epsilon", "delta", "rho")
    shown = [name for name in names if name != "rho" or totals.accountant == "zcdp"]
    return {
        name: to_float_down(value) + 0.0 for name, value in zip(names, totals.free.exact, strict=True) if name in shown
    }


def totals_json(totals: "Standing") -> dict[str, dict[str, float]]:
    """What was spent, what may be, what is left, as numbers: spent rounded up, the others down."""
    from discreet.exact import to_float_down, to_float_up

    names = ("epsilon", "delta", "rho")
    shown = [name for name in names if name != "rho" or totals.accountant == "zcdp"]

    def amounts(which: str) -> dict[str, float]:
        exact = dict(zip(names, getattr(totals, which).exact, strict=True))
        round_ = to_float_up if which == "spent" else to_float_down
        return {name: round_(exact[name]) + 0.0 for name in shown}  # no negative zero

    return {"spent": amounts("spent"), "cap": amounts("cap"), "remaining": amounts("remaining")}
