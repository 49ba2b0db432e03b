"""Payloads and results that are compressed, encrypted, or kept in a folder or a bucket."""

from __future__ import annotations

import base64
import gzip
import importlib.util
import os
import pickle
import random
import tempfile
import unittest
from datetime import datetime, timezone
from typing import Any

from muster import Claim, Muster, Task, UnreadableValue, Worker
from docs_codecs import module
from support import Proxy, ServerTest

ELSEWHERE = 'the value cannot be decoded: aes-256-gcm-bound failed'


class Reversing:
    name = 'reversed'

    def encode(self, data: bytes) -> bytes | None:
        return data[::-1] if data else None

    def decode(self, data: bytes) -> bytes:
        return data[::-1]


class Salted:
    name = 'salted'

    def encode(self, data: bytes) -> bytes | None:
        return os.urandom(8) + data

    def decode(self, data: bytes) -> bytes:
        return data[8:]


class Codecs(ServerTest):
    def test_work_is_larger_than_what_a_queue_takes(self) -> None:
        path = self.enterContext(tempfile.TemporaryDirectory()) if hasattr(self, 'enterContext') else tempfile.mkdtemp()
        self.work([module('compress').Compress(), module('folder').Folder(path)])
        self.assertEqual(len(os.listdir(path)), 2)

    def test_a_bucket_keeps_large_values(self) -> None:
        s3 = module('s3')
        bucket = s3.Bucket(os.environ['MUSTER_TEST_BUCKET'], 'eu-central-1', 'AKIAEXAMPLE', 'secretEXAMPLE')
        self.work([module('compress').Compress(), s3.S3(bucket)])
        with self.assertRaisesRegex(OSError, r'^the bucket answered GET with 404$'):
            s3.S3(bucket).decode(b'e' * 64)
        forged = s3.Bucket(bucket.url, bucket.region, bucket.access_key_id, 'another')
        with self.assertRaisesRegex(OSError, r'^the bucket answered PUT with 403$'):
            s3.S3(forged, min_bytes=0).encode(b'value')

    def test_a_bucket_is_asked_as_by_the_sdk_of_aws(self) -> None:
        s3 = module('s3')
        bucket = s3.Bucket('http://127.0.0.1:9000/my-bucket', 'eu-central-1', 'AKIAEXAMPLE', 'secretEXAMPLE')
        request = s3.signed(bucket, 'PUT', 'abc', b'hello', datetime(2026, 1, 31, 12, tzinfo=timezone.utc))
        # The signature that botocore's S3SigV4Auth computes for the same request.
        signature = 'e122c89197fe2c1e02ee0b0fd6473f3a437070b53afedadabf0e68d13fee35aa'
        self.assertTrue(request.get_header('Authorization').endswith(f', Signature={signature}'))

    def work(self, codecs: list[Any]) -> None:
        """Sends a large value, has a worker return it, and reads the values that are stored instead."""
        muster = Muster(codecs=codecs)
        self.addCleanup(muster.close)
        text = random.Random(1).randbytes(150_000).hex()
        sent = muster.message.send(mailbox_id=self.mailbox_id, scope_id=self.scope_id, payload={'text': text})

        def handle(message: Claim, task: Task) -> Any:
            return [message.payload['text']]

        with Worker(muster, {'mailbox_id': self.mailbox_id}, handle, close_on_signals=False):
            done = muster.message.view(message_id=sent.id, wait_seconds=20)
        self.assertEqual((done.state, done.payload, done.result), ('ACKED', {'text': text}, [text]))
        kept = self.muster.message.view(message_id=sent.id)
        self.assertEqual(kept.payload['$codec'], [codec.name for codec in codecs])

    def test_values_stay_as_they_are_in_batches_and_lists(self) -> None:
        muster = Muster(codecs=[Reversing()])
        self.addCleanup(muster.close)
        values: list[Any] = [None, 0, '', [], {}, 'grüße', {'$codec': ['gzip'], 'data': 'AAAA'}]
        args: dict[str, Any] = {'mailbox_id': self.mailbox_id, 'scope_id': self.scope_id}
        muster.batch([muster.call.message.send(payload=value, **args) for value in values])
        self.assertEqual([one.payload for one in muster.message.all(mailbox_id=self.mailbox_id)], values)
        seen = [one.payload for one in self.muster.message.all(mailbox_id=self.mailbox_id)]
        self.assertTrue(all(one['$codec'] == ['reversed'] for one in seen))
        with Worker(muster, {'mailbox_id': self.mailbox_id}, lambda message, _: message.payload, close_on_signals=False) as worker:
            worker.drained()
        self.assertEqual([one.result for one in muster.message.all(mailbox_id=self.mailbox_id)], values)

    def test_what_cannot_be_decoded_fails_where_it_is_read(self) -> None:
        muster, other = Muster(codecs=[Reversing()]), Muster(codecs=[module('compress').Compress()])
        self.addCleanup(muster.close)
        self.addCleanup(other.close)
        box = self.muster.mailbox.create(name=f'{self.name}-1', max_attempts=1)
        sent = muster.message.send(mailbox_id=box.id, scope_id=self.scope_id, payload=1)
        plain = other.message.send(mailbox_id=box.id, scope_id=self.scope_id, payload=2)
        with Worker(other, {'mailbox_id': box.id}, lambda message, _: message.payload, close_on_signals=False) as worker:
            worker.drained()
        self.assertEqual((self.state(plain.id), self.state(sent.id)), ('ACKED', 'FAILED'))
        seen = other.message.view(message_id=sent.id)
        self.assertIn('encoded by reversed: Muster needs this codec', seen.last_error or '')
        with self.assertRaises(LookupError):
            seen.payload

    def test_codecs_have_different_names(self) -> None:
        with self.assertRaisesRegex(ValueError, '^two codecs are named reversed$'):
            Muster(codecs=[Reversing(), Reversing()])

    def test_a_number_that_python_cannot_hold_affects_its_own_value_alone(self) -> None:
        muster = Muster(codecs=[Reversing()])
        self.addCleanup(muster.close)
        coded = base64.b64encode(b']004e1[').decode()
        sent = ['[9007199254740993.0]', f'{{"$codec":["reversed"],"data":"{coded}"}}', '"plain"']
        for payload in sent:
            self.send_raw(payload)
        first, second, third = muster.message.all(mailbox_id=self.mailbox_id)
        self.assertEqual([self.text_of(first), self.text_of(second)], [sent[0], '[1e400]'])
        self.assertEqual((first.id < second.id, third.payload), (True, 'plain'))

    def text_of(self, message: Any) -> str:
        with self.assertRaises(UnreadableValue) as caught:
            message.payload
        return pickle.loads(pickle.dumps(caught.exception)).text

    def test_values_are_encoded_once_so_that_a_repetition_is_the_same_request(self) -> None:
        proxy = Proxy()
        self.addCleanup(proxy.close)
        muster = Muster(proxy.url, codecs=[Salted()])
        self.addCleanup(muster.close)
        next_id = self.muster.mailbox.create(name=f'{self.name}-next').id

        def handle(message: Claim, task: Task) -> Any:
            proxy.drop_answers = 5
            send = {'mailbox_id': next_id, 'scope_id': self.scope_id}
            return task.finish('done', lambda t: t.message.send(payload='go on', **send)) if message.payload else 'done'

        for payload in (0, 1):
            sent = muster.message.send(mailbox_id=self.mailbox_id, scope_id=self.scope_id, payload=payload)
            with Worker(muster, {'mailbox_id': self.mailbox_id}, handle, close_on_signals=False, batch=False) as worker:
                worker.drained()
            done = muster.message.view(message_id=sent.id)
            self.assertEqual((done.state, done.result, worker.counts.completed), ('ACKED', 'done', 1))
            self.assertEqual(proxy.drop_answers, 0)
        self.assertEqual([one.payload for one in muster.message.all(mailbox_id=next_id)], ['go on'])


