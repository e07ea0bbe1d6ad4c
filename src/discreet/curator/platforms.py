"""Where a ledger can be kept: its locks and its marks are those of Linux and macOS."""

import sys

from discreet.errors import Refused

LOCKING = ("linux", "darwin")


def check_platform() -> None:
    """Nothing on Linux and macOS; elsewhere a ledger is Refused, since nothing there would keep two processes from spending one budget."""
    if sys.platform not in LOCKING:
        raise Refused(
            f"a ledger is kept on Linux and macOS, and this is {sys.platform}",
            code="platform",
            hint="ask on such a machine; noise, losses and calibration need no ledger",
        )
