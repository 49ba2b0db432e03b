"""The clients: `Muster`, and `AsyncMuster` for asyncio programs."""

from __future__ import annotations

import asyncio
import os
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from functools import partial
from typing import Any, Generic, Literal, TypeVar

from ._arguments import ABSENT, Amount, Id, Moment, text
from ._async_calls import AllAsyncCalls
from ._async_pool import AsyncPools
from ._atomic import AsyncAtomic, Atomic
from ._base import BATCH, BatchedCall, Endpoint, with_ids
from ._calls import EVENT_WATCH, AllCalls, AllCallsInBatch
from ._codec import AnyCodec, check_codecs, decode_answer, encode_args
from ._errors import MusterError, Stopped
from ._forks import Own
from ._giving_back import take_for, undo_at_end
from ._journal import Journal
from ._judge import GroupRef, Judging, Verdict, judge
from ._pool import Pools
from ._records import Event, ReservationRecord, Reserved, TaskGroup, TaskRecord, Waiter
from ._model_call import ModelCall
from ._spend import OneCall, Spend, Spending, spend
from ._worker.spending import OnOverdue, Reservation, Settlement, Spender, leave_line, reserve, take_units
from ._tracing import TraceContext, in_call_span
from ._transport import Stop, Transport, default_retry_seconds
from ._waits import AsyncBarriers, AsyncGroups, AsyncScopes, Barriers, Groups, Scopes

T = TypeVar('T')
T_co = TypeVar('T_co', covariant=True)


class BatchResult(Generic[T_co]):
    """The outcome of a call in a batch."""

    ok: bool
    status: int
    """The HTTP status that the call would have had outside a batch"""
    replayed: bool
    """Whether this is the answer of an earlier call with the same Idempotency-Key"""
    error: MusterError | None
    """The refusal; None if the call succeeded"""

    def __init__(self, call: BatchedCall[T_co], result: Mapping[str, Any]) -> None:
        self.status = result['status']
        self.replayed = result.get('replayed', False)
        self.ok = self.status < 300
        self.error = None
        self._call = call
        self._body: Any = result['body']
        if not self.ok:
            error = self._body['error']
            self.error = MusterError(
                error['code'],
                error['message'],
                status=self.status,
                request_id=error['requestId'],
                retry_after_seconds=result.get('retryAfter'),
            )

    @property
    def answer(self) -> T_co:
        """The call's answer.

        Raises:
            MusterError: the call was refused
        """
        if self.error is not None:
            raise self.error
        return self._call.read(self._body)


