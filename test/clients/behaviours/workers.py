"""Workers of the Python client whose handlers follow scripts, started and closed by lines of JSON: see workers.ts."""

from __future__ import annotations

import asyncio
import json
import logging
import math
import re
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

from muster import (
    AsyncMuster,
    AsyncTask,
    AsyncWorker,
    Claim,
    ClaimLost,
    GiveUp,
    JoinedSend,
    JoinFailed,
    Muster,
    MusterError,
    RetryLater,
    Task,
    Worker,
)

logging.disable(logging.CRITICAL)
_lock = threading.Lock()


class Error(Exception):
    """An error of a script, with the name that it has in TypeScript."""


class Unprintable(Exception):
    """An error without a text."""

    def __str__(self) -> str:
        raise TypeError


def say(**line: object) -> None:
    with _lock:
        print(json.dumps(line), flush=True)


def value_of(step: dict[str, Any]) -> Any:
    returned = step['return']
    if isinstance(returned, dict) and 'characters' in returned:
        return 'x' * returned['characters']
    if isinstance(returned, dict) and 'numbers' in returned:
        return [None, [float(name) for name in returned['numbers']]]
    return object() if returned == {'json': False} else returned


class Script:
    """What a handler does in one attempt."""

    def __init__(self, asked: dict[str, Any], muster: Muster, message: Claim, count: int) -> None:
        self.muster = muster
        self.message = message
        self.options: dict[str, Any] = asked
        work: Any = message.payload
        if isinstance(work, dict) and 'work' in work:
            self.steps: list[dict[str, Any]] = work['work'][min(count, len(work['work'])) - 1]
        else:
            self.steps = [{'return': work}]

    def see(self, value: Any) -> None:
        say(number=self.options['number'], id=self.message.id, saw=value)

    def look(self, name: str, answer: Any) -> Any:
        if name == 'answer':
            return None if answer is None else [answer.question, answer.value, answer.answered_by, answer.is_expired]
        return self.message.to_json()[name]

    def lost(self, error: ClaimLost) -> None:
        self.see(type(error).__name__)

    def make(self, step: dict[str, Any], task: Any) -> Any:
        """Makes a step that waits for nothing. Returns NotImplemented for others."""
        if 'progress' in step:
            progress = step['progress']
            task.progress(progress)
            if isinstance(progress, dict):
                progress['changed'] = 'later'
        elif 'progressOf' in step:
            task.progress('x' * step['progressOf'])
        elif 'see' in step:
            self.see(self.look(step['see'], task.answer))
        elif 'throw' in step:
            raise Error(step['throw'])
        elif 'throwsUnprintable' in step:
            raise Unprintable
        elif 'giveUp' in step:
            raise GiveUp(step['giveUp'])
        elif 'later' in step:
            raise RetryLater(step['later'], step['reason'], counts_attempt=step.get('countsAttempt', True))
        elif 'completes' in step:
            args = {'message_id': self.message.id, 'token': self.message.token}
            self.muster.message.complete(**args, result={'payload': step['completes']})
        else:
            return NotImplemented
        return None

    def held(self, hold: Any) -> None:
        record = hold.record
        self.see([record.units, record.scope_id == self.message.scope_id])

    def sent(self, step: dict[str, Any]) -> tuple[str, Any, Any]:
        key = {'work_key': step['workKey']} if 'workKey' in step else {}
        return f'{self.options["pool"]} sent', step['sends'], key

    def plan(self, step: dict[str, Any]) -> Callable[[Any], object]:
        put: dict[str, Any] = {'if_version': step['ifVersion']} if 'ifVersion' in step else {}
        return lambda t: t.note.put(scope_id=self.message.scope_id, key=step['key'], value=1, **put)

    def asking(self, step: dict[str, Any]) -> dict[str, Any]:
        return {'options': step['options']} if 'options' in step else {}

    def suspension(self, step: dict[str, Any]) -> dict[str, Any]:
        """The conditions of a suspension, with the names of the Python client."""
        return {re.sub('[A-Z]', lambda found: f'_{found[0].lower()}', name): value for name, value in step['suspend'].items()}

    def joins(self, step: dict[str, Any]) -> tuple[str, list[JoinedSend]]:
        name, payloads = step['join']
        return name, [{'mailbox': {'mailbox_id': self.options['mailboxId']}, 'payload': payload} for payload in payloads]

    def failed(self, step: dict[str, Any], error: JoinFailed) -> None:
        self.see('failed' if step.get('catches') else [one.state for one in error.results])

    def run(self, task: Task) -> Any:
        reservation: Any = None
        for step in self.steps:
            if 'return' in step:
                return value_of(step)
            if 'finish' in step:
                return task.finish(step['finish'], self.plan(step))
            if 'ask' in step:
                try:
                    task.ask(step['ask'], **self.asking(step))
                except Exception:
                    if not step.get('catches'):
                        raise
            elif 'wait' in step:
                try:
                    task.wait(step['wait'])
                except ClaimLost as error:
                    self.lost(error)
                    raise
            elif 'once' in step:

                def do(one: dict[str, Any] = step) -> Any:
                    self.see(f'does {one["once"]}')
                    return one['value']

                self.see(task.once(step['once'], do))
            elif 'reserve' in step:
                reservation = task.reserve(self.options['budget'], step['reserve'])
            elif 'settle' in step:
                reservation.settle(step['settle'])
            elif 'units' in step:
                task.units(self.options['allowance'], step['units'])
            elif 'sends' in step:
                mailbox, payload, key = self.sent(step)
                task.send(mailbox, payload, **key)
            elif 'suspend' in step:
                task.suspend(**self.suspension(step))
            elif 'sleep' in step:
                task.sleep(*step['sleep'])
                self.see(f'slept {step["sleep"][0]}')
            elif 'join' in step:
                try:
                    self.see(task.join(*self.joins(step), timeout_seconds=step.get('timeoutSeconds')))
                except JoinFailed as error:
                    self.failed(step, error)
            elif 'hold' in step:
                with task.hold(self.options['pool'], step['hold']) as hold:
                    time.sleep(0.2)
                    self.held(hold)
            else:
                self.make(step, task)
        return None

    async def run_async(self, task: AsyncTask) -> Any:
        reservation: Any = None
        for step in self.steps:
            if 'return' in step:
                return value_of(step)
            if 'finish' in step:
                return task.finish(step['finish'], self.plan(step))
            if 'ask' in step:
                try:
                    await task.ask(step['ask'], **self.asking(step))
                except Exception:
                    if not step.get('catches'):
                        raise
            elif 'wait' in step:
                try:
                    await asyncio.sleep(step['wait'])
                except asyncio.CancelledError:
                    try:
                        task.raise_if_lost()
                    except ClaimLost as error:
                        self.lost(error)
                    raise
            elif 'once' in step:

                async def do(one: dict[str, Any] = step) -> Any:
                    self.see(f'does {one["once"]}')
                    return one['value']

                self.see(await task.once(step['once'], do))
            elif 'reserve' in step:
                reservation = await task.reserve(self.options['budget'], step['reserve'])
            elif 'settle' in step:
                await reservation.settle(step['settle'])
            elif 'units' in step:
                await task.units(self.options['allowance'], step['units'])
            elif 'sends' in step:
                mailbox, payload, key = self.sent(step)
                await task.send(mailbox, payload, **key)
            elif 'suspend' in step:
                await task.suspend(**self.suspension(step))
            elif 'sleep' in step:
                await task.sleep(*step['sleep'])
                self.see(f'slept {step["sleep"][0]}')
            elif 'join' in step:
                try:
                    self.see(await task.join(*self.joins(step), timeout_seconds=step.get('timeoutSeconds')))
                except JoinFailed as error:
                    self.failed(step, error)
            elif 'hold' in step:
                async with task.hold(self.options['pool'], step['hold']) as hold:
                    await asyncio.sleep(0.2)
                    self.held(hold.sync)
            else:
                await asyncio.to_thread(self.make, step, task)
        return None


