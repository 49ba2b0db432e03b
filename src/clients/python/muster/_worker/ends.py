"""Ends claims: a message is completed, asks a question, is suspended, or is given back."""

from __future__ import annotations

import logging
import math
import uuid
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from .._arguments import ABSENT, copied, encode, given
from .._base import BATCH, BatchedCall, Endpoint, Plan
from .._calls import (
    MESSAGE_ASK,
    MESSAGE_COMPLETE,
    MESSAGE_NACK,
    MESSAGE_SEND,
    MESSAGE_SUSPEND,
    NOTE_DELETE,
    NOTE_PUT,
)
from .._client import Muster
from .._errors import GiveUp, MusterError, RetryLater, WorkerClosed, is_short, reason_of
from .._tracing import TraceContext
from .insist import InsistingClaim, insist
from .leases import Leases, renewal
from .outbox import Outbox, Request, ask, max_calls
from .results import final_states
from .suspects import Untried, has_lapsed
from .suspending import Suspending
from .task import ClaimedTask

_max_delay_seconds = 86_400
_short_seconds = 30
"""The delay before the next attempt if a budget or quota was short and the refusal has no Retry-After."""
_max_short_seconds = 60
_end_seconds = 5.0
"""How long the end of a claim may take that is under way."""


class Ends:
    """Ends claims, in batches if there is an outbox. Retries as long as the claim lasts."""

    def __init__(
        self, muster: Muster, outbox: Outbox | None, leases: Leases, timeout_seconds: float, logger: logging.Logger
    ) -> None:
        self._muster = muster
        self._outbox = outbox
        self._leases = leases
        self._timeout_seconds = timeout_seconds
        self._logger = logger

    def once(self, request: Request, task: ClaimedTask | None = None, is_alone: bool = False) -> Any:
        """Makes one attempt of a call, in a batch or alone.

        Args:
            request: the call
            task: the task that the call ends
            is_alone: whether it must not share a request
        """

        def on_sent() -> None:
            if task is not None:
                task.is_ending = False

        if self._outbox is not None and not is_alone:
            (outcome,) = self._outbox.send([request], on_sent)
        else:
            on_sent()
            trace_context = TraceContext() if task is None else task.attempt.trace_context
            (outcome,) = ask(
                self._muster, [request], self._timeout_seconds, is_batch=False, trace_context=trace_context
            )
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    def complete(self, task: ClaimedTask, payload: Any, results_to: str | None) -> None:
        """Settles the rest of the money, and completes the message."""
        # A copy, as others may change what the handler has returned. Before the money is settled: if it is not JSON, the
        # attempt has failed.
        result = copied(payload)
        target = {} if results_to is None else {'mailboxId': results_to, 'scopeId': task.message.scope_id}
        args: dict[str, Any] = {'messageId': task.message.id, 'token': task.message.token}
        if payload is not None or results_to is not None:
            args['result'] = {'payload': result, **target}
        endpoint: Any = MESSAGE_COMPLETE
        if task.plan is not None:
            endpoint = BATCH
            completion: BatchedCall[Any] = BatchedCall(MESSAGE_COMPLETE, args, ABSENT)
            args = task.plan.args
            args['calls'].insert(0, completion.call)
        request = endpoint, self._muster.encoded(args), str(uuid.uuid4())
        # A published result continues the trace of its request.
        is_traced = results_to is not None and task.attempt.trace_context.traceparent is not None
        self._settle(task, None)
        try:
            insist(task, partial(self.once, request, task, is_traced or endpoint is BATCH))
        except MusterError as error:
            # The first call of an atomic batch is the completion, the others are the plan's.
            if error.status == 413 and not error.index:
                raise _too_large(result, error) from error
            raise

    def forget(self, task: ClaimedTask) -> None:
        """Deletes the stored step values of a completed message, so that a run of many messages has room for more.

        If a deletion fails, the values are deleted with the run.
        """
        scope_id = task.message.scope_id
        requests: list[Request] = [(NOTE_DELETE, {'scopeId': scope_id, 'key': key}, ABSENT) for key in task.memos.keys]
        for at in range(0, len(requests), max_calls):
            if self._outbox is not None:
                self._outbox.send(requests[at : at + max_calls])
            else:
                ask(self._muster, requests[at : at + max_calls], self._timeout_seconds, is_batch=True)

    def ask(self, task: ClaimedTask) -> None:
        """Gives back the rest of the money and asks the question, which ends the claim."""
        self._put_aside(task, partial(self._put_aside_once, task, MESSAGE_ASK, task.asking or {}))

    def suspend(self, task: ClaimedTask, suspending: Suspending) -> None:
        """Gives back the rest of the money and suspends the message, together with the sends of a join."""
        if suspending.note is None:
            self._put_aside(task, partial(self._put_aside_once, task, MESSAGE_SUSPEND, suspending.options))
        else:
            self._put_aside(task, partial(self._join_once, task, suspending, suspending.note))

    def _put_aside_once(
        self, task: ClaimedTask, endpoint: Endpoint[Any], fields: Mapping[str, Any], progress: Any
    ) -> None:
        message = task.message
        args = given({'messageId': message.id, 'token': message.token, **fields, 'progress': progress})
        request: Request = endpoint, self._muster.encoded(args), str(uuid.uuid4())
        insist(task, partial(self.once, request, task))

    def _join_once(self, task: ClaimedTask, suspending: Suspending, note: Mapping[str, Any], progress: Any) -> None:
        message, plan = task.message, Plan()
        plan.add(NOTE_PUT, note)
        after = [*suspending.ahead, *(plan.add(MESSAGE_SEND, send).id for send in suspending.sends)]
        claim = {'messageId': message.id, 'token': message.token}
        plan.add(MESSAGE_SUSPEND, {**claim, **suspending.options, 'after': after, 'progress': progress})
        request: Request = BATCH, self._muster.encoded(plan.args), str(uuid.uuid4())
        insist(task, partial(self.once, request, task, is_alone=True))

    def _put_aside(self, task: ClaimedTask, call: Callable[[Any], None]) -> None:
        """Makes a call that ends the claim. Progress goes with it, because the claim cannot be renewed afterwards."""
        self.void(task)
        progress = self._leases.take_progress(task)
        try:
            try:
                call(progress)
            except MusterError as error:
                # Drop progress that is too large, as a renewal does. If something else is too large, it is refused again.
                if progress is ABSENT or error.status != 413:
                    raise
                call(ABSENT)
        except MusterError:
            if task.progress is ABSENT:
                task.progress = progress
            raise

    def give_back(self, task: ClaimedTask, error: BaseException, claim: InsistingClaim | None = None) -> Any:
        """Gives back the rest of the money and the message.

        Args:
            task: the task
            error: why it is given back
            claim: lasts as long as the call may be repeated; default: the task's
        """
        args: dict[str, Any] = {'messageId': task.message.id, 'token': task.message.token, **_way_back(task, error)}
        progress = self._leases.take_progress(task)
        if progress is not ABSENT:
            try:
                self.once(renewal(task, progress))
            except MusterError as refusal:
                self._logger.debug('%s: the last progress was refused: %s', task.message.id, refusal)
        # While the worker closes, the handler still runs and may settle what it has spent. The next attempt gets the rest.
        is_closed = isinstance(error, WorkerClosed)
        if not is_closed:
            self.void(task)
        # The next worker must see that an attempt has ended with its lease, though this one was not tried.
        if not isinstance(error, Untried) and not (is_closed and has_lapsed(task.message)):
            args['error'] = reason_of(error)
        request: Request = MESSAGE_NACK, self._muster.encoded(args), str(uuid.uuid4())
        return insist(claim or task, partial(self.once, request, task))

    def void(self, task: ClaimedTask) -> None:
        """Gives back the rest of the money."""
        self._settle(task, 0)

    def _settle(self, task: ClaimedTask, amount_minor: int | None) -> None:
        for reservation in task.reservations:
            if reservation.is_open:
                try:
                    reservation.settle(amount_minor)
                except Exception as refusal:
                    # A refused cost is no reason to repeat finished work.
                    self._logger.warning('%s: not settled: %s', task.message.id, refusal)

    def void_if_ended(self, task: ClaimedTask) -> None:
        """Voids the reservations of a lost task if its message has ended. Otherwise the next attempt takes them over."""
        if any(reservation.is_open for reservation in task.reservations) and self._has_ended(task):
            self.void(task)

    def has_next(self, task: ClaimedTask) -> bool:
        """Whether the attempt is over and another one may follow, which finds what this one has reserved."""
        if task.ending:
            task.ended.wait(_end_seconds)
        elif not task.is_over:
            return False
        return not self._has_ended(task)

    def _has_ended(self, task: ClaimedTask) -> bool:
        return self._muster.message.view(message_id=task.message.id).state in final_states


