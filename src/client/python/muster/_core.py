"""What workers do besides the work: receive, keep claims, tell what became of them."""

from __future__ import annotations

import logging
import math
import os
import random
import socket
import threading
import time
import uuid
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, Union

from . import _signals
from ._arguments import ABSENT, Amount, Id, encode, text
from ._base import BatchedCall, Endpoint
from ._calls import MESSAGE_COMPLETE, MESSAGE_NACK, MESSAGE_RECV_MANY, MESSAGE_RENEW
from ._client import Muster
from ._errors import (
    ClaimLost,
    GiveUp,
    MusterError,
    RetryLater,
    Stopped,
    WorkerClosed,
    is_short,
    reason_of,
)
from ._records import Claim, Waiter
from ._spending import Reservation, Spender, reserve, take_units
from ._transport import Stop

T = TypeVar('T')

MailboxChoice = Union[str, Mapping[str, Any]]
"""A mailbox by its name, made if there is none; its fields, to make it so; or `{'mailbox_id': …}`"""

_linger_seconds = 0.025
"""How long a call waits for others to share its request."""
_max_calls = 100
_max_batch_bytes = 1_500_000
"""A batch takes 2 MiB."""
_first_pause_seconds = 0.1
_max_pause_seconds = 5.0
_max_money_pause_seconds = 2.0
_empty_pause_seconds = 0.5
"""A server that answers held receives at once, as one that stops does, is not asked all the time."""
_progress_every_seconds = 1.0
_renew_again_seconds = 0.5
_soon = 1 / 30
"""Renewals that are due so soon, as a part of the lease, go with those that are due now."""
_return_seconds = 5.0
"""How long giving back may take after the deadline of `close`."""
_max_delay_seconds = 86_400
_short_seconds = 30
"""The pause of a message for which a budget or a quota was short, unless the refusal says less than a minute."""
_max_short_seconds = 60
_lost_codes = ('CLAIM_LOST', 'MESSAGE_NOT_FOUND')
_final_states = ('ACKED', 'REJECTED', 'FAILED', 'EXPIRED', 'CANCELLED')


@dataclass(frozen=True)
class WorkerCounts:
    """The counts of a worker since it started."""

    received: int
    completed: int
    returned: int
    """Given back for another attempt"""
    failed: int
    """Ended without success: GiveUp, or the last attempt"""
    lost: int
    active: int
    """Worked on now"""


class Held:
    """A claimed message in work."""

    def __init__(self, message: Claim) -> None:
        self.message = message
        self.reservations: list[Reservation] = []
        self.reserve_calls = 0
        self.is_over = False
        """The claim is over, or the message was given back: what the handler does now has no effect"""
        self.is_ending = False
        """The work is done, and it is told soon what became of it"""
        self.reason: ClaimLost | None = None
        """Why it is over before the work"""
        self.stop = Stop()
        """Ends what the handler waits for"""
        self.progress: Any = ABSENT
        """Not sent yet"""
        self.progress_at = -math.inf
        self.is_renewing = False
        self.leased_from(time.monotonic())

    def leased_from(self, moment: float) -> None:
        """Counts the lease from a moment, of time.monotonic() as all of them."""
        self.lease_ends_at = moment + self.message.lease_seconds
        self.renew_at = moment + self.message.lease_seconds / 3

    @property
    def due_at(self) -> float:
        """When it is to be renewed."""
        if self.is_renewing:
            return math.inf
        if self.progress is ABSENT:
            return self.renew_at
        return min(self.renew_at, self.progress_at + _progress_every_seconds)

    def over(self, reason: ClaimLost | None = None) -> None:
        """Ends its right to go on."""
        self.is_over = True
        if self.reason is None:
            self.reason = reason


class _TaskSpender(Spender):
    """A task that spends. It makes its calls until they are answered, for as long as its claim is kept."""

    def __init__(self, held: Held, core: Core, work_id: str) -> None:
        message = held.message
        super().__init__(
            core.muster, message.scope_id, core.holder, work_id, message.attempt, message.claimed_at
        )
        self._held = held
        self._core = core

    @property
    def is_over(self) -> bool:
        return self._held.is_over

    def call(self, endpoint: Endpoint[T], args: Mapping[str, Any], stop: Stop | None = None) -> T:
        return self._core.insist(self._held, endpoint, args, stop)


