"""The base classes of the generated calls."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from typing import Any, Generic, Protocol, TypeVar, cast
from urllib.parse import quote, urlencode

from ._arguments import ABSENT, From, encode, given, text
from ._errors import MusterError
from ._record import Record, member_of
from ._tracing import TraceContext

T = TypeVar('T')
T_co = TypeVar('T_co', covariant=True)


class Endpoint(Generic[T]):
    """A call of the API, which returns a `T`."""

    __slots__ = ('name', 'method', 'path', 'record', 'in_space', '_in_path')

    def __init__(
        self, name: str, method: str, path: str, record: type[Record] | None, *, in_space: bool = True
    ) -> None:
        self.name = name
        self.method = method
        self.path = path
        self.record = record
        self.in_space = in_space
        self._in_path = [part[1:-1] for part in path.split('/') if part.startswith('{')]

    def request(self, args: Mapping[str, Any]) -> tuple[str, str | None]:
        """Returns the path with its query, relative to the space, and the body; None if there is no body."""
        rest = given(args)
        target = self.path
        for name in self._in_path:
            target = target.replace(f'{{{name}}}', quote(text(rest.pop(name)), safe=''))
        if self.method in ('GET', 'DELETE'):
            query = {name: text(value) for name, value in rest.items() if value is not None}
            return (f'{target}?{urlencode(query)}' if query else target), None
        return target, encode(rest)

    def read(self, body: Any) -> T:
        """Returns the record for a response body."""
        if body is None or self.record is None:
            return cast(T, None)
        return cast(T, self.record(body))


class Sender(Protocol):
    """Makes calls."""

    def __call__(
        self,
        endpoint: Endpoint[T],
        args: Mapping[str, Any],
        idempotency_key: str = ABSENT,
        attempts: int = ABSENT,
        retry_seconds: float = ABSENT,
        trace_context: TraceContext = TraceContext(),
        /,
    ) -> T: ...


class AsyncSender(Protocol):
    """Makes calls in an asyncio program."""

    async def __call__(
        self,
        endpoint: Endpoint[T],
        args: Mapping[str, Any],
        idempotency_key: str = ABSENT,
        attempts: int = ABSENT,
        retry_seconds: float = ABSENT,
        trace_context: TraceContext = TraceContext(),
        /,
    ) -> T: ...


class Ensuring:
    """Compares a record, found by its name or created, with the fields asked for."""

    def __init__(self, create: Endpoint[Any], args: Mapping[str, Any], update: Endpoint[Any] | None = None) -> None:
        self.room = create.name.partition('.')[0]
        asked = {name: value for name, value in given(args).items() if value is not None}
        self.asked: dict[str, Any] = json.loads(encode(asked))
        self.exists: Any = f'{self.room.upper()}_EXISTS'
        self.is_mailbox = self.room == 'mailbox'
        self._update = update

    def changes(self, record: Record) -> tuple[Endpoint[Any], dict[str, Any]] | None:
        """Returns the call that changes the record where it differs; None if it does not.

        Raises:
            MusterError: it differs, and only somebody else may change it
        """
        differing = self._differing(record)
        if not differing:
            return None
        if self._update is None:
            code: Any = 'MAILBOX_CONFLICT' if self.is_mailbox else self.exists
            raise MusterError(code, self._text(record, differing), status=409)
        return self._update, {'scheduleId': record.to_json()['id'], **{name: self.asked[name] for name in differing}}

    def drifts(self, record: Record) -> list[str]:
        """Returns a text for each field in which the record differs."""
        return [self._text(record, [name]) for name in self._differing(record)]

    def _differing(self, record: Record) -> list[str]:
        found = record.to_json()
        # A pool's `unique` is not a field of the record.
        shared = [name for name in self.asked if name in found]
        return [name for name in shared if _as_one(name, self.asked[name]) != _as_one(name, found[name])]

    def _text(self, record: Record, differing: Sequence[str]) -> str:
        found = record.to_json()
        texts = [f'{name} {encode(found[name])}, not {encode(self.asked[name])}' for name in differing]
        what = f'the {self.room} {self.asked["name"]} has {" and ".join(texts)}'
        return f'{what}: ask for the existing values, or change them with {self.room}.update'


def _as_one(name: str, value: Any) -> Any:
    """Returns one value for all values that the service treats as equal."""
    if name == 'currency':
        return value.upper()
    if name in ('mailboxId', 'scopeId'):
        return value.lower()
    return int(value) if name.endswith('Minor') else value


class Calls:
    """The calls of a primitive."""

    def __init__(self, send: Sender) -> None:
        self._send = send

    def _ensure(
        self,
        create: Endpoint[Any],
        list_: Endpoint[Any],
        plural: str,
        args: Mapping[str, Any],
        update: Endpoint[Any] | None = None,
    ) -> Any:
        ensuring = Ensuring(create, args, update)
        by_name = {'name': args['name']}
        if ensuring.is_mailbox:
            found = [self._send(create, {**args, 'unique': True})]
        else:
            found = getattr(self._send(list_, by_name), plural)
        if not found:
            try:
                found = [self._send(create, args)]
            except MusterError as error:
                # Somebody else has created it meanwhile.
                if error.code == ensuring.exists:
                    found = getattr(self._send(list_, by_name), plural)
                if not found:
                    raise
        changes = ensuring.changes(found[0])
        return found[0] if changes is None else self._send(*changes)

    def _all(self, endpoint: Endpoint[Any], name: str, args: Mapping[str, Any]) -> Iterator[Any]:
        cursor: Any = ABSENT
        while cursor is not None:
            page: Record = self._send(endpoint, {**args, 'cursor': cursor})
            items = getattr(page, name)
            yield from items
            cursor = page.to_json()['nextCursor']
            # The journal's cursor never ends, so its iteration ends at the first empty page.
            if not items and name == 'events':
                return


class AsyncCalls:
    """The calls of a primitive, in an asyncio program."""

    def __init__(self, send: AsyncSender) -> None:
        self._send = send

    async def _ensure(
        self,
        create: Endpoint[Any],
        list_: Endpoint[Any],
        plural: str,
        args: Mapping[str, Any],
        update: Endpoint[Any] | None = None,
    ) -> Any:
        ensuring = Ensuring(create, args, update)
        by_name = {'name': args['name']}
        if ensuring.is_mailbox:
            found = [await self._send(create, {**args, 'unique': True})]
        else:
            found = getattr(await self._send(list_, by_name), plural)
        if not found:
            try:
                found = [await self._send(create, args)]
            except MusterError as error:
                # Somebody else has created it meanwhile.
                if error.code == ensuring.exists:
                    found = getattr(await self._send(list_, by_name), plural)
                if not found:
                    raise
        changes = ensuring.changes(found[0])
        return found[0] if changes is None else await self._send(*changes)

    async def _all(self, endpoint: Endpoint[Any], name: str, args: Mapping[str, Any]) -> AsyncIterator[Any]:
        cursor: Any = ABSENT
        while cursor is not None:
            page: Record = await self._send(endpoint, {**args, 'cursor': cursor})
            items = getattr(page, name)
            for item in items:
                yield item
            cursor = page.to_json()['nextCursor']
            if not items and name == 'events':
                return


class BatchedCall(Generic[T_co]):
    """A call for `Muster.batch`, made by `muster.call`. It returns a `T_co`."""

    __slots__ = ('call', '_endpoint')

    def __init__(self, endpoint: Endpoint[Any], args: Mapping[str, Any], idempotency_key: str) -> None:
        self._endpoint = endpoint
        self.call: dict[str, Any] = {'call': endpoint.name, **given(args)}
        if idempotency_key is not ABSENT:
            self.call['idempotencyKey'] = idempotency_key

    def read(self, body: Any) -> T_co:
        """Returns the record for a response body."""
        return self._endpoint.read(body)


class LateId:
    """The id of a mailbox in a call of a batch, found when the batch is sent."""

    __slots__ = ('find',)

    def __init__(self, find: Callable[[], str]) -> None:
        self.find = find


def with_ids(args: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns the arguments of a batch, with the ids of the mailboxes of its calls."""
    calls: list[dict[str, Any]] = args['calls']
    if not any(isinstance(call.get('mailboxId'), LateId) for call in calls):
        return args

    def found(call: dict[str, Any]) -> dict[str, Any]:
        late = call.get('mailboxId')
        return {**call, 'mailboxId': late.find()} if isinstance(late, LateId) else call

    return {**args, 'calls': [found(call) for call in calls]}


