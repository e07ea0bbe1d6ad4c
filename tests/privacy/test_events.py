"""Events are values: exact, frozen, comparable, the same after a trip through JSON; what is not an event is refused by name."""

import json
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, fields
from decimal import Decimal
from fractions import Fraction
from time import process_time
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import Invalid
from discreet.exact import MAX_BITS
from discreet.privacy.adjacency import Adjacency, Relation, Unit, joined
from discreet.privacy.events import (
    KINDS,
    Approximate,
    Composed,
    DiscreteGaussian,
    DiscreteLaplace,
    Event,
    FiniteTable,
    Gaussian,
    Laplace,
    Leaf,
    Pure,
    RandomizedResponse,
    Repeated,
    Sampled,
    Under,
    ZeroConcentrated,
    from_json,
)
from discreet.privacy.loss import PrivacyLoss, loss

F = Fraction
NAN, INF = float("nan"), float("inf")


def short(value: object) -> str:
    return repr(value)[:20]


scales = st.fractions(min_value=F(1, 10**6), max_value=10**6)
amounts = st.fractions(min_value=0, max_value=10**3)
sizes = st.integers(min_value=0, max_value=2**70)
chances = st.fractions(min_value=0, max_value=1)
rates = st.fractions(min_value=F(1, 10**9), max_value=1)
relations = st.builds(Relation, st.sampled_from(Adjacency), st.none() | st.sampled_from(Unit))


@st.composite
def tables(draw: st.DrawFn) -> FiniteTable:
    width = draw(st.integers(1, 4))
    weights = st.lists(st.integers(0, 9), min_size=width, max_size=width).filter(any)
    rows = draw(st.lists(weights, min_size=2, max_size=4))
    return FiniteTable(tuple(tuple(F(w, sum(row)) for w in row) for row in rows))


plain_leaves: st.SearchStrategy[Leaf] = st.one_of(
    st.builds(Laplace, scales, amounts),
    st.builds(DiscreteLaplace, scales, sizes),
    st.builds(Gaussian, scales, amounts),
    st.builds(DiscreteGaussian, scales, sizes),
    st.builds(RandomizedResponse, amounts, st.integers(2, 10**9)),
    st.builds(Pure, amounts),
    st.builds(Approximate, amounts, chances),
    st.builds(ZeroConcentrated, amounts),
    tables(),
)
leaves: st.SearchStrategy[Leaf] = plain_leaves | st.builds(Sampled, rates, plain_leaves)
events: st.SearchStrategy[Event] = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.builds(Composed, st.lists(inner, max_size=3).map(tuple)),
        st.builds(Repeated, inner, st.integers(0, 10**9)),
        st.builds(Under, inner, relations),
    ),
    max_leaves=5,
)


# JSON.


@given(events)
def test_an_event_is_the_same_after_a_trip_through_json(event: Event) -> None:
    text = json.dumps(event.to_json())
    back = from_json(json.loads(text))
    assert back == event
    assert hash(back) == hash(event)
    assert type(back) is type(event)
    assert json.dumps(back.to_json()) == text


def numbers_in(value: Any) -> list[Any]:
    match value:
        case dict():
            return [number for part in value.values() for number in numbers_in(part)]
        case list():
            return [number for part in value for number in numbers_in(part)]
        case _:
            return [value]


@given(events)
def test_json_holds_no_floats(event: Event) -> None:
    assert not any(isinstance(number, float) for number in numbers_in(event.to_json()))


