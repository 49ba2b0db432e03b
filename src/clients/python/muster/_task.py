"""The context of handlers, shared by workers with threads and in asyncio programs."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, TypeVar

from ._arguments import Amount, Id, Moment, copied
from ._base import Endpoint, Plan
from ._calls import GROUP_VIEW, MESSAGE_VIEW, AtomicCalls
from ._claims import Claims
from ._errors import Asked, MusterError, Stopped
from ._held import Held
from ._records import Claim, Waiter
from ._run import NoteCaller, Run, RunNote, kept
from ._spend import Spend, Spending
from ._spending import OnOverdue, Reservation, Spender, reserve, take_units
from ._transport import Stop, any_of

T = TypeVar('T')


class PrerequisiteResult(NamedTuple):
    """The outcome of a prerequisite, a message or a group."""

    message_id: str | None
    """None for a group"""
    group_id: str | None
    """None for a message"""
    state: str | None
    """Its final state"""
    result: Any
    """The message's result. For a group, a list of the results of its SUCCEEDED members except rejected ones.
    None if there is none, or if retention has removed it."""


class GivenAnswer(NamedTuple):
    """The outcome of a message's last question."""

    question: Any
    """The question as asked"""
    value: Any
    """The answer; None if nobody answered in time"""
    answered_by: str | None
    """The name that the answerer gave"""
    is_expired: bool
    """Whether nobody answered in time"""


class _TaskSpender(Spender):
    """A task that spends. It repeats its calls until they are answered, while its claim lasts."""

    def __init__(self, held: Held, claims: Claims, work_id: str) -> None:
        message = held.message
        super().__init__(
            claims.muster, message.scope_id, claims.holder, work_id, message.attempt, message.claimed_at
        )
        self.since = message.created_at
        self._held = held
        self._claims = claims

    @property
    def is_over(self) -> bool:
        return self._held.is_over

    def leaves_rest(self) -> bool:
        return self._claims.has_next(self._held)

    def call(self, endpoint: Endpoint[T], args: Mapping[str, Any], stop: Stop | None = None) -> T:
        return self._claims.insist(self._held, endpoint, args, stop)

    def settle(self, endpoint: Endpoint[T], args: Mapping[str, Any]) -> T:
        return self._claims.settle(self._held, endpoint, args)

    def next_number(self) -> int:
        return next(self._held.call_numbers)

    def now(self) -> float:
        # The store's time, as the claim was made just before it was received.
        claimed_at = datetime.fromisoformat((self.claimed_at or '').replace('Z', '+00:00'))
        return claimed_at.timestamp() + time.monotonic() - self._held.received_at

    def spent(self) -> None:
        self._held.has_spent = True


class _TaskCaller(NoteCaller):
    """Makes the calls for a task's notes. It repeats them until they are answered, while the claim lasts."""

    def __init__(self, held: Held, claims: Claims) -> None:
        super().__init__(claims.muster)
        self.fence = {'messageId': held.message.id, 'token': held.message.token}
        self._held = held
        self._claims = claims

    def call(self, endpoint: Endpoint[T], args: Mapping[str, Any], stop: Stop | None = None) -> T:
        if 'waitSeconds' not in args:
            return self._claims.insist(self._held, endpoint, args, None)
        try:
            with any_of(self._held.stop, *([stop] if stop else [])) as ended:
                return self._claims.insist(self._held, endpoint, args, ended)
        except Stopped:
            if self._held.reason is not None:
                raise self._held.reason from None
            raise


