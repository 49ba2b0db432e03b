"""Workers with threads."""

from __future__ import annotations

import logging
import os
import signal
import threading
import time
import uuid
from collections import Counter
from datetime import datetime, timezone
from typing import Any
from unittest.mock import patch

from muster import (
    ABSENT,
    After,
    Claim,
    GiveUp,
    Muster,
    SentMessage,
    Task,
    Worker,
    WorkerClosed,
)
from support import PROGRAM, Proxy, WorkerTest, until

logging.disable(logging.ERROR)



class Hasty(Muster):
    """Views waiters without having the server hold the request, so that tests need not wait for that long."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    def request(self, endpoint: Any, args: Any, **options: Any) -> Any:
        self.asked.append(endpoint.name)
        if endpoint.name == 'waiter.view':
            args = {**args, 'waitSeconds': 0}
        return super().request(endpoint, args, **options)


class Workers(WorkerTest):
    def test_completes_with_what_the_handler_returns(self) -> None:
        ids = self.send(*range(20))
        worker = self.worker(lambda message, task: {'twice': message.payload * 2}, concurrency=5)
        worker.drained()
        until(lambda: worker.counts.completed == 20)
        self.assertEqual(self.muster.message.view(message_id=ids[7]).result, {'twice': 14})
        counts = worker.counts
        self.assertEqual((counts.received, counts.active, counts.lost), (20, 0, 0))
        self.assertEqual(worker.mailbox_id, self.mailbox_id)

    def test_that_are_closed_are_not_drained(self) -> None:
        self.send('x')
        worker = self.worker(lambda message, task: task.wait(60))
        until(lambda: worker.counts.active)
        worker.close(0)
        self.assertRaises(WorkerClosed, worker.drained)

    def test_outlast_a_key_function_that_raises(self) -> None:
        keys: list[int] = []

        def key() -> str:
            keys.append(1)
            if len(keys) % 3 == 0:
                raise OSError('no token')
            return os.environ['MUSTER_KEY']

        muster = Muster(key=key, attempts=1)
        self.addCleanup(muster.close)
        worker = self.worker(lambda message, task: task.progress(message.payload), muster)
        for count in range(1, 5):
            self.send(count)
            until(lambda: worker.counts.completed == count)
        self.assertGreater(len(keys), 6)

        def refuse() -> str:
            raise OSError('no token')

        error = self.fails('UNREACHABLE', Muster(key=refuse).limits.get)
        self.assertIsInstance(error.__cause__, OSError)

    def test_outlast_more_failures_than_a_pause_can_be_doubled(self) -> None:
        tries = 0

        def key() -> str:
            nonlocal tries
            tries += 1
            if tries < 1_100:
                raise OSError('no token')
            return os.environ['MUSTER_KEY']

        muster = Muster(key=key, attempts=1)
        self.addCleanup(muster.close)
        self.send('x')
        with patch('muster._worker.worker._max_pause_seconds', 0):
            worker = self.worker(lambda message, task: None, muster)
            until(lambda: worker.counts.completed == 1)

    def test_makes_the_mailbox_and_publishes_results(self) -> None:
        name = str(uuid.uuid4())
        mailbox = {'name': name, 'max_attempts': 2}
        worker = Worker(self.muster, mailbox, lambda message, task: message.payload, results_to=f'{name}-done')
        self.addCleanup(worker.close)
        worker.start()
        until(lambda: worker.mailbox_id)
        view = self.muster.mailbox.view(mailbox_id=worker.mailbox_id or '')
        self.assertEqual((view.name, view.max_attempts), (name, 2))
        self.muster.message.send(mailbox_id=view.id, scope_id=self.scope_id, payload=None)
        done = self.muster.mailbox.create(name=f'{name}-done', unique=True)
        got = self.muster.message.recv(
            mailbox_id=done.id, scope_id=self.scope_id, holder='a', holder_session='s', wait_seconds=10
        )
        assert got is not None
        self.assertIsNone(got.payload)

    def test_fetches_the_results_of_what_a_message_is_after(self) -> None:
        box, scope_id = self.muster.mailbox.create(name='after').id, str(uuid.uuid4())

        def send(payload: int, after: list[After] | None = None) -> SentMessage:
            return self.muster.message.send(
                mailbox_id=box,
                scope_id=scope_id,
                payload=payload,
                after=after if after else ABSENT,
                on_failure='RUN' if after else ABSENT,
            )

        one, two, three = send(1), send(2), send(-3)
        group = self.muster.group.create(mailbox_id=box, condition='ALL_TERMINAL')
        member = self.muster.task.submit(group_id=group.id, task_key='m', input=4)
        self.muster.group.seal(group_id=group.id)
        last = send(0, [one, uuid.UUID(two.id), {'messageId': three.id}, group, member])
        self.assertEqual(last.state, 'BLOCKED')
        results: list[tuple[str | None, Any]] = []

        def handle(message: Claim, task: Task) -> Any:
            if message.payload < 0:
                raise GiveUp('no')
            if message.payload > 0:
                return message.payload * 10
            results.extend((one.state, one.result) for one in task.results())

        worker = Worker(self.muster, {'mailbox_id': box}, handle).start()
        self.addCleanup(worker.close, 0)
        until(lambda: worker.counts.completed == 4)
        expected = [('ACKED', 10), ('ACKED', 20), ('REJECTED', None), ('SATISFIED', [40]), ('ACKED', 40)]
        self.assertEqual(results, expected)

    def test_never_works_on_more_than_it_can(self) -> None:
        self.send(*range(30))
        lock, now, peak = threading.Lock(), Counter[str](), 0

        def handle(message: Claim, task: Task) -> None:
            nonlocal peak
            with lock:
                now['active'] += 1
                peak = max(peak, now['active'])
            time.sleep(0.005)
            with lock:
                now['active'] -= 1

        worker = self.worker(handle, concurrency=3)
        worker.drained()
        self.assertIn(peak, (2, 3))

    def test_many_share_requests(self) -> None:
        proxy = Proxy()
        self.addCleanup(proxy.close)
        muster = Muster(proxy.url)
        for batch, count, limit in ((True, 200, 0.3), (False, 40, 3.2)):
            self.send(*range(count))
            proxy.requests = 0
            # The previous worker's last receive may claim messages as it is cut. Their short leases end soon.
            worker = self.worker(lambda message, task: None, muster, concurrency=50, batch=batch, lease_seconds=5)
            until(lambda: worker.counts.completed == count)
            worker.close()
            self.assertLessEqual(proxy.requests / count, limit)

    def test_one_request_completes_a_message_and_receives_the_next(self) -> None:
        proxy = Proxy()
        self.addCleanup(proxy.close)
        self.send(*range(20))
        muster = Muster(proxy.url)
        done: list[Any] = []
        worker = self.worker(lambda message, task: done.append(message.payload), muster)
        until(lambda: worker.counts.completed == 20)
        self.assertEqual(done, list(range(20)))
        # With a request for each end and each receive, it would take 40.
        self.assertLessEqual(proxy.requests, 28)

    def test_gives_back_untried_what_came_while_it_closed(self) -> None:
        _, second = self.send(1, 2)
        worked: list[Any] = []
        started = threading.Event()
        closing: list[bool] = []

        class Closing(Muster):
            """Closes the worker before the first end is sent."""

            def batch(self, *args: Any, **options: Any) -> Any:
                if not closing:
                    closing.append(started.wait(15))
                    threading.Thread(target=worker.close).start()
                    until(lambda: any(thread.name == 'muster-close' for thread in threading.enumerate()))
                    time.sleep(0.1)
                return super().batch(*args, **options)

        worker = self.worker(lambda message, task: worked.append(message.payload), Closing())
        started.set()
        until(worker.ended.is_set)
        self.assertEqual(worked, [1])
        self.assertEqual((worker.counts.received, worker.counts.completed, worker.counts.returned), (2, 1, 1))
        message = self.muster.message.view(message_id=second)
        self.assertEqual((message.state, message.attempts), ('READY', 0))

    def test_refuses_what_is_no_text_where_it_is_given(self) -> None:
        name = b'caf\xe9'.decode('utf-8', 'surrogateescape')
        refused: list[str] = []

        def handle(message: Claim, task: Task) -> Any:
            for give in (task.progress, task.ask):
                try:
                    give(name)
                except UnicodeEncodeError:
                    refused.append(message.payload)
            return name if message.payload == 'x' else None

        worker = self.worker(handle)
        message_id, _ = self.send('x', 'y', max_attempts=1)
        until(lambda: worker.counts.completed == 1 and worker.counts.failed == 1)
        self.assertEqual(sorted(refused), ['x', 'x', 'y', 'y'])
        self.assertRegex(self.muster.message.view(message_id=message_id).last_error or '', '^UnicodeEncodeError')

    def test_writes_a_line_when_an_outage_begins_and_one_when_it_ends(self) -> None:
        logging.disable(logging.NOTSET)
        self.addCleanup(logging.disable, logging.ERROR)
        proxy = Proxy()
        self.addCleanup(proxy.close)
        logger = logging.getLogger(self.name)
        ids = self.send(*range(4))
        go = threading.Event()
        with self.assertLogs(logger, logging.WARNING) as said:
            muster = Muster(proxy.url)
            worker = self.worker(lambda message, task: go.wait(20), muster, concurrency=8, logger=logger)
            until(lambda: worker.counts.active == 4)
            proxy.is_away = True
            proxy.cut()
            go.set()
            refused = proxy.refused
            until(lambda: proxy.refused > refused + 6)
            proxy.is_away = False
            self.assertEqual([self.state(one, 20) for one in ids], ['ACKED'] * 4)
            until(lambda: len(said.records) > 1)
        self.assertEqual(len(said.output), 2, said.output)
        self.assertRegex(said.output[0], 'the service is unavailable, retrying: .*UNREACHABLE')
        self.assertNotIn('\n', said.output[0])
        self.assertRegex(said.output[1], r'the service is available again after \d+ s')

    def test_units_are_waited_for_with_a_place_that_is_renewed(self) -> None:
        allowance = self.muster.allowance.create(name=f'a-{uuid.uuid4()}', units_limit=1, window_seconds=31_536_000)
        self.muster.allowance.consume(allowance_id=allowance.id, scope_id=self.scope_id, units=1, holder='other')
        self.send('x')
        muster = Hasty()
        self.addCleanup(muster.close)
        worker = self.worker(lambda message, task: task.units(allowance.id) and None, muster)
        until(lambda: muster.asked.count('waiter.renew') > 1)
        held = [one for one in self.muster.waits.get().waiters if one.allowance_id == allowance.id]
        (waiting,) = held
        ends = datetime.fromisoformat(waiting.expires_at.replace('Z', '+00:00'))
        self.assertLess((ends - datetime.now(timezone.utc)).total_seconds(), 31)
        self.muster.allowance.update(allowance_id=allowance.id, units_limit=2)
        until(lambda: worker.counts.completed == 1)

    def test_a_signal_closes_all_workers_of_the_process(self) -> None:
        ids = self.send(*[{} for _ in range(12)])
        child = self.child('0.3', workers=3)
        self.assertEqual([child.stdout.readline() for _ in ids], ['begun\n'] * 12)
        child.send_signal(signal.SIGTERM)
        said = child.communicate(timeout=60)[0]
        self.assertEqual(child.returncode, 0)
        self.assertEqual(said.count('returned=4'), 3, said)
        self.assertEqual([self.state(one) for one in ids], ['READY'] * 12)

    def test_a_signal_stops_it_gracefully(self) -> None:
        quick, slow = self.send({'quick': 0.5}, {})
        child = self.child('0.8')
        self.assertEqual([child.stdout.readline() for _ in range(2)], ['begun\n'] * 2)
        child.send_signal(signal.SIGTERM)
        said = child.communicate(timeout=60)[0]
        self.assertEqual(child.returncode, 0)
        self.assertRegex(said, r'received=2, completed=1, asked=0, suspended=0, returned=1')
        self.assertEqual((self.state(quick), self.state(slow)), ('ACKED', 'READY'))

class Closing(WorkerTest):
    def test_ctrl_c_gives_back_what_it_holds_though_signals_do_not_close_it(self) -> None:
        (message_id,) = self.send({})
        program = PROGRAM.replace('lease_seconds=5', 'lease_seconds=600, close_on_signals=False')
        child = self.child('0', program=program)
        self.assertEqual(child.stdout.readline(), 'begun\n')
        child.send_signal(signal.SIGINT)
        self.assertIn('KeyboardInterrupt', child.communicate(timeout=60)[0])
        message = self.muster.message.view(message_id=message_id)
        self.assertEqual((message.state, message.attempts), ('READY', 0))

    def test_no_claim_is_left_when_it_closes_while_it_receives(self) -> None:
        self.send(*range(90))
        box = {'mailbox_id': self.mailbox_id}

        def handle(message: Claim, task: Task) -> None:
            task.wait(60)

        for delay in range(12):
            # Its receive is under way, or has just been answered.
            worker = Worker(self.muster, box, handle, concurrency=20, lease_seconds=600, close_on_signals=False)
            worker.start()
            time.sleep(delay / 1000)
            worker.close(0)
        counts = self.muster.mailbox.view(mailbox_id=self.mailbox_id).counts
        self.assertEqual((counts.ready, counts.claimed), (90, 0))
        self.assertEqual({one.attempts for one in self.muster.message.all(mailbox_id=self.mailbox_id)}, {0})
