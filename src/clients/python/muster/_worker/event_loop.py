"""Workers in asyncio programs."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypeVar

from .._arguments import After, Amount, Id, Moment
from .._async_pool import AsyncHolding
from .._async_run import AsyncRun
from .._client import AsyncMuster, AsyncReservation, Reserving
from .._calls import MAILBOX_VIEW
from .._errors import Stopped, WorkerClosed
from .._model_call import ModelCall
from .._records import Claim, MessageSuspendNote, SendFields, SentMessage, Waiter
from .._spend import Spend
from .._waits import until_over
from .._transport import Stop, any_of
from . import signals
from .context import TaskContext
from .memos import keep
from .options import MailboxChoice
from .results import PrerequisiteResult
from .spending import OnOverdue, Reservation, leave_line
from .suspending import JoinedSend, Suspending, conditions_of
from .task import ClaimedTask
from .worker import WorkerBase, is_drained

if TYPE_CHECKING:
    from typing_extensions import Unpack

T = TypeVar('T')

AsyncHandler = Callable[[Claim, 'AsyncTask'], Awaitable[Any]]
"""A coroutine function that works on a message and returns its result. It may raise RetryLater or GiveUp; any other
exception leads to another attempt."""


class AsyncTask(TaskContext):
    """The context of a handler: operations on the message that it works on."""

    def __init__(self, task: ClaimedTask, worker: AsyncWorker) -> None:
        super().__init__(task, worker.logger)
        self._muster = worker.given_muster
        self._steps: dict[str, asyncio.Lock] = {}

    def reserve(
        self,
        budget: Id,
        amount_minor: Amount,
        *,
        settle_by: Moment | None = None,
        on_overdue: OnOverdue | None = None,
    ) -> Reserving:
        """Like `Task.reserve`: `async with task.reserve('llm', 500) as reservation: await reservation.settle(320)`."""
        make: partial[Reservation] = partial(self._reserve, budget, amount_minor, settle_by, on_overdue)
        return Reserving(self._muster, make)

    @property
    def muster(self) -> AsyncMuster:
        """Like `Task.muster`."""
        return self._muster

    async def send(
        self, mailbox: MailboxChoice, payload: Any, *, scope_id: Id | None = None, **fields: Unpack[SendFields]
    ) -> SentMessage:
        """Like `Task.send`."""
        return await self._muster.in_thread(partial(self._send, mailbox, payload, scope_id, fields))

    def hold(
        self,
        pool: Id,
        units: int = 1,
        *,
        holder_session: str | None = None,
        lease_seconds: int = 30,
        ttl_seconds: float = 300,
    ) -> AsyncHolding:
        """Like `Task.hold`: `async with task.hold('deploys') as hold`."""
        self.raise_if_lost()
        return self._muster.pool(pool).hold(
            units,
            scope_id=self.message.scope_id,
            holder=self._task.holder,
            holder_session=holder_session or self.message.id,
            lease_seconds=lease_seconds,
            ttl_seconds=ttl_seconds,
        )

    async def units(self, allowance: Id, units: int = 1) -> Waiter:
        """Takes units of an allowance, given by name or id. Waits in line until they are granted."""
        with self._own_stop() as stop:
            undo = partial(leave_line, self._muster.sync)
            return await self._muster.take_in_thread(partial(self._units, allowance, units, stop), stop, undo)

    async def spend(self, asked: Spend, work: Callable[[ModelCall], Awaitable[T]]) -> T:
        """Like `Task.spend`, with a coroutine function."""
        with self._own_stop() as stop:
            return await self._muster.spent(self._spending(asked, stop), work, stop)

    @property
    def run(self) -> AsyncRun:
        """Like `Task.run`."""
        return AsyncRun(self._muster, self.message.scope_id, self._task.run)

    async def once(self, key: str, step: Callable[[], Awaitable[T]]) -> T:
        """Like `Task.once`: `page = await task.once('fetch', lambda: fetch(url))`."""
        self.raise_if_lost()
        note = self._task.memos.note(key)
        async with self._steps.setdefault(key, asyncio.Lock()):
            found = await self._muster.in_thread(partial(note.view))
            if found is not None:
                known: T = found.value
                return known
            made = await step()
            value: T = await self._muster.in_thread(partial(keep, note, made))
            return value

    async def ask(
        self,
        question: Any,
        *,
        options: Sequence[str] | None = None,
        expires_in_seconds: int | None = None,
        on_expiry: Literal['RETURN', 'FAIL'] | None = None,
        yields_key: bool | None = None,
    ) -> NoReturn:
        """Like `Task.ask`: `answer = task.answer or await task.ask('Publish?', options=['yes', 'no'])`."""
        self._ask(question, options, expires_in_seconds, on_expiry, yields_key)

    async def suspend(
        self,
        *,
        after: Sequence[After] | None = None,
        note: MessageSuspendNote | None = None,
        delay_seconds: int | None = None,
        any: bool | None = None,
        timeout_seconds: int | None = None,
        on_timeout: Literal['RETURN', 'FAIL'] | None = None,
        yields_key: bool | None = None,
    ) -> NoReturn:
        """Like `Task.suspend`: `await task.suspend(after=[{'scopeId': run}])`."""
        self._suspend(
            Suspending(
                conditions_of(
                    after=after,
                    note=note,
                    delay_seconds=delay_seconds,
                    any=any,
                    timeout_seconds=timeout_seconds,
                    on_timeout=on_timeout,
                    yields_key=yields_key,
                )
            )
        )

    async def sleep(self, name: str, seconds: float) -> None:
        """Like `Task.sleep`: `await task.sleep('cool down', 3600)`."""
        suspending = await self._muster.in_thread(partial(self._slept, name, seconds))
        if suspending is not None:
            self._suspend(suspending)

    async def join(
        self,
        name: str,
        sends: Sequence[JoinedSend],
        *,
        timeout_seconds: int | None = None,
        on_timeout: Literal['RETURN', 'FAIL'] | None = None,
        yields_key: bool | None = None,
    ) -> list[Any]:
        """Like `Task.join`: `pages = await task.join('pages', [{'mailbox': 'pages', 'payload': url} for url in urls])`."""
        options = conditions_of(timeout_seconds=timeout_seconds, on_timeout=on_timeout, yields_key=yields_key)
        found = await self._muster.in_thread(partial(self._joined, name, sends, options))
        return self._suspend(found) if isinstance(found, Suspending) else found

    async def results(self) -> list[PrerequisiteResult]:
        """Fetches the results of the message's prerequisites (`message.after`), in order."""
        return await self._muster.in_thread(partial(self._results))

    def _own_stop(self) -> AbstractContextManager[Stop]:
        """A stop for one call, whose cancellation must not end the handler's other calls. The end of the claim sets it."""
        return any_of(self._task.stop)


