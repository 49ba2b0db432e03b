"""Claims that last longer than a lease, and claims of workers that die."""

from __future__ import annotations

import logging
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
        child.communicate(timeout=15)
