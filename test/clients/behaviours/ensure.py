"""Ensures records with the Python client, by a line of JSON each: see ensure.test.ts."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import sys
from typing import Any

from muster import AsyncMuster, AsyncTypedMailbox, AsyncWorker, Muster, MusterError, TypedMailbox, Worker

_texts: list[str] = []


class Handler(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        _texts.append(record.getMessage())


logging.getLogger('muster').addHandler(Handler())


def snake(args: dict[str, Any]) -> dict[str, Any]:
    return {re.sub('[A-Z]', lambda found: '_' + found[0].lower(), name): value for name, value in args.items()}


def say(**line: object) -> None:
    print(json.dumps(line), flush=True)


def answer(muster: Muster, room: str, args: dict[str, Any]) -> None:
    if room == 'warnings':
        TypedMailbox[Any, Any](muster, **args).id
        TypedMailbox[Any, Any](muster, **args).id
        worker = Worker(muster, args, lambda message, task: None).start()
        worker.drained()
        worker.close()
        say(texts=_texts)
    else:
        say(record=getattr(muster, room).ensure(**args).to_json())


async def answer_async(muster: AsyncMuster, room: str, args: dict[str, Any]) -> None:
    if room == 'warnings':

        async def work(message: object, task: object) -> None:
            pass

        await AsyncTypedMailbox[Any, Any](muster, **args).id()
        await AsyncTypedMailbox[Any, Any](muster, **args).id()
        async with AsyncWorker(muster, args, work) as worker:
            await worker.drained()
        say(texts=_texts)
    else:
        say(record=(await getattr(muster, room).ensure(**args)).to_json())


def main() -> None:
    muster = Muster()
    is_async = sys.argv[1] == 'async'
    for line in sys.stdin:
        asked = json.loads(line)
        try:
            if not is_async:
                answer(muster, asked['room'], snake(asked['args']))
            else:
                asyncio.run(answer_async(AsyncMuster(), asked['room'], snake(asked['args'])))
        except MusterError as error:
            say(code=error.code, message=error.message, status=error.status)


main()
