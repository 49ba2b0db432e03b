"""Waits for the end of something, over reads that are held at the server."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from ._arguments import ABSENT, Id, text
from ._async_calls import BarrierAsyncCalls, GroupAsyncCalls, ScopeAsyncCalls
from ._base import AsyncSender, Endpoint
from ._calls import BARRIER_ARRIVE, BARRIER_VIEW, GROUP_VIEW, SCOPE_VIEW, BarrierCalls, GroupCalls, ScopeCalls
from ._errors import MusterError, Stopped
from ._record import Record
from ._records import Barrier, Scope, TaskGroup
from ._transport import Stop, any_of, pause_after

if TYPE_CHECKING:
    from ._client import AsyncMuster, Muster

R = TypeVar('R', bound=Record)

_wait_seconds = 20
_first_pause_seconds = 0.1
_max_pause_seconds = 2.0
_max_asked_seconds = 60
_early_pause_seconds = 0.5
"""The pause if a server answers held calls at once, for example because it is stopping"""


@contextmanager
def bounded(stop: Stop | None, max_seconds: float | None) -> Generator[Stop]:
    """Gives a wait a stop that is set with the one given, or when the time is up. Then it raises TimeoutError."""
    late = Stop()
    timer = None if max_seconds is None else threading.Timer(max_seconds, late.set)
    with any_of(late, *([] if stop is None else [stop])) as ended:
        if timer is not None:
            timer.daemon = True
            timer.start()
        try:
            yield ended
        except Stopped:
            if stop is not None and stop.is_set():
                raise
            raise TimeoutError(f'it has not ended within {max_seconds} s') from None
        finally:
            if timer is not None:
                timer.cancel()


def until_over(
    muster: Muster, endpoint: Endpoint[R], args: dict[str, Any], is_over: Callable[[R], bool], stop: Stop
) -> R:
    """Repeats a read that is held at the server until it answers the end.

    The first read is made like any call; once it was answered, the wait goes on however long the service is away.
    """
    is_answered, failures = False, 0
    while True:
        if stop.is_set():
            raise Stopped
        asked_at = time.monotonic()
        attempts = 1 if is_answered else ABSENT
        try:
            found = muster.request(endpoint, {**args, 'waitSeconds': _wait_seconds}, attempts=attempts, stop=stop)
        except MusterError as error:
            if not is_answered or not error.is_passing:
                raise
            asked = min(_max_asked_seconds, error.retry_after_seconds or 0)
            pause = max(pause_after(failures, _first_pause_seconds, _max_pause_seconds), asked)
            failures += 1
            stop.wait(pause * (1 + random.random() / 4))
        else:
            if is_over(found):
                return found
            is_answered, failures = True, 0
            if time.monotonic() - asked_at < _early_pause_seconds:
                stop.wait(_early_pause_seconds)


class Scopes(ScopeCalls):
    """The calls of scopes, and a wait for a run."""

    def __init__(self, muster: Muster) -> None:
        super().__init__(muster.send)
        self._muster = muster

    def wait_idle(self, *, scope_id: Id, stop: Stop | None = None, max_seconds: float | None = None) -> Scope:
        """Waits until nothing is live in a scope and those below it, cancelled or not.

        That is no message that is not finished, and nobody in line for units. Returns the scope. Goes on across time-outs
        and lost connections.

        Args:
            scope_id: the scope
            stop: ends the wait, which then raises `Stopped`
            max_seconds: the most that it may take; default: no limit

        Raises:
            TimeoutError: the time was up
            MusterError: SCOPE_NOT_FOUND if the scope was never used
        """
        with bounded(stop, max_seconds) as ended:
            return until_over(self._muster, SCOPE_VIEW, {'scopeId': text(scope_id)}, _is_idle, ended)


class Barriers(BarrierCalls):
    """The calls of barriers, and a wait at one."""

    def __init__(self, muster: Muster) -> None:
        super().__init__(muster.send)
        self._muster = muster

    def arrive_and_wait(
        self,
        *,
        barrier_id: Id,
        arrival_key: str,
        epoch: int | None = None,
        stop: Stop | None = None,
        max_seconds: float | None = None,
    ) -> Barrier:
        """Arrives, and waits until the epoch is released. Goes on across time-outs and lost connections.

        Returns the barrier, which may be in a later epoch by then. Again with the same `arrival_key`, it only waits.

        Args:
            barrier_id: the barrier
            arrival_key: the name of the party that arrives
            epoch: the epoch to arrive in; any other than the current one is refused
            stop: ends the wait, which then raises `Stopped`
            max_seconds: the most that it may take; default: no limit

        Raises:
            TimeoutError: the time was up
            MusterError: BARRIER_CANCELLED if the barrier is cancelled meanwhile; EPOCH_MISMATCH, or another refusal
        """
        asked: dict[str, Any] = {'barrierId': text(barrier_id)}
        with bounded(stop, max_seconds) as ended:
            args = {**asked, 'arrivalKey': arrival_key, **({} if epoch is None else {'epoch': epoch})}
            found = self._muster.request(BARRIER_ARRIVE, args, stop=ended)
            arrived = found.epoch

            def is_over(barrier: Barrier) -> bool:
                return barrier.epoch > arrived or barrier.state != 'OPEN'

            if not is_over(found):
                found = until_over(self._muster, BARRIER_VIEW, {**asked, 'epoch': arrived}, is_over, ended)
        if found.epoch == arrived and found.state == 'CANCELLED':
            words = f'the barrier {barrier_id} was cancelled in epoch {arrived}'
            raise MusterError('BARRIER_CANCELLED', words, status=409)
        return found


class Groups(GroupCalls):
    """The calls of groups, and a wait for one."""

    def __init__(self, muster: Muster) -> None:
        super().__init__(muster.send)
        self._muster = muster

    def wait_decided(self, *, group_id: Id, stop: Stop | None = None, max_seconds: float | None = None) -> TaskGroup:
        """Waits until a group is decided, and returns it. Goes on across time-outs and lost connections.

        Args:
            group_id: the group
            stop: ends the wait, which then raises `Stopped`
            max_seconds: the most that it may take; default: no limit

        Raises:
            TimeoutError: the time was up
            MusterError: GROUP_NOT_FOUND, or another refusal of a read
        """
        with bounded(stop, max_seconds) as ended:
            return until_over(self._muster, GROUP_VIEW, {'groupId': text(group_id)}, _is_decided, ended)


class AsyncScopes(ScopeAsyncCalls):
    """Like `Scopes`."""

    def __init__(self, muster: AsyncMuster, sender: AsyncSender) -> None:
        super().__init__(sender)
        self._muster = muster

    async def wait_idle(self, *, scope_id: Id, max_seconds: float | None = None) -> Scope:
        """Like `Scopes.wait_idle`."""
        stop, wait = Stop(), self._muster.sync.scope.wait_idle
        work = partial(wait, scope_id=scope_id, max_seconds=max_seconds, stop=stop)
        return await self._muster.in_thread(work, stop)


class AsyncBarriers(BarrierAsyncCalls):
    """Like `Barriers`."""

    def __init__(self, muster: AsyncMuster, sender: AsyncSender) -> None:
        super().__init__(sender)
        self._muster = muster

    async def arrive_and_wait(
        self, *, barrier_id: Id, arrival_key: str, epoch: int | None = None, max_seconds: float | None = None
    ) -> Barrier:
        """Like `Barriers.arrive_and_wait`."""
        stop, wait = Stop(), self._muster.sync.barrier.arrive_and_wait
        work = partial(wait, barrier_id=barrier_id, arrival_key=arrival_key, epoch=epoch, max_seconds=max_seconds)
        return await self._muster.in_thread(partial(work, stop=stop), stop)


class AsyncGroups(GroupAsyncCalls):
    """Like `Groups`."""

    def __init__(self, muster: AsyncMuster, sender: AsyncSender) -> None:
        super().__init__(sender)
        self._muster = muster

    async def wait_decided(self, *, group_id: Id, max_seconds: float | None = None) -> TaskGroup:
        """Like `Groups.wait_decided`."""
        stop, wait = Stop(), self._muster.sync.group.wait_decided
        work = partial(wait, group_id=group_id, max_seconds=max_seconds, stop=stop)
        return await self._muster.in_thread(work, stop)


def _is_idle(scope: Scope) -> bool:
    return scope.live.messages + scope.live.waiters == 0


def _is_decided(group: TaskGroup) -> bool:
    return group.state == 'DECIDED'
