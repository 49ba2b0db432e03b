"""The end of a claim, as it is sent to the service."""

from __future__ import annotations

import math
import uuid
from collections.abc import Callable
from typing import Any

from ._arguments import ABSENT, copied, encode
from ._base import BATCH, BatchedCall, Endpoint
from ._calls import MESSAGE_ASK, MESSAGE_COMPLETE, MESSAGE_NACK
from ._errors import Asked, GiveUp, MusterError, RetryLater, WorkerClosed, is_short, reason_of
from ._held import Held
from ._suspects import Untried, has_lapsed

_max_delay_seconds = 86_400
_short_seconds = 30
"""The delay before the next attempt if a budget or quota was short and the refusal has no Retry-After."""
_max_short_seconds = 60


class End:
    """The end of a claim: the message is completed, asks a question, or is given back."""

    def __init__(
        self,
        held: Held,
        error: BaseException | None,
        result: Any = None,
        target: str | None = None,
        encoded: Callable[[dict[str, Any]], dict[str, Any]] = dict,
    ) -> None:
        if error is not None and not isinstance(error, Asked):
            held.attempt.failed(error)
        args: dict[str, Any] = {'messageId': held.message.id, 'token': held.message.token}
        self.held = held
        self.error = error
        # A copy, as others may change what the handler has returned. A result that is not JSON fails here, as its error.
        self.result = copied(result) if error is None else result
        self.endpoint: Endpoint[Any] = MESSAGE_COMPLETE if error is None else MESSAGE_NACK
        if isinstance(error, Asked):
            self.endpoint = MESSAGE_ASK
            args.update(held.asking or {})
        elif error is None:
            publish = {} if target is None else {'mailboxId': target, 'scopeId': held.message.scope_id}
            if result is not None or target is not None:
                args['result'] = {'payload': self.result, **publish}
            if held.plan is not None:
                self.endpoint = BATCH
                completion: BatchedCall[Any] = BatchedCall(MESSAGE_COMPLETE, args, ABSENT)
                args = held.plan.args
                args['calls'].insert(0, completion.call)
        else:
            args.update(_way_back(held, error))
            # The next worker must see that an attempt has ended with its lease, though this one was not tried.
            is_closed = isinstance(error, WorkerClosed)
            if not isinstance(error, Untried) and not (is_closed and has_lapsed(held.message)):
                args['error'] = reason_of(error)
        self.args = encoded(args)
        self.key = str(uuid.uuid4())
        is_traced = error is None and target is not None and held.attempt.trace_context.traceparent is not None
        self.is_alone = is_traced or self.endpoint is BATCH
        """Whether it needs its own request, as an atomic batch does, or a published result that continues a trace"""
        self.size = len(encode(self.args).encode())


def _way_back(held: Held, error: BaseException) -> dict[str, Any]:
    """Returns the options of a nack."""
    if isinstance(error, GiveUp):
        return {'retry': False}
    if isinstance(error, WorkerClosed):
        return {'retry': True, 'countsAttempt': False}
    if isinstance(error, RetryLater):
        delay = min(_max_delay_seconds, max(0, math.ceil(error.seconds)))
        return {'retry': True, 'countsAttempt': error.counts_attempt, 'delaySeconds': delay}
    # An attempt that has spent something counts, so that it is not repeated endlessly.
    has_spent = held.has_spent or any(reservation.has_spent for reservation in held.reservations)
    if is_short(error) and not has_spent:
        delay = min(_max_short_seconds, error.retry_after_seconds or _short_seconds)
        return {'retry': True, 'countsAttempt': False, 'delaySeconds': delay}
    return {'retry': True}


def too_large(result: Any, error: MusterError) -> GiveUp:
    """Returns the reason to end a message whose result is too large: another attempt would not make it smaller."""
    size = len(encode(result).encode())
    limit = error.message.partition(':')[0]
    return GiveUp(
        f'the result has {size} bytes, which is too large ({limit}): store it elsewhere and return where it is, '
        'or raise maxPayloadBytes; then requeue the message'
    )
