"""Vectors that clients in every language share: `python -m tests.local.vectors` renews `vectors.json`.

A vector is a campaign's text with its identity and the 64-digit coins of its protocol, or words of a tape with the report that a client
has to make of them. The words lie on both sides of each coin. What a client makes of a tape is written down here once more, draw by draw.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction as F
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from discreet.local import Campaign
from discreet.local.attributes import AttributesProtocol
from discreet.local.choices import Choices
from discreet.local.domain import AnswerDomain
from discreet.local.hadamard import HadamardResponse
from discreet.local.hashing import LocalHashing
from discreet.local.hidden_attribute import HiddenAttribute
from discreet.local.hybrid import HybridMean
from discreet.local.kary import KaryResponse
from discreet.local.mean_protocol import MeanProtocol
from discreet.local.mean_response import MeanResponse
from discreet.local.memoised import Memoised
from discreet.local.named_attributes import Attribute, Attributes
from discreet.local.numbers import Numbers
from discreet.local.one_attribute import SAMPLED, OneAttribute
from discreet.local.piecewise import PiecewiseMean
from discreet.local.prefix_levels import PrefixLevel
from discreet.local.prefixes import PrefixResponse
from discreet.local.protocol import LocalProtocol, truth_down
from discreet.local.report import ClientReport, binding
from discreet.local.square_wave import SquareWave
from discreet.local.unary import UnaryEncoding
from discreet.local.window import ReportWindow
from discreet.local.words import Words
from tests.local.cases import LATER

PATH = Path(__file__).parent / "vectors.json"
ALL = 1 << 64


@dataclass
class WrittenTape:
    """A tape that is written while it is drawn from: words that decide, and others at random."""

    random: Random
    used: list[int] = field(default_factory=list)

    def word(self, *telling: int) -> int:
        """The next word: one of those that tell a wrong client, where they are words, or any."""
        able = [each for each in telling if 0 <= each < ALL]
        word = self.random.choice(able) if able and self.random.random() < 0.7 else self.random.getrandbits(64)
        self.used.append(word)
        return word

    def heads(self, chance: F) -> bool:
        """A coin whose probability has 64 binary digits."""
        threshold = chance * ALL
        assert threshold.denominator == 1
        return self.word(int(threshold) - 1, int(threshold)) < threshold

    def ratio(self, chance: F) -> bool:
        """A coin of any rational probability: as many digits as it takes."""
        digits, rest = divmod(chance * ALL, 1)
        word = self.word(int(digits), int(digits) - 1)
        return self.ratio(F(rest)) if word == digits and rest else word < digits

    def below(self, n: int) -> int:
        """A uniform integer; candidates that are too large are drawn again."""
        if n == 1:
            return 0
        mask = (1 << (n - 1).bit_length()) - 1
        while (value := self.word(n, n - 1, n | 1 << 63) & mask) >= n:
            pass
        return value

    def kept(self, value: int, k: int, truth: F) -> int:
        """A value that is kept, or another one; both are drawn."""
        other = self.below(k - 1)
        return value if self.heads(truth) else other + (other >= value)


def drawn(protocol: LocalProtocol, encoded: Any, words: WrittenTape) -> Any:
    """The report that a client makes of a tape."""
    match protocol:
        case Memoised():
            raise NotImplementedError(protocol.name)
        case KaryResponse():
            return words.kept(encoded, protocol.k, protocol.p)
        case UnaryEncoding():
            return np.array([words.heads(protocol.p if each == encoded else protocol.q) for each in range(protocol.k)])
        case LocalHashing():
            a, b = words.word(), words.word()
            own = protocol.bucket(*(np.array([each], np.uint64) for each in (a, b, encoded)))
            return a, b, words.kept(int(own[0]), protocol.buckets, protocol.p)
        case HadamardResponse():
            place = words.below(protocol.width)
            return 2 * place + words.kept((place & encoded).bit_count() % 2, 2, protocol.p)
        case MeanResponse():
            return at_an_end(protocol, rounded(protocol, encoded, words), words)
        case PiecewiseMean():
            return in_a_window(protocol.window, rounded(protocol, encoded, words), words)
        case HybridMean():
            place = rounded(protocol, encoded, words)
            one, other = at_an_end(protocol.bit, place, words), in_a_window(protocol.pieces.window, place, words) + 2
            return other if words.heads(protocol.share) else one
        case SquareWave():
            cell = min(int((encoded - protocol.low) / protocol.step), protocol.steps - 1)
            return in_a_window(protocol.window, cell, words)
        case PrefixResponse():
            place, level, first = list(protocol.parts())[words.below(len(protocol.levels))]
            cell = words.below(level.cells)
            row, coefficient = divmod(cell, level.columns)
            (column,) = protocol.columns(place, np.array([encoded]), np.array([row])).tolist()
            return 2 * (first + cell) + words.kept((coefficient & column).bit_count() % 2, 2, protocol.p)
        case OneAttribute():
            place = words.below(len(protocol.parts))
            report = np.zeros((), protocol.row)
            report[SAMPLED], report[str(place)] = place, drawn(protocol.parts[place], encoded[place], words)
            return report[()]
        case HiddenAttribute():
            sampled, report = words.below(len(protocol.parts)), np.zeros((), protocol.row)
            for place, part in enumerate(protocol.parts):
                fake = words.below(part.k)
                report[str(place)] = drawn(part, encoded[place] if place == sampled else fake, words)
            return report[()]
    raise NotImplementedError(protocol.name)


def rounded(protocol: MeanProtocol, number: F, words: WrittenTape) -> int:
    """One of two places next to a number."""
    below, rest = divmod((number - protocol.low) / protocol.step, 1)
    return below + words.ratio(rest)


def at_an_end(protocol: MeanResponse, place: int, words: WrittenTape) -> int:
    """A place, told as an end of the range."""
    return words.kept(int(words.below(protocol.steps) < place), 2, protocol.p)


def in_a_window(window: ReportWindow, place: int, words: WrittenTape) -> int:
    """A code in the window of a place, or outside of it; both are drawn."""
    near, far = place + words.below(window.width), words.below(window.places - 1)
    return near if words.heads(window.inside) else far + window.width * (far >= place)


def coins(protocol: LocalProtocol) -> dict[str, F]:
    """The probabilities of a protocol's coins, by the names that they have in the script."""
    match protocol:
        case KaryResponse() | LocalHashing() | HadamardResponse():
            return {"truth": protocol.p}
        case UnaryEncoding():
            return {"own": protocol.p, "other": protocol.q}
        case MeanResponse() | PrefixResponse():
            return {"truth": protocol.p}
        case PiecewiseMean() | SquareWave():
            return {"inside": protocol.window.inside}
        case HybridMean():
            return {"share": protocol.share, **coins(protocol.bit), **coins(protocol.pieces)}
        case AttributesProtocol():
            parts = enumerate(protocol.parts)
            return {f"{place} {name}": each for place, part in parts for name, each in coins(part).items()}
    raise NotImplementedError(protocol.name)


