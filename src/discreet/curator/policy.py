"""What the owner of the data declares: sources, columns, who is protected, the budget, the analysts. From TOML, flags or Python.

A policy is checked when it is read, before any data is; each message says what to add. Nothing is filled in from the data: a column
without bounds can be filtered and counted, not summed, and a column without keys not grouped by.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.accountant import Accountant
from discreet.curator import policy_text
from discreet.curator.accounts import SHARES
from discreet.curator.acts import accountant_of
from discreet.curator.address import SCHEMA, VARIABLE, Address
from discreet.curator.amounts import Cap
from discreet.curator.declaration import FIELDS, Budget, DeclaredParts, Source, protected, source_of
from discreet.curator.ledger import parts_and_shares
from discreet.curator.money import cap_of, overdrawn
from discreet.curator.names import check_analyst, check_name
from discreet.errors import Invalid, Refused
from discreet.exact import Number, positive, probability, shown
from discreet.plan.catalog import Protected

if TYPE_CHECKING:
    from discreet.curator.review import Review


@dataclass(frozen=True, slots=True)
class Policy:
    """Everything that is declared."""

    tables: Mapping[str, Source]
    protected: Protected
    budget: Budget
    accountant: Accountant = Accountant.PURE
    shares: str | None = None  # None: as the ledger has it, which begins with common ones
    analysts: Mapping[str, Budget] = field(default_factory=dict)
    parts: DeclaredParts | None = None
    version: str = "1"
    ledger: Path | None = None
    address: Address | None = None  # of a server that keeps the ledger, instead of a folder
    schema: str = SCHEMA  # of that server
    mark: Path | None = None
    share_answers: bool = False

    def __post_init__(self) -> None:
        if all(source.public for source in self.tables.values()):
            what = "a table that is about somebody" if self.tables else "a table"
            raise Invalid(f"a policy needs {what}", hint='add [tables.visits] with source = "visits.csv"')
        if self.ledger is not None and self.address is not None:
            raise Invalid(
                "a ledger is in a folder or on a server, and both are named",
                code="policy",
                hint="keep path, or address, under [ledger]",
            )
        object.__setattr__(self, "accountant", accountant_of(self.accountant))
        if self.shares not in (None, *SHARES):
            raise Invalid(f"shares must be 'common' or 'reserved', got {shown(self.shares)}", code="policy")
        total = self._cap(self.budget, "the budget")
        caps = {}
        for name, budget in self.analysts.items():
            check_analyst(name)
            caps[name] = self._cap(budget, f"analyst {shown(name)}")
        for name, budget in () if self.parts is None else self.parts.budgets.items():
            check_name(name, "part")
            self._cap(budget, f"part {shown(name)}")
        if self.parts is not None and self.shares == "reserved":
            raise parts_and_shares()
        over = overdrawn(caps, total) if self.shares == "reserved" else ""
        if over:
            raise Refused(
                f"shares are reserved, and {over}",
                code="shares",
                hint="lower a cap, or raise the budget of the data set",
            )

    def _cap(self, budget: Budget, whose: str) -> Cap:
        """What the first question would refuse is refused here, and says of whom."""
        positive(budget.epsilon, f"epsilon of {whose}")
        probability(budget.delta, f"delta of {whose}")
        try:
            return cap_of(self.accountant, budget.epsilon, budget.delta)
        except Invalid as error:
            raise Invalid(f"{whose}: {error.message}", code=error.code, hint=error.hint) from None

    @property
    def files(self) -> tuple[Path, ...]:
        """The files with data about somebody; a frame is none."""
        private = (each.data for each in self.tables.values() if not each.public)
        return tuple(Path(data) for data in private if isinstance(data, str | Path))

    @classmethod
    def declare(
        cls,
        tables: Mapping[str, Any],
        unit: str | None = None,
        columns: Mapping[str, Any] | None = None,
        *,
        epsilon: Number,
        delta: Number = 0,
        accountant: str = "pure",
        shares: str | None = None,
        analysts: Mapping[str, Mapping[str, Number]] | None = None,
        parts: Mapping[str, Any] | None = None,
        version: str = "1",
        ledger: str | Path | None = None,
        reading: Mapping[str, Any] | None = None,
        public: Mapping[str, Any] | None = None,
        **caps: Any,
    ) -> "Policy":
        """The policy that these words come to, which are those of `Curator`.

        >>> policy = Policy.declare({"visits": "visits.csv"}, "patient_id", {"age": {"bounds": (0, 120)}}, epsilon=3)
        >>> print(policy.budget)
        ε = 3
        """
        sources = _sources(tables, public or {}, columns, reading)
        server = Address.of(ledger) if str(ledger).startswith(VARIABLE) else None
        return cls(
            tables=sources,
            protected=protected(unit, **caps),
            budget=Budget(positive(epsilon, "epsilon"), probability(delta, "delta")),
            accountant=accountant_of(accountant),
            shares=shares,
            analysts={name: _budget(budget, "an analyst", "ana") for name, budget in (analysts or {}).items()},
            parts=None if parts is None else _parts(parts),
            version=version,
            ledger=None if ledger is None or server is not None else Path(ledger),
            address=server,
        )

    @classmethod
    def read(cls, path: str | Path) -> "Policy":
        """The policy of a TOML file; sources are relative to it, where it really lies."""
        return cls(**policy_text.read(Path(path)))

    def save(self, path: str | Path) -> None:
        """Write the policy to a TOML file that is not there yet; `Policy.read` reads the same policy from it.

        Files in the folder of the policy, or named from the current folder, are named from there, so that they can be moved together.
        A policy of tables in memory is Invalid: a file cannot name them.
        """
        policy_text.save(policy_text.written(self, Path(path)), Path(path))

    def check(self, path: str | Path | None = None) -> "Review":
        """What the policy declares, which lines would let more be asked, and what to think of it. No row of the data is read.

        `path` is the file of the policy, beside which its ledger lies where it names none. A policy that does not load is Invalid, and
        one whose delta promises nothing is Refused.
        """
        from discreet.curator.review import review

        return review(self, None if path is None else Path(path))


def _parts(said: Mapping[str, Any]) -> DeclaredParts:
    fields = ("table", "column", "budgets")
    if not isinstance(said, Mapping) or set(said) != set(fields) or not isinstance(said["budgets"], Mapping):
        raise Invalid(
            f"parts have a table, a column and budgets, got {shown(said)}",
            code="parts",
            hint='write {"table": "visits", "column": "region", "budgets": {"north": {"epsilon": 1}}}',
        )
    budgets = {name: _budget(budget, "a part", "north") for name, budget in said["budgets"].items()}
    return DeclaredParts(said["table"], said["column"], budgets)


def _budget(amounts: Mapping[str, Number], whose: str, example: str) -> Budget:
    if not isinstance(amounts, Mapping) or "epsilon" not in amounts:
        raise Invalid(
            f"{whose} needs an epsilon, got {shown(amounts)}", hint=f'write {{"{example}": {{"epsilon": 1}}}}'
        )
    return Budget(positive(amounts["epsilon"], "epsilon"), probability(amounts.get("delta", 0), "delta"))


def _sources(
    tables: Mapping[str, Any],
    public: Mapping[str, Any],
    columns: Mapping[str, Any] | None,
    reading: Mapping[str, Any] | None,
) -> dict[str, Source]:
    """All tables with what is said of each; what is said of no table by its name is said of the one that is about somebody."""
    both = {name.casefold() for name in tables} & {name.casefold() for name in public}
    if both:
        raise Invalid(f"table {min(both)!r} is among the tables and among the public ones", hint="name it once")
    everything = {**tables, **public}
    sources = {}
    for name, data in everything.items():
        said = _of_table(name, everything, public, columns, FIELDS)
        options = dict(_of_table(name, everything, public, reading, ()))
        sources[name] = source_of(data, said, options | {"public": True} if name in public else options)
    return sources


def _of_table(
    table: str,
    tables: Mapping[str, Any],
    public: Mapping[str, Any],
    mapping: Mapping[str, Any] | None,
    fields: Sequence[str],
) -> Mapping[str, Any]:
    """What is said of one table: all of it where it is the only one about somebody, else what stands under its name."""
    options = dict(mapping or {})
    by_name = set(options) <= set(tables) and all(
        isinstance(each, Mapping) and not set(fields) & set(each) for each in options.values()
    )
    if len(tables) - len(public) == 1 and not (by_name and options):
        return {} if table in public else options
    unknown = set(options) - set(tables)
    if unknown:
        raise Invalid(
            f"what is said of several tables is said by table, got {shown(min(unknown))}",
            hint='write columns={"visits": {"age": {"bounds": (0, 120)}}}',
        )
    return dict(options.get(table, {}))
