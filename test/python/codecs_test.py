"""Payloads and results that are compressed, or kept in a folder."""

from __future__ import annotations

import importlib.util
import os
import random
import tempfile
from pathlib import Path
from typing import Any

from muster import Claim, Muster, Task, Worker
from support import ServerTest

CODECS = Path(__file__).parents[2] / 'docs/codecs'


def module(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, CODECS / f'{name}.py')
    assert spec is not None and spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


class Reversing:
    name = 'reversed'

    def encode(self, data: bytes) -> bytes | None:
        return data[::-1] if data else None

    def decode(self, data: bytes) -> bytes:
        return data[::-1]


class Codecs(ServerTest):
    def test_work_is_larger_than_what_a_queue_takes(self) -> None:
        path = self.enterContext(tempfile.TemporaryDirectory()) if hasattr(self, 'enterContext') else tempfile.mkdtemp()
        muster = Muster(codecs=[module('compress').Compress(), module('folder').Folder(path)])
        self.addCleanup(muster.close)
        text = random.Random(1).randbytes(150_000).hex()
        sent = muster.message.send(mailbox_id=self.mailbox_id, scope_id=self.scope_id, payload={'text': text})

        def handle(message: Claim, task: Task) -> Any:
            return [message.payload['text']]

        with Worker(muster, {'mailbox_id': self.mailbox_id}, handle, close_on_signals=False):
            done = muster.message.view(message_id=sent.id, wait_seconds=20)
        self.assertEqual((done.state, done.payload, done.result), ('ACKED', {'text': text}, [text]))
        kept = self.muster.message.view(message_id=sent.id)
        self.assertEqual(kept.payload['$codec'], ['gzip', 'folder'])
        self.assertEqual(len(os.listdir(path)), 2)

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
