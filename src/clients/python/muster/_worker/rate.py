"""How many messages a worker begins in a window."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from typing import TypedDict


class StartRate(TypedDict):
    """How many messages a worker begins: at most `limit` in any `window_seconds`."""

    limit: int
    window_seconds: float


class Starts:
    """Counts the starts of a worker.

    Args:
        now: seconds of a clock that is never set
    """

    def __init__(self, rate: StartRate, now: Callable[[], float] = time.monotonic) -> None:
        if rate['limit'] < 1:
            raise ValueError("rate['limit'] must be at least 1")
        if not rate['window_seconds'] > 0:
            raise ValueError("rate['window_seconds'] must be more than 0")
        self._limit = rate['limit']
        self._window_seconds = rate['window_seconds']
        self._now = now
        self._begun: deque[float] = deque()
        """When messages of the last window were begun, oldest first"""

    def begin(self) -> None:
        self._begun.append(self._now())

    @property
    def room(self) -> int:
        """How many more may begin now."""
        now = self._now()
        while self._begun and self._begun[0] + self._window_seconds <= now:
            self._begun.popleft()
        return max(0, self._limit - len(self._begun))

    @property
    def wait_seconds(self) -> float:
        """In how many seconds one more may begin, or the longest time that a wait takes."""
        if self.room > 0:
            return 0
        next_at = self._begun[len(self._begun) - self._limit] + self._window_seconds
        return min(threading.TIMEOUT_MAX, max(0.0, next_at - self._now()))
