"""Messages that may be the ones that end their process."""

from __future__ import annotations

from .._errors import RetryLater
from .._records import Claim

_lapsed = 'the lease ended at '
"""How `last_error` begins if the last attempt ended with its lease, usually because its process died."""
_min_attempt = 3
"""A single process that dies is no reason to slow down the messages that it held."""
max_leases_alone = 10
"""For how many leases nothing is claimed beside a suspect. Work that waits for other work of its worker must go on."""


def has_lapsed(message: Claim) -> bool:
    """Whether the last attempt ended with its lease."""
    return (message.last_error or '').startswith(_lapsed)


def is_suspect(message: Claim) -> bool:
    """Whether a message may be the one that ends its process.

    It is worked on alone, so that its neighbours lose no more attempts. Their last attempt is always one alone.
    """
    return has_lapsed(message) and (message.attempt >= _min_attempt or message.attempt == message.max_attempts)


class Untried(RetryLater):
    """The worker gives a message back before its handler was called."""

    def __init__(self) -> None:
        super().__init__(0, 'given back untried, because another message is worked on alone', counts_attempt=False)
