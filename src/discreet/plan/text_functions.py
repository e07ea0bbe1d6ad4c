"""The functions of texts: rows of the table in `functions`. Characters are code points, places are counted from 1.

No function makes a text of more than 10,000 characters of shorter ones: what would be longer is NULL, so that no question needs more
memory because of what is in a row. A place or a count that is no whole number is rounded, half away from zero.
"""

from fractions import Fraction
from math import isinf

from discreet.plan.facts import Facts
from discreet.plan.functions import E, FunctionRow, FunctionWords, Written, add
from discreet.plan.letters import capitals, small_letters
from discreet.plan.rounding import half_away
from discreet.plan.types import Type

LONGEST_MADE = 10_000  # characters
FAR = 2.0**40  # beyond every text, and so small that sums of two are exact
MOST_SLICED = 2.0**30  # characters of a slice: engines count them in 32 bits
REST = (1 << 31) - 1
"""The length of SUBSTRING without one."""
BLANK = " "

TEXT, INTEGER, NUMBER, BOOLEAN = Type.TEXT, Type.INTEGER, Type.NUMBER, Type.BOOLEAN


def _whole(x: float) -> float:
    """A place or a count, rounded; an infinity stays."""
    return x if isinf(x) else float(half_away(x))


def _cut(words: FunctionWords, x: E, low: float) -> E:
    """A double, which is not NULL, as an integer between these."""
    return words.floor_to_int(
        words.call("least", words.call("greatest", x, words.number(low)), words.number(MOST_SLICED))
    )


def _size(words: FunctionWords, text: E) -> E:
    """The length of a text, as a double."""
    return words.as_type(words.length(text), NUMBER)


# Letters.


def _lower(text: str) -> str:
    return text.translate(small_letters())


def _upper(text: str) -> str:
    return text.translate(capitals())


# Parts.


def _substring(text: str, start: float, length: float) -> str | None:
    """Places before the first are counted, and are empty, as in PostgreSQL."""
    first, count = max(min(_whole(start), FAR), -FAR), min(_whole(length), FAR)
    if count < 0:
        return None
    return text[int(max(first, 1.0)) - 1 : max(int(first + count) - 1, 0)]


def _write_substring(words: FunctionWords, text: E, start: E, length: E) -> E:
    first = words.call("least", words.call("greatest", words.rounded(start), words.number(-FAR)), words.number(FAR))
    count = words.call("least", words.rounded(length), words.number(FAR))
    shown = words.call("greatest", first, words.number(1.0))
    rest = words.infix(words.infix(first, "+", count), "-", shown)
    part = words.slice(text, _cut(words, shown, 1.0), _cut(words, rest, 0.0))
    there = words.infix(words.rounded(length), ">=", words.number(0.0))
    return words.when([(words.infix(start, "=", start), words.when([(there, part)]))])


def _left(text: str, count: float) -> str:
    """A negative count is of what is left out at the end."""
    size = _whole(count)
    return text[: int(min(size, FAR))] if size >= 0 else text[: max(len(text) + int(max(size, -FAR)), 0)]


def _write_left(words: FunctionWords, text: E, count: E) -> E:
    size, zero, first = words.rounded(count), words.number(0.0), words.whole(1)
    rest = words.infix(_size(words, text), "+", size)
    return words.when(
        [
            (words.infix(size, ">=", zero), words.slice(text, first, _cut(words, size, 0.0))),
            (words.infix(size, "<", zero), words.slice(text, first, _cut(words, rest, 0.0))),
        ]
    )


def _right(text: str, count: float) -> str:
    """A negative count is of what is left out at the beginning."""
    size = _whole(count)
    return text[max(len(text) - int(min(size, FAR)), 0) :] if size >= 0 else text[int(min(-size, FAR)) :]


def _write_right(words: FunctionWords, text: E, count: E) -> E:
    size, zero, one = words.rounded(count), words.number(0.0), words.whole(1)
    before = words.infix(_size(words, text), "-", size)
    without = words.infix(zero, "-", size)
    most = words.whole(int(MOST_SLICED))

    def behind(place: E) -> E:
        return words.slice(text, words.infix(_cut(words, place, 0.0), "+", one), most)

    return words.when(
        [(words.infix(size, ">=", zero), behind(before)), (words.infix(size, "<", zero), behind(without))]
    )


# Texts made of several.


def _append(first: str, second: str) -> str | None:
    return first + second if len(first) + len(second) <= LONGEST_MADE else None


def _write_append(words: FunctionWords, first: E, second: E) -> E:
    short = words.infix(words.infix(words.length(first), "+", words.length(second)), "<=", words.whole(LONGEST_MADE))
    return words.when([(short, words.call("concat", first, second))])


def _replace(text: str, old: str, new: str) -> str | None:
    """What is empty is nowhere. How long the result is, is known before it is made."""
    if not old:
        return text
    size = len(text) + text.count(old) * (len(new) - len(old))
    return text.replace(old, new) if size <= max(len(text), LONGEST_MADE) else None


