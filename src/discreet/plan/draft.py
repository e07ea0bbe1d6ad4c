"""All of a plan that does not depend on the budget: the groups, the terms, the limits, and what an engine runs under them."""

from dataclasses import dataclass, replace

from discreet.plan.caps import Caps, Limit, caps_of, missing
from discreet.plan.catalog import Catalog, Protected
from discreet.plan.column_limits import within_columns
from discreet.plan.domain import complete, constant_of, groups_of, whole_key
from discreet.plan.explain import said
from discreet.plan.question import Aggregate, Question
from discreet.plan.relation import (
    CapGroups,
    CapRows,
    CapTotal,
    ClipNorm,
    Contributions,
    Filled,
    Filter,
    How,
    Rows,
    Term,
    Totals,
    walk,
)
from discreet.plan.releases.base import Release
from discreet.plan.releases.terms import Measured, MeasuredTerms
from discreet.plan.rules.scopes import scope_of
from discreet.plan.scalar import Column, In, IsNull, Or, Scalar, Value, columns_in, type_of
from discreet.plan.scope import Scope


@dataclass(frozen=True, slots=True)
class Draft:
    """All of a plan that does not depend on the budget."""

    question: Question
    scope: Scope
    protected: Protected
    caps: Caps
    """Those that were declared."""

    source: Rows
    keys: tuple[Scalar, ...]
    groups: tuple[tuple[Value, ...], ...]
    terms: tuple[Term, ...]
    measured: tuple[Measured, ...]
    releases: tuple[Release, ...]
    notes: tuple[str, ...]

    @property
    def cells(self) -> int:
        """How many groups there are."""
        return len(self.groups)

    @property
    def clip(self) -> bool:
        """Whether people are shortened to an L2 norm, instead of being kept in a few groups."""
        return shortens(self.protected, self.cells)

    @property
    def missing(self) -> tuple[Limit, ...]:
        """The limits that must be found."""
        if self.protected.person is None:
            return ()
        kinds = {term.how for term in self.terms}
        return missing(self.caps, self.cells, of_rows=How.SUM in kinds, of_people=How.ANY in kinds, clip=self.clip)


def draft(question: Question, catalog: Catalog) -> Draft:
    """Groups and terms, or raises QueryError where something is not declared."""
    scope = scope_of(question.source, catalog)
    everything = scope.unfiltered
    keys = tuple(whole_key(key, everything) for key in question.keys)
    groups = groups_of(keys, everything)
    protected = within_columns(catalog.protected, keys, everything)
    caps = caps_of(protected, len(groups))
    scaled = _scales(protected, caps, question.aggregates, len(groups))
    terms = MeasuredTerms(scope, question.aggregates, shortens(protected, len(groups)), scaled)
    releases = tuple(aggregate.kind.planned(aggregate, terms) for aggregate in question.aggregates)
    source, left_out = _within_groups(question, keys, groups, everything)
    notes = (*left_out, *_about_missing(question), *dict.fromkeys(terms.notes))
    return Draft(
        question,
        scope,
        protected,
        caps,
        source,
        keys,
        groups,
        tuple(terms.terms),
        tuple(terms.measured),
        releases,
        notes,
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
    return cells > 1 or any(each.argument is not None or each.condition is not None for each in aggregates)


def _within_groups(
    question: Question, keys: tuple[Scalar, ...], groups: tuple[tuple[Value, ...], ...], scope: Scope
) -> tuple[Rows, list[str]]:
    """Leave out rows in no group before anyone's groups are capped, so that a group which is not shown takes no one's place."""
    source, notes = question.source, []
    for i, (key, asked) in enumerate(zip(keys, question.keys, strict=True)):
        if complete(key):
            continue
        values = list(dict.fromkeys(group[i] for group in groups))
        known: Scalar = In(key, tuple(constant_of(value, type_of(key)) for value in values if value is not None))
        source = Filter(source, Or((IsNull(key), known)) if None in values else known)
        notes.append(f"rows whose {said(asked)} is none of its {len(values):,} {_known(key, scope)} are left out")
    return source, notes


def _known(key: Scalar, scope: Scope) -> str:
    """How the values of a key are known, in words."""
    surveys = {field.surveyed for column in columns_in(key) if (field := scope.field(column)).surveyed}
    return f"keys, as they were {min(surveys)}," if surveys else "declared keys"


def _about_missing(question: Question) -> list[str]:
    """What a row counts with that lacks what is declared never to be missing."""
    return [
        f"a row without {column.name} counts with {said(value)}, the middle of its bounds"
        for part in walk(question.source)
        if isinstance(part, Filled)
        for column, value in part.values
    ]


def query_of(draft: Draft, caps: Caps) -> Totals:
    """What an engine will run; where a draft clips, the norm of each person is limited, instead of the number of groups."""
    if draft.protected.person is None:
        return Totals(draft.source, draft.keys, draft.terms)
    of_rows = any(term.how is How.SUM for term in draft.terms)
    capped = gathered(draft, caps if of_rows else replace(caps, rows=None), draft.terms)
    shortened = CapTotal(capped, caps.total) if of_rows and caps.total is not None else None
    if draft.clip and caps.groups is not None and not isinstance(capped, CapGroups):
        return Totals(ClipNorm(shortened or capped, tuple(map(caps.norm, draft.terms))))
    return Totals(shortened or capped)


def gathered(draft: Draft, caps: Caps, terms: tuple[Term, ...]) -> Contributions | CapRows | CapGroups:
    """The terms of each person in each group, within limits on rows and groups."""
    # as the table spells it, which a unit may be written unlike
    named = draft.scope.named(draft.protected.person or "")
    everything = Contributions(draft.source, Column(named.name, named.type), draft.keys, terms)
    each = everything if caps.rows is None else CapRows(everything, caps.rows)
    if draft.clip or caps.groups is None or draft.cells <= caps.groups:
        return each
    return CapGroups(each, caps.groups)
