"""What handlers wait for while no worker holds their message: conditions, and messages that they send and join."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict, cast

from .._arguments import Id, copied, given
from .._base import BATCH, Plan
from .._calls import MESSAGE_SEND, MESSAGE_VIEW
from .._errors import JoinFailed, MusterError
from .._mailbox_ids import mailbox_id_of
from .._record import member_of
from .._records import JoinedFields, Message
from .options import MailboxChoice
from .results import PrerequisiteResult, final_states
from .task import ClaimedTask, timestamp

_max_joined = 50
"""The most messages of a join: so many things a suspension waits for."""
_max_calls = 25
"""The most calls of an atomic batch."""
_max_in_step = _max_calls - 2
"""The most messages that are sent in one step with the note and the suspension."""
_sent = 'sent'
"""The note of a join whose messages have been sent. Later it has their ids."""


class _Addressed(TypedDict):
    mailbox: MailboxChoice
    payload: Any


class JoinedSend(_Addressed, JoinedFields, total=False):
    """A message to send and join: `{'mailbox': 'pages', 'payload': url}`. By default it is sent into the handler's run."""

    scope_id: Id


@dataclass(frozen=True)
class Suspending:
    """How a handler ends its attempt: the calls that are made with the suspension, in one atomic step."""

    options: Mapping[str, Any]
    sends: Sequence[Mapping[str, Any]] = ()
    """The messages of a join, which the suspension waits for"""
    ahead: Sequence[str] = ()
    """The ids of those that were sent before, because one step has no room for them"""
    note: Mapping[str, Any] | None = None
    """The note that says that they were sent"""


def conditions_of(**conditions: Any) -> dict[str, Any]:
    """Returns the conditions of a suspension, as the service takes them."""
    asked = {member_of(name): value for name, value in conditions.items() if value is not None}
    taken: dict[str, Any] = copied(given(asked))
    return taken


def has_slept(task: ClaimedTask, until: float) -> bool:
    """Whether the message has just been woken from a sleep until this time, which the store counts in seconds."""
    suspension = _suspension_of(task)
    if suspension.get('wokenBy') != 'CONDITION' or suspension['until'] is None:
        return False
    return timestamp(suspension['until']) >= until - 1


def joined(
    task: ClaimedTask, name: str, sends: Sequence[JoinedSend], options: Mapping[str, Any]
) -> list[Any] | Suspending:
    """Returns the results of a join; or how the attempt ends, until the messages have ended."""
    if not sends:
        return []
    if len(sends) > _max_joined:
        raise ValueError(f'a join has at most {_max_joined} messages, and {name} has {len(sends)}: join in steps')
    message = task.message
    note = task.memos.note(f'join:{name}')
    known = note.get()
    if known is None:
        claim = {'messageId': message.id, 'token': message.token}
        put = {'scopeId': note.scope_id, 'key': note.key, 'value': _sent, 'ifVersion': 0, **claim}
        calls = _calls_of(task, name, sends)
        ahead, rest = calls[:-_max_in_step], calls[-_max_in_step:]
        return Suspending(options, rest, _sent_ahead(task, ahead), put)
    if known == _sent:
        known = _ids_of(task, name, sends)
        note.put(known)
    has_timed_out = isinstance(known, dict)
    ids = cast('list[str]', known['ids'] if has_timed_out else known)
    results = [_result_of(task, message_id) for message_id in ids]
    is_over = all(one.state is None or one.state in final_states for one in results)
    if not is_over and not has_timed_out:
        if _suspension_of(task).get('wokenBy') != 'TIMEOUT':
            return Suspending({**options, 'after': [{'messageId': message_id} for message_id in ids]})
        # Later attempts don't wait for it again.
        note.put({'ids': ids, 'timedOut': True})
    if any(one.state != 'ACKED' for one in results):
        raise JoinFailed(name, results)
    return [one.result for one in results]


def _sent_ahead(task: ClaimedTask, calls: Sequence[Mapping[str, Any]]) -> list[str]:
    """Sends messages before the step that suspends. If that is refused, the next attempt finds them by their workKeys."""
    ids: list[str] = []
    for at in range(0, len(calls), _max_calls):
        plan = Plan()
        for call in calls[at : at + _max_calls]:
            plan.add(MESSAGE_SEND, call)
        plan.take(task.call(BATCH, plan.args))
        ids += [call.answer.id for call in plan.calls]
    return ids


def _suspension_of(task: ClaimedTask) -> Mapping[str, Any]:
    return task.message.to_json().get('suspension') or {}


def _work_key(task: ClaimedTask, name: str, index: int) -> str:
    return f'{task.message.id}/{name}/{index}'


def _calls_of(task: ClaimedTask, name: str, sends: Sequence[JoinedSend]) -> list[dict[str, Any]]:
    """Returns the sends of a join, each with a workKey, so that nothing is sent twice."""
    return [_call_of(task, _work_key(task, name, index), **send) for index, send in enumerate(sends)]


def _call_of(
    task: ClaimedTask, work_key: str, *, mailbox: MailboxChoice, payload: Any, **fields: Any
) -> dict[str, Any]:
    if not isinstance(mailbox, str) and 'mailbox_id' in mailbox:
        mailbox_id = mailbox['mailbox_id']
    else:
        create = {'name': mailbox} if isinstance(mailbox, str) else mailbox
        mailbox_id = mailbox_id_of(task.muster, create, task.call)
    asked = {
        'scopeId': task.message.scope_id,
        **{member_of(name): value for name, value in fields.items()},
        'mailboxId': mailbox_id,
        'payload': payload,
        'workKey': work_key,
    }
    call: dict[str, Any] = copied(given(asked))
    return call


def _ids_of(task: ClaimedTask, name: str, sends: Sequence[JoinedSend]) -> list[str]:
    """Returns the ids of messages that were sent: from the suspension, or else from sends known by their workKeys."""
    after: list[dict[str, Any]] = _suspension_of(task).get('after', [])
    ids = [one['messageId'] for one in after]
    if len(ids) == len(sends) and _are_joined(task, name, ids):
        return ids
    return [task.call(MESSAGE_SEND, call).id for call in _calls_of(task, name, sends)]


def _are_joined(task: ClaimedTask, name: str, ids: Sequence[str | None]) -> bool:
    """Whether the last suspension was that of this join: the attempt may have been suspended for something else since."""
    for index, message_id in enumerate(ids):
        if message_id is None:
            return False
        found = _view(task, message_id)
        if found is not None:
            return found.work_key == _work_key(task, name, index)
    # Retention has removed all of them.
    return True


def _result_of(task: ClaimedTask, message_id: str) -> PrerequisiteResult:
    found = _view(task, message_id)
    if found is None:
        return PrerequisiteResult(message_id, None, None, None)
    return PrerequisiteResult(message_id, None, found.state, found.result)


def _view(task: ClaimedTask, message_id: str) -> Message | None:
    """Returns a message; None if retention has removed it."""
    try:
        return task.call(MESSAGE_VIEW, {'messageId': message_id})
    except MusterError as error:
        if error.status != 404:
            raise
        return None
