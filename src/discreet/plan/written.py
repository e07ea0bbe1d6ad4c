"""A plan as text: what its name is made of. Ledgers keep names for good, so this notation never changes.

It is the notation that release 0.1 used, and is written down here by itself: no class, field or member that is renamed, moved or
added in the code changes a word of it. What has no notation is a Fault, so that nothing new is named by accident.
"""

from collections.abc import Callable, Iterable
from dataclasses import fields
from datetime import date, datetime
from fractions import Fraction
from typing import Any

from discreet.errors import Fault
from discreet.mechanisms import (
    AboveThreshold,
    Exponential,
    Geometric,
    MostFrequent,
    NoisyMax,
    PermuteAndFlip,
    QuantileEnds,
    RoundedGaussian,
)
from discreet.mechanisms.keys import KeysByName, LaplaceThreshold, OptimalKeys
from discreet.mechanisms.quantile_ends import Exchange
from discreet.plan import joins, question, relation, scalar
from discreet.plan.apportioned import Apportioned
from discreet.plan.combination import Combination
from discreet.plan.computed import Computed
from discreet.plan.measurement import Measurement
from discreet.plan.parts import InPart
from discreet.plan.plan import Plan, Stage
from discreet.plan.reading import Reading
from discreet.plan.releases.base import Kind, Release
from discreet.plan.steps.branching import Branching
from discreet.plan.steps.keys import FindKeys
from discreet.plan.steps.range import FindRange
from discreet.plan.steps.search import Search
from discreet.plan.steps.tally import Tally
from discreet.privacy import Adjacency, Relation, Unit, events

RECORDS: dict[type, str] = {
    scalar.Arithmetic: "Arithmetic operator left right",
    scalar.Comparison: "Comparison order left right",
    scalar.And: "And parts",
    scalar.Or: "Or parts",
    scalar.Not: "Not operand",
    scalar.IsNull: "IsNull operand",
    scalar.In: "In operand values",
    scalar.Like: "Like operand pattern ignore_case",
    scalar.Case: "Case branches otherwise",
    scalar.Coalesce: "Coalesce parts",
    scalar.Cast: "Cast operand type",
    scalar.Grouping: "Grouping operand",
    scalar.Over: "Over function operands partition order",
    scalar.Steps: "Steps operand low high shift middle",
    scalar.Product: "Product left right shift middle",
    scalar.Pair: "Pair left right",
    scalar.Indicator: "Indicator condition",
    relation.Scan: "Scan table columns",
    relation.Typed: "Typed source columns",
    relation.Filled: "Filled source values",
    relation.Filter: "Filter source condition",
    relation.PerPerson: "PerPerson source person keys features",
    relation.PersonFeature: "PersonFeature column how value",
    Computed: "Computed source column value",
    relation.Term: "Term how value",
    relation.Contributions: "Contributions source person keys terms",
    relation.CapRows: "CapRows source most",
    relation.CapGroups: "CapGroups source most",
    relation.CapTotal: "CapTotal source most",
    relation.ClipNorm: "ClipNorm source limits",
    relation.Exceeding: "Exceeding source extent rungs",
    relation.SecondMoments: "SecondMoments source pairs shifts",
    relation.KeepKeys: "KeepKeys source within of most",
    relation.Occurring: "Occurring source keys",
    relation.Totals: "Totals source keys terms",
    Apportioned: "Apportioned source value",
    joins.PublicJoin: "PublicJoin source public called on outer digest",
    joins.KeepRows: "KeepRows source person columns most",
    joins.PersonJoin: "PersonJoin source other called persons outer",
    InPart: "InPart source person members column key",
    question.Aggregate: "Aggregate kind argument condition",
    question.Output: "Output name value",
    question.Sort: "Sort value descending nulls_first",
    Branching: "Branching query scores mechanism sensitivity said outcomes stages",
    Measurement: "Measurement mechanism sensitivity step said made rounding",
    Combination: "Combination parts divisor",
    AboveThreshold: "AboveThreshold epsilon threshold hits sensitivity monotone share",
    Geometric: "Geometric scale",
    RoundedGaussian: "RoundedGaussian scale",
    Exponential: "Exponential epsilon sensitivity monotone",
    NoisyMax: "NoisyMax epsilon sensitivity monotone",
    PermuteAndFlip: "PermuteAndFlip epsilon sensitivity monotone",
    MostFrequent: "MostFrequent epsilon values rows replaced unit",
    QuantileEnds: "QuantileEnds epsilon probabilities cells rows exchange unit",
    KeysByName: "KeysByName rule",
    OptimalKeys: "OptimalKeys epsilon delta groups",
    LaplaceThreshold: "LaplaceThreshold scale threshold groups",
    Relation: "Relation adjacency unit",
    events.Under: "Under part relation",
    events.Composed: "Composed parts",
    events.DiscreteLaplace: "DiscreteLaplace scale sensitivity",
    events.Gaussian: "Gaussian scale sensitivity",
    events.Pure: "Pure epsilon",
    events.Approximate: "Approximate epsilon delta",
    events.Repeated: "Repeated part times",
}
"""The name of each record, and those of its fields, which are attributes here."""

