"""Reads JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from decimal import Decimal, InvalidOperation
from typing import Any, Union

from ._errors import UnreadableValue
from ._record import Unreadable

_max_digits = 600
"""So many digits are an int with every limit that a program may set"""
_max_float_digits = 100
_opaque = ('payload', 'result', 'outcome', 'progress', 'question', 'answer', 'value')


def is_opaque(name: str, has: Callable[[str], bool]) -> bool:
    """Whether a field has a value of the callers' own, whatever is in it.

    Args:
        name: the field
        has: whether its record has another field: a message's `question` is a record, which has the question itself
    """
    return name in _opaque and (name != 'question' or has('answeredBy'))


def loads(text: Union[str, bytes]) -> Any:
    """Returns a JSON value. Raises UnreadableValue if a float would lose digits of a number in it.

    An integer may have any number of digits. Python's limit would make a whole answer unreadable for one number that
    somebody has put into a payload.
    """
    text = text.decode() if isinstance(text, bytes) else text
    try:
        try:
            return _short.decode(text)
        except (json.JSONDecodeError, _NotHeld):
            raise
        except ValueError:
            return _long.decode(text)
    except (RecursionError, _NotHeld):
        raise UnreadableValue(text) from None


def loads_answer(text: Union[str, bytes]) -> Any:
    """Returns the JSON of an answer. An opaque value that cannot be read is Unreadable."""
    text = text.decode() if isinstance(text, bytes) else text
    try:
        return loads(text)
    except UnreadableValue:
        return _read(text, _skip_space(text, 0))


class _NotHeld(ValueError):
    pass


def _float(text: str) -> float:
    """Returns a number, if it is the same again when it is printed with as many digits."""
    value = float(text)
    # Any number with at most 15 digits and an exponent of two comes back as it was.
    if (len(text) > 15 or 'e' in text or 'E' in text) and repr(value) != text:
        try:
            exact = Decimal(text)
        except InvalidOperation:
            # An exponent of 19 digits and more.
            if text.lower().partition('e')[0].strip('-0.'):
                raise _NotHeld from None
            return value
        digits = len(''.join(map(str, exact.as_tuple().digits)).strip('0'))
        if digits > _max_float_digits or (digits > 0 and Decimal(f'{value:.{digits - 1}e}') != exact):
            raise _NotHeld
    return value


def _int(digits: str) -> int:
    if len(digits) <= _max_digits:
        return int(digits)
    if digits.startswith('-'):
        return -_int(digits[1:])
    middle = len(digits) // 2
    return _int(digits[:-middle]) * 10**middle + _int(digits[-middle:])


def _refuse(constant: str) -> Any:
    raise ValueError(f'{constant} is not JSON')


_short = json.JSONDecoder(parse_float=_float, parse_constant=_refuse)
_long = json.JSONDecoder(parse_float=_float, parse_int=_int, parse_constant=_refuse)
_inexact = json.JSONDecoder(parse_int=_int)
_skipping = json.JSONDecoder(parse_float=str, parse_int=str)
_space = re.compile(r'[ \t\n\r]*')
_strings_and_brackets = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[\[{]|[\]}]')


def _read(text: str, at: int) -> Any:
    """Returns the part of an answer that begins here. Its text is valid JSON, or deeper than Python can read."""
    if text[at] == '[':
        return [_read(text, start) for _, start, _ in _spans(text, at)]
    if text[at] != '{':
        return _inexact.raw_decode(text, at)[0]
    spans = {name: (start, end) for name, start, end in _spans(text, at)}
    record: dict[str, Any] = {}
    for name, (start, end) in spans.items():
        if is_opaque(name, spans.__contains__):
            try:
                record[name] = loads(text[start:end])
            except UnreadableValue as error:
                record[name] = Unreadable(error)
        else:
            record[name] = _read(text, start)
    return record


def _spans(text: str, at: int) -> Iterator[tuple[str, int, int]]:
    """Yields where the members or items of the object or list begin and end. Items have no name."""
    is_object = text[at] == '{'
    at = _skip_space(text, at + 1)
    while text[at] not in ']}':
        name = ''
        if is_object:
            name, at = _skipping.raw_decode(text, at)
            at = _skip_space(text, _skip_space(text, at) + 1)
        end = _end_of_value(text, at)
        yield name, at, end
        at = _skip_space(text, end)
        if text[at] == ',':
            at = _skip_space(text, at + 1)


def _end_of_value(text: str, at: int) -> int:
    try:
        return _skipping.raw_decode(text, at)[1]
    except RecursionError:
        depth = 0
        for found in _strings_and_brackets.finditer(text, at):
            depth += 1 if found[0] in '[{' else -1 if found[0] in ']}' else 0
            if depth == 0:
                return found.end()
        raise


def _skip_space(text: str, at: int) -> int:
    found = _space.match(text, at)
    return found.end() if found else at
