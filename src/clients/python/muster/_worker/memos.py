"""The steps of a message."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from .._arguments import copied
from .._errors import ClaimLost, MusterError, is_lost
from .._run import Run, RunNote

_max_key = 256 - len('once::') - 36
"""The maximum length of a step's key. Its note's key also has a prefix and the message's id."""


class Memos:
    """A message's steps, whose values are stored as notes of its run."""

    def __init__(self, run: Run, message_id: str) -> None:
        self.keys: set[str] = set()
        """Keys of the notes that this attempt has looked for"""
        self._run = run
        self._message_id = message_id
        self._locks: dict[str, threading.RLock] = {}
        """By a step's key; each is held by the thread that does the step"""

    def note(self, key: str) -> RunNote:
        """Returns the note for the value of a step. Its key contains the message's id, so two messages share no note."""
        if not 0 < len(key) <= _max_key:
            raise ValueError(f'the key of a step has 1 to {_max_key} characters')
        note = self._run.note(f'once:{self._message_id}:{key}')
        self.keys.add(note.key)
        return note

    def once(self, key: str, step: Callable[[], Any]) -> Any:
        """Returns the stored value of a step; or else the value of `step`, which is then stored."""
        note = self.note(key)
        # If threads of a handler ask for a step at the same time, the second finds the stored value of the first.
        with self._locks.setdefault(key, threading.RLock()):
            found = note.view()
            return keep(note, step()) if found is None else found.value


def keep(note: RunNote, value: Any) -> Any:
    """Stores the value of a step. Returns the value that the next attempt will get."""
    plain = copied(value)
    try:
        note.put(plain, if_version=0)
    except MusterError as error:
        if is_lost(error):
            raise ClaimLost(error.message) from error
        if error.code != 'VERSION_CONFLICT':
            raise
        # Stored by an earlier request of this attempt, whose answer was lost.
        return note.get()
    return plain
