"""A client that stands in for the service: it answers a worker's calls for one message from memory."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta, timezone
from typing import Any, TypeVar

from ._arguments import given
from ._base import Endpoint
from ._client import Muster
from ._errors import MusterError, Stopped
from ._records import Event
from ._transport import Stop

T = TypeVar('T')
Answer = Callable[[Mapping[str, Any]], Any]


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


class Memory(Muster):
    """Answers the calls that a worker and a handler's task make for one message."""

    def __init__(
        self,
        message: dict[str, Any],
        clock: Clock,
        budgets: Mapping[str, int] | None,
        earlier: Mapping[str, Any],
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
        self.kept: dict[str, dict[str, Any]] = {}
        self.reservations: list[dict[str, Any]] = []
        self._costs: dict[str, int] = {}
        self.used: dict[str, int] = {}
        self.unanswered: list[str] = []
        """Calls that this class cannot answer"""
        self._budgets = budgets
        self._earlier = earlier
        self._waiters: dict[str, dict[str, Any]] = {}
        self._puts = 0
        self._is_received = False
        self._has_left = threading.Event()
        """Set when the worker has ended its held receive"""
        self._lock = threading.RLock()
        self._note_changed = threading.Condition(self._lock)
        self._journal = threading.Event()
        self._answers: dict[str, Answer] = {
            'message.recv': self._recv,
            'mailbox.leave': lambda args: self._has_left.set(),
            'message.renew': self._renew,
            'message.complete': lambda _: self._end('ACKED'),
            'message.nack': self._nack,
            'message.ask': self._ask,
            'message.view': self._view,
            'note.view': lambda args: self._note(args['key']),
            'note.put': self._put_note,
            'note.delete': self._delete_note,
            'note.list': self._list_notes,
            'budget.list': lambda args: {'budgets': self._named(args['name']), 'nextCursor': None},
            'budget.reserve': self._reserve,
            'budget.settle': self._settle,
            'budget.void': self._void,
            'budget.view': self._view_budget,
            'allowance.list': lambda args: {'allowances': [{'id': args['name']}], 'nextCursor': None},
            'allowance.wait': self._wait,
            'allowance.settle': self._settle_units,
            'allowance.observe': lambda args: {'id': args['allowanceId']},
            'allowance.cooldown': lambda args: {'id': args['allowanceId']},
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
        args = given(args)
        if endpoint.name == 'note.view' and 'waitSeconds' in args:
            self._await_note(args, stop or Stop())
        with self._lock:
            if endpoint.name == 'batch':
                return endpoint.read({'results': [self._in_batch(**call) for call in args['calls']]})
            return endpoint.read(self._answer(endpoint.name, args))

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

    def put(self, key: str, value: Any) -> dict[str, Any]:
        """Puts a note. Returns it without its value."""
        self._puts += 1
        now = self.clock.after(0)
        created_at = self.kept.get(key, {}).get('createdAt', now)
        note = {
            'scopeId': self.claimed['scopeId'],
            'key': key,
            'version': self._puts,
            'holder': None,
            'createdAt': created_at,
            'updatedAt': now,
        }
        with self._note_changed:
            self.kept[key] = {**note, 'value': value}
            self._note_changed.notify_all()
        return note

    def _answer(self, name: str, args: Mapping[str, Any]) -> Any:
        answer = self._answers.get(name)
        if answer is None:
            self.unanswered.append(name)
            raise MusterError('INTERNAL', f'a test task does not answer {name}: use TestServer', status=400)
        return answer(args)

    def _in_batch(self, call: str, **args: Any) -> dict[str, Any]:
        try:
            return {'status': 200, 'body': self._answer(call, args)}
        except MusterError as error:
            envelope = {'code': error.code, 'message': error.message, 'requestId': None}
            return {'status': error.status, 'body': {'error': envelope}}

    def _check_held(self) -> None:
        if self.is_lost:
            raise MusterError('CLAIM_LOST', 'the claim is over', status=409)

    def _end(self, state: str, error: str | None = None, delay_seconds: int = 0) -> dict[str, Any]:
        self._check_held()
        self.told = {'state': state, 'error': error, 'delay_seconds': delay_seconds}
        ready_at = self.clock.after(delay_seconds) if state == 'DELAYED' else None
        self.claimed = {**self.claimed, 'readyAt': ready_at}
        self.has_ended.set()
        return {**self.claimed, 'state': state}

    def _recv(self, args: Mapping[str, Any]) -> dict[str, Any]:
        self._is_received = True
        return {'messages': [self.claimed]}

    def _renew(self, args: Mapping[str, Any]) -> dict[str, Any]:
        self._check_held()
        if 'progress' in args:
            self.claimed = {**self.claimed, 'progress': args['progress']}
        return {'leaseExpiresAt': self.clock.after(self.claimed['leaseSeconds'])}

    def _nack(self, args: Mapping[str, Any]) -> dict[str, Any]:
        counts = args.get('countsAttempt') is not False
        delay = args.get('delaySeconds') or 0
        state = 'DELAYED' if delay > 0 else 'READY'
        if counts and self.claimed['attempts'] >= self.claimed['maxAttempts']:
            state = 'FAILED'
        if args.get('retry') is False:
            state = 'REJECTED'
        attempts = self.claimed['attempts'] - (0 if counts else 1)
        self.claimed = {**self.claimed, 'attempts': attempts, 'lastError': args['error']}
        return self._end(state, args['error'], delay)

    def _ask(self, args: Mapping[str, Any]) -> dict[str, Any]:
        asked = {
            **{name: self.claimed[name] for name in ('scopeId', 'mailboxId', 'holder')},
            'id': str(uuid.uuid4()),
            'messageId': self.claimed['id'],
            'question': args['question'],
            'options': args.get('options'),
            'state': 'OPEN',
            'answer': None,
            'answeredBy': None,
            'answeredVia': None,
            'answeredAt': None,
            'createdAt': self.clock.after(0),
            'expiresAt': self.clock.after(args.get('expiresInSeconds') or 604_800),
        }
        self.claimed = {**self.claimed, 'attempts': self.claimed['attempts'] - 1, 'question': asked}
        self._end('BLOCKED')
        return {'id': self.claimed['id'], 'state': 'BLOCKED', 'question': {**asked, 'answerUrl': None}}

    def _view(self, args: Mapping[str, Any]) -> dict[str, Any]:
        if args['messageId'] not in self._earlier:
            return self.claimed
        result = self._earlier[args['messageId']]
        return {**self.claimed, 'id': args['messageId'], 'state': 'ACKED', 'result': result}

    def _note(self, key: str) -> dict[str, Any]:
        if key not in self.kept:
            raise MusterError('NOTE_NOT_FOUND', 'there is no such note', status=404)
        return self.kept[key]

    def _version(self, key: str) -> int:
        return self.kept[key]['version'] if key in self.kept else 0

    def _await_note(self, args: Mapping[str, Any], stop: Stop) -> None:
        """Waits until the note's version differs from the one given."""

        def wake() -> None:
            with self._note_changed:
                self._note_changed.notify_all()

        stop.add(wake)
        with self._note_changed:
            self._note_changed.wait_for(
                lambda: self._version(args['key']) != args['sinceVersion'] or stop.is_set()
            )
        stop.remove(wake)
        if stop.is_set():
            raise Stopped

    def _delete_note(self, args: Mapping[str, Any]) -> None:
        del self.kept[self._note(args['key'])['key']]
        self._note_changed.notify_all()

    def _put_note(self, args: Mapping[str, Any]) -> dict[str, Any]:
        if 'messageId' in args:
            self._check_held()
        version = self._version(args['key'])
        if args.get('ifVersion') not in (None, version):
            raise MusterError('VERSION_CONFLICT', f'the note has version {version}', status=409)
        return self.put(args['key'], args['value'])

    def _list_notes(self, args: Mapping[str, Any]) -> dict[str, Any]:
        keys = sorted(key for key in self.kept if key.startswith(args.get('prefix') or ''))
        return {'notes': [self.kept[key] for key in keys], 'nextCursor': None}

    def _named(self, name: str) -> list[dict[str, Any]]:
        return [{'id': name, 'name': name}] if self._budgets is None or name in self._budgets else []

    def _reserve(self, args: Mapping[str, Any]) -> dict[str, Any]:
        self._pass_overdue()
        budget, work_key, amount = args['budgetId'], args.get('workKey'), int(args['amountMinor'])
        for known in self.reservations:
            if (known['budgetId'], known['workKey']) == (budget, work_key):
                if int(known['amountMinor']) != amount:
                    raise MusterError('WORK_KEY_CONFLICT', 'another amount was reserved with this workKey', status=409)
                return {**known, 'replay': True}
        settle_by = args.get('settleBy')
        if settle_by is not None and self.clock.has_passed(settle_by):
            raise MusterError('VALIDATION_FAILED', 'settleBy must be in the future', status=400)
        if self._budgets is not None and (left := self._left(budget)) < amount:
            raise MusterError('INSUFFICIENT_BUDGET', f'the budget {budget} has {left} left', status=409)
        made = {
            **{name: args[name] for name in ('budgetId', 'scopeId', 'holder')},
            'id': str(uuid.uuid4()),
            'workKey': work_key,
            'amountMinor': str(amount),
            'settledMinor': '0',
            'voidedMinor': '0',
            'remainingMinor': str(amount),
            'state': 'ACTIVE',
            'settleBy': settle_by,
            'onOverdue': args.get('onOverdue') or 'KEEP',
            'overdue': False,
            'createdAt': self.clock.after(0),
        }
        self.reservations.append(made)
        return {**made, 'replay': False}

    def _left(self, budget: str) -> int:
        active = [one for one in self.reservations if one['budgetId'] == budget and one['state'] == 'ACTIVE']
        reserved = sum(int(one['amountMinor']) - int(one['settledMinor']) for one in active)
        return (self._budgets or {})[budget] - reserved - self._costs.get(budget, 0)

    @property
    def costs(self) -> dict[str, int]:
        """The money spent, in minor units, by budget."""
        self._pass_overdue()
        return self._costs

    def _pass_overdue(self) -> None:
        """Settles the rest of reservations whose settleBy has passed, if they ask for that."""
        for one in self.reservations:
            is_open = one['state'] == 'ACTIVE' and not one['overdue']
            if is_open and one['settleBy'] is not None and self.clock.has_passed(one['settleBy']):
                one['overdue'] = True
                if one['onOverdue'] == 'SETTLE':
                    self._spend(one, int(one['amountMinor']) - int(one['settledMinor']))

    def _spend(self, one: dict[str, Any], amount: int) -> None:
        one['settledMinor'] = str(int(one['settledMinor']) + amount)
        if int(one['settledMinor']) >= int(one['amountMinor']):
            one['state'] = 'SETTLED'
        self._costs[one['budgetId']] = self._costs.get(one['budgetId'], 0) + amount

    def _active(self, reservation_id: str) -> dict[str, Any]:
        self._pass_overdue()
        for one in self.reservations:
            if one['id'] == reservation_id and one['state'] == 'ACTIVE':
                return one
        raise MusterError('RESERVATION_CLOSED', 'the reservation is closed', status=409)

    def _settle(self, args: Mapping[str, Any]) -> dict[str, Any]:
        one, amount = self._active(args['reservationId']), int(args['amountMinor'])
        self._spend(one, amount)
        return {'entry': {'amountMinor': str(amount), 'overdrawnMinor': '0'}, 'reservation': dict(one)}

    def _void(self, args: Mapping[str, Any]) -> dict[str, Any]:
        one = self._active(args['reservationId'])
        one['state'] = 'VOIDED' if one['settledMinor'] == '0' else 'SETTLED'
        return {'reservation': dict(one)}

    def _view_budget(self, args: Mapping[str, Any]) -> dict[str, Any]:
        self._pass_overdue()
        states = (args.get('state') or 'ACTIVE,SETTLED,VOIDED').split(',')
        found = [one for one in self.reservations if one['budgetId'] == args['budgetId'] and one['state'] in states]
        return {'reservations': found[::-1], 'nextCursor': None}

    def _wait(self, args: Mapping[str, Any]) -> dict[str, Any]:
        waiter = {'waiterId': str(uuid.uuid4()), 'allowanceId': args['allowanceId'], 'units': args['units']}
        self._waiters[waiter['waiterId']] = waiter
        self.used[args['allowanceId']] = self.used.get(args['allowanceId'], 0) + args['units']
        return {**waiter, 'id': waiter['waiterId'], 'state': 'GRANTED'}

    def _settle_units(self, args: Mapping[str, Any]) -> dict[str, Any]:
        waiter = self._waiters[args['consumptionId']]
        self.used[waiter['allowanceId']] += args['units'] - waiter['units']
        waiter['units'] = args['units']
        return {**waiter, 'settledUnits': args['units'], 'availableUnits': 0, 'replay': False}
