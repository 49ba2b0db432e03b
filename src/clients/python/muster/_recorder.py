"""A client that takes the place of the service in tests: it records the calls for one message, and answers them."""

from __future__ import annotations

import json
import threading
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any, TypeVar

from ._arguments import encode, given
from ._base import Endpoint, with_ids
from ._client import Muster
from ._errors import MusterError, Stopped, text_of
from ._records import Event
from ._transport import Stop

T = TypeVar('T')
TestAnswers = Mapping[str, Callable[[Mapping[str, Any]], Any]]
"""The bodies of answers, by call, each returned for the fields of the call. A MusterError that is raised refuses it."""

_of_worker = (
    'message.recv',
    'message.renew',
    'message.complete',
    'message.nack',
    'message.ask',
    'message.suspend',
    'mailbox.leave',
)
"""Calls of the worker, not of its handler."""


class Clock:
    """A clock that stands still until it is moved."""

    __test__ = False

    def __init__(self, start: datetime = datetime(2026, 1, 1, tzinfo=timezone.utc)) -> None:
        self.now = start
        self.listeners: set[Callable[[], None]] = set()

    def after(self, seconds: float) -> str:
        """Returns the time this many seconds from now, in the format of messages."""
        moment = (self.now + timedelta(seconds=seconds)).astimezone(timezone.utc)
        return moment.isoformat(timespec='milliseconds').replace('+00:00', 'Z')

    def has_passed(self, moment: str) -> bool:
        """Whether a time, in the format of messages, has passed."""
        return datetime.fromisoformat(moment.replace('Z', '+00:00')) <= self.now

    def advance(self, seconds: float) -> None:
        """Moves the clock forward. A claim ends if its deadline passes."""
        if not seconds >= 0:
            raise ValueError(f'a clock advances by 0 seconds or more, not {seconds}')
        self.now += timedelta(seconds=seconds)
        for listener in list(self.listeners):
            listener()

    def reach(self, moment: str) -> None:
        """Moves the clock forward to a time, in the format of messages, unless it has passed."""
        left = datetime.fromisoformat(moment.replace('Z', '+00:00')) - self.now
        self.advance(max(0.0, left.total_seconds()))


@dataclass(frozen=True)
class TestCall:
    """A call that a handler has made."""

    __test__ = False

    call: str
    """Its name: `note.put`"""
    fields: Mapping[str, Any]
    """The fields of its path, query and body"""


