"""A claimed message in work, and the limits of a request for several."""

from __future__ import annotations

import math
import threading
import time
from typing import Any

from ._arguments import ABSENT
from ._base import Plan
from ._errors import ClaimLost
from ._records import Claim
from ._spending import Reservation
from ._tracing import Attempt
from ._transport import Stop

max_calls = 100
"""Calls of a batch."""
linger_seconds = 0.025
"""How long a call waits for others to share its request."""
first_pause_seconds = 0.1
max_pause_seconds = 5.0
lost_codes = ('CLAIM_LOST', 'MESSAGE_NOT_FOUND')
"""Refusals after which a claim has ended."""
_progress_every_seconds = 1.0


class Held:
    """A claimed message in work."""

    def __init__(self, message: Claim) -> None:
        self.message = message
        self.attempt = Attempt(message)
        self.reservations: list[Reservation] = []
        self.reserve_calls = 0
        self.memo_keys: set[str] = set()
        """Notes with the values of its steps"""
        self.step_locks: dict[str, threading.RLock] = {}
        """By the key of a step: held by the thread that does it"""
        self.is_over = False
        """The claim is over, or the message was given back: what the handler does now has no effect"""
        self.is_ending = False
        """The work is done, and it is told soon what became of it"""
        self.reason: ClaimLost | None = None
        """Why it is over before the work"""
        self.stop = Stop()
        """Ends what the handler waits for"""
        self.asking: dict[str, Any] | None = None
        """What the handler asks: this attempt ends with it, whatever the handler does after that"""
        self.plan: Plan | None = None
        """The calls that are made in the step that completes it"""
        self.progress: Any = ABSENT
        """Not sent yet"""
        self.progress_at = -math.inf
        self.is_renewing = False
        self.leased_from(time.monotonic())

    def leased_from(self, moment: float) -> None:
        """Counts the lease from a moment, of time.monotonic() as all of them."""
        self.lease_ends_at = moment + self.message.lease_seconds
        self.renew_at = moment + self.message.lease_seconds / 3

    @property
    def due_at(self) -> float:
        """When it is to be renewed."""
        if self.is_renewing:
            return math.inf
        if self.progress is ABSENT:
            return self.renew_at
        return min(self.renew_at, self.progress_at + _progress_every_seconds)

    def over(self, reason: ClaimLost | None = None) -> None:
        """Ends its right to go on."""
        self.is_over = True
        if reason is not None:
            self.attempt.failed(reason)
        if self.reason is None:
            self.reason = reason
