"""Ends claims: sends each outcome until it is answered."""

from __future__ import annotations

import math
import random
import time
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

from ._arguments import ABSENT
from ._calls import MESSAGE_NACK, MESSAGE_RECV_MANY, NOTE_DELETE
from ._claims import Claims, Request
from ._end import End, too_large
from ._errors import Asked, ClaimLost, GiveUp, MusterError, RetryLater, is_short
from ._held import Held, first_pause_seconds, linger_seconds, lost_codes, max_calls, max_pause_seconds
from ._tracing import TraceContext
from ._transport import pause_after

_max_batch_bytes = 1_500_000
"""The limit of a batch's calls together, below the service's 2 MiB to leave room for the rest of the request."""


class Joining:
    """A receive that is sent in the same request as the next ends. The server does not hold it."""

    def __init__(self, args: Mapping[str, Any]) -> None:
        self.call: Request = MESSAGE_RECV_MANY, args, ABSENT
        self.is_answered = False
        self.outcome: Any = None
        """The answer, or its error"""


class Ends(Claims):
    """The claims of a worker, and the outcomes that are still to be sent."""

    _batch: bool
    """Whether several calls share a request"""
    _concurrency: int
    """How many messages are worked on at once"""
    _target: str | None = None
    """The mailbox for results"""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._ends: deque[End] = deque()
        self._telling = 0
        self._is_receiving = False
        """Whether a receive is in flight, in a request of its own"""
        self._joining: Joining | None = None

    def _join(self, joining: Joining) -> bool:
        """Receives in the request of the next ends. Returns False, unsent, if nothing ends within a moment."""
        with self._changed:
            self._joining = joining
            self._changed.notify_all()
            if not self._changed.wait_for(lambda: self._joining is None, linger_seconds):
                self._joining = None
                return False
            return self._changed.wait_for(lambda: joining.is_answered)

    def _is_ready(self) -> bool:
        """Whether enough ends are waiting, and the next receive has joined them if it can."""
        if len(self._ends) < min(max_calls - 1, math.ceil(len(self._held) / 4)):
            return False
        return self._joining is not None or self._is_receiving or self._running >= self._concurrency

    def _finish(self, held: Held, error: BaseException | None, result: Any) -> None:
        """Settles open reservations, which may block, and queues the handler's outcome to be sent."""
        with self._changed:
            self._running -= 1
            self._changed.notify_all()
            is_over = held.is_over
            if not is_over:
                # So that `close` does not give it back while it settles: its work is done.
                held.is_ending = True
        if held.asking is not None:
            error = Asked()
        try:
            if is_over:
                self._forget(held)
                return
            self._settle(held, error)
            try:
                end = End(held, error, result, self._target, self.muster.encoded)
            except Exception as unfit:
                error = unfit
                end = End(held, error)
        except BaseException as other:
            end = End(held, other)
        if isinstance(error, MusterError) and error.is_passing and not is_short(error):
            self._outage_begins(error)
        elif error is not None and not isinstance(error, (Asked, RetryLater, GiveUp)) and not is_short(error):
            self.logger.warning('%s: the handler raised %r', held.message.id, error, exc_info=error)
        with self._changed:
            if not held.is_over:
                self._ends.append(end)
                self._changed.notify_all()
                return
        self._forget(held)

    def _settle(self, held: Held, error: BaseException | None) -> None:
        """Settles open reservations, or voids them if the work has failed."""
        for reservation in held.reservations:
            if reservation.is_open:
                try:
                    reservation.settle(0 if error is not None else None)
                except Exception as refusal:
                    # A refused cost is no reason to repeat finished work.
                    self.logger.warning('%s: not settled: %s', held.message.id, refusal)

    def _forget(self, held: Held) -> None:
        """Drops a lost task. Its reservations are left to the next attempt, or voided if the message has ended."""
        try:
            if any(reservation.is_open for reservation in held.reservations):
                if self._has_ended(held):
                    self._settle(held, held.reason or ClaimLost())
        except MusterError as error:
            self.logger.warning('%s: what it had reserved stays so: %s', held.message.id, error)
        finally:
            self._drop(held)

    def _drop(self, held: Held) -> None:
        held.attempt.end()
        with self._changed:
            self._held.discard(held)
            self._changed.notify_all()

    def _tell(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._ends or self._over.is_set())
                if not self._ends:
                    return
                if self._batch:
                    # Other claims that end within a moment share the request.
                    self._changed.wait_for(self._is_ready, linger_seconds)
                ends = [self._ends.popleft()]
                size = ends[0].size
                while self._batch and self._ends and len(ends) < max_calls - 1 and not ends[0].is_alone:
                    size += self._ends[0].size
                    if size > _max_batch_bytes or self._ends[0].is_alone:
                        break
                    ends.append(self._ends.popleft())
                self._telling = len(ends)
                joining = None
                if not ends[0].is_alone:
                    joining, self._joining = self._joining, None
            self._deliver(ends, joining)
            with self._changed:
                self._telling = 0
                self._changed.notify_all()

    def _deliver(self, ends: Sequence[End], joining: Joining | None) -> None:
        """Sends ends, and retries while their claims last. A joining receive is sent only once."""
        failures = 0
        is_batch = len(ends) > 1
        pending = list(ends)
        completed: list[Held] = []
        for end in pending:
            if end.error is not None:
                self._send_progress(end.held)
        while pending:
            again: list[End] = []
            calls = [(end.endpoint, end.args, end.key) for end in pending]
            trace_context = pending[0].held.attempt.trace_context if len(pending) == 1 else TraceContext()
            if joining is None:
                outcomes = self._ask(calls, is_batch, trace_context)
            else:
                # Received messages count against the size of a batch's answer, so the receive comes last.
                *outcomes, received = self._ask([*calls, joining.call], True, trace_context)
                with self._changed:
                    joining.outcome = received
                    joining.is_answered = True
                    self._changed.notify_all()
                joining = None
            for end, outcome in zip(pending, outcomes):
                if not isinstance(outcome, MusterError):
                    self._ended_well(end, outcome)
                    if end.error is None:
                        completed.append(end.held)
                elif outcome.code in lost_codes and not outcome.index:
                    self._lose(end.held, outcome.message)
                    self._forget(end.held)
                elif outcome.is_passing and time.monotonic() < end.held.lease_ends_at and not self._over.is_set():
                    again.append(end)
                elif outcome.is_passing or end.endpoint is MESSAGE_NACK:
                    self._lose(end.held, str(outcome))
                    self._forget(end.held)
                elif outcome.status == 413 and end.error is None and not outcome.index:
                    again.append(End(end.held, too_large(end.result, outcome)))
                else:
                    # For example, the results mailbox is gone, or the group is decided when its member asks.
                    again.append(End(end.held, outcome))
            pending = again
            if pending:
                pause = pause_after(failures, first_pause_seconds, max_pause_seconds)
                failures += 1
                self._over.wait(pause * (1 + random.random() / 4))
        self._forget_steps(completed)

    def _forget_steps(self, completed: Sequence[Held]) -> None:
        """Deletes the stored step values of completed messages, so that a run of many messages has room for more.

        If a deletion fails, the values are deleted with the run.
        """
        calls: list[Request] = [
            (NOTE_DELETE, {'scopeId': held.message.scope_id, 'key': key}, ABSENT)
            for held in completed
            for key in held.memo_keys
        ]
        for at in range(0, len(calls), max_calls):
            self._ask(calls[at : at + max_calls], True)

    def _send_progress(self, held: Held) -> None:
        """Sends the last progress, if it is still unsent, for the next attempt."""
        with self._changed:
            self._changed.wait_for(lambda: not held.is_renewing, self._timeout_seconds)
        if held.progress is not ABSENT:
            self._renew_all([held])

    def _ended_well(self, end: End, answer: Any) -> None:
        kind = 'completed' if end.error is None else 'asked' if isinstance(end.error, Asked) else 'failed'
        if kind == 'failed' and answer.state in ('READY', 'DELAYED'):
            kind = 'returned'
        end.held.attempt.end()
        with self._changed:
            end.held.is_over = True
            self._counts[kind] += 1
            self._held.discard(end.held)
            self._changed.notify_all()
        self.logger.debug('%s: %s', end.held.message.id, kind)
