"""The clients: `Muster`, and `AsyncMuster` for asyncio programs."""

from __future__ import annotations

import asyncio
import os
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from typing import Any, Generic, Literal, TypeVar

from ._arguments import ABSENT, Amount, Id, Moment, text
from ._async_calls import AllAsyncCalls
from ._async_pool import AsyncPools
from ._atomic import AsyncAtomic, Atomic
from ._base import BATCH, BatchedCall, Endpoint
from ._calls import EVENT_WATCH, AllCalls, AllCallsInBatch
from ._codec import Codec, decode_answer, encode_args, encode_value
from ._errors import MusterError, Stopped
from ._journal import Journal
from ._judge import GroupRef, Judging, Verdict, judge
from ._pool import Pools
from ._records import Event, ReservationRecord, Reserved, Task, TaskGroup, Waiter
from ._model_call import ModelCall
from ._spend import Spend, Spending, spend
from ._spending import Reservation, Settlement, Spender, reserve, take_units
from ._tracing import TraceContext, in_call_span
from ._transport import Stop, Transport

T = TypeVar('T')
T_co = TypeVar('T_co', covariant=True)


class BatchResult(Generic[T_co]):
    """The outcome of a call of a batch."""

    ok: bool
    status: int
    """The HTTP status that the call by itself would have had"""
    replayed: bool
    """Whether this is the answer of an earlier call with the same key"""
    error: MusterError | None
    """Why it was refused"""

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
        """What the call answers; raises `MusterError` if it was refused."""
        if self.error is not None:
            raise self.error
        return self._call.read(self._body)


