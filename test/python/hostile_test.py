"""Answers that drip, that are endless, and values that only one message should suffer from."""

from __future__ import annotations

import inspect
import json
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from muster import Muster, UnreadableValue, Worker
from support import ServerTest


class Hostile(ServerTest):
    def test_a_number_of_5000_digits_is_read_and_stops_no_other_message(self) -> None:
        first, *_ = self.send('before')
        digits = '-' + '1234567890' * 500
        huge = self.send_raw(digits)
        last, *_ = self.send('after')
        found: dict[str, Any] = {}

        def handle(message: Any, _: Any) -> None:
            found[message.id] = message.payload

        with Worker(self.muster, {'mailbox_id': self.mailbox_id}, handle, concurrency=3, close_on_signals=False):
            self.assertEqual([self.state(one, 20) for one in (first, huge, last)], ['ACKED'] * 3)
        number = found[huge]
        self.assertEqual((found[first], found[last]), ('before', 'after'))
        self.assertEqual((number < 0, number % 10**9), (True, -int('1234567890' * 2) % 10**9))
        self.assertTrue(-number // 10**4980 == int('1234567890' * 2))
        self.assertEqual(self.muster.message.view(message_id=huge).payload, number)
        self.assertEqual([one.attempts for one in self.muster.message.all(mailbox_id=self.mailbox_id)], [1, 1, 1])

    def test_a_value_that_is_deeper_than_the_stack_affects_no_other(self) -> None:
        deep = '[' * 500 + ']' * 500
        for payload in ('"before"', deep, '"after"'):
            self.send_raw(payload)
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(len(inspect.stack()) + 200)
        try:
            first, second, third = self.muster.message.list(mailbox_id=self.mailbox_id).messages
            # Some versions of Python have another limit for JSON.
            try:
                text = json.dumps(second.payload)
            except UnreadableValue as error:
                text = error.text
        finally:
            sys.setrecursionlimit(limit)
        self.assertEqual((first.payload, text, third.payload), ('before', deep, 'after'))

    @contextmanager
    def answering(self, head: str, body: bytes, pause: float) -> Iterator[Muster]:
        """A client of a server that answers with this head, and with this body again and again."""
        server = socket.create_server(('127.0.0.1', 0))
        over = threading.Event()

        def answer(connection: socket.socket) -> None:
            with suppress(OSError), connection:
                asked = b''
                while b'\r\n\r\n' not in asked:
                    asked += connection.recv(65_536)
                connection.sendall(head.encode())
                while not over.wait(pause):
                    connection.sendall(body)

        def accept() -> None:
            with suppress(OSError):
                while True:
                    threading.Thread(target=answer, args=(server.accept()[0],), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        try:
            with Muster(f'http://127.0.0.1:{server.getsockname()[1]}', retry_seconds=0, timeout_seconds=0.3) as muster:
                yield muster
        finally:
            over.set()
            server.close()

    def test_an_answer_that_drips_ends_with_the_time_of_the_attempt(self) -> None:
        for head in ('', 'HTTP/1.1 200 OK\r\n', 'HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n'):
            with self.answering(head, b'X', 0.05) as muster:
                self.fails('UNREACHABLE', muster.limits.get)

    def test_an_answer_without_end_is_refused(self) -> None:
        with self.answering('HTTP/1.1 200 OK\r\n\r\n', b'private ' * 131_072, 0) as muster:
            error = self.fails('UNREADABLE', lambda: muster.batch([], timeout_seconds=60))
            self.assertRegex(error.message, 'not a Muster response: ')
            self.assertNotIn('private', error.message)
