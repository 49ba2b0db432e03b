"""Logs outages."""

from __future__ import annotations

import logging
import math
import threading
import time

from .._errors import MusterError, reason_of


class Outage:
    """Logs a line when an outage begins and one when it ends."""

    def __init__(self, logger: logging.Logger) -> None:
        self._logger = logger
        self._lock = threading.Lock()
        self._begun_at: float | None = None

    @property
    def is_now(self) -> bool:
        """Whether one has begun and not ended."""
        return self._begun_at is not None

    def begins(self, error: MusterError) -> None:
        """A call has failed because the service is away."""
        with self._lock:
            if self._begun_at is not None:
                return
            self._begun_at = time.monotonic()
        why = reason_of(error)
        self._logger.warning('the service is unavailable, retrying: %s', why)

    def ends(self) -> None:
        """A call was answered."""
        with self._lock:
            begun_at, self._begun_at = self._begun_at, None
        if begun_at is not None:
            seconds = math.ceil(time.monotonic() - begun_at)
            self._logger.warning('the service is available again after %d s', seconds)
