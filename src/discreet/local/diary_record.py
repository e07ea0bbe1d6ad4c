"""What stands in a diary: which campaigns were answered, what that cost, and which permanent answers go on. It does no input or output."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from discreet.errors import Invalid, Refused
from discreet.exact import shown
from discreet.local.canonical import bytes_of, ratio_of, ratio_text, read, written

VERSION = 1
KEYS = frozenset({"answers", "epsilon", "lasting"})
HASH = 32  # bytes of the identity of a campaign, or of a series


@dataclass(frozen=True, slots=True)
class Answered:
    """What one campaign cost, and the bytes that were sent; none yet where only the charge stands."""

    charged: Fraction
    report: bytes | None = None


@dataclass(frozen=True, slots=True)
class DiaryRecord:
    """All that a diary knows: the total that is allowed, each campaign's answer, and each series' permanent answers by value.

    Losses add up (Dwork, McSherry, Nissim and Smith 2006), whichever campaigns there are and however they are chosen one after the
    other: with `charged` never more than `epsilon` is told in all.
    """

    epsilon: Fraction
    answers: Mapping[str, Answered] = field(default_factory=dict)
    lasting: Mapping[str, Mapping[int, bytes]] = field(default_factory=dict)

    @property
    def spent(self) -> Fraction:
        """The sum of all charges."""
        return sum((each.charged for each in self.answers.values()), Fraction(0))

    def report(self, campaign: str) -> bytes | None:
        """The bytes that were sent for this campaign, if any were."""
        return self.answers[campaign].report if campaign in self.answers else None

    def charged(self, campaign: str, price: Fraction) -> "DiaryRecord":
        """The record in which this campaign has cost so much at least; Refused where the total does not allow it.

        What a charge without a report paid for was never seen by anybody, so it pays for the next attempt. Invalid for what could be
        written down and not be read again.
        """
        _hash(campaign)
        ratio_text(price, "price")
        paid = self.answers[campaign].charged if campaign in self.answers else Fraction(0)
        if self.spent + max(Fraction(0), price - paid) > self.epsilon:
            raise Refused(
                f"this costs ε = {shown(price)}, and {shown(self.epsilon - self.spent)} of {shown(self.epsilon)} are left in the diary",
                code="budget",
                hint="what is told next would be more than this person allowed",
            )
        return replace(self, answers={**self.answers, campaign: Answered(max(paid, price))})

    def reported(self, campaign: str, report: bytes) -> "DiaryRecord":
        """The record in which this campaign, which was charged, has its report."""
        return replace(self, answers={**self.answers, campaign: Answered(self.answers[campaign].charged, report)})

    def lasts(self, series: str, value: int, answer: bytes) -> "DiaryRecord":
        """The record in which this value has this permanent answer."""
        return replace(self, lasting={**self.lasting, series: {**self.lasting.get(series, {}), value: answer}})

    def to_json(self) -> str:
        """The one text of this record. It is as secret as the answers are: permanent ones stand beside what they are for."""
        answers = {
            campaign: {"charged": str(each.charged), "report": None if each.report is None else each.report.hex()}
            for campaign, each in self.answers.items()
        }
        lasting = {
            series: {str(value): answer.hex() for value, answer in kept.items()}
            for series, kept in self.lasting.items()
        }
        return written("diary", VERSION, {"answers": answers, "epsilon": str(self.epsilon), "lasting": lasting})

    @classmethod
    def from_json(cls, text: str) -> "DiaryRecord":
        """The record of its text; Invalid for any other text, and for one of another version."""
        fields = read(text, "diary", VERSION, KEYS)
        answers = {_hash(key): _answered(each) for key, each in _items(fields["answers"])}
        lasting = {
            _hash(key): {_cell(value): bytes_of(answer, "diary", least=1) for value, answer in _items(kept)}
            for key, kept in _items(fields["lasting"])
        }
        record = cls(ratio_of(fields["epsilon"], "epsilon"), answers, lasting)
        if record.to_json() != text or record.spent > record.epsilon:
            raise _damaged()
        return record


def _items(value: Any) -> list[tuple[str, Any]]:
    if not isinstance(value, dict):
        raise _damaged()
    return list(value.items())


def _hash(text: str) -> str:
    bytes_of(text, "diary", HASH, HASH)
    return text


def _cell(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise _damaged()
    return int(text)


def _answered(value: Any) -> Answered:
    if not isinstance(value, dict) or value.keys() != {"charged", "report"}:
        raise _damaged()
    charged = ratio_of(value["charged"], "charged")
    if charged < 0:
        raise _damaged()
    return Answered(charged, None if value["report"] is None else bytes_of(value["report"], "diary", least=1))


def _damaged() -> Invalid:
    return Invalid("this is not a diary", code="malformed", hint="pass the file that it was kept in, unchanged")
