"""Hostile arguments: every public function refuses by name, or answers; it never hangs, and a refusal draws nothing."""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet.errors import Invalid
from discreet.exact import shown
from discreet.noise import (
    Grid,
    Source,
    Tape,
    bernoulli,
    bernoulli_exp,
    discrete_gaussian,
    discrete_laplace,
    geometric,
    grid_gaussian,
    grid_laplace,
    keep_or_replace,
    odds,
    uniform,
)

MAX_MESSAGE = 300  # characters

VALUES: dict[str, object] = {
    "0": 0,
    "-1": -1,
    "NaN": math.nan,
    "inf": math.inf,
    "-inf": -math.inf,
    "5e-324": 5e-324,
    "1e308": 1e308,
    "fraction of 10,000 digits": Fraction(10**9_999 + 1, 3),
    "integer of 10,000 digits": 10**9_999,
    "fraction of 1,200 digits": Fraction(10**1199 + 1, 10**1199 - 1),
    "True": True,
    "text": "1",
    "None": None,
    "list": [1],
    "np.nan": np.float64("nan"),
    "np.array": np.array([1]),
    "complex": 1 + 0j,
}

# What a parameter of each kind accepts of the above.
ACCEPTED = {
    "probability": {"0", "5e-324"},
    "not negative": {"0", "5e-324", "1e308", "fraction of 1,200 digits"},
    "scale": {"5e-324", "1e308", "fraction of 1,200 digits"},
    "scale of an array": {"5e-324", "fraction of 1,200 digits"},
    "scale on its own grid": {"fraction of 1,200 digits"},
    "scale on a given grid": {"5e-324", "fraction of 1,200 digits"},
    "any number": {"0", "-1", "5e-324", "1e308", "fraction of 1,200 digits"},
    "any count": {"integer of 10,000 digits"},
    "no count": set(),
    "answer": {"0"},
    "answers": {"np.array"},
    "exponent": {"0", "-1"},
}


@dataclass(frozen=True)
class Parameter:
    """One parameter of one way to call a function."""

    function: str
    name: str
    kind: str
    call: Callable[[Any, Source], object]
    gives: type | None = None  # of a single value
    dtype: type | None = None  # of an array

    def __str__(self) -> str:
        return f"{self.function} {self.name}{' array' if self.dtype else ''}"


def sampled(
    function: Callable[..., Any], name: str, kind: str, array_kind: str, *, gives: type = int, **fixed: object
) -> list[Parameter]:
    """A sampler's parameter, in single draws and in arrays."""
    dtype = np.int64 if gives is int else np.float64
    text = function.__name__ + ("".join(f" {key}={value}" for key, value in fixed.items()))
    return [
        Parameter(text, name, kind, lambda value, source: function(**{name: value}, **fixed, source=source), gives),
        Parameter(
            text,
            name,
            array_kind,
            lambda value, source: function(**{name: value}, size=(2, 3), **fixed, source=source),
            dtype=dtype,
        ),
    ]


def response(name: str, kind: str) -> list[Parameter]:
    def single(value: object, source: Source) -> object:
        return keep_or_replace(**{"values": 1, "k": 3, "keep": 0.5, name: value}, source=source)

    def array(value: object, source: Source) -> object:
        return keep_or_replace(**{"values": np.ones((2, 3), int), "k": 3, "keep": 0.5, name: value}, source=source)

    return [
        Parameter("keep_or_replace", name, kind, single, int),
        Parameter("keep_or_replace", name, kind, array, dtype=np.int64),
    ]


