"""Units of pools."""

from __future__ import annotations

import asyncio
import threading
import time
import uuid
from typing import Any
from unittest.mock import patch

from muster import AsyncMuster, HoldLost, Muster, MusterError, Stop, Stopped
from support import Proxy, ServerTest, until


class Pools(ServerTest):
    def setUp(self) -> None:
        super().setUp()
        self.pool_name = f'pool-{uuid.uuid4()}'
        self.pool = self.muster.pool.create(name=self.pool_name, units=1)

    def held(self) -> int:
        return self.muster.pool.view(pool_id=self.pool.id).held_units

    def test_holds_units_in_the_block_and_releases_them_whatever_it_does(self) -> None:
        with self.muster.pool(self.pool_name).hold() as hold:
            self.assertEqual((hold.record.state, hold.fence, self.held()), ('HELD', hold.record.fence, 1))
        self.assertEqual(self.held(), 0)
        with self.assertRaises(ZeroDivisionError), self.muster.pool(self.pool.id).hold():
            raise ZeroDivisionError
        self.assertEqual(self.held(), 0)

    def test_lets_one_in_after_the_other_with_growing_fences(self) -> None:
        fences: list[int] = []

        def work() -> None:
            with self.muster.pool(self.pool_name).hold(lease_seconds=5) as hold:
                fences.append(hold.fence)
                time.sleep(0.01)

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(fences), 8)
        self.assertEqual(fences, sorted(set(fences)))

    def test_refuses_where_the_wait_is_in_vain_or_would_never_end(self) -> None:
        scope_id = self.scope_id
        pool = self.muster.pool(self.pool_name)
        with pool.hold(scope_id=scope_id):
            self.fails('POOL_EXHAUSTED', pool.hold(ttl_seconds=0).__enter__)
            self.fails('DEADLOCK', pool.hold(scope_id=scope_id).__enter__)
        with self.assertRaisesRegex(LookupError, 'there is no pool named nothing'):
            self.muster.pool('nothing').hold().__enter__()

    def test_says_when_the_hold_is_lost(self) -> None:
        with self.assertRaises(HoldLost):
            with self.muster.pool(self.pool_name).hold(lease_seconds=5) as hold:
                self.muster.hold.release(hold_id=hold.record.id, force=True)
                self.assertTrue(hold.lost.wait(5))
                self.assertTrue(hold.is_lost)
                self.assertRaises(HoldLost, hold.check)

    def test_loses_the_hold_by_its_own_clock_when_nobody_answers(self) -> None:
        proxy = Proxy()
        self.addCleanup(proxy.close)
        far = Muster(proxy.url, attempts=1)
        self.addCleanup(far.close)
        with self.assertRaises(HoldLost):
            with far.pool(self.pool_name).hold(lease_seconds=5) as hold:
                proxy.is_away = True
                proxy.cut()
                # No answer says so.
                self.assertTrue(hold.lost.wait(60))

    def test_waits_for_no_answer_longer_than_the_lease(self) -> None:
        ends: list[float] = []
        request = self.muster.request

        def hang(endpoint: Any, args: Any, **options: Any) -> Any:
            if endpoint.name not in ('hold.renew', 'hold.release'):
                return request(endpoint, args, **options)
            seconds = options.get('timeout_seconds') or 60
            ends.append(time.monotonic() + seconds)
            if endpoint.name == 'hold.renew':
                time.sleep(seconds)
            raise MusterError('UNREACHABLE', 'no answer')

        with patch.object(self.muster, 'request', hang):
            with self.assertRaises(HoldLost):
                with self.muster.pool(self.pool_name).hold(lease_seconds=5) as hold:
                    end = time.monotonic() + 5
                    self.assertTrue(hold.lost.wait(10))
            self.assertLess(max(ends), end + 0.1)

    def test_releases_within_the_lease(self) -> None:
        timeouts: list[float] = []
        request = self.muster.request

        def note(endpoint: Any, args: Any, **options: Any) -> Any:
            if endpoint.name == 'hold.release':
                timeouts.append(options.get('timeout_seconds') or 60)
            return request(endpoint, args, **options)

        with patch.object(self.muster, 'request', note), self.muster.pool(self.pool_name).hold(lease_seconds=5):
            pass
        self.assertEqual(len(timeouts), 1)
        self.assertTrue(0.1 <= timeouts[0] <= 5, timeouts)

    def test_keeps_nothing_that_was_granted_too_late(self) -> None:
        stop = Stop()
        request = self.muster.request

        def late(endpoint: Any, args: Any, **options: Any) -> Any:
            answer = request(endpoint, args, **options)
            if endpoint.name == 'pool.acquire':
                stop.set()
            return answer

        with patch.object(self.muster, 'request', late):
            self.assertRaises(Stopped, self.muster.pool(self.pool_name).hold(stop=stop).__enter__)
        until(lambda: self.held() == 0)

        async def main() -> None:
            async with AsyncMuster() as muster:
                hold = muster.pool(self.pool_name).hold()
                entering = asyncio.create_task(hold.__aenter__())
                await asyncio.sleep(0)
                # Blocks the loop, so that it gets the answer and the cancellation at once.
                until(lambda: any(thread.name == 'muster-hold' for thread in threading.enumerate()))
                entering.cancel()
                with self.assertRaises(asyncio.CancelledError):
                    await entering

        asyncio.run(main())
        until(lambda: self.held() == 0)

    def test_are_released_however_many_tasks_wait_for_them(self) -> None:
        async def main() -> None:
            async with AsyncMuster(threads=2) as muster:

                async def work() -> None:
                    async with muster.pool(self.pool_name).hold():
                        # Until the others have taken all threads.
                        await asyncio.sleep(0.05)

                await asyncio.wait_for(asyncio.gather(*(work() for _ in range(5))), 60)

        asyncio.run(main())
        self.assertEqual(self.held(), 0)

    def test_holds_and_loses_in_asyncio(self) -> None:
        async def main() -> list[object]:
            muster = AsyncMuster()
            seen: list[object] = []
            async with muster.pool(self.pool_name).hold(lease_seconds=5) as hold:
                seen.append(hold.fence > 0)
            try:
                async with muster.pool(self.pool_name).hold(lease_seconds=5) as hold:
                    await muster.hold.release(hold_id=hold.sync.record.id, force=True)
                    await asyncio.sleep(10)
                    seen.append('not reached')
            except HoldLost:
                seen.append('lost')
            await muster.close()
            return seen

        self.assertEqual(asyncio.run(main()), [True, 'lost'])
        until(lambda: self.held() == 0)
