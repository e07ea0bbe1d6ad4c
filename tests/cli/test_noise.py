"""The command line: `discreet noise` counts what it draws, brackets the true probabilities, and names what is wrong."""

import json
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
from scipy.stats import chi2
from typer.testing import CliRunner, Result

import discreet
from discreet.cli import app, noise
from discreet.noise import discrete_gaussian, discrete_laplace
from tests.scale import repeats

SCALES = ["2", "1/3", "0.75", "17", "2500", "1e6", "1099511627776"]

# A sound build fails a test of fit with this probability.
ALPHA = 1e-6


@cache
def known_weight(scale: Fraction, weight: Callable[[Fraction], noise.Weight] = noise.gaussian_weight) -> noise.Weight:
    """The weights of the command, summed once for each scale: they depend on nothing else."""
    return cache(weight(scale))


@pytest.fixture(autouse=True)
def _known_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(noise, "gaussian_weight", known_weight)


def run(*arguments: str, columns: int = 80) -> Result:
    return CliRunner().invoke(app, ["noise", *arguments], env={"COLUMNS": str(columns)})


def data(*arguments: str) -> Any:
    result = run("--json", *arguments)
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


@cache
def gaussian_weights(scale: mpmath.mpf, end: int) -> dict[int, mpmath.mpf]:
    return {x: mpmath.exp(-mpmath.mpf(x * x) / (2 * scale * scale)) for x in range(-end, end + 1)}


def truth(name: str, scale: str, first: int | None, last: int | None) -> mpmath.mpf:
    """P(first <= X <= last), from formulas that the command does not use, to about 40 digits (13 for wide Gaussians)."""
    s = mpmath.mpf(Fraction(scale).numerator) / Fraction(scale).denominator
    end = mpmath.ceil(60 * s) + 200
    lo, hi = (-end if first is None else first), (end if last is None else last)
    if name == "discrete Laplace":

        def below(x: int) -> mpmath.mpf:
            """P(X <= x) from its distribution function."""
            ratio = mpmath.exp(-1 / s)
            return ratio**-x / (1 + ratio) if x < 0 else 1 - ratio ** (x + 1) / (1 + ratio)

        return (1 if last is None else below(last)) - (0 if first is None else below(first - 1))
    if s < 100:
        weights = gaussian_weights(s, int(end))
        return mpmath.fsum(weights[x] for x in range(int(lo), int(hi) + 1)) / mpmath.fsum(weights.values())

    def integral(x: mpmath.mpf) -> mpmath.mpf:
        """The midpoint rule with its first correction; the next one is below scale^-4."""
        t = x / s
        density = mpmath.exp(-t * t / 2) / mpmath.sqrt(2 * mpmath.pi)
        return mpmath.ncdf(t) + t * density / (24 * s * s)

    return integral(hi + mpmath.mpf(1) / 2) - integral(lo - mpmath.mpf(1) / 2)


@pytest.mark.parametrize("scale", ["2", "1/3", "17", str(2**40)])
def test_every_draw_is_counted_in_one_cell(scale: str) -> None:
    for each in data("--scale", scale, "--size", "12345")["distributions"]:
        cells = each["cells"]
        assert sum(cell["drawn"] for cell in cells) == 12345
        assert cells[0]["first"] is None and cells[-1]["last"] is None
        for cell, following in pairwise(cells):
            assert cell["last"] + 1 == following["first"]


@pytest.mark.parametrize("scale", SCALES)
def test_probabilities_bracket_the_truth(scale: str) -> None:
    with mpmath.workdps(50):
        for each in data("--scale", scale, "--size", "1000000")["distributions"]:
            for cell in each["cells"]:
                lo, hi = cell["probability"]
                true = truth(each["name"], scale, cell["first"], cell["last"])
                slack = 1e-12 if each["name"] == "discrete Gaussian" and Fraction(scale) > 100 else 0
                assert lo - slack <= true <= hi + slack, (each["name"], cell)
                assert hi - lo < (1e-15 if Fraction(scale) < 2000 else 1e-6)
                assert abs(cell["expected"] - 1_000_000 * true) < 0.1


def test_printed_probabilities_are_the_true_ones() -> None:
    result = run("--scale", "2", "--size", "5000")
    assert result.exit_code == 0
    name, checked = "", 0
    for line in result.stdout.splitlines():
        if line.startswith("discrete"):
            name = line.partition(" noise")[0]
        fields = line.replace("≤ ", "≤").replace("≥ ", "≥").split()
        if len(fields) < 5 or "." not in fields[3]:
            continue
        value = int(fields[0].strip("≤≥"))
        first = None if "≤" in fields[0] else value
        last = None if "≥" in fields[0] else value
        assert abs(float(fields[3]) - truth(name, "2", first, last)) <= 0.5001e-8
        checked += 1
    assert checked == sum(len(each["cells"]) for each in data("--size", "5000")["distributions"])