@pytest.mark.parametrize(
    ("event", "written"),
    [
        (Laplace(0.1), {"event": "laplace", "scale": "1/10", "sensitivity": "1"}),
        (DiscreteLaplace(2.5, 3), {"event": "discrete-laplace", "scale": "5/2", "sensitivity": 3}),
        (Gaussian(1, 0.5), {"event": "gaussian", "scale": "1", "sensitivity": "1/2"}),
        (DiscreteGaussian(7), {"event": "discrete-gaussian", "scale": "7", "sensitivity": 1}),
        (RandomizedResponse(1, 4), {"event": "randomized-response", "epsilon": "1", "k": 4}),
        (Pure(0), {"event": "pure", "epsilon": "0"}),
        (Approximate(1, 1e-6), {"event": "approximate", "epsilon": "1", "delta": "1/1000000"}),
        (ZeroConcentrated(0.5), {"event": "zcdp", "rho": "1/2"}),
        (FiniteTable(((0.5, 0.5), (1, 0))), {"event": "finite-table", "rows": [["1/2", "1/2"], ["1", "0"]]}),
        (Sampled(0.01, Pure(1)), {"event": "sampled", "rate": "1/100", "part": {"event": "pure", "epsilon": "1"}}),
        (Composed((Pure(1),)), {"event": "composed", "parts": [{"event": "pure", "epsilon": "1"}]}),
        (Repeated(Pure(1), 9), {"event": "repeated", "part": {"event": "pure", "epsilon": "1"}, "times": 9}),
        (
            Under(Pure(1), Relation(Adjacency.ADD_REMOVE, Unit.PERSON)),
            {
                "event": "under",
                "part": {"event": "pure", "epsilon": "1"},
                "relation": {"adjacency": "add-remove", "unit": "person"},
            },
        ),
    ],
    ids=lambda value: value.kind if isinstance(value, Event) else "",
)
def test_what_ledgers_hold_never_changes(event: Event, written: dict[str, Any]) -> None:
    """Golden records: an old ledger is read for ever."""
    assert event.to_json() == written
    assert from_json(written) == event


def test_every_kind_of_event_has_a_golden_record() -> None:
    known = "laplace discrete-laplace gaussian discrete-gaussian randomized-response pure approximate zcdp finite-table"
    assert set(KINDS) >= {*known.split(), "sampled", "composed", "repeated", "under"}
    assert all(KINDS[kind].kind == kind for kind in KINDS)


def test_a_field_with_a_default_may_be_absent() -> None:
    assert from_json({"event": "laplace", "scale": "3"}) == Laplace(3, 1)
    assert from_json({"event": "randomized-response", "epsilon": "3"}) == RandomizedResponse(3, 2)


PURE = {"event": "pure", "epsilon": "1"}
UNDER = {"event": "under", "part": PURE}


