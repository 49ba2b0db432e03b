"""Tests of handlers: a task that needs no server, and a server for other tests.

```python
from muster.testing import TestServer, TestTask

task = TestTask({'file': 'a.txt'})
end = task.run(handle)  # TestEnd(state='DELAYED', delay_seconds=30, error='the disk is busy', …)
end = task.run(handle)  # the next attempt, once the delay is over by the task's clock
```
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import threading
import time
import uuid
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Literal, cast

from ._arguments import encode
from ._worker.event_loop import AsyncHandler, AsyncTask, AsyncWorker
from ._client import AsyncMuster, Muster
from ._errors import HoldLost
from ._record import member_of
from ._recorder import Clock, Recorder, TestAnswers, TestCall
from ._records import Claim, Hold
from ._transport import Stop
from ._worker.threads import Handler, Task, Worker

TestClock = Clock

_final_states = ('ACKED', 'REJECTED', 'FAILED')


def claimed(payload: Any, clock: Clock | None = None, **fields: Any) -> Claim:
    """Returns a claimed message with this payload, in its first attempt. `fields` override its fields."""
    clock = clock or Clock()
    attempt = fields.get('attempt', 1)
    nothing: dict[str, Any] = dict.fromkeys(
        'taskId groupId taskKey reason key lastError progress workKey onFailure requires question deadline readyAt '
        'result finishedAt traceparent tracestate suspension attemptSeconds attemptEndsAt'.split()
    )
    json_fields: dict[str, Any] = {
        **nothing,
        **{name: str(uuid.uuid4()) for name in ('id', 'mailboxId', 'scopeId', 'token')},
        **{name: [] for name in ('after', 'blockedBy', 'holds', 'consumptions')},
        'state': 'CLAIMED',
        'priority': 0,
        'attempts': attempt,
        'attempt': attempt,
        'maxAttempts': 5,
        'holder': 'test',
        'holderSession': 'test',
        'createdAt': clock.after(0),
        'claimedAt': clock.after(0),
        'leaseExpiresAt': clock.after(30),
        'leaseSeconds': 30,
    }
    unknown = [name for name in fields if member_of(name) not in json_fields]
    if unknown:
        raise TypeError(f'a message has no {unknown[0]}')
    given = {member_of(name): value for name, value in fields.items()}
    return Claim({**json_fields, **given, 'payload': json.loads(encode(payload))})


@dataclass(frozen=True)
class TestEnd:
    """The outcome of an attempt."""

    __test__ = False

    state: str
    """The message's state, or LOST if the claim ended before the handler did"""
    result: Any = None
    """The handler's return value as the service would store it; None unless ACKED"""
    error: str | None = None
    """The reason stored with the message; None if there is none"""
    raised: BaseException | None = None
    """The exception that the handler raised, if any"""
    delay_seconds: int = 0
    """The pause before the next attempt"""
    question: Any = None
    """The question asked; None if there is none"""
    suspension: Mapping[str, Any] | None = None
    """What the handler waits for after `suspend`, `sleep` or `join`, in the API's names: `after`, `note`, `delaySeconds`,
    `any`, `timeoutSeconds`, …; None if it does not"""
    plan: Sequence[TestCall] = ()
    """The calls that `task.finish` has made together with the completion, in order"""


class _Outcome:
    """The outcome of a handler in one attempt."""

    def __init__(self) -> None:
        self.result: Any = None
        self.raised: BaseException | None = None
        self.has_run = threading.Event()

    @contextmanager
    def watched(self) -> Generator[None, None, None]:
        """Records the exception of the handler's call, and that it has run."""
        try:
            yield
        except BaseException as error:
            self.raised = error
            raise
        finally:
            self.has_run.set()


