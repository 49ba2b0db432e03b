"""What was taken for a caller who has left is given back."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import threading
import time
import unittest
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any
from unittest.mock import patch

from muster import AsyncMuster, ModelCall, Muster, Spend, Stop, Stopped
from muster._giving_back import given_back
from support import Proxy, ServerTest, until

_behaviours: dict[str, Any] = json.loads(
    (Path(__file__).parent.parent / 'clients' / 'behaviours' / 'given-back.json').read_text()
)
_callers: int = _behaviours['callers' if os.environ.get('LONG') == '1' else 'callersInShort']
_moments = [_behaviours['withinMs'] / 1000 * index / _callers for index in range(_callers)]
_at_once = 20


class Shared:
    """Something that callers take and leave."""

    def __init__(self, muster: Muster, takes: str, is_taken: bool) -> None:
        self.name = f'{takes}-{uuid.uuid4()}'
        self.takes = takes
        self._muster = muster
        self._taken = int(is_taken)
        about: dict[str, Any] = {'scope_id': uuid.uuid4(), 'holder': 'first', 'units': 1}
        if takes == 'spend':
            self._budget_id = muster.budget.create(
                name=self.name, currency='EUR', scale=2, limit_minor=_callers
            ).id
        if takes == 'hold':
            self._id = muster.pool.create(name=self.name, units=1).id
            if is_taken:
                muster.pool.acquire(pool_id=self._id, lease_seconds=600, **about)
        else:
            units = 1 if is_taken else _callers
            made = muster.allowance.create(name=self.name, units_limit=units, window_seconds=31_536_000)
            self._id = made.id
            if is_taken:
                muster.allowance.consume(allowance_id=self._id, **about)

    def use(self, muster: Muster, stop: Stop) -> None:
        """Takes it, until `stop` is set."""
        if self.takes == 'hold':
            with muster.pool(self.name).hold(lease_seconds=600, holder_session=str(uuid.uuid4()), stop=stop):
                stop.wait(None)
        elif self.takes == 'spend':
            muster.spend(self._spend, lambda call: _wait_unused(call, stop))
        else:
            self._settle(muster.units(self.name, scope_id=uuid.uuid4(), holder='h', stop=stop).waiter_id)

    async def use_async(self, muster: AsyncMuster) -> None:
        """Takes it, until it is cancelled."""
        if self.takes == 'hold':
            async with muster.pool(self.name).hold(lease_seconds=600):
                await asyncio.Event().wait()
        elif self.takes == 'spend':
            await muster.spend(self._spend, _wait_unused_async)
        else:
            taken = await muster.units(self.name, scope_id=uuid.uuid4(), holder='h')
            self._settle(taken.waiter_id)

    @property
    def _spend(self) -> Spend:
        return Spend(budget=self.name, quota=self.name, amount_minor=1, units=1)

    def _settle(self, waiter_id: str) -> None:
        self._muster.allowance.settle(allowance_id=self._id, consumption_id=waiter_id, units=0)

    def left(self) -> tuple[int, int]:
        """Returns what is taken, besides what was before, and how many wait."""
        if self.takes == 'hold':
            pool = self._muster.pool.view(pool_id=self._id)
            return pool.held_units - self._taken, pool.waiting
        quota = self._muster.allowance.view(allowance_id=self._id)
        taken = quota.used_units - self._taken
        if self.takes == 'spend':
            balances = self._muster.budget.view(budget_id=self._budget_id).balances
            taken += int(balances.reserved) + int(balances.settled)
        return taken, quota.waiting


def _wait_unused(call: ModelCall, stop: Stop) -> None:
    """Takes `fetch` and does not use it: the call costs nothing."""
    assert call.fetch
    stop.wait(None)


async def _wait_unused_async(call: ModelCall) -> None:
    assert call.fetch
    await asyncio.Event().wait()


class GivingBack(ServerTest):
    def for_each_case(self, use: Callable[[Shared, str], None]) -> None:
        """Uses what each case takes, at a proxy's URL. Expects that it is given back afterwards."""
        for delay_ms in _behaviours['proxyDelaysMs']:
            for case in _behaviours['cases']:
                with self.subTest(case['name'], delay_ms=delay_ms):
                    proxy = Proxy(delay_ms / 1000)
                    self.addCleanup(proxy.close)
                    shared = Shared(self.muster, case['takes'], case['isTaken'])
                    use(shared, proxy.url)
                    until(lambda: shared.left() == (0, 0), 60)

    def test_from_threads_in_any_moment(self) -> None:
        def caller(muster: Muster, shared: Shared, moment: float) -> None:
            stop = Stop()
            thread = threading.Thread(target=partial(_use, muster, shared, stop))
            thread.start()
            time.sleep(moment)
            stop.set()
            thread.join()

        def use(shared: Shared, url: str) -> None:
            if shared.takes == 'spend':
                return  # It takes no stop.
            with Muster(url) as muster, ThreadPoolExecutor(_at_once) as threads:
                list(threads.map(partial(caller, muster, shared), _moments))

        self.for_each_case(use)

    def test_in_asyncio_in_any_moment(self) -> None:
        async def caller(muster: AsyncMuster, shared: Shared, moment: float) -> None:
            task = asyncio.ensure_future(shared.use_async(muster))
            await asyncio.sleep(moment)
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

        async def main(shared: Shared, url: str) -> None:
            async with AsyncMuster(url) as muster:
                for first in range(0, _callers, _at_once):
                    moments = _moments[first : first + _at_once]
                    await asyncio.gather(*(caller(muster, shared, moment) for moment in moments))

        self.for_each_case(lambda shared, url: asyncio.run(main(shared, url)))

    def test_after_a_signal_in_any_moment(self) -> None:
        def interrupt(number: int, frame: FrameType | None) -> None:
            raise KeyboardInterrupt

        def use(shared: Shared, url: str) -> None:
            if shared.takes == 'units':
                return
            with Muster(url) as muster:
                for moment in _moments:
                    with suppress(KeyboardInterrupt):
                        signal.setitimer(signal.ITIMER_REAL, max(1e-6, moment))
                        shared.use(muster, Stop())

        before = signal.signal(signal.SIGALRM, interrupt)
        try:
            self.for_each_case(use)
        finally:
            signal.signal(signal.SIGALRM, before)

    def test_after_a_signal_at_the_end_of_a_wait(self) -> None:
        restore: Callable[[threading.Condition, object], None] = vars(threading.Condition)['_acquire_restore']

        def interrupt_after(waits: int) -> Callable[[threading.Condition, object], None]:
            left = iter(range(waits))

            def interrupt(condition: threading.Condition, state: object) -> None:
                if threading.current_thread() is threading.main_thread() and next(left, None) is None:
                    raise KeyboardInterrupt
                restore(condition, state)

            return interrupt

        # The start of the thread that takes, and the wait for what it takes.
        for waits in (0, 1):
            with self.subTest(waits=waits):
                shared = Shared(self.muster, 'spend', False)
                with (
                    patch.object(threading.Condition, '_acquire_restore', interrupt_after(waits)),
                    self.assertRaises(KeyboardInterrupt),
                ):
                    shared.use(self.muster, Stop())
                given_back()
                until(lambda at=shared: at.left() == (0, 0), 60)

    def test_where_the_thread_that_renews_cannot_start(self) -> None:
        shared = Shared(self.muster, 'hold', False)
        start = threading.Thread.start

        def refuse(thread: threading.Thread) -> None:
            if thread.name == 'muster-hold':
                raise RuntimeError("can't start new thread")
            start(thread)

        with patch.object(threading.Thread, 'start', refuse), self.assertRaises(RuntimeError):
            with self.muster.pool(shared.name).hold(lease_seconds=600):
                self.fail('it is not reached')
        given_back()
        self.assertEqual(shared.left(), (0, 0))


def _use(muster: Muster, shared: Shared, stop: Stop) -> None:
    with suppress(Stopped):
        shared.use(muster, stop)


if __name__ == '__main__':
    unittest.main()
