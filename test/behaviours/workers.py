"""Workers of the Python client that a test starts and closes, by a line of JSON each: see workers.ts."""

from __future__ import annotations

import asyncio
import json
import logging
import sys
import threading
from typing import Any

from muster import AsyncMuster, AsyncTask, AsyncWorker, Claim, Muster, Task, Worker

logging.disable(logging.ERROR)
_lock = threading.Lock()


def say(**line: object) -> None:
    with _lock:
        print(json.dumps(line), flush=True)


def work(message: Claim, task: Task) -> object:
    return message.payload


async def work_async(message: Claim, task: AsyncTask) -> object:
    return message.payload


def host() -> None:
    workers: dict[int, Worker] = {}

    def close(number: int) -> None:
        workers.pop(number).close()
        say(closed=number)

    for line in sys.stdin:
        asked: dict[str, Any] = json.loads(line)
        if asked['do'] == 'start':
            mailbox = {'mailbox_id': asked['mailboxId']}
            workers[asked['number']] = Worker(Muster(url=asked['url']), mailbox, work, concurrency=4).start()
        else:
            threading.Thread(target=close, args=(asked['number'],)).start()


async def host_async() -> None:
    workers: dict[int, AsyncWorker] = {}
    loop = asyncio.get_running_loop()
    closing: set[asyncio.Task[None]] = set()

    async def close(number: int) -> None:
        await workers.pop(number).close()
        say(closed=number)

    while line := await loop.run_in_executor(None, sys.stdin.readline):
        asked: dict[str, Any] = json.loads(line)
        if asked['do'] == 'start':
            mailbox = {'mailbox_id': asked['mailboxId']}
            muster = AsyncMuster(url=asked['url'])
            workers[asked['number']] = await AsyncWorker(muster, mailbox, work_async, concurrency=4).start()
        else:
            closing.add(asyncio.create_task(close(asked['number'])))


if sys.argv[1] == 'async':
    asyncio.run(host_async())
else:
    host()
