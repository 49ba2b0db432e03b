"""A worker: receives messages, and starts and stops the work on them."""

from __future__ import annotations

import inspect
import logging
import math
import os
import random
import socket
import threading
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Generic, TypeVar

from .._arguments import ABSENT, Id, text
from .._calls import MAILBOX_LEAVE, MESSAGE_RECV_MANY
from .._client import AsyncMuster, Muster
from .._drift import warn_of_drift
from .._errors import (
    ClaimLost,
    GiveUp,
    MusterError,
    RetryLater,
    Stopped,
    WorkerClosed,
    is_lost,
    is_short,
    reason_of,
)
from .._forks import Own
from .._records import Claim, Mailbox
from .._transport import Stop, pause_after
from . import signals
from .ends import Ends
from .insist import first_pause_seconds
from .leases import Leases
from .options import MailboxChoice, WorkerCounts
from .outage import Outage
from .outbox import Outbox, linger_seconds, max_calls
from .rate import StartRate, Starts
from .suspects import Untried, is_suspect, max_leases_alone
from .task import ClaimedTask

M = TypeVar('M', Muster, AsyncMuster)
H = TypeVar('H')
T = TypeVar('T')

_max_pause_seconds = 5.0
_empty_pause_seconds = 0.5
"""The pause if a server answers held receives at once, for example because it is stopping."""
_leave_again_seconds = 0.025
"""The pause before a held receive is ended again, doubled each time: the last call may have come before the receive."""
_answer_seconds = 0.5
"""With a server that cannot end held receives: one that finds messages at once is answered within this time. If it were
cut earlier, its messages would stay claimed until their leases end."""
_return_seconds = 5.0
"""How long returning messages may take after the deadline of `close`, and ends that are under way."""


def wait_for(ended: Stop) -> None:
    # Without a timeout, the wait would not notice a signal on some systems.
    while not ended.wait(1):
        pass


def is_drained(mailbox: Mailbox) -> bool:
    """Whether no worker has anything left to do in a mailbox."""
    counts = mailbox.counts
    return counts.ready + counts.delayed + counts.claimed == 0


