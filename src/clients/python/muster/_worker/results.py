"""The results of a message's prerequisites."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

from .._base import Endpoint
from .._calls import GROUP_VIEW, MESSAGE_VIEW
from .._errors import MusterError

T = TypeVar('T')


class PrerequisiteResult(NamedTuple):
    """The outcome of a prerequisite, a message or a group."""

    message_id: str | None
    """None for a group"""
    group_id: str | None
    """None for a message"""
    state: str | None
    """Its final state"""
    result: Any
    """The message's result. For a group, a list of the results of its SUCCEEDED members except rejected ones.
    None if there is none, or if retention has removed it."""


class Reader(Protocol):
    """Makes calls."""

    def call(self, endpoint: Endpoint[T], args: Mapping[str, Any]) -> T: ...


def results_of(reader: Reader, after: Sequence[Any]) -> list[PrerequisiteResult]:
    """Returns the results of a message's prerequisites, in order."""
    return [_result_of(reader, one.message_id, one.group_id, one.state) for one in after]


def _result_of(reader: Reader, message_id: str | None, group_id: str | None, state: str | None) -> PrerequisiteResult:
    result: Any = None
    try:
        if message_id is not None:
            result = reader.call(MESSAGE_VIEW, {'messageId': message_id}).result
        else:
            members = reader.call(GROUP_VIEW, {'groupId': group_id}).members
            good = [one for one in members if one.state == 'SUCCEEDED' and one.verdict != 'REJECTED']
            result = [one.outcome for one in good]
    except MusterError as error:
        if error.status != 404:
            raise
    return PrerequisiteResult(message_id, group_id, state, result)
