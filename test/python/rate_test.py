"""A worker's rate, by a clock that the test sets."""

from __future__ import annotations

import threading
import unittest
from typing import Any, cast

from muster import Muster, StartRate, Worker
from muster._worker.rate import Starts


class Rates(unittest.TestCase):
    now = 5.0

    def starts(self, limit: int, window_seconds: float) -> Starts:
        return Starts({'limit': limit, 'window_seconds': window_seconds}, lambda: self.now)

    def test_leaves_room_for_so_many_in_any_window(self) -> None:
        starts = self.starts(3, 10)
        self.assertEqual((starts.room, starts.wait_seconds), (3, 0))
        starts.begin()
        self.now += 9
        starts.begin()
        starts.begin()
        self.assertEqual((starts.room, starts.wait_seconds), (0, 1))
        self.now += 1
        self.assertEqual((starts.room, starts.wait_seconds), (1, 0))
        starts.begin()
        # Not at the end of a fixed window: those begun a second ago still count.
        self.assertEqual((starts.room, starts.wait_seconds), (0, 9))
        self.now += 60
        self.assertEqual(starts.room, 3)

    def test_waits_no_longer_at_once_than_a_thread_can(self) -> None:
        starts = self.starts(1, 1e300)
        starts.begin()
        self.assertEqual(starts.wait_seconds, threading.TIMEOUT_MAX)

    def test_is_refused_unless_it_lets_something_begin(self) -> None:
        muster = Muster(url='http://127.0.0.1:9', key='mk_x', space_id='x')
        for limit, seconds in [(0, 1), (-1, 1), (1, 0), (1, -1), (1, float('nan'))]:
            rate = cast('StartRate', {'limit': limit, 'window_seconds': seconds})
            with self.assertRaises(ValueError):
                Worker(muster, 'jobs', _handle, rate=rate)


def _handle(message: Any, task: Any) -> None:
    pass
