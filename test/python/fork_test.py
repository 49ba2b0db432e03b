"""A client, its holds and its workers after fork()."""

from __future__ import annotations

import asyncio
import os
import threading
import traceback
import unittest
import uuid
from collections.abc import Callable
from typing import Any

from muster import AsyncMuster, HoldLost, Worker
from support import ServerTest, until

_sends = 40


@unittest.skipUnless(hasattr(os, 'fork'), 'there is no fork on this system')
class Forks(ServerTest):
    def fork(self, work: Callable[[], object]) -> Callable[[], None]:
        """Does some work in a child process. Returns a function that waits until it has been done."""
        pid = os.fork()
        if pid == 0:
            status = 1
            try:
                work()
                status = 0
            except BaseException:
                traceback.print_exc()
            os._exit(status)

        def wait() -> None:
            self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 0)

        return wait

    def keys(self) -> list[str]:
        return sorted(one.work_key or '' for one in self.muster.message.all(mailbox_id=self.mailbox_id))

    def send_all(self, who: str) -> None:
        for n in range(_sends):
            key = f'{who}-{n}'
            sent = self.muster.message.send(mailbox_id=self.mailbox_id, scope_id=self.scope_id, payload=key, work_key=key)
            found = self.muster.message.view(message_id=sent.id).work_key
            assert found == key, f'{key} was answered with {found}'

    def test_parent_and_children_send_at_once_and_each_is_answered_its_own(self) -> None:
        # Several idle connections.
        threads = [threading.Thread(target=self.muster.limits.get) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        waits = [self.fork(lambda who=who: self.send_all(who)) for who in ('a', 'b', 'c')]  # type: ignore[misc]
        self.send_all('parent')
        for wait in waits:
            wait()
        whose = ('a', 'b', 'c', 'parent')
        self.assertEqual(self.keys(), sorted(f'{who}-{n}' for who in whose for n in range(_sends)))

    def test_an_asyncio_client_is_used_in_parent_and_child(self) -> None:
        muster = AsyncMuster()

        async def send(who: str) -> None:
            async def one(key: str) -> None:
                about = {'mailbox_id': self.mailbox_id, 'scope_id': self.scope_id}
                sent = await muster.message.send(**about, payload=key, work_key=key)
                found = (await muster.message.view(message_id=sent.id)).work_key
                assert found == key, f'{key} was answered with {found}'

            await asyncio.gather(*(one(f'{who}-{n}') for n in range(_sends)))

        asyncio.run(send('before'))
        wait = self.fork(lambda: asyncio.run(send('child')))
        asyncio.run(send('parent'))
        wait()
        whose = ('before', 'child', 'parent')
        self.assertEqual(self.keys(), sorted(f'{who}-{n}' for who in whose for n in range(_sends)))
        asyncio.run(muster.close())

    def test_a_child_neither_has_nor_releases_the_hold_of_its_parent(self) -> None:
        pool = self.muster.pool.create(name=f'p-{uuid.uuid4()}', units=1)

        def leave(hold: Any) -> None:
            assert hold.is_lost
            try:
                hold.__exit__(None, None, None)
            except HoldLost:
                return
            raise AssertionError('the child has the hold')

        with self.muster.pool(pool.name).hold() as hold:
            self.fork(lambda: leave(hold))()
            self.assertFalse(hold.is_lost)
            self.assertEqual(self.muster.hold.view(hold_id=hold.record.id).state, 'HELD')

    def test_a_child_leaves_the_money_of_its_parent_alone(self) -> None:
        budget = self.muster.budget.create(name=str(uuid.uuid4()), currency='EUR', scale=2, limit_minor=100)
        about = {'scope_id': self.scope_id, 'holder': 'a', 'work_id': 'w'}
        with self.muster.reserve(budget.id, 60, **about) as reservation:
            self.fork(lambda: reservation.__exit__(None, None, None))()
            self.assertEqual(self.muster.budget.view(budget_id=budget.id).balances.reserved, '60')

    def test_a_child_does_not_close_the_worker_of_its_parent(self) -> None:
        go = threading.Event()
        (message_id,) = self.send('x')
        box = {'mailbox_id': self.mailbox_id}
        with Worker(self.muster, box, lambda _, __: go.wait(60), close_on_signals=False) as worker:
            until(lambda: worker.counts.active == 1)
            self.fork(lambda: worker.close(0))()
            self.assertEqual(self.state(message_id), 'CLAIMED')
            go.set()
            self.assertEqual(self.state(message_id, 20), 'ACKED')

    def test_a_child_follows_the_journal_from_where_its_parent_is(self) -> None:
        first, *rest = self.send(1, 2, 3)
        journal = self.muster.events(types=['message.sent'], scope_id=self.scope_id)
        self.assertEqual(next(journal).aggregate_id, first)

        def follow() -> None:
            assert [next(journal).aggregate_id for _ in rest] == rest

        wait = self.fork(follow)
        self.assertEqual([next(journal).aggregate_id for _ in rest], rest)
        wait()
        journal.close()