class TestTask:
    """A claimed message for the unit test of a handler, without a server.

    The real worker runs the handler. Its calls are recorded, and get the answers that the test gives or plain ones: the
    rules of the service are those of `TestServer`.

    Args:
        payload: the message's payload
        clock: the clock for the task's times; moving it past the deadline loses the claim
        answers: answers to calls, by name, each a function of the call's fields that may raise a `MusterError`; without
            them, every budget and every quota has enough
        results: the results of its prerequisites, which `task.results()` returns
        notes: the notes of its run, by key
        fields: fields of the message: `attempt=2, progress=…`
    """

    __test__ = False

    def __init__(
        self,
        payload: Any,
        *,
        clock: Clock | None = None,
        answers: TestAnswers | None = None,
        results: Sequence[Any] = (),
        notes: Mapping[str, Any] | None = None,
        **fields: Any,
    ) -> None:
        self.clock = clock or Clock()
        earlier: dict[str, dict[str, Any]] = {str(uuid.uuid4()): {'state': 'ACKED', 'result': one} for one in results}
        after = [{'messageId': one, 'groupId': None, 'scopeId': None, 'state': 'ACKED'} for one in earlier]
        message = claimed(payload, self.clock, **{'after': after, **fields}).to_json()
        # The first run increments it to the attempt given.
        message['attempts'] = message['attempt'] - 1
        self._recorder = Recorder(message, self.clock, answers or {}, earlier)
        for key, value in (notes or {}).items():
            self._recorder.put(key, value)
        self._state = 'READY'
        self._runs = 0
        self._began_at = 0.0
        self._ran_seconds = 0.0
        """How long handlers have run, in real time"""

    @property
    def message(self) -> Claim:
        """The message in its current state, which the next attempt receives."""
        return Claim(self._recorder.claimed)

    @property
    def calls(self) -> list[TestCall]:
        """The calls that the handler has made in all attempts, through its context and `task.muster`.

        They are sends, holds, notes, steps, money, units, results and the plan of `finish`.
        """
        return list(self._recorder.calls)

    @property
    def sent(self) -> list[Mapping[str, Any]]:
        """The messages that the handler has sent in all attempts, with joins and the plan of `finish`, in the API's names.

        A mailbox has its name as its id.
        """
        return [one.fields for one in self._recorder.calls if one.call == 'message.send']

    @property
    def notes(self) -> dict[str, Any]:
        """The values of the run's notes, by key."""
        return {key: note['value'] for key, note in self._recorder.kept.items()}

    @property
    def spent(self) -> dict[str, int]:
        """The money that was settled, in minor units, by budget."""
        return dict(self._recorder.spent)

    @property
    def units(self) -> dict[str, int]:
        """The units taken, by allowance."""
        return dict(self._recorder.taken)

    def answer(self, value: Any, answered_by: str = 'somebody') -> None:
        """Answers the handler's question. The next attempt begins with the answer."""
        question = self._recorder.claimed['question']
        if question is None or question['state'] != 'OPEN':
            raise RuntimeError('the handler has asked nothing')
        self._close(state='ANSWERED', answer=value, answeredBy=answered_by, answeredVia='API')

    def wake(
        self,
        *,
        results: Sequence[Any] | None = None,
        states: Sequence[str | None] | None = None,
        by: Literal['CONDITION', 'TIMEOUT'] = 'CONDITION',
    ) -> None:
        """Lets a message continue that its handler has suspended: `task.wake(results=[1, 2])` after a join of two.

        The clock is moved to the end of its sleep, or by TIMEOUT to the end of its time. A message that only sleeps needs
        no call.

        Args:
            results: the results of the messages that it waits for, in order; default: None
            states: what has become of what it waits for, in order, None if it has not ended; default: all has ended well,
                by TIMEOUT nothing has ended
            by: what lets it continue
        """
        recorder, suspension = self._recorder, self._suspension
        if suspension is None:
            raise RuntimeError('the handler has not suspended its message')
        waited: list[dict[str, Any]] = suspension['after']
        for given in (results, states):
            if given is not None and len(given) != len(waited):
                raise ValueError(f'the handler waits for {len(waited)}, not for {len(given)}')
        is_late, after = by == 'TIMEOUT', list[dict[str, Any]]()
        for index, one in enumerate(waited):
            well = None if is_late and results is None else _well_of(one)
            state = well if states is None else states[index]
            after.append({**one, 'state': state})
            if one['messageId'] is not None:
                result = None if results is None else json.loads(encode(results[index]))
                recorder.outcomes.setdefault(one['messageId'], {}).update(state=state or 'READY', result=result)
        if is_late:
            self.clock.reach(suspension['timeoutAt'])
        elif suspension['until'] is not None and (_only_sleeps(suspension) or not suspension['any']):
            self.clock.reach(suspension['until'])
        recorder.claimed = {**recorder.claimed, 'suspension': {**suspension, 'after': after, 'wokenBy': by}}
        if is_late and recorder.suspending.get('onTimeout') == 'FAIL':
            self._state = 'FAILED'

    def lose(self) -> None:
        """Loses the claim during a run, as when a message is cancelled."""
        if self._state != 'CLAIMED':
            raise RuntimeError('no handler is running: call lose() during a run')
        self._recorder.lose()

    def run(self, handler: Handler) -> TestEnd:
        """Makes the next attempt: runs the handler in a worker. Returns the outcome."""
        outcome = _Outcome()

        def work(message: Claim, task: Task) -> Any:
            with outcome.watched():
                outcome.result = handler(message, task)
                return outcome.result

        worker = Worker(self._begin(), self._mailbox, work, batch=False, holder='test', close_on_signals=False)
        try:
            worker.start()
            self._await(worker.ended, outcome)
        finally:
            worker.close(0)
            self._finish()
        return self._end_of(outcome)

    async def run_async(self, handler: AsyncHandler) -> TestEnd:
        """Like `run`, for a handler of an `AsyncWorker`."""
        outcome = _Outcome()

        async def work(message: Claim, task: AsyncTask) -> Any:
            with outcome.watched():
                outcome.result = await handler(message, task)
                return outcome.result

        recorder = self._begin()
        async with AsyncMuster('http://muster.test', 'test', recorder.space_id) as muster:
            muster.sync = recorder
            worker = AsyncWorker(muster, self._mailbox, work, batch=False, holder='test', close_on_signals=False)
            try:
                await worker.start()
                await asyncio.get_running_loop().run_in_executor(None, self._await, worker.ended, outcome)
            finally:
                await worker.close(0)
                self._finish()
        return self._end_of(outcome)

    @property
    def _mailbox(self) -> dict[str, str]:
        return {'mailbox_id': self._recorder.claimed['mailboxId']}

    def _begin(self) -> Recorder:
        """Claims the message. Skips the delay of a DELAYED one."""
        if self._state == 'CLAIMED':
            raise RuntimeError('a run is in progress: wait for it to end')
        self._wake_in_time()
        if self._state in _final_states:
            raise RuntimeError(f'it is {self._state}: a message that has ended is not run again')
        recorder = self._recorder
        if recorder.claimed['readyAt'] is not None and not self.clock.has_passed(recorder.claimed['readyAt']):
            self.clock.advance((self._recorder.told or {}).get('delay_seconds', 0))
        question = recorder.claimed['question']
        if question is not None and question['state'] == 'OPEN':
            if not self.clock.has_passed(question['expiresAt']):
                raise RuntimeError('it waits for an answer: call answer(…), or move the clock past its expiry')
            self._close(state='EXPIRED')
        attempt = recorder.claimed['attempts'] + 1
        recorder.claimed = {
            **recorder.claimed,
            'attempt': attempt,
            'attempts': attempt,
            'readyAt': None,
            'token': str(uuid.uuid4()),
            # Attempts differ in their claimedAt, even if the clock stands still.
            # Real time has passed as well, by which the handler counts what is left of its sleep.
            'claimedAt': self.clock.after(self._ran_seconds + self._runs / 1000),
            'leaseExpiresAt': self.clock.after(recorder.claimed['leaseSeconds']),
        }
        self._runs += 1
        self._began_at = time.monotonic()
        recorder.offer()
        self._state = 'CLAIMED'
        self.clock.listeners.add(self._expire)
        return recorder

    def _await(self, ended: Stop, outcome: _Outcome) -> None:
        """Waits for the end of the attempt, or of a worker that cannot continue."""
        recorder = self._recorder
        while not (recorder.has_ended.wait(0.005) or (recorder.is_lost and outcome.has_run.is_set()) or ended.is_set()):
            pass

    def _finish(self) -> None:
        self.clock.listeners.discard(self._expire)
        self._state = (self._recorder.told or {}).get('state', 'LOST')
        self._ran_seconds += time.monotonic() - self._began_at

    def _end_of(self, outcome: _Outcome) -> TestEnd:
        if self._recorder.failures:
            raise self._recorder.failures.pop()
        told, raised = self._recorder.told, outcome.raised
        if told is None:
            return TestEnd('LOST', raised=raised)
        if told['state'] == 'ACKED':
            plan: Sequence[TestCall] = told.get('plan', ())
            return TestEnd('ACKED', json.loads(encode(outcome.result)), raised=raised, plan=plan)
        if self._suspension is not None:
            return TestEnd('BLOCKED', raised=raised, suspension=self._recorder.suspending)
        if told['state'] == 'BLOCKED':
            return TestEnd('BLOCKED', raised=raised, question=self._recorder.claimed['question']['question'])
        return TestEnd(raised=raised, **told)

    @property
    def _suspension(self) -> dict[str, Any] | None:
        """What the message waits for; None if it does not."""
        suspension: dict[str, Any] | None = self._recorder.claimed['suspension']
        return suspension if self._state == 'BLOCKED' and suspension and suspension['wokenBy'] is None else None

    def _wake_in_time(self) -> None:
        """Lets a suspended message continue that only sleeps, or whose time is up."""
        suspension = self._suspension
        if suspension is None:
            return
        if _only_sleeps(suspension):
            self.wake()
        elif suspension['any'] and suspension['until'] is not None and self.clock.has_passed(suspension['until']):
            self.wake(states=[None for _ in suspension['after']])
        elif self.clock.has_passed(suspension['timeoutAt']):
            self.wake(by='TIMEOUT')
        else:
            raise RuntimeError('it is suspended: call wake(…)')

    def _close(self, **fields: Any) -> None:
        message = self._recorder.claimed
        self._recorder.claimed = {**message, 'question': {**message['question'], **fields}}

    def _expire(self) -> None:
        deadline = self._recorder.claimed['deadline']
        if deadline is not None and self.clock.has_passed(deadline):
            self._recorder.lose()


