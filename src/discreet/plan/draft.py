"""All of a plan that does not depend on the budget: the groups, the terms, the limits, and what an engine runs under them."""

from dataclasses import dataclass, replace
from functools import lru_cache
from math import prod

from discreet.errors import QueryError
from discreet.plan.caps import Caps, Limit, caps_of, missing
from discreet.plan.catalog import Catalog, Protected
from discreet.plan.column_limits import within_columns
from discreet.plan.digits import counted
from discreet.plan.domain import Values, complete, constant_of, domains_of, groups_of, whole_key
from discreet.plan.explain import said
from discreet.plan.moment_reading import MomentsAsked
from discreet.plan.narrowing import narrowed, undecided
from discreet.plan.population import NOTE, RowsEach, check_supported, needed, weight_of
from discreet.plan.question import Aggregate, Question
from discreet.plan.range import FoundRange
from discreet.plan.reading import ReadingAsked
from discreet.plan.relation import Filled, Filter, How, Rows, Term, walk
from discreet.plan.releases.base import Release
from discreet.plan.releases.terms import Measured, MeasuredTerms
from discreet.plan.rules import apportioned, joins, occurring, parts, people  # noqa: F401 (their rules register themselves)
from discreet.plan.rules.relations import reach_into
from discreet.plan.rules.scopes import scope_of
from discreet.plan.scalar import Column, In, IsNull, Literal, Or, Scalar, Type, Value, columns_in, type_of
from discreet.plan.scope import Scope
from discreet.plan.simultaneous import simultaneous_note
from discreet.privacy import Unit

MOST_FOUND = 1_000
"""So many keys of a column are used at most, where they are found: those with the largest noisy counts."""

MOST_FOUND_GROUPS = 10_000
"""So many groups there may be at most, where keys are found; of several columns each has fewer keys then."""

REMEMBERED = 8
"""Of so many lists of keys it is remembered what they are as constants."""

FEWEST_FOUND = 10
"""Where not even so many keys of a column could be used, a question is refused."""


@dataclass(frozen=True, slots=True)
class Draft:
    """All of a plan that does not depend on the budget."""

    question: Question
    scope: Scope
    protected: Protected
    caps: Caps
    """Those that were declared."""

    rows: Rows
    """The rows of the question whose declared keys are known ones."""

    source: Rows
    """Of these the rows in a group, as far as keys were found."""

    keys: tuple[Scalar, ...]
    domains: tuple[Values | None, ...]
    """The values of each key; None where they are still to be found."""

    groups: tuple[tuple[Value, ...], ...]
    """All combinations of these; none as long as some are to be found."""

    cells: int
    """How many groups there may be at most, which decides the form of the plan: where keys are found more than there will be."""

    terms: tuple[Term, ...]
    measured: tuple[Measured, ...]
    releases: tuple[Release, ...]
    notes: tuple[str, ...]
    ranges: tuple[FoundRange, ...] = ()
    """Those that were found, by earlier questions or for this one."""

    sought: tuple[FoundRange, ...] = ()
    """What has no range yet: terms are made for the widest one, which stands for what will be found."""

    readings: tuple[ReadingAsked, ...] = ()
    """What is read beside the terms."""

    alone: bool = False
    """Whether a person has one row at most, so that nothing of anyone need be limited."""

    @property
    def asks(self) -> bool:
        """Whether anything is asked of the data."""
        return bool(self.terms or self.readings)

    @property
    def known(self) -> int:
        """For how many groups noise is made: for those that there are, which is public once their keys are; before that, and where norms
        are limited, for as many as there may be. For one where none was found, so that nothing is public for being of nobody."""
        return self.cells if self.clip or None in self.domains else max(1, len(self.groups))

    @property
    def clip(self) -> bool:
        """Whether people are shortened to an L2 norm, instead of being kept in a few groups."""
        return self.asks and shortens(self.protected, self.cells)

    @property
    def person(self) -> Column:
        """The column of people, as the table spells it, which a unit may be written unlike."""
        named = self.scope.own_named(self.protected.person or "")
        return Column(named.name, named.type)

    @property
    def missing(self) -> tuple[Limit, ...]:
        """The limits that must be found."""
        if self.protected.person is None or not self.asks or self.alone:
            return ()
        kinds = {term.how for term in self.terms}
        of_rows = How.SUM in kinds or any(each.of_rows for each in self.readings)
        of_people = bool(kinds - {How.SUM}) or any(each.of_people for each in self.readings)
        return missing(self.caps, self.cells, of_rows=of_rows, of_people=of_people, clip=self.clip)


