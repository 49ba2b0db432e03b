"""Calls, retries, batches, lists, money and webhooks."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
import os
import pickle
import time
import uuid
from datetime import datetime, timedelta, timezone
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from typing import Any

import muster
from muster import (
    AsyncMuster,
    AsyncTask,
    AsyncTypedMailbox,
    Claim,
    GiveUp,
    Muster,
    MusterError,
    NoResult,
    Task,
    TypedClaim,
    TypedMailbox,
    WebhookError,
    Worker,
    _records,
    run_id,
    verify_webhook,
)
from support import Proxy, ServerTest


class Calls(ServerTest):
    def test_names_have_ids(self) -> None:
        # test/client/names.test.ts has the same id.
        self.assertEqual(run_id('desk', '2026-01-31', 7), '16dc3fa9-746b-5734-ad19-e0f12aa133e6')
        self.assertEqual(len({run_id('a', 'b'), run_id('a/b'), run_id('b', 'a'), run_id('a', 'b', '')}), 4)
        for odd in (1.5, True, 'a\0b', None):
            self.assertRaises(TypeError, run_id, odd)
        self.assertRaises(TypeError, run_id)

    def test_a_typed_mailbox_sends_works_and_answers(self) -> None:
        pages: TypedMailbox[dict[str, str], int] = TypedMailbox(self.muster, f'pages-{self.name}', max_attempts=2)
        sent = pages.send({'url': 'https://a'}, scope_id=self.scope_id, priority=1)
        bad = pages.send({'url': ''}, scope_id=self.scope_id)

        def handle(message: Claim, task: Task) -> int:
            if not message.payload['url']:
                raise GiveUp('there is no address')
            return len(message.payload['url'])

        with pages.worker(handle, close_on_signals=False):
            self.assertEqual(pages.result(sent.id), 9)
            with self.assertRaisesRegex(NoResult, 'is REJECTED: there is no address'):
                pages.result(bad.id)
        self.assertEqual([one.id for one in pages.all(state='ACKED')], [sent.id])
        self.assertEqual(self.muster.mailbox.view(mailbox_id=pages.id).max_attempts, 2)

    def test_a_typed_mailbox_does_so_in_an_asyncio_program(self) -> None:
        async def program() -> None:
            async with AsyncMuster() as muster:
                pages: AsyncTypedMailbox[dict[str, str], int] = AsyncTypedMailbox(muster, f'pages-{self.name}', max_attempts=2)
                sent = await pages.send({'url': 'https://a'}, scope_id=self.scope_id, priority=1)
                bad = await pages.send({'url': ''}, scope_id=self.scope_id)

                async def handle(message: Claim, task: AsyncTask) -> int:
                    if not message.payload['url']:
                        raise GiveUp('there is no address')
                    return len(message.payload['url'])

                async with pages.worker(handle, close_on_signals=False):
                    self.assertEqual(await pages.result(sent.id), 9)
                    with self.assertRaisesRegex(NoResult, 'is REJECTED: there is no address'):
                        await pages.result(bad.id)
                self.assertEqual([one.id async for one in pages.all(state='ACKED')], [sent.id])
                box = await muster.mailbox.view(mailbox_id=await pages.id())
                self.assertEqual(box.max_attempts, 2)
                same: AsyncTypedMailbox[Any, Any] = AsyncTypedMailbox(muster, pages.name)
                self.assertEqual(await same.id(), box.id)

        asyncio.run(program())

    def test_a_typed_mailbox_reaches_batches_groups_and_schedules(self) -> None:
        pages: TypedMailbox[str, int] = TypedMailbox(self.muster, f'pages-{self.name}')
        (first,) = self.muster.batch([pages.call.send('a', scope_id=self.scope_id)])
        self.assertEqual(first.answer.mailbox_id, pages.id)
        others: TypedMailbox[str, int] = TypedMailbox(self.muster, f'others-{self.name}')
        with self.muster.atomic() as t:
            new = pages.within(t).create_group(condition='ALL_TERMINAL')
            new.submit('task', task_key='one')
            new.seal()
            sent = others.within(t).send('b', scope_id=self.scope_id)
        self.assertEqual(sent.answer.mailbox_id, others.id)
        group = pages.create_group(condition='ALL_TERMINAL', parent_scope_id=self.scope_id)
        group.submit('two', task_key='two')
        self.muster.batch([group.call.submit('three', task_key='three')])
        with self.muster.atomic() as t:
            group.within(t).submit('four', task_key='four')
        group.seal()
        late: TypedMailbox[str, int] = TypedMailbox(self.muster, f'late-{self.name}')

        def handle(message: TypedClaim[str], task: Task) -> int:
            if message.payload != 'a':
                return len(message.payload)
            # The plan of a completion finds the id as well.
            return task.finish(1, lambda t: late.within(t).send('late', scope_id=self.scope_id))

        with pages.worker(handle, close_on_signals=False):
            found = {one.task_key: one.outcome for one in group.wait_decided().members}
            self.assertEqual(found, {'two': 3, 'three': 5, 'four': 4})
            (one,) = pages.group(new.created.answer.id).wait_decided().members
            self.assertEqual(one.outcome, 4)
            pages.result(first.answer.id)
        self.assertEqual([one.payload for one in late.all()], ['late'])
        made = [pages.schedule(text, name=self.name, scope_id=self.scope_id, every_seconds=3600) for text in 'ab']
        self.assertEqual((made[0].id, made[1].payload), (made[1].id, 'b'))
        gone: TypedMailbox[str, int] = TypedMailbox(self.muster, f'gone-{self.name}')
        self.muster.mailbox.delete(mailbox_id=gone.id)
        self.assertEqual(gone.send('a', scope_id=self.scope_id).mailbox_id, gone.id)

    def test_a_typed_mailbox_reaches_them_in_an_asyncio_program(self) -> None:
        async def program() -> None:
            async with AsyncMuster() as muster:
                pages: AsyncTypedMailbox[str, int] = AsyncTypedMailbox(muster, f'pages-{self.name}')
                async with muster.atomic() as t:
                    new = pages.within(t).create_group(condition='ALL_TERMINAL')
                    new.submit('task', task_key='one')
                    new.seal()
                    sent = pages.within(t).send('b', scope_id=self.scope_id)
                self.assertEqual(sent.answer.mailbox_id, await pages.id())
                group = await pages.create_group(condition='ALL_TERMINAL')
                await group.submit('two', task_key='two')
                await muster.batch([group.call.submit('three', task_key='three')])
                await group.seal()
                late: AsyncTypedMailbox[str, int] = AsyncTypedMailbox(muster, f'late-{self.name}')

                async def handle(message: TypedClaim[str], task: AsyncTask) -> int:
                    if message.payload != 'b':
                        return len(message.payload)
                    return task.finish(1, lambda t: late.within(t).send('late', scope_id=self.scope_id))

                async with pages.worker(handle, close_on_signals=False):
                    found = {one.task_key: one.outcome for one in (await group.wait_decided()).members}
                    self.assertEqual(found, {'two': 3, 'three': 5})
                    await pages.group(new.created.answer.id).wait_decided()
                    await pages.result(sent.answer.id)
                self.assertEqual([one.payload async for one in late.all()], ['late'])
                made = await pages.schedule('a', name=self.name, scope_id=self.scope_id, every_seconds=3600)
                self.assertEqual(made.payload, 'a')
                gone: AsyncTypedMailbox[str, int] = AsyncTypedMailbox(muster, f'gone-{self.name}')
                await muster.mailbox.delete(mailbox_id=await gone.id())
                found_again = await gone.send('a', scope_id=self.scope_id)
                self.assertEqual(found_again.mailbox_id, await gone.id())

        asyncio.run(program())

    def test_a_judge_decides_a_group(self) -> None:
        def made() -> str:
            group = self.muster.group.create(mailbox_id=self.mailbox_id, condition='N_ACCEPTED', threshold=2)
            for key, approves in enumerate((False, True, True)):
                self.muster.task.submit(group_id=group.id, task_key=str(key), input=approves)
            self.muster.group.seal(group_id=group.id)
            return group.id

        async def judged(group_id: str) -> list[Any]:
            async with AsyncMuster() as muster:

                async def verdict(task: Any) -> bool:
                    return bool(task.outcome)

                return [one.verdict for one in (await muster.judge(group_id, verdict)).members]

        with Worker(self.muster, {'mailbox_id': self.mailbox_id}, lambda one, _: one.payload, close_on_signals=False):
            group = self.muster.judge(made(), lambda task: task.outcome)
            self.assertEqual((group.state, group.outcome), ('DECIDED', 'SATISFIED'))
            self.assertEqual([one.verdict for one in group.members], ['REJECTED', 'ACCEPTED', 'ACCEPTED'])
            self.assertEqual(asyncio.run(judged(made())), ['REJECTED', 'ACCEPTED', 'ACCEPTED'])
        late = self.muster.group.create(mailbox_id=self.mailbox_id, condition='N_ACCEPTED', threshold=1)
        for key in ('a', 'b', 'c'):
            self.muster.task.submit(group_id=late.id, task_key=key, input=None)
        with Worker(self.muster, {'mailbox_id': self.mailbox_id}, lambda _, __: 1, close_on_signals=False) as worker:
            worker.drained()
        self.assertEqual(self.muster.judge(late, lambda _: True).counts.accepted, 1)

    def test_what_has_a_name_is_found_or_made(self) -> None:
        name = str(uuid.uuid4())
        budget = {'name': name, 'currency': 'eur', 'scale': 2, 'limit_minor': 500}
        made = self.muster.budget.ensure(**budget, alert_percents=None)
        self.assertEqual(self.muster.budget.ensure(**budget).id, made.id)
        error = self.fails('BUDGET_EXISTS', lambda: self.muster.budget.ensure(**{**budget, 'limit_minor': 700}))
        self.assertIn('has limitMinor "500", not "700": ask for the existing values', error.message)
        pool = self.muster.pool.ensure(name=name, units=3, unique=True)
        self.assertEqual(self.muster.pool.ensure(name=name, units=3, unique=True).id, pool.id)

        async def at_once() -> None:
            async with AsyncMuster() as muster:
                asked = {'name': name, 'units_limit': 5, 'window_seconds': 60}
                made = await asyncio.gather(*(muster.allowance.ensure(**asked) for _ in range(6)))
                self.assertEqual(len({one.id for one in made}), 1)

        asyncio.run(at_once())

    def test_sends_receives_renews_and_completes(self) -> None:
        worker = {'mailbox_id': self.mailbox_id, 'scope_id': self.scope_id, 'holder': 'a', 'holder_session': 's'}
        self.assertIsNone(self.muster.message.recv(**worker))
        sent = self.muster.message.send(
            mailbox_id=self.mailbox_id,
            scope_id=uuid.UUID(self.scope_id),
            payload={'n': 1, 'text': 'grüße', 'nothing': None},
            work_key='a b&c',
            deadline=datetime.now(timezone.utc) + timedelta(hours=1),
        )
        claim = self.muster.message.recv(**worker, lease_seconds=30)
        assert claim is not None
        self.assertEqual(claim.id, sent.id)
        self.assertEqual(claim.payload, {'n': 1, 'text': 'grüße', 'nothing': None})
        self.assertEqual((claim.attempt, claim.work_key, claim.last_error), (1, 'a b&c', None))
        renewed = self.muster.message.renew(message_id=claim.id, token=claim.token, progress=[1])
        self.assertEqual(renewed.state, 'CLAIMED')
        done = self.muster.message.complete(
            message_id=claim.id, token=claim.token, result={'payload': {'ok': True}}
        )
        self.assertEqual((done.state, done.task_state), ('ACKED', 'SUCCEEDED'))
        self.assertEqual(self.muster.message.view(message_id=claim.id).result, {'ok': True})
        lost = self.fails(
            'CLAIM_LOST', lambda: self.muster.message.nack(message_id=claim.id, token=claim.token, retry=True)
        )
        self.assertEqual(lost.status, 409)
        self.assertRegex(lost.request_id or '', r'^[\w-]{36}$')
        self.assertEqual(self.muster.mailbox.view(mailbox_id=self.mailbox_id).counts.claimed, 0)

    def test_asks_a_key_that_is_a_function_for_each_call(self) -> None:
        keys = ['stale', os.environ['MUSTER_KEY'], os.environ['MUSTER_KEY']]
        muster = Muster(key=lambda: keys.pop(0))
        self.addCleanup(muster.close)
        with self.assertRaises(MusterError) as caught:
            muster.mailbox.list()
        self.assertEqual(caught.exception.code, 'INVALID_API_KEY')
        muster.mailbox.list()
        for _event in muster.events(cursor=None):
            break
        self.assertEqual(keys, [])

    def test_manages_keys_outside_of_spaces(self) -> None:
        made = self.muster.key.create(permissions=['coordination_read'], expires_in_days=1)
        with Muster(key=made.api_key) as reader:
            self.assertEqual(reader.mailbox.view(mailbox_id=self.mailbox_id).id, self.mailbox_id)
            self.assertIn(made.id, [key.id for key in self.muster.key.all()])
            self.assertIsNone(self.muster.key.revoke(key_id=made.id))
            self.fails('INVALID_API_KEY', reader.census.get)
        self.assertIsNotNone(next(key for key in self.muster.key.list().keys if key.id == made.id).revoked_at)

    def test_receives_many_as_a_list(self) -> None:
        self.send(1, 2, 3)
        many = self.muster.message.recv(
            mailbox_id=self.mailbox_id, scope_id='*', holder='a', holder_session='s', max=2
        )
        assert many is not None
        self.assertEqual([one.payload for one in many.messages], [1, 2])
        self.assertIsInstance(many.messages[0], Claim)

    def test_records_are_values(self) -> None:
        one = self.muster.mailbox.view(mailbox_id=self.mailbox_id)
        self.assertEqual(pickle.loads(pickle.dumps(one)), one)
        self.assertEqual(one.to_json()['retryDelaySeconds'], one.retry_delay_seconds)
        self.assertRaises(AttributeError, lambda: getattr(one, 'retry_delays'))

    def test_refusals_carry_their_code(self) -> None:
        error = self.fails('VALIDATION_FAILED', lambda: self.muster.mailbox.create(name=''))
        self.assertRegex(str(error), '^VALIDATION_FAILED: name must be')
        other = Muster(key='mk_x_y', attempts=1)
        self.fails('INVALID_API_KEY', other.limits.get)
        self.assertRaises(TypeError, lambda: self.send(object()))
        self.assertRaises(ValueError, lambda: self.send(float('nan')))

    def test_lists_are_read_page_by_page(self) -> None:
        ids = self.send(*range(120))
        self.assertEqual([one.id for one in self.muster.message.all(mailbox_id=self.mailbox_id)], ids)
        self.assertIn(self.mailbox_id, [one.id for one in self.muster.mailbox.all(name=self.name)])
        types = [event.type for event in self.muster.event.all()]
        self.assertGreaterEqual(types.count('message.sent'), 120)

    def test_batches(self) -> None:
        message, mailbox = self.muster.call.message, self.muster.call.mailbox
        send = {'mailbox_id': self.mailbox_id, 'scope_id': self.scope_id}
        calls = [
            message.send(**send, payload=1),
            message.send(**send, payload=2, idempotency_key='mine'),
            mailbox.delete(mailbox_id=self.mailbox_id),
        ]
        key = str(uuid.uuid4())
        first, second, full = self.muster.batch(calls, idempotency_key=key)
        self.assertEqual((first.ok, first.status, first.replayed), (True, 201, False))
        self.assertEqual(second.answer.state, 'READY')
        self.assertEqual(full.error and full.error.code, 'MAILBOX_NOT_EMPTY')
        with self.assertRaises(MusterError):
            full.answer
        graph = [message.send(**send, payload=1), message.send(**send, payload=2, after=[{'$from': 0}])]
        self.assertEqual([one.answer.state for one in self.muster.batch(graph)], ['READY', 'BLOCKED'])
        again = self.muster.batch(calls, idempotency_key=key)[0]
        self.assertEqual((again.replayed, again.answer.id), (True, first.answer.id))
        self.fails('VALIDATION_FAILED', lambda: self.muster.batch([]))

    def test_a_call_whose_answer_is_lost_happens_once(self) -> None:
        proxy = Proxy()
        self.addCleanup(proxy.close)
        proxy.drop_answers = 2
        with Muster(proxy.url) as muster:
            name = str(uuid.uuid4())
            created = muster.mailbox.create(name=name)
            self.assertEqual(proxy.requests, 3)
            self.assertEqual([one.id for one in muster.mailbox.all(name=name)], [created.id])
            # An idle connection that was closed meanwhile does not count as a failed attempt.
            proxy.cut()
            muster.mailbox.view(mailbox_id=created.id, attempts=1)
            proxy.is_away = True
            proxy.cut()
            lost = self.fails('UNREACHABLE', lambda: muster.limits.get(attempts=2))
            self.assertEqual((lost.status, lost.request_id), (0, None))

    def test_retry_after_is_respected_up_to_a_minute(self) -> None:
        answers: list[tuple[int, str, str]] = []
        keys: list[str | None] = []

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                keys.append(self.headers['Idempotency-Key'])
                status, after, body = answers.pop(0) if answers else (200, '', '{"id":"x"}')
                self.rfile.read(int(self.headers['Content-Length']))
                self.send_response(status)
                self.send_header('X-Request-Id', self.headers['X-Request-Id'])
                if after:
                    self.send_header('Retry-After', after)
                self.send_header('Content-Length', str(len(body)))
                self.end_headers()
                self.wfile.write(body.encode())

            do_GET = do_POST

            def log_message(self, *_: object) -> None:
                pass

        server = HTTPServer(('127.0.0.1', 0), Handler)
        Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        muster = Muster(f'http://127.0.0.1:{server.server_port}/')
        busy = '{"error":{"code":"RATE_LIMITED","message":"later","requestId":"r"}}'
        answers += [(429, '0', busy), (503, '0', busy)]
        self.assertEqual(muster.mailbox.create(name='a').id, 'x')
        self.assertEqual((len(keys), len(set(keys))), (3, 1))
        answers += [(429, '61', busy)]
        error = self.fails('RATE_LIMITED', lambda: muster.mailbox.create(name='a'))
        self.assertEqual((error.retry_after_seconds, len(keys)), (61, 4))
        answers += [(429, '0', busy)] * 9
        self.fails('RATE_LIMITED', lambda: muster.mailbox.create(name='a', attempts=3))
        self.assertEqual(len(keys), 7)
        # A call that wants something now or not at all is answered at once.
        for code in ('POOL_EXHAUSTED', 'CONCURRENCY_LIMITED', 'ALLOWANCE_EXHAUSTED', 'ALLOWANCE_COOLING_DOWN'):
            answers[:], keys[:] = [(429, '0', busy.replace('RATE_LIMITED', code))], []
            self.fails(code, lambda: muster.mailbox.create(name='a'))
            self.assertEqual(len(keys), 1)
        answers[:] = [(503, 'soon', busy)]
        begun = time.monotonic()
        muster.mailbox.create(name='a', idempotency_key='mine')
        self.assertGreaterEqual(time.monotonic() - begun, 1)
        self.assertEqual(keys[-2:], ['mine', 'mine'])

    def test_it_needs_a_url_a_key_and_a_space(self) -> None:
        self.assertRaises(ValueError, lambda: Muster('localhost:8080'))
        self.assertRaises(ValueError, lambda: Muster('ftp://localhost'))

    def test_money_around_a_piece_of_work(self) -> None:
        name = f'b-{uuid.uuid4()}'
        budget = self.muster.budget.create(name=name, currency='eur', scale=2, limit_minor=1000)
        about = {'scope_id': self.scope_id, 'holder': 'a', 'work_id': str(uuid.uuid4())}

        def figures() -> tuple[str, str, str]:
            now = self.muster.budget.view(budget_id=budget.id).balances
            return now.reserved, now.settled, now.available

        with self.muster.reserve(name, 500, **about) as reservation:
            self.assertEqual(figures(), ('500', '0', '500'))
            reservation.settle(320)
        self.assertEqual(figures(), ('0', '320', '680'))
        with self.assertRaises(KeyError):
            with self.muster.reserve(budget.id, '100', **about):
                raise KeyError
        self.assertEqual(figures(), ('0', '320', '680'))
        with self.muster.reserve(name, 80, **about):
            pass
        self.assertEqual(figures(), ('0', '400', '600'))
        # After a crash, the same work finds its reservation again.
        left = self.muster.reserve(name, 200, **about)
        self.assertEqual(self.muster.reserve(name, 200, **about).record.id, left.record.id)
        left.void()
        self.assertEqual(list(self.muster.reserve(name, 100, **about).earlier), [])
        over = self.muster.reserve(name, 100, **about)
        self.assertRaises(ValueError, lambda: over.settle(-1))
        self.assertEqual([one.state for one in over.earlier], ['ACTIVE'])
        self.assertEqual(over.settle(101).overdrawn_minor, '0')
        self.assertEqual(figures(), ('0', '501', '499'))
        self.fails('INSUFFICIENT_BUDGET', lambda: self.muster.reserve(name, 501, **about))
        self.assertRaises(LookupError, lambda: self.muster.reserve('none', 1, **about))

    def test_units_are_waited_for(self) -> None:
        allowance = self.muster.allowance.create(name=f'a-{uuid.uuid4()}', units_limit=2, window_seconds=1)
        about = {'scope_id': self.scope_id, 'holder': 'a'}
        for _ in range(5):
            self.assertEqual(self.muster.units(allowance.name, **about).state, 'GRANTED')

    def test_names_of_the_package_are_those_of_its_records_unless_it_has_others(self) -> None:
        # A checker keeps the first of two things with one name, Python the last.
        for name in _records.__all__:
            self.assertIs(getattr(muster, name), getattr(_records, name), name)

    def test_a_prerequisite_without_an_id_is_named(self) -> None:
        wrong: Any = {'message_id': str(uuid.uuid4())}
        with self.assertRaisesRegex(TypeError, 'must be an id, a record, or have messageId, groupId or scopeId'):
            self.muster.message.send(mailbox_id=self.mailbox_id, scope_id=self.scope_id, payload=1, after=[wrong])

    def test_an_async_handler_is_refused_by_a_worker_with_threads(self) -> None:
        async def handle(_message: object, _task: object) -> None: ...

        with self.assertRaisesRegex(TypeError, 'needs an AsyncWorker'):
            Worker(self.muster, self.mailbox_id, handle)

    def test_all_takes_the_length_of_its_pages(self) -> None:
        self.assertTrue(list(self.muster.mailbox.all(limit=1)))

    def test_webhooks_are_verified(self) -> None:
        key = bytes(range(32))
        secret = 'whsec_' + base64.b64encode(key).decode()
        body = json.dumps({'type': 'message.acked', 'timestamp': 't', 'data': {'eventId': 'e', 'type': 'message.acked'}})

        def headers(at: float, signing: bytes = key) -> dict[str, str]:
            text = f'id.{int(at)}.{body}'.encode()
            signature = base64.b64encode(hmac.new(signing, text, hashlib.sha256).digest()).decode()
            return {'Webhook-Id': 'id', 'Webhook-Timestamp': str(int(at)), 'Webhook-Signature': f'v1a,x v1,{signature}'}

        now = time.time()
        for text in (body, body.encode()):
            self.assertEqual(verify_webhook(text, headers(now), secret).data.event_id, 'e')
        self.assertEqual(verify_webhook(body, headers(now, b'old'), [secret, 'whsec_b2xk']).type, 'message.acked')
        for bad in (headers(now - 301), headers(now + 302), headers(now, b'x'), {}):
            self.assertRaises(WebhookError, lambda: verify_webhook(body, bad, secret))
        self.assertRaises(WebhookError, lambda: verify_webhook(body + ' ', headers(now), secret))
        self.assertRaises(ValueError, lambda: verify_webhook(body, headers(now), 'whsec_!'))
