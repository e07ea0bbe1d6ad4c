"""Makes docs/gallery.md: thirty questions, each with its SQL, its price, its predicted error and a picture of one answer.

`.venv/bin/python docs/gallery.py` renews the page, of which every word is determined by the plans. With `draw` behind it, it also asks
every question of the made-up hospital and draws the answers anew, docs/pictures/gallery-*.svg: their noise is another one each time.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

from discreet import Answer, Curator, Preview
from discreet.cli.hospital import SEXES, WARDS, hospital

DOCS = Path(__file__).parent
PAGE, PICTURES = DOCS / "gallery.md", DOCS / "pictures"
PATIENTS = 20_000
MOST_VISITS = 40  # of one patient that count in a question; the hospital declares it
BUILDINGS = (
    "Old house",
    "Old house",
    "Garden wing",
    "Garden wing",
    "Tower",
    "Garden wing",
    "Annexe",
    "Tower",
    "Tower",
    "Annexe",
)
BEDS = (60, 40, 80, 30, 50, 45, 70, 90, 8, 6)

INTRODUCTION = f"""\
# Gallery

Thirty questions as analysts ask them, each with its SQL, its price, the error that `preview` predicts for that price, and a picture of
one answer. All are asked of the made-up hospital of `discreet demo`: {PATIENTS:,} patients, who have about four visits each. Nobody in it
exists.

`docs/gallery.py` makes this page, and a test compares the two and asks every question again. Questions, prices and predicted errors
follow from what is declared and not from the data, so they are the same whenever the page is made. The pictures were drawn once: each
shows one private answer, and another hospital, or this one under another ledger, would draw other noise. A bar is the released number,
and the line at its end is the interval in which the number without noise lies in 95 of 100 answers.

This is what the owner of the hospital declares, here in Python; [a policy, and the command line](curator.md), have the same words:

```
Curator(
    {{"visits": "visits.csv"}},
    unit="patient_id",                                  # who is protected, with all of their visits
    columns={{
        "age": {{"type": "integer", "bounds": (0, 120)}},
        "sex": {{"keys": ["F", "M"]}},
        "ward": {{"keys": {{"table": "wards", "column": "ward"}}}},
        "cost": {{"bounds": (0, 10000)}},                 # what is above counts as 10,000
        "admitted": {{"bounds": ("2024-01-01", "2024-12-31")}},
    }},                                                 # of region nothing: it is text, and nobody said which there are
    public={{"wards": "wards.csv"}},                      # ward, building, beds: about nobody
    people={PATIENTS}, max_total={MOST_VISITS},                         # {MOST_VISITS} visits of a patient count in one question
    epsilon=20, delta=1e-5,
)
```

