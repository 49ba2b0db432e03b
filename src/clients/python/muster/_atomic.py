"""Atomic batches: all calls happen in one step, or none happens."""

from __future__ import annotations

from types import TracebackType

from ._base import BATCH, AsyncSender, Plan, Sender
from ._calls import AtomicCalls
from ._tracing import TraceContext


class Atomic(AtomicCalls):
    """The calls of an atomic batch, by primitive. They are made at the end of the `with` block, unless it raises."""

    def __init__(self, send: Sender, options: tuple[str, int, float, TraceContext]) -> None:
        self._plan = Plan()
        super().__init__(self._plan)
        self._send = send
        self._options = options

    def __enter__(self) -> Atomic:
        return self

    def __exit__(self, error: type[BaseException] | None, _: BaseException | None, __: TracebackType | None) -> None:
        if error is None and self._plan.calls:
            self._plan.take(self._send(BATCH, self._plan.args, *self._options))


class AsyncAtomic(AtomicCalls):
    """Like `Atomic`, in an asyncio program."""

    def __init__(self, send: AsyncSender, options: tuple[str, int, float, TraceContext]) -> None:
        self._plan = Plan()
        super().__init__(self._plan)
        self._send = send
        self._options = options

    async def __aenter__(self) -> AsyncAtomic:
        return self

    async def __aexit__(
        self, error: type[BaseException] | None, _: BaseException | None, __: TracebackType | None
    ) -> None:
        if error is None and self._plan.calls:
            self._plan.take(await self._send(BATCH, self._plan.args, *self._options))


__all__ = ['AsyncAtomic', 'Atomic', 'AtomicCalls']
