"""Model calls within a budget and a quota."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import threading
import time
import unittest
import urllib.error
import urllib.request
import uuid
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from unittest.mock import patch

from muster import KNOWN_PROVIDERS, AsyncMuster, Claim, LimitHeaders, ModelCall, Muster, MusterError, ProviderHeaders, Spend, SpendQuota, Task, Usage
from muster._calls import ALLOWANCE_COOLDOWN, ALLOWANCE_SETTLE, BUDGET_RESERVE
from muster._model_call import usage_in
from muster._rate_limits import remaining_in, retry_after_seconds
from support import WorkerTest, until

logging.disable(logging.ERROR)


class Provider:
    """A provider that enforces a limit of tokens per window."""

    def __init__(self, limit: int, window_seconds: int) -> None:
        self.limit = limit
        self.window_seconds = window_seconds
        self.tokens: dict[int, int] = {}
        self.refused = 0
        self._lock = threading.Lock()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                asked = json.loads(self.rfile.read(int(self.headers['Content-Length'])))
                status, headers, body = outer.answer(asked)
                text = json.dumps(body).encode()
                self.send_response(status)
                for name, value in {**headers, 'Content-Length': str(len(text))}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        self.url = f'http://127.0.0.1:{self._server.server_address[1]}/'
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def window(self) -> int:
        return int(time.time()) // self.window_seconds

    def answer(self, asked: dict[str, Any]) -> tuple[int, dict[str, str], dict[str, Any]]:
        with self._lock:
            window, now = self.window(), time.time()
            left = (window + 1) * self.window_seconds - now
            used = self.tokens.get(window, 0)
            if used + asked['tokens'] > self.limit:
                self.refused += 1
                return 429, {**self._headers(used, left), 'Retry-After': str(int(left) + 1)}, {}
            self.tokens[window] = used + asked['tokens']
        usage = {'prompt_tokens': asked['tokens'] - 1, 'completion_tokens': 1}
        status = 500 if asked.get('fail') else 200
        return status, self._headers(used + asked['tokens'], left), {'text': 'an answer', 'usage': usage}

    def _headers(self, used: int, left: float) -> dict[str, str]:
        return {
            'X-RateLimit-Remaining-Tokens': str(self.limit - used),
            'X-RateLimit-Reset-Tokens': f'{int(left * 1000)}ms',
        }

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def seconds_between(one: str, other: str | None) -> float:
    first, second = (datetime.fromisoformat((text or '').replace('Z', '+00:00')) for text in (one, other))
    return (second - first).total_seconds()


class SpendTest(WorkerTest):
    def provider(self, limit: int, window_seconds: int = 3600) -> Provider:
        provider = Provider(limit, window_seconds)
        self.addCleanup(provider.close)
        return provider

    def funds(self, units_limit: int, window_seconds: int = 3600, limit_minor: int = 1_000_000) -> Spend:
        name = f'f-{uuid.uuid4()}'
        self.muster.budget.create(name=name, currency='TOK', scale=0, limit_minor=limit_minor)
        self.muster.allowance.create(name=name, units_limit=units_limit, window_seconds=window_seconds)
        return Spend(budget=name, quota=name, amount_minor=400, units=400, price=lambda usage: usage.tokens)

    def figures(self, asked: Spend) -> tuple[str, str, str, int]:
        budget = next(iter(self.muster.budget.all(name=str(asked.budget))))
        allowance = next(iter(self.muster.allowance.all(name=str(asked.quota))))
        now = budget.balances
        return now.reserved, now.settled, now.overdrawn, allowance.used_units

    def ask(self, call: ModelCall, url: str, **asked: Any) -> Any:
        with urllib.request.urlopen(urllib.request.Request(url, json.dumps(asked).encode())) as response:
            body = json.load(response)
            call.answered(response, body)
            return body

    def test_settles_what_the_answer_says_was_used(self) -> None:
        provider, asked = self.provider(5000), self.funds(5000)
        seen: list[Any] = []

        def work(call: ModelCall) -> Any:
            seen.append(self.figures(asked))
            return self.ask(call, provider.url, tokens=150)

        self.assertEqual(self.muster.spend(asked, work)['text'], 'an answer')
        self.assertEqual((seen, self.figures(asked)), ([('400', '0', '0', 400)], ('0', '150', '0', 150)))

    def test_rounds_the_price_up(self) -> None:
        provider, asked = self.provider(5000), self.funds(5000)
        dear = Spend(**{**asked.__dict__, 'price': lambda usage: usage.tokens * 0.3})
        self.muster.spend(dear, lambda call: self.ask(call, provider.url, tokens=151))
        self.assertEqual(self.figures(asked), ('0', '46', '0', 151))

    def test_records_an_overrun_with_its_label(self) -> None:
        provider, asked = self.provider(5000), self.funds(1000, limit_minor=500)
        labelled = Spend(**{**asked.__dict__, 'label': 'drafts'})
        self.muster.spend(labelled, lambda call: self.ask(call, provider.url, tokens=1200))
        self.assertEqual(self.figures(asked), ('0', '500', '700', 1200))
        budget = next(iter(self.muster.budget.all(name=str(asked.budget))))
        self.assertEqual(self.muster.budget.view(budget_id=budget.id).spent_by_label, {'drafts': '1200'})

    def test_settles_on_an_error_what_was_billed_and_gives_back_the_rest(self) -> None:
        provider, asked = self.provider(5000), self.funds(1000)
        response: Any = type('Response', (), {'status_code': 500, 'headers': {}, 'json': lambda self: {'usage': {'input_tokens': 7}}})()

        class SdkError(Exception):
            pass

        def fail(call: ModelCall) -> None:
            error = SdkError('away')
            error.response = response  # type: ignore[attr-defined]
            raise error

        with self.assertRaises(SdkError):
            self.muster.spend(asked, fail)
        self.assertEqual(self.figures(asked), ('0', '7', '0', 7))
        with self.assertRaises(urllib.error.HTTPError):
            self.muster.spend(asked, lambda call: self.ask(call, provider.url, tokens=80, fail=True))
        self.assertEqual(self.figures(asked), ('0', '7', '0', 7))
        with self.assertRaises(ZeroDivisionError):
            self.muster.spend(asked, lambda call: 1 / 0)
        self.assertEqual(self.figures(asked), ('0', '407', '0', 407))

    def test_reads_the_answers_of_sdks_whose_requests_it_makes(self) -> None:
        asked = self.funds(1000)

        class Completion:
            def model_dump(self) -> Any:
                return {'usage': {'prompt_tokens': 7, 'completion_tokens': 2}}

        def create(*, model: str) -> Completion:
            self.assertEqual(model, 'm')
            return Completion()

        answer = self.muster.spend(asked, lambda call: call.fetch(create, model='m'))
        self.assertIsInstance(answer, Completion)
        self.assertEqual(self.figures(asked), ('0', '9', '0', 9))

    def test_finds_the_reservations_of_earlier_calls_by_the_name_of_the_work(self) -> None:
        asked = self.funds(1000)
        seen: list[list[str]] = []

        def work(call: ModelCall) -> None:
            seen.append([f'{one.state} {one.settled_minor}' for one in call.earlier()])
            call.used(Usage(10 * len(seen)))

        for work_id in ('w', 'w', 'other', 'w', None):
            self.muster.spend(asked, work, work_id=work_id)
        self.assertEqual(seen, [[], ['VOIDED 10'], [], ['VOIDED 10', 'VOIDED 20'], []])

    def test_settles_the_money_if_the_units_cannot_be_settled(self) -> None:
        asked = self.funds(1000)
        request = self.muster.request

        def refuse(endpoint: Any, *args: Any, **options: Any) -> Any:
            if endpoint is ALLOWANCE_SETTLE:
                raise MusterError('UNREACHABLE', 'no answer')
            return request(endpoint, *args, **options)

        with patch.object(self.muster, 'request', refuse):
            self.fails('UNREACHABLE', lambda: self.muster.spend(asked, lambda call: call.used(Usage(10, 5))))
        self.assertEqual(self.figures(asked)[:2], ('0', '15'))

    def test_raises_the_error_of_the_function_whatever_else_fails(self) -> None:
        asked = self.funds(1000)
        priceless = Spend(**{**asked.__dict__, 'price': lambda usage: usage.tokens // 0})

        class SdkError(Exception):
            headers = None

        def fail(call: ModelCall) -> None:
            call.used(Usage(10, 5))
            raise SdkError

        for one in (asked, priceless):
            with self.assertRaises(SdkError):
                self.muster.spend(one, fail)
        self.assertEqual(self.figures(asked), ('0', '800', '0', 800))

    def test_spends_a_request_whose_usage_is_unknown(self) -> None:
        asked = self.funds(1000)
        requests = Spend(**{**asked.__dict__, 'counts': 'requests', 'units': None})
        self.muster.spend(requests, lambda call: None)
        with self.assertRaises(ZeroDivisionError):
            self.muster.spend(requests, lambda call: 1 / 0)
        self.assertEqual(self.figures(asked)[3], 2)

    def test_cools_down_waits_in_line_and_calls_again(self) -> None:
        provider, asked = self.provider(400, 2), self.funds(400, 2)
        # However late the first call comes, its window is full.
        first = provider.window()
        provider.tokens = {first + count: 400 for count in range(60)}
        calls: list[ModelCall] = []

        def work(call: ModelCall) -> Any:
            if calls:
                provider.tokens.clear()
            calls.append(call)
            return self.ask(call, provider.url, tokens=40)

        self.muster.spend(asked, work)
        self.assertEqual(([call.is_limited for call in calls], self.figures(asked)[1]), ([True, False], '40'))
        events = [one.payload for one in self.muster.event.list(limit=500).events if one.type == 'allowance.cooldown_started']
        self.assertEqual(len(events), 1)

    def test_waits_by_itself_where_the_key_may_spend_and_no_more(self) -> None:
        provider, asked = self.provider(400, 1), self.funds(400)
        requests = Spend(**{**asked.__dict__, 'counts': 'requests', 'units': None})
        calls: list[ModelCall] = []
        request = self.muster.request

        def refuse(endpoint: Any, *args: Any, **options: Any) -> Any:
            if endpoint is ALLOWANCE_COOLDOWN:
                raise MusterError('PERMISSION_DENIED', 'the API key lacks the permission resource_config', status=403)
            return request(endpoint, *args, **options)

        def work(call: ModelCall) -> Any:
            if not calls:
                provider.tokens = {provider.window() + ahead: 400 for ahead in (0, 1)}
            calls.append(call)
            return self.ask(call, provider.url, tokens=40)

        began = time.monotonic()
        with patch.object(self.muster, 'request', refuse):
            self.muster.spend(requests, work)
        self.assertIn(len(calls), (2, 3))
        self.assertGreaterEqual(time.monotonic() - began, len(calls) - 1)
        self.assertEqual(self.figures(asked)[3], 1)

    def test_takes_what_the_function_says(self) -> None:
        asked = self.funds(1000)
        self.muster.spend(asked, lambda call: call.used(Usage(10, 5)))
        self.muster.spend(asked, lambda call: call.used(amount_minor=7, units=9))
        self.muster.spend(asked, lambda call: None)
        self.assertEqual(self.figures(asked), ('0', '422', '0', 424))
        for missing in (Spend(budget='b'), Spend(quota='q')):
            with self.assertRaises(TypeError):
                self.muster.spend(missing, lambda call: None)

    def test_belongs_to_a_task(self) -> None:
        provider, asked = self.provider(5000), self.funds(1000)

        def handle(message: Claim, task: Task) -> None:
            task.spend(asked, lambda call: self.ask(call, provider.url, tokens=message.payload))

        (message_id,) = self.send(60)
        worker = self.worker(handle)
        until(lambda: worker.counts.completed == 1)
        budget = next(iter(self.muster.budget.all(name=str(asked.budget))))
        (reservation,) = self.muster.budget.view(budget_id=budget.id).reservations
        claimed_at = (reservation.work_key or '').split('/')[1]
        self.assertEqual((reservation.work_key, reservation.settled_minor), (f'{message_id}/{claimed_at}/1', '60'))
        self.assertLessEqual(claimed_at, reservation.created_at)
        # Counted from the claim, by the store's clock.
        self.assertTrue(600 <= seconds_between(reservation.created_at, reservation.settle_by) <= 900)

    def test_is_settled_by_the_service_in_time_whatever_the_clock_of_its_process_shows(self) -> None:
        for hours in (-10, 10):
            asked = self.funds(1000)
            now = time.time() + hours * 3600
            with Muster() as muster, patch('time.time', lambda: now):
                muster.spend(Spend(budget=asked.budget, amount_minor=1, max_seconds=600), lambda call: None)
            budget = next(iter(self.muster.budget.all(name=str(asked.budget))))
            (reservation,) = self.muster.budget.view(budget_id=budget.id).reservations
            self.assertEqual(reservation.on_overdue, 'SETTLE')
            self.assertTrue(300 <= seconds_between(reservation.created_at, reservation.settle_by) <= 601)

    def test_counts_the_time_of_a_call_from_before_its_reserve(self) -> None:
        asked = self.funds(1000)
        request = self.muster.request

        def slow(endpoint: Any, *args: Any, **options: Any) -> Any:
            if endpoint is BUDGET_RESERVE:
                time.sleep(0.5)
            return request(endpoint, *args, **options)

        limited = Spend(budget=asked.budget, amount_minor=1, max_seconds=31)
        with patch.object(self.muster, 'request', slow):
            left = self.muster.spend(limited, lambda call: call.timeout_seconds)
        self.assertLessEqual(left, 0.5)

    def test_takes_the_units_of_several_quotas_in_one_order(self) -> None:
        quotas = [SpendQuota(str(self.funds(100).quota)) for _ in range(2)]
        orders = [quotas, quotas[::-1]] * 6
        with ThreadPoolExecutor(len(orders)) as threads:
            asked = [Spend(quotas=order, units=60) for order in orders]
            list(threads.map(lambda one: self.muster.spend(one, lambda call: call.used(Usage(1))), asked))
        used = [next(iter(self.muster.allowance.all(name=str(one.quota)))).used_units for one in quotas]
        self.assertEqual(used, [12, 12])

    def test_in_asyncio_a_cancelled_reserve_gives_the_money_back(self) -> None:
        asked = self.funds(1000)
        name = str(asked.budget)
        made: list[int] = []
        go_on = threading.Event()

        async def main() -> None:
            async with AsyncMuster() as muster:
                request = muster.sync.request

                def slow(endpoint: Any, *args: Any, **options: Any) -> Any:
                    answer = request(endpoint, *args, **options)
                    if endpoint is BUDGET_RESERVE:
                        made.append(1)
                        go_on.wait()
                    return answer

                async def work(call: ModelCall) -> None:
                    pass

                with patch.object(muster.sync, 'request', slow):
                    reserving = muster.reserve(name, 400, scope_id=self.scope_id, holder='a', work_id='w')
                    for count, call in enumerate((reserving, muster.spend(asked, work)), start=1):
                        calling = asyncio.ensure_future(call)
                        await asyncio.to_thread(until, lambda count=count: len(made) == count)
                        calling.cancel()
                        with self.assertRaises(asyncio.CancelledError):
                            await calling
                    go_on.set()
                    await asyncio.to_thread(until, lambda: self.figures(asked)[0] == '0')

        asyncio.run(main())
        self.assertEqual(self.figures(asked)[1], '0')

    def test_in_asyncio_a_function_that_never_began_costs_nothing(self) -> None:
        asked = self.funds(1000)

        async def work(call: ModelCall) -> None:
            self.fail('it has begun')

        async def main() -> None:
            async with AsyncMuster() as muster:
                # As if everything before had taken all of its time.
                with patch.object(ModelCall, 'timeout_seconds', 0.0), self.assertRaises(TimeoutError):
                    await muster.spend(asked, work)

        asyncio.run(main())
        self.assertEqual(self.figures(asked), ('0', '0', '0', 0))

    def test_in_asyncio_a_fleet_keeps_the_limit(self) -> None:
        seconds = 5
        provider, asked = self.provider(3000, seconds), self.funds(3000, seconds)
        each = Spend(**{**asked.__dict__, 'amount_minor': 60, 'units': 60})

        async def fleet() -> None:
            async with AsyncMuster(threads=40) as muster:
                await asyncio.sleep(seconds - time.time() % seconds)
                end = time.time() + 2 * seconds - 0.1

                async def work(call: ModelCall) -> Any:
                    return await asyncio.to_thread(self.ask, call, provider.url, tokens=50)

                async def agent() -> None:
                    while time.time() < end:
                        await muster.spend(each, work)

                agents = [asyncio.create_task(agent()) for _ in range(20)]
                await asyncio.sleep(end - time.time())
                for one in agents:
                    one.cancel()
                await asyncio.gather(*agents, return_exceptions=True)

        asyncio.run(fleet())
        whole = sorted(provider.tokens.items())[:2]
        self.assertTrue(all(tokens <= 3000 for _, tokens in whole), whole)
        self.assertLessEqual(provider.refused, 10)
        if os.environ.get('LONG'):
            # On a busy machine agents use less of a window, and calls begin in one and arrive in the next.
            self.assertTrue(all(0.98 * 3000 <= tokens for _, tokens in whole), whole)
            self.assertLessEqual(provider.refused, 2)


class ReadTest(unittest.TestCase):
    def test_reads_headers_and_usages(self) -> None:
        now = 1_893_456_000.0

        def reset(text: str) -> float | None:
            headers = {'x-ratelimit-remaining-tokens': '9', 'x-ratelimit-reset-tokens': text}
            found = remaining_in(headers, 'tokens', KNOWN_PROVIDERS, now)
            at = found.reset_at if found else None
            return None if at is None else round(at - now, 3)

        texts = ['6m0s', '1s', '20ms', '1h2m3.5s', '1d', '7', '2030-01-01T00:00:30Z', 'soon', '']
        self.assertEqual([reset(text) for text in texts], [360, 1, 0.02, 3723.5, 86_400, 7, 30, None, None])
        own = LimitHeaders('x-left', 'x-until')
        found = remaining_in({'x-left': '3'}, 'requests', [*KNOWN_PROVIDERS, ProviderHeaders(own, own)], now)
        self.assertEqual(found, (3, None))
        self.assertIsNone(remaining_in({}, 'tokens', KNOWN_PROVIDERS, now))
        given = [{'retry-after': '7'}, {'retry-after': 'Tue, 01 Jan 2030 00:00:20 GMT'}, {'retry-after-ms': '1500'}, {}, {'retry-after': 'x'}]
        self.assertEqual([retry_after_seconds(one, now) for one in given], [7, 20, 1.5, None, None])
        openai = {'prompt_tokens': 100, 'completion_tokens': 20, 'prompt_tokens_details': {'cached_tokens': 60}}
        anthropic = {'input_tokens': 10, 'output_tokens': 20, 'cache_read_input_tokens': 60, 'cache_creation_input_tokens': 30}
        for usage in (openai, anthropic):
            self.assertEqual(usage_in({'usage': usage}), Usage(100, 20, 60))
        for body in (None, 7, {}, {'usage': None}, {'usage': {'input_tokens': 'x'}}):
            self.assertIsNone(usage_in(body))