def _well_of(after: Mapping[str, Any]) -> str:
    """Returns the state of something that has ended well."""
    if after['messageId'] is not None:
        return 'ACKED'
    return 'IDLE' if after['groupId'] is None else 'SATISFIED'


def _only_sleeps(suspension: Mapping[str, Any]) -> bool:
    return suspension['until'] is not None and not suspension['after'] and suspension['note'] is None


class TestHold:
    """A hold for the unit test of a block `with muster.pool(…).hold() as hold`."""

    __test__ = False

    def __init__(self, *, fence: int = 1, units: int = 1, clock: Clock | None = None) -> None:
        clock = clock or Clock()
        hold_id = str(uuid.uuid4())
        self.fence = fence
        self.lost = Stop()
        self.record = Hold(
            {
                'id': hold_id,
                'holdId': hold_id,
                'poolId': str(uuid.uuid4()),
                'scopeId': str(uuid.uuid4()),
                'holder': 'test',
                'holderSession': 'test',
                'units': units,
                'state': 'HELD',
                'fence': fence,
                'position': None,
                'leaseSeconds': 30,
                'leaseExpiresAt': clock.after(30),
                'expiresAt': None,
                'heldAt': clock.after(0),
                'finishedAt': None,
                'createdAt': clock.after(0),
            }
        )

    @property
    def is_lost(self) -> bool:
        """Like `Holding.is_lost`."""
        return self.lost.is_set()

    def check(self) -> None:
        """Like `Holding.check`."""
        if self.is_lost:
            raise HoldLost('the test took it away')

    def lose(self) -> None:
        """Loses the hold: sets `lost`, and `check` raises `HoldLost`."""
        self.lost.set()


