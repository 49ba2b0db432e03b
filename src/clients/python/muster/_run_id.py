"""Ids from names."""

from __future__ import annotations

from uuid import UUID, uuid5

_namespace = UUID('0f6e0b5a-5d0e-4b6e-9b3c-6d7573746572')


def run_id(*parts: str | int) -> str:
    """Returns the id of a name: `run_id('desk', '2026-01-31')` is the same in every process and in both clients.

    So everyone who knows the name finds the run. Different lists of parts have different ids.

    Raises:
        TypeError: there are no parts, or a part is neither a text without NUL nor a whole number
    """
    if not parts:
        raise TypeError('run_id takes at least one text or number')
    for part in parts:
        # Other values have more than one text form, so one name could get several ids. NUL separates the parts.
        is_number = isinstance(part, int) and not isinstance(part, bool)
        if not is_number and (not isinstance(part, str) or '\0' in part):
            raise TypeError(f'run_id takes texts without NUL and whole numbers, not {part!r}')
    return str(uuid5(_namespace, '\0'.join(str(part) for part in parts)))
