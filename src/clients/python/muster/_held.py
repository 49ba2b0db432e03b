"""A claimed message being worked on, and constants of workers."""

from __future__ import annotations

import itertools
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
"""Maximum calls of a batch."""
linger_seconds = 0.025
"""How long a call waits for others to share its request."""
first_pause_seconds = 0.1
max_pause_seconds = 5.0
lost_codes = ('CLAIM_LOST', 'MESSAGE_NOT_FOUND', 'RESULT_CONFLICT')
"""Codes of refusals that mean that the claim has ended. RESULT_CONFLICT: it was completed with another result, which stands."""
final_states = ('ACKED', 'REJECTED', 'FAILED', 'EXPIRED', 'CANCELLED')
_progress_every_seconds = 1.0


class Held:
    """A claimed message being worked on."""

    def __init__(self, message: Claim) -> None:
        self.message = message
        self.attempt = Attempt(message)
        self.reservations: list[Reservation] = []
        self.reserve_calls = 0
        self.call_numbers = itertools.count(1)
        """The numbers of its reservations for model calls"""
        self.has_spent = False
        """Whether a model call of this attempt has cost something"""
        self.memo_keys: set[str] = set()
        """Keys of the notes that store its steps' values"""
        self.step_locks: dict[str, threading.RLock] = {}
        """By a step's key; each is held by the thread that does the step"""
        self.is_over = False
        """The claim has ended or the message was given back, so the handler has no further effect"""
        self.is_ending = False
        """Its outcome is being settled, queued or sent"""
        self.reason: ClaimLost | None = None
        """Why the claim ended before the work did"""
        self.stop = Stop()
        """Ends the handler's waits"""
        self.asking: dict[str, Any] | None = None
        """The handler's question, which ends this attempt whatever the handler does afterwards"""
        self.plan: Plan | None = None
        """The calls to make with its completion"""
        self.progress: Any = ABSENT
        """Not sent yet"""
        self.progress_at = -math.inf
        self.is_renewing = False
        self.received_at = time.monotonic()
        self.leased_from(self.received_at)

    def leased_from(self, moment: float) -> None:
        """Counts the lease from this time. All times here are time.monotonic() times."""
        self.lease_ends_at = moment + self.message.lease_seconds
        self.renew_at = moment + self.message.lease_seconds / 3

    @property
    def due_at(self) -> float:
        """When the next renewal is due."""
        if self.is_renewing:
            return math.inf
        if self.progress is ABSENT:
            return self.renew_at
        return min(self.renew_at, self.progress_at + _progress_every_seconds)

    def over(self, reason: ClaimLost | None = None) -> None:
        """Ends the task's right to continue."""
        self.is_over = True
        if reason is not None:
            self.attempt.failed(reason)
        if self.reason is None:
            self.reason = reason
