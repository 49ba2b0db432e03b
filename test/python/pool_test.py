"""Units of pools."""

from __future__ import annotations

import asyncio
import threading
import time
import uuid

from muster import AsyncMuster, HoldLost, Muster
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
        began = time.monotonic()
        with self.assertRaises(HoldLost):
            with far.pool(self.pool_name).hold(lease_seconds=5) as hold:
                proxy.is_away = True
                proxy.cut()
                self.assertTrue(hold.lost.wait(10))
        self.assertLess(time.monotonic() - began, 7)

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
