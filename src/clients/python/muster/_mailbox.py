"""Mailboxes whose payloads and results have types."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, Literal, TypedDict, TypeVar, cast

from ._arguments import ABSENT, From, Id, text
from ._base import BatchedCall, LateId, PendingCall
from ._calls import MESSAGE_VIEW, AtomicCalls
from ._client import AsyncMuster, Muster
from ._errors import MusterError, NoResult
from ._group import AsyncTypedGroup, CallOptions, NewGroup, TypedGroup
from ._mailbox_ids import forget, is_known, mailbox_id_of, with_mailbox
from ._records import (
    Claim,
    GroupFields,
    MailboxFields,
    Message,
    MessageFilter,
    Schedule,
    ScheduleFields,
    SendFields,
    SentMessage,
)
from ._transport import Stop
from ._waits import bounded, until_over
from ._worker.event_loop import AsyncTask, AsyncWorker
from ._worker.options import MailboxChoice
from ._worker.threads import Task, Worker

if TYPE_CHECKING:
    from typing_extensions import Unpack

In = TypeVar('In')
Out = TypeVar('Out')
T = TypeVar('T')

Condition = Literal['FIRST_ACCEPTED', 'N_ACCEPTED', 'ALL_TERMINAL']
_final_states = ('ACKED', 'REJECTED', 'FAILED', 'EXPIRED', 'CANCELLED')


class SendOptions(SendFields, CallOptions, total=False):
    """Optional keyword arguments of a send."""


class WorkerOptions(TypedDict, total=False):
    """Optional keyword arguments of a worker."""

    scope_id: Id
    concurrency: int
    holder: str | None
    lease_seconds: int
    results_to: MailboxChoice | None
    wait_seconds: int
    batch: bool
    close_seconds: float
    close_on_signals: bool
    logger: logging.Logger | None


class TypedClaim(Claim, Generic[In]):
    """A `Claim` whose payload has this type, for type checkers."""

    __slots__ = ()
    if TYPE_CHECKING:
        payload: In


class TypedMessage(Message, Generic[In, Out]):
    """A `Message` whose payload and result have these types, for type checkers."""

    __slots__ = ()
    if TYPE_CHECKING:
        payload: In
        result: Out | None


class MailboxInBatch(Generic[In]):
    """The calls of a typed mailbox for `muster.batch`."""

    def __init__(self, muster: Muster, late: LateId) -> None:
        self._muster = muster
        self._late: Any = late

    def send(
        self, payload: In, *, scope_id: Id | From, idempotency_key: str = ABSENT, **fields: Unpack[SendFields]
    ) -> BatchedCall[SentMessage]:
        """Like `muster.call.message.send`."""
        return self._muster.call.message.send(
            mailbox_id=self._late, scope_id=scope_id, payload=payload, idempotency_key=idempotency_key, **fields
        )


class MailboxInAtomic(Generic[In]):
    """The calls of a typed mailbox within an atomic batch."""

    def __init__(self, t: AtomicCalls, late: LateId) -> None:
        self._t = t
        self._late: Any = late

    def send(self, payload: In, *, scope_id: Id | From, **fields: Unpack[SendFields]) -> PendingCall[SentMessage]:
        """Like `t.message.send`."""
        return self._t.message.send(mailbox_id=self._late, scope_id=scope_id, payload=payload, **fields)

    def create_group(self, *, condition: Condition, **fields: Unpack[GroupFields]) -> NewGroup[In]:
        """Like `t.group.create`. Tasks can be submitted to it in the same batch."""
        created = self._t.group.create(mailbox_id=self._late, condition=condition, **fields)
        return NewGroup(self._t, created)


class TypedMailbox(Generic[In, Out]):
    """A mailbox whose payloads and results have types, on which senders, workers and readers agree.

    `pages: TypedMailbox[Page, Text] = TypedMailbox(muster, 'pages')`

    Args:
        muster: the client
        name: the mailbox's name; it is created if it does not exist
        fields: how to create it: `max_attempts=3`; if an existing one differs, a warning is logged, once
    """

    def __init__(self, muster: Muster, name: str, **fields: Unpack[MailboxFields]) -> None:
        self.name = name
        self._muster = muster
        self._create: dict[str, Any] = {'name': name, **fields}
        self._late = LateId(partial(mailbox_id_of, muster, self._create))
        self.call: MailboxInBatch[In] = MailboxInBatch(muster, self._late)
        """Its calls for a batch: `muster.batch([pages.call.send(…), …])`"""

    @property
    def id(self) -> str:
        """Its id. Finds the mailbox by name, or creates it."""
        return mailbox_id_of(self._muster, self._create)

    def within(self, t: AtomicCalls) -> MailboxInAtomic[In]:
        """Returns its calls for an atomic batch: `pages.within(t).send(…)`, also in the plan of a handler's `finish`."""
        return MailboxInAtomic(t, self._late)

    def send(self, payload: In, *, scope_id: Id, **fields: Unpack[SendOptions]) -> SentMessage:
        """Like `muster.message.send`."""

        def send_to(mailbox_id: str) -> SentMessage:
            return self._muster.message.send(mailbox_id=mailbox_id, scope_id=scope_id, payload=payload, **fields)

        return with_mailbox(self._muster, self._create, send_to)

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

    def all(self, **filters: Unpack[MessageFilter]) -> Iterator[TypedMessage[In, Out]]:
        """Iterates over its messages, oldest first. The filters are those of `muster.message.all`."""
        found = self._muster.message.all(mailbox_id=self.id, **filters)
        return cast('Iterator[TypedMessage[In, Out]]', found)

    def create_group(self, *, condition: Condition, **fields: Unpack[GroupFields]) -> TypedGroup[In, Out]:
        """Creates a group whose tasks are delivered through this mailbox: like `muster.group.create`."""

        def create_in(mailbox_id: str) -> TypedGroup[In, Out]:
            return self.group(
                self._muster.group.create(mailbox_id=mailbox_id, condition=condition, **fields).group_id
            )

        return with_mailbox(self._muster, self._create, create_in)

    def group(self, group_id: Id) -> TypedGroup[In, Out]:
        """Returns a group of this mailbox, by its id."""
        return TypedGroup(self._muster, group_id)

    def schedule(self, payload: In, *, name: str, scope_id: Id, **fields: Unpack[ScheduleFields]) -> Schedule:
        """Creates a schedule that sends to it, or changes an existing one of this name: like `muster.schedule.ensure`."""

        def ensure_in(mailbox_id: str) -> Schedule:
            return self._muster.schedule.ensure(
                name=name, mailbox_id=mailbox_id, scope_id=scope_id, payload=payload, **fields
            )

        return with_mailbox(self._muster, self._create, ensure_in)

    def worker(self, handler: Callable[[TypedClaim[In], Task], Out], **options: Unpack[WorkerOptions]) -> Worker:
        """Returns a worker on it, with options of `Worker`: call its `run`, or use it in a `with` block."""
        handle = cast('Callable[[Claim, Task], Any]', handler)
        return Worker(self._muster, self._create, handle, **options)


