"""What hostile people send: reports, campaigns and states that are damaged in every way we know, for every protocol that is registered."""

import json
from collections.abc import Iterator
from contextlib import suppress
from fractions import Fraction as F
from math import exp
from random import Random
from typing import Any

import numpy as np

from discreet.errors import Invalid
from discreet.local import Campaign, ClientReport
from discreet.local.choices import Choices
from discreet.local.domain import AnswerDomain
from discreet.local.examples import SMALL
from discreet.local.named_attributes import Attributes
from discreet.local.numbers import Numbers
from discreet.local.protocols import CODES, PROTOCOLS
from discreet.local.report import HEAD, binding
from discreet.local.rounds import Rounds
from discreet.local.words import Words
from tests.local.cases import LATER

SALT = bytes(range(16))


def campaigns_of_all() -> list[Campaign]:
    """Campaigns of every registered protocol, for each small domain that it is for."""
    made = []
    for name in PROTOCOLS:
        for _, domain, _, _ in SMALL:
            with suppress(Invalid):  # a domain of another kind
                made.append(Campaign("How are you?", domain, name, 1, SALT, LATER))
    assert {each.protocol for each in made} == PROTOCOLS.keys()
    return made


def a_report(one: Campaign, random: Random) -> ClientReport:
    """A report as a client makes it, of an answer of the small domain."""
    answers = next((first, second) for _, domain, first, second in SMALL if domain == one.domain)
    protocol = one.randomiser
    told = protocol.randomise(one.domain.encoded(random.choice(answers)))
    return ClientReport(one.protocol, binding(one), random.randbytes(16), protocol.pack(told))


# Values of JSON that are not what is expected, of every type, and texts that are hard to read.
ODD_WORDS = r"""
null true false [] {} 0 -1 1 1.0 1e0 -0 0.5 NaN Infinity -Infinity 1e999 9007199254740993 18446744073709551616
"" "1/0" "1/1" "-1" "+1" "01" "1e3" "0x10" "__proto__" "k-ary" "AA" "0g" "a\/b" "\ud800" "\udc00\ud800" "\u0000" "é" "\u00E9" "٣" "0٣"
{"__proto__":{}} [[[[[[]]]]]] {"a":{"a":{"a":1}}} {"kind":"numbers"} {"kind":["numbers"]} {"kind":"attributes","attributes":[]}
[1,1] ["a","a"] ["a",true,1]
"""
LONG = (
    "9" * 400,
    "9" * 5000,
    "[" * 2000 + "]" * 2000,
    "[" * 100_000,
    '"' + "ab" * 300 + '"',
    '["' + "x" * 10_001 + '","y"]',
)
ODD = (*ODD_WORDS.split(), '"1 "', '" 1"', '"1\\n"', '"\U0001f600"', *LONG)


