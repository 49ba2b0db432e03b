"""Notes, and steps that are not done twice."""

from __future__ import annotations

import asyncio
import logging
import os
import subprocess
import sys
import threading
import time
from typing import Any

from muster import (
    AsyncMuster,
    AsyncRun,
    AsyncTask,
    AsyncWorker,
    Claim,
    ClaimLost,
    Muster,
    Run,
    Stop,
    Stopped,
    Task,
)
from support import WorkerTest, until

logging.disable(logging.ERROR)

PROGRAM = """
import os, sys, time
from muster import Muster, Worker

def handle(message, task):
    made = task.once('step', lambda: f'attempt {message.attempt}')
    os.write(1, f'{message.attempt}: {made}\\n'.encode())
    while not task.is_lost and message.attempt == 1:
        time.sleep(0.01)
    return made

Worker(Muster(), {'mailbox_id': sys.argv[1]}, handle, lease_seconds=5).run()
"""


class Notes(WorkerTest):
    def setUp(self) -> None:
        super().setUp()
        self.run_ = Run(self.muster, self.scope_id)

    def test_are_put_read_listed_and_deleted(self) -> None:
        note = self.run_.note('plan/α 1')
        self.assertEqual((note.view(), note.get(), note.get('none')), (None, None, 'none'))
        self.assertEqual(note.put({'n': 1}, if_version=0).version, 1)
        self.fails('VERSION_CONFLICT', lambda: note.put(2, if_version=0))
        found = note.view()
        assert found is not None
        self.assertEqual((found.key, found.value, found.version, found.holder), ('plan/α 1', {'n': 1}, 1, None))
        for n, value in enumerate((None, 1, [2])):
            self.run_.note(f'list/{n}').put(value)
        listed = [(one.key, one.value) for one in self.run_.notes('list/')]
        self.assertEqual(listed, [('list/0', None), ('list/1', 1), ('list/2', [2])])
        self.fails('VERSION_CONFLICT', lambda: note.delete(if_version=9))
        note.delete(if_version=1)
        note.delete()
        self.assertIsNone(note.view())

    def test_lose_no_update_of_many_at_once(self) -> None:
        note = self.run_.note('sum')
        threads = [
            threading.Thread(target=note.update, args=(lambda total: (total or 0) + 1,)) for _ in range(20)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(note.get(), 20)

    def test_are_waited_for(self) -> None:
        note = self.run_.note('state')
        found: list[Any] = []
        stop = Stop()

        def wait(since: int) -> None:
            try:
                found.append(note.changed(since, stop))
            except Stopped:
                found.append('stopped')

        for since, act in ((0, lambda: note.put('a')), (1, note.delete), (0, stop.set)):
            thread = threading.Thread(target=wait, args=(since,))
            thread.start()
            time.sleep(0.1)
            act()
            thread.join(60)
        self.assertEqual((found[0].value, found[0].version), ('a', 1))
        self.assertEqual(found[1:], [None, 'stopped'])

    def test_of_a_task_are_put_under_its_claim(self) -> None:
        lost: list[str] = []

        def handle(message: Claim, task: Task) -> None:
            task.run.note('done').update(lambda done: [*(done or []), message.id])
            self.muster.message.cancel(message_id=message.id)
            lost.append(self.fails('CLAIM_LOST', lambda: task.run.note('late').put(1)).code)

        self.worker(handle, holder='ann')
        (id_,) = self.send(None)
        until(lambda: lost)
        found = self.run_.note('done').view()
        assert found is not None
        self.assertEqual((found.value, found.holder), ([id_], 'ann'))
        self.assertIsNone(self.run_.note('late').view())


    def test_of_a_task_are_waited_for_in_one_request_and_only_while_the_claim_lasts(self) -> None:
        views: list[str] = []
        seen: list[Any] = []

        class Counting(Muster):
            def request(self, endpoint: Any, args: Any, **options: Any) -> Any:
                if endpoint.name == 'note.view':
                    views.append(endpoint.name)
                return super().request(endpoint, args, **options)

        def handle(message: Claim, task: Task) -> None:
            note = task.run.note('state')
            found = note.changed(0)
            seen.append(found and found.value)
            try:
                note.changed(1)
            except ClaimLost:
                seen.append('lost')

        self.worker(handle, Counting(), lease_seconds=5)
        (id_,) = self.send(None)
        until(lambda: views)
        # Longer than the timeout of a task's other calls, a third of the lease.
        time.sleep(2.5)
        self.run_.note('state').put('a')
        until(lambda: len(views) == 2)
        self.muster.message.cancel(message_id=id_)
        until(lambda: len(seen) == 2)
        self.assertEqual((seen, len(views)), (['a', 'lost'], 2))


    def test_of_a_task_are_waited_for_until_the_claim_or_a_stop_ends_it(self) -> None:
        stop, is_waiting = Stop(), threading.Event()
        seen: list[str] = []

        def handle(message: Claim, task: Task) -> None:
            note = task.run.note('state')
            threading.Timer(0.1, stop.set).start()
            try:
                note.changed(0, stop)
            except Stopped:
                seen.append('stopped')
            is_waiting.set()
            try:
                note.changed(0, Stop())
            except ClaimLost:
                seen.append('lost')

        self.worker(handle, lease_seconds=5)
        (id_,) = self.send(None)
        self.assertTrue(is_waiting.wait(15))
        self.muster.message.cancel(message_id=id_)
        until(lambda: len(seen) == 2)
        self.assertEqual(seen, ['stopped', 'lost'])


class Once(WorkerTest):
    def names(self) -> list[str]:
        return [one.key for one in self.muster.note.list(scope_id=self.scope_id).notes]

    def test_does_a_failed_step_again_and_keeps_nothing_without_the_claim(self) -> None:
        seen: list[Any] = []

        def handle(message: Claim, task: Task) -> None:
            tries: list[int] = []

            def flaky() -> int:
                tries.append(1)
                if len(tries) == 1:
                    raise RuntimeError('not yet')
                return len(tries)

            with self.assertRaises(RuntimeError):
                task.once('a', flaky)
            seen.append(task.once('a', flaky))
            for key in ('', 'x' * 215):
                with self.assertRaises(ValueError):
                    task.once(key, flaky)
            with self.assertRaises(ClaimLost):
                task.once('late', lambda: self.muster.message.cancel(message_id=message.id).id)
            seen.append('lost')

        self.worker(handle)
        (id_,) = self.send(None)
        until(lambda: len(seen) == 2)
        self.assertEqual(seen, [2, 'lost'])
        self.assertEqual(self.names(), [f'once:{id_}:a'])

    def test_outlasts_a_killed_process(self) -> None:
        (id_,) = self.send(None)
        said: list[str] = []
        for _ in range(2):
            child = subprocess.Popen(
                [sys.executable, '-c', PROGRAM, self.mailbox_id],
                stdout=subprocess.PIPE,
                text=True,
                env={**os.environ},
            )
            self.addCleanup(child.kill)
            assert child.stdout is not None
            said.append(child.stdout.readline().strip())
            if len(said) == 1:
                child.kill()
            else:
                until(lambda: self.state(id_) == 'ACKED')
                child.terminate()
            child.wait()
            child.stdout.close()
        self.assertEqual(said, ['1: attempt 1', '2: attempt 1'])
        self.assertEqual(self.muster.message.view(message_id=id_).result, 'attempt 1')


class Async(WorkerTest):
    def test_notes_and_steps(self) -> None:
        asyncio.run(self._works())

    async def _works(self) -> None:
        steps: list[int] = []
        seen: list[Any] = []

        async def fetch(attempt: int) -> int:
            steps.append(attempt)
            await asyncio.sleep(0.01)
            return attempt

        async def handle(message: Claim, task: AsyncTask) -> None:
            both = await asyncio.gather(*(task.once('fetch', lambda: fetch(message.attempt)) for _ in range(2)))
            await task.run.note('total').update(lambda total: (total or 0) + sum(both))
            if message.attempt == 1:
                raise RuntimeError('again')
            seen.append(both)

        async with AsyncMuster() as muster:
            run = AsyncRun(muster, self.scope_id)
            note = run.note('state')
            waiting = asyncio.create_task(note.changed(0))
            await asyncio.sleep(0.1)
            await note.put('a', if_version=0)
            found = await waiting
            assert found is not None
            self.assertEqual((found.value, await note.get()), ('a', 'a'))

            async def twice(value: Any) -> Any:
                return value * 2

            await asyncio.gather(*(note.update(twice) for _ in range(3)))
            self.assertEqual([(one.key, one.value) async for one in run.notes('st')], [('state', 'a' * 8)])
            await note.delete()
            self.assertIsNone(await note.view())
            async with AsyncWorker(muster, self.name, handle):
                self.send(None)
                while not seen:
                    await asyncio.sleep(0.01)
            self.assertEqual((steps, seen), ([1], [[1, 1]]))
            self.assertEqual(await run.note('total').get(), 4)
