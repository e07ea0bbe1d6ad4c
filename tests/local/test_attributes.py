"""Several attributes in one report: what it tells of whole rows of cells is enumerated, and so is what is estimated from it."""

from collections.abc import Callable, Iterator
from fractions import Fraction as F
from itertools import product
from math import exp, log

import numpy as np
import pytest
from scipy.stats import binom, chisquare, hypergeom

from discreet.errors import Invalid
from discreet.exact import log_down, log_up
from discreet.local import (
    Attribute,
    Attributes,
    Campaign,
    Choices,
    HadamardResponse,
    HiddenAttribute,
    KaryResponse,
    LocalHashing,
    OneAttribute,
    UnaryEncoding,
    choose_attributes,
)
from discreet.local.attribute_estimates import AttributeEstimates, attribute_estimates, shares_of_all
from discreet.local.attributes import AttributesProtocol
from discreet.local.frequency import SLACK, forecasts
from discreet.local.frequency_protocol import FrequencyProtocol
from discreet.noise import Tape
from tests.local.cases import LATER

NEAR = F(1, 10**9)
FALSE_ALARM = 1e-6  # of each statistical test, over all of its comparisons
KINDS: tuple[type[OneAttribute] | type[HiddenAttribute], ...] = (OneAttribute, HiddenAttribute)
PARTS: tuple[tuple[FrequencyProtocol, ...], ...] = (
    *((KaryResponse(2, e), KaryResponse(3, e)) for e in (F(1, 10), F(1), F(5))),
    *((UnaryEncoding(3, e), HadamardResponse(2, e)) for e in (F(1, 10), F(1), F(5))),
    (KaryResponse(2, 1), KaryResponse(2, 1), KaryResponse(2, 1)),
    (HadamardResponse(3, 1), KaryResponse(2, 1), UnaryEncoding(2, 1)),
    (LocalHashing(2, F(1, 10), word=2), KaryResponse(3, F(1, 10))),
)
SMALL: tuple[OneAttribute | HiddenAttribute, ...] = tuple(kind(parts) for parts in PARTS for kind in KINDS)
TOWN = Attributes(
    (Attribute("sex", ("f", "m"), "k-ary"), Attribute("ward", 3, "unary"), Attribute("age", 5, "hadamard"))
)


def campaign(protocol: str = "one-attribute", domain: Attributes = TOWN, epsilon: F = F(1)) -> Campaign:
    return Campaign("Who are you?", domain, protocol, epsilon, bytes(range(16)), LATER)


def rows_are_distributions() -> None:
    for protocol in SMALL:
        assert all(sum(row) == 1 for row in protocol.channel()), protocol


def test_rows_are_distributions() -> None:
    rows_are_distributions()


def loss(channel: tuple[tuple[F, ...], ...]) -> F:
    return max(F(max(column) / min(column)) for column in zip(*channel, strict=True))


def no_report_tells_more_than_is_declared_or_much_less() -> None:
    """For whole rows of cells, which may differ in all attributes."""
    for protocol in SMALL:
        most = loss(protocol.channel())
        assert log_up(most) <= protocol.epsilon, protocol
        assert log_down(most) >= protocol.epsilon - NEAR, protocol


def test_no_report_tells_more_than_is_declared_or_much_less() -> None:
    no_report_tells_more_than_is_declared_or_much_less()


def campaigns_are_at_the_epsilon_that_they_say() -> None:
    for kind in KINDS:
        for epsilon in (F(1, 2), F(2)):
            two = Attributes((Attribute("a", 2, "k-ary"), Attribute("b", 3, "k-ary")))
            protocol = campaign(kind.name, two, epsilon).randomiser
            assert isinstance(protocol, kind) and protocol.epsilon == epsilon
            assert log_up(loss(protocol.channel())) <= epsilon


def test_campaigns_are_at_the_epsilon_that_they_say() -> None:
    campaigns_are_at_the_epsilon_that_they_say()


def amplified(epsilon: float, d: int) -> F:
    """The ε at which the paper would have protocols randomise, so that fakes among d attributes bring it down to `epsilon`."""
    return F(repr(log(d * (exp(epsilon) - 1) + 1)))


