"""Model calls that spend units of quotas and money of a budget."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timezone
from functools import partial
from typing import Optional, TypeVar, Union

from ._arguments import Amount, Id, text
from ._earlier import earlier_of
from ._errors import MusterError, Stopped
from ._forks import Own
from ._giving_back import give_back, take_for
from ._model_call import ModelCall, Usage
from ._outcome import Knowledge, OnUnknown, amount_of, knowledge_of
from ._quotas import Quotas, SpendQuota, WantedUnits
from ._rate_limits import KNOWN_PROVIDERS, Limit, ProviderHeaders
from ._records import ReservationRecord
from ._worker.spending import OwnReservation, Spender, budget_id_of
from ._transport import Stop

T = TypeVar('T')

_settling_seconds = 30
"""How long before `settle_by` a call is ended, so that there is time to settle it."""


@dataclass(frozen=True)
class Spend:
    """The budget and quotas of a model call, and the most it may use."""

    budget: Optional[Id] = None
    """The budget that pays for it, by name or id"""
    quota: Optional[Id] = None
    """The allowance that represents the provider's limit, by name or id"""
    amount_minor: Optional[Amount] = None
    """The most that the call may cost, in minor units"""
    units: Optional[int] = None
    """The most units of the quota that the call may use; default 1 if the quota counts requests"""
    price: Optional[Callable[[Usage], Union[Amount, float]]] = None
    """The cost of a usage, in minor units; a fraction is rounded up. Without it the whole amount is spent, unless
    `call.used` reports the cost"""
    counts: Limit = 'tokens'
    """What `quota` counts"""
    label: Optional[str] = None
    """The purpose of the cost. The budget shows the sums by label"""
    attempts: int = 3
    """Maximum calls of the function while the provider answers 429"""
    providers: Sequence[ProviderHeaders] = KNOWN_PROVIDERS
    """The headers that report the providers' remaining limits"""
    quotas: Sequence[SpendQuota] = ()
    """The allowances of a provider with several limits: `[SpendQuota('tpm'), SpendQuota('rpm', counts='requests')]`"""
    max_seconds: float = 900
    """How long the call may take. It should end 30 seconds earlier (after half the time, if it is 30 or less):
    `call.timeout_seconds`. A call that has not settled by then, because its process died, is settled at its estimate by
    the service"""
    on_unknown: OnUnknown = 'settle'
    """What happens to the estimate if the provider may have billed the call but nobody knows: after a time-out, an abort,
    or a lost answer. `settle`: it is spent; `release`: it is given back. A process that dies releases nothing"""


def call_seconds(max_seconds: float) -> float:
    """Returns how long a call may take whose reservation is settled by the service after `max_seconds`."""
    return max_seconds - _settling_seconds if max_seconds > _settling_seconds else max_seconds / 2


class OneCall:
    """One call of the function, with its units and its reservation."""

    def __init__(
        self, asked: Spend, call: ModelCall, quotas: Quotas, reservation: OwnReservation | None
    ) -> None:
        self.call = call
        self.quotas = quotas
        self.reservation = reservation
        self._asked = asked
        self._own = Own()

    def settle(self, spender: Spender, wanted: Sequence[WantedUnits], error: BaseException | None) -> None:
        """Books what the call has cost, and gives back the rest."""
        if self._own.is_parents:
            return
        knowledge = knowledge_of(self.call.ended(error))
        try:
            self._settle_units(knowledge, is_only=len(wanted) == 1)
        finally:
            self._settle_money(spender, knowledge)

    def drop(self) -> None:
        """Gives back everything, as the function will not be called."""
        if self._own.is_parents:
            return
        self.quotas.give_back()
        if self.reservation is not None:
            with suppress(MusterError):
                self.reservation.settle(0)

    def _settle_units(self, knowledge: Knowledge, *, is_only: bool) -> None:
        call = self.call

        def units_of(wanted: WantedUnits) -> int:
            known = _units_of(call, wanted.counts, is_only=is_only)
            return amount_of(knowledge, known, wanted.units, self._asked.on_unknown)

        try:
            if call.is_limited:
                # Before the settlement, so that returned units are not granted to a call that the provider would refuse.
                self.quotas.cooldown(call)
        finally:
            self.quotas.settle(call, units_of)

    def _settle_money(self, spender: Spender, knowledge: Knowledge) -> None:
        if self.reservation is None:
            return
        known: int | None = None
        failure: Exception | None = None
        try:
            known = _cost_of(self.call, self._asked)
        except Exception as error:
            # Without a price the cost is not known: the estimate is booked, and the error reported.
            failure = error
        cost = amount_of(knowledge, known, int(self._asked.amount_minor or 0), self._asked.on_unknown)
        if cost > 0:
            spender.spent()
        self.reservation.settle(cost, self._asked.label)
        if failure is not None:
            raise failure


