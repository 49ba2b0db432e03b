"""The journal, across lost connections."""

from __future__ import annotations

import time
from datetime import datetime, timedelta
from threading import Thread, Timer

from muster import Journal, Muster, MusterError
from support import Proxy, ServerTest


class TheJournal(ServerTest):
    def taken(self, journal: Journal, count: int) -> list[str]:
        return [next(journal).aggregate_id for _ in range(count)]

    def test_each_event_comes_once_over_cut_connections(self) -> None:
        proxy = Proxy()
        self.addCleanup(proxy.close)
        muster = Muster(proxy.url)
        journal = muster.events(types=['message.sent', 'barrier.*'], scope_id=self.scope_id, cursor='latest')
        sent: list[str] = []

        def work() -> None:
            for i in range(40):
                sent.extend(self.send(i))
                if i % 8 == 0:
                    proxy.cut()

        sender = Thread(target=work)
        sender.start()
        got = self.taken(journal, 40)
        sender.join()
        self.assertEqual(got, sent)

    def test_it_goes_on_from_a_cursor_that_was_kept(self) -> None:
        sent = self.send(1, 2, 3)
        with self.muster.events(types=['message.*'], scope_id=self.scope_id) as journal:
            self.assertEqual(self.taken(journal, 2), sent[:2])
        self.assertIsNone(next(journal, None))
        event = next(self.muster.events(types=['message.*'], scope_id=self.scope_id, cursor=journal.cursor))
        self.assertEqual((event.aggregate_id, event.type, event.payload['state']), (sent[2], 'message.sent', 'READY'))

    def test_it_ends_from_another_thread(self) -> None:
        journal = self.muster.events(cursor='latest')
        Timer(0.2, journal.close).start()
        self.assertEqual(list(journal), [])

    def test_what_cannot_pass_is_raised(self) -> None:
        self.fails('INVALID_CURSOR', lambda: next(self.muster.events(cursor='x')))
        self.fails('VALIDATION_FAILED', lambda: next(self.muster.events(types=['nothing.*'])))

    def test_damage_does_not_pass_and_has_the_cursor_behind_it(self) -> None:
        damage = MusterError('EVENTS_DAMAGED', 'tell the operator; cursor=abc continues after them', status=500)
        self.assertEqual((damage.is_passing, damage.next_cursor), (False, 'abc'))
        defect = MusterError('INTERNAL', 'an unexpected error', status=500)
        self.assertEqual((defect.is_passing, defect.next_cursor), (True, None))

    def test_it_begins_at_a_moment(self) -> None:
        self.send(1, 2)
        seen = self.muster.events(types=['message.sent'], scope_id=self.scope_id)
        next(seen)
        last = datetime.fromisoformat(next(seen).occurred_at.replace('Z', '+00:00'))
        time.sleep(0.01)
        sent = self.send(3, 4)
        since = last + timedelta(milliseconds=1)
        journal = self.muster.events(types=['message.sent'], scope_id=self.scope_id, since=since)
        self.assertEqual(self.taken(journal, 2), sent)