ON_UNITS = {"grid": Grid(0), "gives": float}
PARAMETERS = [
    *sampled(bernoulli, "p", "probability", "probability"),
    *sampled(bernoulli_exp, "x", "not negative", "not negative"),
    *sampled(uniform, "n", "any count", "no count"),
    *sampled(geometric, "scale", "scale", "scale of an array"),
    *sampled(discrete_laplace, "scale", "scale", "scale of an array"),
    *sampled(discrete_gaussian, "scale", "scale", "scale of an array"),
    *sampled(discrete_gaussian, "variance", "scale", "scale of an array"),
    *sampled(grid_laplace, "scale", "scale on its own grid", "scale on its own grid", gives=float),
    *sampled(grid_gaussian, "scale", "scale on its own grid", "scale on its own grid", gives=float),
    *sampled(grid_laplace, "scale", "scale on a given grid", "scale on a given grid", **ON_UNITS),
    *sampled(grid_gaussian, "scale", "scale on a given grid", "scale on a given grid", **ON_UNITS),
    *response("k", "no count"),
    *response("keep", "probability"),
    Parameter("odds", "epsilon", "not negative", lambda value, _: odds(value)),
    Parameter("odds", "k", "any count", lambda value, _: odds(1, value)),
    Parameter("bernoulli of odds", "epsilon", "not negative", lambda v, s: bernoulli(odds(v), source=s), int),
    Parameter("bernoulli of odds", "k", "any count", lambda v, s: bernoulli(odds(1, v), source=s), int),
    Parameter("keep_or_replace", "values", "answer", lambda v, s: keep_or_replace(v, 3, 0.5, source=s)),
    Parameter("Grid", "exponent", "exponent", lambda value, _: Grid(value)),
    Parameter("Grid.of", "scale", "scale on its own grid", lambda value, _: Grid.of(value)),
    Parameter("Grid.index", "value", "any number", lambda value, _: Grid(-3).index(value), int),
]


def refused(call: Callable[[Source], object], name: str) -> None:
    """The call raises Invalid naming the parameter, and nothing was drawn, now or for later."""
    tape = Tape(1)
    with pytest.raises(Invalid) as refusal:
        call(tape)
    text = str(refusal.value)
    assert isinstance(refusal.value, ValueError)
    assert re.search(rf"\b{name}\b", text), f"{name!r} is not named in: {text}"
    assert len(text) < MAX_MESSAGE, len(text)
    assert tape.used == 0 and tape.stock == {}


@pytest.mark.timeout(5)
@pytest.mark.parametrize("label", VALUES)
@pytest.mark.parametrize("parameter", PARAMETERS, ids=str)
def test_a_parameter_is_refused_by_name_or_answered(parameter: Parameter, label: str) -> None:
    value = VALUES[label]
    accepted = ACCEPTED[parameter.kind]
    if parameter.name == "values" and isinstance(value, np.ndarray):
        accepted = ACCEPTED["answers"]
    if label not in accepted:
        refused(lambda tape: parameter.call(value, tape), parameter.name)
        return
    tape = Tape(1)
    for _ in range(2):  # the second time from what was remembered and drawn ahead
        answer = parameter.call(value, tape)
        if parameter.gives:
            assert type(answer) is parameter.gives
        if parameter.dtype:
            assert isinstance(answer, np.ndarray)
            assert answer.shape == (2, 3) and answer.dtype == parameter.dtype


SIZES: dict[str, object] = {
    "1.0": 1.0,
    "-1": -1,
    "True": True,
    "text": "3",
    "(2, -1)": (2, -1),
    "(2.0,)": (2.0,),
    "(True,)": (True,),
    "[2]": [2],
    "NaN": math.nan,
    "complex": 1j,
    "10^30": 10**30,
    "2^62": 2**62,
    "(2^31, 2^31)": (2**31, 2**31),
    "100 axes": (1,) * 100,
    "10,000 digits": 10**9_999,
}
SAMPLERS: dict[str, Callable[..., Any]] = {
    "bernoulli": lambda size, source: bernoulli(0.3, size, source=source),
    "bernoulli of odds": lambda size, source: bernoulli(odds(1), size, source=source),
    "bernoulli_exp": lambda size, source: bernoulli_exp(0.3, size, source=source),
    "uniform": lambda size, source: uniform(10, size, source=source),
    "uniform 2^50": lambda size, source: uniform(2**50, size, source=source),
    "geometric": lambda size, source: geometric(10, size, source=source),
    "discrete_laplace": lambda size, source: discrete_laplace(10, size, source=source),
    "discrete_laplace 2^50": lambda size, source: discrete_laplace(2**50, size, source=source),
    "discrete_gaussian": lambda size, source: discrete_gaussian(10, size, source=source),
    "discrete_gaussian variance": lambda size, source: discrete_gaussian(variance=7, size=size, source=source),
    "grid_laplace": lambda size, source: grid_laplace(10, size, source=source),
    "grid_gaussian": lambda size, source: grid_gaussian(10, size, source=source),
}


