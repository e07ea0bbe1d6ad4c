"""Pictures of privacy loss: their numbers against closed forms, their form, and losses that are odd to draw."""

import json
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import pairwise
from math import exp, inf, log10
from statistics import NormalDist
from typing import Any

import pytest

from discreet.errors import Invalid
from discreet.privacy import Adjacency, PrivacyLoss, Relation, Unit, loss
from discreet.privacy.events import (
    Approximate,
    DiscreteGaussian,
    Gaussian,
    Laplace,
    Pure,
    RandomizedResponse,
    Sampled,
    Under,
    ZeroConcentrated,
)
from discreet.privacy.picture import drawing, specification

NORMAL = NormalDist()
HALF = Fraction(1, 2)
CASES: dict[str, PrivacyLoss] = {
    "gaussian": loss(Gaussian(1)),
    "laplace": loss(Laplace(1)),
    "response": loss(RandomizedResponse(1)),
    "response of five": loss(RandomizedResponse(1, 5)),
    "many responses": 1000 * loss(RandomizedResponse(Fraction(1, 10))),
    "discrete gaussian": 10 * loss(DiscreteGaussian(3)),
    "three laplace": 3 * loss(Laplace(1)),
    "mixed": 100 * loss(Laplace(10)) + loss(Gaussian(5)),
    "sampled": loss(Sampled(Fraction(1, 100), Gaussian(1))),
    "descent": 1000 * loss(Sampled(Fraction(1, 100), Gaussian(1))),
    "coins": PrivacyLoss.from_table([[Fraction(3, 4), Fraction(1, 4)], [Fraction(1, 4), Fraction(3, 4)]]),
    "nothing": PrivacyLoss(),
    "no sensitivity": loss(Gaussian(1, 0)),
    "may fail": loss(Approximate(1, Fraction(1, 1000))),
    "often fails": loss(Gaussian(1)) + loss(Approximate(1, HALF)),
    "always fails": loss(Approximate(1, 1)),
    "disjoint": PrivacyLoss.from_table([[1, 0], [0, 1]]),
    "half in common": PrivacyLoss.from_table([[HALF, HALF, 0], [0, HALF, HALF]]),
    "zcdp": loss(ZeroConcentrated(HALF)),
    "zcdp and more": loss(ZeroConcentrated(HALF)) + loss(Approximate(1, Fraction(1, 1000))),
    "huge gaussian": loss(Gaussian(Fraction(1, 10**6))),
    "huger gaussian": loss(Gaussian(Fraction(1, 10**12))),
    "huge response": loss(Pure(10**6)),
    "huge laplace": loss(Laplace(Fraction(1, 1000))),
    "tiny gaussian": loss(Gaussian(10**9)),
    "tiny response": loss(Pure(Fraction(1, 10**12))),
    "tiny laplace": loss(Laplace(10**15)),
}
WITHOUT_BARS = {"always fails", "disjoint", "zcdp", "zcdp and more"}
WITHOUT_DELTA = {"nothing", "no sensitivity"}
CONCENTRATED = {"zcdp", "zcdp and more"}


@cache
def spec(name: str) -> dict[str, Any]:
    return specification(CASES[name])


def rows(name: str, field: str) -> list[dict[str, Any]]:
    """The rows of the panel that shows a field; none where there is no such panel."""
    panels = [panel["data"]["values"] for panel in spec(name)["hconcat"]]
    return next((values for values in panels if field in values[0]), [])


def curve(name: str) -> list[tuple[float, float]]:
    return [(row["alpha"], row["beta"]) for row in rows(name, "alpha") if row["curve"] == "this release"]


def subtitle(name: str) -> str:
    return " ".join(spec(name)["title"]["subtitle"])


# The numbers.


def test_bars_of_gaussian_noise_are_differences_of_its_distribution_function() -> None:
    losses = NormalDist(0.5, 1.0)
    bars = rows("gaussian", "probability")
    assert len(bars) > 15
    for bar in bars:
        assert bar["probability"] == pytest.approx(losses.cdf(bar["to"]) - losses.cdf(bar["from"]), abs=1e-7)


def test_randomized_response_has_two_losses_and_no_others() -> None:
    low, high = rows("response", "probability")
    assert (low["losses"], high["losses"]) == ("-1", "1")
    assert low["probability"] == pytest.approx(1 / (1 + exp(1)), rel=1e-9)
    assert high["probability"] == pytest.approx(exp(1) / (1 + exp(1)), rel=1e-9)
    assert low["from"] < -1 < low["to"] < high["from"] < 1 < high["to"]


