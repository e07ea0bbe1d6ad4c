"""`python -m tests.golden` writes tests/golden/plans.txt anew: look at the difference before you commit it."""

from tests.golden.plans import FILE, written

FILE.write_text(written(), "utf-8")
print(f"{FILE.name} written")