class TestServer:
    """A server for tests, in a process that ends with this one: `with TestServer() as server: server.muster…`.

    It has the embedded store with a fresh space, all limits at their maxima, and may send webhooks to loopback
    addresses. It logs to stderr, but only if LOG_LEVEL is set.

    Raises:
        FileNotFoundError: the program `muster` is not installed
        RuntimeError: the server cannot start
    """

    __test__ = False

    url: str
    key: str
    """A key with all permissions, for all of its spaces"""
    space_id: str
    muster: Muster
    """A client for its first space"""

    def __init__(self) -> None:
        command = _command()
        self._process = subprocess.Popen(
            [*command, 'test-server'], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        started = self._read()
        self.url, self.key, self.space_id = started['url'], started['key'], started['spaceId']
        self.muster = Muster(self.url, self.key, self.space_id)

    def space(self) -> Muster:
        """Returns a client for another, new space. A test with its own space sees nothing of the others."""
        stdin = cast('IO[str]', self._process.stdin)
        stdin.write('\n')
        stdin.flush()
        return Muster(self.url, self.key, self._read()['spaceId'])

    def stop(self) -> None:
        """Ends the server and deletes its data. Without this call, both happen when the process ends."""
        self.muster.close()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()
        self._process.wait()

    def __enter__(self) -> TestServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _read(self) -> dict[str, Any]:
        line = cast('IO[str]', self._process.stdout).readline()
        if not line:
            raise RuntimeError('the test server has exited; see its output above')
        answer: dict[str, Any] = json.loads(line)
        return answer


def _command() -> list[str]:
    """Returns the command of the program `muster`: from MUSTER_SERVER, the nearest node_modules, or PATH."""
    folders = [Path.cwd(), *Path.cwd().parents]
    installed = [folder / 'node_modules/.bin/muster' for folder in folders]
    found = os.environ.get('MUSTER_SERVER') or next((str(path) for path in installed if path.exists()), None)
    found = found or shutil.which('muster')
    if found is None:
        raise FileNotFoundError(
            'TestServer runs the program muster of the npm package muster-server, which is not installed: '
            'npm install --save-dev muster-server, or set MUSTER_SERVER to the path of that program'
        )
    program = str(Path(found).resolve())
    return ['node', program] if program.endswith('.js') else [program]


__all__ = ['TestAnswers', 'TestCall', 'TestClock', 'TestEnd', 'TestHold', 'TestServer', 'TestTask', 'claimed']
