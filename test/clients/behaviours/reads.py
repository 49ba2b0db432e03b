"""Reads of the Python client, as a list in JSON asks: see values.test.ts."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

from muster import AsyncMuster, Muster, Record, UnreadableValue, _calls


def endpoint(call: str) -> Any:
    return getattr(_calls, call.replace('.', '_').upper())


def at(record: Any, path: list[Any]) -> Any:
    for step in path:
        record = record[step] if isinstance(step, int) else getattr(record, step)
    return record


def said(record: Record, path: list[Any]) -> dict[str, Any]:
    try:
        return {'value': at(record, path)}
    except UnreadableValue as error:
        return {'error': type(error).__name__, 'text': error.text}


def told(asked: dict[str, Any], record: Record) -> list[dict[str, Any]]:
    return [said(record, path) for path in asked['paths']]


async def read_all(all_asked: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    async with AsyncMuster() as muster:
        records = await asyncio.gather(*(muster._send(endpoint(one['call']), one['args']) for one in all_asked))
    return [told(*one) for one in zip(all_asked, records)]


all_asked: list[dict[str, Any]] = json.load(sys.stdin)
if sys.argv[1] == 'async':
    found = asyncio.run(read_all(all_asked))
else:
    with Muster() as muster:
        found = [told(one, muster.request(endpoint(one['call']), one['args'])) for one in all_asked]
for one in (one for outcomes in found for one in outcomes if 'value' in one):
    # Printing needs more digits than reading.
    getattr(sys, 'set_int_max_str_digits', lambda _: None)(0)
    one['json'] = json.dumps(one.pop('value'), separators=(',', ':'))
print(json.dumps(found))