names = {'concurrency': 'concurrency', 'batch': 'batch', 'leaseSeconds': 'lease_seconds', 'scopeId': 'scope_id'}


def options_of(asked: dict[str, Any]) -> dict[str, Any]:
    given = asked['options']
    found = {name: given[field] for field, name in names.items() if field in given}
    if 'resultsTo' in given:
        found['results_to'] = {'mailbox_id': given['resultsTo']}
    if 'rate' in given:
        found['rate'] = {'limit': given['rate']['limit'], 'window_seconds': given['rate']['windowSeconds']}
    if 'closeSeconds' in given:
        found['close_seconds'] = math.inf if given['closeSeconds'] is None else given['closeSeconds']
    return {**found, 'close_on_signals': False}


def report(number: int, worker: Any) -> None:
    """Says the counts of a worker, and why it has stopped if it could not go on."""
    counts = dict(vars(worker.counts))
    failure = worker._failure
    say(number=number, counts=counts, stopped=failure.code if isinstance(failure, MusterError) else None)


def host() -> None:
    workers: dict[int, Worker] = {}

    def start(asked: dict[str, Any]) -> None:
        muster, counts = Muster(url=asked['url'], **asked['access']), Counter[str]()

        def handle(message: Claim, task: Task) -> Any:
            counts[message.id] += 1
            return Script(asked, muster, message, counts[message.id]).run(task)

        mailbox = {'mailbox_id': asked['mailboxId']}
        workers[asked['number']] = Worker(muster, mailbox, handle, **options_of(asked)).start()

    def close(asked: dict[str, Any]) -> None:
        worker = workers[asked['number']]
        worker.close(asked.get('seconds'))
        report(asked['number'], worker)
        say(number=asked['number'], closed=True)

    for line in sys.stdin:
        asked: dict[str, Any] = json.loads(line)
        if asked['do'] == 'start':
            start(asked)
        elif asked['do'] == 'counts':
            report(asked['number'], workers[asked['number']])
        else:
            threading.Thread(target=close, args=(asked,)).start()


async def host_async() -> None:
    workers: dict[int, AsyncWorker] = {}
    loop = asyncio.get_running_loop()
    closing: set[asyncio.Task[None]] = set()

    async def start(asked: dict[str, Any]) -> None:
        muster, counts = AsyncMuster(url=asked['url'], **asked['access']), Counter[str]()

        async def handle(message: Claim, task: AsyncTask) -> Any:
            counts[message.id] += 1
            return await Script(asked, muster.sync, message, counts[message.id]).run_async(task)

        mailbox = {'mailbox_id': asked['mailboxId']}
        workers[asked['number']] = await AsyncWorker(muster, mailbox, handle, **options_of(asked)).start()

    async def close(asked: dict[str, Any]) -> None:
        worker = workers[asked['number']]
        await worker.close(asked.get('seconds'))
        report(asked['number'], worker)
        say(number=asked['number'], closed=True)

    while line := await loop.run_in_executor(None, sys.stdin.readline):
        asked: dict[str, Any] = json.loads(line)
        if asked['do'] == 'start':
            await start(asked)
        elif asked['do'] == 'counts':
            report(asked['number'], workers[asked['number']])
        else:
            closing.add(asyncio.create_task(close(asked)))


if sys.argv[1] == 'async':
    asyncio.run(host_async())
else:
    host()
