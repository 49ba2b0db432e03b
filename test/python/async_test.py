"""Clients and workers of asyncio programs."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import time
import unittest
import uuid
from typing import Any

from muster import AsyncMuster, AsyncTask, AsyncWorker, Claim, GiveUp, MusterError, RetryLater, Spend, WorkerClosed
from support import ServerTest, until

logging.disable(logging.ERROR)


class Asyncio(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self) -> None:
        self.muster = AsyncMuster()
        self.addAsyncCleanup(self.muster.close)
        self.scope_id = str(uuid.uuid4())
        self.name = f'jobs-{uuid.uuid4()}'
        self.mailbox_id = (await self.muster.mailbox.create(name=self.name)).id

    async def send(self, *payloads: Any, **fields: Any) -> list[str]:
        args = {'mailbox_id': self.mailbox_id, 'scope_id': self.scope_id, **fields}
        calls = [self.muster.call.message.send(payload=payload, **args) for payload in payloads]
        return [result.answer.id for result in await self.muster.batch(calls)]

    async def until(self, condition: Any) -> None:
        end = time.monotonic() + 60
        while not condition():
            self.assertLess(time.monotonic(), end)
            await asyncio.sleep(0.01)

    async def test_calls_lists_and_the_journal(self) -> None:
        ids = await self.send(*range(60))
        listed = [one.id async for one in self.muster.message.all(mailbox_id=self.mailbox_id)]
        self.assertEqual(listed, ids)
        got: list[str] = []
        async for event in self.muster.events(types=['message.sent'], scope_id=self.scope_id):
            got.append(event.aggregate_id)
            if len(got) == 60:
                break
        self.assertEqual(got, ids)
        with self.assertRaises(MusterError) as caught:
            await self.muster.mailbox.create(name='')
        self.assertEqual(caught.exception.code, 'VALIDATION_FAILED')

    async def test_a_cancelled_call_ends_its_request(self) -> None:
        muster = AsyncMuster(threads=1)
        self.addAsyncCleanup(muster.close)
        held = muster.message.recv(
            mailbox_id=self.mailbox_id, scope_id='*', holder='a', holder_session='s', wait_seconds=30
        )
        with self.assertRaises(asyncio.TimeoutError):
            await asyncio.wait_for(held, 0.2)
        # Its thread is free for the next one, long before the wait would be over.
        await asyncio.wait_for(muster.limits.get(), 60)

    async def test_a_worker_does_what_one_with_threads_does(self) -> None:
        ids = await self.send(*range(20))
        (rejected,) = await self.send('no')
        active = peak = 0

        async def handle(message: Claim, task: AsyncTask) -> Any:
            nonlocal active, peak
            if message.payload == 'no':
                raise GiveUp('no')
            if message.payload == 3 and message.attempt == 1:
                task.progress('half')
                raise RetryLater(0)
            active += 1
            peak = max(peak, active)
            await asyncio.sleep(0.01)
            active -= 1
            return [message.payload, message.progress]

        async with AsyncWorker(self.muster, self.name, handle, concurrency=4) as worker:
            await worker.drained()
            await self.until(lambda: worker.counts.completed == 20)
        counts = worker.counts
        self.assertEqual((counts.returned, counts.failed, counts.active), (1, 1, 0))
        self.assertEqual((await self.muster.message.view(message_id=ids[3])).result, [3, 'half'])
        self.assertEqual((await self.muster.message.view(message_id=rejected)).last_error, 'no')
        self.assertIn(peak, (2, 3, 4))

    async def test_a_claim_that_is_lost_before_its_handler_begins_leaves_room_for_others(self) -> None:
        begun: list[Any] = []

        async def handle(message: Claim, task: AsyncTask) -> None:
            begun.append(message.payload)
            if message.payload == 'blocks':
                # Blocks the loop, so that it gets the next message and its cancellation at once.
                sync = self.muster.sync
                sent = sync.message.send(mailbox_id=self.mailbox_id, scope_id=self.scope_id, payload='late')
                until(lambda: worker.counts.received == 2)
                sync.message.cancel(message_id=sent.id)
                until(lambda: worker.counts.lost == 1)

        async with AsyncWorker(self.muster, self.name, handle, concurrency=2, lease_seconds=5) as worker:
            await self.send('blocks')
            await self.until(lambda: worker.counts.completed == 1 and worker.counts.active == 0)
            self.assertEqual(begun, ['blocks'])

    async def test_it_stops_at_a_signal_and_gives_back(self) -> None:
        (message_id,) = await self.send('x')
        worker = AsyncWorker(self.muster, self.name, lambda message, task: asyncio.sleep(60), close_seconds=0.1)
        run = asyncio.ensure_future(worker.run())
        await self.until(lambda: worker.counts.active)
        os.kill(os.getpid(), signal.SIGTERM)
        await asyncio.wait_for(run, 60)
        self.assertEqual((await self.muster.message.view(message_id=message_id)).state, 'READY')

    async def test_a_signal_closes_all_workers_of_the_loop(self) -> None:
        # More workers than asyncio has threads by default.
        ids = await self.send(*range(40))
        workers = [
            AsyncWorker(self.muster, self.name, lambda message, task: asyncio.sleep(60), close_seconds=0.1)
            for _ in range(40)
        ]
        started, *others = workers
        await started.start()
        runs = asyncio.gather(*(one.run() for one in others))
        await self.until(lambda: all(one.counts.active for one in workers))
        self.assertEqual(await asyncio.wait_for(asyncio.to_thread(lambda: 7), 60), 7)
        os.kill(os.getpid(), signal.SIGTERM)
        await asyncio.wait_for(runs, 60)
        states = [(await self.muster.message.view(message_id=one)).state for one in ids]
        self.assertEqual(states, ['READY'] * 40)
        self.assertEqual(started.counts.returned, 1)
        # The loop still handles signals, for later workers.
        await self.test_it_stops_at_a_signal_and_gives_back()

    async def test_a_cancelled_wait_for_units_ends_no_other(self) -> None:
        name = f'a-{uuid.uuid4()}'
        allowance = await self.muster.allowance.create(name=name, units_limit=1, window_seconds=3)
        await self.send('x')
        cancelled: list[int] = []

        async def work(call: Any) -> None:
            pass

        async def handle(message: Claim, task: AsyncTask) -> None:
            await asyncio.sleep(3 - time.time() % 3)
            await task.units(name)
            for waiting in (task.units(name), task.spend(Spend(quota=name, units=1), work)):
                with self.assertRaises(asyncio.TimeoutError):
                    await asyncio.wait_for(waiting, 0.3)
                await self.until(gone)
                cancelled.append(1)
            await task.units(name)

        def gone() -> bool:
            return self.muster.sync.allowance.view(allowance_id=allowance.id).waiting == 0

        async with AsyncWorker(self.muster, self.name, handle) as worker:
            await self.until(lambda: worker.counts.completed)
        self.assertEqual(len(cancelled), 2)

    async def test_a_closed_worker_is_not_drained(self) -> None:
        await self.send('x')
        worker = await AsyncWorker(self.muster, self.name, lambda message, task: asyncio.sleep(60)).start()
        await self.until(lambda: worker.counts.active)
        await worker.close(0)
        with self.assertRaises(WorkerClosed):
            await worker.drained()

class Closed(ServerTest):
    def test_a_worker_whose_loop_was_closed_gives_back_what_comes_and_stops(self) -> None:
        workers: list[AsyncWorker] = []

        async def main() -> None:
            muster = AsyncMuster()
            self.addCleanup(muster.sync.close)
            worker = AsyncWorker(muster, self.name, lambda message, task: asyncio.sleep(60))
            workers.append(await worker.start())

        asyncio.run(main())
        (message_id,) = self.send('x')
        until(workers[0].ended.is_set)
        message = self.muster.message.view(message_id=message_id)
        self.assertEqual((message.state, message.attempts), ('READY', 0))
