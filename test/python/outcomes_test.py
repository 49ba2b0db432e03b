"""What a model call costs, by how it ends: the cases of test/clients/behaviours/spend.json, blocking and in asyncio."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import threading
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from muster import AsyncMuster, Claim, ModelCall, Muster, MusterError, Spend, SpendQuota, Stop, Stopped, Task, Usage, Worker
from muster._giving_back import given_back
from muster._spend import spend
from support import ServerTest, until

logging.disable(logging.ERROR)

PROVIDER = os.environ['MUSTER_TEST_PROVIDER']


def cases(language: str) -> list[dict[str, Any]]:
    """The cases of a language, one for each status."""
    table = json.loads((Path(__file__).parents[1] / 'clients/behaviours/spend.json').read_text())
    found: list[dict[str, Any]] = []
    for one in table['calls']:
        statuses = one.pop('statuses', [None])
        if language not in one.get('languages', [language]):
            continue
        for status in statuses:
            text = json.dumps(one).replace('"status": "{status}"', f'"status": {status}')
            found.append(json.loads(text.replace('{status}', str(status))))
    return found


def end_of(error: BaseException, expected: str) -> str:
    if expected == 'thrown':
        return 'thrown'
    if isinstance(error, (Stopped, asyncio.CancelledError)):
        return 'aborted'
    return error.code if isinstance(error, MusterError) else str(error)


def asked_of(account: str) -> dict[str, int]:
    """What an account has asked the provider for, once a request has arrived."""
    with urllib.request.urlopen(f'{PROVIDER}/{account}') as response:
        found: dict[str, int] = json.load(response)
        return found


class Setting:
    """The budget and the quotas of a case."""

    def __init__(self, muster: Muster, case: dict[str, Any]) -> None:
        self.muster = muster
        self.case = case
        self.account = str(uuid.uuid4())
        limit = case.get('limitMinor', 1000)
        self.budget = muster.budget.create(name=f'o-{uuid.uuid4()}', currency='TOK', scale=0, limit_minor=limit)
        self.quotas = [self._quota(one) for one in case.get('quotas', [{'counts': 'tokens'}])]
        given = {'max_seconds': 'maxSeconds', 'on_unknown': 'onUnknown', 'attempts': 'attempts'}
        self.asked = Spend(
            budget=self.budget.id,
            quotas=self.quotas,
            amount_minor=100,
            units=100,
            price=lambda usage: usage.tokens,
            **{name: case[field] for name, field in given.items() if field in case},
        )

    def _quota(self, one: dict[str, Any]) -> SpendQuota:
        is_full = one.get('isFull', False)
        made = self.muster.allowance.create(
            name=f'o-{uuid.uuid4()}', units_limit=100 if is_full else 1000, window_seconds=3600
        )
        if is_full:
            self.muster.allowance.consume(
                allowance_id=made.id, scope_id=str(uuid.uuid4()), holder='another', units=100
            )
        return SpendQuota(made.id, counts=one['counts'])

    def is_in_line(self) -> bool:
        views = [self.muster.allowance.view(allowance_id=one.quota) for one in self.quotas]
        return any(view.waiting > 0 for view in views)

    def is_overdue(self) -> bool:
        return self.muster.budget.view(budget_id=self.budget.id).balances.settled == '100'

    def outcome(self, ends: str) -> dict[str, Any]:
        found = self.muster.budget.view(budget_id=self.budget.id)
        views = [self.muster.allowance.view(allowance_id=one.quota) for one in self.quotas]
        outcome: dict[str, Any] = {
            'ends': ends,
            'booked': int(found.balances.settled),
            'reserved': found.balances.reserved,
            'units': [view.used_units for view in views],
        }
        if 'reservations' in self.case:
            outcome['reservations'] = [one.settled_minor for one in sorted(found.reservations, key=lambda one: one.id)]
        return outcome

    def expected(self) -> dict[str, Any]:
        units = self.case.get('units', self.case['booked'])
        outcome = {
            'ends': self.case['ends'],
            'booked': self.case['booked'],
            'reserved': '0',
            'units': units if isinstance(units, list) else [units],
        }
        return {**outcome, **{name: self.case[name] for name in ('reservations',) if name in self.case}}

    def report(self, step: dict[str, Any], call: ModelCall) -> None:
        """Takes the steps that make no request."""
        if 'take' in step:
            assert callable(call.fetch)
        if 'used' in step:
            used: dict[str, int] = step['used']
            if 'amountMinor' in used:
                call.used(amount_minor=used['amountMinor'], units=used['units'])
            else:
                call.used(Usage(used.get('inputTokens', 0), used.get('outputTokens', 0)))
        if 'throw' in step:
            raise RuntimeError(step['throw'])

    def request(self, step: dict[str, Any]) -> tuple[str, bytes]:
        return f'{PROVIDER}/{self.account}', json.dumps(step['fetch']).encode()


class Blocking:
    """A case in threads."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.lose: Callable[[], None] = lambda: None

    def run(self) -> dict[str, Any]:
        setting, case = self.setting, self.setting.case
        stop = Stop()
        if case.get('abort') == 'in line':
            threading.Thread(target=lambda: (until(setting.is_in_line), stop.set()), daemon=True).start()
        ends = 'returned'
        try:
            if 'claim' in case:
                self.in_task()
            else:
                spend(setting.muster.spending(setting.asked, None, 'spend', None, stop), self.work)
        except BaseException as error:
            ends = end_of(error, case['ends'])
        # Several cases give something back at a time, and wait for each other's.
        given_back()
        return setting.outcome(ends)

    def in_task(self) -> None:
        """Spends in a task, whose claim ends as soon as the function asks for that."""
        muster = self.setting.muster
        mailbox = muster.mailbox.create(name=f'o-{uuid.uuid4()}')
        message = muster.message.send(mailbox_id=mailbox.id, scope_id=str(uuid.uuid4()), payload=None)
        ended: list[BaseException | None] = []

        def handle(_: Claim, task: Task) -> None:
            def lose() -> None:
                muster.message.cancel(message_id=message.id)
                until(lambda: task.is_lost)

            self.lose = lose
            try:
                task.spend(self.setting.asked, self.work)
                ended.append(None)
            except BaseException as error:
                ended.append(error)
                raise

        with Worker(muster, {'mailbox_id': mailbox.id}, handle, close_on_signals=False):
            until(lambda: ended)
        if ended[0] is not None:
            raise ended[0]

    def work(self, call: ModelCall) -> None:
        for step in self.setting.case['steps']:
            wait = step.get('wait')
            if wait == 'limit':
                while call.timeout_seconds > 0:
                    time.sleep(call.timeout_seconds)
            if wait == 'overdue':
                until(self.setting.is_overdue)
            if wait == 'lost':
                self.lose()
            self.setting.report(step, call)
            if 'fetch' in step:
                try:
                    self.fetch(step, call)
                except Exception:
                    if not step.get('catches'):
                        raise

    def fetch(self, step: dict[str, Any], call: ModelCall) -> None:
        url, data = self.setting.request(step)
        request = urllib.request.Request(url, data)
        try:
            with call.fetch(urllib.request.urlopen, request, timeout=step.get('timeoutSeconds', 30)) as response:
                if step['fetch'].get('as') != 'stream':
                    call.answered(response, json.load(response))
                elif step.get('reads', True):
                    response.read()
        except urllib.error.HTTPError as error:
            call.answered(error, json.load(error))
            raise RuntimeError(f'the provider says {error.code}') from error