class AsyncTypedMailbox(Generic[In, Out]):
    """Like `TypedMailbox`, in an asyncio program.

    `pages: AsyncTypedMailbox[Page, Text] = AsyncTypedMailbox(muster, 'pages')`
    """

    def __init__(self, muster: AsyncMuster, name: str, **fields: Unpack[MailboxFields]) -> None:
        self.name = name
        self._muster = muster
        self._create: dict[str, Any] = {'name': name, **fields}
        self._sync: TypedMailbox[In, Out] = TypedMailbox(muster.sync, name, **fields)
        self.call = self._sync.call
        """Like `TypedMailbox.call`"""

    async def id(self) -> str:
        """Its id. Finds the mailbox by name, or creates it."""
        return await self._muster.in_thread(partial(mailbox_id_of, self._muster.sync, self._create))

    def within(self, t: AtomicCalls) -> MailboxInAtomic[In]:
        """Like `TypedMailbox.within`."""
        return self._sync.within(t)

    async def send(self, payload: In, *, scope_id: Id, **fields: Unpack[SendOptions]) -> SentMessage:
        """Like `muster.message.send`."""
        message = self._muster.message
        return await self._with(
            lambda mailbox_id: message.send(mailbox_id=mailbox_id, scope_id=scope_id, payload=payload, **fields)
        )

    async def result(self, message_id: Id, *, max_seconds: float | None = None) -> Out:
        """Like `TypedMailbox.result`."""
        stop = Stop()
        work = partial(self._sync.result, message_id, max_seconds=max_seconds, stop=stop)
        return await self._muster.in_thread(work, stop)

    async def all(self, **filters: Unpack[MessageFilter]) -> AsyncIterator[TypedMessage[In, Out]]:
        """Like `TypedMailbox.all`."""
        async for message in self._muster.message.all(mailbox_id=await self.id(), **filters):
            yield cast('TypedMessage[In, Out]', message)

    async def create_group(self, *, condition: Condition, **fields: Unpack[GroupFields]) -> AsyncTypedGroup[In, Out]:
        """Like `TypedMailbox.create_group`."""
        group = self._muster.group
        made = await self._with(
            lambda mailbox_id: group.create(mailbox_id=mailbox_id, condition=condition, **fields)
        )
        return self.group(made.group_id)

    def group(self, group_id: Id) -> AsyncTypedGroup[In, Out]:
        """Like `TypedMailbox.group`."""
        return AsyncTypedGroup(self._muster, group_id)

    async def schedule(self, payload: In, *, name: str, scope_id: Id, **fields: Unpack[ScheduleFields]) -> Schedule:
        """Like `TypedMailbox.schedule`."""
        ensure = self._muster.schedule.ensure
        return await self._with(
            lambda mailbox_id: ensure(
                name=name, mailbox_id=mailbox_id, scope_id=scope_id, payload=payload, **fields
            )
        )

    def worker(
        self, handler: Callable[[TypedClaim[In], AsyncTask], Awaitable[Out]], **options: Unpack[WorkerOptions]
    ) -> AsyncWorker:
        """Returns a worker on it, with options of `AsyncWorker`: await `run`, or use it in an `async with` block."""
        handle = cast('Callable[[Claim, AsyncTask], Awaitable[Any]]', handler)
        return AsyncWorker(self._muster, self._create, handle, **options)

    async def _with(self, work: Callable[[str], Awaitable[T]]) -> T:
        """Like `with_mailbox`."""
        was_known = is_known(self._muster.sync, self._create)
        try:
            return await work(await self.id())
        except MusterError as error:
            if not was_known or error.code != 'MAILBOX_NOT_FOUND':
                raise
        forget(self._muster.sync, self._create)
        return await work(await self.id())


def _has_ended(found: Message) -> bool:
    return found.state in _final_states


def _result_of(ended: Message) -> Any:
    if ended.state != 'ACKED':
        raise NoResult(ended)
    return ended.result
