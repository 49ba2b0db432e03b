"""Decides what a model call has cost, once it has ended."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, Optional

RequestEnd = Literal['free', 'known', 'silent', 'left', 'lost', 'open']
"""How a request to the provider has ended, as far as its cost is concerned:

- `free`: refused, or failed before any output
- `known`: answered with a usage
- `silent`: answered with JSON that has no usage, as by calls that list or upload something
- `left`: answered, and read by the function itself, such as a stream; only the function knows the usage
- `lost`: no complete answer: a time-out, an abort, a broken connection, or a status that leaves the cost open
- `open`: not answered when the function ended
"""

Knowledge = Literal['NOTHING', 'KNOWN', 'UNSAID', 'UNKNOWN']
"""What is known of the cost of an ended call. UNSAID: it was billed, but the amount is not known."""

OnUnknown = Literal['settle', 'release']
"""What happens to the estimate of a call whose cost is unknown"""

_FREE_SERVER_ERRORS = (500, 503, 529)
"""Server errors that providers answer before they begin to work: internal, unavailable, overloaded."""
_REQUEST_TIMEOUT = 408


class EndedCall(NamedTuple):
    """A call of the function that has ended."""

    requests: Sequence[RequestEnd]
    has_raised: bool
    has_taken_fetch: bool
    """Whether the function has taken `call.fetch`, so that `requests` has all that it has sent"""
    has_reported: bool
    """Whether the function has reported what it used"""


def end_by_status(status: int) -> Optional[Literal['free', 'lost']]:
    """Returns how a request has ended whose answer has this status. None for a success, which depends on the body."""
    if 200 <= status < 300:
        return None
    is_refused = 400 <= status < 500 and status != _REQUEST_TIMEOUT
    return 'free' if is_refused or status in _FREE_SERVER_ERRORS else 'lost'


def knowledge_of(call: EndedCall) -> Knowledge:
    """Returns what is known of the cost of an ended call."""
    ends = set(call.requests)
    if ends & {'lost', 'open'}:
        return 'UNKNOWN'
    if call.has_raised and (not call.has_taken_fetch or 'left' in ends):
        return 'UNKNOWN'
    if call.has_reported:
        return 'KNOWN'
    if 'left' in ends or not call.has_taken_fetch:
        return 'UNSAID'
    if 'known' in ends:
        return 'KNOWN'
    return 'UNSAID' if 'silent' in ends else 'NOTHING'


def amount_of(knowledge: Knowledge, known: Optional[int], estimate: int, on_unknown: OnUnknown) -> int:
    """Returns the amount to book. known: the sum of the known costs; None if there is none."""
    if knowledge == 'NOTHING' or (knowledge == 'UNKNOWN' and on_unknown == 'release'):
        return known or 0
    if knowledge == 'KNOWN':
        return estimate if known is None else known
    return max(estimate, known or 0)
