"""Repeats the calls that are made for a claim."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Protocol, TypeVar

from .._errors import ClaimLost, MusterError
from .._transport import Stop, pause_after

T = TypeVar('T')

first_pause_seconds = 0.1
_max_pause_seconds = 2.0
_max_asked_seconds = 60


class InsistingClaim(Protocol):
    """The claim that a call is made for."""

    @property
    def is_over(self) -> bool: ...

    @property
    def reason(self) -> ClaimLost | None: ...

    @property
    def stop(self) -> Stop: ...


def insist(
    claim: InsistingClaim, attempt: Callable[[], T], failed: Callable[[MusterError], object] = lambda _: None
) -> T:
    """Makes a call until it is answered, for as long as the claim is kept.

    Args:
        claim: the claim
        attempt: makes the call once
        failed: called before another attempt
    """
    failures = 0
    while True:
        try:
            return attempt()
        except MusterError as error:
            # The same bytes would be too large for a proxy again.
            if claim.is_over or not error.is_passing or error.status == 413:
                raise
            failed(error)
            pause = pause_after(failures, first_pause_seconds, _max_pause_seconds)
            failures += 1
            asked = min(_max_asked_seconds, error.retry_after_seconds or 0)
            claim.stop.wait(max(pause, asked) * (1 + random.random() / 4))
            if claim.is_over:
                raise (claim.reason or error) from error


def insist_beyond(claim: InsistingClaim, insisting: Callable[[], T], last: Callable[[], T]) -> T:
    """Makes a call until it is answered. If the claim ends before, makes it as often as the client makes others."""
    try:
        return insisting()
    except (MusterError, ClaimLost) as error:
        if not claim.is_over or (isinstance(error, MusterError) and not error.is_passing):
            raise
        return last()
