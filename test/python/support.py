"""Helpers of the Python client's tests."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
import time
import unittest
import urllib.request
import uuid
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from muster import Muster, MusterError, Worker

class ServerTest(unittest.TestCase):
    """Tests against the server of MUSTER_URL; each has a client, a mailbox and a run of its own."""

    def setUp(self) -> None:
        self.muster = Muster()
        self.addCleanup(self.muster.close)
        self.scope_id = str(uuid.uuid4())
        self.name = f'jobs-{uuid.uuid4()}'
        self.mailbox_id = self.muster.mailbox.create(name=self.name).id

    def send(self, *payloads: object, **fields: object) -> list[str]:
        """Sends messages. Returns their ids."""
        args = {'mailbox_id': self.mailbox_id, 'scope_id': self.scope_id, **fields}
        calls = [self.muster.call.message.send(payload=payload, **args) for payload in payloads]  # type: ignore[arg-type]
        parts = [calls[at : at + 100] for at in range(0, len(calls), 100)]
        return [result.answer.id for part in parts for result in self.muster.batch(part)]

    def send_raw(self, payload: str) -> str:
        """Sends a message whose payload is this JSON text. Returns its id."""
        url = f'{os.environ["MUSTER_URL"]}/v1/spaces/{os.environ["MUSTER_SPACE"]}/mailboxes/{self.mailbox_id}/messages'
        headers = {
            'Authorization': f'Bearer {os.environ["MUSTER_KEY"]}',
            'Content-Type': 'application/json',
            'Idempotency-Key': str(time.monotonic_ns()),
        }
        body = f'{{"scopeId":"{self.scope_id}","payload":{payload}}}'.encode()
        with urllib.request.urlopen(urllib.request.Request(url, body, headers)) as answer:
            return json.load(answer)['id']

    def state(self, message_id: str, wait_seconds: int = 0) -> str:
        return self.muster.message.view(message_id=message_id, wait_seconds=wait_seconds).state

    def fails(self, code: str, call: Callable[[], object]) -> MusterError:
        with self.assertRaises(MusterError) as caught:
            call()
        self.assertEqual(caught.exception.code, code)
        return caught.exception


PROGRAM = """
import os, sys, time
from muster import Muster, Worker

def handle(message, task):
    os.write(1, b'begun\\n')
    while not task.is_lost and not message.payload.get('quick'):
        time.sleep(0.01)
    time.sleep(message.payload.get('quick', 0))
    return os.getpid()

workers = [
    Worker(Muster(), {'mailbox_id': sys.argv[1]}, handle, close_seconds=float(sys.argv[2]), concurrency=4, lease_seconds=5)
    for _ in range(int(sys.argv[3]))
]
for other in workers[1:]:
    other.start()
workers[0].run()
for worker in workers:
    print(worker.counts, flush=True)
"""


class WorkerTest(ServerTest):
    """Tests of workers, in this process and in others."""

    def worker(self, handler: Any, muster: Muster | None = None, **options: Any) -> Worker:
        worker = Worker(muster or self.muster, self.name, handler, **options)
        self.addCleanup(worker.close, 0)
        return worker.start()

    def child(self, close_seconds: str, workers: int = 1, program: str = PROGRAM) -> Any:
        child = subprocess.Popen(
            [sys.executable, '-c', program, self.mailbox_id, close_seconds, str(workers)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ},
        )
        self.addCleanup(child.kill)
        assert child.stdout is not None
        return child


def until(condition: Callable[[], object], seconds: float = 60) -> None:
    """Waits until a condition holds."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise AssertionError('it did not come to be')
        time.sleep(0.01)


class Proxy:
    """A proxy in front of the server that can be away, cut its connections, drop answers, and delay what it passes on."""

    def __init__(self, delay_seconds: float = 0) -> None:
        self._delay_seconds = delay_seconds
        parts = urlsplit(os.environ['MUSTER_URL'])
        self._target = (parts.hostname or '', parts.port or 80)
        self._server = socket.create_server(('127.0.0.1', 0))
        self._pairs: set[socket.socket] = set()
        self.is_away = False
        self.requests = 0
        self.refused = 0
        """The number of connections refused while it was away"""
        self.drop_answers = 0
        """The number of answers still to be dropped"""
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self) -> str:
        return f'http://127.0.0.1:{self._server.getsockname()[1]}'

    def cut(self) -> None:
        """Cuts all connections."""
        for one in list(self._pairs):
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def close(self) -> None:
        self._server.close()
        self.cut()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._server.accept()
            except OSError:
                return
            if self.is_away:
                self.refused += 1
                near.close()
                continue
            far = socket.create_connection(self._target)
            self._pairs.update((near, far))
            for source, sink, is_answer in ((near, far, False), (far, near, True)):
                threading.Thread(target=self._pump, args=(source, sink, is_answer), daemon=True).start()

    def _pump(self, source: socket.socket, sink: socket.socket, is_answer: bool) -> None:
        try:
            while data := source.recv(65536):
                if not is_answer and data.startswith((b'GET ', b'POST ', b'PATCH ', b'PUT ', b'DELETE ')):
                    self.requests += 1
                if is_answer and self.drop_answers > 0:
                    self.drop_answers -= 1
                    break
                time.sleep(self._delay_seconds)
                sink.sendall(data)
        except OSError:
            pass
        for one in (source, sink):
            self._pairs.discard(one)
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            one.close()
