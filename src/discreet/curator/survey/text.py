"""A survey as it is read in a terminal: one line a column, every number with its ±. Words are made of what was released."""

from datetime import date
from math import floor, log10

from discreet.answer.digits import grouped, key_text, price, rounded
from discreet.curator.survey.record import ColumnFacts, NoisyNumber, SurveyFacts
from discreet.plan.relation import EPOCH
from discreet.plan.scalar import Type
from discreet.plan.visible import visible

MOST_KEYS = 8
"""That are shown in a line."""

RUNGS = (1, 2, 5, 12, 30, 118, 465, 1418)
"""Of the rows of a person that are told in words, where they are on the ladder."""


def number(estimate: NoisyNumber) -> str:
    """A number to the digits that its ± supports.

    >>> number(NoisyNumber(5012.0, 31.0)), number(NoisyNumber(0.0, 31.0))
    ('5,012 ± 31', '0 ± 31')
    """
    if not estimate.error:
        return grouped(estimate.value)
    places = min(0, 1 - floor(log10(estimate.error)))
    return f"{rounded(estimate.value, places)} ± {rounded(estimate.error, places)}"


def end(value: float, kind: Type) -> str:
    """An end of a range: a day, or a number."""
    if kind is Type.DATE:
        return date.fromordinal(EPOCH.toordinal() + round(value)).isoformat()
    return grouped(float(f"{value:.6g}"))


def missing(column: ColumnFacts, people: NoisyNumber) -> NoisyNumber:
    """People all of whose values are missing."""
    return NoisyNumber(
        max(0.0, people.value - column.present.value), (people.error**2 + column.present.error**2) ** 0.5
    )


def kind_of(column: ColumnFacts) -> str:
    """What a column holds, in a word."""
    words = {Type.NUMBER: "number", Type.DATE: "date", Type.BOOLEAN: "true or false", Type.TEXT: "text"}
    return words[column.type]


def about(column: ColumnFacts) -> str:
    """What was found of a column, in a line."""
    if column.range is not None:
        span = f"{end(column.range.low, column.type)} … {end(column.range.high, column.type)}"
        middle = [value for share, value, *_ in column.range.quantiles if share == 0.5]
        return span + (f", half of the people below {end(middle[0], column.type)}" if middle else "")
    if column.counted is None:
        return "keys are not looked for without a delta" if column.type is Type.TEXT else "no range was found"
    if not column.counted.people:
        return f"no key that about {column.counted.threshold:,} people share"
    shown = ", ".join(f"{key_text(key)} ({count:,.0f})" for key, count in column.counted.people[:MOST_KEYS])
    more = len(column.counted.people) - MOST_KEYS
    groups = f"; up to {column.max_groups} of a person" if column.max_groups and column.max_groups > 1 else ""
    return f"{shown}{f', … {more:,} more' if more > 0 else ''}, each ± {column.counted.error:,.0f}{groups}"


def lines_of(facts: SurveyFacts) -> list[str]:
    """The whole of it."""
    unit = "people" if facts.person else "rows"
    whose = "" if facts.analyst is None else f", for {facts.analyst} alone"
    lines = [f"survey of {facts.table}, data version {facts.version}{whose}", f"  {unit}: {number(facts.people)}"]
    if facts.rows is not None and facts.per_person is not None:
        counted = f"(a person counts with at most {facts.rows_limit:,})"
        lines.append(f"  rows: {number(facts.rows)} {counted}")
        told = [rung for rung in RUNGS if rung in facts.per_person.rungs and rung <= facts.per_person.limit()]
        shares = [f"{number(facts.per_person.beyond(rung))} have more than {rung:,}" for rung in told]
        lines += [f"  rows of a person: {'; '.join(shares)}"] if shares else []
    if facts.columns:
        width = max(len(column.name) for column in facts.columns)
        lines.append("")
        for column in facts.columns:
            gone = number(missing(column, facts.people))
            lines.append(f"  {column.name:<{width}}  {kind_of(column):<13}  {about(column)}")
            lines.append(f"  {'':<{width}}  {'':<13}  without a value: {gone}")
    if facts.left_out:
        lines += ["", f"  not asked about: {', '.join(facts.left_out)}"]
    lines += ["", f"± is for the noise alone, at 95 %. {price(facts.epsilon, facts.delta, facts.relation)}."]
    return [*map(visible, lines), *(f"note: {visible(note)}" for note in facts.notes)]