def fakes_amplify_nothing() -> None:
    """The paper's ε is lost by who changes all attributes; with as many cells in each, who changes one of them loses what it says."""
    for ks in ((2, 2), (2, 2, 2), (3, 3), (2, 3), (2, 2, 3)):
        inner = amplified(1.0, len(ks))
        assert inner > F(7, 5)
        protocol = HiddenAttribute(tuple(KaryResponse(k, inner) for k in ks))
        channel = dict(zip(protocol.records(), protocol.channel(), strict=True))
        assert log_down(loss(tuple(channel.values()))) >= inner - NEAR
        one_changes = max(
            loss((channel[a], channel[b]))
            for a in channel
            for b in channel
            if sum(x != y for x, y in zip(a, b, strict=True)) == 1
        )
        if len(set(ks)) == 1:
            assert abs(log(one_changes) - 1) < 1e-8
        else:
            assert log(one_changes) > 1.05


def test_fakes_amplify_nothing() -> None:
    fakes_amplify_nothing()


def told(protocol: AttributesProtocol, place: int) -> list[list[int]]:
    """Which cells of an attribute each report supports, each counted by itself; none where it is about another one."""
    return [protocol.support(place, protocol.accumulate(np.array([each])), 1).tolist() for each in protocol.outcomes()]


def reports_support_cells_as_often_as_is_said() -> None:
    """Of all reports about an attribute, for every row of cells, from the whole channel."""
    for protocol in SMALL[6 * len(KINDS) :] + SMALL[len(KINDS) : 2 * len(KINDS)]:  # of each kind of parts one
        whose = 1 if isinstance(protocol, HiddenAttribute) else F(1, len(protocol.parts))
        for place, part in enumerate(protocol.parts):
            rows, (own, other) = told(protocol, place), protocol.chances(place)
            if isinstance(part, HadamardResponse) and whose != 1:
                rows = [row if each["sampled"] == place else [0] * part.k for each, row in _with(protocol, rows)]
            for record, chances in zip(protocol.records(), protocol.channel(), strict=True):
                for cell in range(part.k):
                    heads = sum((chance for chance, row in zip(chances, rows, strict=True) if row[cell]), F(0))
                    assert heads == whose * (own if record[place] == cell else other), protocol


def _with(protocol: AttributesProtocol, rows: list[list[int]]) -> Iterator[tuple[np.void, list[int]]]:
    return zip(protocol.outcomes(), rows, strict=True)


def test_reports_support_cells_as_often_as_is_said() -> None:
    reports_support_cells_as_often_as_is_said()


def domain_of(protocol: AttributesProtocol) -> Attributes:
    return Attributes(tuple(Attribute(str(i), part.k, part.name) for i, part in enumerate(protocol.parts)))


def everything(
    protocol: AttributesProtocol, people: list[tuple[int, ...]]
) -> Iterator[tuple[F, np.ndarray, AttributeEstimates]]:
    """All that these people may send, with its exact chance, its totals and what it says."""
    rows = [[(each, protocol.chance(each, record)) for each in protocol.outcomes()] for record in people]
    for sent in product(*rows):
        chance = F(1)
        for _, each in sent:
            chance *= each
        totals = protocol.accumulate(np.array([report for report, _ in sent]))
        yield chance, totals, attribute_estimates(protocol, domain_of(protocol), totals, len(people))


PEOPLE: list[tuple[int, ...]] = [(0, 0), (1, 2), (0, 1)]
Moments = dict[tuple[str, int, int], tuple[float, float, float, float]]


def moments(protocol: AttributesProtocol, people: list[tuple[int, ...]]) -> Moments:
    """Of each attribute, number of reports about it, and cell: chance, mean, mean square, and mean of the variance that is said."""
    found: Moments = {}
    for chance, _, estimates in everything(protocol, people):
        for name, each in estimates.by_name.items():
            for cell, (value, variance) in enumerate(zip(each.values, each.variances, strict=True)):
                row = float(chance) * np.array([1, value, value**2, variance])
                old = found.get((name, each.n, cell), (0.0, 0.0, 0.0, 0.0))
                found[name, each.n, cell] = tuple(np.add(old, row).tolist())
    return {key: (c, mean / c, square / c, said / c) for key, (c, mean, square, said) in found.items()}


