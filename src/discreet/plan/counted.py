"""What a question counts, in words for whoever reads its answer: each number, of which rows, by which groups; nothing is from data."""

from dataclasses import fields, replace
from typing import Any

from discreet.plan.explain import said, said_aggregate, told
from discreet.plan.question import Question
from discreet.plan.relation import Scan, scans, walk
from discreet.plan.scalar import Column, Key, Released, Scalar, is_key, type_of
from discreet.plan.visible import visible


def counted(question: Question) -> str:
    """The numbers of an answer, and what they are of."""
    numbers = []
    for name, output in zip(question.names, question.outputs, strict=True):
        if is_key(output.value):
            continue
        meaning = said(_spelled_out(output.value, question))
        numbers.append(meaning if output.heading else f"{name} = {meaning}")
    tables = ", ".join(dict.fromkeys(scan.table for scan in scans(question.source)))
    rules = [told(node) for node in walk(question.source) if not isinstance(node, Scan)]
    by = ", ".join(said(key) for key in question.keys)
    subtotals = " and in subtotals" if question.levels else ""
    words = f"{', '.join(numbers) or 'groups'} of {tables}{f', by {by}' if by else ''}{subtotals}"
    return visible("; ".join([words, *reversed(rules)]))


def _spelled_out(scalar: Scalar, question: Question) -> Scalar:
    """An expression over released values with the aggregates and keys that they are of, each as a column that is called so."""
    match scalar:
        case Released():
            return Column(said_aggregate(question.aggregates[scalar.index]), type_of(scalar))
        case Key():
            return question.keys[scalar.index]

    def inside(part: Any) -> Any:
        if isinstance(part, tuple):
            return tuple(map(inside, part))
        return _spelled_out(part, question) if isinstance(part, Scalar) else part

    return replace(scalar, **{each.name: inside(getattr(scalar, each.name)) for each in fields(scalar)})
