"""Gives back what was taken for a caller who has left."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from contextvars import copy_context
from functools import partial
from typing import Generic, TypeVar

from ._errors import Stopped
from ._forks import after_fork
from ._signals import cut_by_signals
from ._transport import Stop

T = TypeVar('T')

_changed = threading.Condition()
_under_way: set[object] = set()
"""Threads and futures that give something back, or take something that nobody waits for any more"""


def _reset() -> None:
    """Forgets the threads of the parent process, which do not run in this one."""
    global _changed
    _changed = threading.Condition()
    _under_way.clear()


after_fork(_reset)


def give_back(work: Callable[[], object]) -> None:
    """Gives something back in the background. If that fails, it ends by itself: with its lease, or its time to live.

    The program does not end before that.
    """

    def run() -> None:
        with suppress(Exception):
            work()
        _end(thread)

    thread = threading.Thread(target=run, name='muster-give-back', daemon=False)
    _begin(thread)
    try:
        cut_by_signals(thread.start)
    except RuntimeError:  # The process has too many threads.
        run()


def given_back() -> bool:
    """Waits until everything under way has been given back. Returns whether there was anything."""
    with _changed:
        # A call that nobody waits for must not wait for others of its kind.
        found = set[object]() if threading.current_thread() in _under_way else set(_under_way)
        while not found.isdisjoint(_under_way):
            cut_by_signals(_changed.wait)
    return bool(found)


def undo_at_end(running: Future[T], undo: Callable[[T], object]) -> None:
    """Gives back what a future takes that nobody waits for any more."""

    def ended(_: Future[T]) -> None:
        if not running.cancelled() and running.exception() is None:
            give_back(partial(undo, running.result()))
        _end(running)

    _begin(running)
    running.add_done_callback(ended)


def _begin(one: object) -> None:
    with _changed:
        _under_way.add(one)


def _end(one: object) -> None:
    with _changed:
        _under_way.discard(one)
        _changed.notify_all()


def take_for(
    stop: Stop | None,
    take: Callable[[], T],
    undo: Callable[[T], object],
    accept: Callable[[T], object] = lambda _: None,
) -> T:
    """Takes something for a caller who may leave: an acquire, a place in line, a reservation, a claim.

    When `stop` is set, this raises `Stopped` at once. The exception of a signal, such as KeyboardInterrupt, ends it, too.
    The call itself is not cut, as the server may have made it already: it goes on in the background, and what it takes
    is given back.

    Args:
        stop: ends the wait
        take: makes the call
        undo: gives back what was taken
        accept: stores what was taken, so that no signal comes in between; `undo` may be called after it
    """
    if stop is not None and stop.is_set():
        raise Stopped
    if stop is None and threading.current_thread() is not threading.main_thread():
        # Nothing can end the wait.
        taken = take()
        accept(taken)
        return taken
    taking = _Taking(take, undo)
    try:
        taking.start()
        taking.over.wait(stop)
        if stop is not None and stop.is_set():
            raise Stopped
        taken = taking.result()
        accept(taken)
        return taken
    except BaseException:
        taking.leave()
        raise


class _Over:
    """The end of a call, or of the wait for it."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def set(self) -> None:
        self._event.set()

    def wait(self, stop: Stop | None) -> None:
        if stop is not None:
            stop.add(self.set)
        try:
            cut_by_signals(self._event.wait)
        finally:
            if stop is not None:
                stop.remove(self.set)


class _Taking(Generic[T]):
    """A call that takes something, in a thread of its own."""

    def __init__(self, take: Callable[[], T], undo: Callable[[T], object]) -> None:
        self.over = _Over()
        self._take = take
        self._undo = undo
        self._taken: list[T] = []
        self._error: BaseException | None = None
        self._is_done = False
        self._has_left = False
        # In the caller's context, so within its active span.
        context = copy_context()
        # The program does not end before what was taken has been given back.
        self._thread = threading.Thread(target=lambda: context.run(self._run), name='muster-take', daemon=False)

    def start(self) -> None:
        cut_by_signals(self._thread.start)

    def result(self) -> T:
        if self._error is not None:
            raise self._error
        return self._taken[0]

    def leave(self) -> None:
        """The caller does not wait any more, or not for the result that is there."""
        with _changed:
            self._has_left = True
            if not self._is_done:
                if self._thread.is_alive():
                    _under_way.add(self._thread)
                return
        for taken in self._taken:
            give_back(partial(self._undo, taken))

    def _run(self) -> None:
        try:
            self._taken.append(self._take())
        except BaseException as error:
            self._error = error
        with _changed:
            self._is_done = True
            has_left = self._has_left
        self.over.set()
        if has_left:
            for taken in self._taken:
                with suppress(Exception):
                    self._undo(taken)
            _end(self._thread)
