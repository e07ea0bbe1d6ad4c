"""What the owner of a curator does beside asking: look at what was spent, let analysts ask, change budgets, go on after a restore.

Each act is a row of the ledger, and reads no data; but for a rehearsal, which is none, and reads them for the owner's eyes.
"""

from abc import abstractmethod
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from discreet.curator import budgets, history
from discreet.curator.accepting import accept_at, nothing_to_accept, refusal_of
from discreet.curator.budgets import Analyst, Balance, Budgets, Change
from discreet.curator.declaration import Budget
from discreet.curator.description import Description, described
from discreet.curator.facts import Known, known_in
from discreet.curator.flight import Flight
from discreet.curator.history import Line
from discreet.curator.loaded import Loaded
from discreet.curator.names import check_name, check_reason
from discreet.curator.opening import creation_of
from discreet.curator.place import Place
from discreet.curator.policy import Policy
from discreet.curator.proof import Proof, proof_of
from discreet.curator.store import Store
from discreet.curator.versions import next_version, versions_in
from discreet.engines.base import Data, Engine
from discreet.exact import Number, nonnegative, positive
from discreet.plan.catalog import Catalog

if TYPE_CHECKING:
    from discreet.curator.rehearsal.record import Rehearsal


class Owner:
    """The owner's side of a curator."""

    policy: Policy
    catalog: Catalog
    _place: Place
    _loads: tuple[Data, ...]
    _flight: Flight

    @property
    @abstractmethod
    def _store(self) -> Store:
        """The ledger, made where there is none."""

    @abstractmethod
    def _ledger_if_made(self) -> Store | None:
        """The ledger, where there is one: whoever looks makes none."""

    @abstractmethod
    def _alone(self) -> AbstractContextManager[None]:
        """While no question and no measurement is in flight."""

    @abstractmethod
    def _reopened(self, policy: Policy) -> None:
        """Go on with another policy: the data are loaded anew by the next question."""

    @abstractmethod
    def _here(self) -> None:
        """Whatever must be done first in a process that was forked."""

    @abstractmethod
    def load(self) -> Loaded:
        """Read the sources, and tell what was lost."""

    @abstractmethod
    def _loaded(self) -> Engine:
        """The data."""

    @abstractmethod
    def _usual_delta(self) -> Fraction:
        """The δ of a question for which none is said."""

    @abstractmethod
    def _give_back(self) -> None:
        """Close the ledger and the engine; whoever needs them next opens them anew."""

    @property
    def spent(self) -> Budget:
        """What all questions have cost together."""
        return Balance.of(self._store.standing()).spent

    @property
    def remaining(self) -> Budget:
        """What is left of the budget of the data set."""
        return Balance.of(self._store.standing()).remaining

    def describe(self, analyst: str | None = None) -> Description:
        """What may be asked about, who is protected, and what is left; for an analyst what was declared, and what is left for them.

        Nothing of it comes from the data but what surveys have released, and no ledger is made.
        """
        store, version = self._ledger_if_made(), self.policy.version
        known = Known((), version) if store is None else known_in(store, version, analyst)
        return described(self.catalog, analyst, self.budgets(analyst).whole, known)

    def budgets(self, analyst: str | None = None) -> Budgets:
        """What was spent, what may be, and what is left: of the data set and of each analyst, or of one analyst alone.

        Where nothing was asked yet, it is what the ledger will start with, and none is made.
        """
        store = self._ledger_if_made()
        if store is None:
            return budgets.untouched(self._place, self.policy, analyst)
        return budgets.budgets_of(store, self._place, analyst)

    def history(self, analyst: str | None = None) -> tuple[Line, ...]:
        """Every charge and every act of the owner, oldest first; of one analyst their charges alone. Never an answer.

        Questions are the words of whoever asked, so this is for the owner, or for an analyst about themselves.
        """
        store = self._ledger_if_made()
        return () if store is None else history.history_of(store, analyst)

    def rehearse(
        self,
        epsilon: Number = 1,
        *,
        max_rows: int | None = None,
        max_groups: int | None = None,
        max_total: int | None = None,
    ) -> "Rehearsal":
        """Look at the data, as the owner's act: exact numbers beside what is declared, and beside private draws of standard questions.

        Nothing is spent and nothing recorded: no ledger is made or opened. All of it tells of the data, and must not be published.
        Draws are made as if each question were asked at this epsilon, with these limits where they are not those of the policy.
        """
        from discreet.curator.rehearsal.look import look

        price = positive(epsilon, "epsilon")
        pairs = (("max_rows", max_rows), ("max_groups", max_groups), ("max_total", max_total))
        limits = {name: limit for name, limit in pairs if limit is not None}
        catalog = replace(self.catalog, protected=self.catalog.protected.limited(**limits))
        self._here()
        with self._flight.question():
            self.load()
            return look(catalog, self._loads, self._loaded(), price, self._usual_delta())

    def set_budget(
        self,
        epsilon: Number | None = None,
        delta: Number | None = None,
        *,
        shares: str | None = None,
        analyst: str | None = None,
        part: str | None = None,
        higher: bool = False,
    ) -> Budgets:
        """Change the total of the data set, of an analyst, or of a part; or whether shares are "reserved" or "common".

        A higher total hides less than was promised, and is Refused without higher=True; so is one above
        what the policy says, which would take effect again at once.
        """
        change = Change(
            None if epsilon is None else positive(epsilon, "epsilon"),
            None if delta is None else nonnegative(delta, "delta"),
            shares,
            analyst,
            higher,
            part,
        )
        notes = change.check(self.policy)
        notes += change.make(self._store)
        return replace(self.budgets(analyst), notes=notes)

    @property
    def analysts(self) -> Mapping[str, Balance]:
        """Each analyst by name, with what they have spent and what is left for them; who was removed is not active."""
        store = self._ledger_if_made()
        if store is not None:
            return budgets.budgets_of(store, self._place).analysts
        return {name: budgets.untouched(self._place, self.policy, name).whole for name in self.policy.analysts}

    def add_analyst(self, name: str, epsilon: Number, delta: Number = 0, *, higher: bool = False) -> Analyst:
        """Let an analyst ask, with a budget of their own; what they spend is charged to the data set too.

        Who was removed comes back with what they had spent, and with a higher budget only by higher=True.
        """
        amounts = positive(epsilon, "epsilon"), nonnegative(delta, "delta")
        return budgets.add_analyst(self._store, name, *amounts, higher=higher)

    def remove_analyst(self, name: str) -> Analyst:
        """Take no new question by an analyst from now on. What they have spent stays spent."""
        return budgets.remove_analyst(self._store, name)

    def data_changed(self, version: str | None = None) -> str:
        """Say that the data are other ones now, and get their version, which is the next number where none is said.

        Answers to old questions are computed anew from then on, and the budget goes on. The data are loaded anew. A policy file must be
        given the same version before it is opened again.
        """
        if version is not None:
            check_name(version, "version")
        with self._alone():
            following = next_version(versions_in(self._store), version)
            self._store.change_data(following)
            self._reopened(replace(self.policy, version=following))
        return following

    def accept(self, reason: str) -> Proof:
        """Go on although the ledger is older than its high-water mark, or gone. What was spent since is then not counted any more.

        Bring the newest copy back instead, if there is one; a row of the ledger says why this was done. Where there is nothing to
        accept it is Invalid.
        """
        with self._alone():
            check_reason(reason)
            if refusal_of(self._place) is None:
                raise nothing_to_accept()
            proof = accept_at(self._place, reason, creation_of(self.policy))
            self._give_back()
        return proof

    def resume(self, reason: str, analyst: str | None = None) -> None:
        """Let the data set, or an analyst, go on after questions that failed: the owner's act, and a row of the ledger says why."""
        self._store.resume(reason, analyst)

    def verify(self) -> Proof:
        """Compute every hash, price and total of the ledger again; what does not follow from its rows raises."""
        return proof_of(self._store)

    def export(self) -> dict[str, Any]:
        """The whole ledger without answers, so that somebody else can verify it: `proof_of_export` needs nothing else."""
        return self._store.export()
