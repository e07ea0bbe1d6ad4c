"""What a finished plan can tell of its own size: noise that cannot be drawn, and answers that cannot be kept, cost nothing.

Whatever went wrong later would be a failure after the charge, and tell something of the data.
"""

from collections.abc import Iterator
from json.encoder import encode_basestring_ascii as quoted

from discreet.errors import QueryError
from discreet.plan.intervals import SMALL_BOTTOM
from discreet.plan.levels import rows_of
from discreet.plan.plan import Plan, Stage
from discreet.plan.scalar import Literal, Scalar, Value, children, is_key, type_of

MOST_SCALE = 1 << 55
"""Of noise in steps: an array of 64-bit integers holds it for certain."""

NUMBER = 24
"""Characters of a number at most."""

PER_RELEASED = 11
"""Characters of a released integer at most, as it is kept beside the rows: 8 bytes in base 64."""

BESIDE_ROWS = 1 << 24
"""Bytes of an answer that are for everything but its rows: the question, the plan, the receipt."""


def check_limits(plan: Plan, longest: int) -> None:
    """For a plan whose noise can be drawn, and whose answer has at most `longest` bytes: returns. For any other: raises QueryError."""
    sized: set[int] = set()
    for each in plan.decisions():
        _check_noise(each.decided)
        if id(each.domain) not in sized:  # the same for every limit that may be found
            sized.add(id(each.domain))
            _check_size(each, longest)


def _check_noise(stage: Stage) -> None:
    cells = len(stage.domain) if stage.levels else 1  # of sums, which are whole numbers of 64 bits, too
    for level in stage.levels:
        if level is not None:
            _check_noise(level)
    noises = [(each.said, each.mechanism) for each in stage.measurements]
    noises += [("what is read besides", noise) for reading in stage.readings for noise in reading.noises]
    for name, noise in noises:
        if noise is not None and noise.scale * cells > MOST_SCALE:
            raise QueryError(
                f"the noise of {name} would be larger than can be drawn",
                code="noise-too-large",
                hint="ask at a higher price, or with tighter bounds or fewer rows of a person",
            )


def _check_size(plan: Plan, longest: int) -> None:
    rows = rows_of(plan)
    size = rows * width(plan) + PER_RELEASED * _released(plan.decided)
    if size > longest - BESIDE_ROWS:
        raise QueryError(
            f"the answer has {rows:,} rows of {len(plan.question.outputs):,} columns, which is too large to be kept",
            code="answer-too-large",
            hint="ask for fewer columns at a time, or group by fewer keys",
        )


def width(plan: Plan) -> int:
    """Bytes of one row of the answer, at most: its values, their errors, intervals and flags, each under its name."""
    keys = [max(map(_length, {group[i] for group in plan.domain}), default=0) for i in range(len(plan.question.keys))]
    total = 4 * len("{},")
    for output in plan.question.outputs:
        name = _length(output.name) + 8  # what stands around it, and a number behind a name that was taken
        numeric = type_of(output.value).numeric
        total += name + (NUMBER if numeric else max([NUMBER, *keys, *map(_length, _constants(output.value))]))
        if not is_key(output.value):
            total += 3 * name + max(3 * NUMBER, len(SMALL_BOTTOM) + 3 * len("null"))
    return total


def _released(stage: Stage) -> int:
    """How many integers are released, of all levels."""
    levels = (level for level in stage.levels if level is not None)
    return len(stage.domain) * stage.width + sum(map(_released, levels))


def _length(value: Value) -> int:
    return len(quoted(str(value)))


def _constants(scalar: Scalar) -> Iterator[Value]:
    if isinstance(scalar, Literal):
        yield scalar.value
    for each in children(scalar):
        yield from _constants(each)
