"""Money and units for a piece of work."""

from __future__ import annotations

import itertools
import math
import re
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, TypeVar, Union

from .._arguments import Amount, Id, Moment, text
from .._base import BATCH, Endpoint, Plan
from .._calls import (
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
from .._errors import MusterError, Stopped
from .._forks import Own
from .._giving_back import give_back, take_for
from .._in_line import Place, place_seconds, wait_in_line
from .._records import BudgetSettle, ReservationRecord, Reserved, Waiter
from .._transport import Stop

if TYPE_CHECKING:
    from .._client import Muster

T = TypeVar('T')

OnOverdue = Literal['KEEP', 'SETTLE']

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
    reserved until its next windows have paid it, or its limit is raised"""


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
    work_name: str | None
    """The beginning of the workKeys of the work's reservations for model calls, in all attempts; None if it has no name"""
    attempt_name: str
    """The beginning of those of this attempt"""
    since: str | None = None
    """When the work began, by the store's clock; None if it is not known"""

    def __init__(
        self,
        muster: Muster,
        scope_id: Id,
        holder: str,
        work_id: str | None,
        attempt: int = 1,
        claimed_at: str | None = None,
    ) -> None:
        self.muster = muster
        self.scope_id = text(scope_id)
        self.holder = holder
        attempt_id = claimed_at or str(uuid.uuid4())
        self.work_id = attempt_id if work_id is None else work_id
        self.attempt = attempt
        self.claimed_at = claimed_at
        self.work_name = work_id
        self.attempt_name = attempt_id if work_id is None else f'{work_id}/{attempt_id}'
        self._numbers = itertools.count(1)

    @property
    def is_over(self) -> bool:
        """Whether the attempt has lost its right to continue."""
        return False

    def leaves_rest(self) -> bool:
        """Whether the next attempt will find what this one has reserved, so that it must not be given back."""
        return self.is_over

    def next_number(self) -> int:
        """Returns the number of the attempt's next reservation for a model call."""
        return next(self._numbers)

    def now(self) -> float:
        """Returns the store's time. The clock of this process may be wrong."""
        return self.muster.server_time()

    def spent(self) -> None:
        """Notes that a model call has cost something."""

    def call(self, endpoint: Endpoint[T], args: Mapping[str, Any], stop: Stop | None = None) -> T:
        """Makes a call. stop: ends a call held at the server."""
        return self.muster.request(endpoint, args, stop=stop)

    def settle(self, endpoint: Endpoint[T], args: Mapping[str, Any]) -> T:
        """Makes a call that settles something, which is made even if the attempt has ended."""
        return self.call(endpoint, args)


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
        self._own = Own()

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
        if cost > 0:
            self.has_spent = True
        spender = self._spender
        # A handler whose claim has ended may settle as well: the costs of both count. The attempt's number does not
        # distinguish them, as a worker that closes gives its message back without counting the attempt.
        work_key = f'{self.record.id}/{spender.claimed_at or spender.attempt}'
        # Once the claim is lost, the rest belongs to the next attempt, if there is one.
        keeps_rest = cost > 0 and spender.is_over
        settlement, self.is_open = book(spender, self.record, work_key, cost, label, keeps_rest=keeps_rest)
        return settlement

    def void(self) -> None:
        """Gives back the whole reservation."""
        self.settle(0)

    def drop(self) -> None:
        """Gives back a reservation that nobody waits for any more, unless the next attempt will find it."""
        with suppress(MusterError):
            if not self._spender.leaves_rest():
                self.void()

    def __enter__(self) -> Reservation:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._own.is_parents:
            return
        if self.is_open and error is None:
            self.settle()
        elif self.is_open:
            # The work's error matters more, and the reservation stays visible.
            self.drop()


def book(
    spender: Spender, record: Reserved, work_key: str, cost: int, label: str | None, *, keeps_rest: bool
) -> tuple[Settlement, bool]:
    """Records a cost. In the same step it gives back the rest of the reservation, unless that is kept.

    Returns the settlement, and whether the reservation is still open.
    """
    rest: dict[str, Any] = {'budgetId': record.budget_id, 'reservationId': record.id, 'workKey': work_key}
    bill = {**rest, 'amountMinor': cost, 'overrun': True, 'label': label}
    try:
        if cost == 0:
            spender.settle(BUDGET_VOID, rest)
            return Settlement('0', '0'), False
        if keeps_rest or cost >= int(record.remaining_minor):
            return _answered(spender.settle(BUDGET_SETTLE, bill))
        plan = Plan()
        settled = plan.add(BUDGET_SETTLE, bill)
        plan.add(BUDGET_VOID, rest)
        plan.take(spender.settle(BATCH, plan.args))
        return _answered(settled.answer)[0], False
    except MusterError as error:
        if error.code != 'RESERVATION_CLOSED':
            raise
        if error.index == 1:
            # Another attempt has spent a part of it, so that nothing is left to give back.
            return _answered(spender.settle(BUDGET_SETTLE, bill))
        settled_minor = _settled_when_overdue(spender, record)
        if settled_minor is not None:
            return Settlement(settled_minor, '0'), False
        # Somebody else has given it back.
        if cost == 0:
            return Settlement('0', '0'), False
        raise


def _answered(answer: BudgetSettle) -> tuple[Settlement, bool]:
    settlement = Settlement(answer.entry.amount_minor, answer.entry.overdrawn_minor)
    return settlement, answer.reservation.state == 'ACTIVE'


def _settled_when_overdue(spender: Spender, record: Reserved) -> str | None:
    """Returns the amount that was settled because the reservation was overdue; None if somebody has closed it."""
    if record.on_overdue != 'SETTLE' or record.work_key is None:
        return None
    asked = {
        'budgetId': record.budget_id,
        'scopeId': record.scope_id,
        'holder': record.holder,
        'amountMinor': record.amount_minor,
        'workKey': record.work_key,
    }
    # The workKey is known, so this answers the reservation in its present state.
    found = spender.settle(BUDGET_RESERVE, asked)
    return found.settled_minor if found.overdue else None


class OwnReservation:
    """A reservation that no other attempt takes over."""

    def __init__(
        self, spender: Spender, budget: Id, amount_minor: Amount, *, work_key: str, settle_by: str
    ) -> None:
        self.begun_at = time.monotonic()
        """From when `settle_by` counts, by time.monotonic()"""
        wanted = {
            'budgetId': budget_id_of(spender, budget),
            'scopeId': spender.scope_id,
            'holder': spender.holder,
            'amountMinor': amount_minor,
            'workKey': work_key,
            'settleBy': settle_by,
            'onOverdue': 'SETTLE',
        }
        self.work_key = work_key
        self._spender = spender
        self._record = spender.call(BUDGET_RESERVE, wanted)

    def settle(self, cost: int, label: str | None = None) -> None:
        """Records a cost, and gives back the rest."""
        book(self._spender, self._record, self.work_key, cost, label, keeps_rest=False)


def reserve(
    spender: Spender,
    budget: Id,
    amount_minor: Amount,
    *,
    settle_by: Moment | None = None,
    on_overdue: OnOverdue | None = None,
) -> Reservation:
    """Reserves for a piece of work.

    The workKey names the work and the attempt, so that an attempt finds the reservations of earlier ones. It takes over
    the reservation of an attempt that died; a spent or returned one is followed by a new reservation.
    """
    budget_id = budget_id_of(spender, budget)
    wanted = {
        'budgetId': budget_id,
        'scopeId': spender.scope_id,
        'holder': spender.holder,
        'amountMinor': amount_minor,
    }
    overdue = {'settleBy': None if settle_by is None else text(settle_by), 'onOverdue': on_overdue}
    earlier: list[Union[Reserved, ReservationRecord]] = []
    number = 0
    while True:
        number += 1
        work_key = f'{spender.work_id}/{number}'
        is_past = number < spender.attempt
        try:
            more = {'settleBy': _passed} if is_past else overdue
            found = spender.call(BUDGET_RESERVE, {**wanted, **more, 'workKey': work_key})
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
        'allowanceId': allowance_id_of(spender, allowance),
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


def budget_id_of(spender: Spender, budget: Id) -> str:
    """Returns the id of a budget, given by its name or id."""
    return id_by_name(spender.muster, BUDGET_LIST, 'budget', text(budget), spender.call)


def allowance_id_of(spender: Spender, allowance: Id) -> str:
    """Returns the id of an allowance, given by its name or id."""
    return id_by_name(spender.muster, ALLOWANCE_LIST, 'allowance', text(allowance), spender.call)


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