def test_the_two_points_of_laplace_noise_stand_out_of_its_density() -> None:
    """P(L > x) = 1 − ½ e^((x − 1)/2) between −1 and 1, and half of all is at 1."""

    def beyond(x: float) -> float:
        return 1.0 if x < -1 else 0.0 if x >= 1 else 1 - exp((x - 1) / 2) / 2

    bars = rows("laplace", "probability")
    for bar in bars:
        assert bar["probability"] == pytest.approx(beyond(bar["from"]) - beyond(bar["to"]), abs=1e-6)
    assert bars[-1]["probability"] > 0.5 > 10 * bars[-2]["probability"]
    first = next(bar for bar in bars if bar["probability"])
    assert first["from"] < -1 < first["to"] and first["probability"] > exp(-1) / 2


@pytest.mark.parametrize("name", sorted(set(CASES) - WITHOUT_BARS))
def test_bars_add_up_to_all_finite_losses_but_for_the_ends(name: str) -> None:
    for direction, case in zip(CASES[name]._directions, cases_of(name), strict=True):
        bars = [bar for bar in rows(name, "probability") if bar.get("case") == case]
        finite = float(1 - direction.failure)
        assert finite * (1 - 2.1e-4) <= sum(bar["probability"] for bar in bars) <= finite * (1 + 1e-9)
        assert all(bar["from"] < bar["to"] and bar["probability"] >= 0 for bar in bars)
        assert all(before["to"] <= after["from"] + 1e-9 * abs(after["to"]) for before, after in pairwise(bars))


def cases_of(name: str) -> list[str | None]:
    several = len(CASES[name]._directions) > 1
    return ["the unit is in the data", "the unit is not in the data"] if several else [None]


def test_bars_of_many_points_hold_equally_many_each() -> None:
    """Else a bar with one point more than its neighbours would stand out: the losses of many responses have one hump."""
    heights = [bar["probability"] for bar in rows("many responses", "probability")]
    top = heights.index(max(heights))
    assert 15 < len(heights) < 45
    assert sorted(heights[: top + 1]) == heights[: top + 1] and sorted(heights[top:], reverse=True) == heights[top:]


def test_directions_that_differ_are_both_shown() -> None:
    """What speaks for presence when the unit is there speaks against absence when it is not."""
    present, absent = (
        [bar for bar in rows("sampled", "probability") if bar["case"] == case] for case in cases_of("sampled")
    )
    assert max(bar["to"] for bar in present if bar["probability"] > 1e-3) > 0.05
    assert max(bar["to"] for bar in absent if bar["probability"] > 1e-3) < 0.02
    assert min(bar["from"] for bar in absent if bar["probability"] > 1e-3) < -0.05


def test_delta_of_gaussian_noise_and_of_randomized_response() -> None:
    for row in rows("gaussian", "delta"):
        e, delta = row["epsilon"], row["delta"]
        assert delta == pytest.approx(NORMAL.cdf(0.5 - e) - exp(e) * NORMAL.cdf(-0.5 - e), rel=1e-6, abs=1e-12)
    for row in rows("response", "delta"):
        assert row["delta"] == pytest.approx(max(1e-9, (exp(1) - exp(row["epsilon"])) / (1 + exp(1))), rel=1e-6)


@pytest.mark.parametrize("name", sorted(set(CASES) - WITHOUT_DELTA))
def test_delta_falls_from_its_value_at_0_down_to_where_nobody_asks(name: str) -> None:
    points = [(row["epsilon"], row["delta"]) for row in rows(name, "delta")]
    assert len(points) <= 60
    assert points[0] == (0, pytest.approx(CASES[name].delta(0), rel=1e-9))
    assert all(x < y and b <= a * (1 + 1e-9) for (x, a), (y, b) in pairwise(points))
    failure = max(float(direction.failure) for direction in CASES[name]._directions)
    assert points[-1][1] <= failure * (1 + 1e-6) + 1.01e-9
    assert points[-1][1] > 0
    steps = [log10(a / b) for (x, a), (y, b) in pairwise(points) if y - x > points[-1][0] / 250]
    assert max(steps) < 1.5  # no gap that anyone would see