ODD = (
    "",
    "é",
    "\x7f\x00\x1f\n\t\b\f\r",
    '"\\/',
    "\ud800",
    "\U0001f600",
    "\uffff",
    "\u2028",
    "bus",
    True,
    1,
    False,
    0,
    -1,
    (1 << 53) - 1,
)
EPSILONS = (F(1), F(1, 10**6), F(7, 3), F(20), F(10**80 + 7, 3 * 10**80))
ATTRIBUTES = Attributes(
    (
        Attribute("sex", ("f", "m"), "k-ary"),
        Attribute("Straße", 9, "unary"),
        Attribute("__proto__", (True, "x", 7), "hadamard"),
        Attribute("10", 17, "hashing"),
    )
)
RECORDS = [
    {"sex": "m", "Straße": 0, "__proto__": 7, "10": 0},
    {"10": 16, "__proto__": True, "sex": "f", "Straße": 8},
]
CHOICES: tuple[tuple[AnswerDomain, list[Any]], ...] = (
    (Choices(2), [0, 1]),
    (Choices(ODD), [*ODD]),
    (Choices(300), [0, 299]),
)
LARGE: tuple[tuple[AnswerDomain, list[Any]], ...] = (
    (Choices(1 << 20), [0, (1 << 20) - 1]),
    (Choices(65_537), [65_536, 255]),
)
NUMBERS: tuple[tuple[AnswerDomain, list[Any]], ...] = (
    (Numbers(0, 1, 10), [0, 1, 0.3, 5e-324, 0.1 + 0.2, 1 / 3]),
    (Numbers(F(-7, 3), 10**21), [1e21, -2.3, 1.5e16, 123456789, 1e-7, 2**53 - 1]),
    (Numbers(-1, 1, 1 << 16), [-1, 0.9999999999999999, -0.0]),
)
LEVELS = (PrefixLevel(2, 1, 64), PrefixLevel(4, 8, 32), PrefixLevel(13, 3, 1 << 16))
SPELT: tuple[tuple[AnswerDomain, list[Any]], ...] = (
    (
        Words("aé\U0001f600b", 13, bytes(range(16)), (*LEVELS[:2], PrefixLevel(9, 2, 512), LEVELS[2])),
        ["é\U0001f600", "b" * 13, "a"] * 4,
    ),
    (
        Words("".join(map(chr, range(100, 300))), 3, bytes(16), (PrefixLevel(2, 1, 1 << 16), PrefixLevel(3, 2, 4)), 3),
        ["e\x84\xff"],
    ),
)
CASES: tuple[tuple[str, tuple[tuple[AnswerDomain, list[Any]], ...]], ...] = (
    ("k-ary", CHOICES + LARGE),
    ("unary", CHOICES),
    ("hashing", CHOICES + LARGE),
    ("hadamard", CHOICES + LARGE),
    ("mean-response", NUMBERS),
    ("piecewise", NUMBERS),
    ("hybrid", NUMBERS),
    ("square-wave", NUMBERS),
    ("one-attribute", ((ATTRIBUTES, RECORDS),)),
    ("prefixes", SPELT),
    ("hidden-attribute", ((ATTRIBUTES, RECORDS),)),
)