class Muster(AllCalls):
    """A client for one space: `muster.message.send(mailbox_id=…, scope_id=…, payload=…)`.

    Threads may share a client. Path, query and body fields are keyword arguments; calls return records.
    State-changing calls carry an Idempotency-Key. They are retried with it, for `retry_seconds`, after 429 or 503 or if
    there is no answer of Muster. `message.recv` takes no such key: a claim whose answer was lost ends with its lease.

    Args:
        url: the server's URL; default: MUSTER_URL, or http://127.0.0.1:8080
        key: the API key, or a function that returns a token of your identity provider; it is called for each
            attempt, so cache the token until it is about to expire; if it raises, the call fails with UNREACHABLE;
            default: MUSTER_KEY
        space_id: the space's id; default: MUSTER_SPACE
        retry_seconds: for how long a call is repeated that gets 429, 503, no answer, or one that is not Muster's, from
            the first of them on; 0 means no retries
        attempts: maximum attempts of such a call within that time; 1 means no retries
        timeout_seconds: the timeout of an attempt; a receive or a watch may be held for 30 seconds
        codecs: encode payloads, inputs and results, in this order; all users of a mailbox need the same codecs

    Raises:
        ValueError: key or space_id is missing, url is not an HTTP URL, or two codecs have one name
    """

    def __init__(
        self,
        url: str | None = None,
        key: str | Callable[[], str] | None = None,
        space_id: Id | None = None,
        *,
        retry_seconds: float = default_retry_seconds,
        attempts: int | None = None,
        timeout_seconds: float = 60,
        codecs: Sequence[AnyCodec] = (),
    ) -> None:
        super().__init__(self.send)
        check_codecs(codecs)
        self._codecs = codecs
        self.pool: Pools = Pools(self)
        """The calls of pools; `muster.pool('deploys').hold()` holds units of one"""
        self.scope: Scopes = Scopes(self)
        self.barrier: Barriers = Barriers(self)
        self.group: Groups = Groups(self)
        url = url or os.environ.get('MUSTER_URL') or 'http://127.0.0.1:8080'
        key = key or os.environ.get('MUSTER_KEY')
        space = space_id or os.environ.get('MUSTER_SPACE')
        if not key or not space:
            raise ValueError('Muster needs key and space_id, or MUSTER_KEY and MUSTER_SPACE')
        self.space_id = text(space)
        self.call = AllCallsInBatch()
        self.ids: dict[tuple[str, str], str] = {}
        """Ids found by name"""
        self.run_id = str(uuid.uuid4())
        """The run for spending without a scope_id"""
        self._transport = Transport(
            url, key, retry_seconds=retry_seconds, attempts=attempts, timeout_seconds=timeout_seconds
        )

    def batch(
        self,
        calls: Sequence[BatchedCall[T]],
        *,
        idempotency_key: str = ABSENT,
        attempts: int = ABSENT,
        retry_seconds: float = ABSENT,
        stop: Stop | None = None,
        timeout_seconds: float | None = None,
        traceparent: str | None = None,
        tracestate: str | None = None,
    ) -> list[BatchResult[T]]:
        """Makes 1 to 100 calls in one request, in order: `muster.batch([muster.call.message.send(…), …])`.

        Returns the outcome of each call, in order. A refused call does not stop the others and is not retried. The
        calls' Idempotency-Keys derive from the batch's, so a retry of the batch does nothing twice.

        Args:
            calls: the calls, made by `muster.call`
            idempotency_key: replaces the generated key, for retries of your own, even after a restart
            attempts: maximum attempts, instead of the client's setting; 1 means no retries
            retry_seconds: for how long the call is repeated, instead of the client's setting; 0 means no retries
            stop: ends the call, which then raises `Stopped`
            timeout_seconds: the timeout of an attempt, instead of the client's setting
            traceparent: the call's trace, as in W3C Trace Context; default: OpenTelemetry's active span, if any
            tracestate: the state of that trace
        """
        args = {'calls': [one.call for one in calls]}
        answer = self.request(
            BATCH,
            args,
            idempotency_key=idempotency_key,
            attempts=attempts,
            retry_seconds=retry_seconds,
            stop=stop,
            timeout_seconds=timeout_seconds,
            trace_context=TraceContext(traceparent, tracestate),
        )
        return [BatchResult(call, result) for call, result in zip(calls, answer.to_json()['results'])]

    def atomic(
        self,
        *,
        idempotency_key: str = ABSENT,
        attempts: int = ABSENT,
        retry_seconds: float = ABSENT,
        traceparent: str | None = None,
        tracestate: str | None = None,
    ) -> Atomic:
        """Makes 1 to 25 calls in one step, all or none: `with muster.atomic() as t: t.message.send(…)`.

        The calls are made at the end of the block, unless the block raises. After that, each call has its `answer`.
        The ids of an answer can be used earlier: `run = t.scope.create()`, then `scope_id=run.id`. A call may
        `expect` members of its answer. The arguments are as for `batch`.

        Raises:
            MusterError: at the end of the block: a call was refused (`error.index`), or an answer was not as
                expected (EXPECTATION_FAILED); nothing has happened
        """
        return Atomic(self.send, (idempotency_key, attempts, retry_seconds, TraceContext(traceparent, tracestate)))

    def events(
        self,
        *,
        types: Iterable[str] | None = None,
        aggregate: str | None = None,
        scope_id: Id | None = None,
        cursor: str | Literal['latest'] | None = None,
        since: Moment | None = None,
        stop: Stop | None = None,
    ) -> Journal:
        """Follows the journal: `for event in muster.events(types=['message.*'])`.

        Continues across lost connections, and returns each event once.

        Args:
            types: only these types; `message.*` for all types of a kind; default: all
            aggregate: only these kinds, comma-separated, or one object: `message:<id>`
            scope_id: only this scope and those below it
            cursor: where to start: a `Journal.cursor`, or `latest` for events from now on; default: the oldest event, of a
                scope its creation
            since: where to start without a cursor: at this time
            stop: ends the iteration

        Raises:
            MusterError: CURSOR_EXPIRED if events after the cursor are no longer stored; EVENTS_DAMAGED if they are
                damaged (`error.next_cursor` continues after the damaged part)
        """
        query = {
            'types': None if types is None else ','.join(types),
            'aggregate': aggregate,
            'scopeId': scope_id,
            'since': since,
        }
        if cursor == 'latest':
            cursor = self.request(EVENT_WATCH, {'cursor': 'latest', 'limit': 1}, stop=stop).next_cursor
        target = f'/v1/spaces/{self.space_id}/watch'
        return Journal(self._transport, target, query, cursor, stop or Stop())

    def reserve(
        self,
        budget: Id,
        amount_minor: Amount,
        *,
        scope_id: Id,
        holder: str,
        work_id: str,
        settle_by: Moment | None = None,
        on_overdue: OnOverdue | None = None,
    ) -> Reservation:
        """Reserves money for work: `with muster.reserve('llm', 500, …) as reservation: reservation.settle(320)`.

        Reserves at once, not at the start of the block. `settle` records the cost. Without it, the whole amount is
        spent at the end of the block, and given back if the block raises.

        Args:
            budget: the budget, by name or id
            amount_minor: the most that the work may cost, in minor units
            scope_id: the run that spends
            holder: the spender's name
            work_id: the name of the work; after a crash, the same one continues with the work's reservation
            settle_by: when the reservation becomes overdue if it is still open
            on_overdue: what happens to it then: KEEP (default) leaves it set aside, SETTLE settles it

        Raises:
            MusterError: INSUFFICIENT_BUDGET if the budget has too little left
            LookupError: there is no budget with this name
        """
        spender = Spender(self, scope_id, holder, work_id)
        make = partial(reserve, spender, budget, amount_minor, settle_by=settle_by, on_overdue=on_overdue)
        # A signal does not cut it.
        return take_for(None, make, Reservation.drop)

    def units(
        self, allowance: Id, units: int = 1, *, scope_id: Id, holder: str, stop: Stop | None = None
    ) -> Waiter:
        """Takes units of an allowance: at once if available, else in line.

        Args:
            allowance: the allowance, by name or id
            units: the number of units
            scope_id: the run that takes them
            holder: the consumer's name
            stop: leaves the line, and raises `Stopped`

        Raises:
            LookupError: there is no allowance with this name
        """
        return take_units(Spender(self, scope_id, holder, ''), allowance, units, stop)

    def spend(
        self,
        asked: Spend,
        work: Callable[[ModelCall], T],
        *,
        scope_id: Id | None = None,
        holder: str = 'spend',
        work_id: str | None = None,
    ) -> T:
        """Makes a model call within a quota and a budget: `muster.spend(Spend(budget='llm', …), ask)`.

        Takes the units and reserves the money, calls `work`, and settles both with the usage in the provider's
        answer. A 429 starts a cooldown of the quota for everybody, and `work` is called again when its turn has come.
        If `work` raises, settles the usage that the provider has billed, or the estimate if that is unknown, and gives
        back the rest.

        Args:
            asked: the budget and the quota, and the most that the call may use
            work: makes the call: `call.fetch(httpx.post, url, json=…)`
            scope_id: the run; default: one for each client
            holder: the spender's name
            work_id: the name of the work; with the same name, `call.earlier` finds the reservations of earlier calls
        """
        return spend(Spending(self._spender(scope_id, holder, work_id), asked), work)

    def judge(self, group: GroupRef, verdict: Verdict, *, stop: Stop | None = None) -> TaskGroup:
        """Judges the members of a group as they succeed: `muster.judge(group, lambda task: task.outcome['approves'])`.

        Returns the group once it is decided. A judge may start again at any time: existing verdicts stay.

        Args:
            group: the group's id, or the record returned by the call that created or viewed it
            verdict: returns True to accept a member, False to reject it, None to leave it to other judges
            stop: ends the call, which then raises `Stopped`
        """
        return judge(Judging(self, group, stop), verdict)

    def _spender(self, scope_id: Id | None, holder: str, work_id: str | None) -> Spender:
        return Spender(self, scope_id or self.run_id, holder, work_id)

    def server_time(self) -> float:
        """Returns the server's time, up to a second later. The clock of this process may be wrong."""
        if self._transport.server_time is None:
            # Any answer has the server's time, a refusal as well.
            with suppress(MusterError):
                self.limits.get()
        known = self._transport.server_time
        return time.time() if known is None else known

    def spending(
        self, asked: Spend, scope_id: Id | None, holder: str, work_id: str | None, stop: Stop
    ) -> Spending:
        """Returns the steps of `spend`, for clients that run them in threads."""
        return Spending(self._spender(scope_id, holder, work_id), asked, stop)

    def request(
        self,
        endpoint: Endpoint[T],
        args: Mapping[str, Any],
        *,
        idempotency_key: str = ABSENT,
        attempts: int = ABSENT,
        retry_seconds: float = ABSENT,
        timeout_seconds: float | None = None,
        stop: Stop | None = None,
        trace_context: TraceContext = TraceContext(),
    ) -> T:
        """Makes a call. stop: lets another thread end it. trace_context: the call's trace; default: the active span."""
        if endpoint.name == BATCH.name:
            args = with_ids(args)
        target, body = endpoint.request(encode_args(self._codecs, args) if self._codecs else args)
        with in_call_span(endpoint.name, args, self._transport.url, trace_context) as span:
            answer = self._transport.call(
                endpoint.method,
                f'/v1/spaces/{self.space_id}{target}' if endpoint.in_space else f'/v1{target}',
                body,
                idempotency_key=idempotency_key,
                attempts=attempts,
                retry_seconds=retry_seconds,
                timeout_seconds=timeout_seconds,
                stop=stop,
                headers=span.headers,
            )
            span.answered(answer)
        if self._codecs:
            decode_answer(self._codecs, answer)
        return endpoint.read(answer)

    def encoded(self, args: dict[str, Any]) -> dict[str, Any]:
        """Encodes the values in a call's arguments once, for several attempts."""
        if 'calls' in args:
            args = dict(with_ids(args))
        return encode_args(self._codecs, args) if self._codecs else args

    def close(self) -> None:
        """Closes idle connections. Later calls open new ones."""
        self._transport.close()

    def __enter__(self) -> Muster:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def send(
        self,
        endpoint: Endpoint[T],
        args: Mapping[str, Any],
        idempotency_key: str = ABSENT,
        attempts: int = ABSENT,
        retry_seconds: float = ABSENT,
        trace_context: TraceContext = TraceContext(),
        /,
    ) -> T:
        """Makes a call of `muster.<primitive>`."""
        return self.request(
            endpoint,
            args,
            idempotency_key=idempotency_key,
            attempts=attempts,
            retry_seconds=retry_seconds,
            trace_context=trace_context,
        )


