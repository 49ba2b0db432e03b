"""The claims of a worker: their renewals, the calls of their tasks, and lost claims."""

from __future__ import annotations

import logging
import math
import random
import threading
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from ._arguments import ABSENT
from ._base import BatchedCall, Endpoint
from ._calls import MESSAGE_RENEW
from ._client import Muster
from ._errors import ClaimLost, MusterError, reason_of
from ._held import Held, final_states, first_pause_seconds, lost_codes, max_calls, max_pause_seconds
from ._tracing import TraceContext
from ._transport import Stop, pause_after

T = TypeVar('T')
Request = tuple[Endpoint[Any], Mapping[str, Any], str]
"""A call, its arguments and its Idempotency-Key"""

_max_money_pause_seconds = 2.0
_renew_again_seconds = 0.5
_min_renew_seconds = 0.1
_end_seconds = 5.0
"""How long the end of a claim may take that is under way."""
_soon = 1 / 30
"""Renewals due within this fraction of the lease are sent together with those due now."""


@dataclass(frozen=True)
class WorkerCounts:
    """The counts of a worker since it started."""

    received: int
    completed: int
    asked: int
    """Attempts that ended with a question"""
    returned: int
    """Messages given back for another attempt"""
    failed: int
    """Messages that ended without success: by GiveUp, or in their last attempt"""
    lost: int
    active: int
    """Messages being worked on"""


