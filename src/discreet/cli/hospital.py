"""A made-up hospital: visits of patients, the same ones for the same seed. For the demonstration, tests and benchmarks.

It has what makes private answers interesting: people with many visits, so that caps bite; costs with outliers, so that bounds bite; a
week with quiet weekends; wards with fewer than ten patients; one frequent visitor; and one patient whom everybody would recognise.

Numbers come from SplitMix64 (Steele, Lea and Flood 2014), a mixed counter. It is not secure and need not be, since nobody here
exists; the libraries that draw such numbers are kept out of this package, so that none of them is ever taken for noise.
"""

from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

WARDS = (
    "Cardiology",
    "Emergency",
    "Geriatrics",
    "Maternity",
    "Oncology",
    "Paediatrics",
    "Psychiatry",
    "Surgery",
    "Burns",
    "Tropical",
)
RARE = ("Burns", "Tropical")
"""Wards of fewer than ten patients."""

REGIONS = ("Centre", "East", "North", "South", "West")
SEXES = ("F", "M")

# How often a patient of an age group is in a ward, in the order of WARDS; the rare ones are filled by hand.
BY_AGE = {
    "child": (1, 30, 0, 0, 2, 58, 3, 6, 0, 0),
    "adult": (10, 34, 0, 12, 9, 0, 15, 20, 0, 0),
    "old": (26, 20, 22, 0, 14, 0, 4, 14, 0, 0),
}
TYPICAL_COST = (1900, 420, 1300, 2400, 3100, 520, 900, 3800, 5200, 1500)
SPREAD_OF_COST = 0.6
FIRST_DAY, DAYS = date(2024, 1, 1), 364
BY_WEEKDAY = (1.25, 1.15, 1.05, 1.05, 1.1, 0.75, 0.65)

FREQUENT_VISITOR, FREQUENT_VISITS = 8, 400
WELL_KNOWN, WELL_KNOWN_AGE, WELL_KNOWN_VISITS = 212, 101, 3
"""The ids of two patients. Everybody but the second is at most 99 years old."""

HEADER = "patient_id,age,sex,region,ward,cost,admitted"


