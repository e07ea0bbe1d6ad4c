"""Plans of several stages: a later one may depend on what an earlier one released, and on nothing exact.

The toy: how many rows of a person count is chosen by noisy scores among 1, 2, 4 and 8, and then the rows are counted with that cap.
"""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction as F
from pathlib import Path
from typing import Any

import pytest

from discreet.answer import Answer, Preview
from discreet.audit.twins import Draws, compare
from discreet.curator.session import Curator
from discreet.errors import Fault, QueryError
from discreet.mechanisms import Exponential, Geometric, Grant, NoisyMax, PermuteAndFlip
from discreet.mechanisms.selection import Selection
from discreet.noise import Tape
from discreet.plan import scalar
from discreet.plan.catalog import Catalog
from discreet.plan.check import check, digest, event_of
from discreet.plan.combination import Combination
from discreet.plan.explain import explain
from discreet.plan.intervals import predicted
from discreet.plan.limits import MOST_SCALE, check_limits
from discreet.plan.plan import Plan, Stage
from discreet.plan.private import plan_for
from discreet.plan.relation import CapRows, Contributions, How, Scan, Term, Totals
from discreet.plan.release import decided, release
from discreet.plan.scalar import Comparison, Indicator, Literal, Order, Type
from discreet.plan.sql import question
from discreet.plan.steps.branching import Branching
from discreet.privacy import events, loss
from tests.plan.laws import PERSON, ROW, TABLE, engine
from tests.scale import repeats

CAPS = (1, 2, 4, 8)
WHO, X = scalar.Column("who", Type.INTEGER), scalar.Column("x", Type.INTEGER)
TEXT = "SELECT COUNT(*) AS n FROM t"
EMPTY = {column.name: None for column in TABLE.columns}
ROWS = [{**EMPTY, "who": who, "x": 2 + who % 4} for who in range(40) for _ in range(1 + who % 6)]


def counted(cap: int, epsilon: F, text: str = TEXT) -> Plan:
    catalog = Catalog((TABLE,), replace(PERSON, max_rows=cap))
    return plan_for(question(text, catalog), catalog, epsilon)


def scored(caps: tuple[int, ...] = CAPS) -> Totals:
    """One row of each person, counted where x is at most the cap."""
    terms = tuple(
        Term(How.SUM, Indicator(Comparison(Order.LESS_OR_EQUAL, X, Literal(cap, Type.INTEGER)))) for cap in caps
    )
    return Totals(CapRows(Contributions(Scan("t", (WHO, X)), WHO, (), terms), 1))


def staged(
    first: F = F(1, 4), second: F = F(3, 4), kind: Callable[..., Selection] = NoisyMax, text: str = TEXT
) -> Plan:
    plans = [counted(cap, second, text) for cap in CAPS]
    choice = Branching(
        query=scored(),
        scores=tuple(Combination.plain(i) for i in range(len(CAPS))),
        mechanism=kind(first),
        sensitivity=F(1),
        said="how many rows of a person count",
        outcomes=tuple(f"at most {cap}" for cap in CAPS),
        stages=tuple(plan.stage for plan in plans),
    )
    return priced(replace(plans[0], stage=choice, epsilon=first + second))


def priced(plan: Plan) -> Plan:
    return replace(plan, event=event_of(plan.stage, plan.relation))


def rechosen(plan: Plan, **changes: Any) -> Plan:
    """The plan with another choice, and the event that it then draws."""
    assert isinstance(plan.stage, Branching)
    return priced(replace(plan, stage=replace(plan.stage, **changes)))


def with_stage(plan: Plan, i: int, **changes: Any) -> Plan:
    """The plan with another alternative."""
    assert isinstance(plan.stage, Branching)
    stages = list(plan.stage.stages)
    stages[i] = replace(stages[i], **changes)
    return rechosen(plan, stages=tuple(stages))


def capped(stage: Stage | Branching, most: int) -> Totals:
    query = stage.query
    assert isinstance(query.source, CapRows)
    return replace(query, source=replace(query.source, most=most))


@pytest.mark.parametrize("kind", [NoisyMax, Exponential, PermuteAndFlip])
def test_a_plan_of_stages_is_checked_and_priced_before_data(kind: Callable[..., Selection]) -> None:
    plan = staged(kind=kind)
    check(plan)
    assert loss(plan.event).pure_epsilon() == plan.epsilon == 1
    assert plan.event == events.Under(events.Composed((events.Pure(F(1, 4)), events.Pure(F(3, 4)))), plan.relation)


def every_outcome_is_checked() -> None:
    """An alternative whose neighbours move it farther than its noise is made for is found, whichever it is."""
    plan = staged()
    assert isinstance(plan.stage, Branching)
    for i, stage in enumerate(plan.stage.stages):
        assert isinstance(stage, Stage)
        is_found(with_stage(plan, i, query=capped(stage, 2 * CAPS[i])))
        is_found(with_stage(plan, i, domain=((1,),)))
        (count,) = stage.measurements
        if CAPS[i] > 1 and count.mechanism is not None:
            half = replace(count, mechanism=Geometric(count.mechanism.scale / 2), sensitivity=count.sensitivity / 2)
            is_found(with_stage(plan, i, measurements=(half,)))