@unittest.skipUnless(importlib.util.find_spec('cryptography'), 'without cryptography')
class Encrypted(ServerTest):
    def test_the_service_sees_no_value(self) -> None:
        muster = Muster(codecs=[module('encrypt').Encrypt(bytes(range(32)))])
        self.addCleanup(muster.close)
        sent = muster.message.send(mailbox_id=self.mailbox_id, scope_id=self.scope_id, payload='a secret')
        with Worker(muster, {'mailbox_id': self.mailbox_id}, lambda message, _: [message.payload], close_on_signals=False):
            done = muster.message.view(message_id=sent.id, wait_seconds=20)
        self.assertEqual((done.payload, done.result), ('a secret', ['a secret']))
        kept = self.muster.message.view(message_id=sent.id)
        for value in (kept.payload, kept.result):
            self.assertEqual(value['$codec'], ['aes-256-gcm-bound'])
            self.assertNotIn(b'secret', base64.b64decode(value['data']))

    def test_values_are_those_of_the_codec_in_typescript(self) -> None:
        # test/client/codecs.test.ts has the same value.
        sealed = base64.b64decode(
            'ADUAAQIDBAUGBwgJCgtbIndvcmsvMDE5MGExYjItMDAwMC03MDAwLTgwMDAtMDAwMDAwMDAwMDAwL2dyw7zDn2UiXWOjnRVlfftz'
            'VdWXX16b85/DQaY2J4Je/xgXv06AzgX+tpc='
        )
        place = 'work/0190a1b2-0000-7000-8000-000000000000/grüße'
        codec = module('encrypt').Encrypt(bytes([7]) * 32)
        self.assertEqual(codec.decode(sealed, [place]).decode(), '{"text":"grüße"}')
        self.assertNotEqual(codec.encode(b'a', [place]), codec.encode(b'a', [place]))
        for other in (sealed[:-1] + bytes([sealed[-1] ^ 1]), sealed.replace(b'work/0', b'work/1')):
            with self.assertRaises(Exception):
                codec.decode(other, [place, place.replace('work/0', 'work/1')])

    def test_a_payload_is_bound_to_its_mailbox_and_its_work_key(self) -> None:
        muster, other = self.encrypting(), self.muster.mailbox.create(name=f'{self.name}-other').id
        sent = self.send_by(muster, 'pay 7', work_key='a/b')
        self.assertEqual(self.read(muster, sent), 'pay 7')
        payload = self.muster.message.view(message_id=sent).payload
        for mailbox_id, more in ((other, {'work_key': 'a/b'}), (self.mailbox_id, {'work_key': 'a/c'}), (self.mailbox_id, {})):
            copy = self.muster.message.send(mailbox_id=mailbox_id, scope_id=self.scope_id, payload=payload, **more)
            self.assertEqual(self.read(muster, copy.id), ELSEWHERE)

    def test_a_payload_without_a_work_key_is_bound_to_its_mailbox_alone(self) -> None:
        muster, other = self.encrypting(), self.muster.mailbox.create(name=f'{self.name}-other').id
        payload = self.muster.message.view(message_id=self.send_by(muster, 'pay 7')).payload
        copies = [
            self.muster.message.send(mailbox_id=mailbox_id, scope_id=self.scope_id, payload=payload).id
            for mailbox_id in (self.mailbox_id, other)
        ]
        self.assertEqual([self.read(muster, copy) for copy in copies], ['pay 7', ELSEWHERE])

    def test_the_input_of_a_task_is_bound_to_its_group_and_its_task_key(self) -> None:
        muster = self.encrypting()
        first, second = (
            muster.group.create(mailbox_id=self.mailbox_id, condition='ALL_TERMINAL')
            for _ in range(2)
        )
        task = muster.task.submit(group_id=first.id, task_key='a', input={'n': 3})
        empty = muster.task.submit(group_id=first.id, task_key='b')
        self.assertEqual([self.read(muster, one.message_id) for one in (task, empty)], [{'n': 3}, None])
        payload = self.muster.message.view(message_id=task.message_id).payload
        copy = self.muster.task.submit(group_id=second.id, task_key='a', input=payload)
        self.assertEqual(self.read(muster, copy.message_id), ELSEWHERE)

    def test_a_result_is_bound_to_its_message_and_to_the_mailbox_that_it_is_sent_to(self) -> None:
        muster, results = self.encrypting(), self.muster.mailbox.create(name=f'{self.name}-results').id
        first, second = (self.claim_by(muster) for _ in range(2))
        target = {'mailboxId': results, 'scopeId': self.scope_id}
        done = muster.message.complete(**first, result={'payload': 'done', **target})
        seen = [self.read(muster, first['message_id'], 'result'), self.read(muster, done.result_message_id or '')]
        self.assertEqual(seen, ['done', 'done'])
        payload = self.muster.message.view(message_id=first['message_id']).result
        self.muster.message.complete(**second, result={'payload': payload})
        self.assertEqual(self.read(muster, second['message_id'], 'result'), ELSEWHERE)

    def test_a_value_that_is_not_encrypted_is_refused_null_included(self) -> None:
        muster = self.encrypting()
        zipped = {'$codec': ['gzip'], 'data': base64.b64encode(gzip.compress(b'1')).decode()}
        values: list[Any] = ['plain', None, zipped, {'$codec': [], 'data': 'MQ=='}]
        for value in values:
            reason = 'the value is not encoded by aes-256-gcm-bound, as every value must be'
            self.assertEqual(self.read(muster, self.send(value)[0]), reason)

    def test_no_value_is_encrypted_whose_mailbox_is_not_known_before_the_call(self) -> None:
        muster = self.encrypting()
        with self.assertRaisesRegex(ValueError, '^encryption needs the id of the mailbox, group or message before the call$'):
            with muster.atomic() as t:
                box = t.mailbox.create(name=f'{self.name}-new')
                t.message.send(mailbox_id=box.id, scope_id=self.scope_id, payload=1)

    def test_a_value_that_is_not_encrypted_is_refused_though_it_cannot_be_held(self) -> None:
        reason = 'the value is not encoded by aes-256-gcm-bound, as every value must be'
        self.assertEqual(self.read(self.encrypting(), self.send_raw('1e400')), reason)

    def encrypting(self) -> Muster:
        muster = Muster(codecs=[module('compress').Compress(), module('encrypt').Encrypt(bytes(range(32)))])
        self.addCleanup(muster.close)
        return muster

    def send_by(self, muster: Muster, payload: Any, **more: Any) -> str:
        return muster.message.send(mailbox_id=self.mailbox_id, scope_id=self.scope_id, payload=payload, **more).id

    def claim_by(self, muster: Muster) -> dict[str, str]:
        self.send_by(muster, 1)
        received = muster.message.recv(
            mailbox_id=self.mailbox_id, scope_id=self.scope_id, holder='w', holder_session='s'
        )
        assert received is not None
        return {'message_id': received.id, 'token': received.token or ''}

    def read(self, muster: Muster, message_id: str, field: str = 'payload') -> Any:
        """Reads a payload or a result, or returns why it cannot be read."""
        message = muster.message.view(message_id=message_id)
        try:
            return getattr(message, field)
        except ValueError as error:
            return str(error)