def test_errors_against_gaussian_noise_and_randomized_response() -> None:
    for alpha, beta in curve("gaussian"):
        truth = NORMAL.cdf(NORMAL.inv_cdf(1 - alpha) - 1) if 0 < alpha < 1 else 1 - alpha
        assert truth - 2e-3 < beta <= truth + 1e-9
    for alpha, beta in curve("response"):
        assert beta == pytest.approx(max(0.0, 1 - exp(1) * alpha, exp(-1) * (1 - alpha)), abs=1e-7)


@pytest.mark.parametrize("name", ["laplace", "three laplace", "may fail", "sampled", "descent", "half in common"])
def test_errors_are_those_of_the_loss_and_never_flatter_it(name: str) -> None:
    """Errors of both kinds may change places, since what is true and what is not may."""
    for less, more in (sorted(point) for point in curve(name)[1::12] if point[1]):
        truth = CASES[name].tradeoff(less)
        assert truth - 2e-3 < more <= truth + 1e-7


@pytest.mark.parametrize("name", sorted(set(CASES) - CONCENTRATED))
def test_the_curve_of_errors_is_convex_and_not_above_the_diagonal(name: str) -> None:
    points = curve(name)
    failure = max(float(direction.failure) for direction in CASES[name]._directions)
    assert points[0] == (0, 1 - failure) and points[-1] == (1, 0)
    assert all(0 <= beta <= 1 - alpha + 1e-12 for alpha, beta in points)
    for (x, a), (y, b), (z, c) in zip(points, points[1:], points[2:], strict=False):
        assert x < y < z and c <= b <= a
        assert b <= a + (c - a) * (y - x) / (z - x) + 1e-9
    diagonal = [(row["alpha"], row["beta"]) for row in rows(name, "alpha") if row["curve"] == "perfect privacy"]
    assert diagonal == [(0, 1), (1, 0)]


# The form.


def numbers(value: object) -> Iterator[float]:
    match value:
        case dict():
            yield from (x for part in value.values() for x in numbers(part))
        case list():
            yield from (x for part in value for x in numbers(part))
        case int() | float():
            yield value


@pytest.mark.parametrize("name", sorted(CASES))
def test_a_specification_is_plain_json_that_tells_what_it_shows(name: str) -> None:
    found = spec(name)
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert all(abs(x) < inf for x in numbers(found))
    assert found["$schema"] == "https://vega.github.io/schema/vega-lite/v5.json"
    assert "right at most" in found["description"] and "right at most" in subtitle(name)
    expected = (name not in WITHOUT_BARS) + (name not in WITHOUT_DELTA) + (name not in CONCENTRATED)
    assert len(found["hconcat"]) == expected
    for panel in found["hconcat"]:
        assert panel["title"]["text"] and panel["title"]["subtitle"] and panel["description"] in found["description"]
        assert panel["mark"]["type"] in {"bar", "line"}
        encoding = panel["encoding"]
        assert encoding["x"]["title"] and encoding["y"]["title"] and len(encoding["tooltip"]) >= 2
        channels = [part for each in encoding.values() for part in (each if isinstance(each, list) else [each])]
        for row in panel["data"]["values"]:
            assert {part["field"] for part in channels} <= set(row)


def test_axes_hold_all_that_is_drawn() -> None:
    for name in CASES:
        for panel in spec(name)["hconcat"]:
            for channel in ("x", "y"):
                encoded = panel["encoding"][channel]
                if "domain" in encoded.get("scale", {}):
                    low, high = encoded["scale"]["domain"]
                    values = [row[encoded["field"]] for row in panel["data"]["values"]]
                    assert low < high and low * (1 - 1e-9) <= min(values) and max(values) <= high * (1 + 1e-9)


def test_delta_is_on_a_scale_of_powers_of_ten() -> None:
    for name in set(CASES) - WITHOUT_DELTA:
        (panel,) = (panel for panel in spec(name)["hconcat"] if "delta" in panel["data"]["values"][0])
        assert panel["encoding"]["y"]["scale"]["type"] == "log"
        ticks = panel["encoding"]["y"]["axis"]["values"]
        assert len(ticks) >= 2 and all(log10(tick) == pytest.approx(round(log10(tick)), abs=1e-9) for tick in ticks)


def test_the_unit_is_named_where_it_is_known() -> None:
    known = loss(Under(Gaussian(1), Relation(Adjacency.ADD_REMOVE, Unit.PERSON)))
    assert "one person" in specification(known)["title"]["text"]
    assert "one person" in " ".join(drawing(known).split())


