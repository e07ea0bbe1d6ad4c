"""What a survey would release, and how fine; nothing is read or spent."""

from dataclasses import dataclass
from math import ceil
from typing import Any

from discreet.answer.digits import price
from discreet.curator.survey import choosing
from discreet.curator.survey.asking import AskedSurvey
from discreet.curator.survey.prices import KEYS, OF_PEOPLE
from discreet.plan.visible import visible

SURE = 1.645
"""Deviations that 19 of 20 draws of noise are above."""


@dataclass(frozen=True, slots=True, repr=False)
class SurveyPreview:
    """A survey that was not taken."""

    asked: AskedSurvey

    @property
    def shared_key(self) -> int | None:
        """How many people must share a key for it to be found in 19 of 20 surveys; None where keys are not looked for."""
        rule = self.asked.prices.keys
        return None if rule is None else ceil(rule.threshold + SURE * float(rule.scale))

    @property
    def shared_range(self) -> int:
        """How many people must have values between two powers of two for these to be found in 19 of 20 surveys."""
        return ceil((choosing.FOUND + SURE) * self.asked.prices.small.deviation)

    def as_data(self) -> dict[str, Any]:
        """As JSON has it."""
        asked, prices = self.asked, self.asked.prices
        return {
            "table": asked.surveyed.table,
            "columns": [column.name for column in asked.surveyed.columns],
            "left_out": list(asked.left_out),
            "epsilon": float(prices.epsilon),
            "delta": float(prices.delta),
            "relation": str(prices.relation),
            "confidence": 0.95,
            "error": {
                "people": prices.first.error / OF_PEOPLE,
                "people_with_a_value": prices.first.error,
                "people_by_rows": prices.rows.error if prices.several else None,
                "people_of_a_key": prices.keys and prices.keys.error(),
                "people_in_a_bin": prices.large.error,
            },
            "people_to_find_a_key": self.shared_key,
            "people_to_find_a_range": self.shared_range,
        }

    def to_json(self) -> dict[str, Any]:
        return self.as_data()

    def lines(self) -> list[str]:
        """As it is read."""
        asked, prices = self.asked, self.asked.prices
        unit = "people" if asked.surveyed.person is not None else "rows"
        names = ", ".join(column.name for column in asked.surveyed.columns) or "no column"
        lines = [
            f"a survey of {asked.surveyed.table} would release, of {names}:",
            f"  how many {unit} there are, ± {ceil(prices.first.error / OF_PEOPLE):,};"
            f" how many have a value, ± {ceil(prices.first.error):,}",
        ]
        if prices.several:
            lines.append(
                f"  how many rows people have, ± {ceil(prices.rows.error):,} at each of the rungs; how many rows there are"
            )
        if self.shared_key is not None and prices.keys is not None:
            most = f", of which a person counts in {KEYS} at most" if asked.surveyed.person is not None else ""
            lines.append(
                f"  keys that {self.shared_key:,} {unit} share (19 of 20 times){most}, ± {ceil(prices.keys.error()):,} each"
            )
        else:
            lines.append("  no keys: they need a delta")
        lines.append(
            f"  of numbers and dates a range, where {self.shared_range:,} {unit} are between two rungs,"
            f" and a histogram within it, ± {ceil(prices.large.error):,} a bin"
        )
        if asked.left_out:
            lines.append(f"  not asked about: {', '.join(asked.left_out)}")
        lines.append(
            f"± at 95 %. {price(float(prices.epsilon), float(prices.delta), str(prices.relation))}. Nothing was read or spent."
        )
        return [visible(line) for line in lines]

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def __repr__(self) -> str:
        return str(self)