class Recorder(Muster):
    """Records the calls that a worker and a handler's task make for one message. It gives them answers without any rules."""

    def __init__(
        self, message: dict[str, Any], clock: Clock, answers: TestAnswers, outcomes: dict[str, dict[str, Any]]
    ) -> None:
        super().__init__('http://muster.test', 'test', str(uuid.uuid4()))
        self.claimed: dict[str, Any] = message
        """The message in its current state"""
        self.clock = clock
        self.told: dict[str, Any] | None = None
        """The outcome of the attempt, as the worker reported it"""
        self.has_ended = threading.Event()
        """Set when the worker has reported the outcome"""
        self.is_lost = False
        self.calls: list[TestCall] = []
        self.kept: dict[str, dict[str, Any]] = {}
        """The notes"""
        self.spent: dict[str, int] = {}
        """The money that was settled, by budget"""
        self.taken: dict[str, int] = {}
        """The units that were taken, by allowance"""
        self.outcomes = outcomes
        """The states and results of other messages, by id"""
        self.suspending: Mapping[str, Any] = {}
        """The conditions of the last suspension, as they were asked for"""
        self.failures: list[BaseException] = []
        """Why calls got no answer"""
        self._given = answers
        self._places: dict[str, int] = {}
        """The units of each place in line"""
        self._puts = 0
        self._fence = 0
        self._is_received = False
        self._has_left = threading.Event()
        """Set when the worker has ended its held receive"""
        self._lock = threading.RLock()
        self._journal = threading.Event()
        self._answers: TestAnswers = {
            'mailbox.leave': lambda _: self._has_left.set(),
            'message.recv': self._recv,
            'message.renew': self._renew,
            'message.complete': lambda _: self._end('ACKED'),
            'message.nack': self._nack,
            'message.ask': self._ask,
            'message.suspend': self._suspend,
            'message.send': lambda args: {
                'id': str(uuid.uuid4()),
                'mailboxId': args['mailboxId'],
                'state': 'READY',
                'replay': False,
            },
            'mailbox.create': lambda args: {**args, 'id': args['name']},
            'scope.create': lambda args: {**args, 'id': args.get('scopeId') or str(uuid.uuid4()), 'state': 'IDLE'},
            'group.create': self._create_group,
            'group.seal': lambda args: {'groupId': args['groupId'], 'state': 'SEALED', 'outcome': None},
            'task.submit': self._submit,
            'pool.list': lambda args: {'pools': [{'id': args['name'], 'name': args['name']}], 'nextCursor': None},
            'pool.acquire': self._acquire,
            'hold.renew': lambda _: {},
            'hold.release': lambda _: {},
            'message.view': lambda args: {
                **{**self.claimed, 'id': args['messageId'], 'result': None},
                **self.outcomes.get(args['messageId'], {}),
            },
            'note.view': lambda args: self._note(args['key']),
            'note.put': self._put,
            'note.delete': lambda args: self.kept.pop(self._note(args['key'])['key']) and None,
            'note.list': self._list,
            'budget.list': lambda args: {'budgets': [{'id': args['name'], 'name': args['name']}]},
            'budget.reserve': self._reserve,
            'budget.settle': self._settle,
            'budget.void': lambda _: {},
            'budget.view': lambda _: {'reservations': [], 'nextCursor': None},
            'allowance.list': lambda args: {'allowances': [{'id': args['name']}]},
            'allowance.wait': self._wait,
            'allowance.settle': self._settle_units,
            'allowance.observe': lambda _: {},
            'allowance.cooldown': lambda _: {},
        }

    def offer(self) -> None:
        """Makes the message available in its current state."""
        self.told = None
        self.is_lost = False
        self._is_received = False
        self._has_left.clear()
        self.has_ended.clear()
        self._journal.clear()

    def lose(self) -> None:
        """Ends the claim, and announces it in the journal."""
        self.is_lost = True
        self._journal.set()

    def put(self, key: str, value: Any) -> dict[str, Any]:
        """Puts a note."""
        self._puts += 1
        self.kept[key] = {'key': key, 'value': value, 'version': self._puts}
        return self.kept[key]

    def request(self, endpoint: Endpoint[T], args: Mapping[str, Any], *, stop: Stop | None = None, **_: Any) -> T:
        """Answers a call."""
        if endpoint.name == 'message.recv' and self._is_received:
            stop = stop or Stop()
            stop.add(self._has_left.set)
            self._has_left.wait()
            stop.remove(self._has_left.set)
            if stop.is_set():
                raise Stopped
            return endpoint.read(None)
        # As the service would get them.
        found = with_ids(args) if endpoint.name == 'batch' else args
        fields: dict[str, Any] = json.loads(encode(given(found)))
        with self._lock:
            if endpoint.name == 'batch':
                return endpoint.read({'results': self._batch(fields)})
            return endpoint.read(self._answer(endpoint.name, fields, self.told is None))

    def events(self, *, stop: Stop | None = None, **_: Any) -> Any:  # type: ignore[override]
        """Follows the journal, whose only event is the loss of the claim."""

        def follow() -> Iterator[Event]:
            end = stop or Stop()
            end.add(self._journal.set)
            self._journal.wait()
            end.remove(self._journal.set)
            if not end.is_set():
                yield Event({'type': 'message.cancelled', 'aggregateId': self.claimed['id'], 'payload': {}})
                end.wait(None)

        return follow()

    def _answer(self, name: str, fields: Mapping[str, Any], is_handlers: bool) -> Any:
        if is_handlers and name not in _of_worker:
            self.calls.append(TestCall(name, fields))
        answer = self._given.get(name) or self._answers.get(name)
        try:
            # The answer to a held view would be a rule of the service.
            if answer is None or ('sinceVersion' in fields and name not in self._given):
                raise RuntimeError(f'a test task does not answer {name}: put it into answers, or use TestServer')
            answered = answer(fields)
            if name == 'message.send':
                sent = {'state': 'READY', 'workKey': fields.get('workKey')}
                self.outcomes[answered.get('id')] = sent
            return answered
        except MusterError as refusal:
            # One without a status would count as no answer, which the worker would wait for.
            refusal.status = refusal.status or 409
            raise
        except Exception as error:
            self.failures.append(error)
            raise MusterError('INTERNAL', text_of(error), status=400) from error

    def _batch(self, fields: Mapping[str, Any]) -> list[dict[str, Any]]:
        # The worker ends its claim alone, so batches are the handler's, but for those of `finish` and `join`.
        is_handlers, is_atomic = self.told is None, fields.get('atomic') is True
        kept = dict(self.kept)
        calls = [TestCall(call.pop('call'), call) for call in fields['calls']]
        results: list[dict[str, Any]] = []
        for one in calls:
            try:
                answer = self._answer(one.call, _with_ids_of(one, results), is_handlers)
                results.append({'status': 200, 'body': answer, 'replayed': False})
            except MusterError as error:
                if is_atomic:
                    self.kept = kept
                    raise
                envelope = {'code': error.code, 'message': error.message, 'requestId': None}
                results.append({'status': error.status, 'body': {'error': envelope}})
        if is_atomic and self.told is not None and calls[0].call == 'message.complete':
            self.told['plan'] = calls[1:]
        return results

    def _check_held(self) -> None:
        if self.is_lost:
            raise MusterError('CLAIM_LOST', 'the claim is over', status=409)

    def _end(self, state: str, error: str | None = None, delay_seconds: int = 0, **fields: Any) -> dict[str, Any]:
        self._check_held()
        self.told = {'state': state, 'error': error, 'delay_seconds': delay_seconds}
        ready_at = self.clock.after(delay_seconds) if state == 'DELAYED' else None
        self.claimed = {**self.claimed, **fields, 'readyAt': ready_at}
        self.has_ended.set()
        return {**self.claimed, 'state': state}

    def _recv(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        self._is_received = True
        return {'messages': [self.claimed]}

    def _renew(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        self._check_held()
        self.claimed = {**self.claimed, 'progress': fields.get('progress', self.claimed['progress'])}
        return {'leaseExpiresAt': self.clock.after(self.claimed['leaseSeconds'])}

    def _nack(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        counts = fields.get('countsAttempt') is not False
        delay, attempts = fields.get('delaySeconds') or 0, self.claimed['attempts']
        state = 'DELAYED' if delay > 0 else 'READY'
        if counts and attempts >= self.claimed['maxAttempts']:
            state = 'FAILED'
        if fields.get('retry') is False:
            state = 'REJECTED'
        error = fields['error']
        return self._end(state, error, delay, lastError=error, attempts=attempts if counts else attempts - 1)

    def _ask(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        asked = {
            'question': fields['question'],
            'options': fields.get('options'),
            'state': 'OPEN',
            'answer': None,
            'answeredBy': None,
            'expiresAt': self.clock.after(fields.get('expiresInSeconds') or 604_800),
        }
        self._put_aside(fields, question=asked)
        return {'id': self.claimed['id'], 'state': 'BLOCKED', 'question': {**asked, 'answerUrl': None}}

    def _suspend(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        asked = {name: value for name, value in fields.items() if name not in ('messageId', 'token', 'progress')}
        nothing = dict.fromkeys(('messageId', 'groupId', 'scopeId', 'state'))
        note, delay = asked.get('note'), asked.get('delaySeconds')
        suspension: dict[str, Any] = {
            'since': self.clock.after(0),
            'after': [{**nothing, **one} for one in _waited(asked)],
            'note': note and {'scopeId': self.claimed['scopeId'], **note},
            'until': None if delay is None else self.clock.after(delay),
            'timeoutAt': self.clock.after(asked.get('timeoutSeconds') or 2_592_000),
            'any': asked.get('any') is True,
            'wokenBy': None,
        }
        self.suspending = asked
        self._put_aside(fields, suspension=suspension)
        return {'id': self.claimed['id'], 'state': 'BLOCKED', 'blockedBy': []}

    def _put_aside(self, call: Mapping[str, Any], **fields: Any) -> None:
        """Ends an attempt that does not count."""
        progress = call.get('progress', self.claimed['progress'])
        self._end('BLOCKED', **fields, progress=progress, attempts=self.claimed['attempts'] - 1)

    def _note(self, key: str) -> dict[str, Any]:
        if key not in self.kept:
            raise MusterError('NOTE_NOT_FOUND', 'there is no such note', status=404)
        return self.kept[key]

    def _put(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        self._check_held()
        return self.put(fields['key'], fields['value'])

    def _list(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        keys = sorted(key for key in self.kept if key.startswith(fields.get('prefix') or ''))
        return {'notes': [self.kept[key] for key in keys], 'nextCursor': None}

    def _create_group(self, _: Mapping[str, Any]) -> dict[str, Any]:
        group_id = str(uuid.uuid4())
        return {'id': group_id, 'groupId': group_id, 'scopeId': str(uuid.uuid4()), 'state': 'OPEN', 'replay': False}

    def _submit(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        task_id, group = str(uuid.uuid4()), {name: fields[name] for name in ('groupId', 'taskKey')}
        made = {'id': task_id, 'taskId': task_id, 'messageId': str(uuid.uuid4())}
        return {**made, **group, 'state': 'PENDING', 'replay': False}

    def _acquire(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        self._fence += 1
        hold_id, at = str(uuid.uuid4()), self.clock.after(0)
        asked = {name: value for name, value in fields.items() if name != 'ttlSeconds'}
        granted = {'state': 'HELD', 'fence': self._fence, 'position': None, 'heldAt': at, 'replay': False}
        return {'id': hold_id, 'holdId': hold_id, **asked, **granted, 'token': str(uuid.uuid4()), 'createdAt': at}

    def _reserve(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        # The client looks for the reservation of an earlier attempt, which has left none.
        if fields.get('settleBy') and self.clock.has_passed(fields['settleBy']):
            raise MusterError('VALIDATION_FAILED', 'settleBy must be in the future', status=400)
        amount = str(fields['amountMinor'])
        made = {'id': str(uuid.uuid4()), 'state': 'ACTIVE', 'settledMinor': '0', 'replay': False}
        amounts = {'amountMinor': amount, 'remainingMinor': amount}
        return {**fields, **made, **amounts, 'createdAt': self.clock.after(0)}

    def _settle(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        budget, amount = fields['budgetId'], int(fields['amountMinor'])
        self.spent[budget] = self.spent.get(budget, 0) + amount
        return {'entry': {'amountMinor': str(amount), 'overdrawnMinor': '0'}, 'reservation': {'state': 'SETTLED'}}

    def _wait(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        waiter_id = str(uuid.uuid4())
        self._take(waiter_id, fields['allowanceId'], fields['units'])
        return {**fields, 'waiterId': waiter_id, 'state': 'GRANTED'}

    def _settle_units(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        self._take(fields['consumptionId'], fields['allowanceId'], fields['units'])
        return {'availableUnits': 0}

    def _take(self, waiter_id: str, name: str, units: int) -> None:
        self.taken[name] = self.taken.get(name, 0) + units - self._places.get(waiter_id, 0)
        self._places[waiter_id] = units


def _waited(fields: Mapping[str, Any]) -> list[dict[str, Any]]:
    return fields.get('after') or []


def _with_ids_of(one: TestCall, results: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """Returns the fields of a call in a batch. Those of a suspend get the ids of the messages that were sent before it."""
    if one.call != 'message.suspend':
        return one.fields

    def found(after: Mapping[str, Any]) -> Mapping[str, Any]:
        is_late = isinstance(after.get('messageId'), dict)
        return {'messageId': results[after['messageId']['$from']]['body']['id']} if is_late else after

    return {**one.fields, 'after': [found(after) for after in _waited(one.fields)]}
