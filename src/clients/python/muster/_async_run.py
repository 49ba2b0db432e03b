"""Runs and their notes, in asyncio programs."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from functools import partial
from inspect import isawaitable
from typing import Any

from ._arguments import ABSENT, Id
from ._client import AsyncMuster
from ._errors import MusterError
from ._records import ListedNote, Note, PutNote
from ._run import Run, RunNote
from ._transport import Stop

_first_pause_seconds = 0.005
_max_pause_seconds = 0.5


class AsyncRunNote:
    """Like `RunNote`."""

    def __init__(self, muster: AsyncMuster, sync: RunNote) -> None:
        self.sync = sync
        self.scope_id = sync.scope_id
        self.key = sync.key
        self._muster = muster

    async def view(self) -> Note | None:
        """Like `RunNote.view`."""
        return await self._muster.in_thread(partial(self.sync.view))

    async def get(self, default: Any = None) -> Any:
        """Like `RunNote.get`."""
        return await self._muster.in_thread(partial(self.sync.get, default))

    async def put(self, value: Any, *, if_version: int = ABSENT) -> PutNote:
        """Like `RunNote.put`."""
        return await self._muster.in_thread(partial(self.sync.put, value, if_version=if_version))

    async def update(self, compute: Callable[[Any], Any | Awaitable[Any]]) -> Any:
        """Like `RunNote.update`. `compute` may be a coroutine function."""
        pause = _first_pause_seconds
        while True:
            note = await self.view()
            value = compute(None if note is None else note.value)
            if isawaitable(value):
                value = await value
            try:
                await self.put(value, if_version=0 if note is None else note.version)
                return value
            except MusterError as error:
                if error.code != 'VERSION_CONFLICT':
                    raise
            await asyncio.sleep(pause * (1 + random.random()))
            pause = min(_max_pause_seconds, pause * 2)

    async def delete(self, *, if_version: int = ABSENT) -> None:
        """Like `RunNote.delete`."""
        await self._muster.in_thread(partial(self.sync.delete, if_version=if_version))

    async def changed(self, since_version: int) -> Note | None:
        """Like `RunNote.changed`."""
        stop = Stop()
        return await self._muster.in_thread(partial(self.sync.changed, since_version, stop), stop)


class AsyncRun:
    """Like `Run`: `await AsyncRun(muster, scope_id).note('plan').update(…)`."""

    def __init__(self, muster: AsyncMuster, scope_id: Id, sync: Run | None = None) -> None:
        self.sync = sync or Run(muster.sync, scope_id)
        self.scope_id = self.sync.scope_id
        self._muster = muster

    def note(self, key: str) -> AsyncRunNote:
        """Like `Run.note`."""
        return AsyncRunNote(self._muster, self.sync.note(key))

    async def notes(self, prefix: str = ABSENT) -> AsyncIterator[ListedNote]:
        """Like `Run.notes`."""
        notes = self.sync.notes(prefix)
        following: partial[ListedNote | None] = partial(_following, notes)
        while (note := await self._muster.in_thread(following)) is not None:
            yield note


def _following(notes: Iterator[ListedNote]) -> ListedNote | None:
    return next(notes, None)
