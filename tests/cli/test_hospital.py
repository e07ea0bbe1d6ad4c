"""The made-up hospital: the same for the same seed, and with everything in it that a demonstration needs."""

import csv
from collections import Counter
from datetime import date
from pathlib import Path

import numpy as np

from discreet.cli.hospital import (
    DAYS,
    FIRST_DAY,
    FREQUENT_VISITOR,
    HEADER,
    RARE,
    WARDS,
    WELL_KNOWN,
    WELL_KNOWN_AGE,
    Numbers,
    hospital,
)

VISITS = hospital()


def test_a_seed_determines_every_row() -> None:
    again, other = hospital(), hospital(seed=7)
    assert all(np.array_equal(getattr(VISITS, name), getattr(again, name)) for name in VISITS.__slots__)
    assert len(other) != len(VISITS) or not np.array_equal(other.cost, VISITS.cost)


def test_the_stream_is_splitmix64() -> None:
    """Its first numbers from the seed 1234567, by the reference implementation."""
    reference = [6457827717110365317, 3203168211198807973, 9817491932198370423]
    assert Numbers(1234567).uniform(3).tolist() == [((each >> 11) + 0.5) * 2.0**-53 for each in reference]
    one, two = Numbers(5), Numbers(5)
    assert np.concatenate([one.uniform(3), one.uniform(4)]).tolist() == two.uniform(7).tolist()


def test_it_has_what_makes_private_answers_interesting() -> None:
    people = np.unique(VISITS.patient_id)
    assert len(people) == 20_000 and 70_000 < len(VISITS) < 90_000
    times = np.bincount(VISITS.patient_id)[1:]
    assert times.argmax() + 1 == FREQUENT_VISITOR and times.max() == 400
    assert times.var() > 3 * times.mean()  # far from Poisson: caps bite
    for rare in RARE:
        assert 1 <= len(np.unique(VISITS.patient_id[VISITS.ward == WARDS.index(rare)])) < 10
    for ward in range(len(WARDS)):
        assert (VISITS.ward == ward).any()
    assert VISITS.cost.max() > 50 * np.median(VISITS.cost)  # outliers: bounds bite
    weekday = (FIRST_DAY.weekday() + VISITS.admitted) % 7
    assert (weekday == 6).sum() < 0.7 * (weekday == 0).sum()
    assert VISITS.age[VISITS.ward == WARDS.index("Paediatrics")].max() < 18
    assert VISITS.age[VISITS.ward == WARDS.index("Geriatrics")].min() >= 65
    assert set(VISITS.sex[VISITS.ward == WARDS.index("Maternity")]) == {0}


def test_one_patient_would_be_recognised_by_everybody() -> None:
    known = VISITS.patient_id == WELL_KNOWN
    assert np.array_equal(VISITS.age == WELL_KNOWN_AGE, known) and VISITS.age[~known].max() < 100
    assert {WARDS[ward] for ward in VISITS.ward[known]} == {"Psychiatry"}
    gone = VISITS.without(WELL_KNOWN)
    assert len(gone) == len(VISITS) - known.sum() and WELL_KNOWN not in gone.patient_id


def test_the_file_says_the_same(tmp_path: Path) -> None:
    small = hospital(50)
    small.write(tmp_path / "visits.csv")
    with open(tmp_path / "visits.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(small) and ",".join(rows[0]) == HEADER
    assert Counter(row["ward"] for row in rows) == Counter(WARDS[ward] for ward in small.ward)
    assert [float(row["cost"]) for row in rows] == small.cost.tolist()
    days = [(date.fromisoformat(row["admitted"]) - FIRST_DAY).days for row in rows]
    assert days == small.admitted.tolist() and min(days) >= 0 and max(days) < DAYS