class Claims:
    """The claims that a worker holds."""

    def __init__(
        self, muster: Muster, scope_id: str, lease_seconds: int, holder: str, logger: logging.Logger | None
    ) -> None:
        self.muster = muster
        self.holder = holder
        self.logger = logger or logging.getLogger('muster.worker')
        self._watched = None if scope_id == '*' else scope_id
        self._timeout_seconds = lease_seconds / 3
        # Guards everything that follows, here and in subclasses.
        self._changed = threading.Condition()
        self._held: set[Held] = set()
        self._running: int = 0
        self._counts = {'received': 0, 'completed': 0, 'asked': 0, 'returned': 0, 'failed': 0, 'lost': 0}
        self._away_since: float | None = None
        self._over = Stop()
        """Ends all threads of the worker"""

    def _interrupt(self, held: Held) -> None:
        """Notifies the handler that its claim has ended."""
        raise NotImplementedError

    @property
    def counts(self) -> WorkerCounts:
        """The counts since it started."""
        with self._changed:
            return WorkerCounts(**self._counts, active=self._running)

    def progressed(self, held: Held, value: Any) -> None:
        """Queues a task's progress to be sent with a renewal."""
        with self._changed:
            if not held.is_over:
                held.progress = value
                self._changed.notify_all()

    def has_next(self, held: Held) -> bool:
        """Whether the attempt is over and another one may follow, which finds what this one has reserved."""
        with self._changed:
            if held.is_ending:
                self._changed.wait_for(lambda: held not in self._held, _end_seconds)
            elif not held.is_over:
                return False
        return not self._has_ended(held)

    def _has_ended(self, held: Held) -> bool:
        return self.muster.message.view(message_id=held.message.id).state in final_states

    def insist(
        self, held: Held, endpoint: Endpoint[T], args: Mapping[str, Any], stop: Stop | None, key: str | None = None
    ) -> T:
        """Repeats a task's call until it is answered, while the claim lasts.

        Args:
            stop: ends a call held at the server
            key: the Idempotency-Key; default: a new one
        """
        once_key: str = ABSENT if endpoint.method == 'GET' else key or str(uuid.uuid4())
        timeout_seconds = None if stop else self._timeout_seconds
        failures = 0
        while True:
            try:
                return self.muster.request(
                    endpoint, args, idempotency_key=once_key, attempts=1, timeout_seconds=timeout_seconds, stop=stop
                )
            except MusterError as error:
                if held.is_over or not error.is_passing:
                    raise
                self.logger.warning('%s: trying again: %s', held.message.id, error)
                pause = pause_after(failures, first_pause_seconds, _max_money_pause_seconds)
                failures += 1
                asked = min(60, error.retry_after_seconds or 0)
                held.stop.wait(max(pause, asked) * (1 + random.random() / 4))
                if held.is_over:
                    raise (held.reason or error) from error

    def settle(self, held: Held, endpoint: Endpoint[T], args: Mapping[str, Any]) -> T:
        """Repeats a call until it is answered. If the claim ends before, makes it as often as the client makes others."""
        key = str(uuid.uuid4())
        try:
            return self.insist(held, endpoint, args, None, key)
        except (MusterError, ClaimLost) as error:
            if not held.is_over or (isinstance(error, MusterError) and not error.is_passing):
                raise
            return self.muster.request(endpoint, args, idempotency_key=key)

    def _renew(self) -> None:
        while not self._over.is_set():
            with self._changed:
                now = time.monotonic()
                live = [held for held in self._held if not held.is_over]
                ended = [held for held in live if now >= held.lease_ends_at]
                due = [held for held in live if held.due_at <= now]
                if due:
                    due = [held for held in live if self._is_due(held, now)]
                if not ended and not due:
                    next_at = min((min(held.lease_ends_at, held.due_at) for held in live), default=math.inf)
                    self._changed.wait(None if next_at == math.inf else max(0.0, next_at - now))
                    continue
            for held in ended:
                self._lose(held, 'the lease has ended, as it could not be renewed')
            for start in range(0, len(due), max_calls):
                # Some may have ended while others were renewed.
                if live := [held for held in due[start : start + max_calls] if not held.is_over]:
                    self._renew_all(live)

    def _is_due(self, held: Held, now: float) -> bool:
        if held.is_renewing:
            return False
        return held.due_at <= now or held.renew_at <= now + held.message.lease_seconds * _soon

    def _renew_all(self, all_held: Sequence[Held]) -> None:
        """Renews claims, which also checks whether they still stand."""
        sent_at = time.monotonic()
        sent: list[tuple[Held, Any]] = []
        with self._changed:
            for held in all_held:
                sent.append((held, held.progress))
                if held.progress is not ABSENT:
                    held.progress_at = sent_at
                held.progress = ABSENT
                held.is_renewing = True
            # A renewal that hangs must not delay the loss of a claim whose lease ends meanwhile.
            ends_at = min((held.lease_ends_at for held in self._held if not held.is_over), default=math.inf)
        timeout_seconds = min(self._timeout_seconds, max(_min_renew_seconds, ends_at - sent_at))
        calls = [self._renewal(held, progress) for held, progress in sent]
        outcomes = self._ask(calls, len(calls) > 1, timeout_seconds=timeout_seconds)
        for (held, progress), outcome in zip(sent, outcomes):
            with self._changed:
                held.is_renewing = False
                self._changed.notify_all()
                if not isinstance(outcome, MusterError):
                    held.leased_from(sent_at)
                    self._outage_ends()
                    continue
                now = time.monotonic()
                if outcome.status != 413 and held.progress is ABSENT:
                    held.progress = progress
                    held.progress_at = now
                # Drop progress that is too large, and renew the claim without it.
                held.renew_at = now if outcome.status == 413 else now + _renew_again_seconds * (1 + random.random())
            if outcome.code in lost_codes:
                # Its own end may have ended it, and the answer to that tells.
                if not held.is_ending:
                    self._lose(held, outcome.message)
            elif outcome.is_passing:
                self._outage_begins(outcome)
            else:
                self.logger.warning('%s: not renewed: %s', held.message.id, outcome)

    def _renewal(self, held: Held, progress: Any) -> Request:
        message = held.message
        args = {
            'messageId': message.id,
            'token': message.token,
            'leaseSeconds': message.lease_seconds,
            'progress': progress,
        }
        # Renewing twice does no harm, so no key is needed.
        return MESSAGE_RENEW, args, ABSENT

    def _ask(
        self,
        calls: Sequence[Request],
        is_batch: bool,
        trace_context: TraceContext = TraceContext(),
        timeout_seconds: float | None = None,
    ) -> list[Any]:
        """Returns each call's answer or its error. is_batch: the calls share a request; otherwise there is just one."""
        timeout_seconds = timeout_seconds or self._timeout_seconds
        try:
            if is_batch:
                batch = [BatchedCall[Any](*call) for call in calls]
                results = self.muster.batch(
                    batch, attempts=1, timeout_seconds=timeout_seconds, **trace_context._asdict()
                )
                return [result.error or result.answer for result in results]
            ((endpoint, args, key),) = calls
            return [
                self.muster.request(
                    endpoint,
                    args,
                    idempotency_key=key,
                    attempts=1,
                    timeout_seconds=timeout_seconds,
                    trace_context=trace_context,
                )
            ]
        except MusterError as error:
            return [error for _ in calls]

    def _watch(self) -> None:
        """Checks a claim when its message is reported to have ended.

        Without permission to watch, the next renewal does.
        """
        types = ('message.cancelled', 'message.expired')
        while not self._over.is_set():
            try:
                journal = self.muster.events(types=types, scope_id=self._watched, cursor='latest', stop=self._over)
                for event in journal:
                    with self._changed:
                        for held in self._held:
                            if held.message.id == event.aggregate_id:
                                held.renew_at = 0
                        self._changed.notify_all()
            except MusterError as error:
                if not error.is_passing and error.code != 'CURSOR_EXPIRED':
                    self.logger.debug('the journal is not watched: %s', error)
                    return
                self._over.wait(max_pause_seconds)

    def _lose(self, held: Held, why: str) -> None:
        with self._changed:
            if held.is_over:
                return
            held.over(ClaimLost(why))
            self._counts['lost'] += 1
        # An outage that outlasts leases has already been logged.
        level = logging.WARNING if self._away_since is None else logging.DEBUG
        self.logger.log(level, '%s: the claim is lost: %s', held.message.id, why)
        self._told(held)

    def _told(self, held: Held) -> None:
        held.stop.set()
        self._interrupt(held)

    def _outage_begins(self, error: MusterError) -> None:
        """Logs that an outage has begun, once."""
        with self._changed:
            if self._away_since is not None:
                return
            self._away_since = time.monotonic()
        why = reason_of(error)
        self.logger.warning('the service is unavailable, retrying: %s', why)

    def _outage_ends(self) -> None:
        with self._changed:
            since, self._away_since = self._away_since, None
        if since is not None:
            seconds = math.ceil(time.monotonic() - since)
            self.logger.warning('the service is available again after %d s', seconds)