class AsyncWorker(WorkerBase[AsyncMuster, AsyncHandler]):
    """Works on the messages of a mailbox, each in a task: `await AsyncWorker(muster, 'jobs', handle).run()`.

    Like `Worker`, with the same arguments. A handler's task is cancelled as soon as its claim is lost or its message
    is cancelled, and when the worker stops before the work is done. Requests are made in threads.
    """

    _is_async = True

    _loop: asyncio.AbstractEventLoop | None = None

    async def start(self) -> AsyncWorker:
        """Starts the worker, and returns it at once. `close` stops it."""
        if self._loop is None:
            self._loop = asyncio.get_running_loop()
            self._works: dict[ClaimedTask, asyncio.Task[None]] = {}
            self._start()
        return self

    async def run(self) -> None:
        """Works until the worker is closed: by `close`, by a signal, or by the cancellation of this call.

        A signal closes all workers of the process. This call then returns when all of them have ended.

        Raises:
            MusterError: the worker could not continue, for example because its key or its mailbox was refused
        """
        with signals.in_loop(asyncio.get_running_loop()) if self._close_on_signals else nullcontext():
            try:
                await self.start()
                await _end_of(self.ended)
                for other in signals.closing():
                    await _end_of(other.ended)
            except asyncio.CancelledError:
                await self.close()
                raise
        if self._failure is not None:
            raise self._failure

    async def close(self, seconds: float | None = None) -> None:
        """Like `Worker.close`."""
        if self._loop is not None:
            self._close_soon(self._close_seconds if seconds is None else seconds)
            await _end_of(self.ended)

    async def drained(self) -> None:
        """Like `Worker.drained`."""
        while not self.ended.is_set():
            if self._mailbox_id is None:
                await asyncio.sleep(0.05)
                continue
            with any_of(self.ended) as stop:
                if await self.given_muster.in_thread(partial(self._drained, self._mailbox_id, stop), stop):
                    return
        raise self._failure or WorkerClosed('the worker was closed first')

    def _drained(self, mailbox_id: str, stop: Stop) -> bool:
        with suppress(Stopped):
            until_over(self.muster, MAILBOX_VIEW, {'mailboxId': mailbox_id}, is_drained, stop)
            return True
        return False

    async def __aenter__(self) -> AsyncWorker:
        return await self.start()

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def _begin(self, task: ClaimedTask) -> None:
        if not self._in_loop(self._spawn, task):
            self.logger.warning('the worker stops: its event loop was closed before it')
            self._close_soon(0)

    def _interrupt(self, task: ClaimedTask) -> None:
        self._in_loop(self._cancel, task)

    def _in_loop(self, what: Callable[[ClaimedTask], None], task: ClaimedTask) -> bool:
        """Returns False if the loop is closed, so that no handler is running."""
        try:
            if self._loop is not None:
                self._loop.call_soon_threadsafe(what, task)
            return True
        except RuntimeError:
            return False

    def _spawn(self, task: ClaimedTask) -> None:
        work = asyncio.ensure_future(self._work(task))
        # A task that is cancelled before its first step does nothing at all, so it would never finish. If the claim is
        # lost later than here, the first step comes before the cancellation.
        if not task.is_over:
            self._works[task] = work

    def _cancel(self, task: ClaimedTask) -> None:
        if task in self._works:
            self._works[task].cancel()

    async def _work(self, task: ClaimedTask) -> None:
        error: BaseException | None = None
        result: Any = None
        try:
            context = AsyncTask(task, self)
            context.raise_if_lost()
            with task.attempt.active():
                result = await self._handler(task.message, context)
        except BaseException as raised:
            error = raised
        finally:
            self._works.pop(task, None)
        # The end of a claim may wait for an outage to end. The client's threads are for the calls of the program.
        name = f'muster-{task.message.id}'
        threading.Thread(target=self._finish, args=(task, error, result), name=name, daemon=True).start()


async def _end_of(ended: Stop) -> None:
    loop, told = asyncio.get_running_loop(), asyncio.Event()

    def tell() -> None:
        with suppress(RuntimeError):  # The loop is closed.
            loop.call_soon_threadsafe(told.set)

    ended.add(tell)
    try:
        await told.wait()
    finally:
        ended.remove(tell)


__all__ = ['AsyncHandler', 'AsyncReservation', 'AsyncTask', 'AsyncWorker']