def test_what_is_drawn_fits_the_probabilities() -> None:
    """False-alarm rate ALPHA for each distribution; the next test shows the power."""
    for each in data("--scale", "2", "--size", str(repeats(1_000_000)))["distributions"]:
        assert each["p_value"] > ALPHA, each
        assert each["p_value"] == pytest.approx(chi2.sf(each["chi_square"], each["degrees_of_freedom"]))


@pytest.mark.parametrize("name", ["laplace", "gaussian"])
def test_noise_of_a_scale_three_per_cent_off_is_seen(name: str) -> None:
    """Scale 2.06 in place of 2: chi-square is about 900 (Laplace) and 1,900 (Gaussian) where 58 rejects; power 1 − 1e-12."""
    draw, weight = {
        "laplace": (discrete_laplace, noise.laplace_weight),
        "gaussian": (discrete_gaussian, noise.gaussian_weight),
    }[name]
    two = Fraction(2)
    off = noise.histogram(name, lambda scale, size: draw(scale * 103 / 100, size), weight(two), two, 1_000_000)
    assert off.p_value is not None and off.p_value < ALPHA
    assert "none" not in noise.verdict([off])


def test_a_cell_that_is_far_off_is_named_in_the_verdict() -> None:
    def zeros(scale: Fraction, size: int) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
        return np.zeros(size, np.int64)

    two = Fraction(2)
    stuck = noise.histogram("stuck", zeros, noise.laplace_weight(two), two, 10_000)
    assert [cell.drawn for cell in stuck.cells if cell.first == 0] == [10_000]
    assert noise.verdict([stuck]).startswith("Of 17 cells 17 differ")


@pytest.mark.parametrize("scale", ["2", "1/3", "17", "1e6", "1e-3", "5e-324", str(2**46)])
@pytest.mark.parametrize("size", ["1", "50000"])
def test_the_table_fits_into_80_columns(scale: str, size: str) -> None:
    result = run("--scale", scale, "--size", size)
    assert result.exit_code == 0, result.stderr
    assert all(len(line) <= 80 for line in result.stdout.splitlines())
    assert "…" not in result.stdout


@pytest.mark.parametrize(
    ("arguments", "parameter"),
    [
        (["--scale", "0"], "scale"),
        (["--scale", "-1"], "scale"),
        (["--scale", "nan"], "scale"),
        (["--scale", "inf"], "scale"),
        (["--scale", "1/0"], "scale"),
        (["--scale", "1e308"], "scale"),
        (["--scale", "1e999999999"], "scale"),
        (["--scale", "two"], "scale"),
        (["--size", "-1"], "size"),
        (["--size", "0"], "size"),
        (["--size", "1e6"], "size"),
    ],
    ids=" ".join,
)
def test_a_bad_parameter_is_named_in_one_line(arguments: list[str], parameter: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1 and parameter in result.stderr
    result = run("--json", *arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    error = json.loads(result.stderr)["error"]
    assert parameter in error["message"] and error.keys() == {"code", "message", "hint"}


@pytest.mark.parametrize("arguments", [["noise", "--scael", "2"], ["nothing"]], ids=" ".join)
def test_a_wrong_command_line_ends_in_one_line_and_exit_code_2(arguments: list[str]) -> None:
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1 and "--help" in result.stderr


def test_without_a_command_there_is_help() -> None:
    result = CliRunner().invoke(app, [])
    assert result.exit_code == 0 and "demo" in result.stdout


def test_the_installed_command_runs_in_a_terminal_without_unicode() -> None:
    command = Path(sys.executable).parent / "discreet"
    version = subprocess.run([command, "--version"], capture_output=True, text=True, check=True)
    assert version.stdout == f"discreet {discreet.__version__}\n"
    plain = subprocess.run(
        [command, "noise", "--size", "20000"],
        env={"PYTHONIOENCODING": "ascii", "COLUMNS": "80"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "discrete Gaussian" in plain.stdout and plain.stderr == ""
    refused = subprocess.run([command, "noise", "--scale", "0"], capture_output=True, text=True)
    assert (refused.returncode, refused.stdout, refused.stderr) == (2, "", "scale must be positive, got 0\n")
