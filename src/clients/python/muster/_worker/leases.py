"""The leases of a worker's claims."""

from __future__ import annotations

import logging
import math
import random
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from .._arguments import ABSENT
from .._calls import MESSAGE_RENEW
from .._client import Muster
from .._errors import MusterError, is_lost
from .._transport import Stop
from .outage import Outage
from .outbox import Request, ask, max_calls
from .task import ClaimedTask

_renew_again_seconds = 0.5
_min_renew_seconds = 0.1
_soon = 1 / 30
"""Renewals due within this fraction of the lease are sent together with those due now."""


class Leases:
    """Keeps claims: renews them at a third of the lease, with progress if there is any, and notices lost ones.

    Args:
        muster: makes the calls
        timeout_seconds: the timeout of a renewal
        lost: called for a lost claim, with the reason
        outage: is told if the service is away
        logger: for renewals that are refused
    """

    def __init__(
        self,
        muster: Muster,
        timeout_seconds: float,
        lost: Callable[[ClaimedTask, str], object],
        outage: Outage,
        logger: logging.Logger,
    ) -> None:
        self._muster = muster
        self._timeout_seconds = timeout_seconds
        self._lost = lost
        self._outage = outage
        self._logger = logger
        # Guards everything that follows, and the leases and the progress of tasks.
        self._changed = threading.Condition()
        self._tasks: set[ClaimedTask] = set()

    def add(self, tasks: Sequence[ClaimedTask]) -> None:
        """Keeps the claims of these tasks."""
        with self._changed:
            self._tasks.update(tasks)
            self._changed.notify_all()

    def delete(self, task: ClaimedTask) -> None:
        """The task has ended."""
        with self._changed:
            self._tasks.discard(task)

    def progressed(self, task: ClaimedTask, value: Any) -> None:
        """Sends a task's progress, at once unless some was sent within the last second."""
        with self._changed:
            if not task.is_over:
                task.progress = value
                self._changed.notify_all()

    def check(self, message_id: str) -> None:
        """Renews now, to see whether the claim of a message still stands."""
        with self._changed:
            for task in self._tasks:
                if task.message.id == message_id:
                    task.renew_at = 0
            self._changed.notify_all()

    def take_progress(self, task: ClaimedTask) -> Any:
        """Returns the progress that is still unsent, once no renewal is under way; ABSENT if there is none."""
        with self._changed:
            self._changed.wait_for(lambda: not task.is_renewing, self._timeout_seconds)
            progress, task.progress = task.progress, ABSENT
            return progress

    def run(self, over: Stop) -> None:
        """Keeps the claims, until the worker is over."""
        over.add(self._wake)
        while not over.is_set():
            with self._changed:
                now = time.monotonic()
                live = [task for task in self._tasks if not task.is_over]
                ended = [task for task in live if now >= task.lease_ends_at]
                due = [task for task in live if task.due_at <= now]
                if due:
                    due = [task for task in live if _is_due(task, now)]
                if not ended and not due:
                    next_at = min((min(task.lease_ends_at, task.due_at) for task in live), default=math.inf)
                    if not over.is_set():
                        self._changed.wait(None if next_at == math.inf else max(0.0, next_at - now))
                    continue
            for task in ended:
                self._lost(task, _end_of(task))
            for start in range(0, len(due), max_calls):
                # Some may have ended while others were renewed.
                if live := [task for task in due[start : start + max_calls] if not task.is_over]:
                    self._renew(live)

    def _wake(self) -> None:
        with self._changed:
            self._changed.notify_all()

    def _renew(self, tasks: Sequence[ClaimedTask]) -> None:
        """Renews claims, which also checks whether they still stand."""
        sent_at = time.monotonic()
        sent: list[tuple[ClaimedTask, Any]] = []
        with self._changed:
            for task in tasks:
                sent.append((task, task.progress))
                if task.progress is not ABSENT:
                    task.progress_at = sent_at
                task.progress = ABSENT
                task.is_renewing = True
            # A renewal that hangs must not delay the loss of a claim whose lease ends meanwhile.
            ends_at = min((task.lease_ends_at for task in self._tasks if not task.is_over), default=math.inf)
        timeout_seconds = min(self._timeout_seconds, max(_min_renew_seconds, ends_at - sent_at))
        requests = [renewal(*one) for one in sent]
        outcomes = ask(self._muster, requests, timeout_seconds, is_batch=len(requests) > 1)
        for (task, progress), outcome in zip(sent, outcomes):
            is_refused = isinstance(outcome, MusterError)
            with self._changed:
                task.is_renewing = False
                if not is_refused:
                    task.leased_from(sent_at)
                else:
                    now = time.monotonic()
                    if outcome.status != 413 and task.progress is ABSENT:
                        task.progress = progress
                        task.progress_at = now
                    # Drop progress that is too large, and renew the claim without it.
                    is_too_large = outcome.status == 413
                    task.renew_at = now if is_too_large else now + _renew_again_seconds * (1 + random.random())
                self._changed.notify_all()
            if not is_refused:
                self._outage.ends()
            elif is_lost(outcome):
                # Its own end may have ended it, and the answer to that tells.
                if not task.ending:
                    self._lost(task, outcome.message)
            elif outcome.is_passing:
                self._outage.begins(outcome)
            else:
                self._logger.warning('%s: not renewed: %s', task.message.id, outcome)


def renewal(task: ClaimedTask, progress: Any = ABSENT) -> Request:
    """Returns the call that renews a claim."""
    message = task.message
    args = {
        'messageId': message.id,
        'token': message.token,
        'leaseSeconds': message.lease_seconds,
        'progress': progress,
    }
    # Renewing twice does no harm, so no key is needed.
    return MESSAGE_RENEW, args, ABSENT


def _end_of(task: ClaimedTask) -> str:
    if task.lease_ends_at == task.attempt_ends_at:
        return "the attempt's time has ended (attemptSeconds)"
    return 'the lease has ended, as it could not be renewed'


def _is_due(task: ClaimedTask, now: float) -> bool:
    if task.is_renewing:
        return False
    return task.due_at <= now or task.renew_at <= now + task.message.lease_seconds * _soon
