"""Closes all started workers of the process at SIGTERM and SIGINT, and ends holds at SIGTERM."""

from __future__ import annotations

import os
import signal
import threading
from asyncio import AbstractEventLoop
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Protocol

from .._forks import after_fork
from .._giving_back import given_back
from .._transport import Stop


class Signalled(Protocol):
    """A worker that is closed by signals."""

    signals: int
    ended: Stop

    def hear_signal(self) -> None: ...


_names = (signal.SIGTERM, signal.SIGINT)
_lock = threading.Lock()
_started: set[Signalled] = set()
_loops: Counter[AbstractEventLoop] = Counter()
"""How many workers run in each event loop. A loop has one handler per signal."""


def _reset() -> None:
    """Forgets the workers of the parent process."""
    global _lock
    _lock = threading.Lock()
    _started.clear()


after_fork(_reset)


def add(worker: Signalled) -> None:
    """Registers a worker to be closed by signals."""
    with _lock:
        _started.add(worker)


def discard(worker: Signalled) -> None:
    """Removes a worker that has ended."""
    with _lock:
        _started.discard(worker)


def closing() -> list[Signalled]:
    """Returns the workers that a signal is closing, and that have not ended."""
    with _lock:
        return [worker for worker in _started if worker.signals > 0]


@contextmanager
def in_main_thread() -> Generator[None]:
    """Receives signals through the process's signal handlers, during the block."""

    def handle(number: int, frame: FrameType | None) -> None:
        # In a thread, because the interrupted code may hold the same locks.
        threading.Thread(target=_hear, name='muster-signal', daemon=True).start()

    before = {name: signal.signal(name, handle) for name in _names}
    try:
        yield
    finally:
        for name, handler in before.items():
            with suppress(TypeError):
                signal.signal(name, handler)


@contextmanager
def in_loop(loop: AbstractEventLoop) -> Generator[None]:
    """Receives signals through an event loop, while any of its workers runs."""
    _loops[loop] += 1
    # Raised outside the main thread, and on systems whose event loops do not support signals.
    with suppress(NotImplementedError, RuntimeError):
        if _loops[loop] == 1:
            for name in _names:
                loop.add_signal_handler(name, _hear)
    try:
        yield
    finally:
        _loops[loop] -= 1
        if _loops[loop] == 0:
            del _loops[loop]
            with suppress(NotImplementedError, RuntimeError):
                for name in _names:
                    loop.remove_signal_handler(name)


def _hear() -> None:
    with _lock:
        workers = list(_started)
    for worker in workers:
        worker.hear_signal()


class HoldEnd:
    """Ends holds before SIGTERM ends the process, if that would otherwise end it at once.

    That is so in a program that leaves SIGTERM its default action. It is received for holds of the main thread and for
    those of an event loop that runs there.
    """

    def __init__(self) -> None:
        self._holds: dict[object, Callable[[], object] | None] = {}
        """What ends each hold; None for one of the main thread, which an exception ends"""
        self._loop: AbstractEventLoop | None = None
        self._is_ending = False

    def enter(self, hold: object) -> None:
        """A hold of the current thread begins."""
        if threading.current_thread() is not threading.main_thread():
            return
        if self._is_ending:
            raise SystemExit(_exit_code)
        if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            signal.signal(signal.SIGTERM, self._raise)
        elif not self._holds or self._loop is not None:
            return
        self._holds[hold] = None

    def enter_loop(self, hold: object, loop: AbstractEventLoop, end: Callable[[], object]) -> None:
        """A hold of an event loop begins. end: ends it."""
        if self._loop is None and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            # Raised outside the main thread, and on systems whose event loops do not support signals.
            with suppress(NotImplementedError, RuntimeError, ValueError):
                loop.add_signal_handler(signal.SIGTERM, self._end_all)
                self._loop = loop
        if self._loop is loop:
            self._holds[hold] = end
            if self._is_ending:
                end()

    def leave(self, hold: object) -> None:
        """A hold has ended. Once all have, and have been given back, the signal that has ended them takes its effect."""
        if hold not in self._holds:
            return
        del self._holds[hold]
        if self._holds:
            return
        if self._is_ending:
            while given_back():
                pass
            os.kill(os.getpid(), signal.SIGTERM)
        elif self._loop is not None:
            # A worker that was started meanwhile has put its own handler there.
            if self._loop not in _loops and not self._loop.is_closed():
                self._loop.remove_signal_handler(signal.SIGTERM)
        elif signal.getsignal(signal.SIGTERM) == self._raise:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
        self._loop = None

    def _raise(self, number: int, frame: FrameType | None) -> None:
        self._is_ending = True
        # A second signal takes effect at once.
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        raise SystemExit(_exit_code)

    def _end_all(self) -> None:
        self._is_ending = True
        if self._loop is not None:
            self._loop.remove_signal_handler(signal.SIGTERM)
        for end in list(self._holds.values()):
            if end is not None:
                end()


hold_end = HoldEnd()
_exit_code = 128 + signal.SIGTERM