def _way_back(task: ClaimedTask, error: BaseException) -> dict[str, Any]:
    """Returns the options of a nack."""
    if isinstance(error, GiveUp):
        return {'retry': False}
    if isinstance(error, WorkerClosed):
        return {'retry': True, 'countsAttempt': False}
    if isinstance(error, RetryLater):
        delay = min(_max_delay_seconds, max(0, math.ceil(error.seconds)))
        return {'retry': True, 'countsAttempt': error.counts_attempt, 'delaySeconds': delay}
    # An attempt that has spent something counts, so that it is not repeated endlessly.
    has_spent = task.has_spent or any(reservation.has_spent for reservation in task.reservations)
    if is_short(error) and not has_spent:
        delay = min(_max_short_seconds, error.retry_after_seconds or _short_seconds)
        return {'retry': True, 'countsAttempt': False, 'delaySeconds': delay}
    return {'retry': True}


def _too_large(result: Any, error: MusterError) -> GiveUp:
    """Another attempt would not make the value smaller."""
    size = len(encode(result).encode())
    which, limit = f'({error.message.partition(":")[0]})', 'maxPayloadBytes'
    if error.code == 'UNREADABLE':
        which, limit = 'for a proxy', 'the limit of the proxy'
    return GiveUp(
        f'the result has {size} bytes, which is too large {which}: store it elsewhere and return where it is, '
        f'or raise {limit}; then requeue the message'
    )