@pytest.mark.parametrize(
    ("value", "named"),
    [
        (None, "event"),
        ([], "event"),
        ("pure", "event"),
        ({}, "event"),
        ({"event": 3, "epsilon": "1"}, "event"),
        ({"event": "poor", "epsilon": "1"}, "poor"),
        ({"event": "Pure", "epsilon": "1"}, "Pure"),
        ({"event": "pure"}, "epsilon"),
        ({"event": "pure", "epsilon": "1", "delta": "0"}, "delta"),
        ({"event": "laplace", "epsilon": "1"}, "epsilon"),
        ({"event": "pure", "epsilon": "one"}, "epsilon"),
        ({"event": "pure", "epsilon": "1/0"}, "epsilon"),
        ({"event": "pure", "epsilon": ""}, "epsilon"),
        ({"event": "pure", "epsilon": "nan"}, "epsilon"),
        ({"event": "pure", "epsilon": None}, "epsilon"),
        ({"event": "pure", "epsilon": True}, "epsilon"),
        ({"event": "pure", "epsilon": ["1"]}, "epsilon"),
        ({"event": "pure", "epsilon": PURE}, "epsilon"),
        ({"event": "pure", "epsilon": "-1"}, "epsilon"),
        ({"event": "pure", "epsilon": 1}, "epsilon"),
        ({"event": "pure", "epsilon": {"event": "pure"}}, "epsilon"),
        ({"event": "laplace", "scale": "0"}, "scale"),
        ({"event": "laplace", "scale": "1", "sensitivity": 1}, "sensitivity"),
        ({"event": "discrete-laplace", "scale": "1", "sensitivity": "1"}, "sensitivity"),
        ({"event": "discrete-laplace", "scale": "1", "sensitivity": 1.0}, "sensitivity"),
        ({"event": "repeated", "part": PURE, "times": "3"}, "times"),
        ({"event": "repeated", "part": PURE, "times": True}, "times"),
        ({"event": "repeated", "part": PURE, "times": -1}, "times"),
        ({"event": "repeated", "part": "1", "times": 3}, "part"),
        ({"event": "repeated", "part": [PURE], "times": 3}, "part"),
        ({"event": "composed", "parts": PURE}, "parts"),
        ({"event": "composed", "parts": ["1"]}, "parts"),
        ({"event": "composed", "parts": [[PURE]]}, "parts"),
        ({"event": "composed", "parts": "1"}, "parts"),
        ({"event": "composed", "parts": ""}, "parts"),
        ({"event": "composed", "parts": {}}, "parts"),
        ({"event": "composed", "parts": None}, "parts"),
        ({"event": "composed", "parts": 3}, "parts"),
        ({"event": "finite-table", "rows": "1/2"}, "rows"),
        ({"event": "finite-table", "rows": ["1/2", "1/2"]}, "rows"),
        ({"event": "finite-table", "rows": [[1, 0], [0, 1]]}, "rows"),
        ({"event": "finite-table", "rows": [["1/2", "1/2"], ["1/2", "1/3"]]}, "rows"),
        ({"event": "sampled", "rate": "1/2", "part": {"event": "composed", "parts": [PURE, PURE]}}, "part"),
        ({"event": "sampled", "rate": "1/2", "part": "1"}, "part"),
        ({"event": "sampled", "rate": "0", "part": PURE}, "rate"),
        ({**UNDER, "relation": "replace"}, "relation"),
        ({**UNDER, "relation": None}, "relation"),
        ({**UNDER, "relation": {"adjacency": "replace"}}, "relation"),
        ({**UNDER, "relation": {"adjacency": "change", "unit": None}}, "relation"),
        ({**UNDER, "relation": {"adjacency": "replace", "unit": "house"}}, "relation"),
        ({**UNDER, "relation": {"adjacency": "replace", "unit": None, "k": 2}}, "relation"),
        ({**UNDER, "relation": {"adjacency": ["replace"], "unit": None}}, "relation"),
        ({**UNDER, "relation": {"adjacency": "replace", "unit": ""}}, "relation"),
        ({"event": "under", "part": "1", "relation": {"adjacency": "replace", "unit": None}}, "part"),
    ],
    ids=lambda value: json.dumps(value),
)
def test_what_no_event_wrote_is_refused_by_name(value: object, named: str) -> None:
    with pytest.raises(Invalid, match=named):
        from_json(value)


@pytest.mark.parametrize("text", ["1e3", "0.5", " 1/2", "1/2 ", "2/4", "+1", "1_000", "1e-4000", "٣", "-0"])
def test_a_number_is_read_only_as_it_is_written(text: str) -> None:
    """The records are exact fractions in lowest terms. An exponent, besides, may stand for more digits than a memory holds."""
    with pytest.raises(Invalid, match="epsilon"):
        from_json({"event": "pure", "epsilon": text})


@pytest.mark.parametrize(
    "text",
    ["9" * 10**6, "1/" + "9" * 10**6, "1e" + "9" * 10**6, "1e999999999", "1" + " " * 10**6, "-" * 10**6, "1/2\n"],
    ids=short,
)
def test_a_hostile_text_is_refused_at_once(text: str) -> None:
    before = process_time()
    for record in (
        {"event": "pure", "epsilon": text},
        {"event": "sampled", "rate": "1/2", "part": {"event": "laplace", "scale": text}},
        {"event": "finite-table", "rows": [["1", "0"], ["0", text]]},
        {"event": "repeated", "part": PURE, "times": text},
        {**PURE, text: "1"},
        {"event": text},
    ):
        with pytest.raises(Invalid):
            from_json(record)
    assert process_time() - before < 2


def test_the_longest_number_makes_the_trip() -> None:
    most = 2**MAX_BITS - 1
    for event in (Pure(F(most, most - 1)), Laplace(F(1, most)), Repeated(Pure(1), most), DiscreteLaplace(1, most)):
        assert from_json(json.loads(json.dumps(event.to_json()))) == event


def test_a_record_nested_without_end_is_refused() -> None:
    record: dict[str, Any] = PURE
    for _ in range(10**4):
        record = {"event": "repeated", "part": record, "times": 1}
    with pytest.raises(Invalid, match="parts"):
        from_json(record)


def test_a_float_is_no_number_of_a_record() -> None:
    with pytest.raises(Invalid, match="epsilon"):
        from_json({"event": "pure", "epsilon": 0.5})