class Numbers:
    """A stream of numbers that a seed determines."""

    def __init__(self, seed: int) -> None:
        self._counter = np.uint64(seed % 2**64)

    def uniform(self, size: int) -> Floats:
        """Strictly between 0 and 1."""
        step = np.uint64(0x9E3779B97F4A7C15)
        with np.errstate(over="ignore"):
            mixed = self._counter + step * np.arange(1, size + 1, dtype=np.uint64)
            self._counter += step * np.uint64(size)
            mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        mixed ^= mixed >> np.uint64(31)
        return ((mixed >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53

    def normal(self, size: int) -> Floats:
        """Box and Muller 1958."""
        radius = np.sqrt(-2 * np.log(self.uniform(size)))
        found: Floats = radius * np.cos(2 * np.pi * self.uniform(size))
        return found

    def geometric(self, mean: float, size: int) -> Ints:
        """0, 1, 2, …"""
        found: Ints = np.floor(np.log(self.uniform(size)) / np.log(mean / (1 + mean))).astype(np.int64)
        return found

    def choice(self, weights: Floats, size: int) -> Ints:
        """Indices, in proportion to weights."""
        edges = np.cumsum(weights) / np.sum(weights)
        found: Ints = np.minimum(np.searchsorted(edges, self.uniform(size), "right"), len(weights) - 1)
        return found


@dataclass(frozen=True, slots=True)
class Visits:
    """The rows, by columns; `ward`, `region` and `sex` are indices into their names, `admitted` is days since the first."""

    patient_id: Ints
    age: Ints
    sex: Ints
    region: Ints
    ward: Ints
    cost: Floats
    admitted: Ints

    def __len__(self) -> int:
        return len(self.patient_id)

    def without(self, patient: int) -> "Visits":
        """The same hospital, had this patient never come: the neighbouring data set."""
        return self.kept(self.patient_id != patient)

    def kept(self, rows: NDArray[np.bool_]) -> "Visits":
        return Visits(*(getattr(self, name)[rows] for name in self.__slots__))

    def to_columns(self) -> dict[str, list[object]]:
        """Plain Python lists, by the names of the header."""
        days = [FIRST_DAY + timedelta(days=day) for day in range(DAYS)]
        return {
            "patient_id": self.patient_id.tolist(),
            "age": self.age.tolist(),
            "sex": [SEXES[i] for i in self.sex.tolist()],
            "region": [REGIONS[i] for i in self.region.tolist()],
            "ward": [WARDS[i] for i in self.ward.tolist()],
            "cost": self.cost.tolist(),
            "admitted": [days[i] for i in self.admitted.tolist()],
        }

    def write(self, path: Path) -> None:
        """A CSV file."""
        rows = zip(*self.to_columns().values(), strict=True)
        lines = (
            f"{who},{age},{sex},{region},{ward},{cost:.2f},{day}" for who, age, sex, region, ward, cost, day in rows
        )
        path.write_text(f"{HEADER}\n" + "\n".join(lines) + "\n", "utf-8")


def hospital(patients: int = 20_000, seed: int = 2024) -> Visits:
    """About four visits a patient, in random order of rows."""
    numbers = Numbers(seed)
    group = numbers.choice(np.array([0.17, 0.5, 0.33]), patients)  # child, adult, old
    age = _ages(numbers, group)
    sex = numbers.choice(np.array([0.53, 0.47]), patients)
    region = numbers.choice(np.array([0.3, 0.22, 0.18, 0.16, 0.14]), patients)
    times = _visits(numbers, patients)
    known = np.arange(1, patients + 1) == WELL_KNOWN
    age[known], sex[known], group[known], times[known] = WELL_KNOWN_AGE, SEXES.index("F"), 2, WELL_KNOWN_VISITS
    times[np.arange(1, patients + 1) == FREQUENT_VISITOR] = FREQUENT_VISITS

    who = np.repeat(np.arange(patients), times)
    ward = _wards(numbers, group, sex, age, who)
    ward[known[who]] = WARDS.index("Psychiatry")
    outlier = np.where(numbers.uniform(len(who)) < 0.004, 25.0, 1.0)
    cost = np.array(TYPICAL_COST)[ward] * np.exp(SPREAD_OF_COST * numbers.normal(len(who))) * outlier
    weekly = np.array([BY_WEEKDAY[(FIRST_DAY.weekday() + day) % 7] for day in range(DAYS)])
    admitted = numbers.choice(weekly, len(who))
    order = np.argsort(numbers.uniform(len(who)))
    return Visits(
        (who + 1)[order],
        age[who][order],
        sex[who][order],
        region[who][order],
        ward[order],
        np.round(cost, 2)[order],
        admitted[order],
    )


def _ages(numbers: Numbers, group: Ints) -> Ints:
    size = len(group)
    child = 18 * numbers.uniform(size)
    adult = 18 + 47 * numbers.uniform(size)
    old = 65 + np.abs(10 * numbers.normal(size))
    found: Ints = np.clip(np.choose(group, [child, adult, old]), 0, 99).astype(np.int64)
    return found


def _visits(numbers: Numbers, patients: int) -> Ints:
    """One, and a negative binomial number more; for one patient in fifty a heavy tail on top (Pareto, at most 100)."""
    usual = 1 + numbers.geometric(1.25, patients) + numbers.geometric(1.25, patients)
    ill = numbers.uniform(patients) < 0.02
    tail = np.minimum(8 * numbers.uniform(patients) ** (-1 / 1.5), 100).astype(np.int64)
    return usual + np.where(ill, tail, 0)


def _wards(numbers: Numbers, group: Ints, sex: Ints, age: Ints, who: Ints) -> Ints:
    """Most visits of a patient are to one ward of their own, the others to wards that their age group goes to."""
    patients = len(group)

    def by_age(groups: Ints, women: NDArray[np.bool_]) -> Ints:
        drawn = [numbers.choice(np.array(weights, float), len(groups)) for weights in BY_AGE.values()]
        found = np.choose(groups, drawn)
        elsewhere = np.where(numbers.uniform(len(groups)) < 0.5, WARDS.index("Surgery"), WARDS.index("Emergency"))
        return np.where((found == WARDS.index("Maternity")) & ~women, elsewhere, found)

    may_give_birth = (sex == 0) & (age >= 18) & (age < 48)
    own = by_age(group, may_give_birth)
    ward = np.where(numbers.uniform(len(who)) < 0.7, own[who], by_age(group[who], may_give_birth[who]))
    for rare, size in zip(RARE, (8, 5), strict=True):
        few = np.unique(numbers.choice(np.ones(patients), size))
        ward[np.isin(who, few) & (numbers.uniform(len(who)) < 0.5)] = WARDS.index(rare)
    return ward