class Muster(AllCalls):
    """A client for one space: `muster.message.send(mailbox_id=…, scope_id=…, payload=…)`.

    Threads may share it. Path, query and body fields are keyword arguments; calls return records. Calls that
    change something carry an Idempotency-Key and are retried with it, a few times, without an answer or after
    429 or 503. `message.recv` takes no such key: a claim whose answer was lost ends with its lease.

    Args:
        url: the server's; default: MUSTER_URL, or http://127.0.0.1:8080
        key: the API key, or a function that gives a token of your identity provider: called for each attempt, so
            keep the token until it is about to end; default: MUSTER_KEY
        space_id: default: MUSTER_SPACE
        attempts: the most attempts of a call that gets no answer, 429 or 503; 1 means no retries
        timeout_seconds: of an attempt; a receive or a watch may be held for 30
        codecs: encode payloads, inputs and results, in this order; all who share a mailbox need the same
    """

    def __init__(
        self,
        url: str | None = None,
        key: str | Callable[[], str] | None = None,
        space_id: Id | None = None,
        *,
        attempts: int = 5,
        timeout_seconds: float = 60,
        codecs: Sequence[Codec] = (),
    ) -> None:
        super().__init__(self.send)
        self._codecs = codecs
        self.pool: Pools = Pools(self)
        """The calls of pools; `muster.pool('deploys').hold()` holds units of one"""
        url = url or os.environ.get('MUSTER_URL') or 'http://127.0.0.1:8080'
        key = key or os.environ.get('MUSTER_KEY')
        space = space_id or os.environ.get('MUSTER_SPACE')
        if not key or not space:
            raise ValueError('Muster needs key and space_id, or MUSTER_KEY and MUSTER_SPACE')
        self.space_id = text(space)
        self.call = AllCallsInBatch()
        self.ids: dict[tuple[str, str], str] = {}
        """Ids that were found by name"""
        self.run_id = str(uuid.uuid4())
        """The run of what is spent where none is given"""
        self._transport = Transport(url, key, attempts=attempts, timeout_seconds=timeout_seconds)

    def batch(
        self,
        calls: Sequence[BatchedCall[T]],
        *,
        idempotency_key: str = ABSENT,
        attempts: int = ABSENT,
        stop: Stop | None = None,
        timeout_seconds: float | None = None,
        traceparent: str | None = None,
        tracestate: str | None = None,
    ) -> list[BatchResult[T]]:
        """Makes 1 to 100 calls in one request, in order: `muster.batch([muster.call.message.send(…), …])`.

        Returns what became of each; a call that is refused does not stop the others, and is not retried by
        itself. Their Idempotency-Keys are made of the batch's, so a retry of the batch does nothing twice.
        """
        args = {'calls': [one.call for one in calls]}
        answer = self.request(
            BATCH,
            args,
            idempotency_key=idempotency_key,
            attempts=attempts,
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
        traceparent: str | None = None,
        tracestate: str | None = None,
    ) -> Atomic:
        """Makes 1 to 25 calls in one step: all happen, or none does. `with muster.atomic() as t: t.message.send(…)`

        They are made at the end of the block, unless that raises; then `answer` of each is there. Ids can be used
        before that: `run = t.scope.create()`, then `scope_id=run.id`. `expect` says what a call must answer.

        Raises:
            MusterError: a call was refused, `error.index`, and nothing has happened; EXPECTATION_FAILED if an
                answer is not what was expected
        """
        return Atomic(self.send, (idempotency_key, attempts, TraceContext(traceparent, tracestate)))

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
        """The events of the journal, as they happen: `for event in muster.events(types=['message.*'])`.

        Goes on over cut connections; each event comes once.

        Args:
            types: event types, or `prefix.*`
            aggregate: names, separated by commas, or one as `name:<id>`
            scope_id: only those of this scope and of the scopes below it
            cursor: where to begin: a `Journal.cursor`, or `latest` for what happens from now on; default:
                the oldest event that is kept
            since: where to begin without a cursor: at the events of this moment

        Raises:
            MusterError: CURSOR_EXPIRED if what follows the cursor is no longer kept, EVENTS_DAMAGED if the store
                has damaged it (`error.next_cursor` goes on behind it)
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
        self, budget: Id, amount_minor: Amount, *, scope_id: Id, holder: str, work_id: str
    ) -> Reservation:
        """Money around a piece of work: `with muster.reserve('llm', 500, …) as reservation: reservation.settle(320)`.

        Reserves now. `settle` says what it has cost; where the block does not, all of it is spent at its end,
        and given back if it raises.

        Args:
            budget: its id or its name
            amount_minor: the most that the work may cost
            work_id: an attempt finds by it what an earlier one, that died, has reserved
        """
        return reserve(Spender(self, scope_id, holder, work_id), budget, amount_minor)

    def units(
        self, allowance: Id, units: int = 1, *, scope_id: Id, holder: str, stop: Stop | None = None
    ) -> Waiter:
        """Takes units of an allowance, given by id or name: at once where they are there, else in line."""
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
        """Makes a call of a model within a quota and a budget: `muster.spend(Spend(budget='llm', …), ask)`.

        Takes the units and reserves the money, runs the function, and settles both with what the provider's answer
        says was used. A 429 cools the quota down for everybody, and the function is called again once its turn has
        come. If it raises, what the provider has billed is settled, and the rest is given back.

        Args:
            work: makes the call, and says what was answered: `call.answered(response)`
            scope_id: its run; default: one for each client
            work_id: after a crash, the same goes on with what was reserved for it
        """
        return spend(Spending(self._spender(scope_id, holder, work_id), asked), work)

    def judge(self, group: GroupRef, verdict: Verdict, *, stop: Stop | None = None) -> TaskGroup:
        """Judges the members of a group as they succeed: `muster.judge(group, lambda task: task.outcome['approves'])`.

        Returns the group once it is decided. A judge that ended before may begin again: what was judged stays so.

        Args:
            verdict: True accepts, False rejects, None leaves it to others
            stop: ends it, by `Stopped`
        """
        return judge(Judging(self, group, stop), verdict)

    def _spender(self, scope_id: Id | None, holder: str, work_id: str | None) -> Spender:
        return Spender(self, scope_id or self.run_id, holder, work_id or str(uuid.uuid4()))

    def spending(
        self, asked: Spend, scope_id: Id | None, holder: str, work_id: str | None, stop: Stop
    ) -> Spending:
        """The steps of `spend`, for clients that make them in threads."""
        return Spending(self._spender(scope_id, holder, work_id), asked, stop)

    def request(
        self,
        endpoint: Endpoint[T],
        args: Mapping[str, Any],
        *,
        idempotency_key: str = ABSENT,
        attempts: int = ABSENT,
        timeout_seconds: float | None = None,
        stop: Stop | None = None,
        trace_context: TraceContext = TraceContext(),
    ) -> T:
        """Makes a call, which another thread may `stop`. trace_context: where it belongs in a trace; default: in the active span."""
        target, body = endpoint.request(encode_args(self._codecs, args) if self._codecs else args)
        with in_call_span(endpoint.name, args, self._transport.url, trace_context) as span:
            answer = self._transport.call(
                endpoint.method,
                f'/v1/spaces/{self.space_id}{target}' if endpoint.in_space else f'/v1{target}',
                body,
                idempotency_key=idempotency_key,
                attempts=attempts,
                timeout_seconds=timeout_seconds,
                stop=stop,
                headers=span.headers,
            )
            span.answered(answer)
        if self._codecs:
            decode_answer(self._codecs, answer)
        return endpoint.read(answer)

    def encoded(self, value: Any) -> Any:
        """A value for several attempts of a call: encoded once."""
        return encode_value(self._codecs, value) if self._codecs else value

    def close(self) -> None:
        """Closes the connections that it keeps."""
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
        trace_context: TraceContext = TraceContext(),
        /,
    ) -> T:
        """Makes a call of `muster.<primitive>`."""
        return self.request(
            endpoint, args, idempotency_key=idempotency_key, attempts=attempts, trace_context=trace_context
        )


class AsyncMuster(AllAsyncCalls):
    """A client for one space, for asyncio programs: `await muster.message.send(…)`.

    Requests are made in threads. Cancelling the task that waits for a call ends the request.

    Args:
        threads: the most calls at once; held ones count
        others: as for `Muster`
    """

    def __init__(
        self,
        url: str | None = None,
        key: str | Callable[[], str] | None = None,
        space_id: Id | None = None,
        *,
        attempts: int = 5,
        timeout_seconds: float = 60,
        codecs: Sequence[Codec] = (),
        threads: int = 64,
    ) -> None:
        super().__init__(self._send)
        self.sync = Muster(
            url, key, space_id, attempts=attempts, timeout_seconds=timeout_seconds, codecs=codecs
        )
        """The client that makes the requests"""
        self.pool: AsyncPools = AsyncPools(self, self._send)
        """The calls of pools; `muster.pool('deploys').hold()` holds units of one"""
        self.call = self.sync.call
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix='muster')

    async def batch(
        self,
        calls: Sequence[BatchedCall[T]],
        *,
        idempotency_key: str = ABSENT,
        attempts: int = ABSENT,
        traceparent: str | None = None,
        tracestate: str | None = None,
    ) -> list[BatchResult[T]]:
        """As `Muster.batch`."""
        stop = Stop()
        return await self.in_thread(
            partial(
                self.sync.batch,
                calls,
                idempotency_key=idempotency_key,
                attempts=attempts,
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
        traceparent: str | None = None,
        tracestate: str | None = None,
    ) -> AsyncAtomic:
        """As `Muster.atomic`: `async with muster.atomic() as t: t.message.send(…)`. The calls are not awaited."""
        return AsyncAtomic(self._send, (idempotency_key, attempts, TraceContext(traceparent, tracestate)))

    async def events(
        self,
        *,
        types: Iterable[str] | None = None,
        aggregate: str | None = None,
        scope_id: Id | None = None,
        cursor: str | Literal['latest'] | None = None,
        since: Moment | None = None,
    ) -> AsyncIterator[Event]:
        """As `Muster.events`: `async for event in muster.events(types=['message.*'])`."""
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
        self, budget: Id, amount_minor: Amount, *, scope_id: Id, holder: str, work_id: str
    ) -> Reserving:
        """As `Muster.reserve`: `async with muster.reserve(…) as reservation: await reservation.settle(320)`."""
        return Reserving(
            self,
            partial(
                self.sync.reserve, budget, amount_minor, scope_id=scope_id, holder=holder, work_id=work_id
            ),
        )

    async def units(self, allowance: Id, units: int = 1, *, scope_id: Id, holder: str) -> Waiter:
        """As `Muster.units`."""
        stop = Stop()
        work = partial(self.sync.units, allowance, units, scope_id=scope_id, holder=holder, stop=stop)
        return await self.in_thread(work, stop)

    async def spend(
        self,
        asked: Spend,
        work: Callable[[ModelCall], Awaitable[T]],
        *,
        scope_id: Id | None = None,
        holder: str = 'spend',
        work_id: str | None = None,
    ) -> T:
        """As `Muster.spend`, with a coroutine function."""
        stop = Stop()
        return await self.spent(self.sync.spending(asked, scope_id, holder, work_id, stop), work, stop)

    async def judge(
        self, group: GroupRef, verdict: Callable[[Task], Awaitable[bool | None]]
    ) -> TaskGroup:
        """As `Muster.judge`, with a coroutine function."""
        stop = Stop()
        judging = Judging(self.sync, group, stop)
        while (found := await self.in_thread(partial(judging.look), stop)).state != 'DECIDED':
            for task in judging.pending(found):
                given = await verdict(task)
                await self.in_thread(partial(judging.give, task, given), stop)
            await self.in_thread(partial(judging.wait, found), stop)
        return found

    async def spent(self, spending: Spending, work: Callable[[ModelCall], Awaitable[T]], stop: Stop) -> T:
        """The steps of `spend`, each in a thread but the function itself."""
        await self.in_thread(partial(spending.begin), stop)
        while True:
            call = await self.in_thread(partial(spending.take), stop)
            try:
                result = await work(call)
            except BaseException as error:
                # Settle what was taken, whatever has ended the function.
                if not await asyncio.shield(self.in_thread(partial(spending.failed, call, error))):
                    raise
            else:
                await asyncio.shield(self.in_thread(partial(spending.succeeded, call)))
                return result

    async def in_thread(self, work: partial[T], stop: Stop | None = None) -> T:
        """Runs what blocks in a thread; cancelled, it sets `stop`."""
        try:
            # Within the task's active span.
            within = partial(copy_context().run, work)
            return await asyncio.get_running_loop().run_in_executor(self._threads, within)
        except asyncio.CancelledError:
            if stop is not None:
                stop.set()
            raise
        except Stopped:
            raise asyncio.CancelledError from None

    async def close(self) -> None:
        """Closes the connections that it keeps."""
        self.sync.close()
        self._threads.shutdown(wait=False, cancel_futures=True)

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
        """As `Reservation.record`."""
        return self.sync.record

    @property
    def earlier(self) -> Sequence[Reserved | ReservationRecord]:
        """As `Reservation.earlier`."""
        return self.sync.earlier

    async def settle(self, amount_minor: Amount | None = None, *, label: str | None = None) -> Settlement:
        """As `Reservation.settle`."""
        return await self._muster.in_thread(partial(self.sync.settle, amount_minor, label=label))

    async def void(self) -> None:
        """As `Reservation.void`."""
        await self._muster.in_thread(partial(self.sync.void))


class Reserving:
    """A reservation to come: `async with` it, or await it."""

    def __init__(self, muster: AsyncMuster, make: partial[Reservation]) -> None:
        self._muster = muster
        self._make = make

    def __await__(self) -> Generator[Any, Any, AsyncReservation]:
        return self._reserve().__await__()

    async def _reserve(self) -> AsyncReservation:
        return AsyncReservation(self._muster, await self._muster.in_thread(self._make))

    async def __aenter__(self) -> AsyncReservation:
        self._reservation = await self._reserve()
        return self._reservation

    async def __aexit__(self, *error: Any) -> None:
        await asyncio.shield(self._muster.in_thread(partial(self._reservation.sync.__exit__, *error)))
