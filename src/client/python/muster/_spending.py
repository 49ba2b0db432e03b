"""Money and units for a piece of work."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar, Union

from ._arguments import ABSENT, Amount, Id, text
from ._base import Endpoint
from ._calls import (
    ALLOWANCE_LIST,
    ALLOWANCE_SETTLE,
    ALLOWANCE_WAIT,
    BUDGET_LIST,
    BUDGET_RESERVE,
    BUDGET_SETTLE,
    BUDGET_VIEW,
    BUDGET_VOID,
    WAITER_CANCEL,
    WAITER_RENEW,
    WAITER_VIEW,
)
from ._errors import MusterError, Stopped
from ._giving_back import give_back, take_for
from ._in_line import Place, place_seconds, wait_in_line
from ._records import ReservationRecord, Reserved, Waiter
from ._transport import Stop

if TYPE_CHECKING:
    from ._client import Muster

T = TypeVar('T')

_uuid = re.compile(r'[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}', re.IGNORECASE)
_passed = '2000-01-01T00:00:00.000Z'
"""With a settleBy in the past, a reserve finds the reservation of its workKey but creates none."""


@dataclass(frozen=True)
class Settlement:
    """The result of a settlement."""

    amount_minor: str
    """The amount recorded as spent, in minor units"""
    overdrawn_minor: str
    """The part that the budget could not pay, in minor units. Above zero the budget is overdrawn, and nothing can be
    reserved until its limit is raised"""


class Spender:
    """A task, or other work, that spends."""

    muster: Muster
    scope_id: str
    holder: str
    work_id: str
    """The name of the work that is paid for, the same in every attempt"""
    attempt: int
    claimed_at: str | None
    """When the attempt began, by the server's clock"""

    def __init__(
        self,
        muster: Muster,
        scope_id: Id,
        holder: str,
        work_id: str,
        attempt: int = 1,
        claimed_at: str | None = None,
    ) -> None:
        self.muster = muster
        self.scope_id = text(scope_id)
        self.holder = holder
        self.work_id = work_id
        self.attempt = attempt
        self.claimed_at = claimed_at

    @property
    def is_over(self) -> bool:
        """Whether the attempt has lost its right to continue."""
        return False

    def call(self, endpoint: Endpoint[T], args: Mapping[str, Any], stop: Stop | None = None) -> T:
        """Makes a call. stop: ends a call held at the server."""
        return self.muster.request(endpoint, args, stop=stop)


class Reservation:
    """Money set aside for a piece of work: `with muster.reserve(…) as reservation`.

    If it is not settled by the end of the block, the whole amount is spent; if the block raises, it is given back.
    """

    record: Reserved
    """The record at its creation"""
    earlier: Sequence[Union[Reserved, ReservationRecord]]
    """Reservations of earlier attempts that were, or may have been, spent, oldest first. An ACTIVE one belongs to an
    attempt that died before it settled; if it has the same amount, it is also this one's `record`"""
    is_open: bool
    has_spent: bool

    def __init__(
        self, spender: Spender, record: Reserved, earlier: Sequence[Union[Reserved, ReservationRecord]] = ()
    ) -> None:
        self.record = record
        self.earlier = earlier
        self.is_open = True
        self.has_spent = False
        self._spender = spender

    @property
    def _bill(self) -> dict[str, Any]:
        record = self.record
        return {
            'budgetId': record.budget_id,
            'reservationId': record.id,
            # A handler whose claim has ended may settle as well: the costs of both count. The attempt's number does not
            # distinguish them, as a worker that closes gives its message back without counting the attempt.
            'workKey': f'{record.id}/{self._spender.claimed_at or self._spender.attempt}',
        }

    def settle(self, amount_minor: Amount | None = None, *, label: str | None = None) -> Settlement:
        """Records the cost of the work, even above the reservation, and gives back the rest.

        Args:
            amount_minor: the cost in minor units; default: all that remains of the reservation
            label: the purpose of the cost; the budget shows the sums by label
        """
        cost = int(self.record.remaining_minor if amount_minor is None else amount_minor)
        if cost < 0:
            raise ValueError(f'a cost is at least 0, not {cost}')
        self.is_open = False
        if cost == 0:
            self._give_back()
            return Settlement('0', '0')
        bill = {**self._bill, 'amountMinor': cost, 'overrun': True, 'label': label}
        self.has_spent = True
        answer = self._spender.call(BUDGET_SETTLE, bill)
        if answer.reservation.state == 'ACTIVE':
            # Once the claim is lost, the rest belongs to the next attempt, if there is one.
            self.is_open = self._spender.is_over
            if not self.is_open:
                self._give_back()
        return Settlement(answer.entry.amount_minor, answer.entry.overdrawn_minor)

    def void(self) -> None:
        """Gives back the whole reservation."""
        self.settle(0)

    def drop(self) -> None:
        """Gives back a reservation that nobody waits for any more. After a lost claim, the next attempt may use it."""
        if not self._spender.is_over:
            with suppress(MusterError):
                self.void()

    def _give_back(self) -> None:
        try:
            self._spender.call(BUDGET_VOID, self._bill)
        except MusterError as error:
            # Somebody else has returned it.
            if error.code != 'RESERVATION_CLOSED':
                raise

    def __enter__(self) -> Reservation:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.is_open and error is None:
            self.settle()
        elif self.is_open:
            # The work's error matters more, and the reservation stays visible.
            self.drop()