class TaskBase:
    """What handlers of both kinds of workers can do besides their work."""

    message: Claim
    log: logging.LoggerAdapter[logging.Logger]
    """A logger whose lines name the message"""

    def __init__(self, held: Held, core: Core) -> None:
        self.message = held.message
        self.log = _Log(core.logger, {'message_id': held.message.id})
        self._held = held
        self._core = core

    @property
    def is_lost(self) -> bool:
        """Whether the claim was lost or cancelled, or the worker has given the message back."""
        return self._held.reason is not None

    def raise_if_lost(self) -> None:
        """Raises `ClaimLost`, or `WorkerClosed`, once the claim is over."""
        if self._held.reason is not None:
            raise self._held.reason

    def progress(self, value: Any) -> None:
        """Keeps a JSON value of at most 4,096 bytes with the message: the next attempt finds it in `message.progress`.

        Does not wait. It goes out at once, at most one a second; the last one always does.
        """
        encode(value)
        self._core.progressed(self._held, value)

    def _reserve(self, budget: Id, amount_minor: Amount) -> Reservation:
        self.raise_if_lost()
        self._held.reserve_calls += 1
        work_id = f'{self.message.id}/{self._held.reserve_calls}'
        reservation = reserve(_TaskSpender(self._held, self._core, work_id), budget, amount_minor)
        self._held.reservations.append(reservation)
        return reservation

    def _units(self, allowance: Id, units: int) -> Waiter:
        spender = _TaskSpender(self._held, self._core, self.message.id)
        try:
            return take_units(spender, allowance, units, self._held.stop)
        except Stopped:
            self.raise_if_lost()
            raise


if TYPE_CHECKING:
    _Adapter = logging.LoggerAdapter[logging.Logger]
else:  # Python 3.10 has no types of it.
    _Adapter = logging.LoggerAdapter


class _Log(_Adapter):
    def process(self, msg: Any, kwargs: Any) -> tuple[Any, Any]:
        message_id = (self.extra or {}).get('message_id')
        return f'{message_id}: {msg}', kwargs


class _End:
    """How a claim is to end: completed, or given back."""

    def __init__(
        self, held: Held, error: BaseException | None, result: Any = None, target: str | None = None
    ) -> None:
        args: dict[str, Any] = {'messageId': held.message.id, 'token': held.message.token}
        self.held = held
        self.error = error
        if error is None:
            publish = {} if target is None else {'mailboxId': target, 'scopeId': held.message.scope_id}
            if result is not None or target is not None:
                args['result'] = {'payload': result, **publish}
        else:
            args.update(_way_back(held, error), error=reason_of(error))
        self.endpoint: Endpoint[Any] = MESSAGE_COMPLETE if error is None else MESSAGE_NACK
        self.args = args
        self.key = str(uuid.uuid4())
        # A result that is no JSON fails here, as the handler's error.
        self.size = len(encode(args).encode())


def _way_back(held: Held, error: BaseException) -> dict[str, Any]:
    """The options of a nack."""
    if isinstance(error, GiveUp):
        return {'retry': False}
    if isinstance(error, WorkerClosed):
        return {'retry': True, 'countsAttempt': False}
    if isinstance(error, RetryLater):
        delay = min(_max_delay_seconds, max(0, math.ceil(error.seconds)))
        return {'retry': True, 'countsAttempt': error.counts_attempt, 'delaySeconds': delay}
    # An attempt that has spent something was made, and must not be repeated without end.
    if is_short(error) and not any(reservation.has_spent for reservation in held.reservations):
        delay = min(_max_short_seconds, error.retry_after_seconds or _short_seconds)
        return {'retry': True, 'countsAttempt': False, 'delaySeconds': delay}
    return {'retry': True}


def _too_large(result: Any, error: MusterError) -> GiveUp:
    """No attempt would make it smaller."""
    size = len(encode(result).encode())
    limit = error.message.partition(':')[0]
    return GiveUp(
        f'the result has {size} bytes, which is too large ({limit}): store it elsewhere and return where it is, '
        'or raise maxPayloadBytes; then requeue the message'
    )