# Values.


@given(events)
def test_equal_events_are_one_value(event: Event) -> None:
    again = type(event)(**{field.name: getattr(event, field.name) for field in fields(event)})  # type: ignore[arg-type]
    assert again == event and hash(again) == hash(event) and len({again, event}) == 1
    assert Composed((event,)) != event
    assert Repeated(event, 2) != Repeated(event, 3)


@given(events)
def test_an_event_survives_pickling(event: Event) -> None:
    back = pickle.loads(pickle.dumps(event))
    assert back == event and hash(back) == hash(event) and type(back) is type(event)


@given(events)
def test_events_are_frozen(event: Event) -> None:
    for field in fields(event):  # type: ignore[arg-type]
        with pytest.raises(FrozenInstanceError):
            setattr(event, field.name, 1)
    with pytest.raises((AttributeError, TypeError)):
        event.note = "x"  # type: ignore[attr-defined]


def test_different_kinds_of_the_same_numbers_are_different() -> None:
    same = [
        Laplace(1, 1),
        DiscreteLaplace(1, 1),
        Gaussian(1, 1),
        DiscreteGaussian(1, 1),
        RandomizedResponse(1),
        Pure(1),
    ]
    assert len({*same, ZeroConcentrated(1)}) == len(same) + 1


@pytest.mark.parametrize(
    "tenth", [0.1, F(1, 10), Decimal("0.1"), np.float64(0.1), Decimal("1e-1")], ids=lambda value: type(value).__name__
)
def test_a_number_is_exactly_the_decimal_it_prints(tenth: Any) -> None:
    assert Laplace(tenth).scale == F(1, 10)
    assert Laplace(tenth) == Laplace(F(1, 10))
    assert Gaussian(1, tenth).sensitivity == F(1, 10)
    assert Pure(tenth).epsilon == Approximate(1, tenth).delta == ZeroConcentrated(tenth).rho == F(1, 10)
    assert Sampled(tenth, Laplace(1)).rate == F(1, 10)
    assert type(Laplace(tenth).scale) is Fraction


def test_counts_of_numpy_are_counts() -> None:
    assert Repeated(Laplace(1), np.int64(3)) == Repeated(Laplace(1), 3)  # type: ignore[arg-type]
    assert type(Repeated(Laplace(1), np.int64(3)).times) is int  # type: ignore[arg-type]
    assert type(DiscreteLaplace(1, np.int32(2)).sensitivity) is int  # type: ignore[arg-type]


def test_lists_become_tuples() -> None:
    assert Composed([Pure(1), Pure(2)]) == Composed((Pure(1), Pure(2)))  # type: ignore[arg-type]
    assert FiniteTable([[1, 0], [0, 1]]) == FiniteTable(((1, 0), (0, 1)))  # type: ignore[arg-type]
    hash(FiniteTable([[1, 0], [0, 1]]))  # type: ignore[arg-type]


# Bad input.


NO_NUMBERS: list[Any] = [NAN, INF, -INF, "1", None, True, 1j, [1], F(1, 2**5000)]


def refusals() -> list[Any]:
    negative = [-1, -0.1, F(-1, 10**30)]
    cases: list[tuple[str, Callable[[Any], Event], list[Any]]] = [
        ("scale", lambda x: Laplace(x), [0, *negative]),
        ("scale", lambda x: DiscreteLaplace(x), [0, *negative]),
        ("scale", lambda x: Gaussian(x), [0, *negative]),
        ("scale", lambda x: DiscreteGaussian(x), [0, *negative]),
        ("sensitivity", lambda x: Laplace(1, x), negative),
        ("sensitivity", lambda x: Gaussian(1, x), negative),
        ("sensitivity", lambda x: DiscreteLaplace(1, x), [*negative, 1.0, 1.5, F(1)]),
        ("sensitivity", lambda x: DiscreteGaussian(1, x), [*negative, 1.0, 1.5, F(1)]),
        ("epsilon", lambda x: RandomizedResponse(x), negative),
        ("k", lambda x: RandomizedResponse(1, x), [*negative, 0, 1, 2.0, F(3)]),
        ("epsilon", lambda x: Pure(x), negative),
        ("epsilon", lambda x: Approximate(x, 0), negative),
        ("delta", lambda x: Approximate(1, x), [*negative, 1.1, 2, F(10**30 + 1, 10**30)]),
        ("rho", lambda x: ZeroConcentrated(x), negative),
        ("rows", lambda x: FiniteTable(((x, 1), (0, 1))), [*negative, 1.1]),
        ("rate", lambda x: Sampled(x, Laplace(1)), [*negative, 0, 1.0001, 2]),
        ("times", lambda x: Repeated(Laplace(1), x), [*negative, 1.0, F(2), Decimal(2)]),
    ]
    return [
        pytest.param(named, make, value, id=f"{named}-{i}-{j}")
        for i, (named, make, bad) in enumerate(cases)
        for j, value in enumerate([*bad, *NO_NUMBERS])
    ]