class AsyncMuster(AllAsyncCalls):
    """A client for one space, for asyncio programs: `await muster.message.send(…)`.

    Requests are made in threads. Cancelling the task that waits for a call ends the request. Only holding, taking units
    and reserving, which then give back what they take, settling, `task.results`, notes and steps go on in their threads,
    except a wait for a changed note. The other arguments are those of `Muster`.

    Args:
        threads: maximum concurrent calls, including calls held at the server. As many others that nothing cancels, such
            as releases and settlements, have threads of their own
    """

    def __init__(
        self,
        url: str | None = None,
        key: str | Callable[[], str] | None = None,
        space_id: Id | None = None,
        *,
        retry_seconds: float = default_retry_seconds,
        attempts: int | None = None,
        timeout_seconds: float = 60,
        codecs: Sequence[AnyCodec] = (),
        threads: int = 64,
    ) -> None:
        super().__init__(self._send)
        self.sync = Muster(
            url,
            key,
            space_id,
            retry_seconds=retry_seconds,
            attempts=attempts,
            timeout_seconds=timeout_seconds,
            codecs=codecs,
        )
        """The client that makes the requests"""
        self.pool: AsyncPools = AsyncPools(self, self._send)
        """The calls of pools; `muster.pool('deploys').hold()` holds units of one"""
        self.scope: AsyncScopes = AsyncScopes(self, self._send)
        self.barrier: AsyncBarriers = AsyncBarriers(self, self._send)
        self.group: AsyncGroups = AsyncGroups(self, self._send)
        self.call = self.sync.call
        self._most_threads = threads
        self._start_threads()

    def _start_threads(self) -> None:
        self._own = Own()
        """Whose the threads are"""
        self._threads = ThreadPoolExecutor(self._most_threads, thread_name_prefix='muster')
        self._sure_threads = ThreadPoolExecutor(self._most_threads, thread_name_prefix='muster-sure')
        """For work that nothing ends early. It waits for nobody, and those that fill the other threads may wait for it"""

    async def batch(
        self,
        calls: Sequence[BatchedCall[T]],
        *,
        idempotency_key: str = ABSENT,
        attempts: int = ABSENT,
        retry_seconds: float = ABSENT,
        traceparent: str | None = None,
        tracestate: str | None = None,
    ) -> list[BatchResult[T]]:
        """Like `Muster.batch`."""
        stop = Stop()
        return await self.in_thread(
            partial(
                self.sync.batch,
                calls,
                idempotency_key=idempotency_key,
                attempts=attempts,
                retry_seconds=retry_seconds,
                stop=stop,
                traceparent=traceparent,
                tracestate=tracestate,
            ),
            stop,
        )

    def atomic(
        self,
        *,
        idempotency_key: str = ABSENT,
        attempts: int = ABSENT,
        retry_seconds: float = ABSENT,
        traceparent: str | None = None,
        tracestate: str | None = None,
    ) -> AsyncAtomic:
        """Like `Muster.atomic`: `async with muster.atomic() as t: t.message.send(…)`. The calls are not awaited."""
        return AsyncAtomic(self._send, (idempotency_key, attempts, retry_seconds, TraceContext(traceparent, tracestate)))

    async def events(
        self,
        *,
        types: Iterable[str] | None = None,
        aggregate: str | None = None,
        scope_id: Id | None = None,
        cursor: str | Literal['latest'] | None = None,
        since: Moment | None = None,
    ) -> AsyncIterator[Event]:
        """Like `Muster.events`: `async for event in muster.events(types=['message.*'])`."""
        stop = Stop()
        try:
            journal = await self.in_thread(
                partial(
                    self.sync.events,
                    types=types,
                    aggregate=aggregate,
                    scope_id=scope_id,
                    cursor=cursor,
                    since=since,
                    stop=stop,
                ),
                stop,
            )
            following: partial[Event | None] = partial(_following, journal)
            while (event := await self.in_thread(following, stop)) is not None:
                yield event
        finally:
            stop.set()

    def reserve(
        self,
        budget: Id,
        amount_minor: Amount,
        *,
        scope_id: Id,
        holder: str,
        work_id: str,
        settle_by: Moment | None = None,
        on_overdue: OnOverdue | None = None,
    ) -> Reserving:
        """Like `Muster.reserve`: `async with muster.reserve(…) as reservation: await reservation.settle(320)`."""
        make = partial(self.sync.reserve, budget, amount_minor, scope_id=scope_id, holder=holder, work_id=work_id)
        return Reserving(self, partial(make, settle_by=settle_by, on_overdue=on_overdue))

    async def units(self, allowance: Id, units: int = 1, *, scope_id: Id, holder: str) -> Waiter:
        """Like `Muster.units`."""
        stop = Stop()
        work = partial(self.sync.units, allowance, units, scope_id=scope_id, holder=holder, stop=stop)
        return await self.take_in_thread(work, stop, partial(leave_line, self.sync))

    async def spend(
        self,
        asked: Spend,
        work: Callable[[ModelCall], Awaitable[T]],
        *,
        scope_id: Id | None = None,
        holder: str = 'spend',
        work_id: str | None = None,
    ) -> T:
        """Like `Muster.spend`, with a coroutine function."""
        stop = Stop()
        return await self.spent(self.sync.spending(asked, scope_id, holder, work_id, stop), work, stop)

    async def judge(
        self, group: GroupRef, verdict: Callable[[TaskRecord], Awaitable[bool | None]]
    ) -> TaskGroup:
        """Like `Muster.judge`, with a coroutine function."""
        stop = Stop()
        judging = Judging(self.sync, group, stop)
        while (found := await self.in_thread(partial(judging.look), stop)).state != 'DECIDED':
            for task in judging.pending(found):
                given = await verdict(task)
                await self.in_thread(partial(judging.give, task, given), stop)
            await self.in_thread(partial(judging.wait, found), stop)
        return found

    async def spent(self, spending: Spending, work: Callable[[ModelCall], Awaitable[T]], stop: Stop) -> T:
        """Runs the steps of `spend` in threads, and `work` itself in the event loop."""
        while True:
            one = await self.take_in_thread(partial(spending.begin), stop, OneCall.drop)
            try:
                result = await asyncio.wait_for(one.call.begin(work), one.call.timeout_seconds)
            except BaseException as error:
                # Settle in any case, even if the function was cancelled.
                if not await asyncio.shield(self.in_thread(partial(spending.failed, one, error))):
                    raise
            else:
                await asyncio.shield(self.in_thread(partial(spending.succeeded, one)))
                return result

    async def in_thread(self, work: partial[T], stop: Stop | None = None) -> T:
        """Runs blocking work in a thread. If this call is cancelled, sets `stop`, which ends the work.

        Work that waits for others needs a `stop`: work without one must find a thread even while all others wait.
        """
        if self._own.is_parents:
            self._start_threads()
        threads = self._sure_threads if stop is None else self._threads
        try:
            # In the task's context, so within its active span.
            within = partial(copy_context().run, work)
            return await asyncio.get_running_loop().run_in_executor(threads, within)
        except asyncio.CancelledError:
            if stop is not None:
                stop.set()
            raise
        except Stopped:
            raise asyncio.CancelledError from None

    async def take_in_thread(self, work: partial[T], stop: Stop, undo: Callable[[T], object]) -> T:
        """Like `in_thread`, for work that takes something. If it ends though this call is cancelled, `undo` gives it back."""
        if self._own.is_parents:
            self._start_threads()
        # In the task's context, so within its active span.
        running = self._threads.submit(partial(copy_context().run, work))
        try:
            return await asyncio.wrap_future(running)
        except asyncio.CancelledError:
            stop.set()
            undo_at_end(running, undo)
            raise
        except Stopped:
            raise asyncio.CancelledError from None

    async def close(self) -> None:
        """Closes idle connections, and cancels calls that have not begun."""
        self.sync.close()
        if self._own.is_parents:
            return
        for threads in (self._threads, self._sure_threads):
            threads.shutdown(wait=False, cancel_futures=True)

    async def __aenter__(self) -> AsyncMuster:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _send(
        self,
        endpoint: Endpoint[T],
        args: Mapping[str, Any],
        idempotency_key: str = ABSENT,
        attempts: int = ABSENT,
        retry_seconds: float = ABSENT,
        trace_context: TraceContext = TraceContext(),
        /,
    ) -> T:
        stop = Stop()
        work = partial(
            self.sync.request,
            endpoint,
            args,
            idempotency_key=idempotency_key,
            attempts=attempts,
            retry_seconds=retry_seconds,
            stop=stop,
            trace_context=trace_context,
        )
        return await self.in_thread(work, stop)


