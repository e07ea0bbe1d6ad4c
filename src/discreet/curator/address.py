"""Where the address of a server is found, which may hold a password: a policy names a variable or a file, never the address."""

import os
import re
from dataclasses import dataclass
from pathlib import Path

from discreet.errors import Invalid

SCHEMA = "discreet"
"""The schema of a database in which a ledger lies, where none is said."""

VARIABLE = "env:"
MOST_BYTES = 4096


@dataclass(frozen=True, slots=True)
class Address:
    """A variable of the environment, or a file, that holds the address; one of them."""

    variable: str | None = None
    file: Path | None = None

    def __post_init__(self) -> None:
        if (self.variable is None) is (self.file is None):
            raise Invalid("an address is in a variable or in a file: one of them must be named", code="address")

    @classmethod
    def of(cls, words: object) -> "Address":
        """The address that "env:NAME" names; what is anything else may be an address itself, and is not shown."""
        if not isinstance(words, str) or not re.fullmatch(rf"{VARIABLE}[A-Za-z_][A-Za-z0-9_]*", words):
            raise Invalid(
                "the address of a ledger names the variable that holds it, since it may hold a password",
                code="address",
                hint='write address = "env:DISCREET_LEDGER", or address_file = "ledger.address"',
            )
        return cls(variable=words.removeprefix(VARIABLE))

    def read(self) -> str:
        """The address itself, which no message shows."""
        if self.variable is not None:
            address = os.environ.get(self.variable, "")
        else:
            address = self._in_file()
        if not address.strip():
            raise Invalid(f"{self} holds no address", code="address", hint="write that of the server into it")
        return address.strip()

    def _in_file(self) -> str:
        try:
            with Path(str(self.file)).open("rb") as file:
                return file.read(MOST_BYTES).decode("utf-8")
        except OSError as error:
            raise Invalid(f"{self} cannot be read: {error.strerror}", code="address") from None
        except UnicodeDecodeError:
            raise Invalid(f"{self} is no text", code="address") from None

    def __str__(self) -> str:
        return f"the variable {self.variable}" if self.variable is not None else f"the file {str(self.file)!r}"
