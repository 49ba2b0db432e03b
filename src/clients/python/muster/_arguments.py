"""Arguments of calls: the default `ABSENT`, and the types of ids, times and amounts."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from typing import Any, Literal, TypedDict, Union, cast
from uuid import UUID

from ._record import Record


class Absent:
    """The type of `ABSENT`."""

    def __repr__(self) -> str:
        return 'ABSENT'


ABSENT: Any = Absent()
"""The default of optional arguments, which are then not sent. None is sent as null."""

Id = Union[str, UUID]
Moment = Union[str, datetime]
"""A time: an ISO 8601 string, or a datetime. A naive datetime is local time."""
Amount = Union[str, int]
"""An amount of money in minor units of its currency: an int, or a string of digits."""


From = Mapping[Literal['$from', 'member'], Any]
"""In a batch: `{'$from': i}` is the id in the answer of the call at index i, or another id that `member` names."""



class AfterMessage(TypedDict):
    """A message that must be ACKED."""

    messageId: Id


class AfterGroup(TypedDict):
    """A group that must be SATISFIED."""

    groupId: Id


class AfterScope(TypedDict):
    """A scope in which nothing may be live any more."""

    scopeId: Id


After = Union[Id, AfterMessage, AfterGroup, AfterScope, From, Record]
"""A prerequisite of a message: a message's id; the record returned by a send, a submit or the creation of a group;
`{'messageId': …}`, `{'groupId': …}` or `{'scopeId': …}`; or a `From`."""


def given(args: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the arguments without absent ones, with amounts and prerequisites in the API's form."""
    return {name: _value(name, value) for name, value in args.items() if value is not ABSENT}


def _value(name: str, value: Any) -> Any:
    if name == 'after' and value:
        after: Sequence[After] = value
        return [_prerequisite(one) for one in after]
    return str(value) if name.endswith('Minor') and isinstance(value, int) else value


def _prerequisite(one: After) -> Mapping[str, Any]:
    # The answer of a submit has the ids of both its group and its message.
    members: Mapping[str, Any] = (
        one.to_json() if isinstance(one, Record) else cast(Any, one) if isinstance(one, Mapping) else {'id': one}
    )
    if '$from' in members:
        return {'messageId': members}
    for name in ('messageId', 'groupId'):
        if name in members:
            return {name: members[name]}
    if 'id' in members:
        return {'messageId': members['id']}
    if 'scopeId' not in members:
        raise TypeError(f'after: {members} must be an id, a record, or have messageId, groupId or scopeId')
    return {'scopeId': members['scopeId']}


def encode(value: Any) -> str:
    """Returns a value as compact JSON, with UUIDs and datetimes in the API's format."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(',', ':'), default=_plain)


def copied(value: Any) -> Any:
    """Returns a copy of a JSON value, as readers will get it. Raises an error if it cannot be sent."""
    # A lone surrogate passes as JSON, but not as UTF-8.
    return json.loads(encode(value).encode())


def text(value: Any) -> str:
    """Returns a value as text for a path or a query."""
    if isinstance(value, bool):
        return 'true' if value else 'false'
    return _plain(value) if isinstance(value, (UUID, datetime)) else str(value)


def _plain(value: Any) -> str:
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, datetime):
        return value.astimezone(timezone.utc).isoformat(timespec='milliseconds').replace('+00:00', 'Z')
    raise TypeError(f'{type(value).__name__} is not JSON: {value!r}')
