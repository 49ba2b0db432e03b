"""The ids of mailboxes that are found by name or created."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from ._arguments import encode
from ._calls import MAILBOX_CREATE
from ._drift import warn_of_drift
from ._errors import MusterError
from ._record import member_of

if TYPE_CHECKING:
    from ._client import Muster

T = TypeVar('T')


def mailbox_id_of(muster: Muster, fields: Mapping[str, Any], call: Callable[..., Any] | None = None) -> str:
    """Returns the id of a mailbox, which is found by its name or created. call: makes a call, and may repeat it."""
    known = _key(fields)
    if known not in muster.ids:
        asked = {**{member_of(name): value for name, value in fields.items()}, 'unique': True}
        found = (call or muster.request)(MAILBOX_CREATE, asked)
        warn_of_drift(muster, fields, found)
        muster.ids[known] = found.id
    return muster.ids[known]


def with_mailbox(
    muster: Muster, fields: Mapping[str, Any], work: Callable[[str], T], call: Callable[..., Any] | None = None
) -> T:
    """Does work with a mailbox. If the known one was deleted, its successor of the same name is found or created."""
    was_known = is_known(muster, fields)
    try:
        return work(mailbox_id_of(muster, fields, call))
    except MusterError as error:
        if not was_known or error.code != 'MAILBOX_NOT_FOUND':
            raise
    forget(muster, fields)
    return work(mailbox_id_of(muster, fields, call))


def is_known(muster: Muster, fields: Mapping[str, Any]) -> bool:
    """Whether the id was found before."""
    return _key(fields) in muster.ids


def forget(muster: Muster, fields: Mapping[str, Any]) -> None:
    """Forgets the id, which may belong to a deleted mailbox."""
    muster.ids.pop(_key(fields), None)


def _key(fields: Mapping[str, Any]) -> tuple[str, str]:
    return 'mailbox', encode(fields)
