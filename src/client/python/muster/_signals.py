"""Closes all started workers of the process at SIGTERM and SIGINT."""

from __future__ import annotations

import signal
import threading
from asyncio import AbstractEventLoop
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Protocol

from ._transport import Stop


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
