"""Groups with tasks of one typed mailbox."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Generic, TypedDict, TypeVar, cast

from ._arguments import ABSENT, From, Id, text
from ._base import BatchedCall, PendingCall
from ._calls import AtomicCalls
from ._client import AsyncMuster, Muster
from ._judge import Verdict
from ._records import CreatedGroup, SealedGroup, SubmitFields, SubmittedTask, TaskGroup, TaskRecord
from ._transport import Stop

if TYPE_CHECKING:
    from typing_extensions import Unpack

In = TypeVar('In')
Out = TypeVar('Out')


class SucceededTask(TaskRecord, Generic[Out]):
    """A group's member that has succeeded, with the type of its result, for type checkers."""

    __slots__ = ()
    if TYPE_CHECKING:
        outcome: Out


class TypedTaskRecord(TaskRecord, Generic[Out]):
    """A group's member whose result has this type, for type checkers."""

    __slots__ = ()
    if TYPE_CHECKING:
        outcome: Out | None


class TypedTaskGroup(TaskGroup, Generic[Out]):
    """A group whose members' results have this type, for type checkers."""

    __slots__ = ()
    if TYPE_CHECKING:
        members: list[TypedTaskRecord[Out]]  # type: ignore[assignment]  # lists cannot be narrowed


class CallOptions(TypedDict, total=False):
    """Optional keyword arguments of every call."""

    idempotency_key: str
    attempts: int
    retry_seconds: float
    traceparent: str | None
    tracestate: str | None


class SubmitOptions(SubmitFields, CallOptions, total=False):
    """Optional keyword arguments of a submit."""


class GroupInBatch(Generic[In]):
    """The calls of a typed group for `muster.batch`."""

    def __init__(self, muster: Muster, group_id: str) -> None:
        self._muster = muster
        self._group_id = group_id

    def submit(
        self, input: In, *, task_key: str, idempotency_key: str = ABSENT, **fields: Unpack[SubmitFields]
    ) -> BatchedCall[SubmittedTask]:
        """Like `muster.call.task.submit`."""
        return self._muster.call.task.submit(
            group_id=self._group_id, task_key=task_key, input=input, idempotency_key=idempotency_key, **fields
        )


class GroupInAtomic(Generic[In]):
    """The calls of a typed group within an atomic batch."""

    def __init__(self, t: AtomicCalls, group_id: Id | From) -> None:
        self.group_id = group_id
        self._t = t

    def submit(self, input: In, *, task_key: str, **fields: Unpack[SubmitFields]) -> PendingCall[SubmittedTask]:
        """Like `t.task.submit`."""
        return self._t.task.submit(group_id=self.group_id, task_key=task_key, input=input, **fields)

    def seal(self) -> PendingCall[SealedGroup]:
        """Like `t.group.seal`."""
        return self._t.group.seal(group_id=self.group_id)


class NewGroup(GroupInAtomic[In]):
    """A group that an atomic batch creates."""

    def __init__(self, t: AtomicCalls, created: PendingCall[CreatedGroup]) -> None:
        super().__init__(t, created.group_id)
        self.created = created
        """The call that creates it. Its `answer` is available once the batch has happened"""


class TypedGroup(Generic[In, Out]):
    """A group with tasks of one typed mailbox: `group.submit(page, task_key='a')`."""

    def __init__(self, muster: Muster, group_id: Id) -> None:
        self.group_id = text(group_id)
        self.call: GroupInBatch[In] = GroupInBatch(muster, self.group_id)
        """Its calls for a batch: `muster.batch([group.call.submit(…), …])`"""
        self._muster = muster

    def within(self, t: AtomicCalls) -> GroupInAtomic[In]:
        """Returns its calls for an atomic batch: `group.within(t).submit(…)`."""
        return GroupInAtomic(t, self.group_id)

    def submit(self, input: In, *, task_key: str, **fields: Unpack[SubmitOptions]) -> SubmittedTask:
        """Like `muster.task.submit`."""
        return self._muster.task.submit(group_id=self.group_id, task_key=task_key, input=input, **fields)

    def seal(self) -> SealedGroup:
        """Like `muster.group.seal`."""
        return self._muster.group.seal(group_id=self.group_id)

    def wait_decided(self, *, stop: Stop | None = None, max_seconds: float | None = None) -> TypedTaskGroup[Out]:
        """Like `muster.group.wait_decided`."""
        decided = self._muster.group.wait_decided(group_id=self.group_id, stop=stop, max_seconds=max_seconds)
        return cast('TypedTaskGroup[Out]', decided)

    def judge(
        self, verdict: Callable[[SucceededTask[Out]], bool | None], *, stop: Stop | None = None
    ) -> TypedTaskGroup[Out]:
        """Like `muster.judge`."""
        judged = self._muster.judge(self.group_id, cast(Verdict, verdict), stop=stop)
        return cast('TypedTaskGroup[Out]', judged)


class AsyncTypedGroup(Generic[In, Out]):
    """Like `TypedGroup`, in an asyncio program."""

    def __init__(self, muster: AsyncMuster, group_id: Id) -> None:
        self.group_id = text(group_id)
        self.call: GroupInBatch[In] = GroupInBatch(muster.sync, self.group_id)
        """Like `TypedGroup.call`"""
        self._muster = muster

    def within(self, t: AtomicCalls) -> GroupInAtomic[In]:
        """Like `TypedGroup.within`."""
        return GroupInAtomic(t, self.group_id)

    async def submit(self, input: In, *, task_key: str, **fields: Unpack[SubmitOptions]) -> SubmittedTask:
        """Like `muster.task.submit`."""
        return await self._muster.task.submit(group_id=self.group_id, task_key=task_key, input=input, **fields)

    async def seal(self) -> SealedGroup:
        """Like `muster.group.seal`."""
        return await self._muster.group.seal(group_id=self.group_id)

    async def wait_decided(self, *, max_seconds: float | None = None) -> TypedTaskGroup[Out]:
        """Like `muster.group.wait_decided`."""
        decided = await self._muster.group.wait_decided(group_id=self.group_id, max_seconds=max_seconds)
        return cast('TypedTaskGroup[Out]', decided)

    async def judge(self, verdict: Callable[[SucceededTask[Out]], Awaitable[bool | None]]) -> TypedTaskGroup[Out]:
        """Like `muster.judge`."""
        judged = await self._muster.judge(
            self.group_id, cast('Callable[[TaskRecord], Awaitable[bool | None]]', verdict)
        )
        return cast('TypedTaskGroup[Out]', judged)


__all__ = [
    'AsyncTypedGroup',
    'CallOptions',
    'GroupInAtomic',
    'GroupInBatch',
    'NewGroup',
    'SucceededTask',
    'TypedGroup',
    'TypedTaskGroup',
    'TypedTaskRecord',
]
