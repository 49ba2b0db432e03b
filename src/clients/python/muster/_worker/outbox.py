"""Gathers calls into batches."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .._arguments import encode
from .._base import BatchedCall, Endpoint
from .._client import Muster
from .._errors import MusterError
from .._tracing import TraceContext

Request = tuple[Endpoint[Any], Mapping[str, Any], str]
"""A call, its arguments and its Idempotency-Key"""

max_calls = 100
"""Maximum calls of a batch."""
_max_bytes = 1_500_000
"""The limit of a batch's calls together, below the service's 2 MiB to leave room for the rest of the request."""
linger_seconds = 0.025
"""How long a call waits for others to share its request, unless there are enough sooner."""


def ask(
    muster: Muster,
    requests: Sequence[Request],
    timeout_seconds: float,
    *,
    is_batch: bool,
    trace_context: TraceContext = TraceContext(),
) -> list[Any]:
    """Makes one attempt of calls, in a batch or one alone. Returns each one's answer or its error.

    Calls that are too large together for the service or a proxy are sent in halves.
    """
    try:
        if is_batch:
            calls = [BatchedCall[Any](*request) for request in requests]
            results = muster.batch(calls, attempts=1, timeout_seconds=timeout_seconds)
            return [result.error or result.answer for result in results]
        ((endpoint, args, key),) = requests
        about: dict[str, Any] = {'timeout_seconds': timeout_seconds, 'trace_context': trace_context}
        return [muster.request(endpoint, args, idempotency_key=key, attempts=1, **about)]
    except MusterError as error:
        middle = len(requests) // 2
        if error.status != 413 or middle == 0:
            return [error for _ in requests]
        halves = requests[:middle], requests[middle:]
        return [one for half in halves for one in ask(muster, half, timeout_seconds, is_batch=True)]


class _Waiting:
    def __init__(
        self, request: Request, wake: threading.Event, on_sent: Callable[[], object] = lambda: None
    ) -> None:
        self.request = request
        self.wake = wake
        """Set when it was answered, or is next"""
        self.on_sent = on_sent
        self.size = len(encode(request[1]).encode())
        self.is_next = False
        """Its thread sends the next batch"""
        self.is_sent = False
        self.is_answered = False
        self.outcome: Any = None


class Outbox:
    """Gathers the calls of threads into batches. The thread of a batch's first call sends it.

    Args:
        muster: makes the calls
        timeout_seconds: the timeout of a batch
        is_enough: whether so many calls are sent without waiting for more; is_joined: a receive is among them
    """

    def __init__(self, muster: Muster, timeout_seconds: float, is_enough: Callable[[int, bool], bool]) -> None:
        self._muster = muster
        self._timeout_seconds = timeout_seconds
        self._is_enough = is_enough
        # Guards everything that follows.
        self._changed = threading.Condition()
        self._waiting: list[_Waiting] = []
        self._joining: _Waiting | None = None
        self._is_sending = False

    def send(self, requests: Sequence[Request], on_sent: Callable[[], object] = lambda: None) -> list[Any]:
        """Returns each call's answer or its error, which is that of its batch if that got no answer.

        Args:
            requests: the calls
            on_sent: called when a batch with one of them is sent
        """
        wake = threading.Event()
        own = [_Waiting(request, wake, on_sent) for request in requests]
        with self._changed:
            own[0].is_next = not self._waiting
            self._waiting += own
            self._changed.notify_all()
        while True:
            if any(one.is_next for one in own):
                self._flush()
            if all(one.is_answered for one in own):
                return [one.outcome for one in own]
            wake.wait()
            wake.clear()

    def join(self, request: Request) -> tuple[bool, Any]:
        """Makes a call as the last one of the next batch: its answer would count against the size of the others'.

        Returns whether it was sent, and its answer or its error. It is not if no batch is sent within a moment.
        """
        one = _Waiting(request, threading.Event())
        with self._changed:
            self._joining = one
            self._changed.notify_all()
            if not self._changed.wait_for(lambda: one.is_sent, linger_seconds):
                self._joining = None
                return False, None
        one.wake.wait()
        return True, one.outcome

    def look(self) -> None:
        """Asks again whether there are enough calls."""
        with self._changed:
            self._changed.notify_all()

    def _flush(self) -> None:
        """Sends the next batch, once the last one is answered and there are enough calls."""
        with self._changed:
            self._changed.wait_for(lambda: not self._is_sending)
            self._changed.wait_for(
                lambda: self._is_enough(len(self._waiting), self._joining is not None), linger_seconds
            )
            self._waiting[0].is_next = False
            self._is_sending = True
            batch = self._cut()
            if self._joining is not None:
                batch.append(self._joining)
                self._joining = None
            for one in batch:
                one.is_sent = True
                one.on_sent()
            for one in self._waiting[:1]:
                one.is_next = True
                one.wake.set()
            self._changed.notify_all()
        outcomes: list[Any]
        try:
            # Also one call alone: made again by itself, it would not be known by its Idempotency-Key.
            outcomes = ask(self._muster, [one.request for one in batch], self._timeout_seconds, is_batch=True)
        except Exception as error:
            outcomes = [error for _ in batch]
        with self._changed:
            self._is_sending = False
            self._changed.notify_all()
        for one, outcome in zip(batch, outcomes):
            one.outcome = outcome
            one.is_answered = True
            one.wake.set()

    def _cut(self) -> list[_Waiting]:
        """Takes the calls of a batch."""
        size, count = 0, 0
        for one in self._waiting[: max_calls - 1]:
            size += one.size
            if count > 0 and size > _max_bytes:
                break
            count += 1
        batch, self._waiting = self._waiting[:count], self._waiting[count:]
        return batch
