"""Warns if an existing mailbox differs from what a program expects."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from ._base import Ensuring
from ._calls import MAILBOX_CREATE
from ._record import Record, member_of

if TYPE_CHECKING:
    from ._client import Muster

_logged: WeakKeyDictionary[Muster, set[str]] = WeakKeyDictionary()
"""Differences that were logged, by client"""


def warn_of_drift(muster: Muster, asked: Mapping[str, Any], found: Record, logger: logging.Logger | None = None) -> None:
    """Logs in which fields an existing mailbox differs from those asked for, each difference once."""
    logger = logger or logging.getLogger('muster')
    known = _logged.setdefault(muster, set())
    ensuring = Ensuring(MAILBOX_CREATE, {member_of(name): value for name, value in asked.items()})
    for text in ensuring.drifts(found):
        if text not in known:
            known.add(text)
            logger.warning('%s', text)
