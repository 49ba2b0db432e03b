"""Handlers that ask."""

from __future__ import annotations

import time
from typing import Any

from muster import Claim, Question, Task, Worker
from support import ServerTest


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

