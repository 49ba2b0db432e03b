"""The context of handlers, shared by workers with threads and in asyncio programs."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from .._arguments import Amount, Id, Moment, copied
from .._base import Plan
from .._calls import MESSAGE_SEND, AtomicCalls
from .._errors import Asked, Stopped, Suspended
from .._mailbox_ids import with_mailbox
from .._pool import Holding
from .._record import member_of
from .._records import Claim, SentMessage, Waiter
from .._spend import Spend, Spending
from .._transport import Stop
from .asking import GivenAnswer, answer_of, asking_of
from .options import MailboxChoice
from .results import PrerequisiteResult, results_of
from .spending import OnOverdue, Reservation, reserve, take_units
from .suspending import JoinedSend, Suspending, has_slept, joined
from .task import ClaimedTask

T = TypeVar('T')


class TaskContext:
    """The part of a handler's context that both kinds of workers share."""

    message: Claim
    log: logging.LoggerAdapter[logging.Logger]
    """A logger that prefixes lines with the message's id"""

    def __init__(self, task: ClaimedTask, logger: logging.Logger) -> None:
        self.message = task.message
        self.log = _Log(logger, {'message_id': task.message.id})
        self._task = task

    @property
    def is_lost(self) -> bool:
        """Whether the claim was lost, the message was cancelled, or the worker has given the message back."""
        return self._task.reason is not None

    def raise_if_lost(self) -> None:
        """Raises `ClaimLost` or `WorkerClosed` if the claim has ended."""
        if self._task.reason is not None:
            raise self._task.reason

    @property
    def answer(self) -> GivenAnswer | None:
        """The answer to the message's last question; None if it has asked none or the question was withdrawn."""
        return answer_of(self.message)

    def _ask(
        self,
        question: Any,
        options: Sequence[str] | None,
        expires_in_seconds: int | None,
        on_expiry: str | None,
        yields_key: bool | None,
    ) -> NoReturn:
        self.raise_if_lost()
        self._task.asking = asking_of(question, options, expires_in_seconds, on_expiry, yields_key)
        raise Asked

    def _suspend(self, suspending: Suspending) -> NoReturn:
        self.raise_if_lost()
        self._task.suspending = suspending
        raise Suspended

    def _slept(self, name: str, seconds: float) -> Suspending | None:
        """Returns how the attempt ends; None if the time has passed."""
        self.raise_if_lost()
        if not seconds >= 0:
            raise ValueError('sleep takes a number of seconds')
        spender = self._task.spender(self.message.id)
        # In milliseconds, as the TypeScript client keeps it.
        until: int = self._task.memos.once(f'sleep:{name}', lambda: int(1000 * (spender.now() + seconds)))
        left = until / 1000 - spender.now()
        if left > 0 and has_slept(self._task, until / 1000):
            # By the store's clock it is over: a later attempt need not look at this process's clock again.
            self._task.memos.note(f'sleep:{name}').put(0)
            return None
        if left <= 0:
            return None
        return Suspending({'delaySeconds': math.ceil(left)})

    def _joined(
        self, name: str, sends: Sequence[JoinedSend], options: Mapping[str, Any]
    ) -> list[Any] | Suspending:
        self.raise_if_lost()
        return joined(self._task, name, sends, options)

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
        self._task.plan = planned
        return result

    def progress(self, value: Any) -> None:
        """Stores a JSON value of at most 4,096 bytes with the message, for the next attempt's `message.progress`.

        Does not wait for that. The value is sent at once, but at most one per second; the last one is sent before
        the attempt fails or asks.
        """
        # The handler may go on changing the value before it is sent.
        self._task.listener.progressed(self._task, copied(value))

    def _send(
        self, mailbox: MailboxChoice, payload: Any, scope_id: Id | None, fields: Mapping[str, Any]
    ) -> SentMessage:
        self.raise_if_lost()
        task = self._task
        asked = {
            **{member_of(name): value for name, value in fields.items()},
            'scopeId': scope_id or self.message.scope_id,
            'payload': payload,
        }

        def send_to(mailbox_id: Id) -> SentMessage:
            args = {**asked, 'mailboxId': mailbox_id}
            return task.call(MESSAGE_SEND, args, trace_context=task.attempt.trace_context)

        if not isinstance(mailbox, str) and 'mailbox_id' in mailbox:
            return send_to(mailbox['mailbox_id'])
        create = {'name': mailbox} if isinstance(mailbox, str) else mailbox
        return with_mailbox(task.muster, create, send_to, task.call)

    @contextmanager
    def _held(self, holding: Holding) -> Generator[Holding]:
        """Holds units during a block. If the claim ends while it waits for them, raises the reason."""
        self.raise_if_lost()
        with ExitStack() as stack:
            try:
                held = stack.enter_context(holding)
            except Stopped:
                self.raise_if_lost()
                raise
            yield held

    def _reserve(
        self, budget: Id, amount_minor: Amount, settle_by: Moment | None, on_overdue: OnOverdue | None
    ) -> Reservation:
        self.raise_if_lost()
        task = self._task
        task.reserve_calls += 1
        spender = task.spender(f'{self.message.id}/{task.reserve_calls}')
        reservation = reserve(spender, budget, amount_minor, settle_by=settle_by, on_overdue=on_overdue)
        task.reservations.append(reservation)
        return reservation

    def _units(self, allowance: Id, units: int, stop: Stop | None = None) -> Waiter:
        try:
            return take_units(self._task.spender(self.message.id), allowance, units, stop or self._task.stop)
        except Stopped:
            self.raise_if_lost()
            raise

    def _spending(self, asked: Spend, stop: Stop | None = None) -> Spending:
        self.raise_if_lost()
        return Spending(self._task.spender(self.message.id), asked, stop or self._task.stop)

    def _results(self) -> list[PrerequisiteResult]:
        return results_of(self._task, self.message.after)


if TYPE_CHECKING:
    _Adapter = logging.LoggerAdapter[logging.Logger]
else:  # In Python 3.10, LoggerAdapter is not generic.
    _Adapter = logging.LoggerAdapter


class _Log(_Adapter):
    def process(self, msg: Any, kwargs: Any) -> tuple[Any, Any]:
        message_id = (self.extra or {}).get('message_id')
        return f'{message_id}: {msg}', kwargs
