"""What can go wrong, and whose turn it is.

    DiscreetError
    ├── Invalid     (also ValueError)  an argument of a library call is unusable     exit 2
    ├── QueryError  (also ValueError)  a question cannot be answered as it is asked  exit 2
    ├── Refused                        a policy or a budget says no                  exit 3
    └── Fault                          something of ours is broken; nothing you sent exit 1

Every error carries a stable `code` for programs, a message for people, and a `hint` that says what to do next.
Messages speak of arguments, questions and schemas. They never hold a data value or a true count.
"""

from typing import ClassVar


class DiscreetError(Exception):
    """The root of every error this package raises on purpose."""

    exit_code: ClassVar[int] = 1
    default_code: ClassVar[str] = "error"

    def __init__(self, message: str, *, code: str | None = None, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.code = code or self.default_code
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}; {self.hint}" if self.hint else self.message

    def _render_traceback_(self) -> list[str]:
        """What a notebook shows (IPython asks for it): the message, the place in the question, and the hint, not our call stack."""
        notes = [line for note in getattr(self, "__notes__", ()) for line in str(note).splitlines()]
        return [f"{type(self).__name__}: {self.message}", *notes, *([f"hint: {self.hint}"] if self.hint else [])]


class Invalid(DiscreetError, ValueError):
    """An argument of a library call is unusable; nothing was drawn, spent or changed."""

    exit_code = 2
    default_code = "invalid"


class QueryError(DiscreetError, ValueError):
    """A question cannot be answered as it is asked; nothing was read or spent."""

    exit_code = 2
    default_code = "query"


class Refused(DiscreetError):
    """The policy or the budget does not allow it."""

    exit_code = 3
    default_code = "refused"


class Fault(DiscreetError):
    """The system found itself, or its machine, broken and stopped."""

    exit_code = 1
    default_code = "fault"