QUESTION = ["source", "keys", "aggregates", "outputs", "having", "order", "limit", "offset"]

ENUMS: dict[type, str] = {
    scalar.Type: "Type",
    scalar.Operator: "Operator",
    scalar.Order: "Order",
    scalar.WindowFunction: "WindowFunction",
    relation.How: "How",
    relation.Summary: "Summary",
    relation.Extent: "Extent",
    Exchange: "Exchange",
    Adjacency: "Adjacency",
    Unit: "Unit",
}


def written(plan: Plan) -> str:
    """The text of a plan: equal for equal plans, and for no others.

    Whether limits were declared is left out: it changes what is said of an answer, and not the answer. So is what was chosen. A plan of
    one stage has that stage's parts for its own, as release 0.1 knew no others.
    """
    stage = plan.stage
    return _record(
        "Plan",
        question=notation(plan.question),
        **(_parts(stage) if isinstance(stage, Stage) else {"stage": notation(stage)}),
        relation=notation(plan.relation),
        people=notation(plan.people),
        event=notation(plan.event),
        epsilon=notation(plan.epsilon),
        delta=notation(plan.delta),
        notes=notation(plan.notes),
    )


def _parts(stage: Stage) -> dict[str, str]:
    return {
        "query": notation(stage.query),
        "domain": repr(stage.domain),
        "measurements": _tuple(_measurements(stage.measurements)),
        "statistics": notation(stage.releases),
        **({"readings": notation(stage.readings)} if stage.readings else {}),
        **({"levels": notation(stage.levels)} if any(stage.levels) else {}),
    }


def _measurements(measurements: tuple[Measurement, ...]) -> list[str]:
    """Measurements that are the terms of the query, one by one, are written as release 0.1 wrote them, which knew no others."""
    plain = all(each.made == Combination.plain(i) and not each.rounding for i, each in enumerate(measurements))
    return [
        _record(
            "Measurement",
            mechanism=notation(each.mechanism),
            sensitivity=notation(each.sensitivity),
            step=notation(each.step),
            said=notation(each.said),
            **({} if plain else {"made": notation(each.made), "rounding": notation(each.rounding)}),
        )
        for each in measurements
    ]


def notation(value: Any) -> str:
    """The notation of a part of a plan; for what has none raises Fault."""
    kind = type(value)
    writer = WRITERS.get(kind)
    if writer is None:
        writer = WRITERS[kind] = _writer(kind)
    return writer(value)


def _writer(kind: type) -> Callable[[Any], str]:
    """How values of a kind are written."""
    if kind in RECORDS:
        return _record_writer(*RECORDS[kind].split())
    if kind in ENUMS:
        name = ENUMS[kind]
        members = {member: f"<{name}.{member.name}: {member.value!r}>" for member in kind}  # type: ignore[attr-defined]
        return members.__getitem__
    if issubclass(kind, Release | Reading) and kind.notation.split()[1:] == [each.name for each in fields(kind)]:  # type: ignore[arg-type]
        return _record_writer(*kind.notation.split())
    if issubclass(kind, Kind):
        return _kind_writer(kind)
    raise Fault(f"{kind.__name__} has no notation in the name of a plan", code="notation")


