"""Runs, and the values that their agents share."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from ._arguments import ABSENT, Id, text
from ._base import Endpoint
from ._calls import NOTE_DELETE, NOTE_LIST, NOTE_PUT, NOTE_VIEW
from ._errors import MusterError, Stopped
from ._records import ListedNote, Note, PutNote
from ._transport import Stop

if TYPE_CHECKING:
    from ._client import Muster

T = TypeVar('T')

_wait_seconds = 20
_first_pause_seconds = 0.005
_max_pause_seconds = 0.5


class NoteCaller:
    """Makes the calls for notes."""

    fence: Mapping[str, str] = {}
    """The claim that must be live for puts to succeed; empty for none"""

    def __init__(self, muster: Muster) -> None:
        self.muster = muster

    def call(self, endpoint: Endpoint[T], args: Mapping[str, Any], stop: Stop | None = None) -> T:
        return self.muster.request(endpoint, args, stop=stop)


class RunNote:
    """A note of a run: a value that its agents share."""

    def __init__(self, caller: NoteCaller, scope_id: str, key: str) -> None:
        self.scope_id = scope_id
        self.key = key
        self._caller = caller
        self._id = {'scopeId': scope_id, 'key': key}

    def view(self) -> Note | None:
        """Returns the note with its version; None if it does not exist."""
        try:
            return self._caller.call(NOTE_VIEW, self._id)
        except MusterError as error:
            return _none(error)

    def get(self, default: Any = None) -> Any:
        """Returns its value; `default` if it does not exist."""
        note = self.view()
        return default if note is None else note.value

    def put(self, value: Any, *, if_version: int = ABSENT) -> PutNote:
        """Puts a JSON value. Creates the note if it does not exist.

        Args:
            value: the value
            if_version: the version that the note must have (0: it must not exist); default: any

        Raises:
            MusterError: VERSION_CONFLICT if the note has another version, CLAIM_LOST if the handler's claim has ended
        """
        args = {**self._id, 'value': value, 'ifVersion': if_version, **self._caller.fence}
        return self._caller.call(NOTE_PUT, args)

    def update(self, compute: Callable[[Any], Any]) -> Any:
        """Changes the value: reads it, calls `compute` with it (or with None if there is no note), and puts the result.

        Starts again if somebody else has changed the note meanwhile, so `compute` may run several times. Returns the
        value that was put.
        """
        pause = _first_pause_seconds
        while True:
            note = self.view()
            value = compute(None if note is None else note.value)
            try:
                self.put(value, if_version=0 if note is None else note.version)
                return value
            except MusterError as error:
                if error.code != 'VERSION_CONFLICT':
                    raise
            time.sleep(pause * (1 + random.random()))
            pause = min(_max_pause_seconds, pause * 2)

    def delete(self, *, if_version: int = ABSENT) -> None:
        """Deletes the note if it exists.

        Args:
            if_version: the version that the note must have, else VERSION_CONFLICT; default: any
        """
        try:
            self._caller.call(NOTE_DELETE, {**self._id, 'ifVersion': if_version})
        except MusterError as error:
            _none(error)

    def changed(self, since_version: int, stop: Stop | None = None) -> Note | None:
        """Waits until the note's version differs from `since_version` (0: until the note is created).

        Returns the note, or None if it was deleted.

        Raises:
            Stopped: another thread has set `stop`
            ClaimLost: the handler's claim has ended
        """
        args = {**self._id, 'sinceVersion': since_version, 'waitSeconds': _wait_seconds}
        while True:
            if stop is not None and stop.is_set():
                raise Stopped
            note: Note | None = None
            try:
                note = self._caller.call(NOTE_VIEW, args, stop)
            except MusterError as error:
                _none(error)
            if (0 if note is None else note.version) != since_version:
                return note


class Run:
    """A run or a part of one, with the data its agents share: `Run(muster, scope_id).note('plan').update(…)`.

    In a handler it is `task.run`, and its notes can be put only while the claim lasts.
    """

    def __init__(self, muster: Muster, scope_id: Id, caller: NoteCaller | None = None) -> None:
        self.scope_id = text(scope_id)
        self._caller = caller or NoteCaller(muster)

    def note(self, key: str) -> RunNote:
        """Returns the note with this key, whether it exists or not."""
        return RunNote(self._caller, self.scope_id, key)

    def notes(self, prefix: str = ABSENT) -> Iterator[ListedNote]:
        """Iterates over the notes whose keys begin with `prefix` (default: all), with their values, sorted by key."""
        cursor: Any = ABSENT
        while cursor is not None:
            args = {'scopeId': self.scope_id, 'prefix': prefix, 'values': True, 'limit': 200, 'cursor': cursor}
            page = self._caller.call(NOTE_LIST, args)
            yield from page.notes
            cursor = page.next_cursor


def _none(error: MusterError) -> None:
    if error.code != 'NOTE_NOT_FOUND':
        raise error