@pytest.mark.timeout(5)
@pytest.mark.parametrize("size", SIZES.values(), ids=SIZES)
@pytest.mark.parametrize("sampler", SAMPLERS.values(), ids=SAMPLERS)
def test_a_size_that_is_none_is_refused_by_name(sampler: Callable[..., Any], size: object) -> None:
    refused(lambda tape: sampler(size, tape), "size")


@pytest.mark.timeout(5)
@pytest.mark.parametrize("size", [0, 1, 5, np.int64(3), (), (0,), (2, 3), (2, 0, 3), (1, 1, 1)], ids=str)
@pytest.mark.parametrize("sampler", SAMPLERS)
def test_an_array_has_the_shape_that_was_asked_for(sampler: str, size: int | tuple[int, ...]) -> None:
    array = SAMPLERS[sampler](size, Tape(2))
    assert isinstance(array, np.ndarray)
    assert array.shape == (size if isinstance(size, tuple) else (size,))
    assert array.dtype == (np.float64 if sampler.startswith("grid") else np.int64)
    assert array.flags.writeable and array.flags.c_contiguous


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_a_single_draw_is_a_plain_python_number(sampler: str) -> None:
    tape = Tape(2)
    for _ in range(3):  # the first without a block, the others from one
        assert type(SAMPLERS[sampler](None, tape)) is (float if sampler.startswith("grid") else int)


def test_the_scale_of_an_array_is_bounded_by_its_integers() -> None:
    for sampler in (discrete_laplace, discrete_gaussian, geometric):
        assert sampler(2**56, 1, source=Tape(1)).dtype == np.int64
        refused(lambda tape, draw=sampler: draw(2**58, 1, source=tape), "scale")


@pytest.mark.parametrize("arguments", [{}, {"scale": None}, {"variance": None}, {"scale": 1, "variance": 1}], ids=str)
def test_a_gaussian_has_either_a_scale_or_a_variance(arguments: dict[str, Any]) -> None:
    refused(lambda tape: discrete_gaussian(**arguments, source=tape), "scale or variance")


def test_uniform_arrays_reach_up_to_2_to_the_63() -> None:
    assert uniform(2**63, 4, source=Tape(1)).dtype == np.int64
    for n in (2**63 + 1, 2**64, 2**70):
        refused(lambda tape, n=n: uniform(n, 4, source=tape), "n")
    assert 0 <= uniform(2**63 + 1, source=Tape(1)) <= 2**63


def test_a_single_uniform_integer_has_a_longest_length() -> None:
    assert uniform((1 << 65_536) - 1, source=Tape(1)).bit_length() <= 65_536
    refused(lambda tape: uniform(1 << 65_537, source=tape), "n")


ANSWERS: dict[str, object] = {
    "list": [0, 1],
    "list of one": [1],
    "empty list": [],
    "tuple": (0, 1),
    "floats": np.array([0.0, 1.0]),
    "booleans": np.array([True, False]),
    "a boolean": np.True_,
    "objects": np.array([0, 1], object),
    "texts": np.array(["0", "1"]),
    "negative": np.array([0, -1]),
    "k itself": np.array([0, 3]),
    "int8 below zero": np.array([0, -128], np.int8),
    "uint64 above int64": np.array([0, 2**64 - 1], np.uint64),
    "big-endian uint64": np.array([0, 2**64 - 1], ">u8"),
    "a number above int64": 2**64,
    "a number far above": 10**30,
    "one of 10,000 digits": 10**9_999,
    "k": 3,
    "-1": -1,
    "1.0": 1.0,
    "np.float64": np.float64(1),
}