def hidden_estimates_are_unbiased_with_the_variance_that_is_said() -> None:
    for parts in PARTS[:3]:
        protocol = HiddenAttribute(parts)
        for people in (PEOPLE[:1], PEOPLE[1:]):
            n = len(people)
            for (name, about, cell), (chance, mean, square, said) in moments(protocol, people).items():
                share = F(sum(record[int(name)] == cell for record in people), n)
                exact = float(protocol.variance(int(name), share, n))
                assert about == n and chance == pytest.approx(1) and mean == pytest.approx(float(share), abs=1e-9)
                assert square - mean**2 == pytest.approx(exact, rel=1e-9)
                assert said == pytest.approx(exact, rel=1e-9)


def test_hidden_estimates_are_unbiased_with_the_variance_that_is_said() -> None:
    hidden_estimates_are_unbiased_with_the_variance_that_is_said()


def estimates_from_some_are_unbiased_with_the_variance_that_is_said() -> None:
    """Given the number of reports about an attribute: who made them is as random as what they say."""
    for parts in PARTS[:3]:
        protocol = OneAttribute(parts)
        found = moments(protocol, PEOPLE)
        assert len(found) == 3 * 5
        for (name, about, cell), (chance, mean, square, said) in found.items():
            place, share = int(name), F(sum(record[int(name)] == cell for record in PEOPLE), 3)
            exact = float(protocol.variance(place, share, about, 3))
            assert chance == pytest.approx(binom.pmf(about, 3, 0.5)) and mean == pytest.approx(float(share), abs=1e-9)
            assert square - mean**2 == pytest.approx(exact, rel=1e-9)
            assert said == pytest.approx(exact, rel=1e-9) if about > 1 else said >= exact


def test_estimates_from_some_are_unbiased_with_the_variance_that_is_said() -> None:
    estimates_from_some_are_unbiased_with_the_variance_that_is_said()


def law(part: FrequencyProtocol, own: int, about: int, people: int) -> np.ndarray:
    """The exact law of how many reports support a cell that `own` people have, where `about` of all people report."""
    total = np.zeros(about + 1)
    p, q = float(part.p), float(part.q)
    for with_it in range(about + 1):
        weight = hypergeom.pmf(with_it, people, own, about)
        if weight:
            yes = binom.pmf(np.arange(with_it + 1), with_it, p)
            total += weight * np.convolve(yes, binom.pmf(np.arange(about - with_it + 1), about - with_it, q))
    return total