@pytest.mark.parametrize(("named", "make", "value"), refusals())
def test_a_bad_number_is_refused_by_name(named: str, make: Callable[[Any], Event], value: Any) -> None:
    with pytest.raises(Invalid, match=rf"\b{named}\b"):
        make(value)


@pytest.mark.parametrize(
    "part", [None, 1, "laplace", {"event": "pure", "epsilon": "1"}, Laplace, [Laplace(1)]], ids=repr
)
def test_what_is_no_event_is_no_part(part: Any) -> None:
    with pytest.raises(Invalid, match="parts"):
        Composed((Laplace(1), part))
    for make in (
        lambda: Repeated(part, 2),
        lambda: Sampled(0.5, part),
        lambda: Under(part, Relation(Adjacency.REPLACE)),
    ):
        with pytest.raises(Invalid, match="part"):
            make()
    with pytest.raises(Invalid):
        loss(part)


@pytest.mark.parametrize("parts", [None, 3, Laplace(1), "", b"", {}, {Laplace(1)}, np.array(1)], ids=repr)
def test_parts_must_be_a_sequence(parts: Any) -> None:
    with pytest.raises(Invalid, match="parts"):
        Composed(parts)


@pytest.mark.parametrize(
    "rows",
    [None, 3, "01", [1, 0], ["01", "10"], [b"\0\1", b"\1\0"], [{0, 1}, {1, 0}], [{0: 0.9, 1: 0.1}, {0: 0.1, 1: 0.9}]],
    ids=repr,
)
def test_rows_must_be_in_an_order(rows: Any) -> None:
    """The keys of two mappings would be a table without any loss."""
    with pytest.raises(Invalid, match="rows"):
        FiniteTable(rows)


def test_rows_without_a_common_denominator_of_use_are_refused_at_once() -> None:
    before = process_time()
    row = [F(1, 10**1000 + n) for n in range(3000)]
    with pytest.raises(Invalid, match="rows"):
        FiniteTable((row, row))  # type: ignore[arg-type]
    assert process_time() - before < 2


def test_a_table_may_be_an_array() -> None:
    assert FiniteTable(np.array([[0.9, 0.1], [0.1, 0.9]])) == FiniteTable(((0.9, 0.1), (0.1, 0.9)))  # type: ignore[arg-type]


@pytest.mark.parametrize("count", [2**MAX_BITS, 10**5000], ids=["bits", "digits"])
def test_a_count_too_long_for_a_record_is_refused(count: int) -> None:
    for named, make in (
        ("times", lambda: Repeated(Pure(1), count)),
        ("sensitivity", lambda: DiscreteLaplace(1, count)),
        ("sensitivity", lambda: DiscreteGaussian(1, count)),
        ("k", lambda: RandomizedResponse(1, count)),
        ("times", lambda: from_json({"event": "repeated", "part": PURE, "times": count})),
    ):
        with pytest.raises(Invalid, match=rf"\b{named}\b"):
            make()


@pytest.mark.parametrize("relation", [None, "replace", Adjacency.REPLACE, {}], ids=repr)
def test_a_relation_must_be_a_relation(relation: Any) -> None:
    with pytest.raises(Invalid, match="relation"):
        Under(Laplace(1), relation)


