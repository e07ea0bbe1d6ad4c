"""What the words of `discreet collect` mean: the possible answers of a campaign, and one person's answer among them."""

import csv
import re
from collections.abc import Iterable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.cli.collect_files import is_readable
from discreet.cli.flags import number
from discreet.errors import Invalid
from discreet.plan.visible import visible

if TYPE_CHECKING:
    from discreet.local.campaign import Campaign
    from discreet.local.choices import Choices
    from discreet.local.domain import AnswerDomain

EXAMPLES = "--answer bus --answer bike, --cells 1000, --between 0:100, --words a-z:12, or --attribute sex=f,m --attribute ward=A,B,C"
USUAL = 10**6  # people for whom a protocol is chosen, where nobody says how many there are
MOST_LETTERS = 1 << 12  # from one letter to another
MOST_SPELT = 60  # letters that are listed
SHOWN = 12  # answers that are listed
LONGEST = 40  # letters of an answer that are printed


def domain_of(
    answers: Sequence[str], cells: int | None, between: str | None, words: str | None, attributes: "AnswerDomain | None"
) -> "AnswerDomain":
    """The possible answers, said in exactly one way; else Invalid."""
    from discreet.local.choices import Choices
    from discreet.local.numbers import Numbers
    from discreet.local.words import Words

    ways = (tuple(answers) or None, cells, between, words, attributes)
    given = sum(each is not None for each in ways)
    if given != 1:
        said = "the possible answers are given in two ways" if given else "the possible answers are missing"
        raise Invalid(said, code="usage", hint=f"write {EXAMPLES}")
    if between is not None:
        return Numbers(*_range(between))
    if words is not None:
        return Words.new(*_spelling(words))
    return attributes or Choices(tuple(answers) if cells is None else cells)


def _spelling(text: str) -> tuple[str, int]:
    """Letters and the length of the longest word: a-z:12, or abcdef:4. A minus at an end is a letter.

    >>> _spelling("a-e0-2-:3")
    ('abcde012-', 3)
    """
    letters, colon, length = text.rpartition(":")
    if not colon or not length.isdecimal() or not length.isascii() or len(length) > 4:
        hint = "write it like --words a-z:12, with the length of the longest word"
        raise Invalid(f"--words {visible(text)!r} cannot be read", code="usage", hint=hint)
    spelt = re.sub("(.)-(.)", lambda found: _letters(found[1], found[2]), letters, flags=re.DOTALL)
    return spelt, int(length)


def _letters(first: str, last: str) -> str:
    if not 0 <= ord(last) - ord(first) < MOST_LETTERS:
        raise Invalid(f"there are no letters from {visible(first)} to {visible(last)}", code="usage", hint=EXAMPLES)
    return "".join(map(chr, range(ord(first), ord(last) + 1)))


def attributes_of(texts: Sequence[str], epsilon: Fraction, people: int) -> "AnswerDomain | None":
    """Several attributes, each with its answers: ward=A,B,C, or ward=9 for so many cells. None where there are none."""
    from discreet.local.attribute_choice import choose_attributes

    if not texts:
        return None
    found: dict[str, Choices | tuple[str, ...] | int] = {}
    for text in texts:
        name, equals, said = text.partition("=")
        if not equals or not name.strip() or not said.strip() or name.strip() in found:
            raise Invalid(f"--attribute {visible(text)!r} cannot be read", code="usage", hint=f"write {EXAMPLES}")
        found[name.strip()] = int(said) if said.isdecimal() and said.isascii() else _labels(said, text)
    if len(found) < 2:
        raise Invalid("of one attribute say its answers alone", code="usage", hint="write --answer A --answer B")
    return choose_attributes(found, epsilon, people)


def _labels(said: str, text: str) -> tuple[str, ...]:
    """Fields of a line of CSV, none of which is empty."""
    labels = tuple(each.strip() for each in next(csv.reader([said], skipinitialspace=True)))
    if not all(labels):
        raise Invalid(f"--attribute {visible(text)!r} has an empty answer", code="usage", hint=f"write {EXAMPLES}")
    return labels


def _range(text: str) -> tuple[Fraction, Fraction]:
    low, _, high = text.partition(":")
    try:
        return number(low.strip(), "low"), number(high.strip(), "high")
    except Invalid:
        raise Invalid(
            f"--between {visible(text)!r} cannot be read", code="usage", hint="write it like --between 0:100"
        ) from None


def protocol_for(domain: "AnswerDomain", epsilon: Fraction, people: int) -> str:
    """The protocol that is advised for these answers."""
    from discreet.local.choices import Choices
    from discreet.local.frequency import choose
    from discreet.local.hybrid import choose_mean
    from discreet.local.named_attributes import Attributes
    from discreet.local.numbers import Numbers
    from discreet.local.one_attribute import OneAttribute
    from discreet.local.prefixes import PrefixResponse
    from discreet.local.words import Words

    match domain:
        case Choices():
            return choose(domain.k, epsilon, people).protocol.name
        case Numbers():
            return choose_mean(epsilon, domain.low, domain.high, domain.steps).name
        case Attributes():
            return OneAttribute.name
        case Words():
            return PrefixResponse.name
    raise Invalid(f"there is no advice for {domain.kind}", code="usage", hint="say --protocol NAME")