class Response:
    """An answer whose body is not read yet."""

    def __init__(
        self, status: int, headers: dict[str, str], reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self.status = status
        self.headers = headers
        self._reader = reader
        self._writer = writer

    async def read(self) -> bytes:
        body = b''
        while size := int(await self._reader.readuntil(b'\r\n'), 16):
            body += (await self._reader.readexactly(size + 2))[:-2]
        return body

    def close(self) -> None:
        self._writer.close()


async def post(url: str, data: bytes) -> Response:
    parts = urlsplit(url)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    head = f'POST {parts.path} HTTP/1.1\r\nHost: {parts.netloc}\r\nContent-Length: {len(data)}\r\n\r\n'
    writer.write(head.encode() + data)
    try:
        first, *lines = (await reader.readuntil(b'\r\n\r\n')).decode().strip().split('\r\n')
    except BaseException:
        writer.close()
        raise
    headers = dict(line.split(': ', 1) for line in lines)
    return Response(int(first.split(' ')[1]), headers, reader, writer)


class Concurrent:
    """A case in asyncio."""

    def __init__(self, setting: Setting, muster: AsyncMuster) -> None:
        self.setting = setting
        self.muster = muster

    async def run(self) -> dict[str, Any]:
        setting, case = self.setting, self.setting.case
        ends = 'returned'
        task = asyncio.ensure_future(self.muster.spend(setting.asked, self.work))
        self.cancel: Callable[[], object] = task.cancel
        if case.get('abort') == 'in line':
            await asyncio.to_thread(until, setting.is_in_line)
            task.cancel()
        try:
            await task
        except BaseException as error:
            ends = end_of(error, case['ends'])
        if case['ends'] == 'aborted':
            # A thread gives back what was taken for a caller that has left.
            expected = setting.expected()
            await asyncio.to_thread(until, lambda: setting.outcome(ends) == expected)
        return await asyncio.to_thread(setting.outcome, ends)

    async def work(self, call: ModelCall) -> None:
        for step in self.setting.case['steps']:
            wait = step.get('wait')
            if wait == 'limit':
                await asyncio.sleep(3600)
            if wait == 'overdue':
                await asyncio.to_thread(until, self.setting.is_overdue)
            self.setting.report(step, call)
            if 'fetch' not in step:
                continue
            if step.get('awaits') is False:
                self.unawaited = asyncio.ensure_future(self.fetch(step, call))
                await asyncio.to_thread(asked_of, self.setting.account)
                return
            if step.get('abort') == 'received':
                self.aborting = asyncio.ensure_future(self.abort())
            try:
                timeout = step.get('timeoutSeconds')
                asking: Awaitable[None] = self.fetch(step, call)
                await (asyncio.wait_for(asking, timeout) if timeout else asking)
            except Exception:
                if not step.get('catches'):
                    raise

    async def abort(self) -> None:
        await asyncio.to_thread(asked_of, self.setting.account)
        self.cancel()

    async def fetch(self, step: dict[str, Any], call: ModelCall) -> None:
        response = await call.fetch(post, *self.setting.request(step))
        try:
            body = b'' if step.get('reads') is False else await response.read()
        finally:
            response.close()
        if step['fetch'].get('as') != 'stream' or response.status != 200:
            call.answered(response, json.loads(body))
        if response.status != 200:
            raise RuntimeError(f'the provider says {response.status}')


class OutcomesTest(ServerTest):
    maxDiff = None

    def test_in_threads(self) -> None:
        settings = [Setting(self.muster, case) for case in cases('python')]
        # Some wait for time to pass: all at once.
        with ThreadPoolExecutor(len(settings)) as threads:
            outcomes = list(threads.map(lambda setting: Blocking(setting).run(), settings))
        self.agree(settings, outcomes)

    def test_in_asyncio(self) -> None:
        settings = [Setting(self.muster, case) for case in cases('asyncio')]

        async def main() -> list[dict[str, Any]]:
            async with AsyncMuster() as muster:
                return await asyncio.gather(*(Concurrent(setting, muster).run() for setting in settings))

        self.agree(settings, asyncio.run(main()))

    def agree(self, settings: list[Setting], outcomes: list[dict[str, Any]]) -> None:
        names = [setting.case['name'] for setting in settings]
        expected = {name: setting.expected() for name, setting in zip(names, settings)}
        differing = {name: (found, expected[name]) for name, found in zip(names, outcomes) if found != expected[name]}
        self.assertEqual(differing, {})
        self.assertGreater(len(names), 50)
