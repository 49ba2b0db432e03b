"""The results of a message's prerequisites."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

from .._base import Endpoint
from .._calls import GROUP_VIEW, MESSAGE_VIEW
from .._errors import MusterError

T = TypeVar('T')

final_states = ('ACKED', 'REJECTED', 'FAILED', 'EXPIRED', 'CANCELLED')


class PrerequisiteResult(NamedTuple):
    """The outcome of a prerequisite: a message, a group or a scope."""

    message_id: str | None
    """None for others"""
    group_id: str | None
    """None for others"""
    state: str | None
    """Its final state"""
    result: Any
    """The message's result. For a group, a list of the results of its SUCCEEDED members except rejected ones.
    None if there is none, or if retention has removed it."""
    scope_id: str | None = None
    """None for others"""


class Reader(Protocol):
    """Makes calls."""

    def call(self, endpoint: Endpoint[T], args: Mapping[str, Any]) -> T: ...


def results_of(reader: Reader, after: Sequence[Any]) -> list[PrerequisiteResult]:
    """Returns the results of a message's prerequisites, in order."""
    return [_result_of(reader, one.to_json()) for one in after]


def _result_of(reader: Reader, after: Mapping[str, Any]) -> PrerequisiteResult:
    # Older servers know no scopes there.
    message_id, group_id, scope_id = after['messageId'], after['groupId'], after.get('scopeId')
    result: Any = None
    try:
        if message_id is not None:
            result = reader.call(MESSAGE_VIEW, {'messageId': message_id}).result
        elif group_id is not None:
            members = reader.call(GROUP_VIEW, {'groupId': group_id}).members
            good = [one for one in members if one.state == 'SUCCEEDED' and one.verdict != 'REJECTED']
            result = [one.outcome for one in good]
    except MusterError as error:
        if error.status != 404:
            raise
    return PrerequisiteResult(message_id, group_id, after['state'], result, scope_id)
