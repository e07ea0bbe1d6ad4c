"""What many groups cost, and planning: `make bench`, or this file.

The data: 10 million rows of 1 million people, in 100,000 shops that are declared, and on 1 million pages that nobody declared, half of
the rows on a thousand of them. Plain DuckDB scans the Parquet file, warm, with 2 threads, and hands all groups to Python; ours has loaded
it once, as a curator does. "The engine" is what our own queries take in DuckDB, on the same data. Each question is asked anew.
Planning is of every golden question that is not refused, at two prices, with every cache of ours emptied before.
Options: --quick (a tenth of the rows, few repeats), --markdown (also write the section on many groups of docs/performance.md).
"""

import argparse
import os
import tempfile
import warnings
from datetime import UTC, datetime
from pathlib import Path

from parts.golden import planning
from parts.many import measured
from parts.page import renew
from parts.table import machine

SECTION = """
Written by `bench/questions.py --markdown`. CPU seconds of the process over all its threads: medians of {repeats} turns in which plain
DuckDB and ours alternate; ratios are medians of those of each turn. COUNT, SUM and AVG by a declared list of 100,000 shops; COUNT by the
pages, which nobody declared, 1,000,000 of them, half of the rows on a thousand: δ = 1e-8. A person counts with at most 5 rows in each of 3
groups. Plain DuckDB scans a zstd Parquet file, warm, with 2 threads, and hands all groups to Python; a curator has loaded the same file,
once. "The engine" is what our own queries take in DuckDB. Planning is from the text to the checked plan, of every golden question that is
answered, at two prices, the least of {planned} turns, with every cache of ours emptied before each.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    sizes, repeats, planned = ((1_000_000,), 2, 1) if options.quick else ((1_000_000, 10_000_000), 5, 3)
    # Several budgets for one file are what is compared here.
    warnings.filterwarnings("ignore", message="a new budget begins")
    tables = [planning(planned)]
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_STATE_HOME"] = folder
        tables += [measured(rows, repeats, Path(folder)) for rows in sizes]
    for table in tables:
        print(table.plain(), flush=True)
    if options.markdown:
        section = SECTION.format(repeats=repeats, planned=planned)
        section += "\n".join(table.markdown(3) for table in tables)
        renew("Many groups", f"{section}\n\nMeasured {datetime.now(UTC).date().isoformat()} on {machine()}.")


if __name__ == "__main__":
    main()
