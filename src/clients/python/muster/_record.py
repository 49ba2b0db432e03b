"""The records that calls return: JSON objects whose members are attributes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar


@lru_cache(maxsize=None)
def member_of(attribute: str) -> str:
    """Returns an attribute's name in the API's spelling: `leaseExpiresAt` for `lease_expires_at`."""
    return re.sub(r'_([a-z0-9])', lambda found: found.group(1).upper(), attribute.rstrip('_'))


class Unreadable:
    """Stands for a value that could not be decoded. The error is raised when the value is read."""

    def __init__(self, error: Exception) -> None:
        self.error = error


class Record:
    """A JSON object of the API: `claim.lease_expires_at` is its member `leaseExpiresAt`.

    Members that this client does not know yet can be read as well. Payloads, inputs and results are plain JSON.
    """

    __slots__ = ('_json',)
    _records: ClassVar[Mapping[str, type[Record]]] = {}
    _json: dict[str, Any]

    def __init__(self, json: dict[str, Any]) -> None:
        self._json = json

    def to_json(self) -> dict[str, Any]:
        """Returns the JSON object itself."""
        return self._json

    if not TYPE_CHECKING:  # Type checkers know the members that are declared, and no others.

        def __getattr__(self, attribute: str) -> Any:
            if attribute.startswith('_'):
                raise AttributeError(attribute)
            member = member_of(attribute)
            try:
                value = self._json[member]
            except KeyError:
                raise AttributeError(f'{type(self).__name__} has no {attribute}') from None
            if isinstance(value, Unreadable):
                raise value.error
            record = self._records.get(member)
            if record is None or value is None:
                return value
            return [record(one) for one in value] if isinstance(value, list) else record(value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Record) and self._json == other._json

    def __hash__(self) -> int:
        return hash(str(self._json.get('id', self._json.get('eventId'))))

    def __reduce__(self) -> tuple[type[Record], tuple[dict[str, Any]]]:
        return type(self), (self._json,)

    def __repr__(self) -> str:
        return f'{type(self).__name__}({self._json!r})'