def draft(question: Question, catalog: Catalog) -> Draft:
    """Groups and terms, or raises QueryError where something is not declared."""
    scope = scope_of(question.source, catalog)
    everything = scope.unfiltered
    keys = tuple(whole_key(key, everything) for key in question.keys)
    listed = domains_of(keys, everything)
    domains = narrowed(keys, listed, question.source, everything)
    if not question.aggregates:
        _check_public(keys, domains, question)
    sought = None in domains
    declared = groups_of([each for each in domains if each is not None])
    groups = () if sought else declared
    cells = most_cells(domains) if sought else len(groups)
    alone = _alone(question.source, catalog.protected)
    protected = _unlimited(catalog.protected) if alone else within_columns(catalog.protected, keys, everything)
    caps = caps_of(protected, cells)
    terms, releases = _measured(scope, protected, caps, cells, question, catalog.ranges, alone)
    source, left_out = _within_groups(question, keys, domains, listed, everything)
    notes = (
        *simultaneous_note(question),
        *left_out,
        *_about_missing(question),
        *_about_alone(protected, alone),
        *dict.fromkeys(terms.notes),
    )
    return Draft(
        question,
        scope,
        protected,
        caps,
        source,
        source,
        keys,
        domains,
        groups,
        cells,
        tuple(terms.terms),
        tuple(terms.measured),
        releases,
        notes,
        catalog.ranges,
        tuple(terms.sought),
        tuple(terms.readings),
        alone,
    )


def _alone(source: Rows, protected: Protected) -> bool:
    """Whether the rows of a question are of people who have one at most, by the rules."""
    if protected.person is None:
        return False
    reach = reach_into(source, Unit.PERSON)
    return reach.rows == reach.groups == 1


def _unlimited(protected: Protected) -> Protected:
    """Whoever has one row is in one group: limits change nothing, and neither does a norm that is limited."""
    return replace(protected, max_groups=None, max_rows=None, max_total=None, clip="groups")


def _about_alone(protected: Protected, alone: bool) -> list[str]:
    return (
        [f"each {protected.person} counts once: a row is a {protected.person}, and no limit is needed"] if alone else []
    )


def _measured(
    scope: Scope,
    protected: Protected,
    caps: Caps,
    cells: int,
    question: Question,
    ranges: tuple[FoundRange, ...],
    alone: bool,
) -> tuple[MeasuredTerms, tuple[Release, ...]]:
    """The terms of aggregates, and what is made of them, where these ranges were found."""
    aggregates = question.aggregates
    scaled = not alone and _scales(protected, caps, aggregates, cells)
    terms = MeasuredTerms(scope, aggregates, shortens(protected, cells), scaled, ranges)
    releases = tuple(aggregate.kind.planned(aggregate, terms) for aggregate in aggregates)
    if question.population:
        _sample(question, terms, releases, RowsEach.of(single=alone or protected.person is None, limit=caps.rows))
    return terms, releases


def _sample(question: Question, terms: MeasuredTerms, releases: tuple[Release, ...], rows: RowsEach) -> None:
    """Ask for the second moments as well that intervals for a population need."""
    check_supported(question, releases)
    combinations = [each.made for each in terms.measured]
    asked = needed(question, releases, combinations, terms.terms, rows).asked
    if asked:
        terms.read(
            MomentsAsked(asked, tuple(terms.terms), rows is RowsEach.ONE, weight_of(len(asked), len(combinations)))
        )
    terms.notes.append(NOTE)


def with_range(draft: Draft, span: FoundRange) -> Draft:
    """The draft after a range was found: the aggregates of its argument are clamped to it, and nothing else changes."""
    ranges = (*draft.ranges, span)
    terms, releases = _measured(
        draft.scope, draft.protected, draft.caps, draft.cells, draft.question, ranges, draft.alone
    )
    return replace(
        draft,
        terms=tuple(terms.terms),
        measured=tuple(terms.measured),
        releases=releases,
        ranges=ranges,
        sought=tuple(terms.sought),
        readings=tuple(terms.readings),
    )