def reserve(spender: Spender, budget: Id, amount_minor: Amount) -> Reservation:
    """Reserves for a piece of work.

    The workKey names the work and the attempt, so that an attempt finds the reservations of earlier ones. It takes over
    the reservation of an attempt that died; a spent or returned one is followed by a new reservation.
    """
    budget_id = _id_of(spender, BUDGET_LIST, 'budget', text(budget))
    wanted = {
        'budgetId': budget_id,
        'scopeId': spender.scope_id,
        'holder': spender.holder,
        'amountMinor': amount_minor,
    }
    earlier: list[Union[Reserved, ReservationRecord]] = []
    number = 0
    while True:
        number += 1
        work_key = f'{spender.work_id}/{number}'
        is_past = number < spender.attempt
        try:
            found = spender.call(
                BUDGET_RESERVE, {**wanted, 'workKey': work_key, 'settleBy': _passed if is_past else ABSENT}
            )
        except MusterError as error:
            # That attempt reserved another amount, which stays with it.
            if error.code == 'WORK_KEY_CONFLICT':
                earlier += _active_with(spender, budget_id, work_key)
            # That attempt reserved nothing.
            elif not (is_past and error.code == 'VALIDATION_FAILED'):
                raise
            continue
        is_spent = found.settled_minor != '0'
        is_earlier = found.replay if spender.claimed_at is None else found.created_at < spender.claimed_at
        if (is_past or is_earlier) and (is_spent or found.state == 'ACTIVE'):
            earlier.append(found)
        if found.state == 'ACTIVE':
            if not is_spent:
                return Reservation(spender, found, earlier)
            # An attempt died between settling and returning the rest, which is not enough for another attempt.
            Reservation(spender, found).void()


def _active_with(spender: Spender, budget_id: str, work_key: str) -> list[ReservationRecord]:
    """Returns the ACTIVE reservation of a workKey, if there is one and the key may see it."""
    args: dict[str, Any] = {'budgetId': budget_id, 'state': 'ACTIVE', 'limit': 200}
    try:
        while True:
            page = spender.call(BUDGET_VIEW, args)
            found = [one for one in page.reservations if one.work_key == work_key]
            if found or page.next_cursor is None:
                return found
            args['cursor'] = page.next_cursor
    except MusterError as error:
        if error.code != 'PERMISSION_DENIED':
            raise
        return []


def take_units(spender: Spender, allowance: Id, units: int, stop: Stop | None = None) -> Waiter:
    """Takes units of an allowance: at once if available, else in line."""
    wanted = {
        'allowanceId': _id_of(spender, ALLOWANCE_LIST, 'allowance', text(allowance)),
        'scopeId': spender.scope_id,
        'units': units,
        'holder': spender.holder,
        'ttlSeconds': place_seconds,
    }
    while True:
        place: list[Waiter] = []
        leave = partial(leave_line, spender.muster)
        try:
            waiter = take_for(stop, partial(spender.call, ALLOWANCE_WAIT, wanted), leave, place.append)
            found, _ = wait_in_line(_place(spender, waiter.waiter_id, stop), waiter, math.inf, stop)
            if stop is not None and stop.is_set():
                raise Stopped
        except BaseException:
            for one in place:
                give_back(partial(leave, one))
            raise
        if found.state == 'GRANTED':
            return found
        if found.state == 'CANCELLED':
            raise RuntimeError('the waiter was cancelled')


def _place(spender: Spender, waiter_id: str, stop: Stop | None) -> Place[Waiter]:
    request = partial(spender.muster.request, attempts=1, stop=stop)

    def view(wait_seconds: int, timeout_seconds: float) -> Waiter:
        asked = {'waiterId': waiter_id, 'waitSeconds': wait_seconds}
        return request(WAITER_VIEW, asked, timeout_seconds=timeout_seconds)

    def renew(ttl_seconds: int, timeout_seconds: float) -> object:
        asked = {'waiterId': waiter_id, 'ttlSeconds': ttl_seconds}
        return request(WAITER_RENEW, asked, timeout_seconds=timeout_seconds)

    return Place(view, renew)


def leave_line(muster: Muster, waiter: Waiter) -> None:
    """Leaves the line, or returns the units if they were granted meanwhile."""
    request = muster.request
    if waiter.state == 'WAITING':
        try:
            request(WAITER_CANCEL, {'waiterId': waiter.waiter_id})
            return
        except MusterError as error:
            if error.code != 'WAITER_NOT_WAITING':
                raise
    if waiter.state in ('WAITING', 'GRANTED'):
        unused = {'allowanceId': waiter.allowance_id, 'consumptionId': waiter.waiter_id, 'units': 0}
        request(ALLOWANCE_SETTLE, unused)


def _id_of(spender: Spender, endpoint: Endpoint[Any], room: str, name: str) -> str:
    return id_by_name(spender.muster, endpoint, room, name, spender.call)


def id_by_name(
    muster: Muster,
    endpoint: Endpoint[Any],
    room: str,
    name: str,
    call: Callable[[Endpoint[Any], Mapping[str, Any]], Any] | None = None,
) -> str:
    """Returns the id of a record given by its id or its name. A name, unique in its space, is looked up once.

    Raises:
        LookupError: there is no record with this name
    """
    if _uuid.fullmatch(name):
        return name
    if (room, name) not in muster.ids:
        found = (call or muster.request)(endpoint, {'name': name}).to_json()[f'{room}s']
        if not found:
            raise LookupError(f'there is no {room} named {name}')
        muster.ids[room, name] = found[0]['id']
    return muster.ids[room, name]
