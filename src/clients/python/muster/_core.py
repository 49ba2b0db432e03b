"""The part of a worker that receives messages, and starts and stops the others."""

from __future__ import annotations

import logging
import math
import os
import random
import socket
import threading
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, TypeVar, Union

from . import _signals
from ._arguments import Id, text
from ._calls import MAILBOX_LEAVE, MESSAGE_RECV_MANY
from ._client import AsyncMuster, Muster
from ._drift import warn_of_drift
from ._end import End
from ._ends import Ends, Joining
from ._errors import MusterError, Stopped, WorkerClosed
from ._held import Held, first_pause_seconds, linger_seconds, max_calls, max_pause_seconds
from ._records import Claim
from ._suspects import Untried, is_suspect, max_leases_alone
from ._transport import Stop, pause_after

M = TypeVar('M', Muster, AsyncMuster)
H = TypeVar('H')
T = TypeVar('T')

MailboxChoice = Union[str, Mapping[str, Any]]
"""A mailbox: its name, created if it does not exist; its fields, to create it with these; or `{'mailbox_id': …}`"""

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


class Core(Ends, Generic[M, H]):
    """Receives messages, renews their claims, and ends the claims with the handler's outcome."""

    def __init__(
        self,
        muster: M,
        mailbox: MailboxChoice,
        handler: H,
        *,
        scope_id: Id = '*',
        concurrency: int = 1,
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
        sync = muster if isinstance(muster, Muster) else muster.sync
        holder = holder or f'{socket.gethostname()[:200]}/{os.getpid()}'
        super().__init__(sync, text(scope_id), lease_seconds, holder, logger)
        self.given_muster = muster
        """The client as given: an AsyncMuster if the handler is async"""
        self._mailbox = mailbox
        self._handler = handler
        self._from: dict[str, Any] = {
            'scopeId': text(scope_id),
            'holder': holder,
            'holderSession': str(uuid.uuid4()),
            'leaseSeconds': lease_seconds,
        }
        self._wait_seconds = wait_seconds
        self._is_joining = False
        """Whether a receive is being sent with ends; `close` waits for it, to give its messages back"""
        self._is_wary = False
        """Whether the last message was worked on alone"""
        self._concurrency = concurrency
        self._results_to = results_to
        self._batch = batch
        self._close_seconds = close_seconds
        self._close_on_signals = close_on_signals
        self.signals = 0
        """The number of signals received"""
        self._mailbox_id: str | None = None
        self._failure: BaseException | None = None
        self._closer: threading.Thread | None = None
        self._stop = Stop()
        """Ends receiving"""
        self._cut = Stop()
        """Cuts a receive held at the server, if it cannot be ended otherwise"""
        self._asked_at = -math.inf
        """When the receive in flight was sent, in time.monotonic() time; -inf if there is none"""
        self.ended = Stop()

    def _begin(self, held: Held) -> None:
        """Begins the work on a message. `_finish` must be called when it is done."""
        raise NotImplementedError

    @property
    def mailbox_id(self) -> str | None:
        """The id of the mailbox, once it is found or created."""
        return self._mailbox_id

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
        _signals.discard(self)
        self.ended.set()

    def _close_soon(self, seconds: float) -> None:
        """Starts closing in another thread, unless it has already started."""
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
            self._changed.wait_for(lambda: not self._held, max(0.0, deadline - time.monotonic()))
            reason = WorkerClosed('the worker stopped before the work was done')
            unfinished = [held for held in self._held if not held.is_over and not held.is_ending]
            for held in unfinished:
                held.over(reason)
                self._ends.append(End(held, reason))
            self._changed.notify_all()
        for held in unfinished:
            self._told(held)

        def is_settling() -> bool:
            return any(held.is_ending and not held.is_over for held in self._held)

        with self._changed:
            self._changed.wait_for(
                lambda: not self._ends and not self._telling and not is_settling(), _return_seconds
            )
        self._over.set()
        with self._changed:
            self._changed.notify_all()
        self._end()

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
            most = min(max_calls, room) if self._batch and not self._is_wary else 1
            args = {**self._from, 'mailboxId': self._mailbox_id, 'max': most}
            if not self._receive_with_ends(args):
                self._receive_alone(args)

    def _receive_with_ends(self, args: Mapping[str, Any]) -> bool:
        """Receives in a request that ends claims, if one is about to be sent. Returns whether it succeeded."""
        with self._changed:
            if not self._batch or self._stop.is_set() or len(self._held) - self._running <= self._telling:
                return False
            self._is_joining = True
        joining = Joining(args)
        is_sent = self._join(joining)
        outcome = joining.outcome
        is_refused = isinstance(outcome, MusterError)
        if outcome is not None and not is_refused:
            self._take(outcome.messages)
        with self._changed:
            self._is_joining = False
            self._changed.notify_all()
        if is_refused:
            self._bear(outcome)
        return is_sent and not is_refused

    def _receive_alone(self, args: Mapping[str, Any]) -> None:
        asked_at = time.monotonic()
        with self._changed:
            self._asked_at = asked_at
            self._is_receiving = True
            self._changed.notify_all()
        try:
            try:
                answer = self._reach(
                    # A held receive would report the end of an outage late.
                    lambda: self.muster.request(
                        MESSAGE_RECV_MANY,
                        {**args, 'waitSeconds': self._wait_seconds if self._away_since is None else 0},
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

    def _take(self, messages: Sequence[Claim]) -> None:
        suspect = next((one for one in messages if self._concurrency > 1 and is_suspect(one)), None)
        self._is_wary = suspect is not None
        all_held = [Held(message) for message in messages]
        with self._changed:
            self._held.update(all_held)
            self._counts['received'] += len(all_held)
        for held in all_held:
            if suspect is None:
                self._begin_or_return(held)
            elif held.message is not suspect:
                self._return(held, Untried())
        for held in all_held:
            if held.message is suspect:
                self._work_alone(held)

    def _work_alone(self, held: Held) -> None:
        """Works on a message that may end the process.

        What came with it goes back, what runs is waited for, and nothing more is received meanwhile, each within
        limits: other work may be waiting for the next message.
        """

        def is_alone() -> bool:
            return held.is_over or self._stop.is_set() or len(self._held) == 1

        def is_done() -> bool:
            return held.is_ending or held.is_over or self._stop.is_set()

        lease_seconds = held.message.lease_seconds
        with self._changed:
            self._changed.wait_for(is_alone, lease_seconds)
        self._begin_or_return(held)
        with self._changed:
            self._changed.wait_for(is_done, lease_seconds * max_leases_alone)

    def _begin_or_return(self, held: Held) -> None:
        with self._changed:
            # The message was received together with the last end, while the worker was closing.
            if self._stop.is_set():
                self._return(held, WorkerClosed('the worker has stopped'))
                return
            if not (is_lost := held.is_over):
                self._running += 1
                self._changed.notify_all()
        if is_lost:
            self._forget(held)
        else:
            self._begin(held)

    def _return(self, held: Held, error: Exception) -> None:
        with self._changed:
            if not (is_lost := held.is_over):
                held.is_ending = True
                self._ends.append(End(held, error))
                self._changed.notify_all()
        if is_lost:
            self._forget(held)

    def _room(self) -> int:
        """Waits for room, and returns it; 0 once the worker stops.

        If there is little room, it waits a moment for more, to receive many messages at once.
        """

        def room() -> int:
            return self._concurrency - self._running

        with self._changed:
            self._changed.wait_for(lambda: room() > 0 or self._stop.is_set())
            if self._batch and room() < self._concurrency / 4:
                self._changed.wait_for(
                    lambda: room() >= self._concurrency / 4 or self._stop.is_set(), linger_seconds
                )
            return 0 if self._stop.is_set() else room()

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
                pause = pause_after(failures, first_pause_seconds, max_pause_seconds)
                failures += 1
                asked = min(60, error.retry_after_seconds or 0)
                self._stop.wait(max(pause, asked) * (1 + random.random() / 4))
            else:
                self._outage_ends()
                return answer

    def _bear(self, error: MusterError) -> None:
        """Raises an error that retries cannot fix. Otherwise logs that an outage has begun."""
        # A 402 can be retried: the plan's operations are available again next month.
        if not error.is_passing and error.status != 402:
            raise error
        self._outage_begins(error)
