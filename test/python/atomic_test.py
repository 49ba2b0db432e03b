"""Atomic batches: `muster.atomic`, and `task.finish` of both workers."""

from __future__ import annotations

import asyncio
import pickle
import time
import unittest
import uuid

from muster import AsyncMuster, AsyncTask, AsyncWorker, AtomicCalls, Claim, MusterError, Task
from support import ServerTest, WorkerTest, until


class AtomicTest(ServerTest):
    def test_uses_ids_that_do_not_exist_yet_and_answers_each_call(self) -> None:
        with self.muster.atomic() as t:
            run = t.scope.create(name='night')
            first = t.message.send(mailbox_id=self.mailbox_id, scope_id=run.id, payload={'$from': 0})
            second = t.message.send(mailbox_id=self.mailbox_id, scope_id=run.id, payload=2, after=[first.id])
            t.mailbox.view(mailbox_id=self.mailbox_id, expect={'counts': {'blocked': 1}})
            view = t.message.view(message_id=second.id, expect={'scopeId': run.id})
            with self.assertRaises(ValueError):
                view.answer
            with self.assertRaises(AttributeError):
                run.state
        self.assertEqual(run.answer.name, 'night')
        self.assertEqual((view.answer.state, view.answer.scope_id), ('BLOCKED', run.answer.id))
        self.assertEqual(self.muster.message.view(message_id=first.answer.id).payload, {'$from': 0})

    def test_sends_nothing_if_its_block_raises_or_plans_nothing(self) -> None:
        with self.assertRaises(KeyError):
            with self.muster.atomic() as t:
                t.message.send(mailbox_id=self.mailbox_id, scope_id=self.scope_id, payload=1)
                raise KeyError
        with self.muster.atomic():
            pass
        self.assertEqual(self.muster.mailbox.view(mailbox_id=self.mailbox_id).counts.ready, 0)

    def test_says_which_call_was_refused_and_nothing_has_happened(self) -> None:
        def plan() -> None:
            with self.muster.atomic() as t:
                t.message.send(mailbox_id=self.mailbox_id, scope_id=self.scope_id, payload=1)
                t.mailbox.view(mailbox_id=self.mailbox_id, expect={'counts': {'ready': 7}})

        error = self.fails('EXPECTATION_FAILED', plan)
        self.assertEqual((error.index, error.call), (1, 'mailbox.view'))
        again: MusterError = pickle.loads(pickle.dumps(error))
        self.assertEqual((again.code, again.index, again.call), (error.code, 1, 'mailbox.view'))
        self.assertEqual(self.muster.mailbox.view(mailbox_id=self.mailbox_id).counts.ready, 0)

    def test_does_nothing_twice_under_its_key(self) -> None:
        answers = []
        for _ in range(2):
            with self.muster.atomic(idempotency_key=f'once-{self.scope_id}') as t:
                sent = t.message.send(mailbox_id=self.mailbox_id, scope_id=self.scope_id, payload=1)
                view = t.message.view(message_id=sent.id)
            answers.append((sent.answer.id, view.answer))
        self.assertEqual(answers[0][0], answers[1][0])
        self.assertEqual(answers[0][1].id, answers[0][0])
        self.assertIsNone(answers[1][1])

    def test_works_in_asyncio_programs(self) -> None:
        async def main() -> None:
            async with AsyncMuster() as muster:
                async with muster.atomic() as t:
                    run = t.scope.create()
                    sent = t.message.send(mailbox_id=self.mailbox_id, scope_id=run.id, payload=1)
                    view = t.message.view(message_id=sent.id)
                self.assertEqual(view.answer.scope_id, run.answer.id)

        asyncio.run(main())


class FinishTest(WorkerTest):
    def budget(self) -> str:
        return self.muster.budget.create(name=str(uuid.uuid4()), currency='EUR', scale=2, limit_minor=10).id

    def next(self) -> str:
        return self.muster.mailbox.create(name=str(uuid.uuid4())).id

    def test_completes_a_message_together_with_what_belongs_to_it(self) -> None:
        budget_id, next_id = self.budget(), self.next()

        def handle(message: Claim, task: Task) -> str:
            def plan(t: AtomicCalls) -> None:
                spending = {'budget_id': budget_id, 'work_key': message.id}
                reserved = t.budget.reserve(scope_id=self.scope_id, holder='h', amount_minor=7, **spending)
                t.budget.settle(reservation_id=reserved.id, amount_minor=4, **spending)
                t.message.send(mailbox_id=next_id, scope_id=self.scope_id, payload='next', after=[message.id])

            return task.finish('done', plan)

        ids = self.send(1, 2)
        worker = self.worker(handle, lease_seconds=5)
        # The budget is too small for the second message: none of its calls happens, and it is given back.
        while worker.counts.completed + worker.counts.returned < 2:
            time.sleep(0.01)
        worker.close(0)
        done = [self.muster.message.view(message_id=one) for one in ids]
        self.assertEqual([(one.state, one.result) for one in done], [('ACKED', 'done'), ('DELAYED', None)])
        self.assertEqual(done[1].attempts, 0)
        self.assertIn('INSUFFICIENT_BUDGET', done[1].last_error or '')
        balances = self.muster.budget.view(budget_id=budget_id).balances
        self.assertEqual((balances.settled, balances.reserved), ('4', '3'))
        self.assertEqual(self.muster.mailbox.view(mailbox_id=next_id).counts.ready, 1)

    def test_of_a_call_that_is_lost_gives_the_message_back(self) -> None:
        missing = str(uuid.uuid4())

        def handle(message: Claim, task: Task) -> str:
            return task.finish('done', lambda t: t.message.view(message_id=missing))

        (message_id,) = self.send(1, max_attempts=1)
        worker = self.worker(handle)
        self.assertEqual(self.state(message_id, wait_seconds=20), 'FAILED')
        self.assertIn('MESSAGE_NOT_FOUND', self.muster.message.view(message_id=message_id).last_error or '')
        until(lambda: worker.counts.failed)
        self.assertEqual((worker.counts.failed, worker.counts.lost), (1, 0))

    def test_completes_in_asyncio_programs(self) -> None:
        next_id = self.next()

        async def handle(message: Claim, task: AsyncTask) -> int:
            return task.finish(
                1, lambda t: t.message.send(mailbox_id=next_id, scope_id=message.scope_id, payload=message.payload)
            )

        async def main() -> None:
            async with AsyncMuster() as muster:
                async with AsyncWorker(muster, self.name, handle, scope_id=self.scope_id, close_on_signals=False) as worker:
                    await worker.drained()

        ids = self.send(*range(20))
        asyncio.run(main())
        self.assertEqual({self.state(one) for one in ids}, {'ACKED'})
        self.assertEqual(self.muster.mailbox.view(mailbox_id=next_id).counts.ready, 20)


if __name__ == '__main__':
    unittest.main()
