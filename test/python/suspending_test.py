"""Handlers that wait without a worker."""

from __future__ import annotations

import pickle
import unittest
from typing import Any

from muster import Claim, JoinedSend, JoinFailed, PrerequisiteResult, Task
from muster._arguments import given
from support import WorkerTest, until


class Suspending(WorkerTest):
    def joins(self, *payloads: Any) -> list[JoinedSend]:
        return [{'mailbox': {'mailbox_id': self.mailbox_id}, 'payload': payload} for payload in payloads]

    def test_waits_for_runs_groups_and_the_records_of_sends(self) -> None:
        run = self.muster.scope.create().id
        held = self.muster.mailbox.create(name=f'{self.name} held')
        sent = self.muster.message.send(mailbox_id=held.id, scope_id=run, payload=1)

        def handle(message: Claim, task: Task) -> Any:
            if message.suspension is None:
                task.suspend(after=[sent, {'scopeId': run}], timeout_seconds=600)
            return [[one.message_id, one.scope_id, one.state] for one in message.suspension.after]

        self.worker(handle)
        (message_id,) = self.send('x')
        until(lambda: self.state(message_id) == 'BLOCKED')
        self.muster.scope.cancel(scope_id=run)
        ended = self.muster.message.view(message_id=message_id, wait_seconds=20)
        self.assertEqual(ended.result, [[sent.id, None, 'CANCELLED'], [None, run, 'CANCELLED']])

    def test_a_send_after_a_run_has_it_among_its_results(self) -> None:
        run = self.muster.scope.create().id
        self.worker(lambda _, task: [[one.scope_id, one.state, one.result] for one in task.results()])
        (message_id,) = self.send('x', after=[{'scopeId': run}])
        ended = self.muster.message.view(message_id=message_id, wait_seconds=20)
        self.assertEqual(ended.result, [[run, 'IDLE', None]])

    def test_gives_each_join_its_own_results_though_another_was_waited_for_last(self) -> None:
        held = self.muster.mailbox.create(name=f'{self.name} held').id

        def handle(message: Claim, task: Task) -> Any:
            if message.payload != 'joins':
                return message.payload
            try:
                task.join('late', [{'mailbox': {'mailbox_id': held}, 'payload': 'late'}], timeout_seconds=1)
            except JoinFailed:
                return task.join('own', self.joins('own'))

        self.worker(handle)
        (message_id,) = self.send('joins')
        self.assertEqual(self.muster.message.view(message_id=message_id, wait_seconds=20).result, ['own'])

    def test_takes_fifty_messages_and_a_number_of_seconds(self) -> None:
        def handle(message: Claim, task: Task) -> Any:
            if message.payload != 'joins':
                return message.payload
            for call in (lambda: task.join('a', self.joins(*range(51))), lambda: task.sleep('b', float('nan'))):
                self.assertRaises(ValueError, call)
            return task.join('c', self.joins(*range(50)))

        self.worker(handle, concurrency=10)
        (message_id,) = self.send('joins')
        until(lambda: self.state(message_id, 20) == 'ACKED')
        self.assertEqual(self.muster.message.view(message_id=message_id).result, list(range(50)))

    def test_a_failed_join_can_be_sent_to_another_process(self) -> None:
        error = JoinFailed('a', [PrerequisiteResult('m', None, 'ACKED', 1), PrerequisiteResult('n', None, None, None)])
        self.assertEqual(str(error), '1 of 2 messages of the join a did not succeed: removed')
        copy = pickle.loads(pickle.dumps(error))
        self.assertEqual((str(copy), copy.results), (str(error), error.results))


class Limited(WorkerTest):
    def test_ends_the_waits_of_a_handler_when_the_time_of_its_attempt_has_passed(self) -> None:
        why: list[str] = []

        def handle(message: Claim, task: Task) -> None:
            if message.attempt == 1:
                try:
                    task.wait(60)
                finally:
                    why.append(str(task._task.reason))

        worker = self.worker(handle)
        (message_id,) = self.send('x', attempt_seconds=1)
        until(lambda: self.state(message_id, 20) == 'ACKED')
        self.assertEqual((why, worker.counts.lost), (["the attempt's time has ended (attemptSeconds)"], 1))


class Arguments(unittest.TestCase):
    def test_what_after_takes(self) -> None:
        cases: list[tuple[Any, dict[str, Any]]] = [
            ('m', {'messageId': 'm'}),
            ({'scopeId': 's'}, {'scopeId': 's'}),
            ({'scopeId': 's', 'id': 'm'}, {'messageId': 'm'}),
            ({'scopeId': 's', 'groupId': 'g'}, {'groupId': 'g'}),
        ]
        for one, wanted in cases:
            self.assertEqual(given({'after': [one]}), {'after': [wanted]})
        self.assertRaisesRegex(TypeError, 'groupId or scopeId', given, {'after': [{'x': 1}]})
