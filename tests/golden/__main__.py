"""`python -m tests.golden` writes tests/golden/plans.txt anew: look at the difference before you commit it.

Names of plans that are kept in digests.txt stay as they are; those of new questions are added.
"""

from tests.golden.plans import DIGESTS, FILE, digests, kept_digests, written

FILE.write_text(written(), "utf-8")
names = {**digests(), **kept_digests()}
DIGESTS.write_text("".join(f"{what}: {name}\n" for what, name in names.items()), "utf-8")
print(f"{FILE.name} and {DIGESTS.name} written")
