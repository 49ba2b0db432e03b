"""Judging the members of a group as they succeed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Union

from ._arguments import Id, text
from ._calls import EVENT_WATCH, GROUP_VIEW, TASK_ACCEPT, TASK_REJECT
from ._errors import MusterError
from ._record import Record
from ._records import TaskGroup, TaskRecord
from ._transport import Stop

if TYPE_CHECKING:
    from ._client import Muster

GroupRef = Union[Id, Record]
"""A group: its id, or the record returned by the call that created or viewed it"""

Verdict = Callable[[TaskRecord], Union[bool, None]]
"""Whether a member's result (`outcome`) is accepted; None leaves it to other judges"""

_wait_seconds = 20
_types = 'task.succeeded,task.requeued,group.task_joined,group.decided'


class Judging:
    """The steps of a judge: looks for members to judge, gives verdicts, and waits for more."""

    def __init__(self, muster: Muster, group: GroupRef, stop: Stop | None = None) -> None:
        self._muster = muster
        self._group_id: str = group.to_json()['groupId'] if isinstance(group, Record) else text(group)
        self._stop = stop
        self._cursor = 'latest'
        self._judged: set[tuple[str, int]] = set()
        self._is_decided = False

    def look(self) -> TaskGroup:
        """Views the group."""
        if self._cursor == 'latest':
            # Before the view, so that no later event is missed.
            self._cursor = self._request(EVENT_WATCH, {'cursor': 'latest', 'limit': 1}).next_cursor
        found: TaskGroup = self._request(GROUP_VIEW, {'groupId': self._group_id})
        return found

    def pending(self, group: TaskGroup) -> Iterator[TaskRecord]:
        """Yields succeeded members without a verdict, each attempt once."""
        for task in group.members:
            # The group is decided, but a verdict on another member would still be recorded.
            if self._is_decided:
                return
            attempt = task.task_id, task.attempts
            if task.state == 'SUCCEEDED' and task.verdict is None and attempt not in self._judged:
                self._judged.add(attempt)
                yield task

    def give(self, task: TaskRecord, verdict: bool | None) -> None:
        """Accepts or rejects a member."""
        if verdict is None:
            return
        try:
            args = {'groupId': self._group_id, 'taskId': task.task_id}
            given = self._request(TASK_ACCEPT if verdict else TASK_REJECT, args)
            self._is_decided = given.group_state == 'DECIDED'
        except MusterError as error:
            # The group was decided, the member was requeued, or another judge was faster.
            if error.code not in ('GROUP_DECIDED', 'TASK_NOT_SUCCEEDED', 'VERDICT_CONFLICT'):
                raise

    def wait(self, group: TaskGroup) -> None:
        """Waits until something happens in the group, or until the next look is due.

        A task that joined the group works in its own run, whose events are not watched here. The next look finds it.
        """
        if self._is_decided:
            return
        args = {
            'cursor': self._cursor,
            'types': _types,
            'scopeId': group.scope_id,
            'waitSeconds': _wait_seconds,
        }
        try:
            self._cursor = self._request(EVENT_WATCH, args).next_cursor
        except MusterError as error:
            if error.code != 'CURSOR_EXPIRED':
                raise
            self._cursor = 'latest'

    def _request(self, endpoint: Any, args: Mapping[str, Any]) -> Any:
        return self._muster.request(endpoint, args, stop=self._stop)


def judge(judging: Judging, verdict: Verdict) -> TaskGroup:
    """Judges the members of a group until it is decided."""
    while (group := judging.look()).state != 'DECIDED':
        for task in judging.pending(group):
            judging.give(task, verdict(task))
        judging.wait(group)
    return group
