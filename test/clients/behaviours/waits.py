"""Waits of the Python client, begun and stopped by lines of JSON, for waits.test.ts. With `async`, of AsyncMuster."""

from __future__ import annotations

import asyncio
import json
import logging
import sys
import threading
from collections.abc import Callable
from typing import Any

from muster import (
    AsyncMuster,
    AsyncTask,
    AsyncTypedMailbox,
    AsyncWorker,
    Claim,
    Muster,
    MusterError,
    Record,
    Stop,
    Stopped,
    TypedMailbox,
    Worker,
)

logging.disable(logging.CRITICAL)

_lock = threading.Lock()


def say(**line: object) -> None:
    with _lock:
        print(json.dumps(line), flush=True)


def fields_of(found: Any) -> dict[str, Any]:
    return found.to_json() if isinstance(found, Record) else {'result': found}


def drained(muster: Muster, ids: dict[str, Any]) -> str:
    with Worker(muster, {'mailbox_id': ids['mailboxId']}, lambda message, task: 1, close_on_signals=False) as worker:
        worker.drained()
    return 'drained'


async def drained_async(muster: AsyncMuster, ids: dict[str, Any]) -> str:
    async def handle(message: Claim, task: AsyncTask) -> int:
        return 1

    async with AsyncWorker(muster, {'mailbox_id': ids['mailboxId']}, handle, close_on_signals=False) as worker:
        await worker.drained()
    return 'drained'


def begun(muster: Any, mailbox: Any, asked: dict[str, Any]) -> Callable[..., Any]:
    """Returns the wait that a line asks for. It takes the options of waits."""
    ids: dict[str, Any] = asked['ids']
    if asked['wait'] == 'idle':
        return lambda **options: muster.scope.wait_idle(scope_id=ids['scopeId'], **options)
    if asked['wait'] == 'decided':
        return lambda **options: muster.group.wait_decided(group_id=ids['groupId'], **options)
    if asked['wait'] == 'result':
        return lambda **options: mailbox.result(ids['messageId'], **options)
    if asked['wait'] == 'drained':
        return lambda **_: drained_async(muster, ids) if isinstance(muster, AsyncMuster) else drained(muster, ids)
    epoch = {'epoch': ids['epoch']} if 'epoch' in ids else {}
    return lambda **options: muster.barrier.arrive_and_wait(
        barrier_id=ids['barrierId'], arrival_key='me', **epoch, **options
    )


def host() -> None:
    stops: dict[int, Stop] = {}

    def wait(asked: dict[str, Any], stop: Stop) -> None:
        muster = Muster(asked['url'], asked['key'], asked['spaceId'])
        mailbox: TypedMailbox[Any, Any] = TypedMailbox(muster, 'any')
        try:
            ends = fields_of(begun(muster, mailbox, asked)(stop=stop, max_seconds=asked.get('maxSeconds')))
        except MusterError as error:
            ends = {'error': error.code}
        except Stopped:
            ends = {'error': 'stopped'}
        except TimeoutError:
            ends = {'error': 'TimeoutError'}
        say(number=asked['number'], ends=ends)

    for line in sys.stdin:
        asked: dict[str, Any] = json.loads(line)
        if 'stop' in asked:
            stops[asked['number']].set()
        else:
            stop = stops[asked['number']] = Stop()
            threading.Thread(target=wait, args=(asked, stop), daemon=True).start()


async def host_async() -> None:
    tasks: dict[int, asyncio.Task[None]] = {}

    async def wait(asked: dict[str, Any]) -> None:
        async with AsyncMuster(asked['url'], asked['key'], asked['spaceId']) as muster:
            mailbox: AsyncTypedMailbox[Any, Any] = AsyncTypedMailbox(muster, 'any')
            try:
                ends = fields_of(await begun(muster, mailbox, asked)(max_seconds=asked.get('maxSeconds')))
            except MusterError as error:
                ends = {'error': error.code}
            except asyncio.CancelledError:
                ends = {'error': 'stopped'}
            except TimeoutError:
                ends = {'error': 'TimeoutError'}
        say(number=asked['number'], ends=ends)

    while line := await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline):
        asked: dict[str, Any] = json.loads(line)
        if 'stop' in asked:
            tasks[asked['number']].cancel()
        else:
            tasks[asked['number']] = asyncio.create_task(wait(asked))


if sys.argv[1] == 'async':
    asyncio.run(host_async())
else:
    host()
