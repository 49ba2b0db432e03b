"""Waits in the queue of a pool or an allowance."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from ._errors import MusterError, Stopped
from ._transport import Stop, pause_after

place_seconds = 30
"""A place in line ends this soon after its last renewal, because what is granted to a dead process is lost to others."""
_min_place_seconds = 5
"""The shortest time to live that a renewal may set"""
_renew_every_seconds = place_seconds / 3
_first_pause_seconds = 0.1
_max_pause_seconds = 2.0


class _InLine(Protocol):
    @property
    def state(self) -> str: ...


T = TypeVar('T', bound=_InLine)
T_co = TypeVar('T_co', bound=_InLine, covariant=True)


@dataclass(frozen=True)
class Place(Generic[T_co]):
    """A place in the queue of a pool or an allowance. `view` and `renew` make one attempt, and take its timeout."""

    view: Callable[[int, float], T_co]
    """Waits so many seconds at the server until the place is granted or has ended"""
    renew: Callable[[int, float], object]
    """Sets how many seconds it waits from now on"""


def place_until(until: float) -> int:
    """Returns how long a place is asked for, for a caller who waits until this time.monotonic() time."""
    return math.ceil(min(place_seconds, max(0.0, until - time.monotonic())))


def wait_in_line(place: Place[T], found: T, until: float, stop: Stop | None) -> tuple[T, bool]:
    """Waits in line, and renews the place until it is granted or has ended.

    Returns the record then, and whether the wait was to end by itself: a place that is EXPIRED before that was lost in
    an outage.

    Args:
        place: the place
        found: its record, which was asked for `place_until(until)`
        until: the end of the wait
        stop: ends the wait, which then raises `Stopped`
    """
    renew_at, is_last, failures = time.monotonic() + _renew_every_seconds, place_until(until) < place_seconds, 0
    while found.state == 'WAITING':
        if stop is not None and stop.is_set():
            raise Stopped
        try:
            left = renew_at - time.monotonic()
            if is_last or left > 0:
                seconds = math.ceil(_renew_every_seconds if is_last else left)
                found = place.view(seconds, 2 * _renew_every_seconds)
                renew_at = 0.0
            else:
                began = time.monotonic()
                seconds = max(_min_place_seconds, place_until(until))
                _renew(place, seconds)
                renew_at, is_last = began + _renew_every_seconds, seconds < place_seconds
            failures = 0
        except MusterError as error:
            if not error.is_passing:
                raise
            pause = pause_after(failures, _first_pause_seconds, _max_pause_seconds) * (1 + random.random() / 4)
            failures += 1
            (stop or Stop()).wait(pause)
    return found, is_last


def _renew(place: Place[_InLine], seconds: int) -> None:
    try:
        place.renew(seconds, _renew_every_seconds)
    except MusterError as error:
        # The next view shows what has become of it.
        if error.code not in ('HOLD_NOT_WAITING', 'WAITER_NOT_WAITING'):
            raise
