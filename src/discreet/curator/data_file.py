"""A data file without a policy: what its ledger remembers need not be said again, and the rest of a policy follows from its name."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from discreet.accountant import Accountant
from discreet.curator.budgets import DELTA, EPSILON
from discreet.curator.declaration import Budget, Source, protected, source_of
from discreet.curator.looking import declared
from discreet.curator.place import Folder, Place, named, place_of
from discreet.curator.policy import Policy
from discreet.errors import Invalid, Refused


@dataclass(frozen=True, slots=True)
class Remembered:
    """What a ledger remembers: whom it protects, its budget, and the version of the data."""

    relation: str
    epsilon: Fraction
    delta: Fraction
    version: str
    accountant: Accountant
    shares: str
    spent: str

    @property
    def unit(self) -> tuple[str | None, bool, str]:
        """The column, whether each row is a unit, and the adjacency."""
        adjacency, _, rest = self.relation.partition(" one ")
        return rest.partition(" by ")[2] or None, rest == "row", adjacency


def remembered_at(place: Place) -> Remembered | None:
    """What a ledger says of itself, before it is looked through: whoever asks opens it then, and finds the same or is refused."""
    if not isinstance(place, Folder):
        return None
    with named(place):
        beginning = declared(place.folder)
    if beginning is None:
        return None
    creation, standing = beginning
    epsilon, delta, _ = standing.budget.exact
    return Remembered(
        creation.relation, epsilon, delta, standing.version, standing.accountant, standing.shares, str(standing.spent)
    )


@dataclass(frozen=True, slots=True)
class DataFile:
    """What is declared of a data file. Who is protected must be said at its first question, and is remembered then."""

    path: Path
    unit: str | None = None
    row: bool = False
    adjacency: str | None = None
    budget: Fraction | None = None
    ledger: str | Path | None = None

    @property
    def place(self) -> Place:
        """Where its ledger lies."""
        return place_of(None, self.path, self.ledger)

    @property
    def is_new(self) -> bool:
        """Whether it was neither said nor remembered who is protected."""
        return self.unit is None and not self.row and remembered_at(self.place) is None

    def policy(
        self,
        columns: Mapping[str, Any],
        options: Mapping[str, Any],
        name: str | None = None,
        public: Mapping[str, Path] | None = None,
        **caps: Any,
    ) -> Policy:
        """The policy that this comes to; `columns` and `options` are those of its one table, `public` the files of tables beside it."""
        source = source_of(self.path, columns, {"delimiter": delimiter_of(self.path)} | dict(options))
        remembered = remembered_at(self.place)
        unit, row, adjacency = self._unit(remembered)
        return Policy(
            tables={name or table_name(self.path): source, **_public(public or {}, name or table_name(self.path))},
            protected=protected(unit, row=row, adjacency=adjacency, **caps),
            budget=self._budget(remembered),
            accountant=Accountant.PURE if remembered is None else remembered.accountant,
            version="1" if remembered is None else remembered.version,
            ledger=None if self.ledger is None else Path(self.ledger),
        )

    def _unit(self, remembered: Remembered | None) -> tuple[str | None, bool, str]:
        unit, row, adjacency = self.unit, self.row, self.adjacency
        if remembered is not None and unit is None and not row:
            unit, row, _ = remembered.unit
        if remembered is not None and adjacency is None:
            adjacency = remembered.unit[2]
        if unit is None and not row:
            raise unit_missing()
        if unit is not None and row:
            raise Invalid("--unit and --row exclude each other", code="unit", hint="give one of them")
        return unit, row, adjacency or "add-remove"

    def _budget(self, remembered: Remembered | None) -> Budget:
        if remembered is None:
            return Budget(EPSILON if self.budget is None else self.budget, DELTA)
        if self.budget is not None and self.budget != remembered.epsilon:
            raise Refused(
                f"the budget of this file is ε = {float(remembered.epsilon):.6g} since its first question",
                code="budget-fixed",
                hint=f"leave --budget out; the owner changes it by `discreet budget set {self.place.word}"
                f" --epsilon {float(self.budget):.6g} --yes`",
            )
        return Budget(remembered.epsilon, remembered.delta)


def unit_missing() -> Invalid:
    return Invalid(
        "who is protected must be said at the first question about a file",
        code="unit",
        hint="--unit COLUMN names the column that says who a row is about;"
        " --row says that every row is about another person",
    )


def _public(files: Mapping[str, Path], private: str) -> dict[str, Source]:
    if private.casefold() in {name.casefold() for name in files}:
        raise Invalid(
            f"the data file and a public table are both called {private!r}", code="usage", hint="name one otherwise"
        )
    return {
        name: source_of(file, {}, {"delimiter": delimiter_of(file), "public": True}) for name, file in files.items()
    }


def delimiter_of(path: Path) -> str:
    """What stands between the fields of a file, by its name, where nothing is said."""
    return "\t" if ".tsv" in path.name.casefold() else ","


def table_name(path: Path) -> str:
    """The file's stem in lower case, other characters `_`.

    >>> table_name(Path("data/Visits 2024.csv.gz"))
    'visits_2024'
    """
    stem = path.name.partition(".")[0] or path.stem
    name = "".join(each if each.isascii() and each.isalnum() else "_" for each in stem.lower())
    return name if name and not name[0].isdigit() else f"_{name}"
