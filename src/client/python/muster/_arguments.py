"""Arguments of calls: one that is not given, and what may stand for an id, a moment or an amount."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from typing import Any, Literal, Union
from uuid import UUID

from ._record import Record


class Absent:
    """The type of `ABSENT`."""

    def __repr__(self) -> str:
        return 'ABSENT'


ABSENT: Any = Absent()
"""The default of arguments that may be left out. None is sent as null."""

Id = Union[str, UUID]
Moment = Union[str, datetime]
"""An ISO 8601 text, or a datetime (a naive one is local time)."""
Amount = Union[str, int]
"""Minor units of a currency: digits."""


From = Mapping[Literal['$from', 'member'], Any]
"""In a batch: `{'$from': i}` is the id that the call at index i answers; with `member` another id of its answer."""
After = Union[Id, Mapping[str, Any], Record]
"""What a message is after: its id, what a send, a submit or the making of a group answered, or `{'messageId': …}`, `{'groupId': …}`."""


def given(args: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments without those that were left out."""
    return {name: _value(name, value) for name, value in args.items() if value is not ABSENT}


def _value(name: str, value: Any) -> Any:
    if name == 'after' and value:
        after: Sequence[After] = value
        return [_prerequisite(one) for one in after]
    return str(value) if name.endswith('Minor') and isinstance(value, int) else value


def _prerequisite(one: After) -> Mapping[str, Any]:
    # The answer of a submit has the ids of both its group and its message.
    members = one.to_json() if isinstance(one, Record) else one if isinstance(one, Mapping) else {'id': one}
    if '$from' in members:
        return {'messageId': members}
    for name in ('messageId', 'groupId'):
        if name in members:
            return {name: members[name]}
    return {'messageId': members['id']}


def encode(value: Any) -> str:
    """Compact JSON, with ids and moments as the API writes them."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(',', ':'), default=_plain)


def text(value: Any) -> str:
    """A value in a path or a query."""
    if isinstance(value, bool):
        return 'true' if value else 'false'
    return _plain(value) if isinstance(value, (UUID, datetime)) else str(value)


def _plain(value: Any) -> str:
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, datetime):
        return value.astimezone(timezone.utc).isoformat(timespec='milliseconds').replace('+00:00', 'Z')
    raise TypeError(f'{type(value).__name__} is not JSON: {value!r}')