def _write_replace(words: FunctionWords, text: E, old: E, new: E) -> E:
    size, left = _size(words, text), _size(words, words.call("replace", text, old, words.constant("")))
    places = words.infix(words.infix(size, "-", left), "/", _size(words, old))
    total = words.infix(left, "+", words.infix(places, "*", _size(words, new)))
    most = words.call("greatest", size, words.number(float(LONGEST_MADE)))
    return words.when(
        [
            (words.infix(words.length(old), "=", words.whole(0)), words.when([(words.infix(new, "=", new), text)])),
            (words.infix(total, "<=", most), words.call("replace", text, old, new)),
        ]
    )


# Texts in texts.


def _ends_with(words: FunctionWords, text: E, part: E) -> E:
    size, inside = words.length(text), words.length(part)
    first = words.infix(words.infix(size, "-", inside), "+", words.whole(1))
    fits = words.infix(size, ">=", inside)
    return words.when(
        [(fits, words.infix(words.slice(text, first, inside), "=", part)), (words.infix(size, "<", inside), fits)]
    )


def _text_function(name: str, says: str, **others: object) -> FunctionRow:
    """A row whose operands are written often, as texts are measured before anything is made of them."""
    takes = others.pop("takes", (TEXT,))
    gives = others.pop("gives", TEXT)
    return FunctionRow(name, takes, gives, says, makes_nan=False, written=Written.OFTEN, **others)  # type: ignore[arg-type]


add(
    _text_function(
        "lower",
        "the text in small letters, one for one; letters younger than Unicode 3.2 stay",
        meaning=_lower,
        write=lambda words, text: words.lowered(text),
        synonyms=("LCASE",),
    ),
    _text_function(
        "upper",
        "the text in capitals, one for one; ß stays",
        meaning=_upper,
        write=lambda words, text: words.uppered(text),
        synonyms=("UCASE",),
    ),
    _text_function(
        "trim",
        "the text without blanks at both ends, or without any of the characters of a second text; `TRIM(BOTH 'x' FROM t)` is the same",
        takes=(TEXT, TEXT),
        meaning=lambda text, characters: text.strip(characters),
        write=lambda words, text, characters: words.trimmed_right(words.trimmed_left(text, characters), characters),
    ),
    _text_function(
        "ltrim",
        "the same at the beginning alone; `TRIM(LEADING FROM t)`",
        takes=(TEXT, TEXT),
        meaning=lambda text, characters: text.lstrip(characters),
        write=lambda words, text, characters: words.trimmed_left(text, characters),
    ),
    _text_function(
        "rtrim",
        "the same at the end alone; `TRIM(TRAILING FROM t)`",
        takes=(TEXT, TEXT),
        meaning=lambda text, characters: text.rstrip(characters),
        write=lambda words, text, characters: words.trimmed_right(text, characters),
    ),
    _text_function(
        "substring",
        "so many characters from this place on, or all that follow; NULL of a negative length",
        takes=(TEXT, NUMBER, NUMBER),
        meaning=_substring,
        write=_write_substring,
        synonyms=("SUBSTR",),
    ),
    _text_function(
        "left",
        "so many characters at the beginning; of a negative number all but so many at the end",
        takes=(TEXT, NUMBER),
        meaning=_left,
        write=_write_left,
    ),
    _text_function(
        "right",
        "so many characters at the end; of a negative number all but so many at the beginning",
        takes=(TEXT, NUMBER),
        meaning=_right,
        write=_write_right,
    ),
    _text_function(
        "replace",
        "the text with a third one wherever it has a second one; NULL where that is longer than 10,000 characters",
        takes=(TEXT, TEXT, TEXT),
        meaning=_replace,
        write=_write_replace,
    ),
    _text_function(
        "append",
        "one text behind another; NULL where that is longer than 10,000 characters",
        takes=(TEXT, TEXT),
        meaning=_append,
        write=_write_append,
        form="{} || {}",
    ),
    _text_function(
        "strpos",
        "the place of a second text in a first one, from 1; 0 where it is not there; `POSITION('x' IN t)` is the same",
        takes=(TEXT, TEXT),
        gives=INTEGER,
        meaning=lambda text, part: text.find(part) + 1,
        write=lambda words, text, part: words.as_type(words.place(text, part), INTEGER),
        facts=lambda text, part: Facts(Fraction(0), None, True, text.nullable or part.nullable),
        synonyms=("INSTR",),
    ),
    _text_function(
        "contains",
        "whether a text has another one in it",
        takes=(TEXT, TEXT),
        gives=BOOLEAN,
        meaning=lambda text, part: part in text,
        write=lambda words, text, part: words.infix(words.place(text, part), ">", words.whole(0)),
    ),
    _text_function(
        "starts_with",
        "whether a text begins with another one",
        takes=(TEXT, TEXT),
        gives=BOOLEAN,
        meaning=str.startswith,
        write=lambda words, text, part: words.infix(words.slice(text, words.whole(1), words.length(part)), "=", part),
    ),
    _text_function(
        "ends_with",
        "whether a text ends with another one",
        takes=(TEXT, TEXT),
        gives=BOOLEAN,
        meaning=str.endswith,
        write=_ends_with,
    ),
)