class WorkerBase(Generic[M, H]):
    """Receives messages, keeps their claims, and ends the claims with the handler's outcome.

    A subclass runs the handlers, in threads or in an event loop.
    """

    _is_async = False

    def __init__(
        self,
        muster: M,
        mailbox: MailboxChoice,
        handler: H,
        *,
        scope_id: Id = '*',
        concurrency: int = 1,
        rate: StartRate | None = None,
        holder: str | None = None,
        lease_seconds: int = 30,
        results_to: MailboxChoice | None = None,
        wait_seconds: int = 20,
        batch: bool = True,
        close_seconds: float = 25,
        close_on_signals: bool = True,
        logger: logging.Logger | None = None,
    ) -> None:
        if concurrency < 1:
            raise ValueError('concurrency must be at least 1')
        if not self._is_async and inspect.iscoroutinefunction(handler):
            raise TypeError('an async handler needs an AsyncWorker')
        self.muster: Muster = muster if isinstance(muster, Muster) else muster.sync
        self.given_muster = muster
        """The client as given: an AsyncMuster if the handler is async"""
        self.holder = holder or f'{socket.gethostname()[:200]}/{os.getpid()}'
        self.logger = logger or logging.getLogger('muster.worker')
        self.signals = 0
        """The number of signals received"""
        self.ended = Stop()
        self._own = Own()
        self._mailbox = mailbox
        self._handler = handler
        self._scope_id = text(scope_id)
        self._from: dict[str, Any] = {
            'scopeId': self._scope_id,
            'holder': self.holder,
            'holderSession': str(uuid.uuid4()),
            'leaseSeconds': lease_seconds,
        }
        self._wait_seconds = wait_seconds
        self._concurrency = concurrency
        self._starts = None if rate is None else Starts(rate)
        self._results_to = results_to
        self._target: str | None = None
        """The mailbox for results"""
        self._close_seconds = close_seconds
        self._close_on_signals = close_on_signals
        self._timeout_seconds = lease_seconds / 3
        self._outage = Outage(self.logger)
        self._outbox = Outbox(self.muster, self._timeout_seconds, self._is_enough) if batch else None
        self._leases = Leases(self.muster, self._timeout_seconds, self._lose, self._outage, self.logger)
        self._ends = Ends(self.muster, self._outbox, self._leases, self._timeout_seconds, self.logger)
        self._stop = Stop()
        """Ends receiving"""
        self._cut = Stop()
        """Cuts a receive held at the server, if it cannot be ended otherwise"""
        self._over = Stop()
        """Ends all threads of the worker"""
        # Guards everything that follows.
        self._changed = threading.Condition()
        self._tasks: set[ClaimedTask] = set()
        """Claims that have not ended"""
        self._running = 0
        self._counts = {'received': 0, 'completed': 0, 'asked': 0, 'suspended': 0, 'returned': 0, 'failed': 0, 'lost': 0}
        self._mailbox_id: str | None = None
        self._failure: BaseException | None = None
        self._closer: threading.Thread | None = None
        self._is_joining = False
        """Whether a receive is being sent with ends; `close` waits for it, to give its messages back"""
        self._is_wary = False
        """Whether the last message was worked on alone"""
        self._asked_at = -math.inf
        """When the held receive was sent, in time.monotonic() time; -inf if its messages have begun, or there is none"""
        self._is_receiving = False
        """Whether a receive is held"""

    def _begin(self, task: ClaimedTask) -> None:
        """Begins the work on a message. `_finish` must be called in a thread when it is done."""
        raise NotImplementedError

    def _interrupt(self, task: ClaimedTask) -> None:
        """Notifies the handler that its claim has ended."""
        raise NotImplementedError

    @property
    def mailbox_id(self) -> str | None:
        """The id of the mailbox, once it is found or created."""
        return self._mailbox_id

    @property
    def counts(self) -> WorkerCounts:
        """The counts since it started."""
        with self._changed:
            return WorkerCounts(**self._counts, active=self._running)

    def progressed(self, task: ClaimedTask, value: Any) -> None:
        """Queues a task's progress to be sent with a renewal."""
        self._leases.progressed(task, value)

    def repeats(self, task: ClaimedTask, error: MusterError) -> None:
        """A task's call has failed, and is made again."""
        self.logger.warning('%s: trying again: %s', task.message.id, error)

    def has_next(self, task: ClaimedTask) -> bool:
        """Whether the attempt is over and another one may follow."""
        return self._ends.has_next(task)

    def _start(self) -> None:
        if self._close_on_signals:
            signals.add(self)
        parts: dict[str, Callable[[], None]] = {
            'receive': self._receive,
            'renew': partial(self._leases.run, self._over),
            'watch': self._watch,
        }
        for name, part in parts.items():
            _thread(name, partial(self._run, part)).start()

    def _run(self, part: Callable[[], None]) -> None:
        try:
            part()
        except Stopped:
            pass
        except BaseException as error:  # A worker must not continue without one of its parts.
            self.logger.error('the worker stops: %s', error)
            with self._changed:
                self._failure = self._failure or error
            self._close_soon(self._close_seconds)

    def hear_signal(self) -> None:
        """Closes the worker at the first signal, and ends it at once at a second one."""
        self.signals += 1
        if self.signals == 1:
            self._close_soon(self._close_seconds)
        else:
            self._end()

    def _end(self) -> None:
        signals.discard(self)
        self.ended.set()

    def _close_soon(self, seconds: float) -> None:
        """Starts closing in another thread, unless it has already started."""
        if self._own.is_parents:
            # Its threads and its messages are those of the process that this one was forked from.
            self.ended = Stop()
            self.ended.set()
            return
        with self._changed:
            if self._closer is not None:
                return
            self._closer = threading.Thread(target=self._close, args=(seconds,), name='muster-close', daemon=True)
        self._closer.start()

    def _close(self, seconds: float) -> None:
        """Lets work continue for this many seconds, then gives unfinished messages back."""
        deadline = time.monotonic() + min(seconds, threading.TIMEOUT_MAX)
        self._stop.set()
        with self._changed:
            self._changed.notify_all()
        self._leave()
        with self._changed:
            self._changed.wait_for(lambda: not self._tasks, max(0.0, deadline - time.monotonic()))
            reason = WorkerClosed('the worker stopped before the work was done')
            # What a handler has finished is not given back, though its end may not be answered yet.
            unfinished = [task for task in self._tasks if not task.is_over and not task.ending]
            for task in unfinished:
                task.ending = True
                task.over(reason)
        for task in unfinished:
            _thread('give-back', partial(self._give_back_unfinished, task, reason)).start()
            self._tell(task)
        with self._changed:
            self._changed.wait_for(lambda: not any(task.ending for task in self._tasks), _return_seconds)
            left = list(self._tasks)
        self._over.set()
        for task in left:
            task.over(reason)
            task.stop.set()
        self._end()

    def _give_back_unfinished(self, task: ClaimedTask, reason: WorkerClosed) -> None:
        self._end_task(task, partial(self._give_back, task, reason, _Unfinished(task, self._over)))

    def _leave(self) -> None:
        """Ends receiving, within `_return_seconds`.

        The server is asked to answer the held receive: if the request were cut, a message that it has just claimed
        would be lost with the answer, wherever that is.
        """
        deadline = time.monotonic() + _return_seconds
        seconds = 0.0
        while not self._cut.is_set():
            self._end_held(deadline)
            seconds = seconds * 2 or _leave_again_seconds
            with self._changed:
                left = deadline - time.monotonic()
                if self._changed.wait_for(self._has_received, max(0.0, min(seconds, left))):
                    return
            if left <= 0:
                self._cut.set()

    def _has_received(self) -> bool:
        return self._asked_at == -math.inf and not self._is_joining

    def _end_held(self, deadline: float) -> None:
        with self._changed:
            asked_at = self._asked_at
        left = deadline - time.monotonic()
        if asked_at == -math.inf or self._mailbox_id is None or left <= 0:
            return
        args = {'mailboxId': self._mailbox_id, 'holderSession': self._from['holderSession']}
        try:
            self.muster.request(MAILBOX_LEAVE, args, attempts=1, timeout_seconds=left)
        except MusterError as error:
            if error.is_passing or error.status == 402:
                return
            with self._changed:
                longest = asked_at + _answer_seconds - time.monotonic()
                self._changed.wait_for(self._has_received, max(0.0, longest))
            self._cut.set()

    def _receive(self) -> None:
        self._mailbox_id = self._find(self._mailbox)
        self._target = None if self._results_to is None else self._find(self._results_to)
        while (room := self._room()) > 0:
            # After a message that was worked on alone, there may be more of them.
            most = min(max_calls, room) if self._outbox is not None and not self._is_wary else 1
            args = {**self._from, 'mailboxId': self._mailbox_id, 'max': most}
            if not self._receive_with_ends(args):
                self._receive_alone(args)

    def _receive_with_ends(self, args: Mapping[str, Any]) -> bool:
        """Receives in a request that ends claims, if one is about to be sent. Returns whether it succeeded."""
        with self._changed:
            if self._outbox is None or self._stop.is_set() or not any(task.is_ending for task in self._tasks):
                return False
            self._is_joining = True
        try:
            is_sent, outcome = self._outbox.join((MESSAGE_RECV_MANY, args, ABSENT))
            if outcome is not None and not isinstance(outcome, MusterError):
                self._take(outcome.messages)
        finally:
            with self._changed:
                self._is_joining = False
                self._changed.notify_all()
        if isinstance(outcome, MusterError):
            self._bear(outcome)
            return False
        return is_sent

    def _receive_alone(self, args: Mapping[str, Any]) -> None:
        asked_at = time.monotonic()
        with self._changed:
            self._asked_at = asked_at
            self._is_receiving = True
            self._changed.notify_all()
        if self._outbox is not None:
            self._outbox.look()
        try:
            try:
                answer = self._reach(
                    # A held receive would report the end of an outage late.
                    lambda: self.muster.request(
                        MESSAGE_RECV_MANY,
                        {**args, 'waitSeconds': 0 if self._outage.is_now else self._wait_seconds},
                        attempts=1,
                        stop=self._cut,
                    )
                )
            finally:
                self._is_receiving = False
            if answer is not None:
                self._take(answer.messages)
        finally:
            with self._changed:
                self._asked_at = -math.inf
                self._changed.notify_all()
        if answer is None and time.monotonic() - asked_at < _empty_pause_seconds:
            self._stop.wait(_empty_pause_seconds)

    def _is_enough(self, count: int, is_joined: bool) -> bool:
        """Whether enough ends are waiting, and the next receive has joined them if it can."""
        if count < min(max_calls - 1, math.ceil(len(self._tasks) / 4)):
            return False
        return is_joined or self._is_receiving or self._running >= self._concurrency

    def _take(self, messages: Sequence[Claim]) -> None:
        suspect = next((one for one in messages if self._concurrency > 1 and is_suspect(one)), None)
        self._is_wary = suspect is not None
        tasks = [
            ClaimedTask(message, self.muster, self.holder, self._timeout_seconds, self) for message in messages
        ]
        with self._changed:
            self._tasks.update(tasks)
            self._counts['received'] += len(tasks)
        self._leases.add(tasks)
        for task in tasks:
            if suspect is None:
                self._begin_or_return(task)
            elif task.message is not suspect:
                self._return(task, Untried())
        for task in tasks:
            if task.message is suspect:
                self._work_alone(task)

    def _work_alone(self, task: ClaimedTask) -> None:
        """Works on a message that may end the process.

        What came with it goes back, what runs is waited for, and nothing more is received meanwhile, each within
        limits: other work may be waiting for the next message.
        """

        def is_alone() -> bool:
            return task.is_over or self._stop.is_set() or len(self._tasks) == 1

        def is_done() -> bool:
            return task.ending or task.is_over or self._stop.is_set()

        lease_seconds = task.message.lease_seconds
        with self._changed:
            self._changed.wait_for(is_alone, lease_seconds)
        self._begin_or_return(task)
        with self._changed:
            self._changed.wait_for(is_done, lease_seconds * max_leases_alone)

    def _begin_or_return(self, task: ClaimedTask) -> None:
        with self._changed:
            is_stopped = self._stop.is_set()
            if not task.is_over and not is_stopped:
                self._running += 1
                if self._starts is not None:
                    self._starts.begin()
                self._changed.notify_all()
        # The message was received together with the last end, while the worker was closing.
        if task.is_over or is_stopped:
            self._return(task, WorkerClosed('the worker has stopped'))
        else:
            self._begin(task)

    def _return(self, task: ClaimedTask, error: Exception) -> None:
        """Gives back a message before its handler was called."""
        end = partial(self._give_back, task, error)
        with self._changed:
            if task.is_over:
                end = partial(self._ends.void_if_ended, task)
            task.is_ending = task.ending = True
        _thread('give-back', partial(self._end_task, task, end)).start()

    def _finish(self, task: ClaimedTask, error: BaseException | None, result: Any) -> None:
        """Ends a claim with the handler's outcome."""
        if self._own.is_parents:
            return
        with self._changed:
            self._running -= 1
            is_over = task.is_over
            is_given_back = is_over and task.ending
            if not is_over:
                # So that `close` does not give it back while it settles: its work is done.
                task.is_ending = task.ending = True
            self._changed.notify_all()
        if is_over:
            end = partial(self._ends.void_if_ended, task)
        elif task.asking is not None:
            end = partial(self._put_aside, task, 'asked', partial(self._ends.ask, task))
        elif task.suspending is not None:
            end = partial(self._put_aside, task, 'suspended', partial(self._ends.suspend, task, task.suspending))
        elif error is not None:
            self._say(task, error)
            end = partial(self._give_back, task, error)
        else:
            end = partial(self._complete, task, result)
        self._end_task(task, end, drops=not is_given_back)

    def _end_task(self, task: ClaimedTask, end: Callable[[], object], *, drops: bool = True) -> None:
        """Ends a claim, and drops the task."""
        try:
            end()
        except Exception as error:
            # A message that could not be given back becomes ready when its lease ends.
            task.attempt.failed(error)
            self.logger.warning('%s: not ended: %s', task.message.id, error)
        if not drops:
            return
        task.attempt.end()
        self._leases.delete(task)
        task.ended.set()
        with self._changed:
            self._tasks.discard(task)
            self._changed.notify_all()

    def _complete(self, task: ClaimedTask, result: Any) -> None:
        try:
            self._ends.complete(task, result, self._target)
        except Exception as error:
            # For example, the mailbox for results no longer exists.
            return self._end_otherwise(task, error)
        self._has_ended(task, 'completed')
        self._ends.forget(task)

    def _put_aside(self, task: ClaimedTask, kind: str, call: Callable[[], None]) -> None:
        """Ends an attempt that does not count, by a call."""
        try:
            call()
        except Exception as error:
            # For example, its group is decided.
            return self._end_otherwise(task, error)
        self._has_ended(task, kind)

    def _end_otherwise(self, task: ClaimedTask, error: Exception) -> None:
        """Gives a message back whose end was refused, or is not JSON."""
        if self._is_lost(task, error):
            return
        if not isinstance(error, MusterError):
            self._say(task, error)
        self._give_back(task, error)

    def _give_back(self, task: ClaimedTask, error: BaseException, claim: _Unfinished | None = None) -> None:
        task.attempt.failed(error)
        try:
            state = self._ends.give_back(task, error, claim).state
        except Exception as refusal:
            if not self._is_lost(task, refusal):
                raise
        else:
            self._has_ended(task, 'returned' if state in ('READY', 'DELAYED') else 'failed')

    def _say(self, task: ClaimedTask, error: BaseException) -> None:
        """Logs why a message is given back, unless that was meant."""
        if isinstance(error, MusterError) and error.is_passing and not is_short(error):
            self._outage.begins(error)
        elif not isinstance(error, (RetryLater, GiveUp)) and not is_short(error):
            self.logger.warning('%s: the handler raised %s', task.message.id, reason_of(error))
            # Each attempt would fill the log with it.
            self.logger.debug('%s: where the handler raised', task.message.id, exc_info=error)

    def _has_ended(self, task: ClaimedTask, kind: str) -> None:
        with self._changed:
            task.is_over = True
            self._counts[kind] += 1
            self._changed.notify_all()
        self.logger.debug('%s: %s', task.message.id, kind)

    def _is_lost(self, task: ClaimedTask, error: Exception) -> bool:
        """Whether the claim has ended, so that its call was refused or given up."""
        if is_lost(error):
            self._lose(task, error.message)
        return task.is_over

    def _lose(self, task: ClaimedTask, why: str) -> None:
        with self._changed:
            if task.is_over:
                return
            task.over(ClaimLost(why))
            self._counts['lost'] += 1
        # An outage that outlasts leases has already been logged.
        level = logging.DEBUG if self._outage.is_now else logging.WARNING
        self.logger.log(level, '%s: the claim is lost: %s', task.message.id, why)
        self._tell(task)

    def _tell(self, task: ClaimedTask) -> None:
        task.stop.set()
        self._interrupt(task)

    def _watch(self) -> None:
        """Checks a claim when its message is reported to have ended.

        Without permission to watch, the next renewal does.
        """
        types = ('message.cancelled', 'message.expired')
        scope_id = None if self._scope_id == '*' else self._scope_id
        while not self._over.is_set():
            try:
                journal = self.muster.events(types=types, scope_id=scope_id, cursor='latest', stop=self._over)
                for event in journal:
                    self._leases.check(event.aggregate_id)
            except MusterError as error:
                if not error.is_passing and error.code != 'CURSOR_EXPIRED':
                    self.logger.debug('the journal is not watched: %s', error)
                    return
                self._over.wait(_max_pause_seconds)

    def _room(self) -> int:
        """Waits for room, and returns it; 0 once the worker stops.

        If there is little room, it waits a moment for more, to receive many messages at once.
        """

        def free() -> int:
            return self._concurrency - self._running

        starts = self._starts
        with self._changed:
            while True:
                self._changed.wait_for(lambda: free() > 0 or self._stop.is_set())
                if starts is None or starts.room > 0 or self._stop.is_set():
                    break
                self._changed.wait_for(self._stop.is_set, starts.wait_seconds)
            if self._outbox is not None and free() < self._concurrency / 4:
                self._changed.wait_for(
                    lambda: free() >= self._concurrency / 4 or self._stop.is_set(), linger_seconds
                )
            if self._stop.is_set():
                return 0
            return free() if starts is None else min(free(), starts.room)

    def _find(self, mailbox: MailboxChoice) -> str:
        if not isinstance(mailbox, str) and 'mailbox_id' in mailbox:
            return text(mailbox['mailbox_id'])
        fields: dict[str, Any] = {'name': mailbox} if isinstance(mailbox, str) else dict(mailbox)
        asked: dict[str, Any] = {**fields, 'unique': True}
        found = self._reach(lambda: self.muster.mailbox.create(**asked, attempts=1))
        warn_of_drift(self.muster, fields, found, self.logger)
        return found.id

    def _reach(self, call: Callable[[], T]) -> T:
        """Repeats a call until it is answered, however long the service is unavailable."""
        failures = 0
        while True:
            if self._stop.is_set():
                raise Stopped
            try:
                answer = call()
            except MusterError as error:
                self._bear(error)
                pause = pause_after(failures, first_pause_seconds, _max_pause_seconds)
                failures += 1
                asked = min(60, error.retry_after_seconds or 0)
                self._stop.wait(max(pause, asked) * (1 + random.random() / 4))
            else:
                self._outage.ends()
                return answer

    def _bear(self, error: MusterError) -> None:
        """Raises an error that retries cannot fix. Otherwise logs that an outage has begun."""
        # A 402 can be retried: the plan's operations are available again next month.
        if not error.is_passing and error.status != 402:
            raise error
        self._outage.begins(error)


class _Unfinished:
    """A task that the worker gives back while its handler runs: the claim is over for the handler only."""

    reason: ClaimLost | None = None

    def __init__(self, task: ClaimedTask, over: Stop) -> None:
        self.stop = over
        self._task = task

    @property
    def is_over(self) -> bool:
        return self.stop.is_set() or time.monotonic() >= self._task.lease_ends_at


def _thread(name: str, work: Callable[[], object]) -> threading.Thread:
    return threading.Thread(target=work, name=f'muster-{name}', daemon=True)
