"""Acts: what a row of a ledger says was done. All that is needed to compute the totals after it, and nothing about the data."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, ClassVar, NamedTuple, TypeAlias

from discreet.accountant import Accountant
from discreet.curator.amounts import Amounts, Cap, Price
from discreet.curator.names import check_label, check_name, check_reason
from discreet.errors import Invalid
from discreet.exact import shown

FORMAT = 2
"""The version of what rows hold. A ledger of a newer one is refused; an older one is read as it was meant."""

ACCOUNTANTS = (Accountant.PURE, Accountant.ZCDP)
"""Those that a ledger can be kept by: each has a filter whose totals are sums of amounts."""


def accountant_of(name: object) -> Accountant:
    """The accountant of a name, which a ledger can be kept by; else raises Invalid."""
    for accountant in ACCOUNTANTS:
        if name == accountant:
            return accountant
    raise Invalid(f"accountant must be 'pure' or 'zcdp', got {shown(name)}")


@dataclass(frozen=True, slots=True)
class Creation:
    """The first row. The accountant and the neighbour relation are fixed for ever; the cap is where it starts."""

    kind: ClassVar[str] = "created"
    accountant: Accountant
    cap: Cap
    relation: str
    version: str = "1"
    format: int = FORMAT

    def __post_init__(self) -> None:
        object.__setattr__(self, "accountant", accountant_of(self.accountant))
        _check_cap(self.cap)
        check_name(self.relation, "relation")
        check_name(self.version, "version")


@dataclass(frozen=True, slots=True)
class Capped:
    """A new cap, of the data set or of the row's analyst."""

    kind: ClassVar[str] = "capped"
    cap: Cap

    def __post_init__(self) -> None:
        _check_cap(self.cap)


@dataclass(frozen=True, slots=True)
class AnalystAdded:
    kind: ClassVar[str] = "analyst-added"
    cap: Cap

    def __post_init__(self) -> None:
        _check_cap(self.cap)


@dataclass(frozen=True, slots=True)
class AnalystRemoved:
    kind: ClassVar[str] = "analyst-removed"


class PartPaid(NamedTuple):
    """The part of the people that a charge is made in: what says who is in it, as `PartAccounts` has it, and its name."""

    table: str
    column: str
    origin: str
    name: str


@dataclass(frozen=True, slots=True)
class Reserved:
    """A charge, made before any data is touched; in one part of the people, or in all."""

    kind: ClassVar[str] = "reserved"
    key: str
    question: str
    label: str
    event: dict[str, Any]
    price: Price
    version: str
    part: PartPaid | None = None


@dataclass(frozen=True, slots=True)
class Shared:
    """Another's settled answer, given to the row's analyst at the full price of their own cap; the data set pays nothing."""

    kind: ClassVar[str] = "shared"
    key: str
    question: str
    label: str
    event: dict[str, Any]
    price: Price
    version: str
    source: int
    part: PartPaid | None = None


@dataclass(frozen=True, slots=True)
class Settled:
    """The answer to a reservation: its bytes are kept beside the row, their digest in it."""

    kind: ClassVar[str] = "settled"
    reservation: int
    digest: str
    size: int
    topic: str


@dataclass(frozen=True, slots=True)
class Failed:
    """A failure after data was touched; the charge stays."""

    kind: ClassVar[str] = "failed"
    reservation: int


@dataclass(frozen=True, slots=True)
class Resumed:
    """The owner looked into failures, and lets the data set or the row's analyst go on: the count begins anew."""

    kind: ClassVar[str] = "resumed"
    reason: str

    def __post_init__(self) -> None:
        check_reason(self.reason)


@dataclass(frozen=True, slots=True)
class Accepted:
    """The owner went on although the high-water mark held a later, or another, row than this ledger has."""

    kind: ClassVar[str] = "accepted"
    marked: int
    hash: str
    # Why, in the owner's words. Rows of release 0.1 have none, and are written without it.
    reason: str | None = None

    def __post_init__(self) -> None:
        if self.reason is not None:
            check_reason(self.reason)


@dataclass(frozen=True, slots=True)
class DataChanged:
    """The owner's counter of the data moved; the budget goes on."""

    kind: ClassVar[str] = "data-changed"
    version: str

    def __post_init__(self) -> None:
        check_name(self.version, "version")


@dataclass(frozen=True, slots=True)
class Divided:
    """From here on shares are reserved, with so much set aside for the analysts there are; or, with None, they are common."""

    kind: ClassVar[str] = "shares"
    aside: Amounts | None


@dataclass(frozen=True, slots=True)
class Parted:
    """These parts of the people have budgets of their own from here on; those that had one before, and are not named, keep it.

    `origin` says of which source the table is. Where another column, or another source, says who is in a part, people may have moved.
    """

    kind: ClassVar[str] = "parts"
    table: str
    column: str
    origin: str
    caps: tuple[tuple[str, Cap], ...]

    def __post_init__(self) -> None:
        check_name(self.table, "table")
        check_name(self.column, "column")
        check_label(self.origin, "origin")
        for name, cap in self.caps:
            check_name(name, "part")
            _check_cap(cap)
        names = [name for name, _ in self.caps]
        if not names or names != sorted(set(names)):
            raise Invalid("parts must have names, each once and in order", code="parts")


Act: TypeAlias = (
    Creation
    | Capped
    | AnalystAdded
    | AnalystRemoved
    | Reserved
    | Shared
    | Settled
    | Failed
    | Resumed
    | Accepted
    | DataChanged
    | Divided
    | Parted
)
ACTS: dict[str, type[Any]] = {
    each.kind: each
    for each in (
        Creation,
        Capped,
        AnalystAdded,
        AnalystRemoved,
        Reserved,
        Shared,
        Settled,
        Failed,
        Resumed,
        Accepted,
        DataChanged,
        Divided,
        Parted,
    )
}
LATER = ("reason", "part")
"""Fields that rows of earlier releases have not, and are written without where they say nothing."""

_FIELDS = {kind: tuple(each.name for each in fields(act)) for kind, act in ACTS.items()}


def _check_cap(value: object) -> None:
    if not isinstance(value, Cap):
        raise Invalid(f"cap must be a Cap, got {shown(value)}", hint="cap_of makes one of an epsilon and a delta")


def to_json(act: Act) -> dict[str, Any]:
    """What a row holds of an act, beside its kind."""
    parts = {name: _to_json(getattr(act, name)) for name in _FIELDS[act.kind]}
    for name in LATER:
        if name in parts and parts[name] is None:
            del parts[name]
    return parts


def from_json(kind: str, parts: dict[str, Any]) -> Act:
    """The act that a row holds."""
    values = {name: _READ[name](part) if name in _READ else part for name, part in parts.items()}
    act: Act = ACTS[kind](**values)
    return act


def _to_json(value: object) -> Any:
    if isinstance(value, Accountant):
        return value.value
    if isinstance(value, tuple):
        return [_to_json(each) for each in value]
    return value.to_json() if isinstance(value, Amounts | Cap) else value


def _read_aside(value: list[int] | None) -> Amounts | None:
    return None if value is None else Amounts.from_json(value)


def _read_caps(value: list[list[Any]]) -> tuple[tuple[str, Cap], ...]:
    return tuple((name, Cap.from_json(cap)) for name, cap in value)


_READ: dict[str, Callable[[Any], Any]] = {
    "price": Amounts.from_json,
    "cap": Cap.from_json,
    "aside": _read_aside,
    "caps": _read_caps,
    "part": lambda value: PartPaid(*value),
}
