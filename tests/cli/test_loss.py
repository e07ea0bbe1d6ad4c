"""`discreet loss`: the calculator says what the library says, and reads nothing but what it knows."""

from fractions import Fraction

import pytest

from discreet.cli.loss import LONGEST, read
from discreet.errors import Invalid
from discreet.privacy import PrivacyLoss, events, loss
from tests.cli.conftest import Run, data, error

SUM = "100*laplace(10) + gaussian(5)"
THIRD = Fraction(1, 3)
MEANT: dict[str, PrivacyLoss] = {
    SUM: 100 * loss(events.Laplace(10)) + loss(events.Gaussian(5)),
    " gaussian(5)\t+ laplace(10)*100": 100 * loss(events.Laplace(10)) + loss(events.Gaussian(5)),
    "2*(geometric(1/3) + 1e1*laplace(scale=2, sensitivity=0.1))": 2
    * (loss(events.DiscreteLaplace(THIRD)) + 10 * loss(events.Laplace(2, Fraction(1, 10)))),
    "discrete_gaussian(4, 2)": loss(events.DiscreteGaussian(4, 2)),
    "3*2*response(1, k=3)": 6 * loss(events.RandomizedResponse(1, 3)),
    "pure(0.1) + approximate(1, 1e-7) + zcdp(1/2)": loss(
        events.Composed(
            (
                events.Pure(Fraction(1, 10)),
                events.Approximate(1, Fraction(1, 10**7)),
                events.ZeroConcentrated(Fraction(1, 2)),
            )
        )
    ),
    "1_000*sampled(0.01, gaussian(1))": 1000 * loss(events.Sampled(Fraction(1, 100), events.Gaussian(1))),
    "0*laplace(1)": PrivacyLoss(),
}


@pytest.mark.parametrize("text", MEANT)
def test_an_expression_is_the_loss_it_says(text: str) -> None:
    assert dict(read(text).terms) == dict(MEANT[text].terms)


def test_what_is_printed_is_what_the_library_computes(run: Run) -> None:
    found = data(run("loss", SUM, "--delta", "1e-6", "--epsilon", "3", "--json"))
    meant = MEANT[SUM]
    assert found == {
        "expression": SUM,
        "delta": 1e-6,
        "epsilon": meant.epsilon(1e-6),
        "interval": list(meant.interval(1e-6)),
        "epsilon_at_delta_0": None,
        "best_attacker": meant.posterior(),
        "at_epsilon": {"epsilon": 3.0, "delta": meant.delta(3)},
    }
    said = run("loss", SUM, "--delta", "1e-6", "--epsilon", "3").stdout
    assert f"ε = {meant.epsilon(1e-6):.10g} at δ = 1e-06" in said
    assert "no ε at δ = 0" in said and f"δ = {meant.delta(3):.6g} at ε = 3" in said
    assert "│███" in said and "the best attacker is right at most" in " ".join(said.split())
    assert all(len(line) <= 100 for line in said.splitlines())


def test_the_printed_ends_are_certified_too(run: Run) -> None:
    (line,) = (line for line in run("loss", SUM).stdout.splitlines() if "certified" in line)
    low, high = MEANT[SUM].interval(1e-6)
    words = line.split()
    assert Fraction(words[2]) <= low and high <= Fraction(words[4])
    assert Fraction(words[4]) - Fraction(words[2]) < 1e-5


def test_what_has_no_epsilon_or_no_lower_end_says_so(run: Run) -> None:
    assert data(run("loss", "approximate(1, 0.1)", "--json"))["epsilon"] is None
    assert "no ε at δ = 1e-06" in run("loss", "approximate(1, 0.1)").stdout
    assert data(run("loss", "zcdp(0.1)", "--json"))["interval"] is None
    assert "an upper bound" in run("loss", "zcdp(0.1)").stdout
    assert data(run("loss", "laplace(2)", "--delta", "0", "--json"))["epsilon"] == 0.5


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "cannot be read"),
        ("lap lace", "near character"),
        ("laplace(10", "cannot be read"),
        ("1 + 2", "is a number"),
        ("laplace", "needs its parameters"),
        ("laplace()", "write laplace(scale"),
        ("laplace(1, 2, 3)", "write laplace(scale"),
        ("laplace(1, scale=2)", "write laplace(scale"),
        ("laplace(size=1)", "write laplace(scale"),
        ("laplace(scale=1, scale=2)", "twice"),
        ("laplace(0)", "scale must be positive"),
        ("laplace(-1)", "scale must be positive"),
        ("laplace(1e999)", "must be finite"),
        ("laplace(laplace(1))", "must be numbers"),
        ("laplce(1)", "did you mean 'laplace'"),
        ("foo(1)", "'foo' is not known"),
        ("2 + laplace(1)", "adds a number"),
        ("laplace(1)*laplace(2)", "multiplies losses"),
        ("laplace(1)**2", "has no place"),
        ("laplace(1) - laplace(1)", "taken back"),
        ("0.5*laplace(1)", "whole number of times"),
        ("laplace(1)/2", "divided"),
        ("laplace(1/0)", "divided"),
        ("True*laplace(1)", "has no place"),
        ("'a'", "has no place"),
        ("1j*laplace(1)", "has no place"),
        ("x", "has no place"),
        ("[laplace(1)]", "has no place"),
        ("lambda: laplace(1)", "has no place"),
        ("laplace(*[1])", "star"),
        ("laplace(**{})", "star"),
        ("(laplace)(1).x", "has no place"),
        ("__import__('os').system('true')", "has no place"),
        ("(laplace(1) for i in x)", "has no place"),
        ("response(1, 2.5)", "k must be an integer"),
        ("sampled(gaussian(1))", "needs a rate"),
        ("sampled(0.1, 2*gaussian(1))", "single leaf"),
        ("sampled(2, gaussian(1))", "rate must"),
        ("laplace(1)\nlaplace(2)", "cannot be read"),
        ("laplace(1)#" + "#" * LONGEST, "at most"),
        ("(" * 500 + "laplace(1)" + ")" * 500, "cannot be read"),
        ("1" + "+1" * 2000 + "*laplace(1)", "cannot be read"),
        ("-" * 3000 + "laplace(1)", ""),
        ("9" * 5000 + "*laplace(1)", ""),
        ("\0", ""),
    ],
    ids=lambda value: value[:40],
)
def test_anything_else_is_refused_in_one_line(run: Run, text: str, said: str) -> None:
    with pytest.raises(Invalid) as refused:
        read(text)
    assert said in str(refused.value)
    result = run("loss", "--json", "--", text)
    assert result.exit_code == 2
    assert error(result)["message"] == refused.value.message
    assert run("loss", "--", text).stderr == f"{refused.value}\n"


@pytest.mark.parametrize(
    "option", [["--delta", "2"], ["--delta", "x"], ["--epsilon", "-1"], ["--epsilon", "nan"]], ids=" ".join
)
def test_a_bad_option_is_named(run: Run, option: list[str]) -> None:
    result = run("loss", SUM, *option, "--json")
    assert result.exit_code == 2 and option[0][2:] in error(result)["message"]
