"""One way to the rows of a ledger, whatever keeps them."""

from contextlib import AbstractContextManager
from typing import Protocol

from discreet.curator.page import Page
from discreet.errors import Fault


class Connection(Protocol):
    """One way to the rows. What goes wrong with it is raised as a Fault, after which it is closed and another one made."""

    def writing(self) -> AbstractContextManager[Page]:
        """A transaction in which nobody else writes; durable once the block has ended, undone if it raises or adds nothing."""

    def reading(self) -> AbstractContextManager[Page]:
        """One consistent look, which no writer waits for."""

    def check(self) -> None:
        """A Fault where the storage says of itself that it is damaged."""

    def close(self) -> None: ...


def unavailable(why: str) -> Fault:
    return Fault(
        f"the ledger cannot be read or written ({why})",
        code="ledger-unavailable",
        hint="nothing was released; it goes on by itself once this is mended",
    )
