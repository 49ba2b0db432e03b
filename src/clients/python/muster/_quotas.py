"""The quotas of a model call."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any, NamedTuple, Optional

from ._arguments import Id
from ._calls import ALLOWANCE_COOLDOWN, ALLOWANCE_OBSERVE, ALLOWANCE_SETTLE
from ._errors import MusterError
from ._giving_back import give_back
from ._model_call import ModelCall
from ._rate_limits import Limit
from ._records import Waiter
from ._worker.spending import Spender, allowance_id_of, take_units
from ._transport import Stop

_preset_cooldown_seconds = 5
_max_cooldown_seconds = 3600
_stale_seconds = 0.25
"""This close to a provider's reset, reported remaining units are ignored: they would be applied to the next window."""


@dataclass(frozen=True)
class SpendQuota:
    """An allowance that represents one of the provider's limits."""

    quota: Id
    """The allowance, by name or id"""
    units: Optional[int] = None
    """The most units that the call may use; default: `units` of the `Spend` if it counts tokens, 1 if it counts requests"""
    counts: Limit = 'tokens'
    """What it counts"""


class WantedUnits(NamedTuple):
    """Units to take."""

    quota: Id
    units: int
    counts: Limit


class Quotas:
    """The units that one call of the function has taken from its quotas."""

    rest_seconds: float
    """How long this call alone waits before its next attempt"""

    def __init__(self, spender: Spender) -> None:
        self.rest_seconds = 0
        self._spender = spender
        self._taken: list[tuple[Waiter, WantedUnits]] = []

    @staticmethod
    def take(spender: Spender, wanted: Sequence[WantedUnits], stop: Stop | None) -> Quotas:
        """Takes the units of all quotas, or of none.

        All calls take them in the order of the allowances' ids: otherwise two calls could each hold the units that the
        other one waits for.
        """
        quotas = Quotas(spender)
        found = sorted(((allowance_id_of(spender, one.quota), one) for one in wanted), key=lambda pair: pair[0])
        try:
            for allowance_id, one in found:
                quotas._taken.append((take_units(spender, allowance_id, one.units, stop), one))
        except BaseException:
            give_back(quotas.give_back)
            raise
        return quotas

    @property
    def is_empty(self) -> bool:
        """Whether there are none."""
        return not self._taken

    def give_back(self) -> None:
        """Returns all units. Units of a window that has ended return by themselves, so a failure does not matter."""
        for waiter, _ in self._taken:
            with suppress(MusterError):
                self._settle(waiter, 0)

    def cooldown(self, call: ModelCall) -> None:
        """Starts a cooldown of the quotas for everybody. If the key may only spend, only this call waits."""
        wanted = call.retry_after_seconds or _preset_cooldown_seconds
        seconds = min(_max_cooldown_seconds, max(1, math.ceil(wanted)))
        self.rest_seconds = 0
        for waiter, _ in self._taken:
            args = {'allowanceId': waiter.allowance_id, 'seconds': seconds, 'reason': '429 from the provider'}
            try:
                self._spender.call(ALLOWANCE_COOLDOWN, args)
            except MusterError as error:
                if error.code != 'PERMISSION_DENIED':
                    raise
                self.rest_seconds = seconds

    def settle(self, call: ModelCall, units_of: Callable[[WantedUnits], int]) -> None:
        """Settles the units that the call has used, then reports the provider's remaining units."""
        failure: Exception | None = None
        for waiter, wanted in self._taken:
            try:
                self._observe(waiter, wanted.counts, self._settle(waiter, units_of(wanted)).available_units, call)
            except Exception as error:
                failure = failure or error
        if failure is not None:
            raise failure

    def _settle(self, waiter: Waiter, units: int) -> Any:
        args = {'allowanceId': waiter.allowance_id, 'consumptionId': waiter.waiter_id, 'units': units}
        return self._spender.settle(ALLOWANCE_SETTLE, args)

    def _observe(self, waiter: Waiter, counts: Limit, available_units: int, call: ModelCall) -> None:
        """Reports the provider's remaining units if they are 0 or fewer than the quota's."""
        remaining = call.remaining.get(counts)
        if remaining is None or remaining.units >= max(available_units, 1):
            return
        if remaining.reset_at is not None and remaining.reset_at - time.time() < _stale_seconds:
            return
        seen: dict[str, Any] = {'allowanceId': waiter.allowance_id, 'remainingUnits': remaining.units}
        if remaining.reset_at is not None:
            seen['resetAt'] = datetime.fromtimestamp(remaining.reset_at, timezone.utc)
        self._spender.call(ALLOWANCE_OBSERVE, seen)