def test_every_outcome_is_checked() -> None:
    every_outcome_is_checked()


def scores_are_checked() -> None:
    """A choice is made for all that a neighbour can do to a score."""
    plan, query = staged(), scored()
    assert isinstance(query.source, CapRows)
    two = replace(query, source=replace(query.source, most=2))
    is_found(rechosen(plan, query=two))
    is_found(rechosen(plan, sensitivity=F(1, 2), mechanism=NoisyMax(F(1, 4))))
    check(rechosen(plan, query=two, sensitivity=F(2), mechanism=NoisyMax(F(1, 4), F(2))))
    doubled = tuple(Combination(((i, 2),)) for i in range(len(CAPS)))
    is_found(rechosen(plan, scores=doubled))


def test_scores_are_checked() -> None:
    scores_are_checked()


def noise_of_every_outcome_can_be_drawn() -> None:
    """Whatever is chosen later: what cannot be drawn is refused before anything is charged."""
    plan = staged()
    check_limits(plan, 1 << 26)
    assert isinstance(plan.stage, Branching)
    for i, stage in enumerate(plan.stage.stages):
        assert isinstance(stage, Stage)
        wide = tuple(replace(each, mechanism=Geometric(F(2 * MOST_SCALE))) for each in stage.measurements)
        stages = [*plan.stage.stages[:i], replace(stage, measurements=wide), *plan.stage.stages[i + 1 :]]
        with pytest.raises(QueryError) as refusal:
            check_limits(replace(plan, stage=replace(plan.stage, stages=tuple(stages))), 1 << 26)
        assert refusal.value.code == "noise-too-large"


def test_noise_of_every_outcome_can_be_drawn() -> None:
    noise_of_every_outcome_can_be_drawn()


def what_is_chosen_does_not_change_the_price() -> None:
    """Were one alternative dearer, the price would tell which was chosen, or be too low."""
    plan = staged()
    dear, cheap = counted(4, F(2)).measurements, counted(4, F(1, 8)).measurements
    for measurements in (dear, cheap):
        with pytest.raises(Fault):
            check(with_stage(plan, 2, measurements=measurements))
    is_found(replace(plan, epsilon=F(9, 10)))
    is_found(replace(plan, event=staged(F(1, 8)).event))


def test_what_is_chosen_does_not_change_the_price() -> None:
    what_is_chosen_does_not_change_the_price()


def test_a_choice_has_a_score_a_name_and_a_stage_for_each_outcome() -> None:
    plan = staged()
    assert isinstance(plan.stage, Branching)
    keyed = Totals(Scan("t", (X,)), (X,), (Term(How.SUM, Literal(1, Type.INTEGER)),) * len(CAPS))
    for changes in (
        {"scores": plan.stage.scores[:3]},
        {"outcomes": plan.stage.outcomes[:3]},
        {"stages": plan.stage.stages[:3]},
        {"mechanism": NoisyMax(F(1, 4), monotone=True)},
        {"mechanism": Geometric(F(4))},
    ):
        is_found(rechosen(plan, **changes))
    is_found(replace(rechosen(plan, query=keyed), relation=ROW.relation))


def is_found(false: Plan) -> None:
    with pytest.raises(Fault, match="does not hold"):
        check(false)


def stages_run_in_order() -> None:
    """The choice, from the data; then the noise of the stage that it picks; then the data again. All of it from one grant."""
    plan, order = staged(F(50), F(50)), []

    class Watched(Grant):
        def prepare(self, *args: Any) -> Any:
            order.append("noise")
            return super().prepare(*args)

        def __call__(self, *args: Any) -> Any:
            order.append("choice")
            return super().__call__(*args)

    def run(query: Totals, salt: int) -> Any:
        order.append("data")
        return engine(ROWS).run(query, salt)

    grant = Watched(plan.event, Tape(3))
    one = decided(plan, run, grant, 1)
    (count,) = release(one, run, grant, 1)
    assert order == ["choice", "data", "noise", "data"]
    assert one.taken == (3,), "8 has the highest score, and noise is next to nothing"
    assert abs(int(count[0]) - len(ROWS)) < 20
    with pytest.raises(Fault):
        release(one, run, grant, 1)


def test_stages_run_in_order() -> None:
    stages_run_in_order()


