"""Reads JSON."""

from __future__ import annotations

import json
from typing import Any, Union

_max_digits = 600
"""So many digits are an int with every limit that a program may set"""


def loads(text: Union[str, bytes]) -> Any:
    """Returns a JSON value.

    An integer may have any number of digits. Python's limit would make a whole answer unreadable for one number that
    somebody has put into a payload.
    """
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        raise
    except ValueError:
        return json.loads(text, parse_int=_int)


def _int(digits: str) -> int:
    if len(digits) <= _max_digits:
        return int(digits)
    if digits.startswith('-'):
        return -_int(digits[1:])
    middle = len(digits) // 2
    return _int(digits[:-middle]) * 10**middle + _int(digits[-middle:])