def _cost_of(call: ModelCall, asked: Spend) -> int | None:
    """Returns the known cost of a call."""
    if call.amount_minor is not None:
        return call.amount_minor
    if asked.price is None or call.usage is None:
        return None
    cost = asked.price(call.usage)
    return int(cost) if isinstance(cost, str) else math.ceil(cost)


def _units_of(call: ModelCall, counts: Limit, *, is_only: bool) -> int | None:
    """Returns the known units of a call. Reported units belong to the quota that counts tokens, if there are several."""
    if call.units is not None and (is_only or counts == 'tokens'):
        return call.units
    if counts == 'requests':
        return call.requests or None
    return None if call.usage is None else call.usage.tokens


class Spending:
    """The steps of one `spend`; each blocks."""

    def __init__(self, spender: Spender, asked: Spend, stop: Stop | None = None) -> None:
        self._spender = spender
        self._asked = asked
        self._stop = stop
        self._wanted = _units_wanted(asked)
        self._attempt = 0
        self._rest_seconds: float = 0
        if asked.budget is not None and asked.amount_minor is None:
            raise TypeError('amount_minor is missing')

    def begin(self) -> OneCall:
        """Takes the units, and then reserves the money, of one call of the function."""
        asked, spender, stop = self._asked, self._spender, self._stop or Stop()
        if stop.is_set() or (self._rest_seconds > 0 and stop.wait(self._rest_seconds)):
            raise Stopped
        self._attempt += 1
        quotas = Quotas.take(spender, self._wanted, stop)
        reservation: OwnReservation | None = None
        try:
            if asked.budget is not None and asked.amount_minor is not None:
                take = partial(self._reserve, asked.budget, asked.amount_minor)
                reservation = take_for(stop, take, lambda taken: taken.settle(0))
        except BaseException:
            give_back(quotas.give_back)
            raise
        begun_at = time.monotonic() if reservation is None else reservation.begun_at
        call = ModelCall(
            asked.providers,
            limit_seconds=call_seconds(asked.max_seconds) - (time.monotonic() - begun_at),
            earlier=self._earlier,
            work_key=None if reservation is None else reservation.work_key,
        )
        return OneCall(asked, call, quotas, reservation)

    def succeeded(self, one: OneCall) -> None:
        """Settles the units and the money."""
        one.settle(self._spender, self._wanted, None)

    def failed(self, one: OneCall, error: BaseException) -> bool:
        """Settles the units and the money. Returns whether to call the function again."""
        # The error raised matters more than a failed settlement: the service settles the reservation.
        with suppress(Exception):
            one.settle(self._spender, self._wanted, error)
        self._rest_seconds = one.quotas.rest_seconds
        is_again = isinstance(error, Exception) and one.call.is_limited and not one.quotas.is_empty
        return is_again and self._attempt < self._asked.attempts

    def _reserve(self, budget: Id, amount_minor: Amount) -> OwnReservation:
        """Makes the reservation of one call of the function."""
        spender = self._spender
        work_key = f'{spender.attempt_name}/{spender.next_number()}'
        while True:
            late = spender.now() + self._asked.max_seconds
            settle_by = text(datetime.fromtimestamp(late, timezone.utc))
            try:
                return OwnReservation(spender, budget, amount_minor, work_key=work_key, settle_by=settle_by)
            except MusterError as error:
                # It may have been refused because it has come too late, for example after an outage.
                if error.code != 'VALIDATION_FAILED' or spender.now() < late:
                    raise

    def _earlier(self) -> Sequence[ReservationRecord]:
        if self._asked.budget is None:
            return []
        return earlier_of(self._spender, budget_id_of(self._spender, self._asked.budget))


def _units_wanted(asked: Spend) -> Sequence[WantedUnits]:
    """Returns the units that a `Spend` asks for."""
    first = [] if asked.quota is None else [SpendQuota(asked.quota, asked.units, asked.counts)]
    wanted: list[WantedUnits] = []
    for one in [*first, *asked.quotas]:
        units = one.units
        if units is None:
            units = 1 if one.counts == 'requests' else asked.units
        if units is None:
            raise TypeError('units is missing')
        wanted.append(WantedUnits(one.quota, units, one.counts))
    return wanted


def spend(spending: Spending, work: Callable[[ModelCall], T]) -> T:
    """Takes units, reserves money, calls the function, and settles both. Tries again after a 429."""
    while True:
        one = spending.begin()
        try:
            result = work(one.call)
        except BaseException as error:
            if not spending.failed(one, error):
                raise
        else:
            spending.succeeded(one)
            return result