class Core:
    """Receives messages, keeps their claims by renewing them, and tells what became of them."""

    def __init__(
        self,
        muster: Muster,
        mailbox: MailboxChoice,
        *,
        scope_id: Id,
        concurrency: int,
        holder: str | None,
        lease_seconds: int,
        results_to: MailboxChoice | None,
        wait_seconds: int,
        batch: bool,
        close_seconds: float,
        close_on_signals: bool,
        logger: logging.Logger | None,
    ) -> None:
        if concurrency < 1:
            raise ValueError('concurrency must be at least 1')
        self.muster = muster
        self.holder = holder or f'{socket.gethostname()[:200]}/{os.getpid()}'
        self.logger = logger or logging.getLogger('muster.worker')
        self._mailbox = mailbox
        self._from: dict[str, Any] = {
            'scopeId': text(scope_id),
            'holder': self.holder,
            'holderSession': str(uuid.uuid4()),
            'leaseSeconds': lease_seconds,
            'waitSeconds': wait_seconds,
        }
        self._timeout_seconds = lease_seconds / 3
        self._concurrency = concurrency
        self._results_to = results_to
        self._target: str | None = None
        self._batch = batch
        self._close_seconds = close_seconds
        self._close_on_signals = close_on_signals
        self.signals = 0
        """How many it has heard"""
        self._mailbox_id: str | None = None
        # Guards what follows.
        self._changed = threading.Condition()
        self._held: set[Held] = set()
        self._ends: deque[_End] = deque()
        self._telling = 0
        self._running = 0
        self._counts = {'received': 0, 'completed': 0, 'returned': 0, 'failed': 0, 'lost': 0}
        self._failure: BaseException | None = None
        self._closer: threading.Thread | None = None
        self._away_since: float | None = None
        self._stop = Stop()
        """Ends receiving"""
        self._over = Stop()
        """Ends everything"""
        self.ended = Stop()

    # What a kind of worker adds.

    def _begin(self, held: Held) -> None:
        """Begins the work on a message; `_finish` is called when it is done."""
        raise NotImplementedError

    def _interrupt(self, held: Held) -> None:
        """Tells the handler that its claim is over."""
        raise NotImplementedError

    @property
    def counts(self) -> WorkerCounts:
        """What it has done since it started."""
        with self._changed:
            return WorkerCounts(**self._counts, active=self._running)

    @property
    def mailbox_id(self) -> str | None:
        """The id of the mailbox, once it is found or made."""
        return self._mailbox_id

    def progressed(self, held: Held, value: Any) -> None:
        """Has a task's progress sent."""
        with self._changed:
            if not held.is_over:
                held.progress = value
                self._changed.notify_all()

    def insist(self, held: Held, endpoint: Endpoint[T], args: Mapping[str, Any], stop: Stop | None) -> T:
        """Makes a call of a task until it is answered, for as long as its claim is kept. One that is held has a `stop`."""
        key = ABSENT if endpoint.method == 'GET' else str(uuid.uuid4())
        timeout_seconds = None if stop else self._timeout_seconds
        failures = 0
        while True:
            try:
                return self.muster.request(
                    endpoint, args, idempotency_key=key, attempts=1, timeout_seconds=timeout_seconds, stop=stop
                )
            except MusterError as error:
                if held.is_over or not error.is_passing:
                    raise
                self.logger.warning('%s: trying again: %s', held.message.id, error)
                pause = min(_max_money_pause_seconds, _first_pause_seconds * 2**failures)
                failures += 1
                asked = min(60, error.retry_after_seconds or 0)
                held.stop.wait(max(pause, asked) * (1 + random.random() / 4))
                if held.is_over:
                    raise (held.reason or error) from error

    def _start(self) -> None:
        if self._close_on_signals:
            _signals.add(self)
        for part in (self._receive, self._tell, self._renew, self._watch):
            threading.Thread(target=self._run, args=(part,), name=f'muster-{part.__name__[1:]}', daemon=True).start()

    def _run(self, part: Callable[[], None]) -> None:
        try:
            part()
        except Stopped:
            pass
        except BaseException as error:  # A worker that lacks one of its parts must not go on.
            self.logger.error('the worker stops: %s', error)
            with self._changed:
                self._failure = self._failure or error
            self._close_soon(self._close_seconds)

    def hear_signal(self) -> None:
        """The first one closes it, another one ends it at once."""
        self.signals += 1
        if self.signals == 1:
            self._close_soon(self._close_seconds)
        else:
            self._end()

    def _wait_ended(self) -> None:
        # Without a limit a signal would not be seen on every system.
        while not self.ended.wait(1):
            pass

    def _end(self) -> None:
        _signals.discard(self)
        self.ended.set()

    def _close_soon(self, seconds: float) -> None:
        """Begins to close, once."""
        with self._changed:
            if self._closer is not None:
                return
            self._closer = threading.Thread(target=self._close, args=(seconds,), name='muster-close', daemon=True)
        self._closer.start()

    def _close(self, seconds: float) -> None:
        """Lets the work go on for so many seconds, and gives back what is not done then."""
        self._stop.set()
        with self._changed:
            self._changed.notify_all()
            self._changed.wait_for(lambda: not self._held, seconds)
            reason = WorkerClosed('the worker stopped before the work was done')
            unfinished = [held for held in self._held if not held.is_over and not held.is_ending]
            for held in unfinished:
                held.over(reason)
                self._ends.append(_End(held, reason))
            self._changed.notify_all()
        for held in unfinished:
            self._told(held)
        with self._changed:
            self._changed.wait_for(lambda: not self._ends and not self._telling, _return_seconds)
        self._over.set()
        with self._changed:
            self._changed.notify_all()
        self._end()

    def _told(self, held: Held) -> None:
        held.stop.set()
        self._interrupt(held)

    # Receiving.

    def _receive(self) -> None:
        self._mailbox_id = self._find(self._mailbox)
        self._target = None if self._results_to is None else self._find(self._results_to)
        while (room := self._room()) > 0:
            asked_at = time.monotonic()
            args = {**self._from, 'mailboxId': self._mailbox_id, 'max': min(_max_calls, room) if self._batch else 1}
            answer = self._reach(
                # A held one would tell late that an outage has ended.
                lambda: self.muster.request(
                    MESSAGE_RECV_MANY,
                    args if self._away_since is None else {**args, 'waitSeconds': 0},
                    attempts=1,
                    stop=self._stop,
                )
            )
            for message in answer.messages if answer else []:
                held = Held(message)
                with self._changed:
                    self._held.add(held)
                    self._running += 1
                    self._counts['received'] += 1
                    self._changed.notify_all()
                self._begin(held)
            if answer is None and time.monotonic() - asked_at < _empty_pause_seconds:
                self._stop.wait(_empty_pause_seconds)

    def _room(self) -> int:
        """Waits for room; 0 once it stops. Where there is little, it waits a moment for more, to receive many at once."""

        def room() -> int:
            return self._concurrency - self._running

        with self._changed:
            self._changed.wait_for(lambda: room() > 0 or self._stop.is_set())
            if self._batch and room() < self._concurrency / 4:
                self._changed.wait_for(
                    lambda: room() >= self._concurrency / 4 or self._stop.is_set(), _linger_seconds
                )
            return 0 if self._stop.is_set() else room()

    def _find(self, mailbox: MailboxChoice) -> str:
        if not isinstance(mailbox, str) and 'mailbox_id' in mailbox:
            return text(mailbox['mailbox_id'])
        fields: dict[str, Any] = {'name': mailbox} if isinstance(mailbox, str) else dict(mailbox)
        fields['unique'] = True
        return self._reach(lambda: self.muster.mailbox.create(**fields, attempts=1)).id

    def _reach(self, call: Callable[[], T]) -> T:
        """Makes a call until it is answered, however long the service is away."""
        failures = 0
        while True:
            if self._stop.is_set():
                raise Stopped
            try:
                answer = call()
            except MusterError as error:
                # Operations come back with the next month.
                if not error.is_passing and error.status != 402:
                    raise
                self._outage_begins(error)
                pause = min(_max_pause_seconds, _first_pause_seconds * 2**failures)
                failures += 1
                asked = min(60, error.retry_after_seconds or 0)
                self._stop.wait(max(pause, asked) * (1 + random.random() / 4))
            else:
                self._outage_ends()
                return answer

    def _outage_begins(self, error: MusterError) -> None:
        """Says so once."""
        with self._changed:
            if self._away_since is not None:
                return
            self._away_since = time.monotonic()
        why = reason_of(error)
        self.logger.warning('the service does not answer as it should, trying again until it does: %s', why)

    def _outage_ends(self) -> None:
        with self._changed:
            since, self._away_since = self._away_since, None
        if since is not None:
            seconds = math.ceil(time.monotonic() - since)
            self.logger.warning('the service answers again, after %d s', seconds)

    # What became of the work.

    def _finish(self, held: Held, error: BaseException | None, result: Any) -> None:
        """Takes what the handler returned or raised; blocks while it settles what was reserved."""
        with self._changed:
            self._running -= 1
            self._changed.notify_all()
            is_over = held.is_over
        try:
            if is_over:
                self._forget(held)
                return
            self._settle(held, error)
            try:
                end = _End(held, error, result, self._target)
            except (TypeError, ValueError) as unfit:
                error = unfit
                end = _End(held, error)
        except BaseException as other:
            end = _End(held, other)
        if isinstance(error, MusterError) and error.is_passing and not is_short(error):
            self._outage_begins(error)
        elif error is not None and not isinstance(error, (RetryLater, GiveUp)) and not is_short(error):
            self.logger.warning('%s: the handler raised %r', held.message.id, error, exc_info=error)
        with self._changed:
            if not held.is_over:
                held.is_ending = True
                self._ends.append(end)
                self._changed.notify_all()
                return
        self._forget(held)

    def _settle(self, held: Held, error: BaseException | None) -> None:
        """Settles what is left of the money, or gives it back where the work has failed."""
        for reservation in held.reservations:
            if reservation.is_open:
                try:
                    reservation.settle(0 if error is not None else None)
                except Exception as refusal:
                    # The work is done: that its cost is refused is no reason to do it again.
                    self.logger.warning('%s: not settled: %s', held.message.id, refusal)

    def _forget(self, held: Held) -> None:
        """A task that was lost. What it had reserved is left to the next attempt, where there can be one."""
        try:
            if any(reservation.is_open for reservation in held.reservations):
                if self.muster.message.view(message_id=held.message.id).state in _final_states:
                    self._settle(held, held.reason or ClaimLost())
        except MusterError as error:
            self.logger.warning('%s: what it had reserved stays so: %s', held.message.id, error)
        finally:
            self._drop(held)

    def _drop(self, held: Held) -> None:
        with self._changed:
            self._held.discard(held)
            self._changed.notify_all()

    def _lose(self, held: Held, why: str) -> None:
        with self._changed:
            if held.is_over:
                return
            held.over(ClaimLost(why))
            self._counts['lost'] += 1
        # Of an outage that outlasts leases there is a line already.
        level = logging.WARNING if self._away_since is None else logging.DEBUG
        self.logger.log(level, '%s: the claim is lost: %s', held.message.id, why)
        self._told(held)

    def _tell(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._ends or self._over.is_set())
                if not self._ends:
                    return
                if self._batch:
                    # Others that end in a moment share the request.
                    self._changed.wait_for(
                        lambda: len(self._ends) >= min(_max_calls, math.ceil(len(self._held) / 4)), _linger_seconds
                    )
                ends = [self._ends.popleft()]
                size = ends[0].size
                while self._batch and self._ends and len(ends) < _max_calls:
                    size += self._ends[0].size
                    if size > _max_batch_bytes:
                        break
                    ends.append(self._ends.popleft())
                self._telling = len(ends)
            self._deliver(ends)
            with self._changed:
                self._telling = 0
                self._changed.notify_all()

    def _deliver(self, ends: Sequence[_End]) -> None:
        """Tells how claims have ended; tries again as long as they last."""
        failures = 0
        is_batch = len(ends) > 1
        pending = list(ends)
        for end in pending:
            if end.error is not None:
                self._send_progress(end.held)
        while pending:
            again: list[_End] = []
            for end, outcome in zip(pending, self._send(pending, is_batch)):
                if not isinstance(outcome, MusterError):
                    self._ended_well(end, outcome)
                elif outcome.code in _lost_codes:
                    self._lose(end.held, outcome.message)
                    self._forget(end.held)
                elif outcome.is_passing and time.monotonic() < end.held.lease_ends_at and not self._over.is_set():
                    again.append(end)
                elif outcome.is_passing or end.error is not None:
                    self._lose(end.held, str(outcome))
                    self._forget(end.held)
                elif outcome.status == 413:
                    again.append(_End(end.held, _too_large(end.args['result']['payload'], outcome)))
                else:
                    # A mailbox for results that is gone, for instance.
                    again.append(_End(end.held, outcome))
            pending = again
            if pending:
                pause = min(_max_pause_seconds, _first_pause_seconds * 2**failures)
                failures += 1
                self._over.wait(pause * (1 + random.random() / 4))

    def _send_progress(self, held: Held) -> None:
        """The next attempt is to find what this one reached last."""
        with self._changed:
            self._changed.wait_for(lambda: not held.is_renewing, self._timeout_seconds)
        if held.progress is not ABSENT:
            self._renew_all([held])

    def _send(self, ends: Sequence[_End], is_batch: bool) -> list[Any]:
        """What each is answered, or the error that it is."""
        calls = [BatchedCall[Any](end.endpoint, end.args, end.key) for end in ends]
        return self._ask(calls, ends[0] if not is_batch else None)

    def _ask(self, calls: Sequence[BatchedCall[Any]], single: _End | None) -> list[Any]:
        try:
            if single is not None:
                answer = self.muster.request(
                    single.endpoint,
                    single.args,
                    idempotency_key=single.key,
                    attempts=1,
                    timeout_seconds=self._timeout_seconds,
                )
                return [answer]
            results = self.muster.batch(calls, attempts=1, timeout_seconds=self._timeout_seconds)
            return [result.error or result.answer for result in results]
        except MusterError as error:
            return [error for _ in calls]

    def _ended_well(self, end: _End, answer: Any) -> None:
        kind = 'completed' if end.error is None else 'returned' if answer.state in ('READY', 'DELAYED') else 'failed'
        with self._changed:
            end.held.is_over = True
            self._counts[kind] += 1
            self._held.discard(end.held)
            self._changed.notify_all()
        self.logger.debug('%s: %s', end.held.message.id, kind)

    # Keeping claims.

    def _renew(self) -> None:
        while not self._over.is_set():
            with self._changed:
                now = time.monotonic()
                live = [held for held in self._held if not held.is_over]
                ended = [held for held in live if now >= held.lease_ends_at]
                due = [held for held in live if self._is_due(held, now)]
                if not ended and not due:
                    next_at = min((min(held.lease_ends_at, held.due_at) for held in live), default=math.inf)
                    self._changed.wait(None if next_at == math.inf else max(0.0, next_at - now))
                    continue
            for held in ended:
                self._lose(held, 'the lease is over and could not be renewed')
            for start in range(0, len(due), _max_calls):
                self._renew_all([held for held in due[start : start + _max_calls] if not held.is_over])

    def _is_due(self, held: Held, now: float) -> bool:
        if held.is_renewing:
            return False
        return held.due_at <= now or held.renew_at <= now + held.message.lease_seconds * _soon

    def _renew_all(self, all_held: Sequence[Held]) -> None:
        """Renews, and with it asks whether the claims still stand."""
        sent_at = time.monotonic()
        sent: list[tuple[Held, Any]] = []
        with self._changed:
            for held in all_held:
                sent.append((held, held.progress))
                if held.progress is not ABSENT:
                    held.progress_at = sent_at
                held.progress = ABSENT
                held.is_renewing = True
        calls = [self._renewal(held, progress) for held, progress in sent]
        # Several at a time: in one request. Renewing twice does no harm, so no key is kept.
        outcomes = self._ask(calls, None) if len(calls) != 1 else self._renewed_alone(*sent[0])
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
                # Progress that is too large: without it the claim is kept all the same.
                held.renew_at = now if outcome.status == 413 else now + _renew_again_seconds * (1 + random.random())
            if outcome.code in _lost_codes:
                self._lose(held, outcome.message)
            elif outcome.is_passing:
                self._outage_begins(outcome)
            else:
                self.logger.warning('%s: not renewed: %s', held.message.id, outcome)

    def _renewal(self, held: Held, progress: Any) -> BatchedCall[Any]:
        return BatchedCall(MESSAGE_RENEW, self._renewal_args(held, progress), ABSENT)

    def _renewal_args(self, held: Held, progress: Any) -> dict[str, Any]:
        message = held.message
        return {
            'messageId': message.id,
            'token': message.token,
            'leaseSeconds': message.lease_seconds,
            'progress': progress,
        }

    def _renewed_alone(self, held: Held, progress: Any) -> list[Any]:
        args = self._renewal_args(held, progress)
        try:
            return [self.muster.request(MESSAGE_RENEW, args, attempts=1, timeout_seconds=self._timeout_seconds)]
        except MusterError as error:
            return [error]

    def _watch(self) -> None:
        """Asks about a claim when its message is said to be over. Without the permission to watch, the next renewal tells."""
        scope_id = None if self._from['scopeId'] == '*' else self._from['scopeId']
        types = ('message.cancelled', 'message.expired')
        while not self._over.is_set():
            try:
                journal = self.muster.events(types=types, scope_id=scope_id, cursor='latest', stop=self._over)
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
                self._over.wait(_max_pause_seconds)
