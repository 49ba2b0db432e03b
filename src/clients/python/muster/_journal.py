"""The journal as an iterator."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import urlencode

from ._arguments import text
from ._errors import MusterError, Stopped
from ._forks import Own
from ._json import loads_answer
from ._records import Event
from ._transport import Stop, Transport, pause_after

_silent_seconds = 40
"""A stream that is silent for longer counts as cut: one without events sends its position every 15 s."""
_first_pause_seconds = 0.2
_max_pause_seconds = 10.0
_max_asked_seconds = 60


class Journal(Iterator[Event]):
    """The events of a space from a position on, as they happen.

    Continues across lost connections, and returns each event once.
    """

    cursor: str | None
    """The position after the last event returned. Store it as the `cursor` to continue with, even in another process"""

    def __init__(
        self, transport: Transport, target: str, query: Mapping[str, Any], cursor: str | None, stop: Stop
    ) -> None:
        self.cursor = cursor
        self._transport = transport
        self._target = target
        self._query = {name: text(value) for name, value in query.items() if value is not None}
        self._stop = stop
        self._frames: Iterator[tuple[str, str | None]] | None = None
        self._failures = 0
        self._own = Own()
        """Whose the connection is"""

    def __next__(self) -> Event:
        while not self._stop.is_set():
            try:
                if self._own.is_parents:
                    self._frames, self._own = None, Own()
                if self._frames is None:
                    self._frames = self._connect()
                for self.cursor, data in self._frames:
                    self._failures = 0
                    if data is not None:
                        return Event(loads_answer(data))
            except Stopped:
                break
            except MusterError as error:
                self._frames = None
                if not error.is_passing:
                    raise
                pause = pause_after(self._failures, _first_pause_seconds, _max_pause_seconds)
                self._failures += 1
                asked = min(_max_asked_seconds, error.retry_after_seconds or 0)
                self._stop.wait(max(pause, asked) * (1 + random.random() / 4))
        raise StopIteration

    def close(self) -> None:
        """Ends the iteration, also from another thread. `Muster.events` can continue from `cursor` at any time."""
        self._stop.set()

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _connect(self) -> Iterator[tuple[str, str | None]]:
        query = self._query
        if self.cursor is not None:
            query = {**{name: value for name, value in query.items() if name != 'since'}, 'cursor': self.cursor}
        target = f'{self._target}?{urlencode(query)}' if query else self._target
        return _frames(self._transport.lines(target, silent_seconds=_silent_seconds, stop=self._stop))


def _frames(lines: Iterable[str]) -> Iterator[tuple[str, str | None]]:
    """Reads the blocks of a stream: one field per line (WHATWG HTML, "Server-sent events")."""
    fields: dict[str, str] = {}
    for line in lines:
        if line == '':
            if 'id' in fields:
                yield fields['id'], fields.get('data')
            fields = {}
        else:
            name, _, value = line.partition(':')
            fields[name] = value.removeprefix(' ')
