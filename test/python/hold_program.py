"""Waits for a pool's units, for tests that stop and kill it: so many times at once, and says so when it holds them."""

from __future__ import annotations

import asyncio
import json
import math
import os
import time

from muster import AsyncMuster, Muster

asked = json.loads(os.environ['HOLD'])
about = (asked['url'], asked['key'], asked['spaceId'])


def hold() -> None:
    """In the main thread, for ever."""
    with Muster(*about) as muster:
        while True:
            with muster.pool(asked['pool']).hold(ttl_seconds=math.inf, lease_seconds=asked['leaseSeconds']):
                print('holds', flush=True)
                time.sleep(600)


async def hold_in_loop(muster: AsyncMuster) -> None:
    while True:
        async with muster.pool(asked['pool']).hold(ttl_seconds=math.inf, lease_seconds=asked['leaseSeconds']):
            print('holds', flush=True)
            await asyncio.sleep(600)


async def hold_all() -> None:
    async with AsyncMuster(*about) as muster:
        await asyncio.gather(*(hold_in_loop(muster) for _ in range(asked['count'])))


if asked.get('inLoop'):
    asyncio.run(hold_all())
else:
    hold()
