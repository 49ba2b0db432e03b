"""The questions of handlers, and their answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from .._arguments import copied
from .._records import Claim


class GivenAnswer(NamedTuple):
    """The outcome of a message's last question."""

    question: Any
    """The question as asked"""
    value: Any
    """The answer; None if nobody answered in time"""
    answered_by: str | None
    """The name that the answerer gave"""
    is_expired: bool
    """Whether nobody answered in time"""


def asking_of(
    question: Any,
    options: Sequence[str] | None,
    expires_in_seconds: int | None,
    on_expiry: str | None,
    yields_key: bool | None,
) -> dict[str, Any]:
    """Returns the question that a handler asks at the end of its attempt, as the service takes it."""
    asking = {
        'options': options,
        'expiresInSeconds': expires_in_seconds,
        'onExpiry': on_expiry,
        'yieldsKey': yields_key,
    }
    given = {name: value for name, value in asking.items() if value is not None}
    asked: dict[str, Any] = copied({'question': question, **given})
    return asked


def answer_of(message: Claim) -> GivenAnswer | None:
    """Returns the answer that an attempt begins with; None if it has asked nothing or its question was withdrawn."""
    asked = message.question
    if asked is None or asked.state not in ('ANSWERED', 'EXPIRED'):
        return None
    return GivenAnswer(asked.question, asked.answer, asked.answered_by, asked.state == 'EXPIRED')
