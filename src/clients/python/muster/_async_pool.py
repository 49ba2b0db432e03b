"""Units of a pool that are held while work runs, in asyncio programs."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from ._arguments import Id
from ._async_calls import PoolAsyncCalls
from ._base import AsyncSender
from ._pool import Holding
from ._worker.signals import hold_end
from ._transport import Stop

if TYPE_CHECKING:
    from ._client import AsyncMuster


class AsyncPools(PoolAsyncCalls):
    """Like `Pools`: `async with muster.pool('deploys').hold() as hold`."""

    def __init__(self, muster: AsyncMuster, sender: AsyncSender) -> None:
        super().__init__(sender)
        self._muster = muster

    def __call__(self, pool: Id) -> AsyncPool:
        return AsyncPool(self._muster, pool)


class AsyncPool:
    """A pool, given by its name or its id."""

    def __init__(self, muster: AsyncMuster, pool: Id) -> None:
        self._muster = muster
        self._pool = pool

    def hold(
        self,
        units: int = 1,
        *,
        scope_id: Id | None = None,
        holder: str | None = None,
        holder_session: str | None = None,
        lease_seconds: int = 30,
        ttl_seconds: float = 300,
    ) -> AsyncHolding:
        """Like `Pool.hold`, for an `async with` block. A lost hold cancels the block, which then raises `HoldLost`."""
        stop = Stop()
        make = partial(
            self._muster.sync.pool(self._pool).hold,
            units,
            scope_id=scope_id,
            holder=holder,
            # Each hold gets its own session, because tasks wait for one another as threads do.
            holder_session=holder_session or str(uuid.uuid4()),
            lease_seconds=lease_seconds,
            ttl_seconds=ttl_seconds,
            stop=stop,
        )
        return AsyncHolding(self._muster, make, stop)


class AsyncHolding:
    """Units of a pool, held during an `async with` block."""

    def __init__(self, muster: AsyncMuster, make: partial[Holding], stop: Stop) -> None:
        self.sync = make()
        self._muster = muster
        self._stop = stop
        self._cancels = False

    @property
    def fence(self) -> int:
        """Like `Holding.fence`."""
        return self.sync.fence

    @property
    def is_lost(self) -> bool:
        """Like `Holding.is_lost`."""
        return self.sync.is_lost

    async def __aenter__(self) -> AsyncHolding:
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        if task is not None:
            hold_end.enter_loop(self, loop, task.cancel)
        try:
            await self._muster.take_in_thread(partial(self.sync.__enter__), self._stop, Holding.leave)
        except BaseException:
            hold_end.leave(self)
            raise

        def cancel() -> None:
            self._cancels = True
            if task is not None:
                task.cancel()

        def lose() -> None:
            loop.call_soon_threadsafe(cancel)

        self.sync.lost.add(lose)
        self._lose = lose
        return self

    async def __aexit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        self.sync.lost.remove(self._lose)
        by_us = self._cancels and isinstance(error, asyncio.CancelledError)
        # Since Python 3.11, a task counts its cancellations.
        uncancel: Callable[[], object] | None = getattr(asyncio.current_task(), 'uncancel', None)
        if by_us and uncancel is not None:
            uncancel()
        # Exit as if the block had ended normally, which raises HoldLost.
        given = (None, None, None) if by_us else (kind, error, trace)
        try:
            await asyncio.shield(self._muster.in_thread(partial(self.sync.__exit__, *given)))
        finally:
            hold_end.leave(self)
