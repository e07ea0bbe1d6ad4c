"""What a survey asks about: a table, and those of its columns that nobody declared; refused before anything is read or spent."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256

from discreet.curator.survey.check import check_survey
from discreet.curator.survey.prices import MOST_COLUMNS, Prices, prices_for
from discreet.curator.survey.reading import Surveyed
from discreet.errors import Invalid
from discreet.exact import Number, positive, shown
from discreet.plan.catalog import Catalog, Table
from discreet.plan.private import MOST_EPSILON
from discreet.plan.scalar import Column

DELTA = Fraction(1, 10**7)
"""Of a survey, where none is said and the budget has as much."""


@dataclass(frozen=True, slots=True)
class AskedSurvey:
    """A survey as it will be charged and taken."""

    surveyed: Surveyed
    left_out: tuple[str, ...]
    prices: Prices

    @property
    def label(self) -> str:
        """What the history of a ledger says."""
        names = ", ".join(column.name for column in self.surveyed.columns)
        return f"survey of {self.surveyed.table} ({names or 'people alone'})"

    def question(self, origin: str, analyst: str | None) -> str:
        """A name for what is asked; another one for each analyst, so that no facts are shared that are theirs alone."""
        asked = repr((self.surveyed, self.prices, origin, analyst))
        return "survey " + sha256(asked.encode()).hexdigest()


def asked_survey(
    catalog: Catalog, epsilon: Number, delta: Fraction, table: str | None, columns: Iterable[str] | None
) -> AskedSurvey:
    """What a survey asks, at a price that is fixed now."""
    price, chosen = positive(epsilon, "epsilon"), _table(catalog, table)
    if price > MOST_EPSILON:
        raise Invalid(
            f"epsilon must be at most {MOST_EPSILON}", code="epsilon", hint="there is no privacy at such a price"
        )
    person = catalog.protected.person
    names = _columns(chosen, person, columns)
    if not delta and len(names) > MOST_COLUMNS:
        raise Invalid(
            f"without a delta at most {MOST_COLUMNS} columns are surveyed, and these are {len(names)}",
            code="survey",
            hint="add a delta (--delta 1e-7), or choose columns: --columns age,ward",
        )
    who = None if person is None else Column(chosen.column(person).name, chosen.column(person).type)
    nodes = tuple(Column(chosen.column(name).name, chosen.column(name).type) for name in names)
    left_out = tuple(each.name for each in chosen.columns if each.name not in {*names, who and who.name})
    relation = catalog.protected.relation
    prices = prices_for(relation, len(nodes), price, delta, several=who is not None)
    surveyed = Surveyed(chosen.name, who, nodes)
    check_survey(surveyed, prices)
    return AskedSurvey(surveyed, left_out, prices)


def _table(catalog: Catalog, name: str | None) -> Table:
    private = catalog.private
    names = ", ".join(each.name for each in private)
    if name is not None:
        chosen = catalog.table(name)
        if chosen.public is not None:
            raise Invalid(
                f"table {chosen.name!r} is public: what it holds is known without a survey",
                code="survey",
                hint=f"name one of {names}",
            )
        return chosen
    if len(private) > 1:
        raise Invalid("a survey is of one table, and there are several", code="survey", hint=f"name one of {names}")
    return private[0]


def _columns(table: Table, person: str | None, chosen: Iterable[str] | None) -> list[str]:
    free = [
        each.name for each in table.columns if not each.declared and each.name.casefold() != (person or "").casefold()
    ]
    if chosen is None:
        return free
    if isinstance(chosen, str):
        raise Invalid(f"columns must be a list of names, got {shown(chosen)}", hint='write columns=["age", "ward"]')
    names = list(dict.fromkeys(table.column(name).name for name in chosen))
    for name in names:
        if name not in free:
            raise Invalid(
                f"column {name!r} is declared, and what is declared is not surveyed", code="survey", hint="leave it out"
            )
    return names
