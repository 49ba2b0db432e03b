"""Waits that a signal may cut at any moment."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TypeVar

T = TypeVar('T')


def cut_by_signals(wait: Callable[[], T]) -> T:
    """Waits for a condition, an event, or the start of a thread. The exception of a signal comes out as it is.

    CPython's conditions take their lock again after the wait. If a signal comes just there, they raise a RuntimeError
    about a lock that is not held, in place of the signal's KeyboardInterrupt.
    """
    handled = sys.exc_info()[1]
    try:
        return wait()
    except RuntimeError as error:
        hidden = error.__context__
        if hidden is None or hidden is handled:
            raise
        raise hidden from None
