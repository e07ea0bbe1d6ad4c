"""A plan as a tree for people: from the answer down to the table, with noise, sensitivity and price. Nothing in it comes from data."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import singledispatch

from discreet.errors import Fault
from discreet.plan.apportioned import Apportioned
from discreet.plan.computed import Computed
from discreet.plan.digits import counted, six_digits
from discreet.plan.functions import function
from discreet.plan.joins import KeepRows, PersonJoin, PublicJoin
from discreet.plan.measurement import CONFIDENCE, Measurement
from discreet.plan.parts import InPart
from discreet.plan.plan import Plan, Stage, finds_groups
from discreet.plan.question import Aggregate
from discreet.plan.relation import (
    CapGroups,
    CapRows,
    CapTotal,
    ClipNorm,
    Contributions,
    Exceeding,
    Extent,
    Filled,
    Filter,
    KeepKeys,
    Occurring,
    PerPerson,
    PersonFeature,
    Relation,
    Scan,
    SecondMoments,
    Summary,
    Totals,
    Typed,
    children,
    contributions_of,
    keys_of,
    paired_keys,
)
from discreet.plan.scalar import (
    And,
    Arithmetic,
    Case,
    Cast,
    Coalesce,
    Column,
    Comparison,
    Function,
    Grouping,
    In,
    Indicator,
    IsNull,
    Key,
    Like,
    Literal,
    Not,
    Or,
    Over,
    Pair,
    Product,
    Released,
    Scalar,
    Steps,
)
from discreet.plan.steps.base import Step
from discreet.plan.visible import visible

MOST_LISTED = 6


def explain(plan: Plan) -> str:
    """The plan as text."""
    price = f"ε = {six_digits(plan.epsilon)}" + (f", δ = {six_digits(plan.delta)}" if plan.delta else "")
    lines = [f"answer: {', '.join(output.name for output in plan.question.outputs)}"]
    lines += [f"  costs {price}, under {plan.relation}"]
    lines += [f"  {line}" for line in _after(plan)]
    for step, outcome in plan.steps:
        lines += [f"├─ {step.explained()}", f"│    released: {step.named(outcome)}"]
    lines += _stage(plan.next, plan)
    lines += [f"note: {note}" for note in (*plan.assumed, *plan.told)]
    return "\n".join(map(visible, lines))


def _stage(stage: Stage | Step, plan: Plan) -> Iterator[str]:
    """What a stage measures and reads; of a step that is not made yet what it may lead to, by examples."""
    if isinstance(stage, Step):
        yield f"├─ {stage.explained()}"
        groups = "whichever there are" if keys_of(stage.reads) else "one group"
        yield from (f"│    {line}" for line in _query(stage.reads, groups))
        yield from _ways(stage, plan)
        return
    cells = len(stage.domain)
    for aggregate, release in zip(plan.question.aggregates, stage.releases, strict=True):
        yield f"├─ {said_aggregate(aggregate)}"
        yield from (
            f"│    {_summed(stage.measurements[i], stage.cells) if stage.cells else _measured(stage.measurements[i], cells)}"
            for i in release.places
        )
        yield from (f"│    {stage.readings[i].explained()}" for i in release.readings)
    released = {i for release in stage.releases for i in release.readings}
    yield from (f"├─ {each.explained()}" for i, each in enumerate(stage.readings) if i not in released)
    for key_places, level in zip(plan.question.levels, stage.levels, strict=True):
        if level is not None:
            size = len(level.domain)
            yield (
                f"├─ by {', '.join(said(plan.question.keys[key]) for key in key_places)}"
                if key_places
                else "├─ of all groups together"
            )
            yield from (f"│    {_measured(each, size)}" for each in level.measurements)
            yield from (f"│    {each.explained()}" for each in level.readings)
    known = "declared or found" if finds_groups(plan) else "declared"
    levels = [each for each in stage.levels if each is not None]
    for each in (replace(stage, levels=()), *levels):
        groups = f"{len(each.domain):,} groups, all of them {known}"
        if each.cells:
            groups = f"{counted(sum(each.cells), 'group')} of the answer that this follows from"
        for query in each.queries:
            yield from _query(query, groups)


def _ways(step: Step, plan: Plan) -> Iterator[str]:
    """What a step may lead to: all of it, or one example where there is much."""
    if len(step.ways) == 1 or not step.listed:
        if not step.listed:
            yield f"├─ {step.supposed(step.examples[0])}:"
        yield from _stage(step.after(step.examples[0]), plan)
        return
    few = len(step.ways) <= MOST_LISTED
    listed = sorted(step.examples) if few else step.examples[:1]
    for outcome in listed:
        last = outcome == listed[-1]
        yield f"{'└' if last else '├'}─ {step.supposed(outcome)}{'' if few else ', for example'}:"
        yield from (f"{' ' if last else '│'}    {line}" for line in _stage(step.after(outcome), plan))


def _query(query: Totals, groups: str) -> Iterator[str]:
    yield f"└─ {_totals(query, groups)}"
    yield from _below(query, 1)


def _below(relation: Relation, depth: int) -> Iterator[str]:
    for child in children(relation):
        yield f"{'   ' * depth}└─ {told(child)}"
        yield from _below(child, depth + 1)


def _after(plan: Plan) -> Iterator[str]:
    """What is made of released values, at no price."""
    question = plan.question
    for output in question.outputs:
        if not isinstance(output.value, Key | Released):
            yield f"{output.name} = {said(output.value)}"
    if question.levels:
        names = [", ".join(said(question.keys[key]) for key in key_places) for key_places in question.levels]
        yield f"at {counted(len(names), 'level')}: " + "; ".join(f"({each})" for each in names)
    if question.having is not None:
        yield f"having {said(question.having)}"
    if question.order:
        yield "order by " + ", ".join(
            said(sort.value) + (" desc" if sort.descending else "") for sort in question.order
        )
    if question.limit is not None:
        yield f"limit {question.limit}" + (f" offset {question.offset}" if question.offset else "")


def _measured(measurement: Measurement, cells: int) -> str:
    if measurement.mechanism is None:
        return f"{measurement.said}: public, exact"
    mechanism, worth = measurement.mechanism, measurement.step
    norm = "" if mechanism.norm is None else f" ({mechanism.norm.value})"
    error = Fraction(mechanism.error()) * worth
    over = f" on each of {cells:,} groups" if cells > 1 else ""
    price = mechanism.loss(measurement.sensitivity).pure_epsilon()
    cost = f", costs ε = {six_digits(price)}" if price is not None else ""
    return (
        f"{measurement.said}: {mechanism.shape.value} noise of scale {six_digits(mechanism.scale * worth)}{over},"
        f" sensitivity {six_digits(measurement.sensitivity * worth)}{norm}, ± {six_digits(error)} at 95 %{cost}"
    )


def _summed(measurement: Measurement, cells: tuple[int, ...]) -> str:
    """What was measured for an answer, of whose groups sums are made: its noise, and what that comes to in the sum of most of them."""
    mechanism, worth, most = measurement.mechanism, measurement.step, max(cells)
    if mechanism is None:
        return f"{measurement.said}: public, exact"
    error = replace(measurement, cells=most).error(CONFIDENCE) * worth
    over = f", of which up to {most:,} are summed" if most > 1 else ""
    return (
        f"{measurement.said}: {mechanism.shape.value} noise of scale {six_digits(mechanism.scale * worth)} on each of its groups{over},"
        f" ± {six_digits(error)} at 95 %, paid for before"
    )


def _totals(query: Totals, groups: str) -> str:
    keys = keys_of(query)
    if not keys:
        return "totals of all rows"
    return f"totals by {', '.join(map(said, keys))}: {groups}"


@singledispatch
def told(relation: Relation) -> str:
    """What a relation below the totals does, in one line."""
    raise Fault(f"{type(relation).__name__} cannot be explained", code="relation")


@told.register
def _cap_groups(relation: CapGroups) -> str:
    return f"at most {counted(relation.most, 'group')} a person, chosen at random"


@told.register
def _clip_norm(relation: ClipNorm) -> str:
    return f"each person shortened to a norm of {', '.join(map(str, relation.limits))} steps"


@told.register
def _cap_rows(relation: CapRows) -> str:
    return f"at most {counted(relation.most, 'row')} a person and group"


@told.register
def _cap_total(relation: CapTotal) -> str:
    return f"at most {counted(relation.most, 'row')} a person in all: whoever has more is scaled to that"


@told.register
def _second_moments(relation: SecondMoments) -> str:
    return f"for each person and group {counted(len(relation.pairs), 'product')} of what they count with there, such as its square"


@told.register
def _exceeding(relation: Exceeding) -> str:
    ungrouped = relation.extent is Extent.ROWS and not contributions_of(relation).keys
    what = "rows" if ungrouped else relation.extent.value
    return f"for each person whether they have more {what} than each of {len(relation.rungs)} limits"


@told.register
def _keep_keys(relation: KeepKeys) -> str:
    keys = contributions_of(relation).keys
    what = "value" if relation.of == len(keys) else "group"
    place = " and group" if relation.within else " in all" if relation.of == len(keys) > 1 else ""
    return f"at most {counted(relation.most, what)} a person{place}, chosen at random"


@told.register
def _occurring(relation: Occurring) -> str:
    return f"each value of {said(paired_keys(relation)[-1])} once, however many have it"


@told.register
def _apportioned(relation: Apportioned) -> str:
    return "what a person counts with in a group, in proportion to their rows there with each value"


@told.register
def _contributions(relation: Contributions) -> str:
    return f"gathered by {relation.person.name}"


@told.register
def _typed(relation: Typed) -> str:
    return ", ".join(f"{column.name} read as {column.type.value}" for column in relation.columns)


@told.register
def _filled(relation: Filled) -> str:
    return ", ".join(f"{column.name} is {said(value)} where it is missing" for column, value in relation.values)


@told.register
def _filter(relation: Filter) -> str:
    return f"where {said(relation.condition)}"


@told.register
def _public_join(relation: PublicJoin) -> str:
    on = " and ".join(f"{said(own)} = {relation.called}.{there.name}" for own, there in relation.on)
    others = "rows without a match stay" if relation.outer else "rows without a match are left out"
    return f"each row with its one row of {relation.called}, which is public, by {on}: {others}"


@told.register
def _keep_rows(relation: KeepRows) -> str:
    return (
        f"at most {counted(relation.most, 'row')} of a {relation.person.name}, chosen at random, before they are joined"
    )


@told.register
def _person_join(relation: PersonJoin) -> str:
    alone = "; rows of whoever has none there stay" if relation.outer else ""
    return f"each row with all rows of the same {relation.persons[0].name} in {relation.called}{alone}"


@told.register
def _in_part(relation: InPart) -> str:
    if relation.person is None:
        return f"in the part {said(relation.all_in)}"
    rows = f"rows in {relation.members.table} have {said(relation.all_in)}"
    return f"of each {relation.person.name} all of whose {rows}; whoever is in several parts, or in none, is left out"


@told.register
def _per_person(relation: PerPerson) -> str:
    keys = "".join(f" and {said(value)}" for _, value in relation.keys)
    features = ", ".join(f"{each.column.name} = {_gathered(each)}" for each in relation.features)
    return f"one row for each {relation.person.name}{keys}{': ' if features else ''}{features}"


def _gathered(feature: PersonFeature) -> str:
    match feature.how, feature.value:
        case Summary.SUM, Literal(value=1):
            return "COUNT(*)"
        case Summary.SUM, Indicator(condition=condition):
            return f"COUNT(*) where {said(condition)}"
    words = {Summary.SUM: "SUM", Summary.DISTINCT: "COUNT DISTINCT", Summary.LEAST: "MIN", Summary.LARGEST: "MAX"}
    return f"{words[feature.how]}({said(feature.value)})"


@told.register
def _computed(relation: Computed) -> str:
    return f"{relation.column.name} = {said(relation.value)}"


@told.register
def _scan(relation: Scan) -> str:
    return f"{relation.table} ({', '.join(column.name for column in relation.columns) or 'no columns'})"


def said_aggregate(aggregate: Aggregate) -> str:
    inside = "*" if aggregate.argument is None else said(aggregate.argument)
    filtered = f" where {said(aggregate.condition)}" if aggregate.condition is not None else ""
    return f"{aggregate.kind.said(inside)}{filtered}"


@singledispatch
def said(scalar: Scalar) -> str:
    """An expression, close to how it is written in SQL."""
    raise Fault(f"{type(scalar).__name__} cannot be said", code="scalar")


@said.register
def _column(scalar: Column) -> str:
    return scalar.name


@said.register
def _said_key(scalar: Key) -> str:
    return f"key{scalar.index}"


@said.register
def _said_released(scalar: Released) -> str:
    return f"aggregate{scalar.index}"


@said.register
def _literal(scalar: Literal) -> str:
    if scalar.value is None:
        return "NULL"
    return "'" + str(scalar.value).replace("'", "''") + "'" if isinstance(scalar.value, str) else str(scalar.value)


@said.register
def _arithmetic(scalar: Arithmetic) -> str:
    return f"({said(scalar.left)} {scalar.operator.value} {said(scalar.right)})"


@said.register
def _comparison(scalar: Comparison) -> str:
    return f"{said(scalar.left)} {scalar.order.value} {said(scalar.right)}"


@said.register
def _joined(scalar: And | Or) -> str:
    word = " AND " if isinstance(scalar, And) else " OR "
    return "(" + word.join(map(said, scalar.parts)) + ")"


@said.register
def _not(scalar: Not) -> str:
    return f"NOT ({said(scalar.operand)})"


@said.register
def _is_null(scalar: IsNull) -> str:
    return f"{said(scalar.operand)} IS NULL"


@said.register
def _in(scalar: In) -> str:
    shown = ", ".join(map(said, scalar.values[:MOST_LISTED]))
    more = f", … {len(scalar.values):,} values" if len(scalar.values) > MOST_LISTED else ""
    return f"{said(scalar.operand)} IN ({shown}{more})"


@said.register
def _like(scalar: Like) -> str:
    return f"{said(scalar.operand)} {'ILIKE' if scalar.ignore_case else 'LIKE'} '{scalar.pattern}'"


@said.register
def _case(scalar: Case) -> str:
    branches = " ".join(f"WHEN {said(when)} THEN {said(then)}" for when, then in scalar.branches)
    return f"CASE {branches} ELSE {said(scalar.otherwise)} END"


@said.register
def _coalesce(scalar: Coalesce) -> str:
    return f"COALESCE({', '.join(map(said, scalar.parts))})"


@said.register
def _cast(scalar: Cast) -> str:
    return f"CAST({said(scalar.operand)} AS {scalar.type.value.upper()})"


@said.register
def _function(scalar: Function) -> str:
    return function(scalar.name).call(*map(said, scalar.operands))


@said.register
def _over(scalar: Over) -> str:
    order = ", ".join(said(value) + (" desc" if falls else "") for value, falls, _ in scalar.order)
    parts = [f"partition by {', '.join(map(said, scalar.partition))}"] if scalar.partition else []
    inside = " ".join([*parts, *([f"order by {order}"] if order else [])])
    return f"{scalar.function.value}({', '.join(map(said, scalar.operands))}) OVER ({inside})"


@said.register
def _grouping(scalar: Grouping) -> str:
    return f"GROUPING({said(scalar.operand)})"


@said.register
def _steps(scalar: Steps) -> str:
    return f"steps of {said(scalar.operand)}"


@said.register
def _product(scalar: Product) -> str:
    return f"{said(scalar.left)} times {said(scalar.right)}"


@said.register
def _pair(scalar: Pair) -> str:
    return f"{said(scalar.left)}, {said(scalar.right)}"


@said.register
def _indicator(scalar: Indicator) -> str:
    return f"one where {said(scalar.condition)}"
