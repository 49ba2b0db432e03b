"""A claimed message being worked on."""

from __future__ import annotations

import itertools
import math
import threading
import time
import uuid
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from .._arguments import ABSENT
from .._base import Endpoint, Plan
from .._errors import ClaimLost, MusterError, Stopped
from .._records import Claim
from .._run import NoteCaller, Run
from .._tracing import Attempt, TraceContext
from .._transport import Stop, any_of
from .insist import insist, insist_beyond
from .memos import Memos
from .spending import Reservation, Spender

if TYPE_CHECKING:
    from .._client import Muster
    from .suspending import Suspending

T = TypeVar('T')

_progress_every_seconds = 1.0


class TaskListener(Protocol):
    """Notifications of a task to its worker."""

    def progressed(self, task: ClaimedTask, value: Any) -> None:
        """Queues progress to be sent with a renewal."""
        ...

    def repeats(self, task: ClaimedTask, error: MusterError) -> None:
        """A call has failed, and is made again."""
        ...

    def has_next(self, task: ClaimedTask) -> bool:
        """Whether the attempt is over and another one may follow, which finds what this one has reserved."""
        ...


class ClaimedTask:
    """A claimed message being worked on. The handler's `Task` is its context."""

    def __init__(
        self, message: Claim, muster: Muster, holder: str, timeout_seconds: float, listener: TaskListener
    ) -> None:
        self.message = message
        self.muster = muster
        self.holder = holder
        self.listener = listener
        self.attempt = Attempt(message)
        self.reservations: list[Reservation] = []
        self.reserve_calls = 0
        self.call_numbers = itertools.count(1)
        """The numbers of its reservations for model calls"""
        self.has_spent = False
        """Whether a model call of this attempt has cost something"""
        self.run = Run(muster, message.scope_id, _TaskCaller(self))
        self.memos = Memos(self.run, message.id)
        self.plan: Plan | None = None
        """The calls to make with its completion"""
        self.asking: dict[str, Any] | None = None
        """The handler's question, which ends this attempt whatever the handler does afterwards"""
        self.suspending: Suspending | None = None
        """What the handler waits for, which ends this attempt like a question"""
        self.is_ending = False
        """The handler is done, and the end has not been sent"""
        self.ending = False
        """The end of the attempt is under way, as the handler is done or the worker gives the message back"""
        self.ended = threading.Event()
        """Set when the worker has dropped it"""
        self.is_over = False
        """The claim has ended or the message was given back, so the handler has no further effect"""
        self.reason: ClaimLost | None = None
        """Why the claim ended before the work did"""
        self.stop = Stop()
        """Ends the handler's waits"""
        self.progress: Any = ABSENT
        """Not sent yet"""
        self.progress_at = -math.inf
        self.is_renewing = False
        self._timeout_seconds = timeout_seconds
        self.received_at = time.monotonic()
        self.attempt_ends_at = self.received_at + _limit_of(message)
        """The end of the attempt's time; math.inf without a limit"""
        self.leased_from(self.received_at)

    def call(
        self,
        endpoint: Endpoint[T],
        args: Mapping[str, Any],
        stop: Stop | None = None,
        key: str | None = None,
        trace_context: TraceContext = TraceContext(),
    ) -> T:
        """Makes a call until it is answered, while the claim lasts.

        Args:
            endpoint: the call
            args: its arguments
            stop: ends a call held at the server
            key: the Idempotency-Key; default: a new one
            trace_context: the call's trace; default: the active span
        """
        once_key: str = ABSENT if endpoint.method == 'GET' else key or str(uuid.uuid4())
        timeout_seconds = None if stop else self._timeout_seconds

        def attempt() -> T:
            return self.muster.request(
                endpoint,
                args,
                idempotency_key=once_key,
                attempts=1,
                timeout_seconds=timeout_seconds,
                stop=stop,
                trace_context=trace_context,
            )

        return insist(self, attempt, lambda error: self.listener.repeats(self, error))

    def settle(self, endpoint: Endpoint[T], args: Mapping[str, Any]) -> T:
        """The same for a settlement, which is made even if the claim has ended."""
        key = str(uuid.uuid4())
        insisting: Callable[[], T] = lambda: self.call(endpoint, args, None, key)
        return insist_beyond(self, insisting, lambda: self.muster.request(endpoint, args, idempotency_key=key))

    def spender(self, work_id: str) -> Spender:
        """Returns the task as one that spends."""
        return _TaskSpender(self, work_id)

    def over(self, reason: ClaimLost | None = None) -> None:
        """Ends the task's right to continue."""
        self.is_over = True
        if reason is not None:
            self.attempt.failed(reason)
        if self.reason is None:
            self.reason = reason

    def leased_from(self, moment: float) -> None:
        """Counts the lease from this time. All times here are time.monotonic() times."""
        self.lease_ends_at = min(moment + self.message.lease_seconds, self.attempt_ends_at)
        self.renew_at = moment + self.message.lease_seconds / 3

    @property
    def due_at(self) -> float:
        """When the next renewal is due."""
        if self.is_renewing:
            return math.inf
        if self.progress is ABSENT:
            return self.renew_at
        return min(self.renew_at, self.progress_at + _progress_every_seconds)


class _TaskSpender(Spender):
    """A task that spends."""

    def __init__(self, task: ClaimedTask, work_id: str) -> None:
        message = task.message
        super().__init__(task.muster, message.scope_id, task.holder, work_id, message.attempt, message.claimed_at)
        self.since = message.created_at
        self.call = task.call
        self.settle = task.settle
        self._task = task

    @property
    def is_over(self) -> bool:
        return self._task.is_over

    def leaves_rest(self) -> bool:
        return self._task.listener.has_next(self._task)

    def next_number(self) -> int:
        return next(self._task.call_numbers)

    def now(self) -> float:
        # The store's time, as the claim was made just before it was received.
        return timestamp(self.claimed_at or '') + time.monotonic() - self._task.received_at

    def spent(self) -> None:
        self._task.has_spent = True


class _TaskCaller(NoteCaller):
    """Makes the calls for a task's notes."""

    def __init__(self, task: ClaimedTask) -> None:
        super().__init__(task.muster)
        self.fence = {'messageId': task.message.id, 'token': task.message.token}
        self._task = task

    def call(self, endpoint: Endpoint[T], args: Mapping[str, Any], stop: Stop | None = None) -> T:
        task = self._task
        if 'waitSeconds' not in args:
            return task.call(endpoint, args)
        try:
            with any_of(task.stop, *([stop] if stop else [])) as ended:
                return task.call(endpoint, args, ended)
        except Stopped:
            if task.reason is not None:
                raise task.reason from None
            raise


def timestamp(moment: str) -> float:
    """Returns a time, in the format of messages, in seconds since 1970."""
    return datetime.fromisoformat(moment.replace('Z', '+00:00')).timestamp()


def _limit_of(message: Claim) -> float:
    """Returns how long an attempt may take, in seconds; math.inf without a limit, which older servers don't know."""
    ends_at: str | None = message.to_json().get('attemptEndsAt')
    return math.inf if ends_at is None else timestamp(ends_at) - timestamp(message.claimed_at or '')