@pytest.mark.timeout(5)
@pytest.mark.parametrize("values", ANSWERS.values(), ids=ANSWERS)
def test_answers_outside_the_choices_are_refused(values: object) -> None:
    refused(lambda tape: keep_or_replace(values, 3, 0.5, source=tape), "values")


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", ">i4", ">u8"])
def test_answers_of_any_integer_type_are_taken(dtype: str) -> None:
    values = np.array([[0, 1, 2], [2, 1, 0]], dtype)
    for given in (values, values.T, values[:, ::-1], np.asfortranarray(values), values[:0]):
        before = given.copy()
        kept = keep_or_replace(given, 3, 1, source=Tape(1))
        assert isinstance(kept, np.ndarray)
        assert kept.dtype == np.int64 and kept.shape == given.shape
        assert (kept == given).all() and (given == before).all()
        moved = keep_or_replace(given, 3, 0, source=Tape(1))
        assert (moved != given).all() and (given == before).all()
    assert type(keep_or_replace(values[0, 1], 3, 0.5, source=Tape(1))) is int


def test_randomized_response_has_at_most_2_to_the_62_choices() -> None:
    for values in (0, 2**62 - 1, np.array([0, 2**62 - 1])):
        keep_or_replace(values, 2**62, 0.5, source=Tape(1))
        refused(lambda tape, given=values: keep_or_replace(given, 2**62 + 1, 0.5, source=tape), "k")


@pytest.mark.parametrize("exponent", [-1074, -1, 0, 1, 970])
def test_a_grid_may_be_as_fine_and_as_coarse_as_floats(exponent: int) -> None:
    assert Grid(exponent).step == Fraction(2) ** exponent
    assert Grid(np.int64(exponent)).step == Fraction(2) ** exponent
    assert Grid(exponent) == Grid(np.int64(exponent))


@pytest.mark.parametrize(
    "exponent", [-1075, 972, -(10**30), 10**30, 10**9_999, 1.0, Fraction(1), np.float64(1)], ids=shown
)
def test_a_grid_beyond_floats_is_refused(exponent: object) -> None:
    refused(lambda _: Grid(exponent), "exponent")  # type: ignore[arg-type]


@pytest.mark.parametrize("grid", [0, 1, "", "x", (), [1], 0.5, False, Fraction(1, 2)], ids=repr)
@pytest.mark.parametrize("sampler", [grid_laplace, grid_gaussian])
def test_what_is_no_grid_is_refused_by_name(sampler: Callable[..., object], grid: object) -> None:
    refused(lambda tape: sampler(1, grid=grid, source=tape), "grid")


@pytest.mark.parametrize(
    "index", [2**53 + 1, -(2**53) - 1, 10**30, 10**9_999], ids=["2^53+1", "-2^53-1", "10^30", "long"]
)
def test_a_point_that_no_float_holds_is_refused(index: int) -> None:
    refused(lambda _: Grid(0).to_float(index), "index")
    if index.bit_length() < 64:
        refused(lambda _: Grid(0).to_float(np.array([0, index])), "index")


def test_the_least_integer_is_no_point_that_floats_hold() -> None:
    for exponent in (0, 970):
        refused(lambda _, exponent=exponent: Grid(exponent).to_float(np.array([-(2**63)])), "index")


@pytest.mark.parametrize("sampler", [grid_laplace, grid_gaussian])
def test_a_scale_of_too_many_steps_is_refused(sampler: Callable[..., object]) -> None:
    refused(lambda tape: sampler(2**46, grid=Grid(0), source=tape), "scale")
    assert type(sampler(2**46 - 1, grid=Grid(0), source=Tape(1))) is float
