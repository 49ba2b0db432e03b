"""Money and units around a piece of work."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, Any

from ._arguments import Amount, Id, text
from ._calls import WAITER_RENEW, WAITER_VIEW
from ._errors import MusterError
from ._records import Reserved, Waiter
from ._transport import Stop

if TYPE_CHECKING:
    from ._client import Muster

_uuid = re.compile(r'[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}', re.IGNORECASE)
_waiter_ttl_seconds = 30
"""Units that are granted to a process that has died are lost to the others: its place ends so soon after its last renewal."""
_wait_seconds = _waiter_ttl_seconds // 3


class Hold:
    """Money set aside for a piece of work: `with muster.reserve(…) as hold`.

    At the end of the block what is not settled yet is spent as a whole; if the block raises, it is given back.
    """

    reservation: Reserved
    is_open: bool
    has_spent: bool

    def __init__(self, muster: Muster, reservation: Reserved) -> None:
        self.reservation = reservation
        self.is_open = True
        self.has_spent = False
        self._muster = muster

    def settle(self, amount_minor: Amount | None = None) -> None:
        """Spends what the work has cost, at most what was reserved and by default all, and gives back the rest."""
        held = int(self.reservation.remaining_minor)
        cost = held if amount_minor is None else int(amount_minor)
        if not 0 <= cost <= held:
            raise ValueError(f'{cost} is not from 0 to the {held} that are reserved')
        self.is_open = False
        bill: dict[str, Any] = {
            'budget_id': self.reservation.budget_id,
            'reservation_id': self.reservation.id,
            'work_key': self.reservation.work_key or self.reservation.id,
        }
        if cost > 0:
            self.has_spent = True
            self._muster.budget.settle(**bill, amount_minor=cost)
        if cost < held:
            self._muster.budget.void(**bill)

    def void(self) -> None:
        """Gives back all of it."""
        self.settle(0)

    def __enter__(self) -> Hold:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.is_open and error is None:
            self.settle()
        elif self.is_open:
            # What the work has raised matters more; the reservation stays to be seen.
            with suppress(MusterError):
                self.void()


def reserve(
    muster: Muster, budget: Id, amount_minor: Amount, *, scope_id: Id, holder: str, work_id: str
) -> Hold:
    """Reserves for a piece of work. What an attempt that died has reserved is found by the next one.

    What is used up or given back by then is followed by a new one.
    """
    budget_id = budget_id_of(muster, budget)
    number = 0
    while True:
        number += 1
        try:
            reservation = muster.budget.reserve(
                budget_id=budget_id,
                scope_id=scope_id,
                holder=holder,
                amount_minor=amount_minor,
                work_key=f'{work_id}/{number}',
            )
        except MusterError as error:
            # An attempt that reserved another amount: that one's is left to it.
            if error.code != 'WORK_KEY_CONFLICT':
                raise
            continue
        if reservation.state != 'ACTIVE':
            continue
        if reservation.settled_minor == '0':
            return Hold(muster, reservation)
        # It died between settling and giving back: what is left is not enough for another.
        Hold(muster, reservation).void()


def take_units(
    muster: Muster, allowance: Id, units: int, scope_id: Id, holder: str, stop: Stop | None = None
) -> Waiter:
    """Takes units of an allowance: at once where they are there, else in line."""
    allowance_id = allowance_id_of(muster, allowance)
    while True:
        waiter = muster.allowance.wait(
            allowance_id=allowance_id,
            scope_id=scope_id,
            units=units,
            holder=holder,
            ttl_seconds=_waiter_ttl_seconds,
        )
        args = {'waiterId': waiter.waiter_id, 'waitSeconds': _wait_seconds}
        try:
            while waiter.state == 'WAITING':
                waiter = muster.request(WAITER_VIEW, args, stop=stop)
                if waiter.state == 'WAITING':
                    _keep_place(muster, waiter.waiter_id, stop)
        except BaseException:
            with suppress(MusterError):
                muster.waiter.cancel(waiter_id=waiter.waiter_id)
            raise
        if waiter.state == 'GRANTED':
            return waiter
        if waiter.state == 'CANCELLED':
            raise RuntimeError('the waiter was cancelled')


def _keep_place(muster: Muster, waiter_id: str, stop: Stop | None) -> None:
    """The next view shows the end of a waiter that has just left the line."""
    try:
        muster.request(WAITER_RENEW, {'waiterId': waiter_id}, stop=stop)
    except MusterError as error:
        if error.code != 'WAITER_NOT_WAITING':
            raise


def budget_id_of(muster: Muster, budget: Id) -> str:
    """The id of a budget that is given by id or by name."""
    return _id_of(muster, 'budget', text(budget), lambda name: (one.id for one in muster.budget.all(name=name)))


def allowance_id_of(muster: Muster, allowance: Id) -> str:
    """The id of an allowance that is given by id or by name."""
    return _id_of(
        muster, 'allowance', text(allowance), lambda name: (one.id for one in muster.allowance.all(name=name))
    )


def _id_of(muster: Muster, room: str, name: str, ids: Callable[[str], Iterator[str]]) -> str:
    """Names are unique in their space, and never change."""
    if _uuid.fullmatch(name):
        return name
    if (room, name) not in muster.ids:
        found = next(ids(name), None)
        if found is None:
            raise LookupError(f'there is no {room} named {name}')
        muster.ids[room, name] = found
    return muster.ids[room, name]
