"""The exceptions of calls and handlers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeGuard, Union

from ._records import ErrorCode, Message

if TYPE_CHECKING:
    from ._worker.results import PrerequisiteResult


class MusterError(Exception):
    """A call that failed. `code` is the reason: `if error.code == 'CLAIM_LOST': …`."""

    code: Union[ErrorCode, Literal['UNREACHABLE', 'UNREADABLE']]
    """The API's code; UNREACHABLE if there was no answer, UNREADABLE if the answer was not Muster's"""
    message: str
    status: int
    """The HTTP status; 0 without an answer"""
    request_id: str | None
    """The request's id in the server's log and events; None without an answer"""
    retry_after_seconds: int | None
    """The answer's Retry-After, if any"""
    index: int | None
    """The index of the refused call of an atomic batch; otherwise None"""
    call: str | None
    """The name of that call"""

    def __init__(
        self,
        code: Union[ErrorCode, Literal['UNREACHABLE', 'UNREADABLE']],
        message: str,
        *,
        status: int = 0,
        request_id: str | None = None,
        retry_after_seconds: int | None = None,
        index: int | None = None,
        call: str | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.status = status
        self.request_id = request_id
        self.retry_after_seconds = retry_after_seconds
        self.index = index
        self.call = call

    def __str__(self) -> str:
        return f'{self.code}: {self.message}'

    def __reduce__(self) -> tuple[object, ...]:
        about: dict[str, Any] = {
            'status': self.status,
            'request_id': self.request_id,
            'retry_after_seconds': self.retry_after_seconds,
            'index': self.index,
            'call': self.call,
        }
        return partial(MusterError, self.code, self.message, **about), ()

    @property
    def is_passing(self) -> bool:
        """Whether the same call may succeed later.

        So it may after no answer, one that is not Muster's, a 408, a 429, or a server error other than damaged data.
        """
        if self.code == 'UNREADABLE' or self.status in (0, 408, 429):
            return True
        return self.status >= 500 and not self.code.endswith('_DAMAGED')

    @property
    def next_cursor(self) -> str | None:
        """For EVENTS_DAMAGED and MESSAGES_DAMAGED, the `cursor` that continues after the damaged part; else None."""
        found = re.search(r'; cursor=(\S+) continues after them$', self.message)
        return found.group(1) if found else None


class RetryLater(Exception):
    """Raised by a handler: the message comes back after this many seconds.

    The next attempt finds the reason in `last_error`.

    Args:
        seconds: the delay, at most 86,400
        reason: why the message comes back
        counts_attempt: False if the work was not tried, for example because a quota was short, so that no attempt is
            used up
    """

    def __init__(self, seconds: float, reason: str | None = None, *, counts_attempt: bool = True) -> None:
        super().__init__(f'again in {seconds:g} s' if reason is None else reason)
        self.seconds = seconds
        self.counts_attempt = counts_attempt


class GiveUp(Exception):
    """Raised by a handler: another attempt would be useless, so the message ends REJECTED."""

    def __init__(self, reason: str = 'given up') -> None:
        super().__init__(reason)


class Asked(Exception):
    """Raised by `task.ask`: the attempt ends, and the next one begins when somebody has answered. Don't catch it."""

    def __init__(self) -> None:
        super().__init__('the attempt ends with a question; the next one begins with the answer')


class Suspended(Exception):
    """Raised by `task.suspend`, `task.sleep` and `task.join`: the attempt ends, and the next one begins later. Don't
    catch it."""

    def __init__(self) -> None:
        super().__init__('the attempt ends here; the next one begins when what the message waits for is over')


class JoinFailed(Exception):
    """Raised by `task.join` if a message did not come out ACKED."""

    def __init__(self, name: str, results: Sequence[PrerequisiteResult]) -> None:
        self.results = results
        """The outcomes of all messages, in order"""
        states = ', '.join(dict.fromkeys(one.state or 'removed' for one in self.failed))
        count = f'{len(self.failed)} of {len(results)}'
        super().__init__(f'{count} messages of the join {name} did not succeed: {states}')
        self._name = name

    @property
    def failed(self) -> list[PrerequisiteResult]:
        """The outcomes of those that did not come out ACKED."""
        return [one for one in self.results if one.state != 'ACKED']

    def __reduce__(self) -> tuple[object, ...]:
        return JoinFailed, (self._name, self.results)


class ClaimLost(Exception):
    """The claim has ended, and with it the handler's right to continue."""


class WorkerClosed(ClaimLost):
    """The worker is stopping, and gives the message back."""


class NoResult(Exception):
    """A message ended without success, so it has no result."""

    def __init__(self, record: Message) -> None:
        why = record.last_error or record.reason or 'no reason was given'
        super().__init__(f'message {record.id} is {record.state}: {why}')
        self.record = record
        """The message's current state"""


class UnreadableValue(ValueError):
    """A value of somebody else that Python cannot hold.

    It has a number of which a float would lose digits, such as 1e400, or it nests too deeply for this program. Raised where
    the value is read, so that the rest of the answer is not affected.
    """

    def __init__(self, text: str) -> None:
        # Without the number, as the message becomes a last_error, and the value may have been encrypted.
        super().__init__('the value has a number that Python cannot hold, or nests too deeply: the JSON is in the text of this error')
        self.text = text
        """The value as JSON: `json.loads(error.text, parse_float=Decimal)` keeps all digits"""

    def __reduce__(self) -> tuple[object, ...]:
        return UnreadableValue, (self.text,)


class HoldLost(Exception):
    """A hold of a pool's units has ended, so others may have them."""


class Stopped(Exception):
    """A call was ended by its `stop`."""


_lost_codes = ('CLAIM_LOST', 'MESSAGE_NOT_FOUND', 'RESULT_CONFLICT')


def is_lost(error: BaseException | None) -> TypeGuard[MusterError]:
    """Whether a claim's call was refused because the claim has ended.

    RESULT_CONFLICT: by a completion with another result, which stands. In an atomic batch, that call is the first one.
    """
    return isinstance(error, MusterError) and error.code in _lost_codes and not error.index


_short_codes = ('INSUFFICIENT_BUDGET', 'ALLOWANCE_EXHAUSTED', 'ALLOWANCE_COOLING_DOWN', 'WAITERS_FULL')


def is_short(error: BaseException | None) -> TypeGuard[MusterError]:
    """Whether a call was refused because a budget or quota is short. The call may succeed later."""
    return isinstance(error, MusterError) and error.code in _short_codes


_unprintable = 'an error that cannot be shown as text'


def text_of(error: BaseException) -> str:
    """Returns an exception as a text, even one whose own fails."""
    try:
        return str(error)
    except Exception:
        return _unprintable


_max_reason_length = 2_048


def reason_of(error: BaseException) -> str:
    """Returns a handler's exception as the reason of a nack: one line of at most 2,048 characters."""
    text = text_of(error)
    if text is not _unprintable and not isinstance(error, (RetryLater, GiveUp, WorkerClosed)):
        text = f'{type(error).__name__}: {text}'
    line = re.sub(r'[\x00-\x1f\x7f-\x9f]+', ' ', text.encode('utf-8', 'replace').decode()).strip()
    return (line or 'no reason was given')[:_max_reason_length]
