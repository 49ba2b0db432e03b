"""The reservations of earlier attempts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from ._calls import BUDGET_VIEW
from ._errors import MusterError
from ._records import ReservationRecord
from ._worker.spending import Spender

_page_size = 200
_max_closed = 1000
"""How many closed reservations are looked at: a budget may keep those of more than a year."""


def earlier_of(spender: Spender, budget_id: str) -> Sequence[ReservationRecord]:
    """Returns the reservations that earlier attempts of the same work have made in a budget, oldest first.

    As far as the key may see them: those that are ACTIVE, and those among the newest closed ones.
    """
    if spender.work_name is None:
        return []

    def is_earlier(one: ReservationRecord) -> bool:
        key = one.work_key or ''
        is_own = key.startswith(f'{spender.attempt_name}/')
        is_before = spender.claimed_at is None or one.created_at < spender.claimed_at
        return key.startswith(f'{spender.work_name}/') and not is_own and is_before

    def newest(state: str) -> Iterator[ReservationRecord]:
        args: dict[str, Any] = {'budgetId': budget_id, 'state': state, 'limit': _page_size}
        while True:
            page = spender.call(BUDGET_VIEW, args)
            yield from page.reservations
            if page.next_cursor is None:
                return
            args['cursor'] = page.next_cursor

    # By id: one may close between the two lists.
    found: dict[str, ReservationRecord] = {}
    try:
        found.update((one.id, one) for one in newest('ACTIVE') if is_earlier(one))
        for one in islice(newest('SETTLED,VOIDED'), _max_closed):
            if one.created_at < (spender.since or ''):
                break
            if is_earlier(one):
                found[one.id] = one
    except MusterError as error:
        if error.code != 'PERMISSION_DENIED':
            raise
    return [one for _, one in sorted(found.items())]
