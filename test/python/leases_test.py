"""Claims that last longer than a lease, and claims of workers that die."""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from typing import Any

from muster import Muster, MusterError
from support import WorkerTest, until

logging.disable(logging.ERROR)


class Leases(WorkerTest):
    def test_keeps_claims_longer_than_their_lease(self) -> None:
        (message_id,) = self.send('x')
        worker = self.worker(lambda message, task: task.wait(5.5), lease_seconds=5)
        self.assertEqual(self.state(message_id, 20), 'ACKED')
        self.assertEqual(worker.counts.lost, 0)
        self.assertEqual(self.muster.message.view(message_id=message_id).attempts, 1)

    def test_pauses_between_renewals_that_fail(self) -> None:
        renewals: list[Any] = []

        class Away(Muster):
            def request(self, endpoint: Any, args: Any, **options: Any) -> Any:
                if endpoint.name != 'message.renew':
                    return super().request(endpoint, args, **options)
                renewals.append(args)
                raise MusterError('UNREACHABLE', 'no answer')

        # The progress is sent with a renewal.
        worker = self.worker(lambda message, task: task.progress(1) or task.wait(1.2), Away())
        self.send('x')
        until(lambda: worker.counts.completed)
        self.assertTrue(1 < len(renewals) < 5, len(renewals))

    def test_loses_a_claim_at_the_end_of_its_lease_even_if_renewals_hang(self) -> None:
        class Hanging(Muster):
            def request(self, endpoint: Any, args: Any, **options: Any) -> Any:
                if endpoint.name != 'message.renew':
                    return super().request(endpoint, args, **options)
                (held,) = worker._tasks
                late.append(time.monotonic() + options['timeout_seconds'] - held.lease_ends_at)
                time.sleep(options['timeout_seconds'])
                raise MusterError('UNREACHABLE', 'no answer')

        late: list[float] = []
        worker = self.worker(lambda message, task: task.wait(20), Hanging(), lease_seconds=5)
        self.send('x', max_attempts=1)
        until(lambda: worker.counts.lost)
        self.assertGreater(len(late), 1)
        self.assertLess(max(late), 0.4)

    def test_counts_no_loss_if_a_renewal_comes_behind_the_end(self) -> None:
        class Late(Muster):
            """Sends the renewal once the message has been completed, and withholds that answer until then."""

            def request(self, endpoint: Any, args: Any, **options: Any) -> Any:
                if endpoint.name == 'message.renew':
                    renewing.set()
                    ended.wait(15)
                answer = super().request(endpoint, args, **options)
                if endpoint.name == 'message.complete':
                    ended.set()
                    until(lambda: not next(iter(worker._tasks)).is_renewing)
                return answer

        renewing, ended = threading.Event(), threading.Event()
        worker = self.worker(lambda message, task: task.progress(1) or renewing.wait(15), Late(), batch=False)
        self.send('x')
        until(lambda: worker.counts.completed)
        self.assertEqual(worker.counts.lost, 0)


class Killed(WorkerTest):
    def test_what_a_killed_worker_held_comes_back(self) -> None:
        ids = self.send(*[{'quick': 0.02} for _ in range(40)])
        child = self.child('9')
        for _ in range(8):
            child.stdout.readline()
        child.kill()
        child.communicate()
        child = self.child('9')
        states = [self.muster.message.view(message_id=one, wait_seconds=20) for one in ids]
        self.assertEqual({one.state for one in states}, {'ACKED'})
        # Each message was completed once, by the claim that held it.
        pids = Counter(one.result for one in states)
        self.assertEqual(sum(pids.values()), 40)
        child.terminate()
        child.communicate(timeout=60)
