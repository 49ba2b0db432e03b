"""Testing handlers: with a task that behaves like a server, and against a real server."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
import unittest
from collections.abc import Callable
from typing import Any

from muster import AsyncTask, ClaimLost, GiveUp, ModelCall, Muster, MusterError, RetryLater, Spend, Task, Worker
from muster.testing import TestClock, TestHold, TestServer, TestTask, claimed


def fails(_: Any, task: Task) -> None:
    raise TypeError('no\nidea')


def later(_: Any, task: Task) -> None:
    raise RetryLater(20, 'busy')


def untried(_: Any, task: Task) -> None:
    raise RetryLater(0, 'no quota', counts_attempt=False)


def gives_up(_: Any, task: Task) -> None:
    raise GiveUp('unreadable')


def reports(_: Any, task: Task) -> None:
    task.progress({'read': 100})
    raise ValueError('cut')


def keeps(_: Any, task: Task) -> Any:
    task.run.note('plan').put([1])
    return [task.once('fetch', lambda: {'page': 1}), task.run.note('plan').update(lambda plan: [plan, 2])]


HANDLERS: list[Callable[[Any, Task], Any]] = [
    lambda message, _: {'of': message.payload, 'list': [1, None]},
    lambda _, __: None,
    lambda _, __: {1},
    lambda _, task: task.ask('Publish?', options=['yes', 'no']),
    *(fails, later, untried, gives_up, reports, keeps),
]


class Testing(unittest.TestCase):
    server: TestServer

    @classmethod
    def setUpClass(cls) -> None:
        cls.server = TestServer()
        cls.addClassCleanup(cls.server.stop)

    def served(self, muster: Muster, handler: Callable[[Any, Task], Any]) -> tuple[Any, ...]:
        """Returns the outcome of a message after one attempt by a worker of the server."""
        mailbox = muster.mailbox.create(name='fates')
        sent = muster.message.send(mailbox_id=mailbox.id, scope_id=mailbox.id, payload={'n': 1})
        done = threading.Event()

        def once(message: Any, task: Task) -> Any:
            muster.mailbox.pause(mailbox_id=mailbox.id)
            done.set()
            return handler(message, task)

        with Worker(muster, {'mailbox_id': mailbox.id}, once, close_on_signals=False):
            done.wait()
        message = muster.message.view(message_id=sent.id)
        return message.state, message.result, message.last_error, message.progress, message.attempts

    def test_a_task_ends_as_a_message_does(self) -> None:
        for handler in HANDLERS:
            with self.subTest(handler.__name__):
                task = TestTask({'n': 1})
                end = task.run(handler)
                fate = end.state, end.result, end.error, task.message.progress, task.message.attempts
                self.assertEqual(fate, self.served(self.server.space(), handler))

    def test_attempts_follow_each_other_until_the_message_has_ended(self) -> None:
        clock, steps = TestClock(), []
        task = TestTask({'file': 'a.txt'}, clock=clock, max_attempts=3)

        def handle(message: Any, task: Task) -> str:
            task.once('count', lambda: steps.append(1))
            if message.attempt == 1:
                task.progress('half')
                raise RetryLater(30, 'busy')
            answer = task.answer or task.ask('Sure?')
            return f'{message.payload["file"]} {answer.value} by {answer.answered_by}, {message.progress}'

        before = clock.now
        self.assertEqual((task.run(handle).state, task.run(handle).question), ('DELAYED', 'Sure?'))
        self.assertEqual((clock.now - before).total_seconds(), 30)
        self.assertRaises(RuntimeError, task.run, handle)
        task.answer('yes', 'ann')
        self.assertEqual(task.run(handle).result, 'a.txt yes by ann, half')
        self.assertEqual((steps, task.notes), ([1], {}))
        self.assertRaises(RuntimeError, task.run, handle)

    def test_money_and_units_are_counted(self) -> None:
        task = TestTask(None, budgets={'llm': 500})

        def pay(message: Any, task: Task) -> None:
            task.units('search', 3)
            with task.reserve('llm', 400) as reservation:
                if message.attempt == 1:
                    raise ValueError('the model is away')
                reservation.settle(120)
            task.reserve('llm', 400)

        self.assertEqual((task.run(pay).state, task.spent), ('READY', {}))
        end = task.run(pay)
        self.assertIsInstance(end.raised, MusterError)
        self.assertEqual((task.spent, task.units), ({'llm': 120}, {'search': 6}))
        task = TestTask(None)
        asked = Spend(budget='llm', quota='tokens', amount_minor=100, units=50)
        task.run(lambda _, one: one.spend(asked, lambda call: call.used(units=20, amount_minor=30)))
        self.assertEqual((task.spent, task.units), ({'llm': 30}, {'tokens': 20}))

    def test_what_a_dead_attempt_has_reserved_is_settled_once_its_settle_by_has_passed(self) -> None:
        task = TestTask(None)

        def die(_: Any, one: Task) -> None:
            one.reserve('llm', 400, settle_by=task.clock.after(900), on_overdue='SETTLE')
            one.reserve('rent', 1, settle_by=task.clock.after(900))
            task.lose()
            one.wait(60)

        self.assertEqual(task.run(die).state, 'LOST')
        task.clock.advance(899)
        self.assertEqual(task.spent, {})
        task.clock.advance(1)
        self.assertEqual(task.spent, {'llm': 400})

    def test_a_model_call_finds_what_earlier_attempts_have_left(self) -> None:
        task = TestTask(None)
        asked = Spend(budget='llm', amount_minor=100)
        seen: list[list[str]] = []

        def call_model(message: Any, one: Task) -> None:
            def work(call: ModelCall) -> None:
                seen.append([f'{left.state} {left.settled_minor}' for left in call.earlier()])
                if message.attempt < 3:
                    raise ValueError('who knows what it has cost')
                call.used(amount_minor=30)

            one.spend(asked, work)

        for _ in range(3):
            task.run(call_model)
        self.assertEqual(seen, [[], ['SETTLED 100'], ['SETTLED 100', 'SETTLED 100']])
        self.assertEqual(task.spent, {'llm': 230})

    def test_a_claim_is_lost_when_it_is_taken_and_past_its_deadline(self) -> None:
        clock = TestClock()
        late = TestTask(None, clock=clock, deadline=clock.after(60))

        def wait(message: Any, task: Task) -> None:
            clock.advance(61)
            task.wait(10)

        end = late.run(wait)
        self.assertEqual(end.state, 'LOST')
        self.assertIsInstance(end.raised, ClaimLost)
        taken = TestTask(None)

        def lose(message: Any, task: Task) -> None:
            taken.lose()
            task.wait(10)

        self.assertEqual(taken.run(lose).state, 'LOST')

    def test_results_notes_and_answers_that_came_too_late(self) -> None:
        task = TestTask(None, results=[{'found': 3}, None], notes={'plan': 'a'})
        self.assertEqual(task.run(lambda _, one: one.ask('Go?', expires_in_seconds=60)).state, 'BLOCKED')
        task.clock.advance(60)
        end = task.run(
            lambda _, one: [
                [result.result for result in one.results()],
                one.run.note('plan').get(),
                one.answer is not None and one.answer.is_expired,
            ]
        )
        self.assertEqual(end.result, [[{'found': 3}, None], 'a', True])

    def test_a_note_is_waited_for_without_asking_again_and_again(self) -> None:
        task, views = TestTask(None, notes={'plan': 'a'}), 0
        view = task._memory._answers['note.view']

        def counted(args: Any) -> Any:
            nonlocal views
            views += 1
            return view(args)

        def handle(message: Any, one: Task) -> None:
            note = one.run.note('plan')
            for change in (lambda: note.put('b'), task.lose):
                found = note.view()
                assert found is not None
                threading.Timer(0.1, change).start()
                note.changed(found.version)

        task._memory._answers['note.view'] = counted
        self.assertEqual(task.run(handle).state, 'LOST')
        # The second wait ends without a view.
        self.assertEqual(views, 3)

    def test_async_handlers(self) -> None:
        async def handle(message: Any, task: AsyncTask) -> Any:
            if message.attempt == 1:
                raise RetryLater(5, 'busy')
            return await task.once('fetch', fetch)

        async def fetch() -> str:
            return 'page'

        async def both() -> None:
            task = TestTask(None)
            self.assertEqual((await task.run_async(handle)).delay_seconds, 5)
            self.assertEqual((await task.run_async(handle)).result, 'page')

        asyncio.run(both())

    def test_messages_and_holds(self) -> None:
        message = claimed({'a': 1}, attempt=2, last_error='busy')
        self.assertEqual((message.payload, message.attempt, message.last_error), ({'a': 1}, 2, 'busy'))
        self.assertRaises(TypeError, claimed, None, colour='red')
        hold = TestHold(fence=7)
        self.assertEqual((hold.fence, hold.record.fence, hold.is_lost), (7, 7, False))
        hold.lose()
        self.assertRaises(Exception, hold.check)

    def test_what_it_cannot_answer_is_said(self) -> None:
        task = TestTask(None)


        def hold(_: Any, one: Task) -> None:
            with one._claims.muster.pool('deploys').hold():
                pass

        self.assertRaisesRegex(RuntimeError, 'pool.list', task.run, hold)

    def test_spaces_see_nothing_of_each_other(self) -> None:
        self.server.muster.mailbox.create(name='here')
        other = self.server.space()
        self.assertEqual(other.mailbox.list().mailboxes, [])
        self.assertGreater(other.limits.get().requests_per_minute, 10_000)

    def test_programs_load_nothing_of_it(self) -> None:
        loaded = "import sys, muster; print([name for name in sys.modules if name.startswith('muster.testing')])"
        self.assertEqual(subprocess.check_output([sys.executable, '-c', loaded], text=True), '[]\n')

    def test_it_says_what_to_install(self) -> None:
        program = os.environ.pop('MUSTER_SERVER')
        try:
            self.assertRaisesRegex(FileNotFoundError, 'npm install --save-dev muster-server', TestServer)
        finally:
            os.environ['MUSTER_SERVER'] = program
