"""What a process takes is its own: a process that it forks leaves it alone."""

from __future__ import annotations

import os
from collections.abc import Callable


class Own:
    """Says whether something belongs to this process, or to the one that it was forked from."""

    __slots__ = ('_pid',)

    def __init__(self) -> None:
        self._pid = os.getpid()

    @property
    def is_parents(self) -> bool:
        """Whether it belongs to the parent process, or to one before that."""
        return self._pid != os.getpid()


def after_fork(reset: Callable[[], object]) -> None:
    """Calls `reset` in each child process. Systems without fork do not need it."""
    if hasattr(os, 'register_at_fork'):
        os.register_at_fork(after_in_child=reset)