def test_every_outcome_can_be_run_and_answered() -> None:
    """Whatever is released first, the stage that it picks is run, and the answer says which it was."""
    plan = staged(F(1, 100), F(1))
    names = set()
    for seed in range(repeats(40)):
        grant = Grant(plan.event, Tape(seed))
        one = decided(plan, engine(ROWS).run, grant, seed)
        answer = Answer.make(one, release(one, engine(ROWS).run, grant, seed), text=TEXT)
        (cap,) = (CAPS[i] for i in one.taken)
        assert answer.receipt["choices"] == [f"at most {cap}"]
        assert f"released: at most {cap}" in answer.explain()
        assert answer.intervals[0][0] is not None and answer.intervals[0][0].error == Geometric(F(cap)).error()
        assert answer.receipt["plan"] == digest(plan), "what was chosen is no part of the name"
        assert Answer.from_bytes(answer.to_bytes()) == answer
        names.add(cap)
    assert names == set(CAPS)


def test_before_it_is_decided_every_outcome_is_told() -> None:
    plan = staged()
    check_limits(plan, 1 << 30)
    text = explain(plan)
    assert all(f"if it is at most {cap}:" in text for cap in CAPS)
    (worst,) = predicted(plan)
    assert worst.error == Geometric(F(8) / F(3, 4)).error(), "the widest ± of all"
    preview = Preview.make(plan, text=TEXT)
    assert (preview.groups, preview.epsilon) == (1, 1.0)
    with pytest.raises(Fault):
        assert plan.query
    with pytest.raises(Fault):
        plan.chosen(4)
    with pytest.raises(Fault):
        plan.chosen(0).chosen(0)


def neighbours_are_not_told_apart() -> None:
    """Handed the outcome of its twin, a neighbour reads the same stage, and no score or total moves farther than is paid for."""
    plan = staged(F(1, 100), F(1), text="SELECT COUNT(*) AS n, SUM(x) AS s FROM t")
    for who in range(8):
        first, second = ROWS, [row for row in ROWS if row["who"] != who]

        def run(rows: Any, draws: Draws) -> Any:
            one = decided(plan, engine(rows).run, draws, 7)
            return one.taken, release(one, engine(rows).run, draws, 7)

        report = compare(first, second, run, seed=who)
        assert report.same and report.first.answered and report.draws == 3, report


def test_neighbours_are_not_told_apart() -> None:
    neighbours_are_not_told_apart()


class Staged(Curator):
    """A curator whose plans have a choice before they count."""

    def _planned(self, *_: Any) -> Plan:
        return staged()


def test_a_curator_charges_once_for_all_stages_and_keeps_the_answer(tmp_path: Path) -> None:
    """The whole path, with the real engine: one charge, which no outcome changes; asked again it is the same answer, free."""
    rows = {name: [row[name] for row in ROWS] for name in ("who", "x")}
    columns = {"who": {"type": "integer"}, "x": {"type": "integer", "bounds": (2, 5)}}
    with Staged({"t": rows}, "who", columns, epsilon=5, ledger=tmp_path / "l") as curator:
        assert "if it is at most 4:" in curator.explain(TEXT, epsilon=1)
        answer = curator.sql(TEXT, epsilon=1)
        assert answer.epsilon == 1 and curator.spent.epsilon == 1
        assert answer.receipt["choices"][0] in {f"at most {cap}" for cap in CAPS}
        again = curator.sql(TEXT, epsilon=1)
        assert (again.rows, again.explain(), curator.spent.epsilon) == (answer.rows, answer.explain(), 1)


def test_twins_find_a_score_that_moves_too_far() -> None:
    """Rows are not capped, and the choice is made for one row of a person."""
    plan = staged(F(1, 100), F(1))
    assert isinstance(plan.stage, Branching)
    plan = rechosen(plan, query=replace(scored(), source=replace(scored().source, most=9)))  # type: ignore[arg-type]
    others = [row for row in ROWS if row["who"] != 5]
    report = compare(ROWS, others, lambda rows, draws: decided(plan, engine(rows).run, draws, 7).taken)
    assert any("a score differs by 6" in difference for difference in report.differences), report


def test_choices_may_follow_one_another() -> None:
    """Two choices have sixteen ways, each of which is checked; what is reached depends on both."""
    inner = staged(F(1, 4), F(1, 2))
    assert isinstance(inner.stage, Branching)
    outer = replace(inner.stage, stages=(inner.stage,) * len(CAPS), outcomes=tuple("abcd"))
    plan = priced(replace(inner, stage=outer, epsilon=F(1)))
    check(plan)
    assert [one.taken for one in plan.decisions()] == [(i, j) for i in range(4) for j in range(4)]
    one = decided(plan, engine(ROWS).run, Grant(plan.event, Tape(1)), 1)
    assert len(one.steps) == 2 and one.query == inner.stage.stages[one.taken[1]].query
    assert len({digest(plan), digest(inner), digest(staged())}) == 3
    stages = (*outer.stages[:3], replace(inner.stage, sensitivity=F(1, 2), mechanism=NoisyMax(F(1, 4), F(1, 2))))
    is_found(priced(replace(plan, stage=replace(outer, stages=stages))))
