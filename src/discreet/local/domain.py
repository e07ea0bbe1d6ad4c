"""What answers a campaign takes: its domain, which is declared beforehand, and how a person's answer becomes what a protocol randomises."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self


class AnswerDomain(ABC):
    """The answers that can be given: all of them are known before anybody is asked."""

    __slots__ = ()
    kind: ClassVar[str]  # in a campaign's text

    @abstractmethod
    def encoded(self, value: Any) -> Any:
        """What a protocol randomises for a person's answer; Invalid, which does not say the answer, for one that is not in the domain."""

    @abstractmethod
    def record(self) -> Any:
        """The domain as a part of JSON."""

    @classmethod
    @abstractmethod
    def of_record(cls, record: dict[str, Any]) -> Self:
        """The domain of its record, which has this `kind`; Invalid for any other."""
