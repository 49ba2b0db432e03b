"""Handlers that ask."""

from __future__ import annotations

import asyncio
import time
from typing import Any

from muster import AsyncMuster, AsyncTask, AsyncWorker, Claim, GivenAnswer, Question, Task, Worker
from support import ServerTest, until


class Asking(ServerTest):
    def open_of(self, message_id: str) -> Question:
        """The question that a message waits for."""
        while True:
            questions = self.muster.question.list(message_id=message_id, state='OPEN').questions
            if questions:
                return questions[0]
            time.sleep(0.01)

    def answer(self, question: Question, answer: Any) -> None:
        self.muster.question.answer(question_id=question.id, answer=answer, answered_by='ann')

    def test_ends_the_attempt_and_goes_on_with_the_answer_as_often_as_it_asks(self) -> None:
        attempts: list[tuple[int, Any]] = []

        def handle(message: Claim, task: Task) -> Any:
            attempts.append((message.attempt, message.progress))
            answer = task.answer or task.ask('Publish?', options=['yes', 'no'])
            if answer.question == 'Publish?':
                task.progress({'publish': answer.value})
                task.ask({'text': 'Where?'}, expires_in_seconds=60, on_expiry='FAIL')
            return [message.progress, answer._asdict()]

        for batch in (True, False):
            attempts.clear()
            with Worker(self.muster, self.name, handle, batch=batch) as worker:
                [message_id] = self.send(1)
                first = self.open_of(message_id)
                self.assertEqual(first.options, ['yes', 'no'])
                self.answer(first, 'yes')
                until(lambda: self.open_of(message_id).id != first.id)
                self.answer(self.open_of(message_id), ['blog'])
                message = self.muster.message.view(message_id=message_id, wait_seconds=20)
                until(lambda: worker.counts.completed == 1)
            expected = GivenAnswer({'text': 'Where?'}, ['blog'], 'ann', False)._asdict()
            self.assertEqual(message.result, [{'publish': 'yes'}, expected])
            self.assertEqual(attempts, [(1, None), (1, None), (1, {'publish': 'yes'})])
            self.assertEqual((worker.counts.asked, worker.counts.returned, worker.counts.failed), (2, 0, 0))

    def test_keeps_the_place_of_its_key_until_it_has_its_answer_or_yields_it(self) -> None:
        for yields_key in (True, None):
            mailbox = self.muster.mailbox.create(name=f'{self.name} {yields_key}', per_key=1)
            handled: list[Any] = []

            def handle(message: Claim, task: Task, handled: list[Any] = handled, yields: bool | None = yields_key) -> None:
                if message.payload == 'asks' and not task.answer:
                    task.ask('?', yields_key=yields)
                handled.append(message.payload)

            def send(payload: str, to: str = mailbox.id) -> str:
                return self.muster.message.send(mailbox_id=to, scope_id=self.scope_id, payload=payload, key='k').id

            with Worker(self.muster, mailbox.name, handle, concurrency=2):
                asks = send('asks')
                question = self.open_of(asks)
                behind = send('behind')
                if yields_key:
                    self.muster.message.view(message_id=behind, wait_seconds=20)
                self.answer(question, 1)
                for message_id in (asks, behind):
                    self.muster.message.view(message_id=message_id, wait_seconds=20)
            self.assertEqual(handled, ['behind', 'asks'] if yields_key else ['asks', 'behind'])

    def test_asks_whatever_else_it_does_and_gives_its_money_back(self) -> None:
        budget = self.muster.budget.create(name=self.name, currency='EUR', scale=2, limit_minor='100')

        def handle(_: Claim, task: Task) -> Any:
            reservation = task.reserve(self.name, 60)
            if task.answer:
                reservation.settle(10)
                return task.answer.value
            try:
                task.ask('Well?')
            except Exception:
                pass
            return 'not this'

        with Worker(self.muster, self.name, handle):
            [message_id] = self.send(1)
            question = self.open_of(message_id)
            self.assertEqual(self.muster.budget.view(budget_id=budget.id).balances.reserved, '0')
            self.answer(question, 7)
            self.assertEqual(self.muster.message.view(message_id=message_id, wait_seconds=20).result, 7)
        self.assertEqual(self.muster.budget.view(budget_id=budget.id).balances.settled, '10')

    def test_gives_the_message_back_where_its_question_is_refused(self) -> None:
        def handle(message: Claim, task: Task) -> Any:
            return message.last_error if message.attempt > 1 else task.ask('x' * 5000)

        with Worker(self.muster, self.name, handle) as worker:
            [message_id] = self.send(1)
            result = self.muster.message.view(message_id=message_id, wait_seconds=20).result
            self.assertIn('question is larger than 4096 bytes', result)
            until(lambda: worker.counts.completed == 1)
        self.assertEqual((worker.counts.asked, worker.counts.returned), (0, 1))

    def test_asks_in_asyncio(self) -> None:
        async def handle(_: Claim, task: AsyncTask) -> Any:
            answer = task.answer or await task.ask('Publish?')
            return answer.value

        async def main() -> Any:
            muster = AsyncMuster()
            async with AsyncWorker(muster, self.name, handle) as worker:
                [message_id] = await asyncio.to_thread(self.send, 1)
                question = await asyncio.to_thread(self.open_of, message_id)
                await muster.question.answer(question_id=question.id, answer='yes', answered_by='ann')
                message = await muster.message.view(message_id=message_id, wait_seconds=20)
                return message.result, worker.counts.asked

        self.assertEqual(asyncio.run(main()), ('yes', 1))