def _record_writer(name: str, *names: str) -> Callable[[Any], str]:
    return lambda record: f"{name}({', '.join([f'{each}={notation(getattr(record, each))}' for each in names])})"


def _kind_writer(kind: type[Kind]) -> Callable[[Any], str]:
    """How release 0.1 wrote a member of an enumeration; what a kind has besides its name stands behind it."""
    member, names = f"<Kind.{kind.name.upper()}: {kind.name!r}>", [each.name for each in fields(kind)]  # type: ignore[arg-type]
    return _record_writer(member, *names) if names else lambda _: member


def _record(name: str, **parts: str) -> str:
    return f"{name}({', '.join(f'{each}={part}' for each, part in parts.items())})"


def _tuple(parts: Iterable[str]) -> str:
    """A tuple as Python writes it: one part has a comma behind it."""
    each = list(parts)
    return f"({each[0]},)" if len(each) == 1 else f"({', '.join(each)})"


WRITERS: dict[type, Callable[[Any], str]] = {
    **dict.fromkeys((bool, int, float, str, date, datetime, type(None)), repr),
    tuple: lambda parts: _tuple(map(notation, parts)),
    Fraction: lambda number: f"Fraction({number.numerator}, {number.denominator})",
    Stage: lambda stage: _record("Stage", **_parts(stage)),
    # Release 0.1 knew one grouping set only.
    question.Question: lambda asked: _record(
        "Question",
        **{name: notation(getattr(asked, name)) for name in QUESTION},
        **({"levels": notation(asked.levels)} if asked.levels else {}),
        **{name: "True" for name in ("population", "simultaneous") if getattr(asked, name)},
    ),
    # What is said of the counts is no part of a name.
    Tally: lambda step: _record(
        "Tally", query=notation(step.query), measurements=notation(step.measurements), then=notation(step.then)
    ),
    # What comes after the other rungs differs from what comes after the last one in the limit alone.
    Search: lambda step: _record(
        "Search",
        query=notation(step.query),
        limit=notation(step.limit),
        rungs=notation(step.rungs),
        mechanism=notation(step.mechanism),
        last=notation(step.stages[-1]),
    ),
    # What comes after other keys differs from what comes after those of the example in the keys alone.
    FindKeys: lambda step: _record(
        "FindKeys",
        query=notation(step.query),
        key=notation(step.name),
        mechanism=notation(step.mechanism),
        most=notation(step.most),
        example=notation(step.after(step.examples[0])),
    ),
    # What comes after other ranges differs from what comes after that of the example in the range alone.
    FindRange: lambda step: _record(
        "FindRange",
        query=notation(step.query),
        argument=notation(step.argument),
        rungs=notation(step.rungs),
        mechanism=notation(step.mechanism),
        example=notation(step.after(step.examples[0])),
    ),
    # There may be thousands of them: the declared keys of a column.
    scalar.Literal: lambda literal: f"Literal(value={literal.value!r}, type={notation(literal.type)})",
    # Release 0.1 knew questions about one table only.
    scalar.Column: lambda column: (
        f"Column(name={column.name!r}, type={notation(column.type)}{f', table={column.table!r}' if column.table else ''})"
    ),
    scalar.Key: lambda key: f"Column(name='key{key.index}', type={notation(key.type)})",
    # In release 0.1 the names of functions were an enumeration.
    scalar.Function: lambda call: (
        f"Function(name=<Name.{call.name.upper()}: {call.name!r}>, operands={notation(call.operands)})"
    ),
    scalar.Released: lambda node: f"Column(name='aggregate{node.index}', type={notation(node.type)})",
}
"""How values of each kind are written; kinds of the tables above are added as they are met."""