def intervals_hold() -> None:
    """For the share among all people, also of those who did not report on the attribute."""
    for part in (KaryResponse(2, 3), KaryResponse(50, 5), UnaryEncoding(9, 1), HadamardResponse(4, 5)):
        for about, people in ((1, 1), (1, 9), (12, 12), (15, 45), (60, 180)):
            told = np.arange(about + 1)
            laws = {own: law(part, own, about, people) for own in sorted({0, people // 10, people // 2, people})}
            for level in (0.5, 0.95, 0.999):
                found = shares_of_all(part.p, part.q, tuple(told.tolist()), told, about, people, level)
                for own, exact in laws.items():
                    share = own / people
                    held = exact[(found.low <= share + 1e-12) & (share - 1e-12 <= found.high)].sum()
                    assert held >= level - 1e-3 * (1 - level) - 1e-9, (part, about, people, own, level)


def test_intervals_hold() -> None:
    intervals_hold()


def reports_are_drawn_as_they_are_enumerated() -> None:
    """Pearson's test of drawn reports against the channel, with at least five of each expected."""
    cases = [each for each in SMALL if each.epsilon < 5]
    for protocol in cases:
        order = {protocol.pack(each): place for place, each in enumerate(protocol.outcomes())}
        record = tuple(part.k - 1 for part in protocol.parts)
        expected = np.array([float(protocol.chance(each, record)) for each in protocol.outcomes()])
        draws = int(6 / expected.min())
        rows = protocol.randomise(np.tile(record, (draws, 1)))
        kinds, counts = np.unique(rows, return_counts=True)
        found = np.zeros(len(order))
        found[[order[protocol.pack(each)] for each in kinds]] = counts
        assert chisquare(found, expected * draws, sum_check=False).pvalue > FALSE_ALARM / len(cases), protocol


def test_reports_are_drawn_as_they_are_enumerated() -> None:
    reports_are_drawn_as_they_are_enumerated()


def test_single_reports_are_those_of_arrays() -> None:
    for protocol in SMALL:
        for seed in range(6):
            record = tuple(seed % part.k for part in protocol.parts)
            single = protocol.randomise(record, Tape(seed))
            assert single == protocol.randomise(np.array([record]), Tape(seed))[0]
            assert protocol.pack(single) == protocol.pack(protocol.unpack(protocol.pack(single)))


def totals_add_up() -> None:
    for protocol in SMALL:
        values = np.array([[each % part.k for part in protocol.parts] for each in range(40)])
        reports = protocol.randomise(values)
        parts = protocol.accumulate(reports[:13]) + protocol.accumulate(reports[13:])
        assert np.array_equal(parts, protocol.accumulate(reports)) and parts.shape == (protocol.width,)
        read = np.array([protocol.unpack(protocol.pack(each)) for each in reports])
        assert np.array_equal(parts, protocol.accumulate(read)) and protocol.possible(parts, 40)
        assert len(protocol.accumulate(reports[:0])) == protocol.width


def test_totals_add_up() -> None:
    totals_add_up()


def liars_move_shares_so_far_and_no_farther() -> None:
    """One report of three is exchanged for any other: no share moves farther than is said of what is there in the end, and one does."""
    for kind in KINDS:
        protocol = kind((KaryResponse(2, 1), KaryResponse(3, 1)))
        domain, reports = domain_of(protocol), list(protocol.outcomes())
        found = {
            sent: attribute_estimates(protocol, domain, protocol.accumulate(np.array([reports[i] for i in sent])), 3)
            for sent in product(range(len(reports)), repeat=3)
            if kind is OneAttribute or len(set(sent[:2])) == 1  # two of the same and any other: the ends are among them
        }
        ratios = [0.0]
        for sent, after in found.items():
            for lie in range(len(reports)):
                before = found.get((*sent[:2], lie))
                for name in after.by_name if before else ():
                    if before and name in before.by_name:
                        move = np.abs(after[name].values - before[name].values).max()
                        ratios.append(move / after.influence(name, 1))
            totals = protocol.accumulate(np.array([reports[i] for i in sent]))
            most = max(after.influence(name, 1) for name in after.by_name)
            assert float(protocol.influence(1, totals, 3)) == pytest.approx(most, rel=1e-12)
        assert max(ratios) == pytest.approx(1)


def test_liars_move_shares_so_far_and_no_farther() -> None:
    liars_move_shares_so_far_and_no_farther()


def choices_are_nearly_the_best() -> None:
    """Of the variance that shares have in the end, fakes included: it grows with that of a protocol by itself."""
    answers: dict[str, Choices | tuple[str, ...] | int] = {
        "two": 2,
        "some": ("a", "b", "c"),
        "many": 40,
        "most": Choices(3000),
    }
    for epsilon in (F(1, 2), F(1), F(4)):
        chosen = choose_attributes(answers, epsilon, 10**5)
        for each in chosen.attributes:
            k, c = each.answers.k, F(each.answers.k - 1, each.answers.k**2)
            alone = {row.protocol.name: row.variance for row in forecasts(k, epsilon, 100)}
            hidden = {}
            for row in forecasts(k, epsilon, 100):
                hidden[row.protocol.name] = HiddenAttribute((row.protocol,) * 4).variance(0, F(1, k), 100)
                assert hidden[row.protocol.name] == 16 * (row.variance + c / 100) - c / 100
            for by_name in (alone, hidden):
                assert by_name[each.protocol] <= SLACK * min(by_name.values())
    assert chosen.names == tuple(answers)
    assert [each.protocol for each in chosen.attributes] == ["k-ary", "k-ary", "k-ary", "hashing"]


def test_choices_are_nearly_the_best() -> None:
    choices_are_nearly_the_best()


CALLS: tuple[Callable[[], object], ...] = (
    lambda: OneAttribute((KaryResponse(2, 1),)),
    lambda: OneAttribute((KaryResponse(2, 1), KaryResponse(2, 2))),
    lambda: OneAttribute((KaryResponse(2, 1), 3)),  # type: ignore[arg-type]
    lambda: OneAttribute(3),  # type: ignore[arg-type]
    lambda: HiddenAttribute((KaryResponse(2, 1),) * 257),
    lambda: OneAttribute.of(Choices(3), 1),
    lambda: campaign("k-ary"),
    lambda: campaign(epsilon=F(21)),
    lambda: campaign(domain=Attributes((Attribute("a", 2, "k-ary"), Attribute("b", 2, "one-attribute")))),
    lambda: Attributes((Attribute("a", 2, "k-ary"),)),
    lambda: Attributes((Attribute("a", 2, "k-ary"), Attribute("a", 3, "k-ary"))),
    lambda: Attributes((Attribute("a", 2, "k-ary"), Attribute("b", 1 << 19, "k-ary"))),
    lambda: Attributes((Attribute("a", 2, "k-ary"), 2)),  # type: ignore[arg-type]
    lambda: Attributes(2),  # type: ignore[arg-type]
    lambda: Attribute("", 2, "k-ary"),
    lambda: Attribute(1, 2, "k-ary"),  # type: ignore[arg-type]
    lambda: Attribute("a", 1, "k-ary"),
    lambda: Attribute("a", 2, None),  # type: ignore[arg-type]
    lambda: choose_attributes({"a": 2}, 1, 10),
    lambda: choose_attributes([2, 3], 1, 10),  # type: ignore[arg-type]
    lambda: choose_attributes({"a": 2, "b": 2}, 1, 0),
    lambda: OneAttribute((UnaryEncoding(40, 1),) * 2).outcomes(),
    lambda: HiddenAttribute((KaryResponse(1000, 1),) * 2).outcomes(),
)


@pytest.mark.parametrize("call", CALLS)
def test_what_cannot_be_is_refused(call: Callable[[], object]) -> None:
    with pytest.raises(Invalid):
        call()


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_row_or_report_is_refused(kind: type[OneAttribute] | type[HiddenAttribute]) -> None:
    protocol = kind((KaryResponse(2, 1), UnaryEncoding(30, 1)))
    for values in ((0,), (0, 30), (2, 0), (0, -1), (0.0, 1.0), 0, [[[0, 0]]], [[0, 0], [0]], ("a", "b"), (0, 0, 0)):
        with pytest.raises(Invalid) as refusal:
            protocol.randomise(values)
        assert "30" not in str(refusal.value)
    for reports in (np.array([0]), np.zeros((2, 2), protocol.row), np.zeros(2, "i8,i8")):
        with pytest.raises(Invalid):
            protocol.accumulate(reports)


def test_reports_about_no_attribute_are_refused() -> None:
    protocol = OneAttribute((KaryResponse(2, 1), KaryResponse(2, 1)))
    reports = np.zeros(2, protocol.row)
    reports["sampled"] = 2
    with pytest.raises(Invalid):
        protocol.accumulate(reports)


def test_attributes_that_nobody_reported_on_have_no_estimates() -> None:
    protocol = OneAttribute((KaryResponse(2, 1), KaryResponse(2, 1)))
    estimates = attribute_estimates(protocol, domain_of(protocol), np.array([2, 0, 1, 1, 0, 0]), 2)
    assert [name for name, *_ in estimates] == ["0", "0"] and estimates["0"].n == 2
    for call in (
        lambda: estimates["1"],
        lambda: estimates[1],  # type: ignore[index]
        lambda: estimates.influence("1", 0),
        lambda: estimates.influence("0", 3),
        lambda: attribute_estimates(protocol, domain_of(protocol), np.zeros(6, int), 0),
    ):
        with pytest.raises(Invalid):
            call()
    assert estimates.influence("0", 2) == pytest.approx(float(protocol.reach))
