"""The options and the counts of workers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Union

MailboxChoice = Union[str, Mapping[str, Any]]
"""A mailbox: its name, created if it does not exist; its fields, to create it with these; or `{'mailbox_id': …}`"""


@dataclass(frozen=True)
class WorkerCounts:
    """The counts of a worker since it started."""

    received: int
    completed: int
    asked: int
    """Attempts that ended with a question"""
    suspended: int
    """Attempts that ended with `suspend`, `sleep` or `join`"""
    returned: int
    """Messages given back for another attempt"""
    failed: int
    """Messages that ended without success: by GiveUp, or in their last attempt"""
    lost: int
    active: int
    """Messages being worked on"""
