"""What a picture of a privacy loss says in words, and its numbers as words, rounded to the worse side."""

from decimal import ROUND_CEILING, Context, Decimal
from typing import TYPE_CHECKING

from discreet.exact import to_float_up

if TYPE_CHECKING:
    from discreet.privacy.loss import PrivacyLoss


def facts(loss: "PrivacyLoss") -> list[str]:
    """What everybody should know, in sentences."""
    success = (
        f"Asked which of two data sets was used, equally likely and different in one {unit(loss)} only, "
        f"the best attacker is right at most {percent(loss.posterior())} of the time; a coin is right 50%."
    )
    failure = max(to_float_up(direction.failure) for direction in loss._directions)
    fails = (
        f"With probability {percent(failure)} the privacy loss is infinite: "
        "the output then shows for certain which data set was used."
    )
    unknown = "Only zCDP is known of a part of it, so that these are upper bounds, and the loss itself is not known."
    nothing = "Nothing is revealed: δ is 0 for every ε."
    silent = not failure and all(direction.largest == 0 for direction in loss._directions)
    said = ((success, True), (fails, failure > 0), (unknown, concentrated(loss)), (nothing, silent))
    return [fact for fact, holds in said if holds]


def unit(loss: "PrivacyLoss") -> str:
    return loss.relation.unit.value if loss.relation and loss.relation.unit else "unit"


def cases(loss: "PrivacyLoss") -> list[str]:
    """What is true in each direction, where they differ."""
    if len(loss._directions) == 1:
        return [""]
    return [f"the {unit(loss)} is in the data", f"the {unit(loss)} is not in the data"]


def concentrated(loss: "PrivacyLoss") -> bool:
    return any(direction.rho for direction in loss._directions)


def percent(probability: float) -> str:
    """Rounded up.

    >>> percent(0.691462461274013)
    '69.15%'
    """
    return f"{rounded_up(Decimal(repr(float(probability))).scaleb(2))}%"


def rounded_up(value: Decimal) -> str:
    """Four digits, never less than the value.

    >>> rounded_up(Decimal("0.12341")), rounded_up(Decimal("0.5")), rounded_up(Decimal("500004753423.3"))
    ('0.1235', '0.5', '5.001e+11')
    """
    return f"{float(Context(prec=4, rounding=ROUND_CEILING).create_decimal(value)):g}"
