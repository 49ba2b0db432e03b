"""Testing handlers: with a task that records their calls, and against a real server."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
import unittest
from collections.abc import Callable
from typing import Any

from muster import (
    AsyncTask,
    ClaimLost,
    GiveUp,
    JoinedSend,
    JoinFailed,
    Muster,
    MusterError,
    RetryLater,
    Spend,
    Suspended,
    Task,
    Worker,
)
from muster.testing import TestClock, TestEnd, TestHold, TestServer, TestTask, claimed


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
    lambda _, task: task.suspend(delay_seconds=60),
    lambda _, task: task.sleep('nap', 60),
    lambda _, task: task.join('parts', [{'mailbox': 'parts', 'payload': 1}]),
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

    def test_calls_are_recorded_and_money_and_units_counted(self) -> None:
        task = TestTask(None)
        asked = Spend(budget='llm', quota='tokens', amount_minor=100, units=50)

        def pay(message: Any, task: Task) -> None:
            task.units('search', 3)
            with task.reserve('llm', 400) as reservation:
                if message.attempt == 1:
                    raise ValueError('the model is away')
                reservation.settle(120)
            task.spend(asked, lambda call: call.used(units=20, amount_minor=30))
            task.run.note('paid').put(True)
            task.reserve('rent', 7)

        self.assertEqual((task.run(pay).state, task.spent), ('READY', {}))
        self.assertEqual(task.run(pay).state, 'ACKED')
        self.assertEqual((task.spent, task.units), ({'llm': 150, 'rent': 7}, {'search': 6, 'tokens': 20}))
        (put,) = [one.fields for one in task.calls if one.call == 'note.put']
        claim = {'scopeId': task.message.scope_id, 'messageId': task.message.id, 'token': task.message.token}
        self.assertEqual(put, {**claim, 'key': 'paid', 'value': True})
        names = {one.call for one in task.calls}
        self.assertLessEqual({'allowance.wait', 'budget.reserve', 'budget.void'}, names)
        self.assertFalse([name for name in names if name.startswith('message.')])

    def test_a_handler_sends_and_holds_through_its_context(self) -> None:
        task = TestTask({'text': 'one two'})

        def plan(t: Any) -> None:
            group = t.group.create(mailbox_id='reviews', condition='ALL_TERMINAL')
            t.task.submit(group_id=group.id, task_key='a', input=1)
            t.message.send(mailbox_id='log', scope_id='other', payload='finished')

        def handle(message: Any, task: Task) -> Any:
            words = message.payload['text'].split(' ')
            task.send('words', words, work_key=message.id)
            with task.hold('deploys', 2) as hold:
                fence = hold.fence
            calls = task.muster.call.message
            (sent,) = task.muster.batch([calls.send(mailbox_id='log', scope_id='other', payload='batched')])
            assert sent.ok
            return task.finish(len(words) + fence, plan)

        async def handle_async(message: Any, task: AsyncTask) -> Any:
            words = message.payload['text'].split(' ')
            await task.send('words', words, work_key=message.id)
            async with task.hold('deploys', 2) as hold:
                fence = hold.fence
            calls = task.muster.call.message
            (sent,) = await task.muster.batch([calls.send(mailbox_id='log', scope_id='other', payload='batched')])
            assert sent.ok
            return task.finish(len(words) + fence, plan)

        def check(task: TestTask, end: TestEnd) -> None:
            self.assertEqual((end.state, end.result), ('ACKED', 3))
            other = {'mailboxId': 'log', 'scopeId': 'other'}
            self.assertEqual(
                task.sent,
                [
                    {
                        'mailboxId': 'words',
                        'scopeId': task.message.scope_id,
                        'payload': ['one', 'two'],
                        'workKey': task.message.id,
                    },
                    {**other, 'payload': 'batched'},
                    {**other, 'payload': 'finished'},
                ],
            )
            self.assertEqual([one.call for one in end.plan], ['group.create', 'task.submit', 'message.send'])
            self.assertEqual(end.plan[1].fields['groupId'], {'$from': 1})
            (acquired,) = [one.fields for one in task.calls if one.call == 'pool.acquire']
            asked = {name: acquired[name] for name in ('poolId', 'units', 'holderSession')}
            self.assertEqual(asked, {'poolId': 'deploys', 'units': 2, 'holderSession': task.message.id})
            self.assertIn('hold.release', [one.call for one in task.calls])

        check(task, task.run(handle))
        again = TestTask({'text': 'one two'})
        check(again, asyncio.run(again.run_async(handle_async)))

    def test_a_refused_plan_gives_the_message_back(self) -> None:
        def refuse(fields: Any) -> Any:
            if fields['payload'] == 1:
                raise MusterError('BACKLOG_FULL', 'it is full')
            return {'id': 'sent'}

        sent: dict[str, Any] = {'mailbox_id': 'a', 'scope_id': 'b'}
        task = TestTask(None, answers={'message.send': refuse})
        end = task.run(lambda _, one: one.finish(1, lambda t: t.message.send(**sent, payload=1)))
        self.assertEqual((end.state, end.result, end.plan, end.error), ('READY', None, (), 'MusterError: BACKLOG_FULL: it is full'))

        def batch(_: Any, one: Task) -> Any:
            calls = [one.muster.call.message.send(**sent, payload=payload) for payload in (1, 2)]
            return [result.error.code if result.error else result.answer.id for result in one.muster.batch(calls)]

        self.assertEqual(task.run(batch).result, ['BACKLOG_FULL', 'sent'])

    def test_answers_are_those_of_the_test(self) -> None:
        def refuse(_: Any) -> Any:
            raise MusterError('INSUFFICIENT_BUDGET', 'too little', retry_after_seconds=9)

        task = TestTask(None, answers={'budget.reserve': refuse, 'message.send': lambda fields: {'id': 'sent'}})
        end = task.run(lambda _, one: one.reserve('llm', 1))
        self.assertEqual((end.state, end.delay_seconds, task.message.attempts), ('DELAYED', 9, 0))
        self.assertIsInstance(end.raised, MusterError)
        sent = {'mailbox_id': 'box', 'scope_id': 'run', 'payload': 1}
        end = task.run(lambda _, one: one.finish('done', lambda t: t.message.send(**sent)))
        self.assertEqual((end.state, task.calls[-1].call, task.calls[-1].fields['payload']), ('ACKED', 'message.send', 1))

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

    def test_a_join_is_sent_and_then_has_the_results_of_the_test(self) -> None:
        def handle(message: Any, task: Task) -> Any:
            sends: list[JoinedSend] = [{'mailbox': 'pages', 'payload': url, 'priority': 1} for url in message.payload]
            pages = task.join('pages', sends, timeout_seconds=60)
            return [pages, task.join('index', [{'mailbox': 'index', 'payload': pages}])]

        async def handle_async(message: Any, task: AsyncTask) -> Any:
            sends: list[JoinedSend] = [{'mailbox': 'pages', 'payload': url, 'priority': 1} for url in message.payload]
            pages = await task.join('pages', sends, timeout_seconds=60)
            return [pages, await task.join('index', [{'mailbox': 'index', 'payload': pages}])]

        def check(task: TestTask, run: Callable[[TestTask], TestEnd]) -> None:
            end = run(task)
            self.assertEqual((end.state, type(end.raised), end.question), ('BLOCKED', Suspended, None))
            suspension = end.suspension or {}
            self.assertEqual((suspension['timeoutSeconds'], len(suspension['after'])), (60, 2))
            sent = [(one['mailboxId'], one['payload'], one['priority'], one['workKey']) for one in task.sent]
            keys = [f'{task.message.id}/pages/{index}' for index in range(2)]
            self.assertEqual(sent, [('pages', 'a', 1, keys[0]), ('pages', 'b', 1, keys[1])])
            self.assertRaisesRegex(RuntimeError, 'call wake', run, task)
            self.assertRaises(ValueError, task.wake, results=[1])
            task.wake(results=[1, {'n': 2}])
            self.assertEqual((run(task).state, task.sent[2]['payload'], len(task.sent)), ('BLOCKED', [1, {'n': 2}], 3))
            task.wake(results=['made'])
            self.assertEqual((run(task).result, task.message.attempts), ([[1, {'n': 2}], ['made']], 1))
            self.assertEqual((len(task.sent), task.notes), (3, {}))
            self.assertRaises(RuntimeError, task.wake)

        check(TestTask(['a', 'b']), lambda task: task.run(handle))
        check(TestTask(['a', 'b']), lambda task: asyncio.run(task.run_async(handle_async)))

    def test_a_join_is_told_what_failed_or_came_too_late(self) -> None:
        def handle(_: Any, task: Task) -> Any:
            try:
                return task.join('pages', [{'mailbox': 'pages', 'payload': one} for one in 'ab'], timeout_seconds=60)
            except JoinFailed as error:
                return [[one.state for one in found] for found in (error.results, error.failed)]

        failed, late = TestTask(None), TestTask(None)
        failed.run(handle)
        failed.wake(states=['ACKED', 'FAILED'])
        self.assertEqual(failed.run(handle).result, [['ACKED', 'FAILED'], ['FAILED']])
        before = late.clock.now
        late.run(handle)
        late.wake(by='TIMEOUT', states=['ACKED', None])
        self.assertEqual(late.run(handle).result, [['ACKED', 'READY'], ['READY']])
        self.assertEqual((late.clock.now - before).total_seconds(), 60)
        ends = TestTask(None)
        ends.run(lambda _, one: one.join('a', [{'mailbox': 'b', 'payload': 1}], on_timeout='FAIL'))
        ends.wake(by='TIMEOUT')
        self.assertRaisesRegex(RuntimeError, 'it is FAILED', ends.run, handle)

    def test_a_sleep_ends_with_the_clock_and_a_suspension_says_what_it_waits_for(self) -> None:
        def handle(message: Any, task: Task) -> Any:
            task.progress('asleep')
            task.sleep('nap', 3600)
            if message.suspension.until:
                task.suspend(after=[{'scopeId': 'run'}, {'groupId': 'g'}], note={'key': 'go', 'sinceVersion': 0}, any=True)
            return [message.progress, message.suspension.woken_by, [one.state for one in message.suspension.after]]

        task = TestTask(None)
        self.assertEqual(task.run(handle).suspension, {'delaySeconds': 3600})
        before = task.clock.now
        end = task.run(handle)
        self.assertEqual((task.clock.now - before).total_seconds(), 3600)
        self.assertRaises(RuntimeError, task.run, handle)
        note = {'key': 'go', 'sinceVersion': 0}
        self.assertEqual(end.suspension, {'after': [{'scopeId': 'run'}, {'groupId': 'g'}], 'note': note, 'any': True})
        task.wake(states=['CANCELLED', None])
        self.assertEqual(task.run(handle).result, ['asleep', 'CONDITION', ['CANCELLED', None]])
        again = TestTask(None)
        again.run(handle)
        again.wake()
        self.assertEqual((again.run(handle).state, again.message.attempts), ('BLOCKED', 0))

    def test_a_join_that_is_refused_has_sent_nothing(self) -> None:
        def refuse(_: Any) -> Any:
            raise MusterError('BACKLOG_FULL', 'it is full')

        task = TestTask(None, answers={'message.send': refuse})
        end = task.run(lambda _, one: one.join('a', [{'mailbox': 'b', 'payload': 1}]))
        self.assertEqual((end.state, end.suspension, task.notes), ('READY', None, {}))
        self.assertEqual(end.error, 'MusterError: BACKLOG_FULL: it is full')

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
        requeue: Callable[[Any, Task], Any] = lambda _, one: one.muster.message.requeue(message_id='a')
        self.assertRaisesRegex(RuntimeError, 'message.requeue: put it into answers', TestTask(None).run, requeue)
        # An answer to a held view would be a rule of the service.
        self.assertRaisesRegex(RuntimeError, 'note.view', TestTask(None).run, lambda _, one: one.run.note('go').changed(0))
        mistake = TestTask(None, answers={'note.view': lambda fields: fields['missing']})
        self.assertRaises(KeyError, mistake.run, lambda _, one: one.run.note('go').get())

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