def campaign_at(path: str) -> "Campaign":
    """The campaign in a file; Invalid where there is none."""
    from discreet.local.campaign import MOST_TEXT, Campaign

    file = Path(path)
    if not is_readable(file):
        raise Invalid(f"there is no file {path!r}", code="no-file", hint="`discreet collect new` makes a campaign")
    with file.open("rb") as opened:
        data = opened.read(MOST_TEXT + 2)
    try:
        return Campaign.from_json(data.decode("utf-8").removesuffix("\n").removesuffix("\r"))
    except (Invalid, UnicodeDecodeError) as error:
        if isinstance(error, Invalid) and error.code != "malformed":
            raise
        raise Invalid(
            f"{file.name!r} is not a campaign", code="malformed", hint="use the file that `discreet collect new` wrote"
        ) from None


def answer_of(domain: "AnswerDomain", words: Sequence[str]) -> Any:
    """One person's answer; Invalid, which does not say it, where it is not possible."""
    from discreet.local.named_attributes import Attributes
    from discreet.local.numbers import Numbers

    if isinstance(domain, Attributes):
        return _several(domain, words)
    if len(words) != 1:
        raise Invalid(
            f"there is one answer, got {len(words)}", code="usage", hint="put an answer of several words in quotes"
        )
    if isinstance(domain, Numbers):
        return _number(words[0], domain)
    return _label(words[0], domain) if hasattr(domain, "labels") else _word(words[0], domain)


def _number(word: str, domain: Any) -> Fraction:
    try:
        return number(word.strip(), "answer")
    except Invalid:
        raise _impossible("a number", possible(domain)) from None


def _word(word: str, domain: Any) -> str:
    try:
        domain.encoded(word)
    except Invalid:
        raise _impossible("a word that is possible", possible(domain)) from None
    return word


def _label(word: str, domain: Any) -> Any:
    """The label that is written so; a text, where a text and a number are."""
    found = [label for label in domain.labels if label_text(label) == word]
    if not found:
        raise _impossible("one of the answers", possible(domain))
    return next((each for each in found if isinstance(each, str)), found[0])


def _several(domain: Any, words: Sequence[str]) -> dict[str, Any]:
    """What name=answer says of each attribute."""
    known = {each.name: each.answers for each in domain.attributes}
    said = dict(_named(word, known) for word in words)
    if said.keys() != known.keys() or len(words) != len(known):
        raise Invalid(
            "an answer to each attribute is needed",
            code="usage",
            hint=" ".join(f"{visible(name)}=…" for name in known),
        )
    return {name: _label(word, known[name]) for name, word in said.items()}


def _named(word: str, names: Iterable[str]) -> tuple[str, str]:
    """A name, the longest that fits, as it may have = in it; and what is said of it."""
    name = max((each for each in names if word.startswith(f"{each}=")), key=len, default="")
    return name, word[len(name) + 1 :]


def _impossible(what: str, known: str) -> Invalid:
    return Invalid(f"the answer is not {what}", code="answer", hint=f"possible: {known}")


def short(words: str) -> str:
    """Text of others on a line of ours, cut off where it is long."""
    told = visible(words)
    return told if len(told) <= LONGEST else f"{told[: LONGEST - 1]}…"


def label_text(label: object) -> str:
    """An answer as it is written."""
    return str(label).lower() if isinstance(label, bool) else str(label)


def possible(domain: Any) -> str:
    """The possible answers, in words."""
    from discreet.local.named_attributes import Attributes
    from discreet.local.numbers import Numbers
    from discreet.local.words import Words

    match domain:
        case Numbers():
            return f"numbers from {float(domain.low):g} to {float(domain.high):g}"
        case Attributes():
            return "; ".join(f"{short(each.name)}: {possible(each.answers)}" for each in domain.attributes)
        case Words():
            return (
                f"words of {domain.shortest} to {domain.length} letters, out of {visible(domain.alphabet[:MOST_SPELT])}"
            )
    some = [short(label_text(each)) for each in domain.labels[:SHOWN]]
    return (
        ", ".join(some)
        if len(domain.labels) <= SHOWN
        else f"{some[0]}, {some[1]} … {short(label_text(domain.labels[-1]))}"
    )


def terms(campaign: "Campaign") -> list[str]:
    """The terms, for people to read before they answer."""
    return [
        visible(campaign.question),
        *str(campaign).split("\n")[1:],
        f"answers: {possible(campaign.domain)}",
        f"id: {campaign.id}",
    ]
