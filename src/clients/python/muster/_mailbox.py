"""Mailboxes whose payloads and results have types."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from functools import partial
from typing import Any, Generic, TypeVar, cast

from ._arguments import Id, text
from ._calls import MESSAGE_VIEW
from ._worker.event_loop import AsyncTask, AsyncWorker
from ._client import AsyncMuster, Muster
from ._errors import NoResult
from ._mailbox_ids import mailbox_id_of
from ._records import Claim, Message, SentMessage
from ._transport import Stop
from ._waits import bounded, until_over
from ._worker.threads import Task, Worker

In = TypeVar('In')
Out = TypeVar('Out')

_final_states = ('ACKED', 'REJECTED', 'FAILED', 'EXPIRED', 'CANCELLED')


class TypedMailbox(Generic[In, Out]):
    """A mailbox whose payloads and results have types, on which senders, workers and readers agree.

    `pages: TypedMailbox[Page, Text] = TypedMailbox(muster, 'pages')`

    Args:
        muster: the client
        name: the mailbox's name; it is created if it does not exist
        fields: how to create it: `max_attempts=3`; if an existing one differs, a warning is logged, once
    """

    def __init__(self, muster: Muster, name: str, **fields: Any) -> None:
        self.name = name
        self._muster = muster
        self._create = {'name': name, **fields}

    @property
    def id(self) -> str:
        """Its id. Finds the mailbox by name, or creates it."""
        return mailbox_id_of(self._muster, self._create)

    def send(self, payload: In, *, scope_id: Id, **fields: Any) -> SentMessage:
        """Like `muster.message.send`."""
        return self._muster.message.send(mailbox_id=self.id, scope_id=scope_id, payload=payload, **fields)

    def result(self, message_id: Id, *, stop: Stop | None = None, max_seconds: float | None = None) -> Out:
        """Waits until a message has ended, and returns its result. Goes on across time-outs and lost connections.

        Args:
            message_id: the message
            stop: ends the wait, which then raises `Stopped`
            max_seconds: the most that it may take; default: no limit

        Raises:
            NoResult: the message was not ACKED
            TimeoutError: the time was up
        """
        with bounded(stop, max_seconds) as ended:
            found = until_over(self._muster, MESSAGE_VIEW, {'messageId': text(message_id)}, _has_ended, ended)
        return cast(Out, _result_of(found))

    def all(self, **filters: Any) -> Iterator[Message]:
        """Iterates over its messages, oldest first. The filters are those of `muster.message.all`."""
        return self._muster.message.all(mailbox_id=self.id, **filters)

    def worker(self, handler: Callable[[Claim, Task], Out], **options: Any) -> Worker:
        """Returns a worker on it, with options of `Worker`: call its `run`, or use it in a `with` block."""
        return Worker(self._muster, self._create, handler, **options)


class AsyncTypedMailbox(Generic[In, Out]):
    """Like `TypedMailbox`, in an asyncio program.

    `pages: AsyncTypedMailbox[Page, Text] = AsyncTypedMailbox(muster, 'pages')`
    """

    def __init__(self, muster: AsyncMuster, name: str, **fields: Any) -> None:
        self.name = name
        self._muster = muster
        self._create = {'name': name, **fields}

    async def id(self) -> str:
        """Its id. Finds the mailbox by name, or creates it."""
        return await self._muster.in_thread(partial(mailbox_id_of, self._muster.sync, self._create))

    async def send(self, payload: In, *, scope_id: Id, **fields: Any) -> SentMessage:
        """Like `muster.message.send`."""
        return await self._muster.message.send(
            mailbox_id=await self.id(), scope_id=scope_id, payload=payload, **fields
        )

    async def result(self, message_id: Id, *, max_seconds: float | None = None) -> Out:
        """Like `TypedMailbox.result`."""
        stop = Stop()
        of: TypedMailbox[In, Out] = TypedMailbox(self._muster.sync, self.name)
        return await self._muster.in_thread(partial(of.result, message_id, max_seconds=max_seconds, stop=stop), stop)

    async def all(self, **filters: Any) -> AsyncIterator[Message]:
        """Like `TypedMailbox.all`."""
        async for message in self._muster.message.all(mailbox_id=await self.id(), **filters):
            yield message

    def worker(self, handler: Callable[[Claim, AsyncTask], Awaitable[Out]], **options: Any) -> AsyncWorker:
        """Returns a worker on it, with options of `AsyncWorker`: await `run`, or use it in an `async with` block."""
        return AsyncWorker(self._muster, self._create, handler, **options)


def _has_ended(found: Message) -> bool:
    return found.state in _final_states


def _result_of(ended: Message) -> Any:
    if ended.state != 'ACKED':
        raise NoResult(ended)
    return ended.result