def campaigns() -> Iterator[tuple[Campaign, list[Any]]]:
    """Campaigns of every protocol that the script knows, and answers in them."""
    for name, domains in CASES:
        for place, (domain, answers) in enumerate(domains):
            for epsilon in EPSILONS if place < 2 else EPSILONS[:1]:
                salt = bytes(range(16 + place))
                yield Campaign(f"Q{place} – \ud83d?", domain, name, epsilon, salt, LATER + place), answers


def report_of(campaign: Campaign, answer: Any, random: Random) -> dict[str, Any]:
    """The vector of one report."""
    words, protocol = WrittenTape(random), campaign.randomiser
    packed = protocol.pack(drawn(protocol, campaign.domain.encoded(answer), words))
    token = b"".join(words.word().to_bytes(8, "little") for _ in range(2))
    report = ClientReport(campaign.protocol, binding(campaign), token, packed)
    tape = " ".join(f"{each:x}" for each in words.used)
    return {"answer": answer, "bytes": report.to_bytes().hex(), "tape": tape}


def campaign_vector(campaign: Campaign, answers: list[Any]) -> dict[str, Any]:
    """The vector of one campaign; where the tape is long, or ε is not the first one, there are few reports."""
    random = Random(campaign.id)
    usual = campaign.epsilon == EPSILONS[0] and campaign.randomiser.bits < 200
    answers = answers if usual else answers[-1:]
    return {
        "coins": {name: str(int(each * ALL)) for name, each in coins(campaign.randomiser).items()},
        "id": campaign.id,
        "reports": [report_of(campaign, each, random) for each in answers],
        "text": campaign.to_json(),
    }


def truth_vector(random: Random) -> list[str]:
    """ε, k, and the integer over 2^64 that is the probability of the truth."""
    digits = random.choice([1, 3, 6, 40, 120])
    epsilon = F(
        random.randint(1, 20 * 10**digits), random.choice([10**digits, random.randint(10**digits, 3 * 10**digits)])
    )
    epsilon = min(max(epsilon, F(1, 10**6)), F(20))
    k = random.choice([2, random.randint(2, 1 << random.randint(2, 20)), 1 << 20])
    return [str(epsilon), str(k), str(int(truth_down(epsilon, k) * ALL))]


def vectors() -> dict[str, Any]:
    """All of them."""
    random = Random(7)
    return {
        "campaigns": [campaign_vector(*each) for each in campaigns()],
        "truths": [truth_vector(random) for _ in range(100)],
    }


def text() -> str:
    return json.dumps(vectors(), indent=1, ensure_ascii=True) + "\n"


if __name__ == "__main__":
    PATH.write_text(text(), "utf-8")