class Answers(Record):
    """The answer to a batch."""

    __slots__ = ()


BATCH: Endpoint[Answers] = Endpoint('batch', 'POST', '/batch', Answers)


class PendingCall(BatchedCall[T_co]):
    """A call of an atomic batch that has not been made yet. `answer` is available once the batch has happened.

    The ids of the answer can be used before that: `run = t.scope.create()`, then `scope_id=run.id`.
    """

    __slots__ = ('_index', '_body')

    def __init__(self, endpoint: Endpoint[Any], args: Mapping[str, Any], index: int) -> None:
        super().__init__(endpoint, args, ABSENT)
        self._index = index
        self._body: Any = ABSENT

    def __getattr__(self, name: str) -> From:
        if name == 'id':
            return {'$from': self._index}
        if name.endswith('_id') and not name.startswith('_'):
            return {'$from': self._index, 'member': member_of(name)}
        raise AttributeError(f'{self.call["call"]} has no {name} yet: it is in `answer` once the batch has happened')

    def take(self, body: Any) -> None:
        """Stores the response body, once the batch has happened."""
        self._body = body

    @property
    def answer(self) -> T_co:
        """The call's answer. None for a read if a retry found that the batch had already happened.

        Raises:
            ValueError: the batch has not happened
        """
        if self._body is ABSENT:
            raise ValueError(f'{self.call["call"]} has not been made: its batch has not happened')
        return self.read(self._body)


class Plan:
    """The calls of an atomic batch, in order.

    Args:
        start: the index of the first call, if other calls precede it in the batch
    """

    def __init__(self, start: int = 0) -> None:
        self.calls: list[PendingCall[Any]] = []
        self._start = start

    def add(self, endpoint: Endpoint[T], args: Mapping[str, Any]) -> PendingCall[T]:
        """Appends a call."""
        call: PendingCall[T] = PendingCall(endpoint, args, self._start + len(self.calls))
        self.calls.append(call)
        return call

    @property
    def args(self) -> dict[str, Any]:
        """The fields of the batch's request."""
        return {'atomic': True, 'calls': [one.call for one in self.calls]}

    def take(self, answers: Answers) -> None:
        """Passes the answers of the batch to its calls."""
        for call, result in zip(self.calls, answers.to_json()['results']):
            call.take(result['body'])


class CallsInAtomic:
    """The calls of a primitive, for an atomic batch."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan


class CallsInBatch:
    """The calls of a primitive, for a batch."""

    def _batched(
        self, endpoint: Endpoint[T], args: Mapping[str, Any], idempotency_key: str
    ) -> BatchedCall[T]:
        return BatchedCall(endpoint, args, idempotency_key)