@pytest.mark.parametrize(
    "part",
    [
        Composed((Laplace(1),)),
        Repeated(Laplace(1), 1),
        Under(Laplace(1), Relation(Adjacency.ADD_REMOVE)),
        Sampled(1, Pure(1)),
    ],
    ids=lambda part: part.kind,
)
def test_only_a_leaf_is_sampled(part: Any) -> None:
    with pytest.raises(Invalid, match="part"):
        Sampled(0.5, part)


class Stranger(Leaf):
    """A leaf that nobody registered."""

    __slots__ = ()


def test_an_unknown_event_has_no_price() -> None:
    with pytest.raises(Invalid, match="Stranger"):
        loss(Stranger())
    with pytest.raises(Invalid, match="Stranger"):
        loss(Composed((Laplace(1), Repeated(Stranger(), 2))))
    with pytest.raises(Invalid):
        loss(Event())


# Questions to a loss.


@pytest.mark.parametrize("value", [-1e-9, -1, *NO_NUMBERS], ids=short)
def test_a_bad_epsilon_is_refused_by_name(value: Any) -> None:
    with pytest.raises(Invalid, match="epsilon"):
        loss(Laplace(1)).delta(value)


@pytest.mark.parametrize("value", [-1e-300, -1, 1.0000001, 2, *NO_NUMBERS], ids=short)
def test_a_bad_delta_is_refused_by_name(value: Any) -> None:
    with pytest.raises(Invalid, match="delta"):
        loss(Laplace(1)).epsilon(value)


@pytest.mark.parametrize("value", [1, 1.0, 0.5, 0, -2, *NO_NUMBERS], ids=short)
def test_a_bad_order_is_refused_by_name(value: Any) -> None:
    with pytest.raises(Invalid, match="order"):
        loss(Laplace(1)).rdp(value)


@pytest.mark.parametrize("value", [0, -0.1, 1.0001, *NO_NUMBERS], ids=short)
def test_a_bad_rate_is_refused_by_name(value: Any) -> None:
    with pytest.raises(Invalid, match=r"rate|\bq\b"):
        loss(Laplace(1)).sampled(value)


@pytest.mark.parametrize("value", [-1, 1.0, 1.5, F(2), *NO_NUMBERS], ids=short)
def test_a_bad_count_is_refused_by_name(value: Any) -> None:
    for product in (lambda: loss(Laplace(1)) * value, lambda: value * loss(Laplace(1))):
        with pytest.raises((Invalid, TypeError), match=r"times|multiply|unsupported"):
            product()


@pytest.mark.parametrize("value", [-1, 1.5, NAN, "1", None, True], ids=repr)
def test_a_loss_is_not_made_of_a_bad_count(value: Any) -> None:
    """A negative count would be a refund."""
    with pytest.raises(Invalid):
        PrivacyLoss(((Laplace(1), value),))


@pytest.mark.parametrize("other", [1, None, 0.5, Laplace(1), "x"], ids=repr)
def test_only_losses_add_up(other: Any) -> None:
    with pytest.raises(TypeError):
        loss(Laplace(1)) + other


def test_a_loss_is_a_value() -> None:
    one, other = loss(Composed((Laplace(1), Gaussian(2), Laplace(1)))), loss(Gaussian(2)) + 2 * loss(Laplace(1))
    assert one == other and hash(one) == hash(other)
    assert one != 2 * other and one != loss(Gaussian(2)) and one != "x"
    assert "laplace" in repr(one).lower()


# Relations.


@pytest.mark.parametrize("value", ["replace", "row", None, 1, Relation(Adjacency.REPLACE)], ids=repr)
def test_a_relation_is_made_of_an_adjacency_and_a_unit(value: Any) -> None:
    with pytest.raises(Invalid, match="adjacency"):
        Relation(value)
    if value is not None:
        with pytest.raises(Invalid, match="unit"):
            Relation(Adjacency.REPLACE, value)


@given(relations, relations)
def test_joining_relations_keeps_what_both_say_or_raises(first: Relation, second: Relation) -> None:
    same = first.adjacency is second.adjacency and (None in (first.unit, second.unit) or first.unit is second.unit)
    if not same:
        with pytest.raises(Invalid):
            joined(first, second)
        return
    both = joined(first, second)
    assert both == joined(second, first) == Relation(first.adjacency, first.unit or second.unit)
    assert joined(None, first) == joined(first, None) == first
    assert joined(None, None) is None
