"""Surveys of a curator: charged durably, taken, and settled with their facts, as any question is; and what was surveyed before."""

from abc import abstractmethod
from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import partial
from itertools import count
from typing import TYPE_CHECKING

from discreet.curator.facts import Known, key_of, known_in
from discreet.curator.owner import Owner
from discreet.curator.place import named
from discreet.curator.pricing import check_least, price_of_promise
from discreet.curator.randomness import Randomness
from discreet.curator.request import Request, Reservation, Stored
from discreet.engines.base import Engine
from discreet.errors import Refused
from discreet.exact import Number, probability
from discreet.mechanisms.measure import Grant
from discreet.noise.source import chosen
from discreet.plan.relation import Rows
from discreet.privacy.advice import note_on_epsilon

if TYPE_CHECKING:
    from discreet.curator.survey.asking import AskedSurvey
    from discreet.curator.survey.preview import SurveyPreview
    from discreet.curator.survey.record import SurveyFacts


class Surveyor(Owner):
    """The side of a curator that surveys."""

    _beside: tuple[str, ...]
    _randomness: Randomness

    @abstractmethod
    def _version(self) -> str:
        """Of the data that are open here, and of the ledger."""

    @abstractmethod
    def _origin(self, source: Rows) -> str:
        """Where rows come from."""

    @abstractmethod
    def _computed(self, reservation: Reservation, compute: Callable[[], bytes]) -> bytes:
        """Compute and settle; whatever goes wrong is one constant error, and the charge is kept."""

    @abstractmethod
    def _delta_of(self, analyst: str | None) -> Fraction:
        """The usual δ of somebody's question."""

    def survey(
        self,
        epsilon: Number,
        delta: Number | None = None,
        *,
        columns: Iterable[str] | None = None,
        table: str | None = None,
        analyst: str | None = None,
    ) -> "SurveyFacts":
        """A private profile of a table, as the owner's act: (epsilon, delta)-DP, charged to the data set, its facts for everybody.

        It is of the columns that nobody declared, or of those that are named. With `analyst` it is charged to that analyst too, and
        its facts are theirs alone. The same survey of the same data again is the same facts, free.
        """
        self._here()
        with self._flight.question(), named(self._place):
            asked = self._asked_survey(epsilon, delta, columns, table, analyst)
            for number in count(1):
                request = self._survey_request(asked, analyst, number)
                entry = self._store.named(request.key, analyst)
                if entry is not None and not request.is_the_one_of(entry.row):
                    continue
                if self._store.stored(request.key, analyst) is None:
                    self._loaded()  # whatever is wrong with the source shows before anything is charged
                try:
                    outcome = self._store.reserve(request)
                    break
                except Refused as error:
                    if error.code != "key-reused":  # somebody else was faster, and has this number now
                        raise
            if isinstance(outcome, Stored):
                encoded = outcome.answer
            else:
                encoded = self._computed(outcome, partial(self._surveyed, asked, analyst, number, self._loaded()))
            from discreet.curator.survey.record import SurveyFacts

            return SurveyFacts.from_bytes(encoded)

    def survey_preview(
        self,
        epsilon: Number,
        delta: Number | None = None,
        *,
        columns: Iterable[str] | None = None,
        table: str | None = None,
        analyst: str | None = None,
    ) -> "SurveyPreview":
        """What a survey would release, how fine, and at which price. Nothing is spent, no data is read, and no ledger is made."""
        from discreet.curator.survey.preview import SurveyPreview

        return SurveyPreview(self._asked_survey(epsilon, delta, columns, table, analyst))

    def surveyed(self, analyst: str | None = None) -> Known:
        """What was surveyed so far, for whoever asks: what is for everybody, and what is theirs alone. No ledger is made."""
        store = self._ledger_if_made()
        return Known((), self.policy.version) if store is None else known_in(store, self.policy.version, analyst)

    def _asked_survey(
        self,
        epsilon: Number,
        delta: Number | None,
        columns: Iterable[str] | None,
        table: str | None,
        analyst: str | None,
    ) -> "AskedSurvey":
        from discreet.curator.survey.asking import DELTA, asked_survey

        usual = self._delta_of(analyst)
        most = min(DELTA, self.policy.budget.delta) if usual else Fraction(0)
        given = most if delta is None else probability(delta, "delta")
        asked = asked_survey(self.catalog, epsilon, given, table, columns)
        check_least(price_of_promise(asked.prices.event, asked.prices.epsilon, given, self.policy.accountant))
        return asked

    def _survey_request(self, asked: "AskedSurvey", analyst: str | None, number: int) -> Request:
        prices = asked.prices
        return Request(
            key=key_of(number),
            analyst=analyst,
            price=price_of_promise(prices.event, prices.epsilon, prices.delta, self.policy.accountant),
            event=prices.event.to_json(),
            label=asked.label,
            data_version=self._version(),
            question=asked.question(self._origin(asked.surveyed.scan()), analyst),
        )

    def _surveyed(self, asked: "AskedSurvey", analyst: str | None, number: int, engine: Engine) -> bytes:
        from discreet.curator.survey.record import SurveyFacts
        from discreet.curator.survey.taking import Taking

        randomness, prices, surveyed = self._randomness, asked.prices, asked.surveyed
        bits, grant = chosen(randomness.source), Grant(prices.event, randomness.source, hand=randomness.hand)
        try:
            found = Taking(surveyed, prices, engine.run, grant, bits.bits(64)).taken()
        finally:
            grant.close()
        return SurveyFacts(
            table=surveyed.table,
            version=self.policy.version,
            person=None if surveyed.person is None else surveyed.person.name,
            relation=str(prices.relation),
            epsilon=float(prices.epsilon),
            delta=float(prices.delta),
            people=found.people,
            rows=found.rows,
            rows_limit=found.rows_limit,
            per_person=found.per_person,
            columns=found.columns,
            left_out=asked.left_out,
            notes=(*note_on_epsilon(prices.epsilon, in_all=False), *self._beside),
            analyst=analyst,
            number=number,
        ).to_bytes()
