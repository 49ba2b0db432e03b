"""Model calls that spend units of a quota and money of a budget."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any, Optional, TypeVar, Union

from ._arguments import Amount, Id
from ._calls import ALLOWANCE_COOLDOWN, ALLOWANCE_OBSERVE, ALLOWANCE_SETTLE
from ._errors import MusterError, Stopped
from ._model_call import ModelCall, Usage
from ._rate_limits import KNOWN_PROVIDERS, Limit, ProviderHeaders
from ._records import Waiter
from ._spending import Reservation, Spender, reserve, take_units
from ._transport import Stop

T = TypeVar('T')

_preset_cooldown_seconds = 5
_max_cooldown_seconds = 3600
_stale_seconds = 0.25
"""This close to a provider's reset, reported remaining units are ignored: they would be applied to the next window."""


@dataclass(frozen=True)
class Spend:
    """The budget and quota of a model call, and the most it may use."""

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
    """What the quota counts"""
    label: Optional[str] = None
    """The purpose of the cost. The budget shows the sums by label"""
    attempts: int = 3
    """Maximum calls of the function while the provider answers 429"""
    providers: Sequence[ProviderHeaders] = KNOWN_PROVIDERS
    """The headers that report the providers' remaining limits"""


class Spending:
    """The steps of one `spend`; each blocks."""

    def __init__(
        self,
        spender: Spender,
        asked: Spend,
        stop: Stop | None = None,
        keep: Callable[[Reservation], None] | None = None,
    ) -> None:
        self._keep = keep
        self._reservation: Optional[Reservation] = None
        self._spender = spender
        self._asked = asked
        self._stop = stop
        self._units = asked.units
        if asked.units is None and asked.counts == 'requests':
            self._units = 1
        if asked.budget is not None and asked.amount_minor is None:
            raise TypeError('amount_minor is missing')
        if asked.quota is not None and self._units is None:
            raise TypeError('units is missing')
        self._taken: Optional[Waiter] = None
        self._calls: list[ModelCall] = []
        self._rest_seconds = 0

    def begin(self) -> None:
        """Reserves the money."""
        budget, amount = self._asked.budget, self._asked.amount_minor
        if budget is not None and amount is not None:
            self._reservation = reserve(self._spender, budget, amount)
            if self._keep is not None:
                self._keep(self._reservation)
            if self._stop is not None and self._stop.is_set():
                self._reservation.drop()
                raise Stopped

    def take(self) -> ModelCall:
        """Takes the units of an attempt."""
        if self._asked.quota is not None:
            try:
                if self._rest_seconds > 0:
                    (self._stop or Stop()).wait(self._rest_seconds)
                self._taken = take_units(self._spender, self._asked.quota, self._units or 0, self._stop)
            except BaseException:
                with suppress(Exception):
                    self._pay(has_failed=True)
                raise
        call = ModelCall(self._asked.counts, self._asked.providers)
        self._calls.append(call)
        return call

    def succeeded(self, call: ModelCall) -> None:
        """Settles the units and the money. If the usage is unknown, the whole estimate is spent."""
        try:
            self._settle_units(call, self._units or 0)
        finally:
            self._pay(has_failed=False)

    def failed(self, call: ModelCall, error: BaseException) -> bool:
        """Settles the units used. Returns whether to call the function again; if not, settles the money, too."""
        # The error raised matters more than whatever fails here, and the reservation stays visible.
        with suppress(Exception):
            call.raised(error)
        is_again = isinstance(error, Exception) and call.is_limited and self._taken is not None
        is_again = is_again and len(self._calls) < self._asked.attempts
        with suppress(Exception):
            self._settle_units(call, 0)
        if not is_again:
            with suppress(Exception):
                self._pay(has_failed=True)
        return is_again

    def _settle_units(self, call: ModelCall, preset: int) -> None:
        taken = self._taken
        if taken is None:
            return
        allowance = {'allowanceId': taken.allowance_id}
        if call.is_limited:
            # Before the settlement, so that returned units are not granted to a call that the provider would refuse.
            wanted = call.retry_after_seconds or _preset_cooldown_seconds
            seconds = min(_max_cooldown_seconds, max(1, math.ceil(wanted)))
            reason = '429 from the provider'
            self._rest_seconds = 0
            try:
                self._spender.call(ALLOWANCE_COOLDOWN, {**allowance, 'seconds': seconds, 'reason': reason})
            except MusterError as error:
                if error.code != 'PERMISSION_DENIED':
                    raise
                # If the key may only spend, only this call waits.
                self._rest_seconds = seconds
        used = call.units
        if used is None and self._asked.counts == 'requests':
            used = call.requests or None
        elif used is None and call.usage is not None:
            used = call.usage.tokens
        settled = self._spender.call(
            ALLOWANCE_SETTLE,
            {**allowance, 'consumptionId': taken.waiter_id, 'units': preset if used is None else used},
        )
        remaining = call.remaining
        if remaining is None or remaining.units >= max(settled.available_units, 1):
            return
        if remaining.reset_at is not None and remaining.reset_at - time.time() < _stale_seconds:
            return
        seen: dict[str, Any] = {**allowance, 'remainingUnits': remaining.units}
        if remaining.reset_at is not None:
            seen['resetAt'] = datetime.fromtimestamp(remaining.reset_at, timezone.utc)
        self._spender.call(ALLOWANCE_OBSERVE, seen)

    def _pay(self, *, has_failed: bool) -> None:
        if self._reservation is None:
            return
        costs = [cost for cost in map(self._cost_of, self._calls) if cost is not None]
        cost = sum(costs) if costs else 0 if has_failed else None
        self._reservation.settle(cost, label=self._asked.label)

    def _cost_of(self, call: ModelCall) -> int | None:
        if call.amount_minor is not None:
            return call.amount_minor
        price = self._asked.price
        if price is None or call.usage is None:
            return None
        cost = price(call.usage)
        return int(cost) if isinstance(cost, str) else math.ceil(cost)


def spend(spending: Spending, work: Callable[[ModelCall], T]) -> T:
    """Reserves money, takes units, calls the function, and settles both. Tries again after a 429."""
    spending.begin()
    while True:
        call = spending.take()
        try:
            result = work(call)
        except BaseException as error:
            if not spending.failed(call, error):
                raise
        else:
            spending.succeeded(call)
            return result