The ± of a mean depends on how many rows there are, which nobody may know exactly: its prediction says for how many it holds. Where a
[limit](limits.md) or a [range](ranges.md) is found for the question, errors are predicted for a few that may be found.
"""


@dataclass(frozen=True, slots=True)
class Question:
    """A question: what its picture is called, how somebody would say it, its SQL and its terms."""

    name: str
    said: str
    sql: str
    epsilon: float | None = 0.5
    delta: float | None = None
    within: int | None = None
    max_total: int | None = None
    remark: str = ""

    def terms(self) -> dict[str, object]:
        """The words behind the SQL, in `preview` and in `sql`; those that are not said are left out."""
        names = ("epsilon", "delta", "within", "max_total")
        return {name: value for name in names if (value := getattr(self, name)) is not None}

    @property
    def picture(self) -> Path:
        return PICTURES / f"gallery-{self.name}.svg"


SECTIONS: dict[str, tuple[Question, ...]] = {
    "Counts and shares": (
        Question("visits", "How many visits were there?", "SELECT COUNT(*) AS visits FROM visits"),
        Question(
            "patients",
            "How many people came?",
            "SELECT COUNT(DISTINCT patient_id) AS patients FROM visits",
            0.1,
            remark="A person is one, however often they came. So a fifth of the price gives a far smaller error.",
        ),
        Question(
            "share",
            "Which percentage of the visits is by people of 65 and over?",
            "SELECT 100 * COUNT(*) FILTER (WHERE age >= 65) / COUNT(*) AS percent FROM visits",
        ),
        Question(
            "wards",
            "How many visits has each ward?",
            "SELECT ward, COUNT(*) AS visits FROM visits GROUP BY ward ORDER BY visits DESC",
            remark="Burns and Tropical have few visits: their counts can hardly be told from 0.",
        ),
        Question(
            "shares",
            "What part of all visits goes to each ward?",
            "SELECT ward, 100.0 * COUNT(*) / SUM(COUNT(*)) OVER () AS percent\nFROM visits GROUP BY ward ORDER BY percent DESC",
            remark="The window is over released numbers, and so is free.",
        ),
        Question(
            "top",
            "Which three wards have the most visits?",
            "SELECT ward, COUNT(*) AS visits FROM visits GROUP BY ward ORDER BY visits DESC LIMIT 3",
            remark="The three of the noisy counts; all ten are measured, at the price of all ten.",
        ),
        Question(
            "having",
            "Which wards have more than 5,000 visits?",
            "SELECT ward, COUNT(*) AS visits FROM visits GROUP BY ward HAVING visits > 5000 ORDER BY visits DESC",
        ),
        Question(
            "days",
            "On how many days did anybody come to Maternity?",
            "SELECT COUNT(DISTINCT admitted) AS days FROM visits WHERE ward = 'Maternity'",
            max_total=3,
            remark="Asked with `max_total=3`: of each patient three such visits count, and so the error is small.",
        ),
    ),
    "Sums, means and quantiles": (
        Question("cost", "What does a visit cost on average?", "SELECT AVG(cost) AS average FROM visits"),
        Question(
            "sums",
            "What did each ward cost?",
            "SELECT ward, SUM(cost) AS total FROM visits GROUP BY ward ORDER BY total DESC",
            1,
        ),
        Question(
            "means",
            "What does a visit to each ward cost, and how many are there?",
            "SELECT ward, AVG(cost) AS average, COUNT(cost) AS visits FROM visits GROUP BY ward",
            1,
            remark="`COUNT(cost)` is the count that the mean is divided by: it is free. A mean of too few is not shown.",
        ),
        Question(
            "ratio",
            "What does a patient cost in a year?",
            "SELECT SUM(cost) / COUNT(DISTINCT patient_id) AS per_patient FROM visits",
            remark="Of two releases: the error of a ratio follows from the errors of both.",
        ),
        Question("median", "How old is the middle visitor?", "SELECT MEDIAN(age) AS age FROM visits"),
        Question(
            "quantiles",
            "Between which ages does the middle half of the visits lie, by sex?",
            "SELECT sex, QUANTILE(age, [0.25, 0.75]) AS age FROM visits GROUP BY sex",
            1,
        ),
        Question(
            "spread",
            "How much do costs vary?",
            "SELECT STDDEV(cost) AS deviation FROM visits",
            1,
        ),
    ),
    "Bins and dates": (
        Question("ages", "How are ages distributed?", "SELECT HISTOGRAM(age, 12) FROM visits"),
        Question(
            "bins",
            "How many visits are cheap, usual, and dear?",
            "SELECT CASE WHEN cost < 500 THEN 'below 500' WHEN cost < 2000 THEN '500 to 2,000' ELSE 'above' END AS price,\n"
            "       COUNT(*) AS visits\nFROM visits GROUP BY price",
        ),
        Question(
            "months",
            "How many visits were there in each month?",
            "SELECT DATE_TRUNC('month', admitted) AS month, COUNT(*) AS visits FROM visits GROUP BY month ORDER BY month",
        ),
        Question(
            "weekdays",
            "On which days of the week do people come?",
            "SELECT ISODOW(admitted) AS weekday, COUNT(*) AS visits FROM visits GROUP BY weekday ORDER BY weekday",
            remark="1 is Monday.",
        ),
        Question(
            "weeks",
            "How many visits were there week by week?",
            "SELECT DATE_TRUNC('week', admitted) AS week, COUNT(*) AS visits\n"
            "FROM visits GROUP BY week HAVING week < DATE '2024-12-30' ORDER BY week",
            remark="Where there are more than 40 groups, points stand for bars, and the axis need not begin at 0.",
        ),
        Question(
            "rollup",
            "How many visits had each sex in each quarter, and in all?",
            "SELECT QUARTER(admitted) AS quarter, sex, COUNT(*) AS visits\nFROM visits GROUP BY ROLLUP (quarter, sex)",
            remark="Subtotals are sums of what was released for the eight finest groups, and free; their noise adds up too. "
            "NULL stands for all: `1 · NULL` is the first quarter.",
        ),
    ),
    "Two things at once": (
        Question(
            "modes",
            "Which ward do people of each age go to most?",
            "SELECT age // 20 * 20 AS age_from, MODE(ward) AS ward, COUNT(*) AS visits\n"
            "FROM visits GROUP BY age_from HAVING age_from < 100 ORDER BY age_from",
            1,
            remark="The picture shows the counts; wards are words, have no ±, and stand in the answer.",
        ),
        Question(
            "correlation",
            "Do older people's visits cost more?",
            "SELECT sex, CORR(cost, age) AS correlation FROM visits GROUP BY sex",
            1,
        ),
        Question(
            "slope",
            "By how much does the cost of a visit rise with each year of age?",
            "SELECT REGR_SLOPE(cost, age) AS per_year FROM visits",
            1,
        ),
        Question(
            "buildings",
            "How many visits has each building?",
            "SELECT w.building, COUNT(*) AS visits\nFROM visits AS v JOIN wards AS w ON v.ward = w.ward GROUP BY w.building",
            remark="The wards are a public table. The join costs nothing.",
        ),
    ),
    "People, not visits": (
        Question(
            "often",
            "How many people came once, twice, … or eight times and more?",
            "SELECT LEAST(n, 8) AS times, COUNT(*) AS people\n"
            "FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id) GROUP BY times ORDER BY times",
            remark="Everybody is in one group and counts once, so no limit on visits is needed.",
        ),
        Question(
            "persons",
            "What does a visit cost, on average over patients?",
            "SELECT sex, AVG_BY_PERSON(cost) AS average FROM visits GROUP BY sex",
            remark="Everybody weighs the same, however often they came.",
        ),
    ),
    "What nobody declared": (
        Question(
            "regions",
            "Which regions do people come from?",
            "SELECT region, COUNT(*) AS visits FROM visits GROUP BY region ORDER BY visits DESC",
            1,
            delta=1e-6,
            remark="Nobody said which regions there are. [Those that enough people share](keys.md) are found, "
            "with a δ and a part of the price.",
        ),
        Question(
            "range",
            "How often does a patient come?",
            "SELECT AVG(n) AS visits FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id)",
            1,
            remark="Nobody said how often anybody can come: [a range is found](ranges.md) first, with a part of the price.",
        ),
    ),
    "Accuracy first": (
        Question(
            "within",
            "How many visits were there in spring, to within 500?",
            "SELECT COUNT(*) AS visits FROM visits\nWHERE admitted BETWEEN DATE '2024-03-01' AND DATE '2024-05-31'",
            None,
            within=500,
            remark="`within=500` pays the least ε for which the predicted error is ± 500.",
        ),
    ),
}
QUESTIONS = tuple(question for questions in SECTIONS.values() for question in questions)


def curator(patients: int = PATIENTS) -> Curator:
    """The hospital of the page, or a smaller one with the same declarations, whose plans are the same."""
    return Curator(
        {"visits": hospital(patients).to_columns()},
        unit="patient_id",
        columns={
            "age": {"bounds": (0, 120), "type": "integer"},
            "sex": {"keys": list(SEXES)},
            "ward": {"keys": {"table": "wards", "column": "ward"}},
            "cost": {"bounds": (0, 10_000)},
            "admitted": {"bounds": ("2024-01-01", "2024-12-31")},
        },
        public={"wards": {"ward": list(WARDS), "building": list(BUILDINGS), "beds": list(BEDS)}},
        people=PATIENTS,
        max_total=MOST_VISITS,
        epsilon=20,
        delta=1e-5,
        ledger=":memory:",
    )


def preview(held: Curator, question: Question) -> Preview:
    return held.preview(question.sql, **question.terms())


def answer(held: Curator, question: Question) -> Answer:
    return held.sql(question.sql, **question.terms())


def section(question: Question, number: int, predicted: Preview) -> str:
    """A question on the page."""
    price = f"ε = {predicted.epsilon:.4g}" + (f", δ = {predicted.delta:g}" if predicted.delta else "")
    parts = [
        f"### {number}. {question.said}",
        f"```sql\n{question.sql}\n```",
        f"Price: {price}. Predicted error, at 95 %:",
        "\n".join(f"- `{name}`: {said}" for name, said in predicted.lines() if said),
        question.remark,
        f"![{question.said}](pictures/{question.picture.name})",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def page(held: Curator) -> str:
    """The page, but for its pictures."""
    parts, number, price = [INTRODUCTION], 0, 0.0
    for heading, questions in SECTIONS.items():
        parts.append(f"## {heading}\n")
        for question in questions:
            predicted = preview(held, question)
            number, price = number + 1, price + predicted.epsilon
            parts.append(section(question, number, predicted))
    parts.insert(1, f"Who asks all thirty pays the sum of their prices: ε = {price:.4g}.\n")
    return "\n".join(parts)


def draw(held: Curator) -> None:
    """The pictures, each on white, since a page may be dark and letters are black."""
    for question in QUESTIONS:
        given = answer(held, question)
        head, _, rest = str(given.to_svg()).partition(">")
        question.picture.write_text(f'{head}><rect width="100%" height="100%" fill="white"/>{rest}\n', "utf-8")
        print(question.name, given, sep="\n", end="\n\n")


if __name__ == "__main__":
    with curator() as held:
        PAGE.write_text(page(held), "utf-8")
        if "draw" in sys.argv[1:]:
            draw(held)