def parts_of(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to each part of a record of JSON."""
    yield path
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in pairs:
        yield from parts_of(each, (*path, key))


def put(value: Any, path: tuple[Any, ...], text: str) -> str:
    """The text of a record in which another text stands for one part."""
    if not path:
        return text
    whole = json.loads(json.dumps(value))
    part = whole
    for key in path[:-1]:
        part = part[key]
    part[path[-1]] = "<here>"
    return json.dumps(whole, sort_keys=True, separators=(",", ":")).replace('"<here>"', text)


def changed_text(text: str, random: Random) -> str:
    """The text of a record, damaged: a part of it exchanged, left out or doubled, its letters changed, or another spelling of the same."""
    record = json.loads(text)
    path = random.choice([each for each in parts_of(record) if each] or [()])
    part = record
    for key in path:
        part = part[key]
    match random.randrange(12):
        case 0 | 1 | 2:
            return put(record, path, random.choice(ODD))
        case 3:
            return put(record, path, json.dumps(near(part, random)))
        case 4:
            place = random.randrange(len(text))
            return text[:place] + random.choice('",:{}[]\\ \n0e-\u00e9\ud800\x00') + text[place + random.randrange(2) :]
        case 5:
            return text[: random.randrange(len(text))]
        case 6:
            return text + random.choice(['"', " ", "\n", "\x00", "}", text, "0" * 50])
        case 7:
            key = random.choice([*record])
            return json.dumps(
                {name: each for name, each in record.items() if name != key}, sort_keys=True, separators=(",", ":")
            )
        case 8:
            return json.dumps(
                record | {random.choice(["a", "zz", "__proto__", "\U0001f600"]): None},
                sort_keys=True,
                separators=(",", ":"),
            )
        case 9:  # a key twice
            return text[:-1] + f',"version":{random.choice(["1", "2"])}}}'
        case 10:
            return json.dumps(
                record,
                sort_keys=random.random() < 0.5,
                indent=random.choice([None, 1]),
                ensure_ascii=random.random() < 0.5,
            )
    return text.replace(*random.choice([("1", "2"), ("0", "1"), ("a", "A"), ("c", "\\u0063"), ("e", "E"), (":", " :")]))


def near(part: Any, random: Random) -> Any:
    """Something of the same type that is nearly the same."""
    match part:
        case bool():
            return not part
        case int():
            return part + random.choice([-1, 1, 1 << 31, 1 << 53, 1 << 62, -(1 << 63), 10**30])
        case str():
            place, more = random.randrange(len(part) + 1), random.choice(["0", "ff", "", "x", "\u00e9", "/2"])
            return random.choice([part[:place] + more + part[place + random.randrange(3) :], part.upper(), part[::-1]])
        case list():
            return random.choice([part[:-1], part + part[:1], part[::-1], [part]])
    return {**part, "a": 1}


def changed_bytes(data: bytes, others: list[bytes], random: Random) -> bytes:
    """The bytes of a report, damaged: bits flipped, cut off, made longer, of noise, or mixed with another report."""
    raw, other = bytearray(data), random.choice(others)
    match random.randrange(9):
        case 0 | 1:
            for _ in range(random.randint(1, 3)):
                raw[random.randrange(len(raw))] ^= 1 << random.randrange(8)
        case 2:
            raw = raw[: random.randrange(len(raw))]
        case 3:
            raw += random.choice([random.randbytes, bytes])(random.randint(1, 40))
        case 4:
            raw = bytearray(random.randbytes(random.randrange(90)))
        case 5:
            raw[18:34] = random.randbytes(16)  # a token of somebody's own, which may count
            raw[HEAD:] = random.randbytes(len(raw) - HEAD + random.choice([0, 0, 0, 1, -1]))
        case 6:
            raw[1] = random.choice([*CODES, 0, 255])
        case 7:
            raw[HEAD:] = other[HEAD:]
        case _:
            raw[2:18] = other[2:18]
    return bytes(raw)


def fits(name: str, domain: AnswerDomain, epsilon: float, answer: bytes) -> bool:
    """A second reading of packed answers: whether a client of these terms could have sent it, by the formulas of the papers."""
    number, k = int.from_bytes(answer, "little"), getattr(domain, "k", 0)
    match name, domain:
        case "k-ary" | "memo-k-ary", _:
            return len(answer) == 1 and number < k
        case "unary", _:
            return len(answer) == -(-k // 8) and number < 2**k
        case "hadamard", _:
            return len(answer) == 1 and number < 2 * 2 ** np.ceil(np.log2(k))
        case "hashing", _:
            return len(answer) == 17 and answer[16] <= round(exp(epsilon))
        case "memo-hashing", Rounds(first=first):
            return len(answer) == 17 and answer[16] <= round(exp(first))
        case "mean-response", _:
            return len(answer) == 1 and number < 2
        case "piecewise", Numbers(steps=steps):
            return len(answer) == 1 and number < steps + max(1, round(steps * exp(-epsilon / 2)))
        case "hybrid", Numbers(steps=steps):
            return len(answer) == 1 and number < 2 + (steps + max(1, round(steps * exp(-epsilon / 2)))) * (
                epsilon > 0.61
            )
        case "square-wave", Numbers(steps=steps):
            e = exp(epsilon)
            width = max(1, round(steps * (epsilon * e - e + 1) / (e * (e - 1 - epsilon))))
            return len(answer) == 1 and number < steps + width - 1
        case "one-attribute", Attributes(attributes=parts):
            sizes = [length(each.protocol, each.answers) for each in parts]
            if len(answer) != 1 + max(sizes) or answer[0] >= len(parts):
                return False
            part, end = parts[answer[0]], 1 + sizes[answer[0]]
            return fits(part.protocol, part.answers, epsilon, answer[1:end]) and not any(answer[end:])
        case "hidden-attribute", Attributes(attributes=parts):
            for each in parts:
                own, answer = answer[: (size := length(each.protocol, each.answers))], answer[size:]
                if not fits(each.protocol, each.answers, epsilon, own):
                    return False
            return not answer
        case "prefixes", Words(levels=levels):
            codes = 2 * sum(level.rows * level.columns for level in levels)
            return len(answer) == -(-(codes - 1).bit_length() // 8) and number < codes
    raise NotImplementedError(f"say here what a packed answer of {name} is")


def length(name: str, choices: Choices) -> int:
    """The bytes of a report about one attribute of few cells."""
    return 17 if name == "hashing" else 1


def token_of(report: bytes | str, one: Campaign) -> bytes | None:
    """The token of a report that has to count if it is new, by a second reading of the format; None for one that must not count."""
    if isinstance(report, str):
        try:
            record = json.loads(report)
            token, answer = bytes.fromhex(record["token"]), bytes.fromhex(record["answer"])
        except (ValueError, TypeError, KeyError, RecursionError):
            return None
        again = (
            '{"answer":"%s","campaign":"%s","format":"discreet.local.report","protocol":"%s","token":"%s","version":1}'
        )
        if len(token) != 16 or again % (answer.hex(), one.id[:32], one.protocol, token.hex()) != report:
            return None
        report = bytes([1, PROTOCOLS[one.protocol].code]) + bytes.fromhex(one.id)[:16] + token + answer
    if report[:18] != bytes([1, PROTOCOLS[one.protocol].code]) + bytes.fromhex(one.id)[:16] or len(report) < HEAD:
        return None
    return report[18:34] if fits(one.protocol, one.domain, float(F(one.epsilon)), report[34:]) else None