def _following(journal: Journal) -> Event | None:
    return next(journal, None)


class AsyncReservation:
    """Money set aside for a piece of work, in an asyncio program."""

    def __init__(self, muster: AsyncMuster, sync: Reservation) -> None:
        self.sync = sync
        self._muster = muster

    @property
    def record(self) -> Reserved:
        """Like `Reservation.record`."""
        return self.sync.record

    @property
    def earlier(self) -> Sequence[Reserved | ReservationRecord]:
        """Like `Reservation.earlier`."""
        return self.sync.earlier

    async def settle(self, amount_minor: Amount | None = None, *, label: str | None = None) -> Settlement:
        """Like `Reservation.settle`."""
        return await self._muster.in_thread(partial(self.sync.settle, amount_minor, label=label))

    async def void(self) -> None:
        """Like `Reservation.void`."""
        await self._muster.in_thread(partial(self.sync.void))


class Reserving:
    """A reservation to be made: enter it with `async with`, or await it."""

    def __init__(self, muster: AsyncMuster, make: partial[Reservation]) -> None:
        self._muster = muster
        self._make = make

    def __await__(self) -> Generator[Any, Any, AsyncReservation]:
        return self._reserve().__await__()

    async def _reserve(self) -> AsyncReservation:
        stop = Stop()
        made = await self._muster.take_in_thread(self._make, stop, Reservation.drop)
        return AsyncReservation(self._muster, made)

    async def __aenter__(self) -> AsyncReservation:
        self._reservation = await self._reserve()
        return self._reservation

    async def __aexit__(self, *error: Any) -> None:
        await asyncio.shield(self._muster.in_thread(partial(self._reservation.sync.__exit__, *error)))
