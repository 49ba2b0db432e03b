"""Calls of the Python client, made at once, as a list in JSON asks: see answers.test.ts."""

from __future__ import annotations

import asyncio
import json
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from muster import AsyncMuster, Muster, MusterError


def said(error: MusterError) -> dict[str, Any]:
    return {'code': error.code, 'status': error.status, 'message': str(error)}


def call(url: str, name: str, options: dict[str, float]) -> dict[str, Any]:
    try:
        with Muster(url) as muster:
            return {'id': muster.mailbox.create(name=name, **options).id}
    except MusterError as error:
        return said(error)


async def call_async(url: str, name: str, options: dict[str, float]) -> dict[str, Any]:
    try:
        async with AsyncMuster(url, threads=4) as muster:
            return {'id': (await muster.mailbox.create(name=name, **options)).id}
    except MusterError as error:
        return said(error)


def about(asked: dict[str, Any]) -> tuple[str, str, dict[str, float]]:
    options = {} if asked['retrySeconds'] is None else {'retry_seconds': asked['retrySeconds']}
    return asked['url'], asked['name'], options


async def call_all(all_asked: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return await asyncio.gather(*(call_async(*about(asked)) for asked in all_asked))


all_asked: list[dict[str, Any]] = json.load(sys.stdin)
if sys.argv[1] == 'async':
    print(json.dumps(asyncio.run(call_all(all_asked))))
else:
    with ThreadPoolExecutor(len(all_asked)) as threads:
        print(json.dumps(list(threads.map(lambda asked: call(*about(asked)), all_asked))))