def _check_public(keys: tuple[Scalar, ...], domains: tuple[Values | None, ...], question: Question) -> None:
    """A question without aggregates asks which groups there are: answered where that is declared, or raises QueryError."""
    if None in domains or undecided(keys, question.source):
        raise QueryError(
            "which groups have rows, or such rows, is not public: without an aggregate only declared keys are shown",
            code="no-aggregate",
            hint="add COUNT(*): SELECT ward, COUNT(*) … GROUP BY ward; keys that nobody declared are found with it",
        )


def shortens(protected: Protected, cells: int) -> bool:
    """Whether people are shortened to an L2 norm, instead of being kept in a few groups."""
    return protected.clip == "l2" and protected.person is not None and cells > 1


def _scales(protected: Protected, caps: Caps, aggregates: tuple[Aggregate, ...], cells: int) -> bool:
    """Whether scaling rows to a number of them may leave a fraction: not of all rows, in the one group that there is.

    What is not bounded by other limits will be scaled, to a limit that is found.
    """
    if protected.person is None or not (
        caps.total is not None or missing(caps, cells, of_rows=True, of_people=False, clip=shortens(protected, cells))
    ):
        return False
    return cells > 1 or any(
        each.argument is not None or each.condition is not None for each in aggregates if not each.kind.beside
    )


def with_keys(draft: Draft, place: int, values: Values) -> Draft:
    """The draft after the values of a key were found: rows with others are left out, before anyone's groups are capped."""
    domains = tuple(values if i == place else each for i, each in enumerate(draft.domains))
    known = [each for each in domains if each is not None]
    groups = groups_of(known) if len(known) == len(domains) else ()
    return replace(draft, domains=domains, groups=groups, source=_only(draft.source, draft.keys[place], values))


def keys_each(domains: tuple[Values | None, ...]) -> int:
    """How many keys of a column are used at most, where they are found: a public number, whatever is found."""
    declared = prod(len(each) for each in domains if each is not None)
    most, columns = MOST_FOUND, domains.count(None)
    while most > 1 and declared * most**columns > MOST_FOUND_GROUPS:
        most -= 1
    return most


def most_cells(domains: tuple[Values | None, ...]) -> int:
    """How many groups there may be at most, where keys are found; QueryError where that leaves hardly a key."""
    most = keys_each(domains)
    if most < FEWEST_FOUND:
        raise QueryError(
            f"the keys of GROUP BY that are declared make so many groups that only {most:,} of the others could be found",
            code="too-many-groups",
            hint="group by fewer columns, or by CASE bins, or declare all keys",
        )
    return prod(most if each is None else len(each) for each in domains)


def _within_groups(
    question: Question,
    keys: tuple[Scalar, ...],
    domains: tuple[Values | None, ...],
    listed: tuple[Values | None, ...],
    scope: Scope,
) -> tuple[Rows, list[str]]:
    """Leave out rows in no group before anyone's groups are capped, so that a group which is not shown takes no one's place."""
    source, notes = question.source, []
    for key, asked, values, declared in zip(keys, question.keys, domains, listed, strict=True):
        if values is None or complete(key):
            continue
        source = _only(source, key, values)
        if values != declared:
            notes.append(f"of {said(asked)} only the {counted(len(values), 'group')} that WHERE leaves")
            continue
        notes.append(f"rows whose {said(asked)} is none of its {len(values):,} {_known(key, scope)} are left out")
    return source, notes


def _known(key: Scalar, scope: Scope) -> str:
    """How the values of a key are known, in words."""
    if all(scope.field(column).public for column in columns_in(key)):
        return "values in the public table"
    surveys = {field.surveyed for column in columns_in(key) if (field := scope.field(column)).surveyed}
    return f"keys, as they were {min(surveys)}," if surveys else "declared keys"


def _only(source: Rows, key: Scalar, values: Values) -> Rows:
    """The rows whose key is one of these."""
    if not values:
        return Filter(source, Literal(False, Type.BOOLEAN))
    known: Scalar = In(key, _constants(values, type_of(key)))
    return Filter(source, Or((IsNull(key), known)) if None in values else known)


@lru_cache(maxsize=REMEMBERED)
def _constants(values: Values, type: Type) -> tuple[Literal, ...]:
    """The values but for a missing one, as constants: questions by one list of keys have the same ones."""
    return tuple(constant_of(value, type) for value in values if value is not None)


def _about_missing(question: Question) -> list[str]:
    """What a row counts with that lacks what is declared never to be missing."""
    return [
        f"a row without {column.name} counts with {said(value)}, the middle of its bounds"
        for part in walk(question.source)
        if isinstance(part, Filled)
        for column, value in part.values
    ]