class TaskBase:
    """The part of a handler's context that both kinds of workers share."""

    message: Claim
    log: logging.LoggerAdapter[logging.Logger]
    """A logger that prefixes lines with the message's id"""

    def __init__(self, held: Held, claims: Claims) -> None:
        self.message = held.message
        self.log = _Log(claims.logger, {'message_id': held.message.id})
        self._held = held
        self._claims = claims
        self._run = Run(claims.muster, held.message.scope_id, _TaskCaller(held, claims))

    @property
    def is_lost(self) -> bool:
        """Whether the claim was lost, the message was cancelled, or the worker has given the message back."""
        return self._held.reason is not None

    def raise_if_lost(self) -> None:
        """Raises `ClaimLost` or `WorkerClosed` if the claim has ended."""
        if self._held.reason is not None:
            raise self._held.reason

    @property
    def answer(self) -> GivenAnswer | None:
        """The answer to the message's last question; None if it has asked none or the question was withdrawn."""
        asked = self.message.question
        if asked is None or asked.state not in ('ANSWERED', 'EXPIRED'):
            return None
        return GivenAnswer(asked.question, asked.answer, asked.answered_by, asked.state == 'EXPIRED')

    def _ask(
        self,
        question: Any,
        options: Sequence[str] | None,
        expires_in_seconds: int | None,
        on_expiry: str | None,
        yields_key: bool | None,
    ) -> NoReturn:
        self.raise_if_lost()
        asking = {
            'question': question,
            'options': options,
            'expiresInSeconds': expires_in_seconds,
            'onExpiry': on_expiry,
            'yieldsKey': yields_key,
        }
        given = {name: value for name, value in asking.items() if name == 'question' or value is not None}
        self._held.asking = copied(given)
        raise Asked

    def finish(self, result: T, plan: Callable[[AtomicCalls], object]) -> T:
        """Completes the message with this result together with the calls of `plan`, all or none.

        The handler must return it: `return task.finish(result, lambda t: t.message.send(…))`. If one of the calls is
        refused, the message is given back as for any error.

        Args:
            result: the message's result
            plan: plans the calls, as in `muster.atomic`; it runs at once, and the calls are made after the handler has
                returned
        """
        self.raise_if_lost()
        # The completion is the first call of the batch.
        planned = Plan(start=1)
        plan(AtomicCalls(planned))
        self._held.plan = planned
        return result

    def progress(self, value: Any) -> None:
        """Stores a JSON value of at most 4,096 bytes with the message, for the next attempt's `message.progress`.

        Does not wait for that. The value is sent at once, but at most one per second; the last one is sent before
        the attempt fails or asks.
        """
        # The handler may go on changing the value before it is sent.
        self._claims.progressed(self._held, copied(value))

    def _kept(self, key: str) -> RunNote:
        self.raise_if_lost()
        note = kept(self._run, self.message.id, key)
        self._held.memo_keys.add(note.key)
        return note

    def _reserve(
        self, budget: Id, amount_minor: Amount, settle_by: Moment | None, on_overdue: OnOverdue | None
    ) -> Reservation:
        self.raise_if_lost()
        self._held.reserve_calls += 1
        work_id = f'{self.message.id}/{self._held.reserve_calls}'
        spender = _TaskSpender(self._held, self._claims, work_id)
        reservation = reserve(spender, budget, amount_minor, settle_by=settle_by, on_overdue=on_overdue)
        self._held.reservations.append(reservation)
        return reservation

    def _units(self, allowance: Id, units: int, stop: Stop | None = None) -> Waiter:
        spender = _TaskSpender(self._held, self._claims, self.message.id)
        try:
            return take_units(spender, allowance, units, stop or self._held.stop)
        except Stopped:
            self.raise_if_lost()
            raise

    def _spending(self, asked: Spend, stop: Stop | None = None) -> Spending:
        self.raise_if_lost()
        spender = _TaskSpender(self._held, self._claims, self.message.id)
        return Spending(spender, asked, stop or self._held.stop)

    def _results(self) -> list[PrerequisiteResult]:
        return [self._result(one.message_id, one.group_id, one.state) for one in self.message.after]

    def _result(self, message_id: str | None, group_id: str | None, state: str | None) -> PrerequisiteResult:
        result: Any = None
        try:
            if message_id is not None:
                result = self._claims.insist(self._held, MESSAGE_VIEW, {'messageId': message_id}, None).result
            else:
                members = self._claims.insist(self._held, GROUP_VIEW, {'groupId': group_id}, None).members
                good = [one for one in members if one.state == 'SUCCEEDED' and one.verdict != 'REJECTED']
                result = [one.outcome for one in good]
        except MusterError as error:
            if error.status != 404:
                raise
        return PrerequisiteResult(message_id, group_id, state, result)


if TYPE_CHECKING:
    _Adapter = logging.LoggerAdapter[logging.Logger]
else:  # In Python 3.10, LoggerAdapter is not generic.
    _Adapter = logging.LoggerAdapter


class _Log(_Adapter):
    def process(self, msg: Any, kwargs: Any) -> tuple[Any, Any]:
        message_id = (self.extra or {}).get('message_id')
        return f'{message_id}: {msg}', kwargs