# Odd losses.


def test_nothing_released_is_one_bar_at_0_and_the_diagonal() -> None:
    for name in WITHOUT_DELTA:
        (bar,) = rows(name, "probability")
        assert bar["losses"] == "0" and bar["probability"] == 1
        assert all(beta == pytest.approx(1 - alpha, abs=1e-15) for alpha, beta in curve(name))
        assert "Nothing is revealed" in subtitle(name) and "Nothing is revealed" in drawing(CASES[name])


def test_infinite_loss_is_told_in_words() -> None:
    for name, said in (("may fail", "0.1%"), ("often fails", "50%"), ("always fails", "100%"), ("disjoint", "100%")):
        told = f"With probability {said} the privacy loss is infinite"
        assert told in subtitle(name) and told in " ".join(drawing(CASES[name]).split())
    assert "infinite" not in subtitle("gaussian") + drawing(CASES["gaussian"])
    assert {beta for _, beta in curve("always fails")} == {0}


def test_delta_stays_at_the_probability_of_infinite_loss() -> None:
    last = rows("may fail", "delta")[-3:]
    assert all(row["delta"] == pytest.approx(0.001, rel=1e-9) for row in last)
    assert last[-1]["epsilon"] > 1


def test_what_is_known_by_zcdp_alone_shows_the_guarantee_only() -> None:
    for name in CONCENTRATED:
        assert "Only zCDP is known" in subtitle(name)
        text = drawing(CASES[name])
        assert "Only zCDP is known" in text and "│" not in text and "δ = 1e-09" in text


def test_huge_and_tiny_losses_keep_their_shape() -> None:
    """A Gaussian loss is N(μ²/2, μ²), whatever μ: the bars lie within a few μ of the middle."""
    for name, mu in (("huge gaussian", 1e6), ("gaussian", 1.0), ("tiny gaussian", 1e-9)):
        bars = rows(name, "probability")
        assert 15 < len(bars) < 45
        assert 3.5 * mu < bars[-1]["to"] - mu * mu / 2 < 4.5 * mu
        assert 3.5 * mu < mu * mu / 2 - bars[0]["from"] < 4.5 * mu
    for name, middle in (("huger gaussian", 5e23), ("huge response", 1e6)):
        (bar,) = rows(name, "probability")
        assert float(bar["losses"]) == pytest.approx(middle, rel=5e-3)


# The terminal.


@pytest.mark.parametrize("name", sorted(CASES))
def test_a_drawing_is_never_wider_than_asked(name: str) -> None:
    for width in (40, 200):
        lines = drawing(CASES[name], width).split("\n")
        assert max(len(line) for line in lines) <= width
        assert all(line == line.rstrip() and (not line or line.isprintable()) for line in lines)


def test_a_drawing_fills_the_width_and_its_bars_are_in_proportion() -> None:
    for width in range(40, 201, 7):
        lines = [line for line in drawing(CASES["response"], width).split("\n") if "│" in line]
        low, high = (line.split("│")[1].split(" ")[0] for line in lines)
        assert width - 1 <= max(len(line) for line in lines) + 1
        assert len(low) == pytest.approx(len(high) / exp(1), abs=1)
        assert [line.split()[0] for line in lines] == ["-1", "1"]
        assert [line.split()[-1] for line in lines] == ["26.9%", "73.1%"]


def test_a_drawing_tells_epsilon_and_the_attackers_success_rounded_up() -> None:
    text = drawing(CASES["gaussian"])
    for delta, epsilon in (("0.001", "3.139"), ("1e-06", "4.887"), ("1e-09", "6.174")):
        assert f"δ = {delta}: ε = {epsilon}" in text
    assert "right at most 69.15% of the time" in " ".join(text.split())
    assert "δ = 1e-06: no finite ε" in drawing(CASES["may fail"])


def test_both_directions_are_drawn_where_they_differ() -> None:
    text = drawing(CASES["sampled"], 40)
    assert "When the unit is in the data:" in text and "When the unit is not in the data:" in text
    assert "When" not in drawing(CASES["gaussian"], 40)


@pytest.mark.parametrize("width", [39, 201, 0, -72, 72.5, True, "72", None])
def test_other_widths_are_refused(width: Any) -> None:
    with pytest.raises(Invalid, match="width"):
        drawing(CASES["nothing"], width)
