"""The trusted centre: who may ask what, what it costs, and a ledger that remembers every charge for ever."""

import sys

if sys.platform == "win32":
    # What the modules of this package import is not there: the reason is told instead of the name of a module.
    from discreet.curator.platforms import check_platform

    check_platform()
